/* SPDX-License-Identifier: MIT */
/* When shaders are analysed (specialize/analysis.c), where the pool, and what is analysed, are the
 * test's. [P-6] */
#include "support/test.h"

#include "device/device.h"
#include "specialize/pipeline/copy.h"
#include "specialize/variant_state.h"

static struct bf_device device;
static struct bf_specializer s;
static struct bf_pipeline_copy copy;
static bool closed;         /* the pool takes nothing */
static bool mode_meanwhile; /* a mode comes while it refuses something, by which it does */
static uint32_t refused, analysed, settled;

VkResult bf_background_queue(struct bf_background *background, PFN_bfProcessingWork callback,
                             PFN_bfProcessingWork cancel, void *context)
{
    (void)background;
    if (!closed) {
        callback(context);
        return VK_SUCCESS;
    }
    refused++;
    if (mode_meanwhile) {
        closed = false;
        s.modes++;
        bf_analysis_queue(&s);
    }
    cancel(context);
    return VK_SUCCESS;
}

void bf_pipeline_copy_analyse(struct bf_pipeline_copy *c, struct bf_pipeline_analysis *result)
{
    assert_ptr_equal(c, &copy);
    analysed++;
    result->reason = BF_REASON_NO_PUSH;
}

bool bf_pipeline_copy_settle(const struct bf_pipeline_copy *c,
                             const struct bf_pipeline_analysis *result)
{
    (void)c;
    settled += result->reason == BF_REASON_NO_PUSH;
    return true;
}

void bf_pipeline_copy_release(struct bf_pipeline_copy *c)
{
    assert_ptr_equal(c, &copy);
}

bool bf_specializer_remembers(struct bf_specializer *specializer)
{
    (void)specializer;
    return true;
}

VkResult bf_archive_load(struct bf_archive *archive, const uint8_t hash[BF_ARCHIVE_HASH])
{
    (void)archive, (void)hash;
    return VK_SUCCESS;
}

void bf_specialize_report_analysed(struct bf_specializer *specializer, uint64_t pipeline,
                                   bool lives, uint64_t ns)
{
    (void)specializer, (void)pipeline, (void)lives, (void)ns;
}

static int begin(void **state)
{
    (void)state;
    memset(&s, 0, sizeof(s));
    s.info.device = &device;
    s.modes = 1;
    closed = mode_meanwhile = false;
    refused = analysed = settled = 0;
    bf_analysis_add(&s, &copy);
    return 0;
}

static int end(void **state)
{
    (void)state;
    bf_analysis_finish(&s);
    return 0;
}

TEST_WITH(the_pool_is_asked_once_in_a_mode, begin, end)
{
    closed = true;
    for (uint32_t i = 0; i < 3; i++)
        bf_analysis_queue(&s);
    assert_int_equal(refused, 1);
    s.modes++;
    bf_analysis_queue(&s);
    assert_int_equal(refused, 2);
    closed = false;
    s.modes++;
    bf_analysis_queue(&s);
    assert_int_equal(analysed, 1);
    bf_analysis_collect(&s);
    assert_int_equal(settled, 1);
}

/* The pool's answer is of the mode before: what waits is taken up as soon as anybody asks again. */
TEST_WITH(a_mode_that_comes_meanwhile_is_not_missed, begin, end)
{
    closed = mode_meanwhile = true;
    bf_analysis_queue(&s);
    assert_int_equal(refused, 1);
    bf_analysis_queue(&s);
    assert_int_equal(analysed, 1);
}
