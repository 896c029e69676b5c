/* SPDX-License-Identifier: MIT */
/* What a test does with its device: objects, command buffers, waiting, other threads. */
#include "support/fixture.h"

#include "belfry/background.h"
#include "support/asleep.h"

/* ----------------------------------------------------------------------------------- Objects -- */

BfCommandQueue make_queue(struct fixture *f, BfCommandListType type)
{
    const BfCommandQueueCreateInfo info = {BF_TYPE(COMMAND_QUEUE_CREATE_INFO), .type = type};
    BfCommandQueue queue = NULL;
    assert_success(bfCreateCommandQueue(f->bf, &info, &queue));
    assert_non_null(queue);
    assert_true(f->queue_count < FIXTURE_OBJECTS);
    return f->made_queues[f->queue_count++] = queue;
}

BfCommandQueue make_software_queue(struct fixture *f, BfCommandListType type)
{
    const BfCommandQueueCreateInfo info = {BF_TYPE(COMMAND_QUEUE_CREATE_INFO), .type = type,
                                           .flags = BF_COMMAND_QUEUE_SOFTWARE_FENCES_BIT};
    BfCommandQueue queue;
    assert_success(bfCreateCommandQueue(f->bf, &info, &queue));
    assert_true(f->queue_count < FIXTURE_OBJECTS);
    return f->made_queues[f->queue_count++] = queue;
}

static BfFence keep_fence(struct fixture *f, BfFence fence)
{
    assert_non_null(fence);
    assert_true(f->fence_count < FIXTURE_OBJECTS);
    return f->made_fences[f->fence_count++] = fence;
}

BfFence make_native_fence(struct fixture *f, uint64_t value)
{
    const BfNativeFenceCreateInfo info = {BF_TYPE(NATIVE_FENCE_CREATE_INFO), .initialValue = value};
    BfFence fence = NULL;
    assert_success(bfCreateNativeFence(f->bf, &info, &fence));
    return keep_fence(f, fence);
}

BfFence make_fence(struct fixture *f, uint64_t value)
{
    const BfFenceCreateInfo info = {BF_TYPE(FENCE_CREATE_INFO), .initialValue = value};
    BfFence fence = NULL;
    uint32_t number = f->fences_asked_for++;
    if (fixture_has_native_fences() && number % 4 != 3)
        return make_native_fence(f, value);
    assert_success(bfCreateFence(f->bf, &info, &fence));
    return keep_fence(f, fence);
}

BfEvent make_event(struct fixture *f)
{
    BfEvent event = NULL;
    assert_success(bfCreateEvent(0, &event));
    assert_non_null(event);
    assert_true(f->event_count < FIXTURE_OBJECTS);
    return f->made_events[f->event_count++] = event;
}

VkSemaphore make_timeline(struct fixture *f, uint64_t value)
{
    assert_true(f->semaphore_count < FIXTURE_OBJECTS);
    return f->made_semaphores[f->semaphore_count++] = vulkan_timeline(f->device, value);
}

void drop_queue(struct fixture *f, BfCommandQueue queue)
{
    for (uint32_t i = 0; i < f->queue_count; i++) {
        if (f->made_queues[i] == queue) {
            f->made_queues[i] = f->made_queues[--f->queue_count];
            bfDestroyCommandQueue(queue);
            return;
        }
    }
    fail_msg("not a queue of this test's");
}

void drop_fence(struct fixture *f, BfFence fence)
{
    for (uint32_t i = 0; i < f->fence_count; i++) {
        if (f->made_fences[i] == fence) {
            f->made_fences[i] = f->made_fences[--f->fence_count];
            bfDestroyFence(fence);
            return;
        }
    }
    fail_msg("not a fence of this test's");
}

void drop_event(struct fixture *f, BfEvent event)
{
    for (uint32_t i = 0; i < f->event_count; i++) {
        if (f->made_events[i] == event) {
            f->made_events[i] = f->made_events[--f->event_count];
            bfDestroyEvent(event);
            return;
        }
    }
    fail_msg("not an event of this test's");
}

bool take_event(BfEvent event)
{
    VkResult result = bfWaitForEvents(1, &event, VK_FALSE, 0, NULL);
    if (result != VK_TIMEOUT)
        assert_success(result);
    return result == VK_SUCCESS;
}

