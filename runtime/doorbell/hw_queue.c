/* SPDX-License-Identifier: MIT */
/* What a ring's entries say, carried out; and what they may name. */
#include "doorbell/hw_queue.h"

#include <sched.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/handle.h"
#include "base/map.h"
#include "base/message.h"
#include "doorbell/doorbell.h"
#include "doorbell/kmt_handle.h"
#include "fence/fence.h"
#include "fence/native.h"
#include "fence/shared.h"
#include "queue/command_queue.h"
#include "scheduler/pending.h"
#include "scheduler/scheduler.h"
#include "trace/trace.h"

/* Entries that are read before the thread looks at other rings, and command buffers that go in one
 * execution at most. */
#define READ_BOUND 256
#define RUN_BOUND  128

#define CALL "user-mode submission"

/* Entries that go together (HQ-2). */
struct run {
    struct bf_doorbell *doorbell;
    uint64_t read; /* entries that have been carried out, or are in the run */
    uint32_t count;
    uint64_t progress; /* to be signalled behind them; 0: nothing */
    VkCommandBuffer buffers[RUN_BOUND];
};

static const char *reason_text(BfAbortReason reason)
{
    static const char *const texts[] = {
        [BF_ABORT_REASON_DEVICE_LOST] = "the device is lost",
        [BF_ABORT_REASON_WRITE_POINTER] = "the write pointer went back, or beyond the ring",
        [BF_ABORT_REASON_ENTRY] = "it has unknown flags, or reserved bytes that aren't 0",
        [BF_ABORT_REASON_COMMAND_BUFFER] = "no command buffer is registered by its number",
        [BF_ABORT_REASON_PENDING] =
            "its command buffer is pending, and not registered for simultaneous use",
        [BF_ABORT_REASON_FENCE] = "no fence that may be used so is registered by its number",
        [BF_ABORT_REASON_PROGRESS_VALUE] = "its progress value isn't greater than those before",
        [BF_ABORT_REASON_OUT_OF_MEMORY] = "there was no memory to hand it over",
        [BF_ABORT_REASON_RETIRED] = "the queue has another ring, or has been destroyed",
    };
    return texts[reason];
}

/* -------------------------------------------------------------------------- Handing over -- */

/* Gives the places of what has been copied out back to the program: once for a run, since it reads
 * that counter at each entry, and before the driver's call, so that it can write meanwhile. */
static void run_free_places(struct bf_hw_queue *hw, const struct run *run)
{
    bf_ring_set_read(run->doorbell->ring, run->read);
    atomic_store(&run->doorbell->read, run->read);
    atomic_fetch_add_explicit(&hw->moved, 1, memory_order_relaxed);
}

static VkResult run_hand_over(struct bf_hw_queue *hw, struct run *run)
{
    struct bf_command_queue *queue = hw->queue;
    VkResult result = VK_SUCCESS;
    run_free_places(hw, run);
    if (run->count) {
        bool by_gpu = run->progress && hw->progress->native;
        result = bf_command_queue_execute_buffers(queue, run->count, run->buffers,
                                                  by_gpu ? hw->progress : NULL, run->progress,
                                                  false, false, CALL);
        if (result == VK_SUCCESS) {
            if (by_gpu)
                run->progress = 0;
            result = bf_command_queue_signal(queue, hw->done, hw->batches + 1, CALL);
            hw->batches += result == VK_SUCCESS;
        }
        run->count = 0;
    }
    if (result == VK_SUCCESS && run->progress)
        result = bf_command_queue_signal(queue, hw->progress, run->progress, CALL);
    run->progress = 0;
    return result;
}

