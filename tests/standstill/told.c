/* SPDX-License-Identifier: MIT */
/* What the watchdog tells of programs that stand still, on the test driver, whose work and calls
 * last as long as a test wants. A test plants a standstill, waits for the line that names it, and
 * ends it. */
#include "support/world.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <belfry/belfry.h>
#include <belfry/native_fence.h>

#include "layer/screen.h"
#include "standstill/host_wait.h"
#include "standstill/lines.h"

static const uint32_t three[] = {3, WORLD_END};

static void name(struct device *w, VkObjectType type, uint64_t handle, const char *text)
{
    const VkDebugUtilsObjectNameInfoEXT info = {VK_TYPE(DEBUG_UTILS_OBJECT_NAME_INFO_EXT),
                                                .objectType = type, .objectHandle = handle,
                                                .pObjectName = text};
    assert_success(vkSetDebugUtilsObjectNameEXT(w->device, &info));
}

static void told_open(struct device *w, const char *environment)
{
    told_begin();
    world_open(w, environment, three);
}

static void told_close(struct device *w)
{
    world_close(w);
    told_end();
}

#define TOLD_TEST(name_)                                                                           \
    static void name_##_on(struct device *w);                                                      \
    TEST(name_)                                                                                    \
    {                                                                                              \
        struct device w;                                                                           \
        told_open(&w, "SHAPE=q1 QUIET=1");                                                         \
        name_##_on(&w);                                                                            \
        told_close(&w);                                                                            \
    }                                                                                              \
    static void name_##_on(struct device *w)

static VkSemaphore named_timeline(struct device *w, const char *text)
{
    VkSemaphore semaphore = vulkan_timeline(w->device, 0);
    name(w, VK_OBJECT_TYPE_SEMAPHORE, (uint64_t)semaphore, text);
    return semaphore;
}

/* A host that forgot a signal: told once, and of another one another line. */
TOLD_TEST(test_missing_signal)
{
    VkSemaphore t = named_timeline(w, "frame"), u = named_timeline(w, "other");
    name(w, VK_OBJECT_TYPE_QUEUE, (uint64_t)(uintptr_t)w->queues[0][1], "physics");
    assert_success(vulkan_submit(w->queues[0][1], (struct vulkan_batch){0}));
    assert_submitted(w->queues[0][2], .wait = u, .wait_value = 1);
    assert_submitted(w->queues[0][1], .wait = t, .wait_value = 7, .signal = u, .signal_value = 1);
    told_expect(
        "packet 2 of 3D queue 0:1 'physics' waits for semaphore 'frame' to reach 7 (has 0) for "
        "?.? s: nobody has submitted such a signal; the host may still signal it; 1 more queue "
        "waits for it");
    assert_submitted(w->queues[0][0], .wait = u, .wait_value = 2);
    told_expect("packet 1 of 3D queue 0:0 waits for semaphore 'other' to reach 2 (has 0) *");
    vulkan_signal(w->device, t, 7);
    while (vulkan_value(w->device, u) < 1) /* it may be signalled to 2 once it has its 1 */
        sched_yield();
    vulkan_signal(w->device, u, 2);
    assert_success(vkDeviceWaitIdle(w->device));
    vulkan_destroy(w->device, t, u);
}

/* A packet that is held is told with its command buffer, if the program has named it. */
TOLD_TEST(test_missing_signal_by_names)
{
    VkSemaphore t = named_timeline(w, "frame");
    VkCommandBuffer commands = device_store(w, 0, 0, 7);
    name(w, VK_OBJECT_TYPE_COMMAND_BUFFER, (uint64_t)(uintptr_t)commands, "shadows");
    vkQueueBeginDebugUtilsLabelEXT(
        w->queues[0][1],
        &(VkDebugUtilsLabelEXT){VK_TYPE(DEBUG_UTILS_LABEL_EXT), .pLabelName = "night"});
    assert_submitted(w->queues[0][1], .commands = commands, .wait = t, .wait_value = 7);
    vkQueueEndDebugUtilsLabelEXT(w->queues[0][1]);
    told_expect("packet 1 of 3D queue 0:1, with command buffer 'shadows', in label 'night', waits "
                "for semaphore 'frame' to reach 7 (has 0) for ?.? s: nobody has *");
    vulkan_signal(w->device, t, 7);
    assert_success(vkDeviceWaitIdle(w->device));
    vkDestroySemaphore(w->device, t, NULL);
}

