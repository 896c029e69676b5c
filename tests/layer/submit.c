/* SPDX-License-Identifier: MIT */
/* The traps of submission: what a program passes is copied whole, held in order, and handed over
 * once, whatever its size and whichever form it comes in. */
#include "support/world.h"

#include "support/lines.h"

static const uint32_t two[] = {2, WORLD_END};

/* Everything that is held goes the moment it may, and once. */
static void expect_accepted(struct device *w, uint64_t n)
{
    assert_int_equal(world_accepted(w), n);
}

/* A call of many infos with many semaphores each, in memory that is gone when it returns. */
static void submit_large(struct device *w, VkQueue queue, bool old, uint32_t infos,
                         uint32_t semaphores, const VkSemaphore *waits, uint64_t wait_value,
                         const VkSemaphore *signals, uint32_t first_word, VkFence fence)
{
    size_t size = infos * (sizeof(VkSubmitInfo2) + sizeof(VkSubmitInfo) +
                           sizeof(VkTimelineSemaphoreSubmitInfo) +
                           2 * semaphores *
                               (sizeof(VkSemaphoreSubmitInfo) + sizeof(VkSemaphore) +
                                sizeof(uint64_t) + sizeof(VkPipelineStageFlags)) +
                           2 * sizeof(VkCommandBufferSubmitInfo)) +
                  4096;
    char *memory = malloc(size), *at = memory;
    assert_non_null(memory);
#define TAKE(type, count)                                                                          \
    (at = (char *)(((uintptr_t)at + 15) & ~(uintptr_t)15), at += (count) * sizeof(type),           \
     (type *)(at - (count) * sizeof(type)))
    VkSubmitInfo2 *new_infos = TAKE(VkSubmitInfo2, infos);
    VkSubmitInfo *old_infos = TAKE(VkSubmitInfo, infos);
    for (uint32_t i = 0; i < infos; i++) {
        VkCommandBuffer commands = device_store(w, 0, first_word + i, 1000 + first_word + i);
        /* All waits on the first info, all signals on the last. */
        uint32_t wait_count = i == 0 ? semaphores : 0;
        uint32_t signal_count = i + 1 == infos ? semaphores : 0;
        if (old) {
            VkTimelineSemaphoreSubmitInfo *values = TAKE(VkTimelineSemaphoreSubmitInfo, 1);
            VkSemaphore *w_handles = TAKE(VkSemaphore, wait_count);
            VkSemaphore *s_handles = TAKE(VkSemaphore, signal_count);
            uint64_t *w_values = TAKE(uint64_t, wait_count);
            uint64_t *s_values = TAKE(uint64_t, signal_count);
            VkPipelineStageFlags *stages = TAKE(VkPipelineStageFlags, wait_count);
            VkCommandBuffer *buffers = TAKE(VkCommandBuffer, 1);
            *buffers = commands;
            for (uint32_t s = 0; s < wait_count; s++) {
                w_handles[s] = waits[s];
                w_values[s] = wait_value;
                stages[s] = VK_PIPELINE_STAGE_ALL_COMMANDS_BIT;
            }
            for (uint32_t s = 0; s < signal_count; s++) {
                s_handles[s] = signals[s];
                s_values[s] = 100 + s;
            }
            *values =
                (VkTimelineSemaphoreSubmitInfo){VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO,
                                                NULL,
                                                wait_count,
                                                w_values,
                                                signal_count,
                                                s_values};
            old_infos[i] = (VkSubmitInfo){VK_STRUCTURE_TYPE_SUBMIT_INFO,
                                          values,
                                          wait_count,
                                          w_handles,
                                          stages,
                                          1,
                                          buffers,
                                          signal_count,
                                          s_handles};
            continue;
        }
        VkSemaphoreSubmitInfo *w_infos = TAKE(VkSemaphoreSubmitInfo, wait_count);
        VkSemaphoreSubmitInfo *s_infos = TAKE(VkSemaphoreSubmitInfo, signal_count);
        VkCommandBufferSubmitInfo *buffers = TAKE(VkCommandBufferSubmitInfo, 1);
        *buffers = (VkCommandBufferSubmitInfo){VK_TYPE(COMMAND_BUFFER_SUBMIT_INFO),
                                               .commandBuffer = commands};
        for (uint32_t s = 0; s < wait_count; s++)
            w_infos[s] = (VkSemaphoreSubmitInfo){VK_TYPE(SEMAPHORE_SUBMIT_INFO),
                                                 .semaphore = waits[s], .value = wait_value,
                                                 .stageMask = VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT};
        for (uint32_t s = 0; s < signal_count; s++)
            s_infos[s] = (VkSemaphoreSubmitInfo){VK_TYPE(SEMAPHORE_SUBMIT_INFO),
                                                 .semaphore = signals[s], .value = 100 + s,
                                                 .stageMask = VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT};
        new_infos[i] = (VkSubmitInfo2){
            VK_TYPE(SUBMIT_INFO_2),          .waitSemaphoreInfoCount = wait_count,
            .pWaitSemaphoreInfos = w_infos,  .commandBufferInfoCount = 1,
            .pCommandBufferInfos = buffers,  .signalSemaphoreInfoCount = signal_count,
            .pSignalSemaphoreInfos = s_infos};
    }
    assert_true(at <= memory + size);
    if (old)
        assert_success(vkQueueSubmit(queue, infos, old_infos, fence));
    else
        assert_success(vkQueueSubmit2(queue, infos, new_infos, fence));
    memset(memory, 0xdd, size);
    free(memory);
}

