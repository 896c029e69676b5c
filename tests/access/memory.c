/* SPDX-License-Identifier: MIT */
/* A-4 (access/access.h): each allocation of a program that uses everything made to fail. The check
 * ends, or the call that may say so says so; nothing is reported that is not so, and nothing leaks.
 */
#include "check.h"

#include "access/vulkan.h"
#include "base/message.h"

static uint32_t countdown; /* 0: none fails */
static int64_t alive;

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *memory, size_t size);
void __real_free(void *memory);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *memory, size_t size);
void __wrap_free(void *memory);

static bool fails(void)
{
    return countdown && --countdown == 0;
}

void *__wrap_malloc(size_t size)
{
    void *memory = fails() ? NULL : __real_malloc(size);
    alive += memory != NULL;
    return memory;
}

void *__wrap_calloc(size_t count, size_t size)
{
    void *memory = fails() ? NULL : __real_calloc(count, size);
    alive += memory != NULL;
    return memory;
}

void *__wrap_realloc(void *memory, size_t size)
{
    void *grown = fails() ? NULL : __real_realloc(memory, size);
    alive += grown && !memory;
    return grown;
}

void __wrap_free(void *memory)
{
    alive -= memory != NULL;
    __real_free(memory);
}

#define HANDLE(type, n) ((type)(uintptr_t)(0x99000 + 16 * (n)))

static uint32_t reports, told;

static void count_report(void *context, const struct bf_access_report *report)
{
    reports++;
}

/* What one would do; in order, but for a pair of writes at the end. */
static void program(struct bf_access *access)
{
    static const int event;
    struct bf_access_queue *a = bf_access_queue_add(access, "a", BF_ACCESS_COPY),
                           *b = bf_access_queue_add(access, "b", BF_ACCESS_COMPUTE_3D);
    struct bf_access_fence *fence = bf_access_fence_add(access, 0);
    const VkCommandBuffer buffers[] = {HANDLE(VkCommandBuffer, 1), HANDLE(VkCommandBuffer, 2)};
    const VkQueue queue = HANDLE(VkQueue, 3);
    const VkSemaphore timeline = HANDLE(VkSemaphore, 4), binary = HANDLE(VkSemaphore, 5);
    const VkFence vkfence = HANDLE(VkFence, 6);
    const VkSwapchainKHR swapchain = HANDLE(VkSwapchainKHR, 7);
    VkCommandBuffer many[17]; /* more than have their room at hand */
    for (uint32_t i = 0; i < 17; i++)
        many[i] = buffers[0];
    const struct bf_access_image_info image = {VK_IMAGE_TYPE_2D, VK_FORMAT_R8_UNORM, 4, 2, false};
    bf_access_buffer_add(access, CHECK_BUFFER(1), 4096);
    bf_access_buffer_name(access, CHECK_BUFFER(2), "never told");
    bf_access_image_add(access, CHECK_IMAGE(1), &image);
    bf_access_vkqueue_add(access, queue, "vk", BF_ACCESS_COMPUTE_3D);
    bf_access_semaphore_add(access, timeline, true, 0);
    bf_access_semaphore_add(access, binary, false, 0);
    struct bf_access_recording *recordings[2];
    for (uint32_t i = 0; i < 2; i++) {
        recordings[i] = bf_access_recording_create(access, buffers[i]);
        for (uint32_t n = 0; n < 20; n++)
            bf_access_record_bytes(recordings[i], CHECK_BUFFER(1), 32 * n, 16, BF_ACCESS_WRITE,
                                   "w");
        bf_access_record_area(recordings[i], CHECK_IMAGE(1), &bf_access_area_all, BF_ACCESS_WRITE,
                              "w");
        bf_access_record_transition(recordings[i], CHECK_IMAGE(1), &bf_access_area_all,
                                    BF_RESOURCE_STATE_COMMON, BF_RESOURCE_STATE_COMMON, "w");
        if (i)
            bf_access_record_secondary(recordings[i], buffers[0]);
        bf_access_recording_close(recordings[i]);
    }
    const BfResourceUse use = {.buffer = CHECK_BUFFER(2), .size = 16, .write = true};
    for (uint32_t i = 0; i < 6; i++) /* as many lists of uses as need room to be made */
        told += bf_access_queue_uses(a, 1, &use) == VK_ERROR_OUT_OF_HOST_MEMORY;
    bf_access_queue_execute(a, 2, buffers);
    bf_access_queue_execute(a, 17, many);
    bf_access_queue_signal(a, fence, 1);
    struct bf_access_fence *imported = bf_access_semaphore_import(access, timeline);
    bf_access_queue_wait(b, fence, 1);
    bf_access_queue_execute(b, 1, buffers);
    bf_access_queue_signal(b, imported, 7);
    const VkSemaphoreSubmitInfo wait = {.semaphore = timeline, .value = 7},
                                signal = {.semaphore = binary};
    const VkCommandBufferSubmitInfo both[] = {{.commandBuffer = buffers[0]},
                                              {.commandBuffer = buffers[1]}};
    const VkSubmitInfo2 batch = {.waitSemaphoreInfoCount = 1,
                                 .pWaitSemaphoreInfos = &wait,
                                 .commandBufferInfoCount = 2,
                                 .pCommandBufferInfos = both,
                                 .signalSemaphoreInfoCount = 1,
                                 .pSignalSemaphoreInfos = &signal};
    bf_access_vkqueue_submit2(access, queue, 1, &batch, vkfence);
    const VkPresentInfoKHR present = {.waitSemaphoreCount = 1,
                                      .pWaitSemaphores = &binary,
                                      .swapchainCount = 1,
                                      .pSwapchains = &swapchain};
    bf_access_present(access, &present);
    bf_access_acquire(access, swapchain, binary, VK_NULL_HANDLE);
    bf_access_vkfence_seen(access, vkfence);
    bf_access_vkfence_external(access, vkfence);
    bf_access_event_set(&event, false, fence, 1);
    bf_access_event_seen(access, &event);
    bf_access_fence_remove(imported);
    bf_access_queue_execute(a, 1, buffers);
    bf_access_queue_remove(a);
    bf_access_queue_execute(b, 1, buffers); /* two writers: of a buffer, and of an image */
    for (uint32_t i = 0; i < 2; i++)
        bf_access_recording_destroy(recordings[i]);
    bf_access_fence_remove(fence);
}

