/* SPDX-License-Identifier: MIT */
/* What threads of Belfry's inherit of those of the program's that make them: nothing. */
#include "support/test.h"

#include <fenv.h>
#include <sched.h>

#include "base/thread.h"

struct found {
    int rounding, traps, processors;
    float half; /* of the least number that isn't denormal */
};

static void *look(void *argument)
{
    struct found *found = argument;
    volatile float least = 0x1p-126f;
    cpu_set_t processors;
    *found = (struct found){fegetround(), fegetexcept(), 0, least / 2};
    if (!sched_getaffinity(0, sizeof(processors), &processors))
        found->processors = CPU_COUNT(&processors);
    return NULL;
}

static struct found looked_by_a_thread(void)
{
    struct found found;
    pthread_t thread;
    assert_int_equal(bf_thread_create(&thread, "looks", look, &found), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    return found;
}

static int all_traps(void)
{
    return FE_OVERFLOW | FE_INVALID | FE_DIVBYZERO;
}

TEST(floats_round_and_trap_as_at_a_programs_start)
{
    fenv_t before;
    assert_int_equal(fegetenv(&before), 0);
    assert_int_equal(fesetround(FE_UPWARD), 0);
    feenableexcept(all_traps());
    struct found found = looked_by_a_thread();
    const int rounding = fegetround(), traps = fegetexcept();
    fesetenv(&before);
    assert_int_equal(found.rounding, FE_TONEAREST);
    assert_int_equal(found.traps, 0);
    assert_true(found.half > 0);
    /* The caller's are its own. */
    assert_int_equal(rounding, FE_UPWARD);
    assert_int_equal(traps, all_traps());
}

TEST(a_thread_that_is_bound_binds_no_other)
{
    cpu_set_t all, one;
    assert_int_equal(sched_getaffinity(0, sizeof(all), &all), 0);
    CPU_ZERO(&one);
    for (int i = 0; i < CPU_SETSIZE && !CPU_COUNT(&one); i++)
        if (CPU_ISSET(i, &all))
            CPU_SET(i, &one);
    assert_int_equal(sched_setaffinity(0, sizeof(one), &one), 0);
    struct found found = looked_by_a_thread();
    uint32_t processors = bf_thread_processors();
    assert_int_equal(sched_setaffinity(0, sizeof(all), &all), 0);
    assert_int_equal(found.processors, CPU_COUNT(&all));
    assert_int_equal(processors, CPU_COUNT(&all));
}