/* Sizes around every bound the layer has, ready and held, in both forms. */
TEST(test_large_and_scribbled)
{
    static const uint32_t sizes[][2] = {{1, 1},  {1, 15}, {1, 16}, {1, 17},  {1, 40},
                                        {2, 16}, {31, 1}, {32, 1}, {33, 17}, {100, 3}};
    struct device w;
    world_open(&w, "SHAPE=q1", two);
    VkFence fence = vulkan_fence(w.device, false);
    for (int held = 0; held < 2; held++) {
        for (int old = 0; old < 2; old++) {
            for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
                uint32_t infos = sizes[i][0], n = sizes[i][1];
                VkSemaphore waits[40], signals[40];
                for (uint32_t s = 0; s < n; s++) {
                    waits[s] = vulkan_timeline(w.device, held ? 0 : 7);
                    signals[s] = vulkan_timeline(w.device, 0);
                }
                memset(w.words, 0, 4 * WORLD_WORDS);
                uint64_t before = world_accepted(&w);
                submit_large(&w, w.queues[0][old], old, infos, n, waits, 7, signals, 10, fence);
                if (held) {
                    expect_accepted(&w, before);
                    assert_int_equal(vkGetFenceStatus(w.device, fence), VK_NOT_READY);
                    for (uint32_t s = n; s-- > 1;)
                        vulkan_signal(w.device, waits[s], 8);
                    expect_accepted(&w, before);
                    vulkan_signal(w.device, waits[0], 7);
                }
                assert_success(vkWaitForFences(w.device, 1, &fence, VK_TRUE, UINT64_MAX));
                assert_success(vkResetFences(w.device, 1, &fence));
                for (uint32_t k = 0; k < infos; k++)
                    assert_int_equal(w.words[10 + k], 1010 + k);
                for (uint32_t s = 0; s < n; s++) {
                    assert_int_equal(vulkan_value(w.device, signals[s]), 100 + s);
                    vulkan_destroy(w.device, waits[s], signals[s]);
                }
            }
        }
    }
    vkDestroyFence(w.device, fence, NULL);
    world_close(&w);
}

