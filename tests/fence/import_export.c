/* SPDX-License-Identifier: MIT */
/* Fences and timeline semaphores together: fences made of a semaphore (bfImportFenceFromSemaphore),
 * semaphores that follow a fence (bfExportFenceToSemaphore), each mixed with submissions to the
 * program's own VkQueues and with the CPU's calls of both APIs. */
#include "support/fixture.h"

/* A fence of the semaphore, the fixture's to destroy. */
static BfFence import(struct fixture *f, VkSemaphore semaphore)
{
    BfFence fence = NULL;
    assert_success(bfImportFenceFromSemaphore(f->bf, semaphore, &fence));
    assert_non_null(fence);
    assert_true(f->fence_count < FIXTURE_OBJECTS);
    return f->made_fences[f->fence_count++] = fence;
}

/* A batch for one of the program's VkQueues: VK_NULL_HANDLE leaves a part out. */
struct batch {
    VkSemaphore wait;
    uint64_t wait_value;
    VkCommandBuffer commands;
    VkSemaphore signal;
    uint64_t signal_value;
    VkFence fence;
};

/* By Belfry's own function (attached devices have no other). */
static void submit_by(struct fixture *f, VkQueue queue, struct batch b, bool by_belfry)
{
    const VkSemaphoreSubmitInfo wait = {VK_TYPE(SEMAPHORE_SUBMIT_INFO), .semaphore = b.wait,
                                        .value = b.wait_value,
                                        .stageMask = VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT};
    const VkSemaphoreSubmitInfo signal = {VK_TYPE(SEMAPHORE_SUBMIT_INFO), .semaphore = b.signal,
                                          .value = b.signal_value,
                                          .stageMask = VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT};
    const VkCommandBufferSubmitInfo commands = {VK_TYPE(COMMAND_BUFFER_SUBMIT_INFO),
                                                .commandBuffer = b.commands};
    const VkSubmitInfo2 info = {
        VK_TYPE(SUBMIT_INFO_2),           .waitSemaphoreInfoCount = b.wait ? 1 : 0,
        .pWaitSemaphoreInfos = &wait,     .commandBufferInfoCount = b.commands ? 1 : 0,
        .pCommandBufferInfos = &commands, .signalSemaphoreInfoCount = b.signal ? 1 : 0,
        .pSignalSemaphoreInfos = &signal};
    assert_success(by_belfry ? bfVkQueueSubmit(f->bf, queue, 1, &info, b.fence)
                             : vkQueueSubmit2(queue, 1, &info, b.fence));
}

static void submit(struct fixture *f, VkQueue queue, struct batch b)
{
    submit_by(f, queue, b, !f->layered);
}

/* The program's VkQueues on which it may run transfers, and their families. */
struct vk_queue {
    VkQueue queue;
    uint32_t family;
};

static uint32_t vk_queues(struct fixture *f, struct vk_queue *list)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < f->family_count; i++)
        for (uint32_t k = 0; k < f->queue_counts[i]; k++)
            list[n++] = (struct vk_queue){f->queues[i][k], i};
    return n;
}

#define VK_QUEUES (DEVICE_FAMILIES * FIXTURE_QUEUES)

/* ------------------------------------------------------------------------------------ Import -- */

FIXTURE_TEST(imported_fence_reads_its_semaphore)
{
    VkSemaphore semaphore = make_timeline(f, 5);
    BfFence fence = import(f, semaphore);
    assert_value(fence, 5);
    vulkan_signal(f->device, semaphore, 8); /* by Vulkan */
    assert_value(fence, 8);
    cpu_signal(fence, 9); /* by Belfry */
    assert_value(fence, 9);
    assert_int_equal(vulkan_value(f->device, semaphore), 9);
}

