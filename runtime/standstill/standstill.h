/* SPDX-License-Identifier: MIT */
/*
 * The watchdog of a device: a thread that looks, once a period, whether anything has moved, and
 * tells in one line why not (setting 'watchdog').
 *
 *  SS-4  It waits for no lock that a stuck call of the driver's may hold: for engines' locks it
 *        doesn't ask, a batch lock it only tries; the others it takes are leaves, held over memory
 *        accesses. And it asks the driver of no object that the program may destroy meanwhile: of
 *        semaphores that Belfry wasn't told of it says what is waited for, and not what they have.
 *  SS-5  While work is outstanding it wakes up once a period (more often just after the process was
 *        stopped, SS-6); while none is, and none has been
 *        begun for a period, not at all (WD-1, WD-3).
 *  SS-6  Time in which a debugger or a signal stopped the program is no standstill: its clock
 *        doesn't count a sleep of the thread in which that was, and a period once, however long it
 *        took. A trace says for how long at least that was, if it was long.
 *        Who looks at the live page (standstill/live.h) wakes it, too, and is answered at once.
 *  SS-7  A standstill is reported within a period after the set time, once; and again when the
 *        answer has changed: also when the value that is waited for has. While that moves nothing
 *        stands: the set time counts from its last change.
 *
 * Proven by tests/standstill.
 */
#ifndef BELFRY_STANDSTILL_STANDSTILL_H
#define BELFRY_STANDSTILL_STANDSTILL_H

#include <stdbool.h>
#include <stdint.h>

#include <vulkan/vulkan.h>

#include "scheduler/watch.h"

struct bf_live_pool;
struct bf_scheduler;
struct bf_standstill;

/* What the watchdog saw of an engine at its last look. Times are of its own clock (SS-6). */
struct bf_standstill_engine {
    uint64_t completed;     /* epochs that are reached */
    bool busy;              /* later ones have been accepted */
    uint64_t busy_since_ns; /* since when 'completed' has stayed */
    uint64_t accepted;      /* epochs that have been */
    uint64_t worked_ns;     /* when it was seen to have, or to have had, anything to do */
    uint64_t kept;          /* odd: a program has the VkQueue to itself */
    uint64_t kept_since_ns; /* since when that has stayed */
};

/* Called by the watchdog's thread at each look, with no lock held: for what else is to be done
 * about engines that don't go on. False: it wants no more looks while nothing is outstanding. */
struct bf_standstill_check {
    bool (*look)(void *context, struct bf_standstill *standstill,
                 const struct bf_standstill_engine *engines, uint64_t now_ns);
    void *context;
};

struct bf_standstill_info {
    uint32_t watchdog_ms;             /* 0: nothing is reported */
    uint32_t check_ms;                /* with a check: the longest period that suits it */
    struct bf_standstill_check check; /* look: NULL: none */
    bool at_interrupt; /* what waits is reported before a signal ends the program (interrupt.h) */
    bool summary;      /* so is the trace's summary */
    /* For the live page: what the process's pool for background work does; NULL: not known. */
    void (*see_pool)(struct bf_live_pool *pool);
};

/* Starts the watchdog of a scheduler that was made with 'watched'. NULL: no memory or no thread,
 * with a line: the device goes without. */
struct bf_standstill *bf_standstill_create(struct bf_scheduler *scheduler,
                                           const struct bf_standstill_info *info);
/* Ends and joins it. NULL is allowed here and below. */
void bf_standstill_destroy(struct bf_standstill *standstill);

/* Tells whatever stands still now, for however short a time; returns how many cases there were.
 * Thread-safety: safe. */
uint32_t bf_standstill_report(struct bf_standstill *standstill);

/* An engine hangs: the same, but for what has been told already. */
void bf_standstill_report_hang(struct bf_standstill *standstill);

/* The process ends: the same, and the summary. Of work and calls only what has lasted, since a
 * healthy program always has some. */
void bf_standstill_report_at_exit(struct bf_standstill *standstill);

/* What wakes it. */
struct bf_device_watch *bf_standstill_watch(struct bf_standstill *standstill);

/* Names by which it tells (standstill/names.h). Thread-safety: safe. */
void bf_standstill_name(struct bf_standstill *standstill, VkObjectType type, uint64_t handle,
                        const char *name);
struct bf_names *bf_standstill_names(struct bf_standstill *standstill);
void bf_standstill_buffer_begun(struct bf_standstill *standstill, VkCommandBuffer buffer);
void bf_standstill_buffer_label(struct bf_standstill *standstill, VkCommandBuffer buffer,
                                const char *label);
void bf_standstill_forget_buffer(struct bf_standstill *standstill, VkCommandBuffer buffer);

#endif
