/* SPDX-License-Identifier: MIT */
/* Readers of queues' logs: they come and go beside whatever else a program does, and what they read
 * is held against what it has done.
 *
 * A queue's waits, and its signals, are a list in the order of its calls. Each entry that is read
 * stands for one of them. Which one isn't always certain, since a program may do the same thing
 * twice: so a reader knows in which places of the list its last entry can stand. The next one
 * stands behind it, and what is passed over has been counted as lost. Where two are the same queue,
 * what they do is in no order, and only the number of times is looked at. */
#include "run.h"
#include "../support/type.h"

enum {
    LOG_SIDES = 2, /* waits and signals, as BfFenceLogType - 1 */
    LOG_READERS = 2,
    LOG_OPERATIONS = PLAN_EVENTS * PLAN_LINKS + PLAN_CBS,
    LOG_RECORDS = 40,
};

struct log_operation {
    uint8_t semaphore;
    int8_t place;    /* of a signal among its batch's; -1: the progress fence's */
    bool optional;   /* it may be that there is no entry */
    int16_t op;      /* the call */
    int16_t batch;   /* -1: a wait's call alone */
    uint32_t handle; /* 0: the program has no way to know */
    uint64_t value;
};

struct log_reader {
    BfFenceLogReader handle; /* NULL: there is none */
    int side;
    int from;                /* operations that had begun when it came: those need not be there */
    bool any;                /* it has read something */
    uint64_t sequence;       /* of the last record */
    uint64_t end;            /* its time */
    uint64_t lost;           /* as was told */
    uint64_t unplaced;       /* of these, those of which it isn't known where */
    bool at[LOG_OPERATIONS]; /* where the last record can stand */
};

struct run_log {
    pthread_mutex_t lock;
    bool twins;
    bool left;         /* the queue has been destroyed */
    uint64_t executed; /* calls of bfQueueExecute, by the plan */
    int count[LOG_SIDES], begun[LOG_SIDES];
    struct log_operation operations[LOG_SIDES][LOG_OPERATIONS];
    struct log_reader readers[LOG_READERS];
};

bool logs_init(struct run *run)
{
    run->logs = calloc(PLAN_QUEUES, sizeof(*run->logs));
    for (int q = 0; q < PLAN_QUEUES && run->logs; q++)
        pthread_mutex_init(&run->logs[q].lock, NULL);
    return run->logs != NULL;
}

void logs_finish(struct run *run)
{
    for (int q = 0; q < PLAN_QUEUES && run->logs; q++)
        pthread_mutex_destroy(&run->logs[q].lock);
    free(run->logs);
    run->logs = NULL;
}

/* The queue that it really is. */
static int log_queue(const struct plan *plan, int q)
{
    return q >= 0 && plan->queues[q].bf && plan->queues[q].twin >= 0 ? plan->queues[q].twin : q;
}

/* What a queue does ------------------------------------------------------------------------- */

/* A fence's, on either queue if it is the semaphore itself. */
static uint32_t handle_of(struct run *run, int semaphore, bool bf)
{
    const struct plan_semaphore *s = &run->plan->semaphores[semaphore];
    bool known = s->face == FACE_IMPORTED || (bf && plan_is_bf(s));
    return known ? run->bench->bf.GetFenceLogHandle(run->bf_fences[semaphore]) : 0;
}

static void add(struct run *run, struct run_log *log, int side, const struct plan_event *event,
                int semaphore, int place, uint64_t value)
{
    const struct plan *plan = run->plan;
    const struct plan_semaphore *s = &plan->semaphores[semaphore];
    if (!s->timeline)
        return;
    log->operations[side][log->count[side]++] =
        (struct log_operation){.semaphore = (uint8_t)semaphore,
                               .place = (int8_t)place,
                               .optional = s->destroyed >= 0, /* it may have been let go by that */
                               .op = event->batch < 0 ? event->op : plan->batches[event->batch].op,
                               .batch = event->batch,
                               .handle = handle_of(run, semaphore, plan->queues[event->queue].bf),
                               .value = value};
}

/* Each is a signal of the queue's progress fence. */
static void add_executions(struct run *run, struct run_log *log, const struct plan_event *event,
                           const struct plan_batch *batch)
{
    const struct plan *plan = run->plan;
    int q = log_queue(plan, event->queue);
    int count = batch->split ? batch->cb_count : batch->cb_count > 0;
    for (int i = 0; i < count && plan->queues[q].progress; i++)
        log->operations[1][log->count[1]++] =
            (struct log_operation){.place = -1,
                                   .op = batch->op,
                                   .batch = event->batch,
                                   .handle = run->bench->bf.GetFenceLogHandle(run->executed[q]),
                                   .value = ++log->executed};
}

