/* SPDX-License-Identifier: MIT */
/* The background item that makes a variant (specialize/build.c), where the check, the archive and
 * the driver's bar are the test's: what it asks, and when, and what it has remembered. [SP-6] */
#include "support/test.h"

#include "device/device.h"
#include "specialize/pipeline/copy.h"
#include "specialize/variant_state.h"

/* What is to happen: */
static struct {
    enum bf_reason checked; /* the check's reason */
    uint32_t up_at;         /* the bar is up from this question on; 0: never */
    VkResult may;           /* of bf_archive_begin */
    enum bf_reason barred;
    bool struck; /* by another process, which bf_archive_heed finds out */
    bool closed; /* the pool takes nothing */
    bool opens;  /* but does by the mode that comes while it refuses something */
} given;

/* What has: */
static struct {
    uint32_t asked, checks, begun, ended, builds, puts;
    struct bf_archive_key key;
    struct bf_verdict verdict;
    uint32_t codes[8]; /* of the first verdicts, in turn */
} seen;

static struct bf_device the_device;
static struct bf_specializer s;

bool bf_driver_bar_is_up(const struct bf_driver_bar *bar)
{
    (void)bar;
    seen.asked++;
    return given.up_at && seen.asked >= given.up_at;
}

void bf_message(enum bf_message_level level, const char *format, ...)
{
    (void)level, (void)format;
}

bool bf_driver_bar_has_file(const struct bf_driver_bar *bar)
{
    (void)bar;
    return false;
}

enum bf_reason bf_forms_make(struct bf_job *job, struct bf_folded forms[BF_FORMS])
{
    (void)job, (void)forms;
    seen.checks++;
    return given.checked;
}

enum bf_reason bf_job_reason(struct bf_job *job, VkResult result, enum bf_reason other)
{
    (void)job;
    return result == VK_SUCCESS ? BF_REASON_NONE : other;
}

void bf_folded_finish(struct bf_folded *folded)
{
    (void)folded;
}

enum bf_reason bf_variant_barred(const struct bf_specializer *specializer, const uint8_t hash[32])
{
    (void)specializer, (void)hash;
    return given.barred;
}

VkResult bf_archive_heed(struct bf_archive *archive, const uint8_t hash[BF_ARCHIVE_HASH])
{
    (void)archive, (void)hash;
    if (given.struck)
        given.barred = BF_REASON_CRASHED;
    return VK_SUCCESS;
}

VkResult bf_archive_begin(struct bf_archive *archive, const uint8_t hash[BF_ARCHIVE_HASH])
{
    (void)archive, (void)hash;
    seen.begun += given.may == VK_SUCCESS;
    return given.may;
}

void bf_archive_end(struct bf_archive *archive, const uint8_t hash[BF_ARCHIVE_HASH])
{
    (void)archive, (void)hash;
    seen.ended++;
}

VkResult bf_archive_put(struct bf_archive *archive, const struct bf_archive_key *key,
                        const struct bf_verdict *verdict)
{
    (void)archive;
    if (seen.puts < 8)
        seen.codes[seen.puts] = verdict->code;
    seen.puts++;
    seen.key = *key;
    seen.verdict = *verdict;
    return VK_SUCCESS;
}

struct bf_archive_key bf_variant_archive_key(const uint8_t hash[32], uint8_t mask,
                                             const uint32_t values[BF_WATCHED])
{
    (void)hash, (void)values;
    return (struct bf_archive_key){.n_values = BF_WATCHED, .mask = mask};
}

struct bf_archive_key bf_variant_shaders_key(const uint8_t hash[32])
{
    (void)hash;
    return (struct bf_archive_key){.n_values = 0};
}

void bf_variant_put_values(uint8_t push[BF_PUSH_BYTES], const struct bf_watch *watch, uint8_t mask,
                           const uint32_t values[BF_WATCHED])
{
    (void)push, (void)watch, (void)mask, (void)values;
}

void bf_pipeline_copy_retain(struct bf_pipeline_copy *copy)
{
    (void)copy;
}

void bf_pipeline_copy_release(struct bf_pipeline_copy *copy)
{
    (void)copy;
}