/* A signal that isn't enough is another answer. */
TOLD_TEST(test_missing_signal_that_moves)
{
    VkSemaphore t = named_timeline(w, "frame");
    assert_submitted(w->queues[0][1], .wait = t, .wait_value = 7);
    told_expect("packet 1 of 3D queue 0:1 waits for semaphore 'frame' to reach 7 (has 0) *");
    vulkan_signal(w->device, t, 3);
    told_expect("packet 1 of 3D queue 0:1 waits for semaphore 'frame' to reach 7 (has 3) *");
    vulkan_signal(w->device, t, 7);
    assert_success(vkDeviceWaitIdle(w->device));
    vkDestroySemaphore(w->device, t, NULL);
}

/* Two queues that wait for each other: the host may end it only below what is on its way. */
static void circle(struct device *w, uint64_t signalled, const char *wanted)
{
    VkSemaphore a = named_timeline(w, "a"), b = named_timeline(w, "b");
    const struct vulkan_batch batches[2][2] = {
        {{.wait = b, .wait_value = 1}, {.signal = a, .signal_value = signalled}},
        {{.wait = a, .wait_value = 1}, {.signal = b, .signal_value = 1}},
    };
    for (int q = 0; q < 2; q++) {
        for (int k = 0; k < 2; k++)
            assert_success(vulkan_submit(w->queues[0][q], batches[q][k]));
    }
    told_expect(wanted);
    VkFence fence = vulkan_fence(w->device, false);
    if (signalled == 1) {
        w->icd.lose();
        assert_int_equal(vkGetFenceStatus(w->device, fence), VK_ERROR_DEVICE_LOST);
    } else {
        vulkan_signal(w->device, a, 1);
        assert_success(vkDeviceWaitIdle(w->device));
    }
    vulkan_destroy(w->device, fence, a, b);
}

TOLD_TEST(test_circle)
{
    circle(w, 2, "a circle, unless the host signals semaphore 'a' to 1, for *");
    circle(
        w, 1,
        "a deadlock, which nothing can end, for ?.? s: packet 3 of 3D queue 0:0 waits for "
        "semaphore "
        "'b' to reach 1 (has 0), which packet 4 of 3D queue 0:1 would signal; packet 3 of 3D queue "
        "0:1 waits for semaphore 'a' to reach 1 (has 0), which packet 4 of 3D queue 0:0 would "
        "signal");
}

/* The same with fences: the CPU may set them to anything, so no circle is certain. 'counted': the
 * second queue waits for executions of the first one. */
static void circle_of_fences(struct device *w, bool counted, const char *wanted)
{
    BfDevice device;
    BfCommandQueue queues[2];
    BfFence fences[2], progress;
    assert_success(bfGetDevice(w->device, &device));
    for (int i = 0; i < 2; i++) {
        assert_success(bfCreateCommandQueue(
            device,
            &(BfCommandQueueCreateInfo){.sType = BF_STRUCTURE_TYPE_COMMAND_QUEUE_CREATE_INFO,
                                        .type = BF_COMMAND_LIST_TYPE_COMPUTE},
            &queues[i]));
        assert_success(bfCreateFence(
            device, &(BfFenceCreateInfo){.sType = BF_STRUCTURE_TYPE_FENCE_CREATE_INFO},
            &fences[i]));
        assert_success(bfSetObjectName(BF_OBJECT_TYPE_FENCE, fences[i], i ? "rendered" : "copied"));
    }
    assert_success(bfQueueWait(queues[0], fences[0], 5));
    if (counted) {
        assert_success(bfGetCommandQueueProgressFence(queues[0], &progress));
        for (int i = 0; i < 2; i++)
            assert_success(bfQueueExecute(queues[0], 1,
                                          (VkCommandBuffer[]){device_store(
                                              w, bfGetCommandQueueFamilyIndex(queues[0]), 0, 7)}));
    } else {
        assert_success(bfQueueSignal(queues[0], fences[1], 5));
    }
    assert_success(bfQueueWait(queues[1], counted ? progress : fences[1], counted ? 2 : 5));
    assert_success(bfQueueSignal(queues[1], fences[0], 5));
    told_expect(wanted);
    assert_success(bfSignalFence(fences[0], 5));
    for (int i = 0; i < 2; i++) {
        assert_success(bfQueueWaitIdle(queues[i]));
        bfDestroyFence(fences[i]);
        bfDestroyCommandQueue(queues[i]);
    }
}