/* A fence alone keeps its place behind what is held, and an empty call costs nothing. */
DEVICE_TEST(test_fence_only, "SHAPE=q1", two)
{
    VkSemaphore t = vulkan_timeline(w->device, 0);
    VkFence fences[3];
    for (uint32_t i = 0; i < 3; i++)
        fences[i] = vulkan_fence(w->device, false);
    struct belfry_icd_record records[16];
    w->icd.record_start(records, 16);
    VkQueue queue = w->queues[0][0];
    assert_submitted(queue, .wait = t, .wait_value = 1, .commands = device_store(w, 0, 0, 1));
    assert_success(vkQueueSubmit(queue, 0, NULL, fences[0]));
    assert_success(vkQueueSubmit2(queue, 0, NULL, VK_NULL_HANDLE));
    assert_submitted(queue, .commands = device_store(w, 0, 1, 2));
    assert_success(vkQueueSubmit2(queue, 0, NULL, fences[1]));
    assert_success(vkQueueSubmit(queue, 0, NULL, VK_NULL_HANDLE));
    /* The neighbour's goes at once. */
    assert_success(vkQueueSubmit2(w->queues[0][1], 0, NULL, fences[2]));
    assert_success(vkWaitForFences(w->device, 1, &fences[2], VK_TRUE, UINT64_MAX));
    assert_int_equal(w->icd.record_count(), 1);
    for (uint32_t i = 0; i < 2; i++)
        assert_int_equal(vkGetFenceStatus(w->device, fences[i]), VK_NOT_READY);
    vulkan_signal(w->device, t, 1);
    assert_success(vkWaitForFences(w->device, 2, fences, VK_TRUE, UINT64_MAX));
    assert_int_equal(w->words[0], 1);
    assert_int_equal(w->words[1], 2);
    size_t n = w->icd.record_stop();
    assert_in_range(n, 3, 5);
    uint32_t buffers = 0;
    for (size_t i = 1; i < n; i++) {
        buffers += records[i].command_buffers;
        if (records[i].fence == (uint64_t)fences[0])
            assert_int_equal(buffers, 1);
        if (records[i].fence == (uint64_t)fences[1])
            assert_int_equal(buffers, 2);
    }
    vkDestroySemaphore(w->device, t, NULL);
    for (uint32_t i = 0; i < 3; i++)
        vkDestroyFence(w->device, fences[i], NULL);
}

/* Value arrays may be missing for binary semaphores. */
DEVICE_TEST(test_missing_values, "SHAPE=q1", two)
{
    VkSemaphore t = vulkan_timeline(w->device, 0), b = vulkan_binary(w->device),
                c = vulkan_binary(w->device);
    const VkPipelineStageFlags stages[] = {VK_PIPELINE_STAGE_ALL_COMMANDS_BIT,
                                           VK_PIPELINE_STAGE_ALL_COMMANDS_BIT};
    const VkSemaphore binaries[] = {b, c};
    const uint64_t three = 3;
    for (int held = 0; held < 2; held++) {
        /* Signals of two binary ones, no values; their waits beside a signal that has one. */
        const VkTimelineSemaphoreSubmitInfo only_wait = {
            VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO, NULL, 1, &three, 0, NULL};
        const VkSubmitInfo first = {VK_TYPE(SUBMIT_INFO),         .pNext = held ? &only_wait : NULL,
                                    .waitSemaphoreCount = held,   .pWaitSemaphores = &t,
                                    .pWaitDstStageMask = stages,  .signalSemaphoreCount = 2,
                                    .pSignalSemaphores = binaries};
        VkSemaphore done = vulkan_timeline(w->device, 0);
        const VkTimelineSemaphoreSubmitInfo only_signal = {
            VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO, NULL, 0, NULL, 1, &three};
        const VkSubmitInfo second = {VK_TYPE(SUBMIT_INFO),        .pNext = &only_signal,
                                     .waitSemaphoreCount = 2,     .pWaitSemaphores = binaries,
                                     .pWaitDstStageMask = stages, .signalSemaphoreCount = 1,
                                     .pSignalSemaphores = &done};
        assert_success(vkQueueSubmit(w->queues[0][0], 1, &first, VK_NULL_HANDLE));
        assert_success(vkQueueSubmit(w->queues[0][1], 1, &second, VK_NULL_HANDLE));
        if (held) {
            assert_int_equal(vulkan_value(w->device, done), 0);
            vulkan_signal(w->device, t, 3);
        }
        vulkan_wait(w->device, done, 3);
        assert_success(vkDeviceWaitIdle(w->device));
        vkDestroySemaphore(w->device, done, NULL);
    }
    vulkan_destroy(w->device, t, b, c);
}