void bf_hw_queue_abort(struct bf_hw_queue *hw, BfAbortReason reason, uint64_t entry)
{
    struct bf_doorbell *doorbell = atomic_load(&hw->doorbell);
    uint32_t none = BF_ABORT_REASON_NONE;
    atomic_store(&doorbell->entry, entry);
    if (!atomic_compare_exchange_strong(&doorbell->reason, &none, reason))
        return;
    bf_doorbell_page_disconnect(&doorbell->thread->scheduler->doorbells->pages, &doorbell->page,
                                BF_DOORBELL_DISCONNECTED_ABORT);
    if (reason == BF_ABORT_REASON_DEVICE_LOST)
        return;
    hw->ended = true;
    char name[BF_QUEUE_NAME];
    bf_command_queue_name(hw->queue, name);
    bf_message(BF_MESSAGE_WARNING, "%s%s: entry %llu of its ring: %s: the queue is ended", name,
               BF_LABEL(hw->queue), (unsigned long long)entry, reason_text(reason));
    VkResult result = bf_command_queue_signal(hw->queue, hw->progress, UINT64_MAX, CALL);
    if (result == VK_SUCCESS || result == VK_ERROR_DEVICE_LOST)
        return;
    bf_scheduler_lose_for(hw->queue->base.scheduler, BF_DEVICE_REMOVED_REASON_OUT_OF_MEMORY,
                          "no memory to end a queue, for whose progress somebody may wait");
    bf_scheduler_settle(hw->queue->base.scheduler);
}

/* The call's error ends the queue; a lost device has its own ways. */
static BfAbortReason reason_of(VkResult result)
{
    return result == VK_SUCCESS             ? BF_ABORT_REASON_NONE
           : result == VK_ERROR_DEVICE_LOST ? BF_ABORT_REASON_DEVICE_LOST
                                            : BF_ABORT_REASON_OUT_OF_MEMORY;
}

/* -------------------------------------------------------------------------------- Entries -- */

/* What an entry names. */
struct named {
    struct bf_ring_buffer buffer; /* its handle is NULL: none */
    struct bf_fence *wait, *signal;
};

/* The names lock is held. */
static bool fence_find(const struct bf_hw_queue *hw, uint32_t number, BfSyncObjectFlags forbidden,
                       struct bf_fence **fence)
{
    if (number == BF_RING_NONE)
        return true;
    *fence = number < hw->fence_count ? hw->fences[number] : NULL;
    return *fence && !((*fence)->flags & forbidden);
}

static BfAbortReason entry_find(struct bf_hw_queue *hw, const BfRingEntry *entry,
                                struct named *named)
{
    const uint32_t number = entry->commandBuffer;
    BfAbortReason reason = BF_ABORT_REASON_NONE;
    bf_lock_acquire(&hw->names_lock);
    if (!fence_find(hw, entry->waitFence, BF_SYNC_OBJECT_NO_WAIT_BIT, &named->wait) ||
        !fence_find(hw, entry->signalFence,
                    BF_SYNC_OBJECT_NO_SIGNAL_BIT | BF_SYNC_OBJECT_PROGRAM_WRITTEN_BIT,
                    &named->signal))
        reason = BF_ABORT_REASON_FENCE;
    if (number < hw->buffer_count)
        named->buffer = hw->buffers[number];
    if (reason == BF_ABORT_REASON_NONE && number != BF_RING_NONE && !named->buffer.handle)
        reason = BF_ABORT_REASON_COMMAND_BUFFER;
    bf_lock_release(&hw->names_lock);
    return reason;
}

static BfAbortReason entry_check(struct bf_hw_queue *hw, const BfRingEntry *entry,
                                 struct named *named)
{
    if (!bf_ring_entry_is_valid(entry))
        return BF_ABORT_REASON_ENTRY;
    if (entry->progressValue &&
        entry->progressValue <= atomic_load_explicit(&hw->progressed, memory_order_relaxed))
        return BF_ABORT_REASON_PROGRESS_VALUE;
    BfAbortReason reason = entry_find(hw, entry, named);
    const struct bf_ring_buffer *buffer = &named->buffer;
    if (reason == BF_ABORT_REASON_NONE && buffer->handle && !buffer->simultaneous &&
        buffer->batch > atomic_load(&hw->done->value) &&
        buffer->batch > bfGetFenceCompletedValue((BfFence)hw->done))
        reason = BF_ABORT_REASON_PENDING;
    return reason;
}

/* The first of the command buffer's numbers, plus 1; 0: it has none. Takes no lock. */
static uint32_t hw_queue_first_number(struct bf_hw_queue *hw, VkCommandBuffer buffer)
{
    return (uint32_t)(uintptr_t)bf_map_find(&hw->buffer_numbers, (uint64_t)(uintptr_t)buffer);
}