TOLD_TEST(test_circle_of_fences)
{
    circle_of_fences(
        w, false,
        "a circle, unless the host signals fence 'copied' to 5, for ?.? s: compute command queue 0 "
        "waits for fence 'copied' to reach 5 (has 0), which compute command queue 1 would signal; "
        "compute command queue 1 waits for fence 'rendered' to reach 5 (has 0), which compute "
        "command queue 0 would signal");
    circle_of_fences(
        w, true,
        "a circle, unless the host signals fence 'copied' to 5, for ?.? s: * waits for fence "
        "'copied' to reach 5 (has 0), which compute command queue 3 would signal; compute command "
        "queue 3 waits for fence * to reach 2 (has 0), which packet 2 of compute command queue 2 "
        "would signal");
}

/* A packet that the GPU doesn't finish, another one that goes in the same call, and one of another
 * queue behind them. */
TOLD_TEST(test_stuck_packet)
{
    VkSemaphore done = vulkan_timeline(w->device, 0);
    VkCommandBuffer commands = device_begin(w, 0, 0), more = device_store(w, 0, 0, 7);
    const VkCommandBufferSubmitInfo buffers[2] = {
        {VK_TYPE(COMMAND_BUFFER_SUBMIT_INFO), .commandBuffer = commands},
        {VK_TYPE(COMMAND_BUFFER_SUBMIT_INFO), .commandBuffer = more}};
    const VkSemaphoreSubmitInfo signal = {VK_TYPE(SEMAPHORE_SUBMIT_INFO), .semaphore = done,
                                          .value = 1,
                                          .stageMask = VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT};
    const VkSubmitInfo2 infos[2] = {
        {VK_TYPE(SUBMIT_INFO_2), .commandBufferInfoCount = 1, .pCommandBufferInfos = &buffers[0]},
        {VK_TYPE(SUBMIT_INFO_2), .commandBufferInfoCount = 1, .pCommandBufferInfos = &buffers[1],
         .signalSemaphoreInfoCount = 1, .pSignalSemaphoreInfos = &signal}};
    name(w, VK_OBJECT_TYPE_COMMAND_BUFFER, (uint64_t)(uintptr_t)commands, "shadows");
    vkCmdBeginDebugUtilsLabelEXT(
        commands, &(VkDebugUtilsLabelEXT){VK_TYPE(DEBUG_UTILS_LABEL_EXT), .pLabelName = "sun"});
    vkCmdFillBuffer(commands, w->buffer, 0, 4, 1);
    vkCmdEndDebugUtilsLabelEXT(commands);
    assert_success(vkEndCommandBuffer(commands));
    assert_success(vulkan_submit(w->queues[0][1], (struct vulkan_batch){0}));
    assert_success(vkDeviceWaitIdle(w->device));
    w->icd.hold_before_signals(true);
    vkQueueBeginDebugUtilsLabelEXT(
        w->queues[0][1],
        &(VkDebugUtilsLabelEXT){VK_TYPE(DEBUG_UTILS_LABEL_EXT), .pLabelName = "frame"});
    assert_success(vkQueueSubmit2(w->queues[0][1], 2, infos, VK_NULL_HANDLE));
    vkQueueEndDebugUtilsLabelEXT(w->queues[0][1]);
    assert_submitted(w->queues[0][0], .wait = done, .wait_value = 1);
    told_expect(
        "the GPU has been busy with packet 2 of 3D queue 0:1 for ?.? s: command buffer 'shadows' "
        "(label 'sun'), in label 'frame'");
    w->icd.hold_before_signals(false);
    assert_success(vkDeviceWaitIdle(w->device));
    vkDestroySemaphore(w->device, done, NULL);
}

