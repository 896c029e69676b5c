/* SPDX-License-Identifier: MIT */
/* Points at which a test may step in: the part of them in a copy of the library, which exports
 * it. */
#include "support/hook.h"

#include "fence/fence.h"
#include "fence/native.h"

#pragma GCC visibility push(default)

void (*test_hook)(enum test_hook_point point);

void test_hook_reach(enum test_hook_point point)
{
    if (test_hook)
        test_hook(point);
}

_Atomic uint64_t *test_hook_monitored_value(BfFence fence)
{
    return ((struct bf_fence *)fence)->native->monitored.value;
}

#pragma GCC visibility pop
