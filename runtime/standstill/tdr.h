/* SPDX-License-Identifier: MIT */
/*
 * Timeout detection and recovery (TDR) of command queues' engines, as in WDDM: after half of the
 * setting tdr_delay the engine is given no more work of command queues ("preempted", as far as
 * Vulkan lets anybody), after all of it the device is declared lost. It looks when the watchdog
 * does.
 *
 *  TD-1  The clock of an engine runs only while the oldest submission that it hasn't finished is a
 *        command queue's, created without BF_COMMAND_QUEUE_DISABLE_GPU_TIMEOUT_BIT, and waits for
 *        nobody: neither for an earlier submission of another engine's, nor for somebody outside.
 *        Vulkan promises VkQueues no time-out.
 *  TD-2  It is the standstill's clock (SS-6), so it stands while the process is stopped, and begins
 *        anew with each submission.
 *  TD-3  Who waits is released within the slice of L-6, though the driver may know of no loss.
 *
 *  TD-4  With the setting 'preemption', an engine counts as hung only if it has been asked to
 *        preempt and hasn't got on for half of the time since: after the first half it gets no more
 *        work, however late that is noticed. Off, as in Windows 7, it isn't asked.
 *
 * Proven by tests/standstill (tdr.c, tdr_looks.c).
 */
#ifndef BELFRY_STANDSTILL_TDR_H
#define BELFRY_STANDSTILL_TDR_H

#include "standstill/standstill.h"

struct bf_scheduler;
struct bf_tdr;

/* The registry's values, in milliseconds; the settings have their names. */
struct bf_tdr_info {
    uint32_t level;      /* 0: off, 1: end the process, 2 and 3: recover */
    uint32_t delay_ms;   /* until the device counts as hung */
    uint32_t ddi_ms;     /* from then on, for calls to leave the driver */
    uint32_t limit_ms;   /* within so long */
    uint32_t limit;      /* so many recoveries of the process; the next one ends it */
    uint32_t debug_mode; /* 0: break, 1: ignore, 2: recover, 3: recover beyond the limit */
};

/* NULL: out of memory. */
struct bf_tdr *bf_tdr_create(struct bf_scheduler *scheduler, const struct bf_tdr_info *info);
/* After the standstill. NULL is allowed. */
void bf_tdr_destroy(struct bf_tdr *tdr);

/* For bf_standstill_create. */
struct bf_standstill_check bf_tdr_check(struct bf_tdr *tdr);
/* The longest period that suits it. */
uint32_t bf_tdr_period_ms(const struct bf_tdr_info *info);

#endif
