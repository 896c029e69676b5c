/* SPDX-License-Identifier: MIT */
/*
 * The check 'access': does a program follow D3D12's rules for resources that several queues use?
 * [ME 6]
 *
 * The check simulates the program's calls in a model, in the order in which they are made. Each
 * queue of the model is an engine of its own: a packet 'runs' there as soon as the signals that its
 * waits need have run. A packet that runs has a vector clock (access/clock.h), which holds
 * everything that the packet is certain to come after. When two queues use one resource, neither
 * use comes after the other, and the rules ask for an order, the check reports it.
 *
 * Which signal does a wait come after? A wait is armed by its call. From then on any signal that
 * reaches its value may satisfy it, except one that is certain to have been overwritten before the
 * call (the fence was rewound). So the wait comes after what *all* of these signals come after.
 * Where a fence counts the progress of one queue, as [ME 2] recommends, that is the first signal to
 * reach the value, no matter how far the queues have really come. If only another signal, called
 * after such a first one, can satisfy the wait, the model lets the wait follow the first one all
 * the same.
 *
 * All threads of the CPU are one agent: what any thread has waited for, all later calls come after,
 * since the check doesn't see how threads synchronise with one another.
 *
 *  A-1  A report is true: by the calls that were made, the two uses are unordered in some
 *       execution. (Where several queues signal one fence, a program might rely on a late signal
 *       only in that it would hang otherwise; the check doesn't count that as an order.)
 *  A-2  Where each fence is signalled by one queue, or by the CPU alone, all pairs of uses that
 *       were declared or recorded, that are unordered, and that the rules want ordered are
 *       reported: once for each resource, pair of queues and rule.
 *  A-3  What is remembered is limited to uses that the CPU has not waited for yet, and to
 *       BF_ACCESS_MAX_USES. Beyond that the oldest uses are forgotten, with one line. Calls are
 *       remembered until what they wait for is there. If many are held, the waits for fences that
 *       others may signal count as over.
 *  A-4  Without memory the check ends, with one line; the program goes on as without it.
 *  A-5  The lock is a leaf. Nothing here calls the driver or blocks.
 *
 * Proven by tests/access (A-1 and A-2 against all executions of small programs, and against
 * reachability in large ones).
 *
 * Rules for callers: a signal, an execution or a wait of a queue is reported to the check before it
 * can have any effect, in the order in which it goes into the queue. What the CPU has seen is
 * reported after it was seen. (Otherwise a thread could see a signal that the model doesn't have
 * yet.) A queue or a fence may be NULL everywhere: then nothing happens. Thread-safety: safe,
 * unless said otherwise.
 */
#ifndef BELFRY_ACCESS_ACCESS_H
#define BELFRY_ACCESS_ACCESS_H

#include <stdbool.h>
#include <stdint.h>

#include <vulkan/vulkan.h>

#include "belfry/belfry.h"

/* How many uses are remembered, where one is all that a command buffer does with one resource. */
#define BF_ACCESS_MAX_USES 65536

struct bf_access;       /* of a device; NULL: the check is off */
struct bf_access_queue; /* of a queue; NULL: the check is off */
struct bf_access_fence; /* of a fence or semaphore; NULL: the check is off */

/* Type classes. [ME 6] */
enum bf_access_class {
    BF_ACCESS_COMPUTE_3D,
    BF_ACCESS_COPY,
    BF_ACCESS_NO_CLASS, /* video, sparse binding, presentation: states are not checked */
};

enum bf_access_fault {
    BF_ACCESS_TWO_WRITERS,       /* two queues write to one resource */
    BF_ACCESS_WRITE_BESIDE_READ, /* a queue reads bytes that another one writes */
    BF_ACCESS_STATE,             /* a state of one type class is used in the other */
};

struct bf_access_party {
    const char *queue;
    enum bf_access_class type_class;
    uint64_t packet;
    bool write;
    BfResourceState state; /* BF_ACCESS_STATE */
};

/* Valid during the call of 'report'. 'later' ran later in the model. */
struct bf_access_report {
    enum bf_access_fault fault;
    const char *resource;
    bool overlap; /* they use the same bytes, as far as the check knows */
    struct bf_access_party earlier, later;
    const char *line; /* the line to print */
};

struct bf_access_info {
    /* The device is the layer's, so command buffers and Vulkan's own calls are reported. Without
     * the layer, waits of the CPU by Vulkan's calls aren't seen: each signal that such a wait could
     * wait for counts as waited for once it has run. */
    bool layer;
    /* Called instead of printing a line, with the check's lock held; NULL: lines are printed. */
    void (*report)(void *context, const struct bf_access_report *report);
    void *context;
};

/* Creates a check; one line says what it can't see. Errors: VK_ERROR_OUT_OF_HOST_MEMORY. */
VkResult bf_access_create(const struct bf_access_info *info, struct bf_access **access);

/* Frees the check, and its queues and fences that were not removed. No other call on any of these
 * may run or follow. NULL is allowed. */
void bf_access_destroy(struct bf_access *access);

/* Ends the check; one line says why (NULL: no line). To be called when the model can no longer
 * follow the program: the device is lost, or a call that was reported has failed. */