/* The command buffer goes with the batch that is being gathered, by whichever of its numbers. */
static void buffer_goes_with(struct bf_hw_queue *hw, uint32_t number, VkCommandBuffer handle)
{
    bf_lock_acquire(&hw->names_lock);
    if (number < hw->buffer_count && hw->buffers[number].handle == handle) {
        hw->buffers[number].batch = hw->batches + 1;
        for (uint32_t n = hw->twins ? hw_queue_first_number(hw, handle) : 0; n;
             n = hw->buffers[n - 1].next)
            hw->buffers[n - 1].batch = hw->batches + 1;
    }
    bf_lock_release(&hw->names_lock);
}

/* A wait, a command buffer, a signal: the run goes before a wait, a barrier and a signal. Of a
 * signal's error: a shared fence that has lost its owner is found only here. */
static BfAbortReason entry_carry_out(struct bf_hw_queue *hw, struct run *run,
                                     const BfRingEntry *entry)
{
    struct named named = {0};
    BfAbortReason reason = entry_check(hw, entry, &named);
    if (reason != BF_ABORT_REASON_NONE)
        return reason;
    const VkCommandBuffer buffer = named.buffer.handle;
    VkResult result = VK_SUCCESS;
    if (named.wait ||
        (buffer && ((entry->flags & BF_RING_ENTRY_BARRIER_BIT) || run->count == RUN_BOUND)))
        result = run_hand_over(hw, run);
    if (result == VK_SUCCESS && named.wait)
        result = bf_command_queue_wait(hw->queue, named.wait, entry->waitValue, CALL);
    if (result == VK_SUCCESS && buffer) {
        run->buffers[run->count++] = buffer;
        if (!named.buffer.simultaneous)
            buffer_goes_with(hw, entry->commandBuffer, buffer);
    }
    if (result == VK_SUCCESS && named.signal) {
        result = run_hand_over(hw, run);
        if (result == VK_SUCCESS)
            result = bf_command_queue_signal(hw->queue, named.signal, entry->signalValue, CALL);
        if (result == VK_ERROR_VALIDATION_FAILED_EXT || result == VK_ERROR_INVALID_EXTERNAL_HANDLE)
            return BF_ABORT_REASON_FENCE;
    }
    if (result == VK_SUCCESS && entry->progressValue) {
        run->progress = entry->progressValue;
        atomic_store_explicit(&hw->progressed, run->progress, memory_order_release);
    }
    return reason_of(result);
}

/* May the reader take one more entry? Not while the queue is suspended; nor while others want the
 * lock, whom it would always be faster than. */
static bool queue_goes_on(struct bf_hw_queue *hw)
{
    return atomic_load(&hw->suspended) == 0 && atomic_load(&hw->wanted) == 0;
}

/* Reads at most 'bound' entries, or all, whatever anybody wants (UINT64_MAX); returns whether there
 * are more. The lock is held. */
static bool queue_read(struct bf_hw_queue *hw, uint64_t bound)
{
    struct bf_doorbell *doorbell = atomic_load(&hw->doorbell);
    if (!doorbell || atomic_load(&doorbell->reason))
        return false;
    struct bf_ring *ring = doorbell->ring;
    struct run run = {.doorbell = doorbell, .read = atomic_load(&doorbell->read)};
    const uint64_t before = run.read;
    BfAbortReason reason = BF_ABORT_REASON_NONE;
    const uint64_t written = bf_ring_written(ring);
    if (written - run.read > ring->entry_count) {
        bf_hw_queue_abort(hw, BF_ABORT_REASON_WRITE_POINTER, run.read);
        return false;
    }
    const uint64_t end = written - run.read < bound ? written : run.read + bound;
    if (end != run.read)
        atomic_store(&doorbell->page.idle, false);
    while (run.read != end && reason == BF_ABORT_REASON_NONE &&
           (bound == UINT64_MAX || queue_goes_on(hw))) {
        BfRingEntry entry;
        bf_ring_copy(ring, run.read, &entry);
        reason = entry_carry_out(hw, &run, &entry);
        if (reason == BF_ABORT_REASON_NONE)
            run.read++;
    }
    VkResult result = run_hand_over(hw, &run);
    if (run.read != before)
        bf_trace_ring(hw->queue->base.scheduler->gpu.trace, hw->queue->base.trace_id,
                      BF_TRACE_RING_READ, run.read - before, written - run.read);
    if (reason == BF_ABORT_REASON_NONE)
        reason = reason_of(result);
    if (reason != BF_ABORT_REASON_NONE)
        bf_hw_queue_abort(hw, reason, run.read);
    return reason == BF_ABORT_REASON_NONE && run.read != written;
}