static void add_event(struct run *run, struct run_log *log, const struct plan_event *event)
{
    const struct plan_batch *batch = event->batch < 0 ? NULL : &run->plan->batches[event->batch];
    if (!batch) {
        add(run, log, 0, event, event->semaphore, 0, event->value);
        return;
    }
    for (int w = 0; w < batch->wait_count; w++)
        if (batch->waits[w].arm < 0)
            add(run, log, 0, event, batch->waits[w].semaphore, 0, batch->waits[w].value);
    add_executions(run, log, event, batch);
    for (int s = 0; s < batch->signal_count; s++)
        add(run, log, 1, event, batch->signals[s].semaphore, s, batch->signals[s].value);
}

/* A VkQueue is older than the program. While a trace is written it has a log all the time, and what
 * a program before did last may still wait to be written there: a read sees to that. */
static void flush(struct run *run, int q)
{
    const struct plan_queue *queue = &run->plan->queues[q];
    struct bf_api *bf = &run->bench->bf;
    const BfFenceLogReaderCreateInfo info = {BF_TYPE(FENCE_LOG_READER_CREATE_INFO),
                                             .vkQueue = run->bench->queues[queue->machine_queue],
                                             .type = BF_FENCE_LOG_TYPE_SIGNALS};
    BfFenceLogReader reader;
    BfFenceLogRecord record;
    uint32_t count;
    run_must(run, -1, bf->CreateFenceLogReader(run->bench->bf_device, &info, &reader),
             "bfCreateFenceLogReader");
    VkResult result = bf->ReadFenceLog(reader, 1, &record, &count, NULL);
    if (result != VK_INCOMPLETE)
        run_must(run, -1, result, "bfReadFenceLog");
    run_must(run, -1, bench_idle(run->bench), "bench_idle");
    bf->DestroyFenceLogReader(reader);
}

void logs_begin(struct run *run)
{
    const struct plan *plan = run->plan;
    for (int q = 0; q < plan->queue_count && plan->logged; q++)
        if (plan->queues[q].read && !plan->queues[q].bf && plan->queues[q].commands)
            flush(run, q);
    for (int q = 0; q < plan->queue_count && plan->logged; q++) {
        struct run_log *log = &run->logs[q];
        const struct plan_queue *queue = &plan->queues[q];
        log->twins = log->left = false;
        log->executed = 0;
        memset(log->count, 0, sizeof(log->count));
        memset(log->begun, 0, sizeof(log->begun));
        if (queue->bf && queue->twin >= 0) {
            log = &run->logs[queue->twin];
            log->twins = true;
        }
        for (int i = 0; i < queue->event_count && queue->read; i++)
            add_event(run, log, &plan->events[queue->events[i]]);
    }
}

/* Reading ----------------------------------------------------------------------------------- */

static bool is_entry_of(const struct log_operation *operation, const BfFenceLogEntry *entry)
{
    return operation->value == entry->fenceValue &&
           (!operation->handle || operation->handle == entry->hNativeFence);
}

/* What is known of an operation that is over. */
static void check_over(struct run *run, int op, int side, const struct log_operation *o)
{
    const struct plan *plan = run->plan;
    if (op < 0)
        return;
    if (side == 0) {
        int arm = plan->batches[o->batch < 0 ? 0 : o->batch].queue;
        arm = o->batch < 0 || plan->queues[arm].bf ? o->op : -1;
        if (plan_ticket_never(plan, o->semaphore, o->value, arm, plan_node_end(op)))
            run_fail(run, op, "the log says that a wait for S%d>=%" PRIu64 " by #%d is over",
                     o->semaphore, o->value, o->op);
        return;
    }
    if (o->place < 0)
        return; /* which of its batch's executions it is isn't told */
    int node = plan_node_signal(plan, o->batch, o->place);
    if (plan_before(plan, plan_node_end(op), node))
        run_fail(run, op, "the log says that #%d has signalled S%d=%" PRIu64, o->op, o->semaphore,
                 o->value);
    check_done(run, op, node);
}

/* The operations from 'first' to 'last' - 1: how many of them must have had entries. Of what was
 * under way when the reader came, some may have been past the place where it is logged. */
