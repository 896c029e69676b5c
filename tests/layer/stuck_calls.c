/* SPDX-License-Identifier: MIT */
/* L-3 of each call that wants a VkQueue which another call has, stuck in the driver: whoever waits
 * for that one hears of the device's loss, though nobody tells him, and who comes after the loss
 * waits for nothing. */
#include "screen.h"

#include "belfry/belfry.h"
#include "belfry/native_fence.h"
#include "belfry/preemption.h"
#include "belfry/user_mode_submission.h"
#include "support/asleep.h"

static const uint32_t four[] = {4, WORLD_END};

/* What the calls are made with. */
struct scene {
    struct device *w;
    BfDevice device;
    BfCommandQueue queue, gone; /* the latter is destroyed */
    BfFenceLogReader reader;
    struct screen screen;
    uint32_t image;
    VkCommandBuffer commands;
    VkSemaphore held, drawn; /* frees what is on the VkQueue, and signals that */
};

/* Each: VK_SUCCESS where a call can't tell, or needn't. */
static VkResult present(struct scene *s)
{
    return screen_present(s->w->queues[0][1], &s->screen, s->image, VK_NULL_HANDLE);
}

/* Its image is drawn by what has been set free, and waits for the VkQueue. */
static VkResult present_behind(struct scene *s)
{
    vulkan_signal(s->w->device, s->held, 1);
    return screen_present(s->w->queues[0][1], &s->screen, s->image, s->drawn);
}

static VkResult label(struct scene *s)
{
    const VkDebugUtilsLabelEXT info = {VK_TYPE(DEBUG_UTILS_LABEL_EXT), .pLabelName = "label"};
    vkQueueBeginDebugUtilsLabelEXT(s->w->queues[0][1], &info);
    vkQueueInsertDebugUtilsLabelEXT(s->w->queues[0][1], &info);
    vkQueueEndDebugUtilsLabelEXT(s->w->queues[0][1]);
    return VK_SUCCESS;
}

static VkResult queue_idle(struct scene *s)
{
    return vkQueueWaitIdle(s->w->queues[0][3]); /* which has presented: the driver alone can tell */
}

static VkResult device_idle(struct scene *s)
{
    return vkDeviceWaitIdle(s->w->device);
}

/* AC-2: what somebody outside may see. */
static VkResult signal_host(struct scene *s)
{
    const VkSemaphoreSignalInfo info = {VK_TYPE(SEMAPHORE_SIGNAL_INFO), .semaphore = s->held,
                                        .value = 1};
    vkSignalSemaphore(s->w->device, &info);
    return VK_SUCCESS;
}

static VkResult execute(struct scene *s)
{
    return bfQueueExecute(s->queue, 1, &s->commands);
}

static VkResult queue_create(struct scene *s)
{
    const BfCommandQueueCreateInfo info = {.sType = BF_STRUCTURE_TYPE_COMMAND_QUEUE_CREATE_INFO};
    BfCommandQueue queue = NULL;
    VkResult result = bfCreateCommandQueue(s->device, &info, &queue);
    assert_null(queue);
    return result;
}

static VkResult queue_destroy(struct scene *s)
{
    bfDestroyCommandQueue(s->gone);
    s->gone = NULL;
    return VK_SUCCESS;
}

static VkResult priority_set(struct scene *s)
{
    return bfSetCommandQueuePriority(s->queue, BF_COMMAND_QUEUE_PRIORITY_HIGH);
}

static VkResult suspend(struct scene *s)
{
    bfSuspendCommandQueue(s->queue);
    return VK_SUCCESS;
}

static VkResult log_read(struct scene *s)
{
    BfFenceLogRecord record;
    uint32_t count;
    uint64_t lost;
    return bfReadFenceLog(s->reader, 1, &record, &count, &lost);
}

static VkResult log_grow(struct scene *s)
{
    return bfSetFenceLogEntries(s->reader, 512);
}

static VkResult progress_fence(struct scene *s)
{
    BfFence fence;
    return bfGetCommandQueueProgressFence(s->queue, &fence);
}

static VkResult preempt(struct scene *s)
{
    uint64_t id;
    return bfRequestPreemption(s->queue, &id);
}

