/*
 * An engine: one real VkQueue, and the scheduler's work on it.
 *
 * Rule M: a packet goes to the driver only when each of its waits is satisfied, or will be by work
 * that the driver has already accepted (the driver's submit call has returned).
 *
 *  Q-1  Acceptance is a total order in which every wait follows its signal (Rule M). Each engine
 *       runs a subsequence of it. By induction on that order every packet ends, provided its
 *       command buffers do: no legal order of calls deadlocks, on one VkQueue or many.
 *  Q-2  Packets of one queue are accepted in the order in which they were submitted.
 *  Q-3  No append is lost. Who appends publishes the packet, sets 'dirty' and then tries the lock;
 *       who holds the lock releases it and then looks at 'dirty'; all four are seq_cst. So either
 *       the try succeeds, or the holder sees 'dirty' and pumps again.
 *  Q-4  No caller pumps for ever, and what is left when a pump stops has an owner. A pump stops
 *       early only if some thread is committed to take the lock and pump ('takers' > 0, counted
 *       down under the lock). Past its bound it is 'tired', and then whoever appends becomes a
 *       taker; so does the submitter of a queue with a long, unblocked backlog, and whoever needs
 *       the VkQueue for a call of its own.
 *  Q-5  A packet set free by work on another engine is pumped by the thread that set it free, or,
 *       where that engine's lock is taken, by its holder. No engine's lock is held while
 *       another's is tried.
 *  Q-6  Only this engine's lock is held over calls on its VkQueue, and no two such calls overlap.
 *  Q-7  The driver never sees a submission that the program didn't ask for.
 *
 * are proven by tests/random (and the test driver's own checks), Q-3 to Q-5
 * by the same programs under several threads and by the broken schedulers that tests/random must
 * catch.
 */
#ifndef BELFRY_SCHEDULER_ENGINE_H
#define BELFRY_SCHEDULER_ENGINE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include <vulkan/vulkan.h>

#include "gpu/write.h"
#include "base/lock.h"
#include "queue/queue.h"
#include "trace/stamps.h"

/* Most batches of one vkQueueSubmit2. */
#define BF_ENGINE_BATCH 32

struct bf_engine {
    struct bf_device *device;
    VkQueue handle;
    uint32_t number; /* its bit in the masks */
    uint32_t family; /* real */
    uint32_t index;
    VkDeviceQueueCreateFlags flags;
    VkQueueFlags family_flags;
    uint32_t timestamp_bits;
    VkQueueGlobalPriorityKHR global_priority; /* 0: none was asked for */
    bool reserved;                            /* no VkQueue of the program is on it */
    uint32_t trace_id;

    struct bf_lock lock;
    _Atomic uint32_t dirty;
    _Atomic uint32_t takers;
    _Atomic uint32_t tired; /* the pump is past its bound */

    uint32_t queue_count;
    struct bf_queue **queues;
    uint32_t first; /* the queue that the next scan begins with: each gets its turn */
    _Atomic uint32_t command_queues;
    _Atomic uint32_t preferred; /* of these, above normal priority: they are scanned first */
    bool leaving;               /* some have been destroyed and may be empty */
    _Atomic bool shared; /* several queues, so that each needs a completion signal of its own */
    _Atomic bool takes_queues; /* it has what command queues need: epoch, barrier, waited */

    /* Epochs are counted where somebody may need to know when a queue's own submission is through
     * and nothing else tells: on engines that several queues share (scheduler/last_submission.h), and under a
     * trace, for every submission. */
    VkSemaphore epoch; /* VK_NULL_HANDLE: not counted */
    _Atomic uint64_t accepted_epoch;
    _Atomic uint64_t issued_epoch; /* the driver has been called with it, or is about to be */
    struct bf_stamps *stamps;

    /* For command queues (C-2), under the lock: what earlier submissions have put all later ones
     * behind. */
    uint64_t *waited;      /* of each other engine, by semaphore waits */
    uint64_t fenced_epoch; /* of this engine, by a barrier */
    VkCommandPool barrier_pool;
    VkCommandBuffer barrier; /* from everything to everything; recorded once */

    struct bf_gpu_writes writes; /* of native fences' values */

    /* Under the lock: queues with logs, and room for the command buffers of a batch with entries. */
    uint32_t logs;
    struct bf_log *left_logs; /* of queues that are gone */
    uint32_t log_room;
    VkCommandBufferSubmitInfo *log_infos;

    struct bf_label *labels; /* open on the VkQueue (scheduler/label.h); under the lock */

    /* Under the lock: the batch being put together. */
    uint32_t batch_count;
    uint32_t batch_barrier; /* position of the last packet in it with a barrier, plus 1; 0: none */
    struct bf_packet *batch[BF_ENGINE_BATCH];
    struct bf_queue *batch_queues[BF_ENGINE_BATCH];
    VkSubmitInfo2 infos[BF_ENGINE_BATCH];
};

static inline uint64_t bf_engine_bit(const struct bf_engine *engine)
{
    return UINT64_C(1) << engine->number;
}

/* Hands over whatever may go, on the engines of 'mask' and on those it thereby sets free. The
 * caller holds no lock. */
void bf_engines_pump(struct bf_device *device, uint64_t mask);

/* The caller has just released the lock: looks again, and pumps 'mask' as well. */
static inline void bf_engine_recheck(struct bf_engine *engine, uint64_t mask)
{
    if (atomic_load(&engine->dirty))
        mask |= bf_engine_bit(engine);
    if (mask)
        bf_engines_pump(engine->device, mask);
}

/* The lock for a call that isn't a pump's, as a taker; leaving pumps, with the engines of 'mask'.
 */
void bf_engine_enter(struct bf_engine *engine);
void bf_engine_leave(struct bf_engine *engine, uint64_t mask);

/* Waits for the lock as a taker and pumps. */
void bf_engine_pump_taking_over(struct bf_engine *engine);

/* Makes the engine fit for command queues; the lock is held. Errors: those of vkCreateSemaphore,
 * vkCreateCommandPool, vkAllocateCommandBuffers, vkBeginCommandBuffer and vkEndCommandBuffer. */
VkResult bf_engine_take_queues(struct bf_engine *engine);

/* Errors: those of vkCreateSemaphore. */
VkResult bf_engine_create_epoch(struct bf_engine *engine);

/* A command queue comes and goes; the lock is held. Errors: VK_ERROR_OUT_OF_HOST_MEMORY. */
VkResult bf_engine_add_queue(struct bf_engine *engine, struct bf_queue *queue);
void bf_engine_remove_queue(struct bf_engine *engine, struct bf_queue *queue);

/* How far the engine's epochs are. Errors: those of vkGetSemaphoreCounterValue. Thread-safety:
 * safe. */
VkResult bf_engine_completed_epoch(struct bf_engine *engine, uint64_t *epoch);

/* What a batch signals when all of its commands are complete. */
static inline VkSemaphoreSubmitInfo bf_engine_epoch_signal(const struct bf_engine *engine,
                                                           uint64_t epoch)
{
    return (VkSemaphoreSubmitInfo){
        .sType = VK_STRUCTURE_TYPE_SEMAPHORE_SUBMIT_INFO,
        .semaphore = engine->epoch,
        .value = epoch,
        .stageMask = VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT,
    };
}

/* One call of vkQueueSubmit2 with the device's submit function; the lock is held. */
VkResult bf_engine_driver_submit(struct bf_engine *engine, uint32_t count,
                                 const VkSubmitInfo2 *infos, VkFence fence);

#endif