VkResult bf_pipeline_copy_build(const struct bf_pipeline_copy *copy, const struct bf_folded *form,
                                const void *push, VkPipelineCache cache, VkPipeline *pipeline)
{
    (void)copy, (void)form, (void)push, (void)cache;
    seen.builds++;
    *pipeline = (VkPipeline)(uintptr_t)1;
    return VK_SUCCESS;
}

/* At once. */
VkResult bf_background_queue(struct bf_background *background, PFN_bfProcessingWork callback,
                             PFN_bfProcessingWork cancel, void *context)
{
    (void)background;
    if (!given.closed)
        callback(context);
    if (given.closed && given.opens) {
        given.closed = false;
        s.modes++;
        bf_verdicts_queue(&s);
        cancel(context);
    } else if (given.closed && cancel) {
        cancel(context);
    }
    return VK_SUCCESS;
}

static VkResult create_cache(VkDevice device, const VkPipelineCacheCreateInfo *info,
                             const VkAllocationCallbacks *allocator, VkPipelineCache *cache)
{
    (void)device, (void)info, (void)allocator, (void)cache;
    return VK_ERROR_OUT_OF_DEVICE_MEMORY;
}

static void destroy_cache(VkDevice device, VkPipelineCache cache,
                          const VkAllocationCallbacks *allocator)
{
    (void)device, (void)cache, (void)allocator;
}

/* What became of a job. */
static enum bf_reason run(void)
{
    static struct VolkDeviceTable vk;
    static struct bf_pipeline_copy copy;
    struct bf_job job = {.specializer = &s, .copy = &copy, .mask = 1};
    vk.vkCreatePipelineCache = create_cache;
    vk.vkDestroyPipelineCache = destroy_cache;
    s.pipelines.vk = &vk;
    memset(&seen, 0, sizeof(seen));
    atomic_store(&s.done, NULL);
    bf_jobs_queue(&s, &job);
    assert_ptr_equal(atomic_load(&s.done), &job);
    assert_int_equal(seen.begun, seen.ended);
    return job.reason;
}

static int nothing_given(void **state)
{
    (void)state;
    memset(&given, 0, sizeof(given));
    memset(&seen, 0, sizeof(seen));
    memset(&s, 0, sizeof(s));
    s.info.device = &the_device;
    return 0;
}

TEST_WITH(what_passes_is_built, nothing_given, NULL)
{
    assert_int_equal(run(), BF_REASON_NONE);
    assert_int_equal(seen.builds, 1);
    assert_int_equal(seen.puts, 0);
}

/* When it begins, and, since a check takes long, before the program's device builds anything. */
TEST_WITH(the_bar_is_asked_before_each_step, nothing_given, NULL)
{
    given.up_at = 1;
    assert_int_equal(run(), BF_REASON_DRIVER);
    assert_int_equal(seen.checks, 0);
    given.up_at = 2;
    assert_int_equal(run(), BF_REASON_DRIVER);
    assert_int_equal(seen.checks, 1);
    assert_int_equal(seen.builds, 0);
    assert_int_equal(seen.puts, 0);
}

/* By another job, whose values were others. */
TEST_WITH(what_is_struck_meanwhile_is_not_built, nothing_given, NULL)
{
    given.may = VK_ERROR_NOT_PERMITTED_KHR;
    assert_int_equal(run(), BF_REASON_CRASHED);
    assert_int_equal(seen.builds, 0);
    given.may = VK_ERROR_OUT_OF_HOST_MEMORY;
    assert_int_equal(run(), BF_REASON_MEMORY);
    assert_int_equal(seen.builds, 0);
}

TEST_WITH(what_is_remembered, nothing_given, NULL)
{
    static const struct {
        enum bf_reason reason;
        bool shaders, values;
    } cases[] = {
        {.reason = BF_REASON_CRASHED},        {.reason = BF_REASON_TIMED_OUT},
        {BF_REASON_ENDLESS, .shaders = true}, {BF_REASON_TOO_SLOW, .shaders = true},
        {BF_REASON_INEXACT, .values = true},  {BF_REASON_INVALID, .values = true},
        {BF_REASON_NO_FOLD, .values = true},  {.reason = BF_REASON_UNCHECKABLE},
        {.reason = BF_REASON_DRIVER},         {.reason = BF_REASON_NO_HELPER},
        {.reason = BF_REASON_MEMORY},         {.reason = BF_REASON_CANCELLED},
        {.reason = BF_REASON_UNCOVERED},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        given.checked = cases[i].reason;
        assert_int_equal(run(), cases[i].reason);
        assert_int_equal(seen.builds, 0);
        assert_int_equal(seen.puts, cases[i].shaders + cases[i].values);
        assert_int_equal(seen.key.mask, cases[i].values);
        if (seen.puts)
            assert_int_equal(seen.verdict.reason, cases[i].reason);
    }
}