static VkResult submit_other(struct scene *s)
{
    return vulkan_submit(s->w->queues[0][1], (struct vulkan_batch){0});
}

static VkResult submit_labelled(struct scene *s)
{
    label(s);
    return submit_other(s);
}

static VkResult submit_bf(struct scene *s)
{
    const VkSubmitInfo2 batch = {VK_TYPE(SUBMIT_INFO_2)};
    return bfVkQueueSubmit(s->device, s->w->queues[0][0], 1, &batch, VK_NULL_HANDLE);
}

static VkResult lock_bf(struct scene *s)
{
    return bfLockVkQueue(s->device, s->w->queues[0][0]);
}

static VkResult present_stuck(struct scene *s)
{
    return screen_present(s->w->queues[0][0], &s->screen, s->image, VK_NULL_HANDLE);
}

static VkResult submit_stuck(struct scene *s)
{
    return vulkan_submit(s->w->queues[0][0], (struct vulkan_batch){0});
}

/* What is stuck, and where. */
struct stuck_kind {
    const char *environment, *command;
    VkResult (*call)(struct scene *s);
    bool serialized; /* the setting */
};
static const struct stuck_kind
    submits = {"SHAPE=q1", "vkQueueSubmit2", submit_stuck, false},
    /* where a lock is held over calls that go through the layers above */
    above = {"SHAPE=q1", "vkQueueSubmit2", submit_bf, false},
    /* on a VkQueue of its own, but no other call may be in the driver */
    alone = {"SHAPE=q2", "vkQueueSubmit2", submit_stuck, true},
    /* without Belfry's lock */
    presents = {"SHAPE=q1 INTERNAL_QUEUES=1", "vkQueuePresentKHR", present_stuck, false};

static const struct {
    VkResult (*call)(struct scene *s);
    VkResult result; /* of a lost device */
    const struct stuck_kind *kind;
} calls[] = {
    {submit_bf, VK_ERROR_DEVICE_LOST, &above},
    {lock_bf, VK_ERROR_DEVICE_LOST, &above},
    {submit_other, VK_ERROR_DEVICE_LOST, &alone},
    {label, VK_SUCCESS, &presents},
    {submit_labelled, VK_ERROR_DEVICE_LOST, &presents},
    {device_idle, VK_ERROR_DEVICE_LOST, &presents},
    {present_behind, VK_ERROR_DEVICE_LOST, &submits},
    {present, VK_ERROR_DEVICE_LOST, &submits},
    {label, VK_SUCCESS, &submits},
    {queue_idle, VK_ERROR_DEVICE_LOST, &submits},
    {device_idle, VK_ERROR_DEVICE_LOST, &submits},
    {signal_host, VK_SUCCESS, &submits},
    {execute, VK_ERROR_DEVICE_LOST, &submits},
    {queue_create, VK_ERROR_DEVICE_LOST, &submits},
    {queue_destroy, VK_SUCCESS, &submits},
    {priority_set, VK_ERROR_DEVICE_LOST, &submits},
    {suspend, VK_SUCCESS, &submits},
    {log_read, VK_ERROR_DEVICE_LOST, &submits},
    {log_grow, VK_ERROR_DEVICE_LOST, &submits},
    {preempt, VK_ERROR_DEVICE_LOST, &submits},
    {progress_fence, VK_ERROR_DEVICE_LOST, &submits},
};
#define CALLS (sizeof(calls) / sizeof(calls[0]))

struct caller {
    struct scene *scene;
    uint32_t call;
    const struct stuck_kind *kind;
    VkResult result;
    _Atomic int tid;
    _Atomic bool returned;
    pthread_t thread;
};

static void *caller_run(void *argument)
{
    struct caller *c = argument;
    c->tid = gettid();
    c->result = calls[c->call].call(c->scene);
    c->returned = true;
    return NULL;
}

static void *stuck_run(void *argument)
{
    struct caller *c = argument;
    c->result = c->kind->call(c->scene);
    c->returned = true;
    return NULL;
}

static void image_acquire(struct scene *s)
{
    VkFence acquired = vulkan_fence(s->w->device, false);
    assert_success(vkAcquireNextImageKHR(s->w->device, s->screen.swapchain, UINT64_MAX,
                                         VK_NULL_HANDLE, acquired, &s->image));
    assert_success(vkWaitForFences(s->w->device, 1, &acquired, VK_TRUE, UINT64_MAX));
    vkDestroyFence(s->w->device, acquired, NULL);
}