FIXTURE_TEST(imported_fence_sets_events_when_vulkan_signals)
{
    struct vk_queue list[VK_QUEUES];
    uint32_t n = vk_queues(f, list);
    VkSemaphore semaphore = make_timeline(f, 0);
    BfFence fence = import(f, semaphore);
    BfEvent event = make_event(f);
    uint64_t value = 0;
    for (uint32_t i = 0; i < n; i++) {
        set_event_on(fence, ++value, event);
        assert_false(take_event(event));
        vulkan_signal(f->device, semaphore, value);
        await_event(event);
        assert_value(fence, value);
        set_event_on(fence, ++value, event);
        submit(f, list[i].queue,
               (struct batch){.commands = write_word_in(f, list[i].family, 0, i + 1),
                              .signal = semaphore,
                              .signal_value = value});
        await_event(event);
        assert_value(fence, value);
        assert_int_equal(read_word(f, 0), i + 1);
        assert_false(take_event(event));
    }
}

struct waiting {
    BfFence fence;
    uint64_t value;
    VkResult result;
};

static void wait_for_fence(void *argument)
{
    struct waiting *w = argument;
    w->result = bfWaitFences(1, &w->fence, &w->value, BF_FENCE_WAIT_ALL, UINT64_MAX);
}

FIXTURE_TEST(imported_fence_releases_blocked_threads_when_vulkan_signals)
{
    struct vk_queue list[VK_QUEUES];
    vk_queues(f, list);
    VkSemaphore semaphore = make_timeline(f, 0);
    for (uint64_t v = 1; v <= 10; v++) {
        struct waiting w = {v == 1 ? import(f, semaphore) : f->made_fences[0], v,
                            VK_RESULT_MAX_ENUM};
        struct thread thread;
        thread_start(&thread, wait_for_fence, &w);
        thread_await_sleep(&thread);
        assert_false(thread.finished);
        if (v % 2)
            vulkan_signal(f->device, semaphore, v);
        else
            submit(f, list[0].queue, (struct batch){.signal = semaphore, .signal_value = v});
        thread_join(&thread);
        assert_success(w.result);
        assert_value(w.fence, v);
    }
}

TYPE_TEST(imported_fence_signalled_by_queues_is_seen_by_vulkan)
{
    struct vk_queue list[VK_QUEUES];
    uint32_t n = vk_queues(f, list);
    VkSemaphore semaphore = make_timeline(f, 0);
    BfFence fence = import(f, semaphore);
    for (uint64_t v = 1; v <= 10; v++) {
        if (v % 2)
            execute(queue, write_word(f, queue, 0, (uint32_t)v));
        queue_signal(queue, fence, 10 * v);
        vulkan_wait(f->device, semaphore, 10 * v);
        assert_int_equal(vulkan_value(f->device, semaphore), 10 * v);
        assert_value(fence, 10 * v);
        assert_int_equal(read_word(f, 0), (v - 1) / 2 * 2 + 1);
    }
    /* By a batch that waits for it, handed over before and after. */
    VkSemaphore done = make_timeline(f, 0);
    for (uint32_t k = 0; k < n; k++) {
        const struct batch b = {.wait = semaphore,
                                .wait_value = 200 + k,
                                .commands = write_word_in(f, list[k].family, 1 + k, 1),
                                .signal = done,
                                .signal_value = k + 1};
        if (k % 2)
            queue_signal(queue, fence, 200 + k);
        submit(f, list[k].queue, b);
        if (k % 2 == 0) {
            fixture_settle(f);
            assert_int_equal(vulkan_value(f->device, done), k);
            assert_int_equal(read_word(f, 1 + k), 0);
            queue_signal(queue, fence, 200 + k);
        }
        vulkan_wait(f->device, done, k + 1);
        assert_int_equal(read_word(f, 1 + k), 1);
    }
}