void bf_access_stop(struct bf_access *access, const char *why);
bool bf_access_has_ended(struct bf_access *access);

/* ------------------------------------------------------------------------------------ Queues -- */

/*
 * The name is copied. NULL: the check is off, or has just ended for want of memory.
 *
 * Packets are counted from 1 in each queue. Each call of a function below is one packet, except
 * that waits and signals between bf_access_queue_begin and bf_access_queue_end (one batch of
 * vkQueueSubmit) are one packet together.
 */
struct bf_access_queue *bf_access_queue_add(struct bf_access *access, const char *name,
                                            enum bf_access_class type_class);
/* Packets that were reported still run. The queue may not be used any more. */
void bf_access_queue_remove(struct bf_access_queue *queue);
void bf_access_queue_name(struct bf_access_queue *queue, const char *name);

void bf_access_queue_execute(struct bf_access_queue *queue, uint32_t count,
                             const VkCommandBuffer *command_buffers);
/* By the rules of bfQueueSignal, on an idle queue the fence is set before the call returns. */
void bf_access_queue_signal(struct bf_access_queue *queue, struct bf_access_fence *fence,
                            uint64_t value);
void bf_access_queue_wait(struct bf_access_queue *queue, struct bf_access_fence *fence,
                          uint64_t value);
/* The queue is externally synchronised from the first to the second. */
void bf_access_queue_begin(struct bf_access_queue *queue);
void bf_access_queue_end(struct bf_access_queue *queue);

/* bfQueueUses. Errors: VK_ERROR_OUT_OF_HOST_MEMORY (nothing was added). The uses are valid. */
VkResult bf_access_queue_uses(struct bf_access_queue *queue, uint32_t count,
                              const BfResourceUse *uses);

/* The CPU has waited until the queue, or the device, was idle. */
void bf_access_queue_idle(struct bf_access_queue *queue);
void bf_access_idle(struct bf_access *access);
/* The CPU may have waited for anything that can have run; waits that nobody has satisfied stay. */
void bf_access_ran(struct bf_access *access);

/* ------------------------------------------------------------------------------------ Fences -- */

/* NULL: as for queues. */
struct bf_access_fence *bf_access_fence_add(struct bf_access *access, uint64_t value);
/* Waits for the fence are satisfied. */
void bf_access_fence_remove(struct bf_access_fence *fence);

/* Keep the fence for reports after it was removed. */
void bf_access_fence_reference(struct bf_access_fence *fence);
void bf_access_fence_release(struct bf_access_fence *fence);

/* From now on the fence may also be signalled and waited for where the check doesn't see it. A wait
 * for it is satisfied by a signal that the check sees, or once the CPU has seen what follows, and
 * then comes after everything that has run; the CPU counts as having waited for each of the fence's
 * signals. */
void bf_access_fence_external(struct bf_access_fence *fence);

/* From now on the CPU may read the fence's value in memory: it counts as having waited for each of
 * the fence's signals once that has run. */
void bf_access_fence_mapped(struct bf_access_fence *fence);

/* The CPU signals the fence. To be called before the value can be seen. */
void bf_access_fence_signal(struct bf_access_fence *fence, uint64_t value);

/* The CPU has waited until the fence reached the value; has read exactly this value. */
void bf_access_fence_reached(struct bf_access_fence *fence, uint64_t value);
void bf_access_fence_read(struct bf_access_fence *fence, uint64_t value);

/* ------------------------------------------------------------------------------------ Events -- */

/* Events are known by their address. A set event carries what its fences come after, until the CPU
 * has seen it set. */

/* The event has been set because the fence has reached the value; called before a waiter can see
 * it. 'unseen': the CPU may see it unnoticed (by its file descriptor), so it counts as seen at
 * once. */
void bf_access_event_set(const void *event, bool unseen, struct bf_access_fence *fence,
                         uint64_t value);
/* The CPU has seen it set (bfWaitForEvents returned it). */
void bf_access_event_seen(struct bf_access *access, const void *event);
void bf_access_event_remove(struct bf_access *access, const void *event);

/* --------------------------------------------------------------------------------- Resources -- */

struct bf_access_image_info {
    VkImageType type;
    VkFormat format;
    uint32_t mips, layers;
    bool sparse; /* with sparse residency */
};

/* For the layer. A resource that was never added counts as one without an end and without parts. */
void bf_access_buffer_add(struct bf_access *access, VkBuffer buffer, VkDeviceSize size);
void bf_access_image_add(struct bf_access *access, VkImage image,
                         const struct bf_access_image_info *info);
/* Has it been added, and not removed since? False once the check has ended. */
bool bf_access_knows_buffer(struct bf_access *access, VkBuffer buffer);
bool bf_access_knows_image(struct bf_access *access, VkImage image);
/* What it was added with; VK_WHOLE_SIZE: not known. */
VkDeviceSize bf_access_buffer_size(struct bf_access *access, VkBuffer buffer);
void bf_access_buffer_remove(struct bf_access *access, VkBuffer buffer);
void bf_access_image_remove(struct bf_access *access, VkImage image);
void bf_access_buffer_name(struct bf_access *access, VkBuffer buffer, const char *name);
void bf_access_image_name(struct bf_access *access, VkImage image, const char *name);

#endif
