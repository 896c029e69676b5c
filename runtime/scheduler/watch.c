/* SPDX-License-Identifier: MIT */
/* The scheduler's side of the watchdog: calls of the driver's that are under way, and the witnesses
 * of submissions. */
#include "scheduler/watch.h"

#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/lock.h"
#include "scheduler/command_queue.h"
#include "scheduler/label.h"
#include "scheduler/scheduler.h"

_Static_assert(sizeof(struct bf_submission) % sizeof(uint64_t) == 0, "it is copied by words");

struct bf_device_watch *bf_watch_create(uint32_t engine_count)
{
    struct bf_device_watch *watch =
        calloc(1, sizeof(*watch) + engine_count * sizeof(watch->engines[0]));
    if (watch)
        atomic_store(&watch->bell, &watch->own_bell);
    return watch;
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

/* A few milliseconds are near enough, and cost a quarter of the exact time. */
static uint64_t now_nearly_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC_COARSE, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static uint32_t thread_id(void)
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
    atomic_store_explicit(&call->since_ns, now_nearly_ns(), memory_order_relaxed);
    atomic_store_explicit(&call->thread, thread_id(), memory_order_relaxed);
    atomic_store_explicit(&call->command, command, memory_order_relaxed);
    atomic_store(&call->count, atomic_load_explicit(&call->count, memory_order_relaxed) + 1);
    bf_watch_notice(watch);
}

struct bf_watched_call *bf_watch_begin_beside(struct bf_device_watch *watch, uint32_t engine)
{
    struct bf_engine_watch *e = &watch->engines[engine];
    for (uint32_t i = 1; i < BF_WATCHED_CALLS; i++) {
        if (atomic_fetch_or(&e->beside, UINT32_C(1) << i) >> i & 1)
            continue;
        bf_watch_begin_call(watch, &e->calls[i], BF_WATCHED_PRESENT);
        return &e->calls[i];
    }
    return NULL;
}

void bf_watch_end_beside(struct bf_device_watch *watch, uint32_t engine,
                         struct bf_watched_call *call)
{
    struct bf_engine_watch *e = &watch->engines[engine];
    if (!call)
        return;
    bf_watch_end_call(call);
    atomic_fetch_and(&e->beside, ~(UINT32_C(1) << (call - e->calls)));
}

bool bf_watch_see_call(const struct bf_watched_call *call, struct bf_call_seen *seen)
{
    seen->count = atomic_load(&call->count);
    seen->command = (enum bf_watched_command)atomic_load(&call->command);
    seen->thread = atomic_load(&call->thread);
    seen->since_ns = atomic_load(&call->since_ns);
    return seen->count % 2 && atomic_load(&call->count) == seen->count;
}

static void witness_write(struct bf_engine *engine, struct bf_submission *submission)
{
    struct bf_device_watch *watch = engine->scheduler->watch;
    struct bf_witness *witness =
        &watch->engines[engine->base.number].witnesses[submission->epoch % BF_WITNESSES];
    uint64_t words[BF_WITNESS_WORDS];
    submission->order = atomic_fetch_add_explicit(&watch->order, 1, memory_order_relaxed);
    submission->since_ns = now_nearly_ns();
    memcpy(words, submission, sizeof(words));
    atomic_fetch_add(&witness->turn, 1);
    for (size_t i = 0; i < BF_WITNESS_WORDS; i++)
        atomic_store_explicit(&witness->words[i], words[i], memory_order_release);
    atomic_fetch_add(&witness->turn, 1);
}

bool bf_watch_see_oldest(const struct bf_engine_watch *watch, uint64_t completed,
                         struct bf_submission *submission)
{
    bool found = false;
    for (uint64_t i = 0; i < BF_WITNESSES; i++) {
        const struct bf_witness *witness = &watch->witnesses[i];
        struct bf_submission one;
        uint64_t words[BF_WITNESS_WORDS], turn = atomic_load(&witness->turn);
        for (size_t k = 0; k < BF_WITNESS_WORDS; k++)
            words[k] = atomic_load_explicit(&witness->words[k], memory_order_acquire);
        if (turn % 2 || turn == 0 || atomic_load(&witness->turn) != turn)
            continue; /* it is being written: younger than what is sought */
        memcpy(&one, words, sizeof(one));
        if (one.epoch > completed && (!found || one.epoch < submission->epoch)) {
            *submission = one;
            found = true;
        }
    }
    return found;
}