/* A queue waits for a value that Vulkan signals, before and after. */
TYPE_TEST(queue_waits_for_what_vulkan_signals)
{
    struct vk_queue list[VK_QUEUES];
    uint32_t n = vk_queues(f, list);
    VkSemaphore semaphore = make_timeline(f, 0);
    BfFence fence = import(f, semaphore), later = make_fence(f, 0);
    uint64_t value = 0;
    for (uint32_t k = 0; k < 2 * n; k++) {
        const struct vk_queue *vk = &list[k / 2];
        const struct batch b = {.commands = write_word_in(f, vk->family, 0, k + 1),
                                .signal = semaphore,
                                .signal_value = value + 1};
        if (k % 2)
            submit(f, vk->queue, b);
        queue_wait(queue, fence, ++value);
        execute(queue, copy_word(f, queue, 0, 1));
        queue_signal(queue, later, value);
        if (k % 2 == 0) {
            fixture_settle(f);
            assert_value(later, value - 1);
            assert_int_equal(read_word(f, 1), k);
            submit(f, vk->queue, b);
        }
        await_fence(later, value);
        assert_int_equal(read_word(f, 1), k + 1);
    }
    /* And the CPU, by Vulkan's call. */
    queue_wait(queue, fence, value + 1);
    queue_signal(queue, later, value + 1);
    fixture_settle(f);
    assert_value(later, value);
    vulkan_signal(f->device, semaphore, value + 1);
    await_fence(later, value + 1);
}

/* A copy of one word into the next, for a VkQueue of that family. */
static VkCommandBuffer copy_on(struct fixture *f, uint32_t family, uint32_t from)
{
    VkCommandBuffer commands = commands_begin_in(f, family, VK_COMMAND_BUFFER_LEVEL_PRIMARY);
    const VkBufferCopy copy = {.srcOffset = from * 4, .dstOffset = from * 4 + 4, .size = 4};
    vkCmdCopyBuffer(commands, f->buffer, f->buffer, 1, &copy);
    commands_end(commands);
    return commands;
}

/* To and fro between queues and VkQueues by one semaphore, each step behind the one before, all
 * queued ahead. */
FIXTURE_TEST(queues_and_vk_queues_alternate_strictly)
{
    enum { STEPS = 60 };
    struct vk_queue list[VK_QUEUES];
    uint32_t n = vk_queues(f, list);
    VkSemaphore semaphore = make_timeline(f, 0);
    BfFence fence = import(f, semaphore);
    BfCommandQueue queues[3];
    for (int i = 0; i < 3; i++)
        queues[i] = make_queue(f, queue_types[i]);
    f->words[0] = 11;
    for (uint32_t i = 0; i < STEPS; i++) {
        if (i % 2) {
            BfCommandQueue queue = queues[i / 2 % 3];
            queue_wait(queue, fence, i + 1);
            execute(queue, copy_word(f, queue, i, i + 1));
            queue_signal(queue, fence, i + 2);
        } else {
            const struct vk_queue *vk = &list[i / 2 % n];
            submit(f, vk->queue,
                   (struct batch){.wait = semaphore,
                                  .wait_value = i + 1,
                                  .commands = copy_on(f, vk->family, i),
                                  .signal = semaphore,
                                  .signal_value = i + 2});
        }
    }
    fixture_settle(f);
    assert_value(fence, 0);
    cpu_signal(fence, 1);
    await_fence(fence, STEPS + 1);
    for (uint32_t i = 0; i <= STEPS; i++)
        assert_int_equal(read_word(f, i), 11);
}

/* Several fences of one semaphore are one. */
FIXTURE_TEST(two_fences_of_one_semaphore_agree)
{
    VkSemaphore semaphore = make_timeline(f, 2);
    BfFence one = import(f, semaphore), other = import(f, semaphore);
    BfEvent event = make_event(f);
    BfCommandQueue queue = make_queue(f, BF_COMMAND_LIST_TYPE_DIRECT);
    set_event_on(other, 4, event);
    cpu_signal(one, 3);
    assert_value(other, 3);
    queue_signal(queue, one, 4);
    await_event(event);
    assert_value(other, 4);
    drop_fence(f, one);
    cpu_signal(other, 5);
    assert_value(other, 5);
}