bool bf_hw_queue_read(struct bf_hw_queue *hw, bool *some)
{
    *some = false;
    if (atomic_load(&hw->wanted)) {
        sched_yield();
        return true;
    }
    bf_lock_acquire(&hw->lock);
    const struct bf_doorbell *doorbell = atomic_load(&hw->doorbell);
    const uint64_t before = doorbell ? atomic_load(&doorbell->read) : 0;
    bool more = queue_read(hw, READ_BOUND);
    *some = doorbell && atomic_load(&doorbell->read) != before;
    bf_lock_release(&hw->lock);
    return more;
}

bool bf_hw_queue_is_idle(struct bf_hw_queue *hw)
{
    if (!bf_lock_try(&hw->lock))
        return false; /* its ring is being read, perhaps for as long as the driver likes */
    const struct bf_doorbell *doorbell = atomic_load(&hw->doorbell);
    bool idle = !doorbell || atomic_load(&doorbell->reason) ||
                bf_ring_written(doorbell->ring) == atomic_load(&doorbell->read);
    idle = idle && !bf_queue_has_backlog(&hw->queue->base) &&
           bfGetFenceCompletedValue((BfFence)hw->done) >= hw->batches;
    bf_lock_release(&hw->lock);
    return idle;
}

bool bf_hw_queue_see(struct bf_hw_queue *hw, struct bf_hw_queue_seen *seen)
{
    struct bf_doorbell_thread *thread = hw->thread;
    bf_lock_acquire(&thread->lock); /* the doorbell stays */
    const struct bf_doorbell *doorbell = atomic_load(&hw->doorbell);
    bool watched = doorbell && !atomic_load(&doorbell->reason) && !atomic_load(&hw->suspended) &&
                   !atomic_load(&thread->scheduler->doorbells->asleep);
    if (watched)
        *seen = (struct bf_hw_queue_seen){
            .queued = bf_doorbell_page_last_queued(&doorbell->page),
            .read = atomic_load(&doorbell->read),
            .written = bf_ring_written(doorbell->ring),
            .carried = atomic_load(&hw->progressed),
            .completed = atomic_load(&hw->progress->value),
            .state = bf_doorbell_page_state(&doorbell->page),
        };
    bf_lock_release(&thread->lock);
    return watched;
}

void bf_hw_queue_drain(struct bf_hw_queue *hw)
{
    queue_read(hw, UINT64_MAX);
}

/* ------------------------------------------------------------------- Beginning and ending -- */

static void hw_queue_free(struct bf_hw_queue *hw)
{
    struct bf_pending *pending = &hw->queue->base.scheduler->pending;
    bf_kmt_remove(hw->handle);
    if (hw->progress)
        bf_fence_destroy(hw->progress);
    if (hw->done)
        bf_fence_destroy(hw->done);
    bf_lock_acquire(&pending->lock);
    for (uint32_t i = 0; i < hw->fence_count; i++) {
        if (hw->fences[i])
            bf_fence_release(hw->fences[i]);
    }
    bf_lock_release(&pending->lock);
    bf_map_finish(&hw->buffer_numbers, NULL, NULL);
    free(hw->buffers);
    free(hw->fences);
    free(hw);
}

static VkResult progress_create(struct bf_command_queue *queue, struct bf_fence **fence)
{
    struct bf_scheduler *scheduler = queue->base.scheduler;
    if (queue->flags & BF_COMMAND_QUEUE_NATIVE_PROGRESS_FENCE_BIT)
        return bf_native_create_progress(scheduler, "bfCreateCommandQueue", fence);
    VkResult result = bf_fence_create(scheduler, 0, BF_SYNC_OBJECT_NO_SIGNAL_BIT, fence);
    if (result == VK_SUCCESS)
        (*fence)->queue_owned = true;
    return result;
}