void await_background(BfDevice device)
{
    BfEvent event;
    assert_success(bfCreateEvent(0, &event));
    assert_success(bfSetBackgroundProcessingMode(device, BF_BACKGROUND_PROCESSING_MODE_ALLOWED,
                                                 BF_MEASUREMENTS_ACTION_COMMIT_RESULTS, event,
                                                 NULL));
    await_event(event);
    bfDestroyEvent(event);
}

void await_event(BfEvent event)
{
    assert_success(bfWaitForEvents(1, &event, VK_FALSE, UINT64_MAX, NULL));
}

void await_fence(BfFence fence, uint64_t value)
{
    assert_success(bfWaitFences(1, &fence, &value, BF_FENCE_WAIT_ALL, UINT64_MAX));
}

void await_idle(BfCommandQueue queue)
{
    assert_success(bfQueueWaitIdle(queue));
}

void await_signals(BfCommandQueue queue)
{
    if (fixture_has_native_fences())
        await_idle(queue);
}

void queue_signal(BfCommandQueue queue, BfFence fence, uint64_t value)
{
    assert_success(bfQueueSignal(queue, fence, value));
}

void queue_wait(BfCommandQueue queue, BfFence fence, uint64_t value)
{
    assert_success(bfQueueWait(queue, fence, value));
}

void cpu_signal(BfFence fence, uint64_t value)
{
    assert_success(bfSignalFence(fence, value));
}

void set_event_on(BfFence fence, uint64_t value, BfEvent event)
{
    assert_success(bfSetEventOnFenceCompletion(fence, value, event));
}

void execute(BfCommandQueue queue, VkCommandBuffer commands)
{
    assert_success(bfQueueExecute(queue, 1, &commands));
}

/* -------------------------------------------------------------------------------------- Work -- */

VkCommandBuffer commands_begin_in(struct fixture *f, uint32_t family, VkCommandBufferLevel level)
{
    assert_true(family < f->family_count && f->pools[family]);
    return vulkan_begin(f->device, f->pools[family], level,
                        VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT);
}

VkCommandBuffer commands_begin(struct fixture *f, BfCommandQueue queue)
{
    return commands_begin_in(f, bfGetCommandQueueFamilyIndex(queue),
                             VK_COMMAND_BUFFER_LEVEL_PRIMARY);
}

void commands_end(VkCommandBuffer commands)
{
    const VkMemoryBarrier2 memory = {
        VK_TYPE(MEMORY_BARRIER_2), .srcStageMask = VK_PIPELINE_STAGE_2_ALL_TRANSFER_BIT,
        .srcAccessMask = VK_ACCESS_2_TRANSFER_WRITE_BIT,
        .dstStageMask = VK_PIPELINE_STAGE_2_HOST_BIT, .dstAccessMask = VK_ACCESS_2_HOST_READ_BIT};
    const VkDependencyInfo info = {VK_TYPE(DEPENDENCY_INFO), .memoryBarrierCount = 1,
                                   .pMemoryBarriers = &memory};
    vkCmdPipelineBarrier2(commands, &info);
    assert_success(vkEndCommandBuffer(commands));
}

void put_word(struct fixture *f, VkCommandBuffer commands, uint32_t index, uint32_t word)
{
    assert_true(index < FIXTURE_WORDS);
    vkCmdFillBuffer(commands, f->buffer, index * sizeof(word), sizeof(word), word);
}

VkCommandBuffer write_word_in(struct fixture *f, uint32_t family, uint32_t index, uint32_t word)
{
    VkCommandBuffer commands = commands_begin_in(f, family, VK_COMMAND_BUFFER_LEVEL_PRIMARY);
    put_word(f, commands, index, word);
    commands_end(commands);
    return commands;
}

VkCommandBuffer write_word(struct fixture *f, BfCommandQueue queue, uint32_t index, uint32_t word)
{
    return write_word_in(f, bfGetCommandQueueFamilyIndex(queue), index, word);
}

VkCommandBuffer copy_word(struct fixture *f, BfCommandQueue queue, uint32_t from, uint32_t to)
{
    VkCommandBuffer commands = commands_begin(f, queue);
    assert_true(from < FIXTURE_WORDS && to < FIXTURE_WORDS);
    const VkBufferCopy copy = {.srcOffset = from * sizeof(uint32_t),
                               .dstOffset = to * sizeof(uint32_t),
                               .size = sizeof(uint32_t)};
    vkCmdCopyBuffer(commands, f->buffer, f->buffer, 1, &copy);
    commands_end(commands);
    return commands;
}