/* Its queue is gone, and one of the next has its place in memory, most likely: where some more
 * have gone before, which an allocator may keep. */
TOLD_TEST(test_stuck_packet_of_no_queue)
{
    const BfCommandQueueCreateInfo info = {.sType = BF_STRUCTURE_TYPE_COMMAND_QUEUE_CREATE_INFO};
    BfDevice device;
    BfCommandQueue queue, others[8];
    assert_success(bfGetDevice(w->device, &device));
    VkCommandBuffer commands = device_store(w, 0, 0, 7);
    w->icd.hold_before_signals(true);
    assert_success(bfCreateCommandQueue(device, &info, &queue));
    assert_success(bfQueueExecute(queue, 1, &commands));
    for (int turn = 0; turn < 2; turn++) {
        for (int i = 0; i < 8; i++)
            assert_success(bfCreateCommandQueue(device, &info, &others[i]));
        for (int i = 0; i < 8 && turn == 0; i++)
            bfDestroyCommandQueue(others[i]);
        if (turn == 0)
            bfDestroyCommandQueue(queue);
    }
    told_expect("the GPU has been busy with packet 1 of *");
    w->icd.hold_before_signals(false);
    for (int i = 0; i < 8; i++)
        bfDestroyCommandQueue(others[i]);
    assert_success(vkDeviceWaitIdle(w->device));
    assert_non_null(strstr(told_line, "packet 1 of a destroyed queue for"));
}

static void *submit(void *context)
{
    struct device *w = context;
    pthread_setname_np(pthread_self(), "renderer");
    assert_success(vulkan_submit(w->queues[0][0], (struct vulkan_batch){0}));
    return NULL;
}

/* A call that the driver doesn't return from, and a packet of a neighbour's that waits for it. */
TOLD_TEST(test_stuck_call)
{
    pthread_t threads[2];
    w->icd.set_block(&(struct belfry_icd_block){.command = "vkQueueSubmit2", .first = 1});
    for (int i = 0; i < 2; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, submit, w), 0);
    told_expect(
        "thread * 'renderer' has been in the driver for ?.? s, in vkQueueSubmit on VkQueue 0:0, "
        "which 3 queues share");
    w->icd.release(UINT64_MAX);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    w->icd.set_block(NULL);
    assert_success(vkDeviceWaitIdle(w->device));
}

static void *wait_idle(void *context)
{
    assert_success(vkDeviceWaitIdle(context));
    return NULL;
}

/* A present of a hidden window, with the engine's lock and without it: told of is the thread
 * that is in the driver, not one that waits for it. */
TEST(test_stuck_present)
{
    static const char *const kinds[] = {"SHAPE=q1 QUIET=1", "SHAPE=q1 QUIET=1 INTERNAL_QUEUES=1"};
    for (int i = 0; i < 2; i++) {
        struct device w;
        struct stuck s;
        pthread_t waiter;
        char wanted[200];
        told_open(&w, kinds[i]);
        stuck_begin(&w, &s);
        assert_int_equal(pthread_create(&waiter, NULL, wait_idle, w.device), 0);
        snprintf(wanted, sizeof(wanted),
                 "thread %d '*' has been in the driver for ?.? s, in vkQueuePresentKHR on VkQueue "
                 "0:0, which 3 queues share",
                 s.presenter.id);
        told_expect(wanted);
        stuck_release(&w, &s);
        pthread_join(waiter, NULL);
        stuck_close(&w, &s);
        told_close(&w);
    }
}

/* However many presents a VkQueue has beside each other, none is overlooked. */
TEST(test_stuck_presents)
{
    enum { MORE = 5 };
    struct device w;
    struct stuck first, more[MORE];
    char wanted[100];
    told_open(&w, "SHAPE=q1 QUIET=1 INTERNAL_QUEUES=1");
    stuck_begin(&w, &first);
    told_expect("thread * has been in the driver for *");
    for (int i = 0; i < MORE; i++)
        stuck_begin(&w, &more[i]);
    w.icd.release(MORE); /* all but the last one */
    snprintf(wanted, sizeof(wanted), "thread %d '*", more[MORE - 1].presenter.id);
    told_expect(wanted);
    stuck_release(&w, &first);
    stuck_close(&w, &first);
    for (int i = 0; i < MORE; i++) {
        stuck_release(&w, &more[i]);
        stuck_close(&w, &more[i]);
    }
    told_close(&w);
}