/* The semaphore outlives the fence and goes on by itself. */
FIXTURE_TEST(imported_fence_leaves_its_semaphore)
{
    VkSemaphore semaphore = make_timeline(f, 0);
    BfFence fence = import(f, semaphore);
    BfCommandQueue queue = make_queue(f, BF_COMMAND_LIST_TYPE_COMPUTE);
    BfEvent event = make_event(f);
    execute(queue, write_word(f, queue, 0, 1));
    queue_signal(queue, fence, 1);
    await_fence(fence, 1);
    set_event_on(fence, 10, event);
    queue_wait(queue, fence, 10);
    drop_fence(f, fence);
    assert_true(take_event(event));
    await_idle(queue); /* the fence is gone, and so is its wait */
    assert_int_equal(vulkan_value(f->device, semaphore), 1);
    vulkan_signal(f->device, semaphore, 2);
    assert_int_equal(vulkan_value(f->device, semaphore), 2);
    fence = import(f, semaphore);
    assert_value(fence, 2);
}

/* ------------------------------------------------------------------------------------ Export -- */

FIXTURE_TEST(exported_semaphore_follows_the_cpu)
{
    BfFence fence = make_fence(f, 3);
    VkSemaphore semaphore = make_timeline(f, 1);
    assert_success(bfExportFenceToSemaphore(fence, semaphore));
    vulkan_wait(f->device, semaphore, 3); /* what it has already */
    static const uint64_t values[] = {4, 10, 10, 2, 9, 11, 0, 12, 5};
    uint64_t most = 3;
    for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
        cpu_signal(fence, values[i]);
        assert_value(fence, values[i]);
        if (values[i] > most)
            most = values[i];
        vulkan_wait(f->device, semaphore, most);
        assert_int_equal(vulkan_value(f->device, semaphore), most); /* it follows no rewind */
    }
}

/* X-6, where the test driver limits it; elsewhere it follows at once. */
FIXTURE_TEST_WITH(exported_semaphore_follows_in_steps, ENVIRONMENT("DIFFERENCE=1000"), NULL)
{
    static const uint64_t values[] = {1000, 6500, UINT64_C(1) << 40, UINT64_C(1) << 41};
    const bool limited = f->icd.library != NULL;
    BfFence fence = make_fence(f, 0);
    VkSemaphore semaphore = make_timeline(f, 0);
    uint64_t at = 0;
    assert_success(bfExportFenceToSemaphore(fence, semaphore));
    for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
        cpu_signal(fence, values[i]);
        assert_value(fence, values[i]);
        at = limited && values[i] - at > 64 * 1000 ? at + 64 * 1000 : values[i];
        assert_int_equal(vulkan_value(f->device, semaphore), at);
    }
}

TYPE_TEST(exported_semaphore_follows_queues)
{
    BfFence fence = make_fence(f, 0), gate = make_fence(f, 0);
    VkSemaphore semaphore = make_timeline(f, 0);
    assert_success(bfExportFenceToSemaphore(fence, semaphore));
    queue_signal(queue, fence, 1); /* idle */
    vulkan_wait(f->device, semaphore, 1);
    execute(queue, write_word(f, queue, 0, 2));
    queue_signal(queue, fence, 2); /* behind work */
    vulkan_wait(f->device, semaphore, 2);
    assert_int_equal(read_word(f, 0), 2);
    queue_wait(queue, gate, 1);
    execute(queue, write_word(f, queue, 0, 3));
    queue_signal(queue, fence, 5);
    queue_signal(queue, fence, 4); /* a rewind is left out */
    queue_signal(queue, fence, 6);
    queue_signal(queue, fence, 0);
    fixture_settle(f);
    assert_int_equal(vulkan_value(f->device, semaphore), 2);
    cpu_signal(gate, 1);
    vulkan_wait(f->device, semaphore, 6);
    await_idle(queue);
    assert_value(fence, 0);
    assert_int_equal(vulkan_value(f->device, semaphore), 6);
    assert_int_equal(read_word(f, 0), 3);
}

