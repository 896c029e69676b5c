/*
 * The check 'access': do a program's queues share resources by D3D12's rules? [ME 6]
 *
 * The check follows, in a model, what the program calls, in the order in which it calls it. Each
 * queue of the model is an engine of its own: a packet 'runs' there as soon as the signals that its
 * waits need have run. What then runs carries a vector clock (access/clock.h): everything it is
 * certain to come after. Two uses of one resource by two queues that are not ordered so, and may
 * not be unordered, are reported.
 *
 * Which signal a wait follows: the wait is armed when it is called, and may be satisfied by any
 * signal that reaches its value, unless that signal is certain to have been overwritten (the fence
 * was rewound) before the call. So it comes after what *all* of these come after. Where a fence
 * shows progress on one timeline, as [ME 2] recommends, that is the first signal to reach the
 * value; it doesn't matter how far the queues have really come. A wait that only some other signal
 * can satisfy later, called after a first one, is taken to follow the first.
 *
 * The CPU is one agent. Whatever any thread has waited for counts for every call after it, since
 * how threads hand work to one another is not seen.
 *
 *  A-1  A report is true: the calls that were made leave the two uses unordered, in one execution
 *       or another. (Where several signal one fence, a wait can tell that one of them came late
 *       only in that the program would hang otherwise; such an order counts for nothing.)
 *  A-2  Where each fence is signalled by one queue, or by the CPU alone, every two uses that were
 *       told or recorded and that the rules want ordered are reported when they are not: once for
 *       each resource, pair of queues and rule.
 *  A-3  What is kept is bounded by what the CPU has not yet waited for, and by BF_ACCESS_MAX_USES;
 *       beyond it the oldest uses are forgotten, with one line.
 *  A-4  Without memory the check ends, with one line; the program goes on as without it.
 *  A-5  The lock is a leaf. Nothing here calls the driver or blocks.
 *
 * Proven by tests/access (A-1 and A-2 against all executions of small programs, and against
 * reachability in large ones).
 *
 * For callers: a signal, an execution and a wait of a queue are told before they can have any
 * effect, in the order in which they go into the queue; what the CPU has seen is told after it has
 * seen it. (Else a thread could see a signal that the model hasn't heard of.) Queues and fences may
 * be NULL everywhere: then nothing happens. Thread-safety, unless said otherwise: safe.
 */
#ifndef BELFRY_ACCESS_ACCESS_H
#define BELFRY_ACCESS_ACCESS_H

#include <stdbool.h>
#include <stdint.h>

#include <vulkan/vulkan.h>

#include "belfry/belfry.h"
#include "base/export.h"

/* Most uses (one command buffer's of one resource) that are remembered. */
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

/* Valid during the call that it is given to. 'later' ran later in the model. */
struct bf_access_report {
    enum bf_access_fault fault;
    const char *resource;
    bool overlap; /* they use the same bytes, as far as that is known */
    struct bf_access_party earlier, later;
    const char *line; /* the whole, for people */
};

struct bf_access_info {
    /* The layer is there: command buffers and Vulkan's own calls are seen. Else each signal that
     * such a call can wait for counts as waited for by the CPU, once it has run. */
    bool layer;
    /* Instead of a line on stderr, under the lock; NULL: none. */
    void (*report)(void *context, const struct bf_access_report *report);
    void *context;
};

/* Says what it can't see. Errors: VK_ERROR_OUT_OF_HOST_MEMORY. */
BF_SHARED VkResult bf_access_create(const struct bf_access_info *info, struct bf_access **access);

/* NULL is allowed. Nobody uses it or anything of it any more; frees what was not removed. */
BF_SHARED void bf_access_destroy(struct bf_access *access);

/* From now on nothing is checked: one line says why (NULL: none). For whoever finds that the model
 * no longer follows the program: the device is lost, a call that was told has failed. */
BF_SHARED void bf_access_stop(struct bf_access *access, const char *why);
bool bf_access_has_ended(struct bf_access *access);

/* ------------------------------------------------------------------------------------ Queues -- */

/*
 * The name is copied. NULL: the check is off, or has just ended for want of memory.
 *
 * A packet is one call: each of the functions below is the queue's next packet, counted from 1, but
 * for waits and signals between bf_access_queue_begin and bf_access_queue_end (one batch of
 * vkQueueSubmit), which are one together.
 */
BF_SHARED struct bf_access_queue *bf_access_queue_add(struct bf_access *access, const char *name,
                                                      enum bf_access_class type_class);
