/* SPDX-License-Identifier: MIT */
/* Points at which a test may step in, to have races come out in every order. The breaks
 * tests/breaks/hook_*.break put them into copies of the library's sources; the library that is
 * installed has none. */
#ifndef BELFRY_TESTS_SUPPORT_HOOK_H
#define BELFRY_TESTS_SUPPORT_HOOK_H

#include <stdatomic.h>
#include <stdint.h>

#include <belfry/belfry.h>

enum test_hook_point {
    TEST_HOOK_MONITORED, /* a monitored value has been written, the current one not yet looked at */
    TEST_HOOK_MAP_PROBE, /* a map's reader has seen a slot that isn't its key's, and not the next */
};

/* Called at each point. Set by the test while nobody else is at work; NULL at first. */
extern void (*test_hook)(enum test_hook_point point);

void test_hook_reach(enum test_hook_point point);

/* Where the GPU would find the monitored value of a native fence. */
_Atomic uint64_t *test_hook_monitored_value(BfFence fence);

#endif
