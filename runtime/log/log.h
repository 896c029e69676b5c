/* SPDX-License-Identifier: MIT */
/*
 * A queue's logs of its waits and signals (belfry/fence_log.h).
 *
 * But for LG-6, an entry is written by a command buffer in the program's own batch: a wait's before
 * the program's command buffers, a signal's behind them. Each is recorded once, for one slot: it
 * copies the payload from the slot's staging memory, lets the GPU's timestamp land on the entry's
 * field, and then copies the word that counts the entry. Slots are a ring of several times the log's
 * entries, so a slot always writes the same entry; the log's numbers go round it.
 *
 *  LG-1  A slot is used again only when the epoch of the submission that carried it has been
 *        reached. Where the next one is still in use, the operation isn't logged, and counts as
 *        lost: nobody waits for a log.
 *  LG-2  An entry is complete before the word that counts it, and that before the next entry of the
 *        log begins (R-1 of log/reader.h, with ahead = 1): there is a barrier on either side of the
 *        word's copy, and all of it is on one VkQueue, in order.
 *  LG-3  The value, the entry, the word, the epoch (which wakes who waits), in this order: a
 *        signal's entry is behind the store of a native fence's value in the same batch, and the
 *        batch signals its epoch when all of its commands are complete.
 *  LG-4  What a queue has passed without a batch of its own (a wait, the signal of a fence that
 *        isn't native) is noted and goes with the queue's next batch, before that one's own. Its
 *        times are of when it happened all the same: when the packet before it had ended, which the
 *        GPU keeps in a word of the queue's, or the host's own time if that was later. A batch that
 *        the driver refuses leaves it noted.
 *  LG-5  No command buffer of ours gets into a protected batch, nor into one that counts
 *        performance: its entries are noted, as LG-4's, with the time of the batch that takes them
 *        along. (Nor do stamps; and no command queue, with its stores and barriers, lives on a
 *        VkQueue that was created for protected work.)
 *  LG-6  Logs without times (the setting 'untimed') cost the GPU nothing: that a batch is over is all
 *        that there is to say, and its epoch says it. The host writes the entries, in the order of
 *        the operations, each before the word that counts it, whenever the log is flushed (it is
 *        read, dumped or replaced, or has no free slot): those of batches whose epoch has been
 *        reached, all of them, and no others. So who learns of a signal from Belfry (a fence, an
 *        event, an idle queue) finds its entry when it reads. Batches that nothing can be added to
 *        need no other to be logged. LG-2 and LG-3 are of the other logs, R-1 and R-2 of both.
 *
 * Times. A wait's end, and a signal's in its own batch, are the GPU's stamps. A wait is observed when
 * the packet before it has ended, or when it was handed to the queue, whichever is later. Where the
 * queue was at work when its log was made, one submission of the log's own behind that work keeps
 * the time at which it ended (and whatever else the engine had been given by then). Families
 * that can do nothing but transfers may write timestamps, and not copy them: the host fills them in
 * before anybody reads. Engines without timestamps log zeros.
 *
 * A log that nobody has asked for isn't there: queues look at one pointer.
 *
 * Proven by tests/fence (logs.c, logs_rules.c, logs_times.c, logs_settings.c, logs_random.c,
 * protected.c) and tests/random.
 */
#ifndef BELFRY_LOG_LOG_H
#define BELFRY_LOG_LOG_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include <vulkan/vulkan.h>

#include "belfry/fence_log.h"
#include "log/reader.h"
#include "base/lock.h"

struct bf_gpu_engine;
struct bf_log_writer;

/* Operations that wait for the queue's next batch, at most (LG-4). */
#define BF_LOG_NOTES 32

enum bf_log_side { BF_LOG_WAITS, BF_LOG_SIGNALS, BF_LOG_SIDES };

/* When a wait was observed, or a signal that was noted was executed. */
enum bf_log_when {
    BF_LOG_AT_NS,      /* at 'ns' on CLOCK_MONOTONIC; 0: a wait that didn't stall */
    BF_LOG_AFTER_LAST, /* when the queue's packet before it had ended */
    BF_LOG_WITH_STAMP, /* a signal: when the batch that takes it along begins */
};

/* A wait that is over, or a signal that has been executed. */
struct bf_log_operation {
    enum bf_log_side side;
    uint32_t handle; /* of the fence */
    uint64_t key;    /* what a trace knows it by */
    uint64_t value;
    uint32_t flags; /* BfFenceLogFlagBits */
    enum bf_log_when when;
    uint64_t ns;
};