struct acquirer {
    VkDevice device;
    VkSwapchainKHR swapchain;
    VkFence acquired;
};

static void *acquire(void *context)
{
    struct acquirer *a = context;
    uint32_t image;
    pthread_setname_np(pthread_self(), "renderer");
    assert_success(vkAcquireNextImageKHR(a->device, a->swapchain, UINT64_MAX, VK_NULL_HANDLE,
                                         a->acquired, &image));
    return NULL;
}

/* An image that the window system doesn't give back: the last one, which is there once another one
 * has been presented. */
TOLD_TEST(test_stuck_acquire)
{
    struct screen s;
    pthread_t thread;
    uint32_t image;
    screen_open(w, &s, NULL, 0);
    VkFence fence = vulkan_fence(w->device, false);
    for (uint32_t i = 0; i < s.image_count; i++) {
        assert_success(vkAcquireNextImageKHR(w->device, s.swapchain, UINT64_MAX, VK_NULL_HANDLE,
                                             fence, &image));
        assert_success(vkWaitForFences(w->device, 1, &fence, VK_TRUE, UINT64_MAX));
        assert_success(vkResetFences(w->device, 1, &fence));
    }
    struct acquirer a = {w->device, s.swapchain, fence};
    assert_int_equal(pthread_create(&thread, NULL, acquire, &a), 0);
    told_expect("thread * 'renderer' has been in the driver for ?.? s, in vkAcquireNextImageKHR");
    assert_success(screen_present(w->queues[0][0], &s, image, VK_NULL_HANDLE));
    pthread_join(thread, NULL);
    assert_success(vkDeviceWaitIdle(w->device));
    vkDestroyFence(w->device, fence, NULL);
    screen_close(w, &s);
}

/* A thread that waits for what nobody has submitted is told of, though the GPU is busy with other
 * work, and whether or not it looks up now and then (HC-1). Who waits for what is submitted waits
 * for what that waits for. */
TOLD_TEST(test_host_wait)
{
    VkSemaphore t = named_timeline(w, "frame"), u = named_timeline(w, "other");
    pthread_t thread;
    w->icd.hold_before_signals(true);
    assert_success(vulkan_submit(w->queues[0][0], (struct vulkan_batch){0}));
    for (uint64_t i = 1; i <= 2; i++) {
        struct host_wait h = {.device = w->device,
                              .semaphore = t,
                              .value = 2 * i,
                              .timeout_ns = i == 1 ? UINT64_MAX : UINT64_C(20000000)};
        char wanted[200];
        assert_int_equal(pthread_create(&thread, NULL, wait_on_host, &h), 0);
        snprintf(wanted, sizeof(wanted),
                 "thread * 'loader' has waited for ?.? s, in vkWaitSemaphores, for semaphore "
                 "'frame' to reach %d (has %d): nobody has submitted such a signal; the host may "
                 "still signal it",
                 (int)(2 * i), (int)(2 * i - 2));
        told_expect(wanted);
        vulkan_signal(w->device, t, 2 * i);
        pthread_join(thread, NULL);
    }
    assert_submitted(w->queues[0][1], .wait = u, .wait_value = 1, .signal = t, .signal_value = 5);
    struct host_wait h = {
        .device = w->device, .semaphore = t, .value = 5, .timeout_ns = UINT64_MAX};
    assert_int_equal(pthread_create(&thread, NULL, wait_on_host, &h), 0);
    told_expect("packet 1 of 3D queue 0:1 waits for semaphore 'other' *");
    assert_submitted(w->queues[0][2], .wait = u, .wait_value = 2); /* later than the thread */
    told_expect("packet 1 of 3D queue 0:2 waits for semaphore 'other' *");
    vulkan_signal(w->device, u, 2);
    w->icd.hold_before_signals(false);
    pthread_join(thread, NULL);
    assert_success(vkDeviceWaitIdle(w->device));
    vulkan_destroy(w->device, t, u);
}