VkResult bf_hw_queue_begin(struct bf_command_queue *queue)
{
    struct bf_scheduler *scheduler = queue->base.scheduler;
    struct bf_doorbells *doorbells;
    struct bf_hw_queue *hw = calloc(1, sizeof(*hw));
    if (!hw)
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    hw->queue = queue;
    VkResult result = bf_doorbells_of(scheduler, &doorbells);
    if (result == VK_SUCCESS)
        result = progress_create(queue, &hw->progress);
    if (result == VK_SUCCESS)
        result = bf_fence_create_own(scheduler, &hw->done);
    if (result == VK_SUCCESS && !(hw->handle = bf_kmt_add(BF_KMT_QUEUE, hw)))
        result = VK_ERROR_OUT_OF_HOST_MEMORY;
    if (result == VK_SUCCESS)
        result = bf_doorbell_thread_add(doorbells, hw);
    if (result != VK_SUCCESS) {
        hw_queue_free(hw);
        return result;
    }
    atomic_store(&scheduler->gpu.buffers_end, bf_doorbells_buffers_end);
    queue->ring_progress = hw->progress;
    queue->hw = hw;
    return VK_SUCCESS;
}

/* Once somebody has been left, no other gets as much time. */
#define LEAVE_AGAIN_NS UINT64_C(100000000)

bool bf_hw_queue_enter(struct bf_hw_queue *hw)
{
    struct bf_scheduler *scheduler = hw->queue->base.scheduler;
    const bool again = atomic_load(&scheduler->doorbells->left);
    const uint64_t most =
        again && scheduler->leave_ns > LEAVE_AGAIN_NS ? LEAVE_AGAIN_NS : scheduler->leave_ns;
    bool entered = false;
    uint64_t moved;
    atomic_fetch_add(&hw->wanted, 1);
    do { /* the driver has returned from each of the reader's calls so far */
        moved = atomic_load(&hw->moved);
        const struct timespec deadline = bf_timespec(bf_now_ns() + most);
        entered = bf_lock_acquire_until(&hw->lock, &deadline);
    } while (!entered && atomic_load(&hw->moved) != moved);
    atomic_fetch_sub(&hw->wanted, 1);
    if (entered)
        return true;
    if (!atomic_exchange(&scheduler->doorbells->left, true))
        bf_message(
            BF_MESSAGE_ERROR,
            "device%s: a submission of what was in a ring has not returned from the driver for "
            "%llu ms (setting tdr_ddi_delay): the device is lost",
            BF_LABEL(scheduler), (unsigned long long)(most / 1000000));
    bf_scheduler_lose_for(scheduler, BF_DEVICE_REMOVED_REASON_HUNG, "reading a ring");
    bf_scheduler_settle(scheduler);
    return false;
}

bool bf_hw_queue_end(struct bf_command_queue *queue)
{
    struct bf_hw_queue *hw = queue->hw;
    if (!bf_hw_queue_enter(hw))
        return false;
    struct bf_doorbell *doorbell = atomic_load(&hw->doorbell);
    if (doorbell)
        bf_doorbell_retire(doorbell, BF_ABORT_REASON_RETIRED, atomic_load(&hw->suspended) == 0);
    bf_lock_release(&hw->lock);
    bf_doorbell_thread_remove(hw);
    queue->ring_progress = NULL;
    queue->hw = NULL;
    hw_queue_free(hw);
    return true;
}

/* --------------------------------------------------------------------------- Registering -- */

struct bf_hw_queue *bf_hw_queue_of(BfCommandQueue handle, const char *call)
{
    if (!bf_handle_check(handle, BF_HANDLE_QUEUE, call, "queue"))
        return NULL;
    struct bf_hw_queue *hw = ((struct bf_command_queue *)handle)->hw;
    if (!hw)
        bf_message(BF_MESSAGE_ERROR,
                   "%s: the queue%s was created without BF_COMMAND_QUEUE_USER_MODE_SUBMISSION_BIT",
                   call, BF_LABEL(handle));
    return hw;
}

/* The array with room for one element more at the end, or NULL. It has room for 8, 16, 32 and so
 * on. */
static void *array_grown(void *array, uint32_t count, size_t size)
{
    bool full = count == 0 || (count >= 8 && (count & (count - 1)) == 0);
    return full ? realloc(array, (count ? 2 * (size_t)count : 8) * size) : array;
}

static bool index_is_wanted(const uint32_t *index, const char *call)
{
    if (!index)
        bf_message(BF_MESSAGE_ERROR, "%s: pIndex is NULL", call);
    return index != NULL;
}

