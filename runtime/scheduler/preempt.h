/* SPDX-License-Identifier: MIT */
/*
 * Preemption requests: room is made on an engine for one command queue. What the driver has
 * accepted can't be taken back, so an engine is preempted between submissions (the granularity of
 * WDDM's DMA buffers): others' packets are held until what the engine has been given is over.
 *
 *  PE-1  While a request for a queue is under way, the engine is given no execution of another
 *        queue but of those of a higher level. Let through are sparse binds ('paging') and what
 *        these depend on, and whatever else no priority window holds (PW-7): of an attached
 *        device's VkQueues, whose program asks the driver itself whether they are idle, everything.
 *        So the queue's own packets, and bindings, come first, but for those that wait for what is
 *        held: a request lends nobody its level (IH-1 is of windows), and what its queue waits for
 *        goes when it is complete. What is held is ordered behind the queue's, and gets its epochs
 *        when it is handed over. Nothing else of it changes: each queue keeps its order, and
 *        fences and progress fences the values that they were to be set to.
 *  PE-2  A request is complete when every submission is over that the engine had accepted when it
 *        was made; it is made under the engine's lock, so that none is in between. Epochs tell.
 *        From the first request on, or the first present of a program that has asked for its
 *        BfDevice, each submission has one, but for those that can't be copied. Where the last
 *        thing that the driver was given has none, and isn't over by its completion signal either,
 *        the request submits a mark, which has one; nothing can be submitted while a present is in
 *        the driver (PE-4), so a present does it before it begins.
 *  PE-3  Requests of an engine complete in the order in which they were made, each once, and the
 *        preemption fence takes their numbers then. What they held is handed over by who completes
 *        them: a thread of the engine's, or the call itself where nothing was under way. A packet
 *        that could go but for requests is held by those that have been made by then, and by no
 *        later one; of one that is divided (PE-6), each part by itself. So nothing is held for
 *        longer than what had been accepted by then takes, and whatever the requests are, of
 *        each queue a packet goes between them: nobody starves.
 *  PE-4  A packet that waits is held by its wait, before and after, and is behind the request's
 *        queue without ever having been the engine's: requests wait for no wait of a held packet's.
 *        Nor for presents; but for the one during which the program first asks for its BfDevice,
 *        by which it can make requests, if what had no epoch may still be at work.
 *  PE-5  A sparse bind goes before whatever other queues of its engine have ready, requests or
 *        none, and never before what its own queue has had before it; with the setting
 *        preemption=off it goes in turn. It is given to the driver once, with the values that it
 *        came with.
 *
 *  PE-6  A batch of a VkQueue, or an execution of a command queue, of several command buffers,
 *        that may go while it is of a lower level than others of its engine (scheduler/window.h),
 *        or a request that could hold it is under way, goes command buffer by command buffer: the
 *        first has the waits, the last the signals and the fence, so that what is higher, or asks,
 *        goes between two of them. That is decided before each of them, by what holds then: also
 *        of what was submitted before the window or the request came, and what is left goes as one
 *        when they have gone. For the program it stays one packet, and one for the watchdog.
 *        Vulkan orders them by their places alone, in one batch as in many: a wait comes before
 *        all that is later in submission order, a signal after all that is earlier. Nothing must
 *        span them: not a suspended render pass, from the first of the device's on; nothing that
 *        is chained to the batch or to a command buffer; no device mask; no protected batch; no
 *        tile memory, whose contents a batch's end may end (VK_QCOM_tile_memory_heap). Only the
 *        layer sees what is recorded: on attached devices batches and executions stay whole.
 *
 * The list is guarded by the pending lock.
 *
 * Proven by tests/scheduler (preempt.c, preempt_latency.c, divided.c) and tests/random.
 */
#ifndef BELFRY_SCHEDULER_PREEMPT_H
#define BELFRY_SCHEDULER_PREEMPT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include <vulkan/vulkan.h>

struct bf_command_queue;
struct bf_engine;
struct bf_fence;
struct bf_packet;
struct bf_preempter;
struct bf_queue;
struct bf_scheduler;

/* A request that is under way. */
struct bf_preemption {
    struct bf_preemption *next;
    const struct bf_queue *queue; /* for whom; only to be compared, it may have been destroyed */
    uint8_t level;                /* of the queue, then (scheduler/window.h) */
    uint64_t number, epoch, begun_ns;
    bool unmarked; /* its mark couldn't be submitted yet: its epoch isn't known (PE-4) */
};

/* Of each engine. */
struct bf_preempt {
    _Atomic uint32_t under_way;
    _Atomic bool numbers; /* submissions have epochs (PE-2) */
    struct bf_preemption *first, *last;
    uint64_t requested, completed; /* numbers: of the last one of each */
    uint64_t completed_epoch;      /* of the engine, when the last one completed */
    uint64_t latency_ns, greatest_latency_ns, sum_of_latencies_ns;
    uint64_t held;                       /* packets that requests have held back */
    uint64_t divided;                    /* taken off others (PE-6); under the engine's lock */
    struct bf_fence *_Atomic fence;      /* NULL until it is asked for */
    struct bf_preempter *_Atomic thread; /* likewise */
};

/* Makes the engine's thread. Errors: VK_ERROR_OUT_OF_HOST_MEMORY (no memory, no thread). The caller
 * holds no lock. */
VkResult bf_preempt_prepare(struct bf_engine *engine);

/* Makes a request for the queue, whose engine has its fence and its thread. Errors:
 * VK_ERROR_OUT_OF_HOST_MEMORY, VK_ERROR_OUT_OF_DEVICE_MEMORY, VK_ERROR_DEVICE_LOST. The caller
 * holds no lock. */
VkResult bf_preempt_request(struct bf_command_queue *queue, uint64_t *number);

/* PE-6: the packet, or what of it is to go first, which has been taken off it. It is on the queue's
 * list, in no batch, and has all that it waits for; the engine's lock and its batch lock are
 * held. */
struct bf_packet *bf_preempt_divide(struct bf_engine *engine, struct bf_queue *queue,
                                    struct bf_packet *packet);

/* PE-4: a present is about to begin; the engine's lock is held. */
void bf_preempt_before_present(struct bf_engine *engine);

/* A render pass of the device's spans command buffers: nothing is split from now on. Thread-safety:
 * safe. */
void bf_preempt_keep_whole(struct bf_scheduler *scheduler);

/* PE-1: does a request hold the packet, which may go otherwise? The engine's lock is held. */
bool bf_preempt_holds(struct bf_engine *engine, struct bf_queue *queue, struct bf_packet *packet);

/* Ends and joins the threads; one that stays in the driver is left there (L-7). */
void bf_preempters_stop(struct bf_scheduler *scheduler);

/* After that, and after all threads that pump. */
void bf_preempt_free(struct bf_engine *engine);

#endif