/* With a semaphore for others: Belfry waits for it, too, and hears of a loss. */
static void scene_open(struct scene *s, struct device *w, bool exported)
{
    const VkExportSemaphoreCreateInfo external = {
        VK_TYPE(EXPORT_SEMAPHORE_CREATE_INFO),
        .handleTypes = VK_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD_BIT};
    const VkSemaphoreTypeCreateInfo timeline = {VK_TYPE(SEMAPHORE_TYPE_CREATE_INFO),
                                                .pNext = exported ? &external : NULL,
                                                .semaphoreType = VK_SEMAPHORE_TYPE_TIMELINE};
    const BfCommandQueueCreateInfo info = {.sType = BF_STRUCTURE_TYPE_COMMAND_QUEUE_CREATE_INFO,
                                           .flags = BF_COMMAND_QUEUE_ALLOW_DYNAMIC_PRIORITY_BIT};
    BfFenceLogReaderCreateInfo reader = {.sType = BF_STRUCTURE_TYPE_FENCE_LOG_READER_CREATE_INFO,
                                         .type = BF_FENCE_LOG_TYPE_SIGNALS,
                                         .entries = 2};
    *s = (struct scene){.w = w};
    assert_success(bfGetDevice(w->device, &s->device));
    assert_success(bfCreateCommandQueue(s->device, &info, &s->queue));
    assert_success(bfCreateCommandQueue(s->device, &info, &s->gone));
    reader.queue = s->queue;
    assert_success(bfCreateFenceLogReader(s->device, &reader, &s->reader));
    screen_open(w, &s->screen, NULL, 0);
    image_acquire(s);
    assert_success(screen_present(w->queues[0][3], &s->screen, s->image, VK_NULL_HANDLE));
    image_acquire(s);
    assert_success(vkCreateSemaphore(
        w->device, &(VkSemaphoreCreateInfo){VK_TYPE(SEMAPHORE_CREATE_INFO), .pNext = &timeline},
        NULL, &s->held));
    s->drawn = vulkan_binary(w->device);
    assert_submitted(w->queues[0][2], .wait = s->held, .wait_value = 1, .signal = s->drawn);
    s->commands = device_store(w, 0, 0, 7);
    /* What needs the driver at its first call. */
    uint64_t id;
    assert_success(bfRequestPreemption(s->queue, &id));
    assert_success(vkQueueWaitIdle(w->queues[0][0]));
}

static void scene_close(struct scene *s)
{
    bfDestroyFenceLogReader(s->reader);
    bfDestroyCommandQueue(s->queue);
    screen_close(s->w, &s->screen);
    vulkan_destroy(s->w->device, s->held, s->drawn);
}

/* 'known': the loss is, before the call is made. */
static void stuck_try(struct device *w, uint32_t call, const struct stuck_kind *kind, bool known)
{
    struct scene s;
    scene_open(&s, w, calls[call].call == signal_host);
    struct caller stuck = {.scene = &s, .kind = kind}, c = {.scene = &s, .call = call};
    w->icd.set_block(&(struct belfry_icd_block){.command = kind->command, .first = 1});
    assert_int_equal(pthread_create(&stuck.thread, NULL, stuck_run, &stuck), 0);
    w->icd.await_blocked(1);
    if (known) {
        VkFence fence = vulkan_fence(w->device, false);
        w->icd.lose();
        assert_int_equal(vkGetFenceStatus(w->device, fence), VK_ERROR_DEVICE_LOST);
        vkDestroyFence(w->device, fence, NULL);
    }
    assert_int_equal(pthread_create(&c.thread, NULL, caller_run, &c), 0);
    if (!known) {
        while (!c.returned && (!c.tid || thread_state(c.tid) != 'S'))
            sched_yield();
        w->icd.lose();
    }
    pthread_join(c.thread, NULL);
    if (calls[call].result != VK_SUCCESS)
        assert_int_equal(c.result, calls[call].result);
    assert_false(stuck.returned);
    w->icd.release(UINT64_MAX);
    pthread_join(stuck.thread, NULL);
    assert_int_equal(stuck.result, VK_ERROR_DEVICE_LOST);
    w->icd.set_block(NULL);
    scene_close(&s);
}