/* What was told of it still runs; it may not be used any more. */
BF_SHARED void bf_access_queue_remove(struct bf_access_queue *queue);
BF_SHARED void bf_access_queue_name(struct bf_access_queue *queue, const char *name);

BF_SHARED void bf_access_queue_execute(struct bf_access_queue *queue, uint32_t count,
                                       const VkCommandBuffer *command_buffers);
/* bfQueueSignal's word counts: on an idle queue the fence is set before the call returns. */
BF_SHARED void bf_access_queue_signal(struct bf_access_queue *queue, struct bf_access_fence *fence,
                                      uint64_t value);
BF_SHARED void bf_access_queue_wait(struct bf_access_queue *queue, struct bf_access_fence *fence,
                                    uint64_t value);
/* The queue is externally synchronised between the two. */
BF_SHARED void bf_access_queue_begin(struct bf_access_queue *queue);
BF_SHARED void bf_access_queue_end(struct bf_access_queue *queue);

/* bfQueueUses. Errors: VK_ERROR_OUT_OF_HOST_MEMORY (nothing was added). The uses are valid. */
BF_SHARED VkResult bf_access_queue_uses(struct bf_access_queue *queue, uint32_t count,
                                        const BfResourceUse *uses);

/* The CPU has waited until the queue, or the device, was idle. */
BF_SHARED void bf_access_queue_idle(struct bf_access_queue *queue);
BF_SHARED void bf_access_idle(struct bf_access *access);

/* ------------------------------------------------------------------------------------ Fences -- */

/* NULL: as for queues. */
BF_SHARED struct bf_access_fence *bf_access_fence_add(struct bf_access *access, uint64_t value);
/* Whatever waits for it goes on. */
BF_SHARED void bf_access_fence_remove(struct bf_access_fence *fence);

/* For whoever may speak of it after it was removed. */
BF_SHARED void bf_access_fence_reference(struct bf_access_fence *fence);
BF_SHARED void bf_access_fence_release(struct bf_access_fence *fence);

/* From now on it may be signalled, and waited for, where nobody tells: who waits for it is taken to
 * come after everything before, and the CPU to have waited for each of its signals. */
BF_SHARED void bf_access_fence_external(struct bf_access_fence *fence);

/* The CPU sets it: before the value can be seen. */
BF_SHARED void bf_access_fence_signal(struct bf_access_fence *fence, uint64_t value);

/* The CPU has waited until it reached the value; has read exactly this value. */
BF_SHARED void bf_access_fence_reached(struct bf_access_fence *fence, uint64_t value);
BF_SHARED void bf_access_fence_read(struct bf_access_fence *fence, uint64_t value);

/* ------------------------------------------------------------------------------------ Events -- */

/*
 * Events are the process's, known here by their address. Between being set by fences and being seen
 * by the CPU they carry what the fences told.
 */

/* The event has been set because the fence has reached the value; told before a waiter can see it.
 * 'unseen': somebody may see it without telling (its file descriptor was asked for): it counts as
 * seen at once. */
BF_SHARED void bf_access_event_set(const void *event, bool unseen, struct bf_access_fence *fence,
                                   uint64_t value);
/* The CPU has seen it set (bfWaitForEvents returned it). */
BF_SHARED void bf_access_event_seen(struct bf_access *access, const void *event);
BF_SHARED void bf_access_event_remove(struct bf_access *access, const void *event);

/* --------------------------------------------------------------------------------- Resources -- */

struct bf_access_image_info {
    VkImageType type;
    VkFormat format;
    uint32_t mips, layers;
    bool sparse; /* with sparse residency */
};

/* Told by the layer. A resource that was never told counts as one, with no end and no parts. */
BF_SHARED void bf_access_buffer_add(struct bf_access *access, VkBuffer buffer, VkDeviceSize size);
BF_SHARED void bf_access_image_add(struct bf_access *access, VkImage image,
                                   const struct bf_access_image_info *info);
/* Has it been told, and not removed since? Not where the check has ended. */
BF_SHARED bool bf_access_knows_buffer(struct bf_access *access, VkBuffer buffer);
BF_SHARED bool bf_access_knows_image(struct bf_access *access, VkImage image);
BF_SHARED void bf_access_buffer_remove(struct bf_access *access, VkBuffer buffer);
BF_SHARED void bf_access_image_remove(struct bf_access *access, VkImage image);
BF_SHARED void bf_access_buffer_name(struct bf_access *access, VkBuffer buffer, const char *name);
BF_SHARED void bf_access_image_name(struct bf_access *access, VkImage image, const char *name);

#endif