TEST_WITH(what_is_barred_is_left_alone, nothing_given, NULL)
{
    given.barred = BF_REASON_CRASHED;
    assert_int_equal(run(), BF_REASON_CRASHED);
    assert_int_equal(seen.checks + seen.builds, 0);
}

/* By another program, since the pipeline was loaded. */
TEST_WITH(what_others_have_struck_is_left_alone, nothing_given, NULL)
{
    given.struck = true;
    assert_int_equal(run(), BF_REASON_CRASHED);
    assert_int_equal(seen.checks + seen.builds, 0);
}

/* ----------------------------------------------------------------- While the pool takes nothing */

/* A measured verdict, that the variant is kept. */
static struct bf_job verdict_of(uint32_t epoch)
{
    return (struct bf_job){
        .specializer = &s, .remember_only = true, .reason = BF_REASON_FASTER, .epoch = epoch};
}

static void discard(void)
{
    struct bf_measured *measured = calloc(1, sizeof(*measured));
    assert_non_null(measured);
    s.submissions.epoch++;
    bf_verdicts_discard(&s, measured);
}

/* Nothing is outstanding meanwhile. [CV-6] */
TEST_WITH(verdicts_are_stored_once_the_pool_takes_them, nothing_given, NULL)
{
    struct bf_job jobs[2] = {verdict_of(0), verdict_of(0)};
    jobs[0].next = &jobs[1];
    given.closed = true;
    bf_jobs_queue(&s, jobs);
    bf_verdicts_queue(&s); /* another such mode */
    assert_int_equal(s.outstanding, 0);
    assert_null(s.done);
    assert_int_equal(seen.puts, 0);
    given.closed = false;
    bf_verdicts_queue(&s);
    assert_int_equal(seen.puts, 2);
    assert_int_equal(s.outstanding, 2); /* until they are collected */
    assert_non_null(s.done);
    bf_verdicts_queue(&s);
    assert_int_equal(seen.puts, 2);
}

TEST_WITH(verdicts_are_stored_when_the_device_is_destroyed, nothing_given, NULL)
{
    struct bf_job job = verdict_of(1);
    given.closed = true;
    discard();
    bf_jobs_queue(&s, &job);
    assert_int_equal(seen.puts, 0);
    s.stopping = true;
    bf_verdicts_queue(&s);
    assert_int_equal(seen.puts, 2);
    assert_ptr_equal(s.done, &job);
}

/* The mode that would have had it stored comes between the pool's answer and what is done then. */
TEST_WITH(a_mode_that_comes_meanwhile_is_not_missed, nothing_given, NULL)
{
    struct bf_job job = verdict_of(0);
    given.closed = given.opens = true;
    bf_jobs_queue(&s, &job);
    assert_int_equal(seen.puts, 1);
    assert_ptr_equal(s.done, &job);
}

/* Nothing is done in the program's call [CV-6], and what is behind it before anything else is
 * stored. What had been measured before isn't. [CV-5] */
TEST_WITH(what_is_discarded_is_forgotten_first, nothing_given, NULL)
{
    struct bf_job before = verdict_of(0), behind = verdict_of(1);
    given.closed = true;
    bf_jobs_queue(&s, &before);
    discard();
    bf_verdicts_queue(&s);
    bf_jobs_queue(&s, &behind);
    assert_int_equal(seen.puts, 0);
    given.closed = false;
    bf_verdicts_queue(&s);
    assert_int_equal(seen.puts, 2);
    assert_int_equal(seen.codes[0], BF_VERDICT_FORGOTTEN);
    assert_int_equal(seen.codes[1], BF_VERDICT_KEPT);
    /* Also where another job is there before the item that forgets. */
    memset(&seen, 0, sizeof(seen));
    discard();
    struct bf_job later = verdict_of(2);
    bf_jobs_queue(&s, &later);
    assert_int_equal(seen.puts, 2);
    assert_int_equal(seen.codes[0], BF_VERDICT_FORGOTTEN);
}
