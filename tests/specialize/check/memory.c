/* SPDX-License-Identifier: MIT */
/* The process runs out of memory at each allocation of a check in turn: it says so, and the same
 * check once more runs. The test's own malloc stands in for the process's. */
#include "check_faults.h"

#include "support/no_memory.h"

static _Thread_local uint32_t until_none; /* 0: there is memory */

static bool has_none(void)
{
    if (until_none == 0 || --until_none)
        return false;
    errno = ENOMEM;
    return true;
}

static bool after_some(void *context)
{
    uint32_t *left = context;
    return (*left)-- == 0;
}

static void survive(bool draws)
{
    struct faulty f;
    uint32_t left, failures = 0;
    VkResult result = VK_ERROR_OUT_OF_HOST_MEMORY;
    struct world *w = world_open_device(&fixture_plain);
    faulty_init(w, &f, draws);
    w->t.info.cancelled = after_some;
    w->t.info.context = &left;
    const struct bf_checker_info info = world_checker_info(w);
    for (uint32_t n = 1; result != VK_SUCCESS; n++) {
        until_none = n;
        result = bf_checker_create(&info, &w->checker);
        until_none = 0;
        assert_true(result == VK_SUCCESS || result == VK_ERROR_OUT_OF_HOST_MEMORY);
        failures += result != VK_SUCCESS;
    }
    assert_in_range(failures, 2, 100);
    failures = 0;
    result = VK_ERROR_OUT_OF_HOST_MEMORY;
    for (uint32_t n = 1; result != VK_SUCCESS; n++) {
        left = 3;
        until_none = n;
        result = bf_check_run(w->checker, &w->t.info);
        until_none = 0;
        assert_true(result == VK_SUCCESS || result == VK_ERROR_OUT_OF_HOST_MEMORY);
        assert_int_equal(w->t.forms[0].reason,
                         result == VK_SUCCESS ? BF_REASON_CANCELLED : BF_REASON_MEMORY);
        failures += result != VK_SUCCESS;
    }
    assert_in_range(failures, 20, 1000);
    world_close(w);
}

TEST(a_check_that_computes_survives_a_lack_of_memory)
{
    survive(false);
}

TEST(a_check_that_draws_survives_a_lack_of_memory)
{
    survive(true);
}