/* False: out of memory, which a command buffer that has one already doesn't need. */
static bool hw_queue_set_first_number(struct bf_hw_queue *hw, VkCommandBuffer buffer,
                                      uint32_t number)
{
    const uint64_t key = (uint64_t)(uintptr_t)buffer;
    if (number)
        return bf_map_insert(&hw->buffer_numbers, key, (void *)(uintptr_t)number);
    bf_map_remove(&hw->buffer_numbers, key);
    return true;
}

VkResult bfRegisterCommandBuffer(BfCommandQueue queue, VkCommandBuffer buffer,
                                 BfRegisterCommandBufferFlags flags, uint32_t *out)
{
    struct bf_hw_queue *hw = bf_hw_queue_of(queue, __func__);
    if (!hw || !index_is_wanted(out, __func__) ||
        !bf_command_queue_takes_buffer(hw->queue, buffer, __func__, UINT32_MAX))
        return VK_ERROR_VALIDATION_FAILED_EXT;
    if (flags & ~(VkFlags)BF_REGISTER_COMMAND_BUFFER_SIMULTANEOUS_USE_BIT) {
        bf_message(BF_MESSAGE_ERROR, "bfRegisterCommandBuffer: flags 0x%x", flags);
        return VK_ERROR_VALIDATION_FAILED_EXT;
    }
    bf_lock_acquire(&hw->names_lock);
    const uint32_t i = hw->free_buffers ? hw->free_buffers - 1 : hw->buffer_count;
    const uint32_t next = hw_queue_first_number(hw, buffer);
    struct bf_ring_buffer *buffers =
        i < hw->buffer_count ? hw->buffers
                             : array_grown(hw->buffers, hw->buffer_count, sizeof(*buffers));
    if (buffers)
        hw->buffers = buffers;
    const bool done = buffers && hw_queue_set_first_number(hw, buffer, i + 1);
    if (done) {
        if (i < hw->buffer_count)
            hw->free_buffers = buffers[i].next;
        buffers[i] = (struct bf_ring_buffer){
            .handle = buffer,
            .next = next,
            .simultaneous = flags & BF_REGISTER_COMMAND_BUFFER_SIMULTANEOUS_USE_BIT,
            .batch = next ? buffers[next - 1].batch : 0,
        };
        hw->twins = hw->twins || next;
        hw->buffer_count += i == hw->buffer_count;
        *out = i;
    }
    bf_lock_release(&hw->names_lock);
    return done ? VK_SUCCESS : VK_ERROR_OUT_OF_HOST_MEMORY;
}

/* The number is free again; names_lock is held. */
static void hw_queue_free_number(struct bf_hw_queue *hw, uint32_t index)
{
    struct bf_ring_buffer *buffer = &hw->buffers[index];
    uint32_t before = hw_queue_first_number(hw, buffer->handle);
    if (before == index + 1) {
        hw_queue_set_first_number(hw, buffer->handle, buffer->next);
    } else {
        while (hw->buffers[before - 1].next != index + 1)
            before = hw->buffers[before - 1].next;
        hw->buffers[before - 1].next = buffer->next;
    }
    buffer->handle = VK_NULL_HANDLE;
    buffer->next = hw->free_buffers;
    hw->free_buffers = index + 1;
}

/* HQ-4: who is reading the ring may still have found it. False: HQ-5. */
static bool queue_await_reader(struct bf_hw_queue *hw)
{
    bool left = bf_hw_queue_enter(hw);
    if (left)
        bf_lock_release(&hw->lock);
    return left;
}

VkResult bfUnregisterCommandBuffer(BfCommandQueue queue, uint32_t index)
{
    struct bf_hw_queue *hw = bf_hw_queue_of(queue, __func__);
    if (!hw)
        return VK_ERROR_VALIDATION_FAILED_EXT;
    bf_lock_acquire(&hw->names_lock);
    bool known = index < hw->buffer_count && hw->buffers[index].handle;
    if (known)
        hw_queue_free_number(hw, index);
    bf_lock_release(&hw->names_lock);
    queue_await_reader(hw);
    if (!known)
        bf_message(BF_MESSAGE_ERROR, "bfUnregisterCommandBuffer: index %u: none is registered",
                   index);
    return known ? VK_SUCCESS : VK_ERROR_VALIDATION_FAILED_EXT;
}