static uint64_t count_needed(const struct run_log *log, const struct log_reader *reader, int first,
                             int last)
{
    uint64_t needed = 0;
    for (int i = first > reader->from ? first : reader->from; i < last; i++)
        needed += !log->operations[reader->side][i].optional;
    return needed;
}

static void dump_list(const struct run_log *log, const struct log_reader *reader)
{
    for (int i = 0; i < log->count[reader->side]; i++) {
        const struct log_operation *o = &log->operations[reader->side][i];
        fprintf(stderr, "  %s%s #%d: fence %" PRIu32 " (S%d), value %" PRIu64 "%s\n",
                i == reader->from ? "(the reader came) " : "", reader->at[i] ? "*" : "", o->op,
                o->handle, o->place < 0 ? -1 : o->semaphore, o->value,
                o->optional ? ", maybe" : "");
    }
}

static _Noreturn void fail_entry(struct run *run, int op, int q, const struct log_reader *reader,
                                 const BfFenceLogRecord *record, const char *why)
{
    dump_list(&run->logs[q], reader);
    run_fail(run, op,
             "Q%d, log of %s, record %" PRIu64 " (%" PRIu64 " lost before): fence %" PRIu32
             ", value %" PRIu64 ", observed %" PRIu64 ", end %" PRIu64 ", flags %#" PRIx64 ": %s",
             q, reader->side ? "signals" : "waits", record->sequence, record->lostBefore,
             record->entry.hNativeFence, record->entry.fenceValue,
             record->entry.fenceObservedGpuTimestamp, record->entry.fenceEndGpuTimestamp,
             record->entry.reserved0, why);
}

/* The record's place in the list, if it is certain; else -1. */
static int place_record(struct run *run, int op, int q, struct log_reader *reader,
                        const BfFenceLogRecord *record)
{
    struct run_log *log = &run->logs[q];
    static _Thread_local bool now[LOG_OPERATIONS];
    int count = log->count[reader->side], places = 0, place = -1;
    uint64_t most = record->lostBefore + reader->unplaced;
    memset(now, 0, sizeof(now));
    for (int i = 0; i < count; i++) {
        if (!is_entry_of(&log->operations[reader->side][i], &record->entry))
            continue;
        if (!reader->any)
            now[i] = count_needed(log, reader, reader->from, i) <= most;
        for (int before = i - 1; before >= 0 && reader->any && !now[i]; before--)
            now[i] = reader->at[before] && count_needed(log, reader, before + 1, i) <= most &&
                     record->lostBefore <= (uint64_t)(i - before - 1);
        places += now[i];
        place = now[i] ? i : place;
    }
    if (!places)
        fail_entry(run, op, q, reader, record, "no operation that the queue did can be meant");
    memcpy(reader->at, now, sizeof(now));
    return places == 1 ? place : -1;
}

/* No more often than it was done. */
static void place_among_twins(struct run *run, int op, int q, struct log_reader *reader,
                              const BfFenceLogRecord *record)
{
    struct run_log *log = &run->logs[q];
    for (int i = 0; i < log->count[reader->side]; i++) {
        struct log_operation *o = &log->operations[reader->side][i];
        if (reader->at[i] || !is_entry_of(o, &record->entry))
            continue;
        reader->at[i] = true;
        return;
    }
    fail_entry(run, op, q, reader, record, "that hasn't been done, or not so often");
}

static void take_record(struct run *run, int op, int q, struct log_reader *reader,
                        const BfFenceLogRecord *record)
{
    struct run_log *log = &run->logs[q];
    const BfFenceLogEntry *entry = &record->entry;
    if (entry->operationType != (reader->side ? BF_FENCE_LOG_OPERATION_SIGNAL_EXECUTED
                                              : BF_FENCE_LOG_OPERATION_WAIT_UNBLOCKED))
        fail_entry(run, op, q, reader, record, "it is of the other log");
    if (reader->any && record->sequence != reader->sequence + 1 + record->lostBefore)
        fail_entry(run, op, q, reader, record, "its number is wrong");
    if (entry->fenceEndGpuTimestamp && entry->fenceEndGpuTimestamp < reader->end)
        fail_entry(run, op, q, reader, record, "its time is before that of the last one");
    if (entry->fenceObservedGpuTimestamp > entry->fenceEndGpuTimestamp &&
        !(entry->reserved0 & BF_FENCE_LOG_LATE_BOUND_BIT))
        fail_entry(run, op, q, reader, record, "it ended before it was observed");
    if (record->lostBefore > reader->unplaced)
        fail_entry(run, op, q, reader, record, "more was lost than was told");
    reader->unplaced -= record->lostBefore;
    if (log->twins) {
        place_among_twins(run, op, q, reader, record);
    } else {
        int place = place_record(run, op, q, reader, record);
        if (place >= 0)
            check_over(run, op, reader->side, &log->operations[reader->side][place]);
    }
    reader->any = true;
    reader->sequence = record->sequence;
    if (entry->fenceEndGpuTimestamp)
        reader->end = entry->fenceEndGpuTimestamp;
}

