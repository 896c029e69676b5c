/* SPDX-License-Identifier: MIT */
/* The scheduler's side of the watchdog: calls of the driver's that are under way, and the witnesses
 * of submissions. */
#include "scheduler/watch.h"

#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/lock.h"
#include "base/membarrier.h"
#include "scheduler/command_queue.h"
#include "scheduler/label.h"
#include "scheduler/scheduler.h"

_Static_assert(sizeof(struct bf_witness) == 64, "it fills a cache line");

struct bf_device_watch *bf_watch_create(uint32_t engine_count)
{
    struct bf_device_watch *watch =
        calloc(1, sizeof(*watch) + engine_count * sizeof(watch->engines[0]));
    if (!watch)
        return NULL;
    static _Atomic uint64_t serials;
    watch->serial = atomic_fetch_add(&serials, 1) + 1;
    atomic_store(&watch->bell, &watch->own_bell);
    watch->fenced = !bf_membarrier_available();
    return watch;
}

static void places_free(struct bf_watched_call *first)
{
    struct bf_watched_call *call;
    while ((call = atomic_load(&first->next))) {
        atomic_store(&first->next, atomic_load(&call->next));
        free(call);
    }
}

void bf_watch_destroy(struct bf_device_watch *watch, uint32_t engine_count)
{
    for (uint32_t i = 0; watch && i < engine_count; i++)
        places_free(&watch->engines[i].call);
    if (watch)
        places_free(&watch->device_call);
    free(watch);
}

bool bf_watch_witnesses(const struct bf_engine *engine)
{
    const struct bf_scheduler *scheduler = engine->scheduler;
    return scheduler->watch && (scheduler->watches_all ||
                                atomic_load_explicit(&engine->takes_queues, memory_order_relaxed));
}

void bf_watch_ring(struct bf_device_watch *watch)
{
    atomic_store(&watch->resting, 0);
    atomic_fetch_add(&watch->rung, 1);
    _Atomic uint32_t *bell = atomic_load(&watch->bell);
    atomic_fetch_add(bell, 1);
    bf_futex_wake_shared(bell, 1);
}

bool bf_watch_rest(struct bf_device_watch *watch)
{
    atomic_store(&watch->resting, 1);
    if (watch->fenced || bf_membarrier())
        return true;
    atomic_store(&watch->resting, 0); /* a filter of system calls has come meanwhile */
    return false;
}

uint32_t bf_watch_thread(void)
{
    /* In the static TLS block, as in background/worker_pool.c. */
    static _Thread_local uint32_t id __attribute__((tls_model("initial-exec")));
    if (!id)
        id = (uint32_t)syscall(SYS_gettid); /* once in a thread's life */
    return id;
}

void bf_watch_begin_call(struct bf_device_watch *watch, struct bf_watched_call *call,
                         enum bf_watched_command command)
{
    uint64_t count = atomic_load_explicit(&call->count, memory_order_relaxed) + 1;
    atomic_store_explicit(&call->thread, bf_watch_thread(), memory_order_relaxed);
    atomic_store_explicit(&call->command, command, memory_order_relaxed);
    if (watch->fenced)
        atomic_store(&call->count, count);
    else
        atomic_store_explicit(&call->count, count, memory_order_release);
    atomic_signal_fence(memory_order_seq_cst); /* what bf_watch_rest makes one of the processor's */
    bf_watch_notice(watch);
}

struct bf_watched_call *bf_watch_take_place(struct bf_watched_call *first, uint32_t owner)
{
    struct bf_watched_call *call = atomic_load(&first->next), *next = call;
    for (; call; call = atomic_load(&call->next)) {
        if (atomic_load_explicit(&call->owner, memory_order_relaxed) ||
            atomic_load_explicit(&call->taken, memory_order_relaxed) ||
            atomic_exchange(&call->taken, true))
            continue;
        if (!atomic_load(&call->owner)) /* it may have got one */
            break;
        atomic_store(&call->taken, false);
    }
    if (!call) {
        call = calloc(1, sizeof(*call));
        if (!call)
            return NULL;
        atomic_store(&call->taken, true);
        do
            atomic_store(&call->next, next);
        while (!atomic_compare_exchange_weak(&first->next, &next, call));
    }
    atomic_store(&call->owner, owner);
    return call;
}