/* The work of a VkQueue waits for the semaphore: handed over before the fence's signal, and
 * after. */
TYPE_TEST(vk_queues_wait_for_an_exported_semaphore)
{
    struct vk_queue list[VK_QUEUES];
    uint32_t n = vk_queues(f, list);
    BfFence fence = make_fence(f, 0);
    VkSemaphore semaphore = make_timeline(f, 0), done = make_timeline(f, 0);
    assert_success(bfExportFenceToSemaphore(fence, semaphore));
    for (uint32_t k = 0; k < 2 * n; k++) {
        const struct vk_queue *vk = &list[k / 2];
        const struct batch b = {.wait = semaphore,
                                .wait_value = k + 1,
                                .commands = write_word_in(f, vk->family, k, 1),
                                .signal = done,
                                .signal_value = k + 1};
        if (k % 2 == 0) {
            submit(f, vk->queue, b);
            fixture_settle(f);
            assert_int_equal(vulkan_value(f->device, done), k);
            assert_int_equal(read_word(f, k), 0);
        }
        if (k % 4 < 2) {
            execute(queue, write_word(f, queue, 100, 1));
            queue_signal(queue, fence, k + 1);
        } else {
            cpu_signal(fence, k + 1);
        }
        if (k % 2)
            submit(f, vk->queue, b);
        vulkan_wait(f->device, done, k + 1);
        assert_int_equal(read_word(f, k), 1);
    }
}

/* To and fro: a queue signals the exported fence, a VkQueue an imported one, all queued ahead. */
FIXTURE_TEST(exported_and_imported_fences_make_a_chain)
{
    enum { STEPS = 20 };
    struct vk_queue list[VK_QUEUES];
    uint32_t n = vk_queues(f, list);
    BfCommandQueue queue = make_queue(f, BF_COMMAND_LIST_TYPE_COMPUTE);
    VkSemaphore to = make_timeline(f, 0), fro = make_timeline(f, 0);
    BfFence out = make_fence(f, 0), in = import(f, fro), gate = make_fence(f, 0);
    assert_success(bfExportFenceToSemaphore(out, to));
    f->words[0] = 13;
    queue_wait(queue, gate, 1);
    for (uint32_t i = 0; i < STEPS; i++) {
        const struct vk_queue *vk = &list[i % n];
        queue_wait(queue, in, i);
        execute(queue, copy_word(f, queue, 2 * i, 2 * i + 1));
        queue_signal(queue, out, i + 1);
        submit(f, vk->queue,
               (struct batch){.wait = to,
                              .wait_value = i + 1,
                              .commands = copy_on(f, vk->family, 2 * i + 1),
                              .signal = fro,
                              .signal_value = i + 1});
    }
    fixture_settle(f);
    assert_value(in, 0);
    cpu_signal(gate, 1);
    await_fence(in, STEPS);
    for (uint32_t i = 0; i <= 2 * STEPS; i++)
        assert_int_equal(read_word(f, i), 13);
}

/* A fence that is gone leaves its semaphore where it was. */
FIXTURE_TEST(exported_semaphore_outlives_its_fence)
{
    BfCommandQueue queue = make_queue(f, BF_COMMAND_LIST_TYPE_DIRECT);
    BfFence fence = make_fence(f, 0);
    VkSemaphore semaphore = make_timeline(f, 0);
    assert_success(bfExportFenceToSemaphore(fence, semaphore));
    execute(queue, write_word(f, queue, 0, 1));
    queue_signal(queue, fence, 4);
    await_fence(fence, 4);
    vulkan_wait(f->device, semaphore, 4);
    await_idle(queue);
    drop_fence(f, fence);
    assert_int_equal(vulkan_value(f->device, semaphore), 4);
    vulkan_signal(f->device, semaphore, 5); /* nobody else's any more */
}

/* ------------------------------------------------------------------------- The program's own -- */