/* A value that is signalled while the watchdog rests is told, and a thread that goes on and waits
 * again has to wait for twice as long (CW-1). */
TOLD_TEST(test_host_wait_that_moves)
{
    VkSemaphore t = named_timeline(w, "frame");
    struct host_wait h = {
        .device = w->device, .semaphore = t, .value = 10, .timeout_ns = UINT64_MAX, .times = 3};
    pthread_t thread;
    double least_s = 0.1;
    assert_int_equal(pthread_create(&thread, NULL, wait_on_host, &h), 0);
    for (uint64_t i = 1; i <= 3; i++, least_s *= 2) {
        double waited_s = 0;
        told_expect("thread * 'loader' has waited for *: nobody has submitted such a signal; *");
        assert_int_equal(sscanf(told_line, "thread %*u 'loader' has waited for %lf", &waited_s), 1);
        assert_true(waited_s >= least_s);
        if (i == 1) {
            told_await_sleep(true);
            vulkan_signal(w->device, t, 3);
            told_expect(
                "thread * 'loader' has waited for *, for semaphore 'frame' to reach 10 (has "
                "3)*");
        }
        vulkan_signal(w->device, t, 10 * i);
    }
    pthread_join(thread, NULL);
    vkDestroySemaphore(w->device, t, NULL);
}

struct poller {
    struct host_wait waiting;
    pthread_t thread;
};

/* Many threads that ask again and again, each for something of its own: each is told of, once. One
 * that polls for an image meanwhile hides none of them. */
TOLD_TEST(test_host_waits)
{
    enum { POLLERS = 5 };
    VkSemaphore t = named_timeline(w, "frame");
    struct poller pollers[POLLERS];
    bool told[POLLERS] = {false};
    for (uint64_t i = 0; i < POLLERS; i++) {
        pollers[i].waiting = (struct host_wait){.device = w->device,
                                                .semaphore = t,
                                                .value = i + 1,
                                                .timeout_ns = 1000000,
                                                .pause_ns = 300000 * (i + 1)};
        assert_int_equal(
            pthread_create(&pollers[i].thread, NULL, wait_on_host, &pollers[i].waiting), 0);
    }
    for (int i = 0; i < POLLERS; i++) {
        unsigned value = 0;
        told_expect(
            "thread * 'loader' has waited for *, for semaphore 'frame' to reach ? (has 0)*");
        assert_int_equal(sscanf(strstr(told_line, " reach "), " reach %u", &value), 1);
        assert_true(value >= 1 && value <= POLLERS && !told[value - 1]);
        told[value - 1] = true;
    }
    vulkan_signal(w->device, t, POLLERS);
    for (int i = 0; i < POLLERS; i++)
        pthread_join(pollers[i].thread, NULL);
    vkDestroySemaphore(w->device, t, NULL);
}

/* A fence that no submission was given: told when nothing is left that could signal it; once it
 * is, nobody wakes up for it. */
TOLD_TEST(test_host_wait_for_fence)
{
    VkFence fence = vulkan_fence(w->device, false);
    pthread_t thread;
    struct host_wait h = {.device = w->device, .fence = fence, .timeout_ns = UINT64_MAX};
    name(w, VK_OBJECT_TYPE_FENCE, (uint64_t)fence, "uploaded");
    assert_int_equal(pthread_create(&thread, NULL, wait_on_host, &h), 0);
    told_expect("thread * 'loader' has waited for ?.? s, in vkWaitForFences, for fence 'uploaded': "
                "no submission is left that would signal it, unless an image is being acquired");
    told_await_sleep(true);
    assert_success(vkQueueSubmit2(w->queues[0][0], 0, NULL, fence));
    pthread_join(thread, NULL);
    assert_success(vkDeviceWaitIdle(w->device));
    vkDestroyFence(w->device, fence, NULL);
}

/* What a VkQueue has accepted behind a wait for outside is no GPU's work that lasts: told is who is
 * to signal, once, and how many wait because of it. */
