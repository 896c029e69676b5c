/* SPDX-License-Identifier: MIT */
/* CLOCK_MONOTONIC and the process's time in nanoseconds, and Vulkan's relative timeouts as absolute
 * deadlines on it. */
#ifndef BELFRY_BASE_CLOCK_H
#define BELFRY_BASE_CLOCK_H

#include <stdint.h>
#include <time.h>

static inline uint64_t bf_now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* That all threads of this process have computed for. */
static inline uint64_t bf_process_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* UINT64_MAX means never; sums that don't fit mean never too. */
static inline uint64_t bf_deadline_ns(uint64_t timeout_ns)
{
    uint64_t now = bf_now_ns();
    return timeout_ns > UINT64_MAX - now ? UINT64_MAX : now + timeout_ns;
}

static inline uint64_t bf_remaining_ns(uint64_t deadline_ns)
{
    if (deadline_ns == UINT64_MAX)
        return UINT64_MAX;
    uint64_t now = bf_now_ns();
    return deadline_ns > now ? deadline_ns - now : 0;
}

static inline struct timespec bf_timespec(uint64_t ns)
{
    return (struct timespec){.tv_sec = (time_t)(ns / 1000000000u),
                             .tv_nsec = (long)(ns % 1000000000u)};
}

#endif