/* One binary semaphore, used again and again while everything is held. */
TEST(test_binary_reuse)
{
    static const char *const shapes[] = {"SHAPE=q1", "SHAPE=q2"};
    for (size_t s = 0; s < 2; s++) {
        struct device w;
        world_open(&w, shapes[s], two);
        VkSemaphore t = vulkan_timeline(w.device, 0), b = vulkan_binary(w.device),
                    done = vulkan_timeline(w.device, 0);
        /* A signal must find the payload consumed: each waits for the one before to be through. */
        for (uint64_t i = 1; i <= 20; i++) {
            assert_submitted(w.queues[0][0], .wait = i == 1 ? t : done,
                             .wait_value = i == 1 ? 1 : i - 1, .signal = b);
            assert_submitted1(w.queues[0][1], .wait = b,
                              .commands = device_store(&w, 0, 0, (uint32_t)i), .signal = done,
                              .signal_value = i);
        }
        assert_int_equal(world_accepted(&w), 0);
        vulkan_signal(w.device, t, 1);
        vulkan_wait(w.device, done, 20);
        assert_int_equal(w.words[0], 20);
        /* A batch that consumes the semaphore and signals it again. */
        assert_submitted(w.queues[0][0], .signal = b);
        for (uint32_t i = 0; i < 5; i++)
            assert_submitted(w.queues[0][i % 2], .wait = b, .signal = b);
        assert_submitted(w.queues[0][0], .wait = b);
        assert_success(vkDeviceWaitIdle(w.device));
        vulkan_destroy(w.device, t, b, done);
        world_close(&w);
    }
}

/* A trace's stamps go around a batch that ends a frame too, and around no performance query. */
TEST(test_stamps_beside_chained_structs)
{
    const struct {
        VkStructureType sType;
        const void *pNext;
        VkFlags flags;
        uint64_t frame, rest[8];
    } boundary = {.sType = (VkStructureType)1000375001, .frame = 9}; /* VkFrameBoundaryEXT */
    const VkPerformanceQuerySubmitInfoKHR pass = {VK_TYPE(PERFORMANCE_QUERY_SUBMIT_INFO_KHR)};
    const void *chains[] = {NULL, &boundary, &pass};
    /* Stamps on either side, and for the log its end. */
    static const uint32_t expected[] = {4, 4, 1};
    for (size_t i = 0; i < 3; i++) {
        struct device w;
        setenv("VK_BELFRY_MULTI_ENGINE_TRACE", "/dev/null", 1);
        world_open(&w, "SHAPE=q1", two);
        unsetenv("VK_BELFRY_MULTI_ENGINE_TRACE");
        const VkCommandBufferSubmitInfo commands = {VK_TYPE(COMMAND_BUFFER_SUBMIT_INFO),
                                                    .commandBuffer = device_store(&w, 0, 0, 1)};
        const VkSubmitInfo2 info = {VK_TYPE(SUBMIT_INFO_2), .pNext = chains[i],
                                    .commandBufferInfoCount = 1, .pCommandBufferInfos = &commands};
        struct belfry_icd_record record;
        w.icd.record_start(&record, 1);
        assert_success(vkQueueSubmit2(w.queues[0][0], 1, &info, VK_NULL_HANDLE));
        assert_int_equal(w.icd.record_stop(), 1);
        assert_int_equal(record.command_buffers, expected[i]);
        assert_success(vkDeviceWaitIdle(w.device));
        assert_int_equal(w.words[0], 1);
        world_close(&w);
    }
}

/* Structs that Belfry doesn't know ----------------------------------------------------------- */

struct stranger {
    VkStructureType sType;
    const void *pNext;
    uint64_t payload;
};
static const struct stranger stranger = {UNKNOWN_TYPE, NULL, 42};

enum form {
    OLD_FORM,
    NEW_FORM,
    NEW_FORM_DEEP, /* the struct hangs on a command buffer's info */
    BIND_FORM,
    FORMS,
};