void bf_watch_end_beside(struct bf_watched_call *call)
{
    if (!call)
        return;
    bf_watch_end_call(call);
    atomic_store(&call->taken, false);
}

static inline void word_write(_Atomic uint64_t *to, uint64_t word)
{
    atomic_store_explicit(to, word, memory_order_release);
}

static uint64_t word_read(const _Atomic uint64_t *from)
{
    return atomic_load_explicit(from, memory_order_acquire);
}

void bf_watch_note_wait(struct bf_watched_call *call, const struct bf_watched_wait *wait)
{
    const uint64_t words[3] = {wait->handle, wait->value, wait->more | (uint64_t)wait->any << 32};
    const uint64_t version = atomic_load_explicit(&call->version, memory_order_relaxed);
    bool same = true;
    for (int i = 0; i < 3; i++)
        same = same && atomic_load_explicit(&call->words[i], memory_order_relaxed) == words[i];
    if (same)
        return;
    atomic_store_explicit(&call->version, version + 1, memory_order_relaxed);
    for (int i = 0; i < 3; i++)
        word_write(&call->words[i], words[i]);
    atomic_store_explicit(&call->version, version + 2, memory_order_release);
}

bool bf_watch_see_call(const struct bf_watched_call *call, struct bf_call_seen *seen)
{
    seen->count = atomic_load(&call->count);
    seen->command = (enum bf_watched_command)atomic_load(&call->command);
    seen->thread = atomic_load(&call->thread);
    seen->version = atomic_load(&call->version);
    const uint64_t last = word_read(&call->words[2]);
    seen->wait = (struct bf_watched_wait){
        .handle = word_read(&call->words[0]),
        .value = word_read(&call->words[1]),
        .more = (uint32_t)last,
        .any = last >> 32,
    };
    if (atomic_load(&call->version) != seen->version)
        seen->version |= 1;
    return seen->count % 2 && atomic_load(&call->count) == seen->count;
}

static void more_write(_Atomic uint64_t *words, const struct bf_submission *s)
{
    uint64_t labels[sizeof(s->labels) / sizeof(uint64_t)];
    memcpy(labels, s->labels, sizeof(labels));
    word_write(&words[0], s->outside);
    word_write(&words[1], s->outside_value);
    for (size_t i = 0; i < sizeof(labels) / sizeof(*labels); i++)
        word_write(&words[2 + i], labels[i]);
}

static void more_read(const _Atomic uint64_t *words, struct bf_submission *s)
{
    uint64_t labels[sizeof(s->labels) / sizeof(uint64_t)];
    s->outside = word_read(&words[0]);
    s->outside_value = word_read(&words[1]);
    for (size_t i = 0; i < sizeof(labels) / sizeof(*labels); i++)
        labels[i] = word_read(&words[2 + i]);
    memcpy(s->labels, labels, sizeof(labels));
}

/* Gives the submission its order, and writes it; the engine's lock is held. Who reads a word of the
 * new ones sees the odd turn that came before it. (Inlined, so that what was just put together
 * isn't read again by wider loads, which would wait for it to reach the cache.)
 *
 * A submission that waits for nothing may share the order of the last one that does: what waits for
 * it is accepted later, and takes one more. */
static inline __attribute__((always_inline)) void witness_write(struct bf_engine *engine,
                                                                const struct bf_submission *s)
{
    struct bf_device_watch *watch = engine->scheduler->watch;
    struct bf_engine_watch *e = &watch->engines[engine->base.number];
    struct bf_witness *witness = &e->witnesses[s->epoch % BF_WITNESSES];
    uint64_t turn = atomic_load_explicit(&witness->turn, memory_order_relaxed);
    uint64_t order = atomic_load_explicit(&watch->order, memory_order_relaxed);
    if (s->wait_count)
        order = atomic_fetch_add(&watch->order, 1) + 1;
    atomic_store_explicit(&witness->turn, turn + 1, memory_order_relaxed);
    word_write(&witness->words[0], s->epoch);
    word_write(&witness->words[1], order);
    word_write(&witness->words[2], s->number);
    word_write(&witness->words[3], (uintptr_t)s->queue);
    word_write(&witness->words[4], s->buffers[0]);
    word_write(&witness->words[5], s->buffers[1]);
    word_write(&witness->words[6], s->buffer_count | (uint64_t)s->wait_count << 32 |
                                       (uint64_t)s->timed << 48 | (uint64_t)s->more << 49);
    if (s->more)
        more_write(e->more[s->epoch % BF_WITNESSES], s);
    atomic_store_explicit(&witness->turn, turn + 2, memory_order_release);
    _Atomic uint64_t *timed = &e->timed[s->epoch / 64 % (BF_WATCH_TIMED / 64)];
    const uint64_t bit = UINT64_C(1) << s->epoch % 64;
    const uint64_t bits = atomic_load_explicit(timed, memory_order_relaxed);
    const bool is = s->timed && !s->wait_count && !(s->more && s->outside);
    if (is != ((bits & bit) != 0))
        word_write(timed, bits ^ bit);
}