/* bfVkQueueSubmit on every VkQueue, scheduled with the BfCommandQueues on it. */
FIXTURE_TEST(vk_queues_are_submitted_to_through_belfry)
{
    struct vk_queue list[VK_QUEUES];
    uint32_t n = vk_queues(f, list);
    const VkFenceCreateInfo info = {VK_TYPE(FENCE_CREATE_INFO)};
    VkFence fence;
    assert_success(vkCreateFence(f->device, &info, NULL, &fence));
    VkSemaphore semaphore = make_timeline(f, 0);
    BfFence imported = import(f, semaphore);
    for (uint32_t i = 0; i < n; i++) {
        submit_by(f, list[i].queue,
                  (struct batch){.wait = semaphore,
                                 .wait_value = i + 1,
                                 .commands = write_word_in(f, list[i].family, i, i + 1),
                                 .fence = fence},
                  true);
        /* Only in Belfry's hands may it be asked about while the batch is held. */
        fixture_settle(f);
        assert_int_equal(read_word(f, i), 0);
        cpu_signal(imported, i + 1);
        assert_success(vkWaitForFences(f->device, 1, &fence, VK_TRUE, UINT64_MAX));
        assert_success(vkResetFences(f->device, 1, &fence));
        assert_int_equal(read_word(f, i), i + 1);
        assert_success(bfVkQueueSubmit(f->bf, list[i].queue, 0, NULL, fence));
        assert_success(vkWaitForFences(f->device, 1, &fence, VK_TRUE, UINT64_MAX));
        assert_success(vkResetFences(f->device, 1, &fence));
    }
    assert_success(vkDeviceWaitIdle(f->device));
    vkDestroyFence(f->device, fence, NULL);
}

struct busy {
    BfCommandQueue queue;
    BfFence fence;
    VkCommandBuffer *commands;
    uint32_t count;
    VkResult result;
};

static void keep_busy(void *argument)
{
    struct busy *b = argument;
    for (uint32_t i = 0; i < b->count && b->result == VK_SUCCESS; i++) {
        b->result = bfQueueExecute(b->queue, 1, &b->commands[i]);
        if (b->result == VK_SUCCESS)
            b->result = bfQueueSignal(b->queue, b->fence, i + 1);
    }
}

/* Between lock and unlock a VkQueue is the caller's alone, while queues are busy on it. The test
 * driver sees two threads in one VkQueue. */
FIXTURE_TEST(a_locked_vk_queue_is_the_callers_alone)
{
    enum { COUNT = TIMES(640) };
    static VkCommandBuffer commands[COUNT];
    struct vk_queue list[VK_QUEUES];
    uint32_t n = vk_queues(f, list);
    struct busy b = {.queue = make_queue(f, BF_COMMAND_LIST_TYPE_DIRECT),
                     .fence = make_fence(f, 0),
                     .commands = commands,
                     .count = COUNT,
                     .result = VK_SUCCESS};
    for (uint32_t i = 0; i < COUNT; i++)
        commands[i] = write_word(f, b.queue, 0, i + 1);
    VkSemaphore done = make_timeline(f, 0);
    struct thread thread;
    thread_start(&thread, keep_busy, &b);
    for (uint64_t i = 0; i < COUNT; i++) {
        VkQueue queue = list[i % n].queue;
        assert_success(bfLockVkQueue(f->bf, queue));
        submit_by(f, queue, (struct batch){.signal = done, .signal_value = i + 1}, false);
        assert_success(bfUnlockVkQueue(f->bf, queue));
        vulkan_wait(f->device, done, i + 1);
    }
    thread_join(&thread);
    assert_success(b.result);
    await_fence(b.fence, COUNT);
    assert_int_equal(read_word(f, 0), COUNT);
}

/* --- Rules of the semaphore's ------------------------------------------------------------------*/