static void read_all(struct run *run, int op, int q, struct log_reader *reader)
{
    BfFenceLogRecord records[LOG_RECORDS];
    VkResult result = VK_INCOMPLETE;
    while (result == VK_INCOMPLETE) {
        uint32_t count = 0;
        uint64_t lost = 0;
        result = run->bench->bf.ReadFenceLog(reader->handle, LOG_RECORDS, records, &count, &lost);
        if (result != VK_INCOMPLETE)
            run_must(run, op, result, "bfReadFenceLog");
        reader->lost += lost;
        reader->unplaced += lost;
        atomic_fetch_add(&run->logged, count);
        atomic_fetch_add(&run->lost, lost);
        for (uint32_t i = 0; i < count; i++)
            take_record(run, op, q, reader, &records[i]);
    }
}

/* Coming and going -------------------------------------------------------------------------- */

static void reader_open(struct run *run, int op, int q, struct log_reader *reader, struct rng *rng)
{
    const struct plan_queue *queue = &run->plan->queues[q];
    struct run_log *log = &run->logs[q];
    const BfFenceLogReaderCreateInfo info = {
        BF_TYPE(FENCE_LOG_READER_CREATE_INFO),
        .queue = queue->bf ? run->bf_queues[q] : NULL,
        .vkQueue = queue->bf ? VK_NULL_HANDLE : run->bench->queues[queue->machine_queue],
        .type = rng_percent(rng, 50) ? BF_FENCE_LOG_TYPE_WAITS : BF_FENCE_LOG_TYPE_SIGNALS,
        .entries =
            rng_percent(rng, 70) ? 0 : (uint32_t)rng_range(rng, 1, rng_percent(rng, 50) ? 5 : 100),
    };
    BfFenceLogReader handle = NULL;
    int from = log->begun[info.type - 1];
    VkResult result = run->bench->bf.CreateFenceLogReader(run->bench->bf_device, &info, &handle);
    bool possible = queue->commands && !queue->software;
    if (result == VK_ERROR_FEATURE_NOT_PRESENT && !possible)
        return;
    run_must(run, op, result, "bfCreateFenceLogReader");
    if (!possible)
        run_fail(run, op, "Q%d has logs", q);
    memset(reader, 0, sizeof(*reader));
    reader->handle = handle;
    reader->side = (int)info.type - 1;
    reader->from = from;
}

static void reader_close(struct run *run, struct log_reader *reader)
{
    run->bench->bf.DestroyFenceLogReader(reader->handle);
    reader->handle = NULL;
}

static void reader_dump(struct run *run, int op, const struct log_reader *reader)
{
    char data[BF_FENCE_LOG_DEFAULT_BYTES];
    size_t size = sizeof(data);
    VkResult result = run->bench->bf.DumpFenceLog(reader->handle, &size, data);
    if (result != VK_INCOMPLETE)
        run_must(run, op, result, "bfDumpFenceLog");
}

/* Something is done with a log of the queue, or nothing; its lock is held. */
static void queue_turn(struct run *run, int op, int q, struct rng *rng)
{
    struct log_reader *reader = &run->logs[q].readers[rng_below(rng, LOG_READERS)];
    if (run->logs[q].left)
        return;
    if (!reader->handle) {
        if (rng_percent(rng, 40))
            reader_open(run, op, q, reader, rng);
        return;
    }
    int dice = (int)rng_below(rng, 100);
    if (dice < 50) {
        read_all(run, op, q, reader);
    } else if (dice < 60) {
        read_all(run, op, q, reader);
        reader_close(run, reader);
    } else if (dice < 65) {
        reader_close(run, reader);
    } else if (dice < 70) {
        reader_dump(run, op, reader);
    } else if (dice < 75) {
        run_must(
            run, op,
            run->bench->bf.SetFenceLogEntries(reader->handle, (uint32_t)rng_range(rng, 2, 200)),
            "bfSetFenceLogEntries");
    }
}