uint32_t read_word(struct fixture *f, uint32_t index)
{
    return *(volatile uint32_t *)&f->words[index];
}

void step_family(struct fixture *f, uint32_t family)
{
    for (uint32_t i = 0; i <= FIXTURE_QUEUES; i++) /* and the spare */
        f->icd.step(family, i);
    f->icd.quiesce();
}

VkEvent stall_begin(struct fixture *f, BfCommandQueue queue)
{
    const VkEventCreateInfo info = {VK_TYPE(EVENT_CREATE_INFO)};
    VkEvent event;
    assert_success(vkCreateEvent(f->device, &info, NULL, &event));
    assert_true(f->stall_count < FIXTURE_OBJECTS);
    f->made_stalls[f->stall_count++] = event;
    VkCommandBuffer commands = commands_begin(f, queue);
    vkCmdWaitEvents(commands, 1, &event, VK_PIPELINE_STAGE_HOST_BIT,
                    VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, 0, NULL, 0, NULL, 0, NULL);
    assert_success(vkEndCommandBuffer(commands));
    execute(queue, commands);
    f->stalls++;
    return event;
}

void stall_end(struct fixture *f, VkEvent stall)
{
    assert_success(vkSetEvent(f->device, stall));
    f->stalls--;
}

void fixture_settle(struct fixture *f)
{
    if (f->icd.library) {
        f->icd.quiesce();
        return;
    }
    if (f->stalls)
        return;
    if (!f->marker_queue) {
        f->marker_queue = make_queue(f, BF_COMMAND_LIST_TYPE_DIRECT);
        f->marker_fence = make_fence(f, 0);
    }
    execute(f->marker_queue, write_word(f, f->marker_queue, FIXTURE_WORDS - 1, 1));
    queue_signal(f->marker_queue, f->marker_fence, ++f->marker);
    await_fence(f->marker_fence, f->marker);
}

/* ----------------------------------------------------------------------------- Other threads -- */

static void *thread_main(void *argument)
{
    struct thread *t = argument;
    t->id = gettid();
    t->run(t->argument);
    t->finished = true;
    return NULL;
}

void thread_start(struct thread *t, void (*run)(void *argument), void *argument)
{
    t->run = run;
    t->argument = argument;
    t->id = 0;
    t->finished = false;
    assert_int_equal(pthread_create(&t->handle, NULL, thread_main, t), 0);
}

void thread_await_sleep(struct thread *t)
{
    while (!t->id)
        sched_yield();
    while (!t->finished && !thread_waits(t->id))
        sched_yield();
}

void thread_await_stop(struct thread *t)
{
    while (!t->finished && (!t->id || thread_state(t->id) != 'S'))
        sched_yield();
}

void thread_join(struct thread *t)
{
    assert_int_equal(pthread_join(t->handle, NULL), 0);
}

void start_line_cross(struct start_line *line, uint32_t threads)
{
    uint32_t number = line->waiting++;
    while (line->waiting / threads == number / threads)
        sched_yield();
}

void block_on(void *blocked)
{
    struct blocked *b = blocked;
    b->result = b->fence   ? bfWaitFences(1, &b->fence, &b->value, BF_FENCE_WAIT_ALL, UINT64_MAX)
                : b->event ? bfWaitForEvents(1, &b->event, VK_FALSE, UINT64_MAX, NULL)
                           : bfQueueWaitIdle(b->queue);
}

/* ----------------------------------------------------------------------------- What there is -- */

BfDeviceCounters counters_of(struct fixture *f)
{
    BfDeviceCounters counters = {BF_TYPE(DEVICE_COUNTERS)};
    assert_success(bfGetDeviceCounters(f->bf, &counters));
    return counters;
}

BfNativeFenceMapping mapping_of(BfFence fence)
{
    BfNativeFenceMapping mapping = {BF_TYPE(NATIVE_FENCE_MAPPING)};
    assert_success(bfGetNativeFenceMapping(fence, &mapping));
    return mapping;
}

const volatile uint64_t *word_of(BfFence fence)
{
    const BfNativeFenceMapping mapping = mapping_of(fence);
    assert_non_null(mapping.pCurrentValue);
    return mapping.pCurrentValue;
}