/* Three queues in perfect order, where one waits before the signal is there: what it then comes
 * after is put together, and what was held behind the wait runs, in one call. */
static void held_program(struct bf_access *access)
{
    struct bf_access_queue *a = bf_access_queue_add(access, "a", BF_ACCESS_COPY),
                           *b = bf_access_queue_add(access, "b", BF_ACCESS_COMPUTE_3D),
                           *c = bf_access_queue_add(access, "c", BF_ACCESS_COMPUTE_3D);
    struct bf_access_fence *first = bf_access_fence_add(access, 0),
                           *second = bf_access_fence_add(access, 0);
    const VkCommandBuffer buffer = HANDLE(VkCommandBuffer, 1), other = HANDLE(VkCommandBuffer, 2);
    struct bf_access_recording *recording = bf_access_recording_create(access, buffer),
                               *others = bf_access_recording_create(access, other);
    bf_access_record_bytes(recording, CHECK_BUFFER(1), 0, 16, BF_ACCESS_WRITE, "w");
    bf_access_record_bytes(others, CHECK_BUFFER(2), 0, 16, BF_ACCESS_WRITE, "w");
    bf_access_recording_close(recording);
    bf_access_recording_close(others);
    bf_access_queue_execute(c, 1, &other);
    bf_access_queue_signal(c, first, 1);
    bf_access_queue_wait(b, first, 1);
    bf_access_queue_wait(b, second, 1);
    bf_access_queue_execute(b, 1, &buffer);
    bf_access_queue_execute(a, 1, &buffer);
    bf_access_queue_signal(a, second, 1);
    bf_access_recording_destroy(recording);
    bf_access_recording_destroy(others);
    bf_access_fence_remove(first);
    bf_access_fence_remove(second);
}

/* Makes the n-th allocation fail of a program that deserves so many reports. False: there are not
 * so many. */
static bool run(void (*run_program)(struct bf_access *), uint32_t deserved, uint32_t n)
{
    const struct bf_access_info info = {.layer = true, .report = count_report};
    struct bf_access *access;
    reports = told = 0;
    alive = 0;
    countdown = n;
    if (bf_access_create(&info, &access) != VK_SUCCESS) {
        assert_int_equal(countdown, 0);
        assert_int_equal(alive, 0);
        return true;
    }
    run_program(access);
    bool failed = n && countdown == 0;
    countdown = 0;
    struct bf_access_fence *fence = bf_access_fence_add(access, 0);
    assert_int_equal(failed, told || !fence);
    assert_true(reports == deserved || (!fence && reports < deserved));
    bf_access_destroy(access);
    assert_int_equal(alive, 0);
    return failed;
}

TEST(test_every_allocation_may_fail)
{
    bf_message_set_level(BF_MESSAGE_NONE);
    assert_false(run(program, 2, 0));
    uint32_t n = 1;
    while (run(program, 2, n))
        n++;
    print_message("%u allocations\n", n - 1);
    assert_true(n > 100);
    assert_false(run(held_program, 0, 0));
    n = 1;
    while (run(held_program, 0, n))
        n++;
    assert_true(n > 20);
}
