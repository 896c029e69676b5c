/* SPDX-License-Identifier: MIT */
/* Random programs and their logs: some threads, each with a queue of its own, whose calls are the
 * model of what must be logged, in which order; others read both logs meanwhile, exchange their
 * buffers and come and go. */
#include "support/fixture.h"

enum { MAX_QUEUES = 4, STEPS = 60, READERS = 2, MOST = 4 * STEPS, FENCES = 4, BATCH = 7 };

struct operation {
    uint32_t handle;
    uint64_t value;
};

/* One log of one queue: what has to be in it, and what a reader has got. */
struct expected {
    uint32_t count;
    struct operation at[MOST];
};

struct reading {
    BfFenceLogReader reader;
    _Atomic bool *stop;
    struct expected *expected; /* compared by the reader once all is over */
    uint32_t seed;
    bool exchanges; /* the buffers, now and then */
    bool visits;    /* it comes and goes: then it has some of it all, in order */
    BfDevice device;
    BfFenceLogReaderCreateInfo info;
    VkResult result;
    uint64_t lost, delivered;
    uint32_t count;
    BfFenceLogRecord got[MOST];
};

struct program {
    BfCommandQueue queue;
    BfFence fences[FENCES]; /* its own to signal; the first is plain */
    BfFence others[MAX_QUEUES];
    uint32_t other_count;
    uint64_t values[FENCES];
    VkCommandBuffer commands[STEPS];
    struct expected signals, waits;
    uint32_t seed;
    uint32_t unsubmitted; /* waits since its last batch */
    uint32_t failures;
};

static uint32_t next(uint32_t *seed)
{
    *seed ^= *seed << 13;
    *seed ^= *seed >> 17;
    return *seed ^= *seed << 5;
}

static void expect(struct expected *e, BfFence fence, uint64_t value)
{
    e->at[e->count++] = (struct operation){bfGetFenceLogHandle(fence), value};
}

static void signal_one(struct program *p)
{
    uint32_t i = next(&p->seed) % FENCES;
    p->values[i] += 1 + next(&p->seed) % 3;
    p->failures += bfQueueSignal(p->queue, p->fences[i], p->values[i]) != VK_SUCCESS;
    expect(&p->signals, p->fences[i], p->values[i]);
    p->unsubmitted = 0;
}

static void run_program(void *argument)
{
    struct program *p = argument;
    for (uint32_t i = 0; i < STEPS; i++) {
        uint32_t what = next(&p->seed) % 8;
        if (what < 3) {
            signal_one(p);
        } else if (what < 5) {
            p->failures += bfQueueExecute(p->queue, 1, &p->commands[i]) != VK_SUCCESS;
            p->unsubmitted = 0;
        } else if (what == 5) { /* of its own, or of the CPU's gates of this round */
            uint32_t k = next(&p->seed) % FENCES;
            p->failures += bfQueueWait(p->queue, p->fences[k], p->values[k]) != VK_SUCCESS;
            expect(&p->waits, p->fences[k], p->values[k]);
            p->unsubmitted++;
        } else {
            BfFence gate = p->others[next(&p->seed) % p->other_count];
            uint64_t value = 1 + next(&p->seed) % 8;
            p->failures += bfQueueWait(p->queue, gate, value) != VK_SUCCESS;
            expect(&p->waits, gate, value);
            p->unsubmitted++;
        }
        if (p->unsubmitted == 20) /* more than 32 would be lost */
            signal_one(p);
    }
    signal_one(p);
}

static void take(struct reading *r)
{
    uint32_t count;
    uint64_t lost;
    BfFenceLogRecord records[BATCH];
    VkResult result = bfReadFenceLog(r->reader, BATCH, records, &count, &lost);
    if (result < 0)
        r->result = result;
    r->lost += lost;
    for (uint32_t i = 0; i < count && r->count < MOST; i++)
        r->got[r->count++] = records[i];
    r->delivered += count;
}

static void read_on(void *argument)
{
    struct reading *r = argument;
    while (!*r->stop) {
        if (r->visits && next(&r->seed) % 8 == 0) {
            bfDestroyFenceLogReader(r->reader);
            if (next(&r->seed) % 2)
                sched_yield();
            r->reader = NULL;
            VkResult result = bfCreateFenceLogReader(r->device, &r->info, &r->reader);
            if (result != VK_SUCCESS) {
                r->result = result;
                return;
            }
        }
        take(r);
        if (r->exchanges && next(&r->seed) % 64 == 0)
            bfSetFenceLogEntries(r->reader, 200 + next(&r->seed) % 300);
        if (next(&r->seed) % 4 == 0)
            sched_yield();
    }
}

static void check_visitor(const struct reading *r, uint32_t seed)
{
    const struct expected *e = r->expected;
    uint32_t at = 0;
    for (uint32_t i = 0; i < r->count; i++) {
        const BfFenceLogEntry *entry = &r->got[i].entry;
        while (at < e->count &&
               (e->at[at].value != entry->fenceValue || e->at[at].handle != entry->hNativeFence))
            at++;
        if (at++ >= e->count)
            fail_msg("seed %u: record %u: value %llu of %u, which is not the next", seed, i,
                     (unsigned long long)entry->fenceValue, entry->hNativeFence);
    }
}

