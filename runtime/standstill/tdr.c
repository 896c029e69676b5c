/* SPDX-License-Identifier: MIT */
/* Engines that hang: when they count as hung, what is said of them, and what becomes of the
 * process. */
#include "standstill/tdr.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/handle.h"
#include "base/lock.h"
#include "base/message.h"
#include "scheduler/scheduler.h"
#include "scheduler/waker.h"
#include "standstill/last_entries.h"

/* Recoveries that the process remembers: as many as the setting's largest value. */
#define RECOVERIES 64

/* Submissions before the one that hangs that are named. */
#define BEFORE 3

struct bf_tdr {
    struct bf_scheduler *scheduler;
    struct bf_tdr_info info;
    uint64_t declared_ns; /* 0: not */
    bool left;            /* the driver's calls since then have been dealt with */
    struct tdr_engine {
        uint64_t epoch;              /* of the submission whose clock runs; 0: none does */
        uint64_t since_ns, asked_ns; /* 0: it hasn't been asked */
        bool ignored;
    } engines[];
};

/* TdrLimitCount counts those of the machine; here, those of the process. */
static struct {
    struct bf_lock lock;
    uint64_t times_ns[RECOVERIES];
    uint32_t next;
} recoveries;

/* Counts one more; false: there have been too many. */
static bool recovery_is_allowed(const struct bf_tdr_info *info)
{
    uint32_t recent = 0;
    bf_lock_acquire(&recoveries.lock);
    uint64_t now = bf_now_ns();
    for (uint32_t i = 0; i < RECOVERIES; i++) {
        uint64_t then = recoveries.times_ns[i];
        recent += then && now - then < (uint64_t)info->limit_ms * 1000000;
    }
    recoveries.times_ns[recoveries.next++ % RECOVERIES] = now;
    bf_lock_release(&recoveries.lock);
    return recent < info->limit || info->debug_mode == 3;
}

static bool find_oldest(const struct bf_scheduler *scheduler,
                        const struct bf_standstill_engine *engines, uint32_t number,
                        struct bf_submission *oldest)
{
    return engines[number].busy && bf_watch_see_oldest(&scheduler->watch->engines[number],
                                                       engines[number].completed, oldest);
}

/* Is all that the engine may be busy with known? */
static bool engine_is_known(const struct bf_scheduler *scheduler,
                            const struct bf_standstill_engine *engines, uint32_t number)
{
    return engines[number].completed >= atomic_load(&scheduler->engines[number].witnessed_from);
}

/* By a submission of that order: is the engine busy with one of a lesser order, or one that isn't
 * known? */
static bool engine_may_be_waited_for(const struct bf_scheduler *scheduler,
                                     const struct bf_standstill_engine *engines, uint32_t number,
                                     uint64_t order)
{
    struct bf_submission oldest;
    if (!engine_is_known(scheduler, engines, number))
        return true;
    return engines[number].busy &&
           (!find_oldest(scheduler, engines, number, &oldest) || oldest.order < order ||
            oldest.epoch != engines[number].completed + 1);
}

/* TD-1 */
static bool clock_runs(const struct bf_scheduler *scheduler,
                       const struct bf_standstill_engine *engines, uint32_t number,
                       struct bf_submission *oldest)
{
    if (!engines[number].busy || !engine_is_known(scheduler, engines, number))
        return false;
    const struct bf_engine *engine = &scheduler->engines[number];
    const uint64_t epoch = engines[number].completed + 1;
    if (!find_oldest(scheduler, engines, number, oldest) || oldest->epoch != epoch) {
        /* Its witness is gone, with so many behind it. */
        *oldest = (struct bf_submission){.epoch = epoch};
        return atomic_load(&engine->base.accepted_epoch) - epoch < BF_WATCH_TIMED &&
               bf_watch_is_timed(&scheduler->watch->engines[number], epoch);
    }
    if (!oldest->timed || oldest->outside)
        return false;
    for (uint32_t i = 0; oldest->wait_count && i < scheduler->engine_count; i++) {
        if (i != number && engine_may_be_waited_for(scheduler, engines, i, oldest->order))
            return false;
    }
    return true;
}

static void engine_feed(struct bf_engine *engine, bool feed)
{
    if (atomic_exchange(&engine->unfed, !feed) == !feed)
        return;
    if (!feed) {
        bf_signpost_announce(&engine->progress); /* who waits for acceptance goes on */
        return;
    }
    atomic_store(&engine->dirty, 1);
    if (bf_waker_ensure(engine)) /* SS-4: the driver may block who pumps */
        (void)bf_waker_want(engine, 1, engine, UINT64_MAX);
    else
        bf_engines_pump(engine->scheduler, bf_engine_bit(engine));
}

static void engine_tell_submissions(struct bf_tdr *tdr, uint32_t number,
                                    const struct bf_submission *hung)
{
    const struct bf_engine *engine = &tdr->scheduler->engines[number];
    uint64_t epoch = hung->epoch > BEFORE ? hung->epoch - BEFORE : 1;
    struct bf_submission s;
    for (; epoch <= hung->epoch &&
           bf_watch_see_oldest(&tdr->scheduler->watch->engines[number], epoch - 1, &s);
         epoch = s.epoch + 1)
        bf_message(BF_MESSAGE_ERROR,
                   "tdr: engine %u:%u: submission %llu: packet %llu of its queue, %u command "
                   "buffers%s%s%s: %s",
                   engine->base.family, engine->base.index, (unsigned long long)s.epoch,
                   (unsigned long long)s.number, s.buffer_count, s.labels[0] ? ", in label '" : "",
                   s.labels, s.labels[0] ? "'" : "", s.epoch < hung->epoch ? "done" : "hangs");
}