static VkResult submit_strange(VkQueue queue, enum form form, struct vulkan_batch b)
{
    const VkPipelineStageFlags stage = VK_PIPELINE_STAGE_ALL_COMMANDS_BIT;
    const VkTimelineSemaphoreSubmitInfo values = {VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO,
                                                  &stranger,
                                                  b.wait ? 1 : 0,
                                                  &b.wait_value,
                                                  b.signal ? 1 : 0,
                                                  &b.signal_value};
    if (form == OLD_FORM) {
        const VkSubmitInfo info = {VK_STRUCTURE_TYPE_SUBMIT_INFO,
                                   &values,
                                   b.wait ? 1 : 0,
                                   &b.wait,
                                   &stage,
                                   b.commands ? 1 : 0,
                                   &b.commands,
                                   b.signal ? 1 : 0,
                                   &b.signal};
        return vkQueueSubmit(queue, 1, &info, b.fence);
    }
    if (form == BIND_FORM) {
        const VkBindSparseInfo info = {VK_TYPE(BIND_SPARSE_INFO),
                                       .pNext = &values,
                                       .waitSemaphoreCount = b.wait ? 1 : 0,
                                       .pWaitSemaphores = &b.wait,
                                       .signalSemaphoreCount = b.signal ? 1 : 0,
                                       .pSignalSemaphores = &b.signal};
        return vkQueueBindSparse(queue, 1, &info, b.fence);
    }
    const VkSemaphoreSubmitInfo wait = {VK_TYPE(SEMAPHORE_SUBMIT_INFO), .semaphore = b.wait,
                                        .value = b.wait_value,
                                        .stageMask = VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT};
    const VkSemaphoreSubmitInfo signal = {VK_TYPE(SEMAPHORE_SUBMIT_INFO), .semaphore = b.signal,
                                          .value = b.signal_value,
                                          .stageMask = VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT};
    const VkCommandBufferSubmitInfo commands = {VK_TYPE(COMMAND_BUFFER_SUBMIT_INFO),
                                                .pNext = form == NEW_FORM_DEEP ? &stranger : NULL,
                                                .commandBuffer = b.commands};
    const VkSubmitInfo2 info = {VK_TYPE(SUBMIT_INFO_2),
                                .pNext = form == NEW_FORM ? &stranger : NULL,
                                .waitSemaphoreInfoCount = b.wait ? 1 : 0,
                                .pWaitSemaphoreInfos = &wait,
                                .commandBufferInfoCount = b.commands ? 1 : 0,
                                .pCommandBufferInfos = &commands,
                                .signalSemaphoreInfoCount = b.signal ? 1 : 0,
                                .pSignalSemaphoreInfos = &signal};
    return vkQueueSubmit2(queue, 1, &info, b.fence);
}

TEST(test_unknown_on_a_shared_queue)
{
    for (enum form form = 0; form < FORMS; form++) {
        struct device w;
        world_open(&w, "SHAPE=q1", two);
        VkQueue a = w.queues[0][0], b = w.queues[0][1];
        VkSemaphore t = vulkan_timeline(w.device, 5), u = vulkan_timeline(w.device, 0),
                    c = vulkan_binary(w.device);
        VkFence fence = vulkan_fence(w.device, false);
        bool bind = form == BIND_FORM;
#define STORE(index, word) (bind ? VK_NULL_HANDLE : device_store(&w, 0, index, word))

        /* Ready: it goes, and counts as any other does. */
        assert_success(submit_strange(
            a, form, (struct vulkan_batch){t, 5, STORE(0, 1), u, 1, VK_NULL_HANDLE}));
        vulkan_wait(w.device, u, 1);
        assert_int_equal(w.words[0], !bind);
        assert_success(
            submit_strange(a, form, (struct vulkan_batch){.commands = STORE(1, 2), .signal = c}));
        assert_submitted(b, .wait = c, .commands = device_store(&w, 0, 2, 3), .signal = u,
                         .signal_value = 2);
        vulkan_wait(w.device, u, 2);
        assert_submitted(a, .signal = c);
        assert_success(submit_strange(
            b, form, (struct vulkan_batch){c, 0, STORE(3, 4), u, 3, VK_NULL_HANDLE}));
        assert_success(vkQueueWaitIdle(b));
        assert_int_equal(vulkan_value(w.device, u), 3);

        /* Not ready: refused with a line, and nothing has happened. */
        uint64_t before = world_accepted(&w);
        lines_begin();
        assert_int_equal(
            submit_strange(a, form, (struct vulkan_batch){t, 6, STORE(4, 5), u, 4, fence}),
            VK_ERROR_UNKNOWN);
        assert_int_equal(lines_end(NULL, 0), 1);
        assert_int_equal(world_accepted(&w), before);
        assert_int_equal(vkGetFenceStatus(w.device, fence), VK_NOT_READY);

        /* Nor may it overtake what its own queue holds. */
        assert_submitted(a, .wait = t, .wait_value = 6, .commands = device_store(&w, 0, 5, 6));
        lines_begin();
        assert_int_equal(submit_strange(a, form, (struct vulkan_batch){.commands = STORE(6, 7)}),
                         VK_ERROR_UNKNOWN);
        assert_int_equal(lines_end(NULL, 0), 1);
        /* The neighbour's may go. */
        assert_success(submit_strange(b, form, (struct vulkan_batch){.commands = STORE(7, 8)}));
        vulkan_signal(w.device, t, 6);
        /* And afterwards the queue is as it was: the fence may be used. */
        assert_success(
            submit_strange(a, form, (struct vulkan_batch){t, 6, STORE(4, 5), u, 4, fence}));
        assert_success(vkWaitForFences(w.device, 1, &fence, VK_TRUE, UINT64_MAX));
        assert_success(vkDeviceWaitIdle(w.device));
        assert_int_equal(w.words[5], 6);
        assert_int_equal(w.words[6], 0);
        assert_int_equal(vulkan_value(w.device, u), 4);
        vulkan_destroy(w.device, t, u, c, fence);
        world_close(&w);
    }
}

