/* SPDX-License-Identifier: MIT */
/* membarrier(2): registered once, and remembered where it is missing. */
#include "base/membarrier.h"

#include <linux/membarrier.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { UNKNOWN, REGISTERED, MISSING };

/* Two threads may register at once: that is no error, and both have the same answer. */
static _Atomic int known;

bool bf_membarrier_available(void)
{
    int state = atomic_load(&known);
    if (state == UNKNOWN) {
        long r = syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0);
        state = r == 0 ? REGISTERED : MISSING;
        atomic_store(&known, state);
    }
    return state == REGISTERED;
}

bool bf_membarrier(void)
{
    if (!bf_membarrier_available())
        return false;
    if (syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0) == 0)
        return true;
    atomic_store(&known, MISSING);
    return false;
}