void bf_hw_queue_forget_buffers(struct bf_hw_queue *hw, VkCommandBuffer buffer, struct bf_map *pool)
{
    bool known = false;
    /* Nearly always: what is begun or reset has no number here. */
    if (!pool && !hw_queue_first_number(hw, buffer))
        return;
    bf_lock_acquire(&hw->names_lock);
    for (uint32_t n; !pool && (n = hw_queue_first_number(hw, buffer)) != 0; known = true)
        hw_queue_free_number(hw, n - 1);
    for (uint32_t i = 0; pool && i < hw->buffer_count; i++) {
        const VkCommandBuffer handle = hw->buffers[i].handle;
        if (handle && bf_map_find(pool, (uint64_t)(uintptr_t)handle)) {
            hw_queue_free_number(hw, i);
            known = true;
        }
    }
    bf_lock_release(&hw->names_lock);
    if (known)
        queue_await_reader(hw);
}

static void fence_reference(struct bf_fence *fence, bool more)
{
    struct bf_pending *pending = &fence->scheduler->pending;
    bf_lock_acquire(&pending->lock);
    if (more)
        bf_fence_reference(fence);
    else
        bf_fence_release(fence);
    bf_lock_release(&pending->lock);
}

VkResult bfRegisterFence(BfCommandQueue queue, BfFence handle, uint32_t *out)
{
    struct bf_hw_queue *hw = bf_hw_queue_of(queue, __func__);
    struct bf_fence *fence = hw ? bf_fence_of(handle, __func__) : NULL;
    if (!fence || !index_is_wanted(out, __func__))
        return VK_ERROR_VALIDATION_FAILED_EXT;
    if (fence->scheduler != hw->queue->base.scheduler || fence->imported) {
        bf_message(BF_MESSAGE_ERROR, "bfRegisterFence: the fence%s %s", BF_LABEL(fence),
                   fence->imported ? "is an imported one" : "belongs to another device");
        return VK_ERROR_VALIDATION_FAILED_EXT;
    }
    bf_lock_acquire(&hw->names_lock);
    uint32_t i = 0;
    while (i < hw->fence_count && hw->fences[i])
        i++;
    struct bf_fence **fences =
        i < hw->fence_count ? hw->fences
                            : array_grown(hw->fences, hw->fence_count, sizeof(struct bf_fence *));
    if (fences) {
        hw->fences = fences;
        fence_reference(fence, true);
        atomic_store(&fence->in_rings, true);
        hw->fences[i] = fence;
        hw->fence_count += i == hw->fence_count;
        *out = i;
    }
    bf_lock_release(&hw->names_lock);
    return fences ? VK_SUCCESS : VK_ERROR_OUT_OF_HOST_MEMORY;
}

VkResult bfUnregisterFence(BfCommandQueue queue, uint32_t index)
{
    struct bf_hw_queue *hw = bf_hw_queue_of(queue, __func__);
    if (!hw)
        return VK_ERROR_VALIDATION_FAILED_EXT;
    bf_lock_acquire(&hw->names_lock);
    struct bf_fence *fence = index < hw->fence_count ? hw->fences[index] : NULL;
    if (fence)
        hw->fences[index] = NULL;
    bf_lock_release(&hw->names_lock);
    if (fence && queue_await_reader(hw))
        fence_reference(fence, false);
    if (!fence)
        bf_message(BF_MESSAGE_ERROR, "bfUnregisterFence: index %u: none is registered", index);
    return fence ? VK_SUCCESS : VK_ERROR_VALIDATION_FAILED_EXT;
}

void bf_hw_queue_forget_fence(struct bf_hw_queue *hw, struct bf_fence *fence)
{
    uint32_t count = 0;
    bf_lock_acquire(&hw->names_lock);
    for (uint32_t i = 0; i < hw->fence_count; i++) {
        if (hw->fences[i] == fence) {
            hw->fences[i] = NULL;
            count++;
        }
    }
    bf_lock_release(&hw->names_lock);
    if (count && !queue_await_reader(hw))
        return; /* it keeps its references */
    while (count--)
        fence_reference(fence, false);
}

BfKmtHandle bfGetCommandQueueKmtHandle(BfCommandQueue queue)
{
    struct bf_hw_queue *hw = bf_hw_queue_of(queue, __func__);
    return hw ? hw->handle : 0;
}