/* Each queue has a VkQueue to itself: the driver waits as it would without Belfry. */
TEST(test_unknown_alone)
{
    for (enum form form = 0; form < FORMS; form++) {
        struct device w;
        world_open(&w, "SHAPE=q2 QUIET=1", two);
        VkQueue a = w.queues[0][0], b = w.queues[0][1];
        VkSemaphore t = vulkan_timeline(w.device, 0), u = vulkan_timeline(w.device, 0);
        VkCommandBuffer commands = form == BIND_FORM ? VK_NULL_HANDLE : device_store(&w, 0, 0, 1);
        assert_success(
            submit_strange(a, form, (struct vulkan_batch){t, 1, commands, u, 1, VK_NULL_HANDLE}));
        assert_int_equal(world_accepted(&w), 1);
        assert_int_equal(vulkan_counters(&w.icd).violations[BELFRY_ICD_WAIT_BEFORE_SIGNAL], 1);
        vulkan_expect(&w.icd, BELFRY_ICD_WAIT_BEFORE_SIGNAL, 1);
        assert_submitted(b, .signal = t, .signal_value = 1);
        vulkan_wait(w.device, u, 1);
        assert_success(vkQueueWaitIdle(a));
        assert_success(vkDeviceWaitIdle(w.device));
        vulkan_destroy(w.device, t, u);
        world_close(&w);
    }
}

/* Within one call a later info may wait for what an earlier one signals. */
DEVICE_TEST(test_unknown_that_waits_for_itself, "SHAPE=q1", two)
{
    VkSemaphore t = vulkan_timeline(w->device, 0), b = vulkan_binary(w->device);
    for (uint64_t round = 1; round <= 2; round++) {
        const VkSemaphoreSubmitInfo ops[2] = {{VK_TYPE(SEMAPHORE_SUBMIT_INFO), .semaphore = t,
                                               .value = round,
                                               .stageMask = VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT},
                                              {VK_TYPE(SEMAPHORE_SUBMIT_INFO), .semaphore = b,
                                               .stageMask = VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT}};
        const VkCommandBufferSubmitInfo commands = {VK_TYPE(COMMAND_BUFFER_SUBMIT_INFO),
                                                    .commandBuffer =
                                                        device_store(w, 0, 0, (uint32_t)round)};
        const VkSubmitInfo2 infos[2] = {
            {VK_TYPE(SUBMIT_INFO_2), .pNext = &stranger, .signalSemaphoreInfoCount = 2,
             .pSignalSemaphoreInfos = ops},
            {VK_TYPE(SUBMIT_INFO_2), .waitSemaphoreInfoCount = 2, .pWaitSemaphoreInfos = ops,
             .commandBufferInfoCount = 1, .pCommandBufferInfos = &commands},
        };
        assert_success(vkQueueSubmit2(w->queues[0][0], 2, infos, VK_NULL_HANDLE));
        assert_success(vkQueueWaitIdle(w->queues[0][0]));
        assert_int_equal(w->words[0], round);
    }
    vulkan_destroy(w->device, t, b);
}