TEST(test_outside)
{
    static const uint32_t five[] = {5, WORLD_END};
    struct device w;
    told_begin();
    world_open(&w, "SHAPE=q4 QUIET=1", five); /* the first and the last share a VkQueue */
    VkSemaphore mine = world_exportable(&w), theirs = world_import_of(&w, mine),
                t = named_timeline(&w, "passed on");
    name(&w, VK_OBJECT_TYPE_SEMAPHORE, (uint64_t)mine, "theirs");
    assert_submitted(w.queues[0][1], .wait = mine, .wait_value = 3, .signal = t, .signal_value = 1);
    assert_submitted(w.queues[0][1], .signal = t, .signal_value = 2);
    assert_submitted(w.queues[0][2], .wait = t, .wait_value = 1);
    assert_submitted(w.queues[0][0], .wait = t, .wait_value = 2);
    told_expect("packet 1 of 3D queue 0:1 has waited on the GPU for ?.? s: semaphore 'theirs' is "
                "to reach 3 (has 0), by the host or by somebody outside of the device; 2 more "
                "queues wait for it");
    /* The host is to signal something else. */
    assert_submitted(w.queues[0][4], .wait = t, .wait_value = 3);
    told_expect("packet 1 of 3D queue 0:4 waits for semaphore 'passed on' to reach 3 (has 0) for "
                "?.? s: nobody has submitted such a signal; the host may still signal it");
    vulkan_signal(w.device, theirs, 3);
    while (vulkan_value(w.device, t) < 2)
        sched_yield();
    vulkan_signal(w.device, t, 3);
    assert_success(vkDeviceWaitIdle(w.device));
    vulkan_destroy(w.device, mine, theirs, t);
    told_close(&w);
}

/* A semaphore that others may be given, and weren't: nobody outside keeps who waits for it. */
TEST(test_exportable)
{
    struct device w;
    VkSemaphore a;
    told_open(&w, "SHAPE=q2 QUIET=1");
    a = world_exportable(&w);
    w.icd.hold_before_signals(true);
    assert_submitted(w.queues[0][0], .commands = device_store(&w, 0, 0, 7), .signal = a,
                     .signal_value = 1);
    assert_submitted(w.queues[0][1], .wait = a, .wait_value = 1);
    told_expect("the GPU has been busy with packet 1 of 3D queue 0:0 for *");
    w.icd.hold_before_signals(false);
    assert_success(vkDeviceWaitIdle(w.device));
    vkDestroySemaphore(w.device, a, NULL);
    told_close(&w);
}

/* SS-6: half a second in which the process is stopped. */
TOLD_TEST(test_stopped)
{
    VkSemaphore t = named_timeline(w, "frame");
    pid_t self = getpid();
    told_await_sleep(true);
    assert_submitted(w->queues[0][0], .wait = t, .wait_value = 1);
    told_await_sleep(false); /* it has seen that */
    pid_t other = fork();
    if (other == 0) {
        kill(self, SIGSTOP);
        nanosleep(&(struct timespec){.tv_nsec = 500000000}, NULL);
        kill(self, SIGCONT);
        _exit(0);
    }
    assert_int_equal(waitpid(other, NULL, 0), other);
    told_expect(
        "packet 1 of 3D queue 0:0 waits for semaphore 'frame' to reach 1 (has 0) for 0.[0-3] s: *");
    vulkan_signal(w->device, t, 1);
    assert_success(vkDeviceWaitIdle(w->device));
    vkDestroySemaphore(w->device, t, NULL);
}

/* Nobody wakes it while there is nothing to do; what comes then is seen. */
TOLD_TEST(test_rest)
{
    VkSemaphore t = named_timeline(w, "frame");
    for (uint64_t i = 1; i <= 2; i++) {
        told_await_sleep(true);
        assert_submitted(w->queues[0][0], .wait = t, .wait_value = i);
        told_expect("packet * of 3D queue 0:0 waits for semaphore 'frame' *");
        vulkan_signal(w->device, t, i);
        assert_success(vkDeviceWaitIdle(w->device));
    }
    told_await_sleep(true);
    vkDestroySemaphore(w->device, t, NULL);
}