/* Who waits for the largest value there is waits as for any other. */
FIXTURE_TEST(whoever_waits_for_the_largest_value_is_told)
{
    VkSemaphore semaphore = make_timeline(f, 0);
    BfFence fence = import(f, semaphore);
    BfEvent event = make_event(f);
    set_event_on(fence, UINT64_MAX, event);
    vulkan_signal(f->device, semaphore, UINT64_MAX);
    await_event(event);
}

/* What a queue has yet to signal is nothing to a semaphore whose fence is gone, nor to the CPU,
 * which signals below that. */
FIXTURE_TEST(a_signal_goes_with_its_fence)
{
    VkSemaphore semaphore = vulkan_timeline(f->device, 0);
    BfFence fence = import(f, semaphore), other = import(f, semaphore), gate = make_fence(f, 0);
    BfCommandQueue queue = make_queue(f, BF_COMMAND_LIST_TYPE_DIRECT);
    queue_wait(queue, gate, 1);
    queue_signal(queue, fence, 5);
    assert_bad_input(bfSignalFence(other, 5));
    assert_bad_input(bfSignalFence(fence, 6));
    cpu_signal(other, 4);
    assert_value(fence, 4);
    drop_fence(f, fence);
    drop_fence(f, other);
    cpu_signal(gate, 1);
    await_idle(queue);
    assert_int_equal(vulkan_value(f->device, semaphore), 4); /* as if it had gone before */
    vkDestroySemaphore(f->device, semaphore, NULL);
}

struct racer {
    struct start_line *line;
    BfFence fence;
    uint64_t value;
    VkSemaphore semaphore;
    VkResult result;
};

static void signal_by(void *argument)
{
    struct racer *racer = argument;
    racer->result = bfSignalFence(racer->fence, racer->value);
}

static void race_to_export(void *argument)
{
    struct racer *racer = argument;
    start_line_cross(racer->line, 2);
    racer->result = bfExportFenceToSemaphore(racer->fence, racer->semaphore);
}

/* The driver never has the lesser value behind the larger one: who signals that waits for who
 * signals the other one. */
FIXTURE_TEST(threads_may_signal_one_semaphore_by_two_fences)
{
    VkSemaphore semaphore = make_timeline(f, 0);
    struct racer racers[2] = {{.fence = import(f, semaphore), .value = 5},
                              {.fence = import(f, semaphore), .value = 6}};
    struct thread threads[2];
    if (!fixture_is_icd())
        return;
    f->icd.set_block(&(struct belfry_icd_block){.command = "vkSignalSemaphore", .first = 1});
    for (int i = 0; i < 2; i++) {
        thread_start(&threads[i], signal_by, &racers[i]);
        thread_await_stop(&threads[i]);
        f->icd.await_blocked(1);
    }
    f->icd.set_block(NULL);
    f->icd.release(UINT64_MAX);
    for (int i = 0; i < 2; i++) {
        thread_join(&threads[i]);
        assert_success(racers[i].result);
    }
    assert_value(racers[0].fence, 6);
}

/* One thread exports it, the other one leaves that as it is, though it would fail on its own. */
FIXTURE_TEST(threads_may_export_one_fence)
{
    for (int i = 0; i < 50; i++) {
        struct start_line line = {0};
        struct racer racers[2];
        struct thread threads[2];
        BfFence fence = make_fence(f, 0);
        for (int k = 0; k < 2; k++)
            racers[k] = (struct racer){
                .line = &line, .fence = fence, .semaphore = vulkan_timeline(f->device, k ? 5 : 0)};
        for (int k = 0; k < 2; k++)
            thread_start(&threads[k], race_to_export, &racers[k]);
        for (int k = 0; k < 2; k++)
            thread_join(&threads[k]);
        assert_bad_input(racers[1].result);
        if (racers[0].result == VK_SUCCESS) {
            cpu_signal(fence, 1);
            assert_int_equal(vulkan_value(f->device, racers[0].semaphore), 1);
        }
        drop_fence(f, fence);
        vulkan_destroy(f->device, racers[0].semaphore, racers[1].semaphore);
    }
}