static _Noreturn void process_end(const char *why)
{
    bf_message(BF_MESSAGE_ERROR, "tdr: %s: the process ends", why);
    abort();
}

static void engine_declare_hung(struct bf_tdr *tdr, struct bf_standstill *standstill,
                                uint32_t number, const struct bf_submission *hung, uint64_t now_ns)
{
    struct bf_scheduler *scheduler = tdr->scheduler;
    const struct bf_engine *engine = &scheduler->engines[number];
    struct tdr_engine *e = &tdr->engines[number];
    char line[256];
    snprintf(line, sizeof(line),
             "tdr: device%s: engine %u:%u hangs: it hasn't finished a command queue's submission "
             "for %.1f s (settings tdr_level, tdr_delay)",
             BF_LABEL(scheduler), engine->base.family, engine->base.index,
             (double)(now_ns - e->since_ns) / 1e9);
    bf_message(BF_MESSAGE_ERROR, "%s", line);
    bf_trace_standstill(scheduler->gpu.trace, line);
    bf_standstill_report_hang(standstill); /* by names */
    engine_tell_submissions(tdr, number, hung);
    e->ignored = tdr->info.debug_mode == 1;
    if (e->ignored)
        return;
    if (tdr->info.debug_mode == 0)
        raise(SIGTRAP); /* for a debugger */
    if (tdr->info.level == 1)
        process_end("tdr_level is 1");
    if (!recovery_is_allowed(&tdr->info))
        process_end("too many recoveries (settings tdr_limit_count, tdr_limit_time)");
    tdr->declared_ns = now_ns;
    bf_scheduler_lose_for(scheduler, BF_DEVICE_REMOVED_REASON_HUNG, "an engine hangs");
    bf_last_entries_tell(scheduler, bf_standstill_names(standstill), number);
    bf_scheduler_settle(scheduler);
}

/* After the loss: calls are to leave the driver. True: some haven't yet. */
static bool calls_watch(struct bf_tdr *tdr, uint64_t now_ns)
{
    const struct bf_device_watch *watch = tdr->scheduler->watch;
    bool under_way = false;
    bool over = now_ns - tdr->declared_ns >= (uint64_t)tdr->info.ddi_ms * 1000000;
    for (uint32_t i = 0; i <= tdr->scheduler->engine_count && !tdr->left; i++) {
        const struct bf_watched_call *call =
            i < tdr->scheduler->engine_count ? &watch->engines[i].call : &watch->device_call;
        for (; call; call = atomic_load(&call->next)) {
            bool seen = call->look.seen && call->look.call.count % 2;
            under_way = under_way || seen;
            if (over && seen)
                bf_message(BF_MESSAGE_ERROR,
                           "tdr: thread %u hasn't left the driver %u ms after the loss (setting "
                           "tdr_ddi_delay)",
                           call->look.call.thread, tdr->info.ddi_ms);
        }
    }
    tdr->left = tdr->left || over || !under_way;
    return !tdr->left;
}

static bool tdr_look(void *context, struct bf_standstill *standstill,
                     const struct bf_standstill_engine *engines, uint64_t now_ns)
{
    struct bf_tdr *tdr = context;
    struct bf_scheduler *scheduler = tdr->scheduler;
    const uint64_t delay_ns = (uint64_t)tdr->info.delay_ms * 1000000;
    bool active = false;
    if (bf_scheduler_is_lost(scheduler))
        return tdr->declared_ns && calls_watch(tdr, now_ns);
    for (uint32_t i = 0; i < scheduler->engine_count && !tdr->declared_ns; i++) {
        struct bf_engine *engine = &scheduler->engines[i];
        struct tdr_engine *e = &tdr->engines[i];
        struct bf_submission oldest;
        bool runs = clock_runs(scheduler, engines, i, &oldest);
        if (!runs || oldest.epoch != e->epoch)
            *e = (struct tdr_engine){.epoch = runs ? oldest.epoch : 0, .since_ns = now_ns};
        uint64_t passed = now_ns - e->since_ns;
        bool feed =
            !runs || e->ignored || passed < delay_ns / 2 || !scheduler->preemption; /* TD-4 */
        if (!feed && !atomic_load(&engine->unfed))
            bf_message(BF_MESSAGE_WARNING,
                       "tdr: engine %u:%u hasn't got on for %.1f s: command queues give it no more "
                       "work until it does",
                       engine->base.family, engine->base.index, (double)passed / 1e9);
        engine_feed(engine, feed);
        active = active || runs;
        if (!feed && !e->asked_ns)
            e->asked_ns = now_ns;
        bool has_had_its_time = scheduler->preemption
                                    ? e->asked_ns && now_ns - e->asked_ns >= delay_ns / 2
                                    : passed >= delay_ns;
        if (runs && !e->ignored && has_had_its_time)
            engine_declare_hung(tdr, standstill, i, &oldest, now_ns);
    }
    return active || tdr->declared_ns;
}

struct bf_tdr *bf_tdr_create(struct bf_scheduler *scheduler, const struct bf_tdr_info *info)
{
    struct bf_tdr *tdr =
        calloc(1, sizeof(*tdr) + scheduler->engine_count * sizeof(tdr->engines[0]));
    if (tdr) {
        tdr->scheduler = scheduler;
        tdr->info = *info;
    }
    return tdr;
}

void bf_tdr_destroy(struct bf_tdr *tdr)
{
    free(tdr);
}

struct bf_standstill_check bf_tdr_check(struct bf_tdr *tdr)
{
    return (struct bf_standstill_check){tdr_look, tdr};
}

uint32_t bf_tdr_period_ms(const struct bf_tdr_info *info)
{
    return info->delay_ms / 4 ? info->delay_ms / 4 : 1;
}
