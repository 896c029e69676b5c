/* SPDX-License-Identifier: MIT */
/*
 * A queue's two native fence logs, of its waits and of its signals (belfry/fence_log.h).
 *
 * Except under LG-6 and LG-8, the GPU writes an entry with a command buffer in the program's own
 * batch: a wait's before the program's command buffers, a signal's behind them. Each of these
 * command buffers is recorded once, for one slot. It copies the entry's payload from the slot's
 * staging memory, lets the GPU's timestamp land in the entry's field, and then copies the index
 * word: the 64 bits of the log's header that count the entries (index and wraparounds). The slots
 * are a ring of several times the log's entries, so a slot always writes to the same entry.
 *
 *  LG-1  A slot is used again only when the epoch of the submission that contained it has been
 *        reached. If the next slot is still in use, the operation isn't logged and counts as lost:
 *        no submission waits for its log.
 *  LG-2  An entry is complete before the index word that counts it, and that word is written before
 *        the next entry of the log is begun (R-1 of log/reader.h, with ahead = 1): there is a
 *        barrier on either side of the word's copy, which reaches the host, and all of it is on one
 *        VkQueue, in order.
 *  LG-3  A signal takes effect in this order: the fence's value, the log's entry, the index word,
 *        the epoch (which wakes waiters). The entry is behind the GPU write of a native fence's
 *        value in the same batch, and the batch signals its epoch when all of its commands are
 *        complete.
 *  LG-4  An operation that the queue passes without a batch of its own (a wait, the signal of a
 *        fence that isn't native) is noted, and its entry goes with the queue's next batch, before
 *        that batch's own entries. Its times are nevertheless those at which it happened: the end
 *        of the packet before it, which the GPU keeps in memory of the queue's, or the host's time
 *        if that was later. If the driver refuses the batch, the operation stays noted.
 *  LG-5  No command buffer of Belfry's gets into a protected batch, nor into one with a performance
 *        query: the entries of such a batch are noted, as under LG-4, with the time of the batch
 *        that contains them. (Timestamps of a trace stay out of them too; and no command queue,
 *        with its GPU writes and barriers, is placed on a VkQueue that was created for protected
 *        work.)
 *  LG-6  Logs without times (the setting 'untimed') cost the GPU nothing: a batch's epoch tells
 *        that it is complete, and nothing more has to be known. The host writes the entries, in the
 *        order of the operations, each before the index word that counts it, whenever the log is
 *        flushed (it is read, dumped or replaced, or has no free slot): those of all batches whose
 *        epoch has been reached, and no others. So whoever learns of a signal from Belfry (by a
 *        fence, an event, an idle queue) finds its entry when reading the log. Batches to which
 *        nothing can be added are logged without the help of another one. LG-2 and LG-3 apply to
 *        the other logs only, R-1 and R-2 to both kinds.
 *  LG-7  Where the GPU may write timestamps but not copy them (transfer-only families), the host
 *        fills an entry's times in once its epoch has been reached, and no reader is given it
 *        before. As the GPU writes it, the entry is marked as untimed and has no times. It stays so
 *        where the GPU has been given the next entry for the same place by then: the host doesn't
 *        write where the GPU may be writing. So an entry has the times that it should have, or says
 *        that it has none.
 *  LG-8  A log that a trace alone reads is written by the host in the same way, and its times are
 *        timestamps that the host reads, where it may reset queries: the trace puts neither reset
 *        nor copy nor barrier between the program's batches, which overlap as they would without
 *        it. When a program begins to read the log, it gets one that the GPU writes.
 *
 * Times. The end of a wait, and of a signal in its own batch, are timestamps of the GPU. A wait is
 * observed when the packet before it has ended or when it was handed to the queue, whichever is
 * later. If the queue had work in flight when its log was created, one submission of the log's own
 * behind that work keeps the time at which it ended (together with whatever else the engine had
 * been given by then). Engines without timestamps log zeros.
 *
 * A queue without a reader or trace has no log: a submission then only tests one pointer.
 *
 * Proven by tests/log (entries.c, rules.c, observed.c, settings.c, random.c),
 * tests/queue (protected.c) and tests/random.
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

/* The largest number of operations that are noted until the queue's next batch (LG-4). */
#define BF_LOG_NOTES 32