/* What an engine's logs share, under the engine's lock; zeroed is empty. */
struct bf_log_engine {
    uint32_t enabled;                 /* logs with a writer */
    struct bf_log *left;              /* of queues that are gone */
    uint32_t room;                    /* of 'infos' */
    VkCommandBufferSubmitInfo *infos; /* of a batch with entries */
};

/* What has been noted of a queue, and the writer of its entries. It stays as long as the queue. */
struct bf_log {
    struct bf_log *next; /* of its engine's: the queue is gone */
    struct bf_gpu_engine *engine;
    struct bf_log_engine *logs;
    _Atomic bool enabled;     /* there is a writer */
    _Atomic uint32_t readers; /* of the program's; a trace's is none of them */
    struct bf_log_writer *writer;
    struct bf_log_writer *dying; /* replaced ones, with entries on their way */
    _Atomic uint64_t last_epoch; /* of the queue's last batch that was accepted */
    struct bf_log_trace *trace;  /* what the timeline reads of both; NULL: it doesn't */
    uint32_t trace_id;           /* what it knows the queue by */
    struct bf_log_cursor
        *interrupts;                /* what interrupts have read of its signals; NULL: none came */
    uint64_t entries[BF_LOG_SIDES]; /* of all writers before this one */
    _Atomic uint64_t lost[BF_LOG_SIDES]; /* operations that have not been logged (LG-1) */
    struct bf_lock lock;                 /* a leaf: what has been noted */
    _Atomic uint32_t noted;
    uint32_t taken; /* the first of these: with a batch that hasn't been accepted yet */
    struct bf_log_operation notes[BF_LOG_NOTES];
};

/* A batch's operation on a semaphore. */
struct bf_log_sync {
    VkSemaphore semaphore;
    uint32_t handle; /* what logs call it; 0: they don't */
    uint64_t value;
};

/* A batch on its way to the driver, and what of it is logged. */
struct bf_log_batch {
    VkSubmitInfo2
        *submit;  /* pWaitSemaphoreInfos is as long as the waits at least; NULL: a sparse bind */
    bool barrier; /* its first command buffer */
    bool was_held;
    bool goes_at_once;
    enum bf_log_when when;             /* of its waits, unless it goes at once */
    uint64_t called_ns;                /* when the program submitted it, if it waits */
    uint32_t wait_count, signal_count; /* the program's own */
    /* Fills in operation i of a side; 'operations' is the caller's. */
    void (*operation)(const void *operations, enum bf_log_side side, uint32_t i,
                      struct bf_log_sync *sync);
    const void *operations;
    uint64_t imported; /* the key of the fence whose native wait it is; 0: nobody's */
    /* The signal of a fence that it is: what it is called, its key and the value. */
    bool signals_fence;
    uint32_t fence_handle;
    uint64_t fence_key, fence_value;
    /* Of the log, once it has its entries: */
    uint32_t slots, notes;
    uint32_t lost[BF_LOG_SIDES];
    bool had_end;
};

/* Can queues of the engine have logs? */
bool bf_log_is_possible(const struct bf_gpu_engine *engine);

/* The engine's lock is held for all of these, up to bf_log_finish. */

/* A queue's log, without a writer. NULL: out of memory. */
struct bf_log *bf_log_create(struct bf_gpu_engine *engine, struct bf_log_engine *logs,
                             uint32_t trace_id);

/* Logs of another size, from their being made to their being used. */
struct bf_log_change {
    struct bf_log_writer *writer; /* NULL: no logs any more */
    VkCommandBuffer mark; /* to be submitted, behind all that the engine has been given; or NULL */
    uint32_t slots;
    uint64_t epoch; /* of the queue's last batch so far; with a mark, of that */
};

/*
 * Logs of at least that many entries, in place of those the queue has; 0 entries: none any more.
 * 'is_at_work': the driver may still be at what the queue has given it, of which no log knows. Then a mark
 * keeps the time at which that ends: the queue's first wait may have to be told from it. One of
 * the other two follows. Errors: VK_ERROR_OUT_OF_HOST_MEMORY, those of bf_buffer_create, of creating
 * pools and of recording; nothing has changed then.
 */
VkResult bf_log_prepare(struct bf_log *log, uint32_t entries, bool is_at_work,
                        struct bf_log_change *change);
/* What is on its way goes to the old logs, which live until it has arrived. */
void bf_log_commit(struct bf_log *log, const struct bf_log_change *change);
void bf_log_abandon(struct bf_log_change *change);

/* The logs are enabled for those below. Is it the host that writes them (LG-6)? */
bool bf_log_is_by_host(const struct bf_log *log);

/* How many command buffers a batch may come to have with its entries; 0: the host writes. */
uint32_t bf_log_room(const struct bf_log *log, uint32_t command_buffers, uint32_t waits,
                     uint32_t signals);