static void turn(struct run *run, int op, bool after)
{
    const struct plan *plan = run->plan;
    struct rng rng = {plan->seed * 31 + (uint64_t)op * 2 + after};
    (void)rng_next(&rng);
    int q = plan->ops[op].queue;
    if (q < 0 || rng_percent(&rng, 20))
        q = (int)rng_below(&rng, (uint32_t)plan->queue_count);
    q = log_queue(plan, q);
    if (!plan->queues[q].read || rng_percent(&rng, 50))
        return;
    /* Others don't wait for each other here: a program's calls are to meet. */
    if (pthread_mutex_trylock(&run->logs[q].lock))
        return;
    queue_turn(run, op, q, &rng);
    pthread_mutex_unlock(&run->logs[q].lock);
}

/* The operations of a call that is about to be made. */
static void begin(struct run *run, int op)
{
    const struct plan *plan = run->plan;
    int q = log_queue(plan, plan->ops[op].queue);
    if (q < 0 || !plan->queues[q].read)
        return;
    struct run_log *log = &run->logs[q];
    pthread_mutex_lock(&log->lock);
    for (int side = 0; side < LOG_SIDES; side++) {
        for (int i = log->begun[side]; i < log->count[side]; i++)
            if (log->operations[side][i].op == op)
                log->begun[side] = i + 1;
    }
    pthread_mutex_unlock(&log->lock);
}

void logs_before(struct run *run, int op)
{
    if (!run->plan->logged)
        return;
    begin(run, op);
    turn(run, op, false);
}

void logs_after(struct run *run, int op)
{
    if (run->plan->logged)
        turn(run, op, true);
}

void logs_leave(struct run *run, int op, int queue)
{
    struct run_log *log = &run->logs[log_queue(run->plan, queue)];
    if (!run->plan->logged)
        return;
    pthread_mutex_lock(&log->lock);
    for (int r = 0; r < LOG_READERS; r++) {
        if (!log->readers[r].handle)
            continue;
        read_all(run, op, queue, &log->readers[r]);
        reader_close(run, &log->readers[r]);
    }
    log->left = true;
    pthread_mutex_unlock(&log->lock);
}

/* Everything that must be there has been read. */
static bool is_complete(const struct run_log *log, const struct log_reader *reader)
{
    int count = log->count[reader->side];
    if (log->twins) {
        uint64_t missing = 0;
        for (int i = 0; i < count && !reader->from; i++) /* else nobody knows which were before */
            missing += !reader->at[i] && !log->operations[reader->side][i].optional;
        return missing <= reader->lost;
    }
    if (!reader->any)
        return count_needed(log, reader, reader->from, count) <= reader->unplaced;
    for (int i = 0; i < count; i++)
        if (reader->at[i] && count_needed(log, reader, i + 1, count) <= reader->unplaced)
            return true;
    return false;
}

static void reader_end(struct run *run, int q, struct log_reader *reader)
{
    double until = run_seconds() + run->watchdog_s;
    /* What waits for a read to be submitted is there at a later one. */
    do
        read_all(run, -1, q, reader);
    while (!is_complete(&run->logs[q], reader) && run_seconds() < until && !sched_yield());
    if (is_complete(&run->logs[q], reader)) {
        reader_close(run, reader);
        return;
    }
    dump_list(&run->logs[q], reader);
    run_fail(run, -1, "Q%d: the log of %s lacks what the queue did last", q,
             reader->side ? "signals" : "waits");
}

uint64_t logs_end(struct run *run)
{
    uint64_t late = 0;
    for (int q = 0; q < run->plan->queue_count && run->plan->logged; q++) {
        for (int r = 0; r < LOG_READERS; r++)
            if (run->logs[q].readers[r].handle)
                reader_end(run, q, &run->logs[q].readers[r]);
        /* A submission that a reader has asked for may be held by a window, and be counted
         * later; for a queue that is destroyed nobody can wait. */
        if (run->logs[q].left)
            late += (uint64_t)(run->logs[q].count[0] + run->logs[q].count[1]);
        if (run->bf_queues[q])
            run_must(run, -1, run->bench->bf.QueueWaitIdle(run->bf_queues[q]), "bfQueueWaitIdle");
    }
    return late;
}