enum bf_log_side { BF_LOG_WAITS, BF_LOG_SIGNALS, BF_LOG_SIDES };

/* The time at which a wait was observed, or at which a noted signal was executed. */
enum bf_log_when {
    BF_LOG_AT_NS,      /* at 'ns' on CLOCK_MONOTONIC; 0: the wait didn't stall the queue */
    BF_LOG_AFTER_LAST, /* when the queue's previous packet had ended */
    BF_LOG_WITH_STAMP, /* a signal: when the batch that contains its entry begins */
};

/* A wait that is satisfied, or a signal that has been executed. */
struct bf_log_operation {
    enum bf_log_side side;
    uint32_t handle; /* of the fence */
    uint64_t key;    /* identifies the fence in a trace */
    uint64_t value;
    uint32_t flags; /* BfFenceLogFlagBits */
    enum bf_log_when when;
    uint64_t ns;
};

/* What the logs of an engine's queues share; guarded by the engine's lock. A zeroed struct is
 * empty. */
struct bf_log_engine {
    uint32_t enabled;                 /* logs with a writer */
    struct bf_log *left;              /* logs of destroyed queues, with entries still in flight */
    uint32_t room;                    /* elements of 'infos' */
    VkCommandBufferSubmitInfo *infos; /* the command buffers of a batch with its entries */
};

/* A queue's log: its noted operations, and the writer of its entries. It lives as long as the
 * queue. */
struct bf_log {
    struct bf_log *next; /* in logs->left: the queue has been destroyed */
    struct bf_gpu_engine *engine;
    struct bf_log_engine *logs;
    _Atomic bool enabled;     /* there is a writer */
    _Atomic uint32_t readers; /* readers that the program has created */
    struct bf_log_writer *writer;
    struct bf_log_writer *dying; /* replaced ones, with entries in flight or unread */
    _Atomic uint64_t last_epoch; /* of the queue's last batch that was accepted */
    struct bf_log_trace *trace;  /* the trace's cursors; NULL: no trace reads it */
    uint32_t trace_id;           /* identifies the queue in the trace */
    /* The signals that interrupts have read (fence/interrupt.h); NULL: there was no interrupt. */
    struct bf_log_cursor *interrupts;
    uint64_t entries[BF_LOG_SIDES];      /* written by the writers before this one */
    _Atomic uint64_t lost[BF_LOG_SIDES]; /* operations that have not been logged (LG-1) */
    struct bf_lock lock;                 /* a leaf lock, of 'noted', 'taken' and 'notes' */
    _Atomic uint32_t noted;
    uint32_t taken; /* of these, in batches not accepted yet; they are the first */
    struct bf_log_operation notes[BF_LOG_NOTES];
};

/* A batch's operation on a semaphore. */
struct bf_log_sync {
    VkSemaphore semaphore;
    uint32_t handle; /* its log handle; 0: it is not logged */
    uint64_t value;
};

/* A batch that is about to be handed to the driver, and what the log needs to know of it. */
struct bf_log_batch {
    /* pWaitSemaphoreInfos has at least wait_count elements; NULL: a sparse bind. */
    VkSubmitInfo2 *submit;
    bool barrier; /* its first command buffer is a barrier of the scheduler's */
    bool was_held;
    bool goes_at_once;
    enum bf_log_when when;             /* of its waits, unless goes_at_once */
    uint64_t called_ns;                /* time of the program's call, for batches with waits */
    uint32_t wait_count, signal_count; /* the program's own */
    /* Fills in operation i of a side; 'operations' is the caller's. */
    void (*operation)(const void *operations, enum bf_log_side side, uint32_t i,
                      struct bf_log_sync *sync);
    const void *operations;
    uint64_t imported; /* key of the imported fence that it waits for; 0: none */
    /* A signal of a fence by the GPU: the fence's log handle, its key and the value. */
    bool signals_fence;
    uint32_t fence_handle;
    uint64_t fence_key, fence_value;
    /* Filled in by bf_log_put: */
    uint32_t slots, notes;
    uint32_t lost[BF_LOG_SIDES];
    bool had_end;
};