/* Makes room for so many in the engine's 'infos'. False: there is no memory for as much. */
bool bf_log_make_room(struct bf_log_engine *logs, uint32_t room);

/* Gives the batch its entries, around its command buffers, in 'infos' of that room; NULL where the
 * host writes. */
void bf_log_put(struct bf_log *log, struct bf_log_batch *batch, VkCommandBufferSubmitInfo *infos);
/* Notes what the batch does, of one that nothing can be added to. */
void bf_log_note_batch(struct bf_log *log, const struct bf_log_batch *batch);
/* So many slots and notes went with batches that have been accepted, by this epoch or before it. 'has_entries':
 * something could be added. */
void bf_log_accepted(struct bf_log *log, uint32_t slots, uint32_t notes, bool has_entries,
                     uint64_t epoch);

/* For one batch that goes at once. False: it takes no entries, or there is no memory for them: it may
 * go by a packet, but for the signal of a fence, which then counts as lost. Before the lock is released
 * bf_log_accepted or bf_log_refused follows, unless it goes by a packet; submit's command buffers are the
 * engine's until then. */
bool bf_log_add(struct bf_log *log, struct bf_log_batch *batch);
void bf_log_refused(struct bf_log *log, const struct bf_log_batch *batch);

/* Whoever reads one of a queue's logs, over all the buffers that it has in the course of time. */
struct bf_log_cursor {
    struct bf_log *log;
    struct bf_log_writer *writer; /* where it is; kept for it */
    enum bf_log_side side;
    uint64_t lost_before; /* of log->lost, told already */
    struct bf_log_reader reader;
};

/* From here on. The log is enabled. */
void bf_log_cursor_open(struct bf_log *log, enum bf_log_side side, struct bf_log_cursor *cursor);
void bf_log_cursor_close(struct bf_log_cursor *cursor);
/* Does it lead to what is written now? Not after the log has been switched off and on again. */
bool bf_log_cursor_is_current(const struct bf_log_cursor *cursor);

/* Entries that have not been read, up to 'capacity'; *lost grows by those that can't be read any
 * more, or have never been written. Not OK: the memory isn't what it should be. */
enum bf_log_read bf_log_cursor_read(struct bf_log_cursor *cursor, struct bf_log_item *items,
                                    uint32_t capacity, uint32_t *count, uint64_t *lost);

/* The same, but all of one writer's: cursor->writer, afterwards. Fewer than 'capacity' doesn't mean
 * that there are no more. */
enum bf_log_read bf_log_cursor_read_one_log(struct bf_log_cursor *cursor, struct bf_log_item *items,
                                            uint32_t capacity, uint32_t *count, uint64_t *lost);

/* What the timeline reads of a log. NULL: out of memory. 'begin' takes it; the log is enabled. */
struct bf_log_trace *bf_log_trace_create(void);
void bf_log_begin_trace(struct bf_log *log, struct bf_log_trace *trace);
/* What has been read by now; and the last of it. The engine's lock is held. */
void bf_log_report(struct bf_log *log);
void bf_log_end_trace(struct bf_log *log);

/* Looks how far the GPU is, and writes, fills in and frees what it is done with. The log is enabled. */
void bf_log_flush(struct bf_log *log);

/* The same up to an epoch that has been reached, of the logs that it has replaced too; and what a
 * timeline reads. */
void bf_log_collect(struct bf_log *log, uint64_t completed);

/* The queue goes. NULL is allowed. */
void bf_log_leave(struct bf_log *log);

/* Frees what has been left and has nothing on its way any more. */
void bf_log_see_off(struct bf_log_engine *logs, uint64_t completed);

/* The engine is idle or lost, all of its queues have left, and its VkQueue goes as well; 'completed' is
 * the epoch that it has reached. */
void bf_log_finish(struct bf_log_engine *logs, uint64_t completed);

/* The queue has passed it (LG-4). Thread-safety: safe. */
void bf_log_note(struct bf_log *log, const struct bf_log_operation *operation);

/* Is the queue's last batch over? Thread-safety: safe. */
bool bf_log_is_last_batch_over(const struct bf_log *log);

/* Has anything been noted that no batch has taken along yet? Thread-safety: safe. */
bool bf_log_has_notes(struct bf_log *log);

/* Does the program read it? Then each signal has a batch, and an entry before it applies (LG-3);
 * else those of fences that aren't native cost none, and are noted. */
static inline bool bf_log_is_read(struct bf_log *log)
{
    return log && atomic_load_explicit(&log->readers, memory_order_relaxed) > 0;
}

static inline bool bf_log_is_enabled(struct bf_log *log)
{
    return log && atomic_load_explicit(&log->enabled, memory_order_relaxed);
}

#endif