static void all_try(bool known)
{
    for (uint32_t i = 0; i < CALLS; i++) {
        const struct stuck_kind *kind = calls[i].kind;
        struct device w;
        if (kind->serialized)
            setenv("VK_BELFRY_MULTI_ENGINE_SERIALIZE_SUBMITS", "true", 1);
        world_open(&w, kind->environment, four);
        unsetenv("VK_BELFRY_MULTI_ENGINE_SERIALIZE_SUBMITS");
        print_message("call %u\n", i);
        stuck_try(&w, i, kind, known);
        world_close(&w);
    }
}

TEST(test_who_waits_for_a_stuck_call_hears_of_a_loss)
{
    all_try(false);
}

TEST(test_who_comes_after_a_loss_waits_for_no_stuck_call)
{
    all_try(true);
}

/* What a stuck bind has been given stays until the device's end, whoever destroys it. */
struct bind {
    VkQueue queue;
    VkBuffer buffer;
    VkDeviceMemory memory;
    VkResult result;
    _Atomic bool returned;
};

static void *bind_run(void *argument)
{
    struct bind *b = argument;
    const VkSparseMemoryBind block = {.size = 65536, .memory = b->memory};
    const VkSparseBufferMemoryBindInfo buffer = {b->buffer, 1, &block};
    const VkBindSparseInfo info = {VK_TYPE(BIND_SPARSE_INFO), .bufferBindCount = 1,
                                   .pBufferBinds = &buffer};
    b->result = vkQueueBindSparse(b->queue, 1, &info, VK_NULL_HANDLE);
    b->returned = true;
    return NULL;
}

DEVICE_TEST(test_what_a_stuck_bind_has_stays, "SHAPE=q1", four)
{
    const VkBufferCreateInfo info = {VK_TYPE(BUFFER_CREATE_INFO),
                                     .flags = VK_BUFFER_CREATE_SPARSE_BINDING_BIT, .size = 65536,
                                     .usage = VK_BUFFER_USAGE_TRANSFER_DST_BIT};
    const VkMemoryAllocateInfo memory = {VK_TYPE(MEMORY_ALLOCATE_INFO), .allocationSize = 65536};
    struct bind b = {.queue = w->queues[0][0]};
    VkImage image;
    VkDeviceMemory of_image;
    VkImageView view;
    pthread_t thread;
    assert_success(vkCreateBuffer(w->device, &info, NULL, &b.buffer));
    assert_success(vkAllocateMemory(w->device, &memory, NULL, &b.memory));
    image = vulkan_image(w->physical, w->device, VK_FORMAT_R8G8B8A8_UNORM, 4, VK_SAMPLE_COUNT_1_BIT,
                         VK_IMAGE_USAGE_SAMPLED_BIT, &of_image, &view);
    w->icd.set_block(&(struct belfry_icd_block){.command = "vkQueueBindSparse", .first = 1});
    assert_int_equal(pthread_create(&thread, NULL, bind_run, &b), 0);
    w->icd.await_blocked(1);
    VkFence fence = vulkan_fence(w->device, false);
    w->icd.lose();
    assert_int_equal(vkGetFenceStatus(w->device, fence), VK_ERROR_DEVICE_LOST);
    assert_false(b.returned);
    vkDestroyFence(w->device, fence, NULL);
    vkDestroyImageView(w->device, view, NULL);
    const uint64_t buffers = w->icd.live("buffer"), memories = w->icd.live("device memory"),
                   images = w->icd.live("image");
    vkDestroyBuffer(w->device, b.buffer, NULL);
    vkDestroyImage(w->device, image, NULL);
    vkFreeMemory(w->device, b.memory, NULL);
    vkFreeMemory(w->device, of_image, NULL);
    assert_int_equal(w->icd.live("buffer"), buffers);
    assert_int_equal(w->icd.live("image"), images);
    assert_int_equal(w->icd.live("device memory"), memories);
    w->icd.release(UINT64_MAX); /* the driver comes to what it was given */
    pthread_join(thread, NULL);
    assert_int_equal(b.result, VK_ERROR_DEVICE_LOST);
    w->icd.set_block(NULL);
}