/* Can queues of the engine have logs? */
bool bf_log_is_possible(const struct bf_gpu_engine *engine);

/* The engine's lock is held for all of these, up to bf_log_finish. */

/* Creates a queue's log, without a writer. NULL: out of memory. */
struct bf_log *bf_log_create(struct bf_gpu_engine *engine, struct bf_log_engine *logs,
                             uint32_t trace_id);

/* A change of a log's size, from bf_log_prepare until it is committed or abandoned. */
struct bf_log_change {
    struct bf_log_writer *writer; /* NULL: no logs any more */
    VkCommandBuffer mark;         /* to be submitted by the caller; it keeps a time; or NULL */
    uint32_t slots;
    uint64_t epoch; /* of the queue's last batch so far, or of the mark if there is one */
};

/*
 * Prepares logs of at least that many entries in place of the queue's current ones; 0: the queue
 * will have none. 'is_read': by the program; else by the trace alone. 'is_at_work': the driver may
 * still be working on what the queue was given. Then a command buffer, the mark, keeps the time at
 * which that work ends, since the first wait of the new log may have been observed then.
 * bf_log_commit or bf_log_abandon must follow.
 * Errors: VK_ERROR_OUT_OF_HOST_MEMORY, those of bf_buffer_create, of creating pools and of
 * recording; nothing has changed then.
 */
VkResult bf_log_prepare(struct bf_log *log, uint32_t entries, bool is_read, bool is_at_work,
                        struct bf_log_change *change);
/* Entries in flight are still written to the old logs, which live until they have been written and
 * read. */
void bf_log_commit(struct bf_log *log, const struct bf_log_change *change);
void bf_log_abandon(struct bf_log_change *change);

/* The functions below are for enabled logs. Does the host write this one (LG-6)? */
bool bf_log_is_by_host(const struct bf_log *log);
/* Because a trace alone reads it (LG-8)? */
bool bf_log_is_for_trace(const struct bf_log *log);
/* Without timestamps either: nothing is added to the program's batches. */
bool bf_log_adds_nothing(const struct bf_log *log);

/* The largest number of command buffers that the batch will have with its entries; 0: nothing
 * is added to it. */
uint32_t bf_log_room(const struct bf_log *log, uint32_t command_buffers, uint32_t waits,
                     uint32_t signals);
/* Makes room for so many elements in the engine's 'infos'. False: out of memory. */
bool bf_log_make_room(struct bf_log_engine *logs, uint32_t room);

/* Adds the entries to the batch, around its command buffers, in 'infos' with that much room; NULL
 * where nothing is added. */
void bf_log_put(struct bf_log *log, struct bf_log_batch *batch, VkCommandBufferSubmitInfo *infos);
/* Notes the operations of a batch to which nothing can be added (LG-5). */
void bf_log_note_batch(struct bf_log *log, const struct bf_log_batch *batch);
/* The driver has accepted batches with so many slots and notes, the last with this epoch or an
 * earlier one. 'has_entries': entries could be added to them. */
void bf_log_accepted(struct bf_log *log, uint32_t slots, uint32_t notes, bool has_entries,
                     uint64_t epoch);

/* Adds the entries to a batch that goes to the driver in this call. False: nothing can be added to
 * it, or there is no memory: the caller may submit it by a packet instead, except for the signal of
 * a fence, which then counts as lost. Unless a packet is used, bf_log_accepted or bf_log_refused
 * must follow before the lock is released; until then the batch's command buffers lie in the
 * engine's 'infos'. */
bool bf_log_add(struct bf_log *log, struct bf_log_batch *batch);
void bf_log_refused(struct bf_log *log, const struct bf_log_batch *batch);