static void check(const struct reading *r, uint32_t seed)
{
    const struct expected *e = r->expected;
    assert_success(r->result);
    if (r->visits) {
        check_visitor(r, seed);
        return;
    }
    if (r->lost || r->count != e->count)
        fail_msg("seed %u: %u records and %llu lost of %u", seed, r->count,
                 (unsigned long long)r->lost, e->count);
    uint64_t end = 0;
    for (uint32_t i = 0; i < e->count; i++) {
        const BfFenceLogRecord *record = &r->got[i];
        if (record->entry.fenceValue != e->at[i].value ||
            record->entry.hNativeFence != e->at[i].handle || record->sequence != i ||
            record->lostBefore || record->entry.fenceEndGpuTimestamp < end ||
            record->entry.fenceObservedGpuTimestamp > record->entry.fenceEndGpuTimestamp)
            fail_msg("seed %u: record %u: value %llu of %u (sequence %llu), not %llu of %u", seed,
                     i, (unsigned long long)record->entry.fenceValue, record->entry.hNativeFence,
                     (unsigned long long)record->sequence, (unsigned long long)e->at[i].value,
                     e->at[i].handle);
        end = record->entry.fenceEndGpuTimestamp;
    }
}

static void run_round(struct fixture *f, uint32_t seed)
{
    uint32_t queues = 1 + next(&seed) % MAX_QUEUES, first = seed;
    struct program *programs = calloc(queues, sizeof(*programs));
    struct reading *readings = calloc(queues * 2 * READERS, sizeof(*readings));
    struct thread program_threads[MAX_QUEUES], reader_threads[MAX_QUEUES * 2 * READERS];
    BfFence gates[MAX_QUEUES];
    _Atomic bool stop = false;
    uint32_t reader_count = 0;
    for (uint32_t q = 0; q < queues; q++)
        gates[q] = q % 2 ? make_native_fence(f, 0) : make_fence(f, 0);
    for (uint32_t q = 0; q < queues; q++) {
        struct program *p = &programs[q];
        p->queue = make_queue(f, queue_types[next(&seed) % 3]);
        p->seed = next(&seed) | 1;
        p->other_count = queues;
        memcpy(p->others, gates, queues * sizeof(gates[0]));
        for (int i = 0; i < FENCES; i++)
            p->fences[i] = i ? make_native_fence(f, 0) : make_fence(f, 0);
        for (uint32_t i = 0; i < STEPS; i++)
            p->commands[i] = write_word(f, p->queue, q, i);
        for (uint32_t i = 0; i < 2 * READERS; i++) {
            bool waits = i % 2;
            struct reading *r = &readings[reader_count++];
            r->device = f->bf;
            r->info = (BfFenceLogReaderCreateInfo){
                BF_TYPE(FENCE_LOG_READER_CREATE_INFO), .queue = p->queue,
                .type = waits ? BF_FENCE_LOG_TYPE_WAITS : BF_FENCE_LOG_TYPE_SIGNALS,
                .entries = 400};
            assert_success(bfCreateFenceLogReader(f->bf, &r->info, &r->reader));
            r->visits = first % 3 == 0; /* all of a round: the logs come and go, too */
            r->stop = &stop;
            r->expected = waits ? &p->waits : &p->signals;
            r->seed = next(&seed) | 1;
            r->exchanges = i == 0 && next(&seed) % 2;
        }
    }
    for (uint32_t i = 0; i < reader_count; i++)
        thread_start(&reader_threads[i], read_on, &readings[i]);
    for (uint32_t q = 0; q < queues; q++)
        thread_start(&program_threads[q], run_program, &programs[q]);
    for (uint64_t value = 1; value <= 8; value++) {
        for (uint32_t q = 0; q < queues; q++)
            cpu_signal(gates[q], value);
        sched_yield();
    }
    for (uint32_t q = 0; q < queues; q++) {
        thread_join(&program_threads[q]);
        assert_int_equal(programs[q].failures, 0);
        for (int i = 0; i < FENCES; i++)
            await_fence(programs[q].fences[i], programs[q].values[i]);
    }
    stop = true;
    for (uint32_t i = 0; i < reader_count; i++)
        thread_join(&reader_threads[i]);
    for (uint32_t i = 0; i < reader_count; i++) {
        uint64_t before;
        do {
            before = readings[i].delivered;
            take(&readings[i]);
        } while (readings[i].delivered != before);
        check(&readings[i], first);
    }
    for (uint32_t i = 0; i < reader_count; i++)
        bfDestroyFenceLogReader(readings[i].reader);
    for (uint32_t q = 0; q < queues; q++) {
        for (int i = 0; i < FENCES; i++)
            drop_fence(f, programs[q].fences[i]);
        drop_fence(f, gates[q]);
        drop_queue(f, programs[q].queue);
    }
    free(programs);
    free(readings);
}

TEST(random_programs_are_logged_as_they_were_called)
{
    const char *rounds = getenv("BELFRY_TEST_ROUNDS"), *from = getenv("BELFRY_TEST_SEED");
    uint32_t count = rounds ? (uint32_t)atoi(rounds) : TIMES(64);
    uint32_t seed = from ? (uint32_t)atoi(from) : 1;
    while (count) {
        struct fixture f;
        fixture_open(&f, NULL); /* its command buffers go with it */
        for (int i = 0; i < 8 && count; i++, count--)
            run_round(&f, seed++ * 2654435761u | 1);
        fixture_close(&f);
    }
}