/* False: it is being written, so it is younger than any that is sought, or it never was. */
static bool witness_read(const struct bf_engine_watch *watch, uint64_t i, struct bf_submission *s)
{
    const struct bf_witness *witness = &watch->witnesses[i];
    uint64_t turn = atomic_load(&witness->turn), counts = word_read(&witness->words[6]);
    *s = (struct bf_submission){
        .epoch = word_read(&witness->words[0]),
        .order = word_read(&witness->words[1]),
        .number = word_read(&witness->words[2]),
        .queue = (const struct bf_queue *)(uintptr_t)word_read(&witness->words[3]),
        .buffers = {word_read(&witness->words[4]), word_read(&witness->words[5])},
        .buffer_count = (uint32_t)counts,
        .wait_count = (uint16_t)(counts >> 32),
        .timed = counts >> 48 & 1,
        .more = counts >> 49 & 1,
    };
    if (s->more)
        more_read(watch->more[i], s);
    return turn && turn % 2 == 0 && atomic_load(&witness->turn) == turn;
}

bool bf_watch_see_oldest(const struct bf_engine_watch *watch, uint64_t completed,
                         struct bf_submission *submission)
{
    bool found = false;
    for (uint64_t i = 0; i < BF_WITNESSES; i++) {
        struct bf_submission one;
        if (witness_read(watch, i, &one) && one.epoch > completed &&
            (!found || one.epoch < submission->epoch)) {
            *submission = one;
            found = true;
        }
    }
    return found;
}

void bf_watch_forget_queue(struct bf_engine *engine, const struct bf_queue *queue)
{
    struct bf_device_watch *watch = engine->scheduler->watch;
    for (uint64_t i = 0; watch && i < BF_WITNESSES; i++) {
        _Atomic uint64_t *word = &watch->engines[engine->base.number].witnesses[i].words[3];
        if (word_read(word) == (uintptr_t)queue)
            word_write(word, 0);
    }
}

bool bf_watch_is_timed(const struct bf_engine_watch *watch, uint64_t epoch)
{
    return word_read(&watch->timed[epoch / 64 % (BF_WATCH_TIMED / 64)]) >> epoch % 64 & 1;
}

void bf_watch_unwitnessed(struct bf_engine *engine)
{
    if (engine->scheduler->watch)
        atomic_store(&engine->witnessed_from, atomic_load(&engine->base.accepted_epoch) + 1);
}

static void submission_begin_more(struct bf_submission *submission)
{
    if (submission->more)
        return;
    submission->more = true;
    submission->outside = 0;
    submission->labels[0] = '\0';
}

static void submission_count_waits(struct bf_submission *submission, uint32_t count)
{
    submission->wait_count = count < UINT16_MAX ? (uint16_t)count : UINT16_MAX;
}

/* A semaphore that the submission waits for: is it one that others than this device may signal? */
static void submission_add_wait(struct bf_submission *submission, const struct bf_semaphore *sem,
                                VkSemaphore handle, uint64_t value)
{
    if ((submission->more && submission->outside) || (sem && !bf_semaphore_is_outside(sem)))
        return;
    submission_begin_more(submission);
    submission->outside = (uint64_t)handle;
    submission->outside_value = sem && !sem->timeline ? 0 : value;
}

static void submission_add_labels(struct bf_submission *submission, struct bf_label *labels)
{
    if (!labels)
        return;
    submission_begin_more(submission);
    bf_label_write_path(labels, submission->labels, sizeof(submission->labels));
}