/* A semaphore that the submission waits for: is it one that others than this device may signal? */
static void submission_add_wait(struct bf_submission *submission, const struct bf_semaphore *sem,
                                VkSemaphore handle, uint64_t value)
{
    submission->wait_count++;
    if (submission->outside || (sem && !bf_semaphore_is_outside(sem)))
        return;
    submission->outside = (uint64_t)handle;
    submission->outside_value = sem && !sem->timeline ? 0 : value;
}

void bf_watch_appended(struct bf_queue *queue, struct bf_packet *packet)
{
    if (!queue->scheduler->watch)
        return;
    packet->queue = queue;
    packet->number = atomic_load(&queue->numbered);
    if (packet->kind == BF_PACKET_EXECUTE || packet->kind == BF_PACKET_BIND_SPARSE)
        packet->number = atomic_fetch_add(&queue->numbered, 1) + 1;
    if (packet->kind != BF_PACKET_EXECUTE)
        return;
    packet->buffer_count = packet->submit.commandBufferInfoCount;
    for (uint32_t i = 0; i < 2 && i < packet->buffer_count; i++)
        packet->buffers[i] = packet->submit.pCommandBufferInfos[i].commandBuffer;
}

void bf_watch_packet(struct bf_engine *engine, const struct bf_queue *queue,
                     const struct bf_packet *packet)
{
    struct bf_submission submission = {
        .epoch = packet->epoch,
        .number = packet->number,
        .queue = queue,
        .buffer_count = packet->buffer_count,
    };
    bool bind = packet->kind == BF_PACKET_BIND_SPARSE;
    /* What signals a semaphore of the program's has a witness too, or nobody knows whose turn it
     * is. */
    submission.timed =
        queue->is_command_queue && (packet->wait_count == 0 || engine->scheduler->watches_all) &&
        !(bf_command_queue_of((struct bf_queue *)queue)->flags & BF_QUEUE_DISABLE_GPU_TIMEOUT_BIT);
    for (uint32_t i = 0; i < 2 && i < packet->buffer_count; i++)
        submission.buffers[i] = (uint64_t)(uintptr_t)packet->buffers[i];
    for (uint32_t i = 0; i < packet->wait_count; i++)
        submission_add_wait(&submission, packet->waits[i].sem,
                            bind ? packet->bind.pWaitSemaphores[i]
                                 : packet->submit.pWaitSemaphoreInfos[i].semaphore,
                            packet->waits[i].target);
    if (!bind) /* other engines' epochs */
        submission.wait_count = packet->submit.waitSemaphoreInfoCount;
    if (packet->labels)
        bf_label_write_path(packet->labels, submission.labels, sizeof(submission.labels));
    witness_write(engine, &submission);
}

void bf_watch_batch(struct bf_engine *engine, struct bf_queue *queue, const VkSubmitInfo2 *info,
                    uint64_t epoch)
{
    struct bf_submission submission = {
        .epoch = epoch,
        .number = atomic_fetch_add_explicit(&queue->numbered, 1, memory_order_relaxed) + 1,
        .queue = queue,
        .buffer_count = info->commandBufferInfoCount,
    };
    for (uint32_t i = 0; i < 2 && i < info->commandBufferInfoCount; i++)
        submission.buffers[i] = (uint64_t)(uintptr_t)info->pCommandBufferInfos[i].commandBuffer;
    for (uint32_t i = 0; i < info->waitSemaphoreInfoCount; i++) {
        const VkSemaphoreSubmitInfo *wait = &info->pWaitSemaphoreInfos[i];
        submission_add_wait(&submission, bf_semaphore_find(engine->scheduler, wait->semaphore),
                            wait->semaphore, wait->value);
    }
    if (queue->labels)
        bf_label_write_path(queue->labels, submission.labels, sizeof(submission.labels));
    witness_write(engine, &submission);
}