/* A reader of one of a queue's logs, over all the buffers that the log has in the course of
 * time. */
struct bf_log_cursor {
    struct bf_log *log;
    struct bf_log_writer *writer; /* whose buffer it reads; it keeps the writer alive */
    enum bf_log_side side;
    uint64_t lost_before; /* of log->lost, reported already */
    struct bf_log_reader reader;
};

/* Starts reading with the next entry. The log is enabled. */
void bf_log_cursor_open(struct bf_log *log, enum bf_log_side side, struct bf_log_cursor *cursor);
void bf_log_cursor_close(struct bf_log_cursor *cursor);
/* Will it come to the entries that are written now? Not after the log has been disabled and enabled
 * again. */
bool bf_log_cursor_is_current(const struct bf_log_cursor *cursor);

/* Reads up to 'capacity' entries that have not been read yet. *lost grows by the number of entries
 * that can't be read any more or were never written. Not OK: the log's memory is damaged. */
enum bf_log_read bf_log_cursor_read(struct bf_log_cursor *cursor, struct bf_log_item *items,
                                    uint32_t capacity, uint32_t *count, uint64_t *lost);

/* The same, but all entries are of one writer: that of cursor->writer after the call. Fewer than
 * 'capacity' doesn't mean that there are no more. */
enum bf_log_read bf_log_cursor_read_one_log(struct bf_log_cursor *cursor, struct bf_log_item *items,
                                            uint32_t capacity, uint32_t *count, uint64_t *lost);

/* The last entries that have been written, oldest first, up to 'capacity'; returns how many. It
 * moves nobody's cursor. The log is enabled. */
uint32_t bf_log_read_last(struct bf_log *log, enum bf_log_side side, struct bf_log_item *items,
                          uint32_t capacity);

/* The cursors by which the trace reads a log. NULL: out of memory. bf_log_begin_trace takes them;
 * the log is enabled. */
struct bf_log_trace *bf_log_trace_create(void);
void bf_log_begin_trace(struct bf_log *log, struct bf_log_trace *trace);
/* Reports new entries to the trace; and the last ones. The engine's lock is held. */
void bf_log_report(struct bf_log *log);
void bf_log_end_trace(struct bf_log *log);

/* Reads the engine's epoch, and for entries whose batches are complete writes them (LG-6) or fills
 * their times in, and frees their slots. The log is enabled. */
void bf_log_flush(struct bf_log *log);

/* The same for an epoch that is known to be reached, also for replaced writers; new entries are
 * reported to the trace. */
void bf_log_collect(struct bf_log *log, uint64_t completed);

/* The queue is being destroyed. NULL is allowed. */
void bf_log_leave(struct bf_log *log);

/* Frees the logs of destroyed queues that have nothing in flight any more. */
void bf_log_see_off(struct bf_log_engine *logs, uint64_t completed);

/* The engine is being destroyed: it is idle or lost, and all of its queues have left. 'completed'
 * is the epoch that it has reached. */
void bf_log_finish(struct bf_log_engine *logs, uint64_t completed);

/* Notes an operation that the queue has passed (LG-4). Thread-safety: safe. */
void bf_log_note(struct bf_log *log, const struct bf_log_operation *operation);

/* Is the queue's last batch complete? Thread-safety: safe. */
bool bf_log_is_last_batch_over(const struct bf_log *log);

/* Are there noted operations that are in no batch yet? Thread-safety: safe. */
bool bf_log_has_notes(struct bf_log *log);

/* Does the program read it? Then every signal has a batch, and an entry before its value applies
 * (LG-3); otherwise signals of fences that aren't native cost no batch, and are noted. */
static inline bool bf_log_is_read(struct bf_log *log)
{
    return log && atomic_load_explicit(&log->readers, memory_order_relaxed) > 0;
}

static inline bool bf_log_is_enabled(struct bf_log *log)
{
    return log && atomic_load_explicit(&log->enabled, memory_order_relaxed);
}

#endif