uint64_t bf_watch_number_at_once(struct bf_queue *queue)
{
    uint64_t count = atomic_load_explicit(&queue->numbered_at_once, memory_order_relaxed) + 1;
    atomic_store_explicit(&queue->numbered_at_once, count, memory_order_relaxed);
    return count + atomic_load_explicit(&queue->numbered, memory_order_relaxed);
}

static void packet_note_buffers(struct bf_packet *packet)
{
    packet->buffer_count = packet->submit.commandBufferInfoCount;
    for (uint32_t i = 0; i < 2 && i < packet->buffer_count; i++)
        packet->buffers[i] = packet->submit.pCommandBufferInfos[i].commandBuffer;
}

void bf_watch_appended(struct bf_queue *queue, struct bf_packet *packet)
{
    if (!queue->scheduler->watch)
        return;
    packet->queue = queue;
    packet->number = bf_queue_numbered(queue);
    if (packet->kind == BF_PACKET_EXECUTE || packet->kind == BF_PACKET_BIND_SPARSE) {
        atomic_fetch_add(&queue->numbered, 1);
        packet->number++;
    }
    if (packet->kind == BF_PACKET_EXECUTE)
        packet_note_buffers(packet);
}

void bf_watch_divided(struct bf_packet *part, struct bf_packet *whole)
{
    if (!whole->queue)
        return;
    part->queue = whole->queue;
    part->number = whole->number;
    packet_note_buffers(part);
    packet_note_buffers(whole);
}

void bf_watch_packet(struct bf_engine *engine, const struct bf_queue *queue,
                     const struct bf_packet *packet)
{
    bool bind = packet->kind == BF_PACKET_BIND_SPARSE;
    struct bf_submission submission; /* no more of it is filled in than is needed */
    submission.epoch = packet->epoch;
    submission.number = packet->number;
    submission.queue = queue;
    submission.buffer_count = packet->buffer_count;
    for (uint32_t i = 0; i < 2; i++)
        submission.buffers[i] =
            i < packet->buffer_count ? (uint64_t)(uintptr_t)packet->buffers[i] : 0;
    /* What signals a semaphore of the program's has a witness too, or nobody knows whose turn it
     * is. */
    submission.timed = queue->is_command_queue &&
                       (packet->wait_count == 0 || engine->scheduler->watches_all) &&
                       !(bf_command_queue_of((struct bf_queue *)queue)->flags &
                         BF_COMMAND_QUEUE_DISABLE_GPU_TIMEOUT_BIT);
    submission.more = false;
    for (uint32_t i = 0; i < packet->wait_count; i++)
        submission_add_wait(&submission, packet->waits[i].sem,
                            bind ? packet->bind.pWaitSemaphores[i]
                                 : packet->submit.pWaitSemaphoreInfos[i].semaphore,
                            packet->waits[i].target);
    /* With other engines' epochs. */
    submission_count_waits(&submission,
                           bind ? packet->wait_count : packet->submit.waitSemaphoreInfoCount);
    submission_add_labels(&submission, packet->labels);
    witness_write(engine, &submission);
}

void bf_watch_batch(struct bf_engine *engine, struct bf_queue *queue, const VkSubmitInfo2 *info,
                    uint64_t epoch)
{
    struct bf_submission submission; /* as above */
    submission.epoch = epoch;
    submission.number = bf_watch_number_at_once(queue);
    submission.queue = queue;
    submission.buffer_count = info->commandBufferInfoCount;
    for (uint32_t i = 0; i < 2; i++)
        submission.buffers[i] =
            i < info->commandBufferInfoCount
                ? (uint64_t)(uintptr_t)info->pCommandBufferInfos[i].commandBuffer
                : 0;
    submission.timed = submission.more = false;
    for (uint32_t i = 0; i < info->waitSemaphoreInfoCount; i++) {
        const VkSemaphoreSubmitInfo *wait = &info->pWaitSemaphoreInfos[i];
        submission_add_wait(&submission, bf_semaphore_find(engine->scheduler, wait->semaphore),
                            wait->semaphore, wait->value);
    }
    submission_count_waits(&submission, info->waitSemaphoreInfoCount);
    submission_add_labels(&submission, queue->labels);
    witness_write(engine, &submission);
}
