/* SPDX-License-Identifier: MIT */
/* What a call means when it returns (scheduler/acceptance.h), on a driver whose calls block: what
 * is promised has been accepted by then, nobody waits for more than that, and a lost device is told
 * at once. */
#include "support/world.h"
#include "support/asleep.h"
#include "support/lines.h"

#include <sys/resource.h>
#include <time.h>

#include "belfry/preemption.h"
#include "belfry/user_mode_submission.h"

static const uint32_t three[] = {3, WORLD_END};

/* A call on a thread of its own, and what the driver had accepted when it returned. */
struct call {
    struct device *w;
    VkQueue queue;
    struct vulkan_batch batch;
    VkResult result;
    uint64_t accepted;
    _Atomic int tid;
    _Atomic bool returned;
    pthread_t thread;
};

static uint64_t accepted(struct device *w)
{
    return vulkan_counters(&w->icd).submit_infos;
}

static void call_start(struct call *c, void *(*run)(void *))
{
    c->tid = 0;
    c->returned = false;
    assert_int_equal(pthread_create(&c->thread, NULL, run, c), 0);
}

static void call_begins(struct call *c)
{
    c->tid = gettid();
}

static void call_ends(struct call *c, VkResult result)
{
    c->result = result;
    c->accepted = accepted(c->w);
    c->returned = true;
}

/* Returns once the thread sleeps inside the call, or the call has returned. */
static void call_await(struct call *c)
{
    while (!c->returned && (!c->tid || thread_state(c->tid) != 'S'))
        sched_yield();
}

static void call_join(struct call *c)
{
    pthread_join(c->thread, NULL);
}

static void *submit(void *argument)
{
    struct call *c = argument;
    call_begins(c);
    call_ends(c, vulkan_submit(c->queue, c->batch));
    return NULL;
}

static void *signal_host(void *argument)
{
    struct call *c = argument;
    call_begins(c);
    vulkan_signal(c->w->device, c->batch.signal, c->batch.signal_value);
    call_ends(c, VK_SUCCESS);
    return NULL;
}

/* The next vkQueueSubmit2 blocks; the call with it, which is in the driver when this returns. */
static void block(struct call *neighbour)
{
    neighbour->w->icd.set_block(
        &(struct belfry_icd_block){.command = "vkQueueSubmit2", .first = 1});
    call_start(neighbour, submit);
    neighbour->w->icd.await_blocked(1);
}

static void unblock(struct call *neighbour)
{
    neighbour->w->icd.release(UINT64_MAX);
    call_join(neighbour);
    assert_success(neighbour->result);
    neighbour->w->icd.set_block(NULL);
}

/* Both submit while the neighbour's call blocks. */
static void submit_beside(struct call *neighbour, struct call *b, struct call *c)
{
    call_start(b, submit);
    call_start(c, submit);
    call_await(b);
    call_await(c);
    unblock(neighbour);
    call_join(b);
    call_join(c);
    assert_success(b->result);
    assert_success(c->result);
}

static VkSemaphore exported(struct device *w)
{
    const VkExportSemaphoreCreateInfo external = {
        VK_TYPE(EXPORT_SEMAPHORE_CREATE_INFO),
        .handleTypes = VK_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD_BIT};
    VkSemaphore semaphore;
    assert_success(vkCreateSemaphore(
        w->device, &(VkSemaphoreCreateInfo){VK_TYPE(SEMAPHORE_CREATE_INFO), .pNext = &external},
        NULL, &semaphore));
    return semaphore;
}

/* Nobody here knows of its payload: it is no completion signal. */
static VkFence foreign_fence(struct device *w)
{
    const VkExportFenceCreateInfo external = {VK_TYPE(EXPORT_FENCE_CREATE_INFO),
                                              .handleTypes =
                                                  VK_EXTERNAL_FENCE_HANDLE_TYPE_OPAQUE_FD_BIT};
    VkFence fence;
    assert_success(vkCreateFence(
        w->device, &(VkFenceCreateInfo){VK_TYPE(FENCE_CREATE_INFO), .pNext = &external}, NULL,
        &fence));
    return fence;
}

static struct call on_queue(struct device *w, uint32_t queue)
{
    return (struct call){.w = w,
                         .queue = w->queues[0][queue],
                         .batch = {.commands = device_store(w, 0, queue, queue)}};
}

static void finish(struct device *w)
{
    assert_success(vkDeviceWaitIdle(w->device));
}

/* AC-1: a neighbour's call is stuck in the driver, on the VkQueue that both share. */
DEVICE_TEST(test_submit_returns_when_accepted, "SHAPE=q1", three)
{
    struct call a = on_queue(w, 0), b = on_queue(w, 1), c = on_queue(w, 2);
    uint64_t before = accepted(w);
    block(&a);
    submit_beside(&a, &b, &c);
    assert_true(b.accepted >= before + 2);
    assert_true(c.accepted >= before + 2);
    assert_int_equal(accepted(w), before + 3);
    finish(w);
}

/* The same of who stands behind packets of his own queue that have just been set free. */
DEVICE_TEST(test_submit_behind_others_returns_when_accepted, "SHAPE=q1", three)
{
    VkSemaphore t = vulkan_timeline(w->device, 0);
    struct call a = on_queue(w, 0), b = on_queue(w, 1), c = on_queue(w, 2);
    uint64_t before = accepted(w);
    assert_submitted(b.queue, .wait = t, .wait_value = 1);
    assert_submitted(c.queue, .wait = t, .wait_value = 1);
    block(&a);
    vulkan_signal(w->device, t, 1);
    submit_beside(&a, &b, &c);
    assert_true(b.accepted >= before + 3);
    assert_true(c.accepted >= before + 3);
    assert_int_equal(accepted(w), before + 5);
    finish(w);
    vkDestroySemaphore(w->device, t, NULL);
}

/* I-1: of what goes in one call each queue's end can be told from its neighbours'. */
DEVICE_TEST(test_ends_in_one_call, "SHAPE=q1", three)
{
    VkSemaphore t = vulkan_timeline(w->device, 0);
    struct call a = on_queue(w, 0);
    assert_submitted(w->queues[0][1], .wait = t, .wait_value = 1);
    assert_submitted(w->queues[0][2], .wait = t, .wait_value = 1);
    block(&a);
    struct belfry_icd_counters before = vulkan_counters(&w->icd);
    vulkan_signal(w->device, t, 1);
    unblock(&a);
    struct belfry_icd_counters after = vulkan_counters(&w->icd);
    assert_int_equal(after.signals - before.signals, 3);
    finish(w);
    vkDestroySemaphore(w->device, t, NULL);
}

/* AC-1: what is held by a wait of its own waits for no neighbour, nor does what stands behind
 * it. */
DEVICE_TEST(test_held_submit_returns_at_once, "SHAPE=q1", three)
{
    struct call a = on_queue(w, 0), b = on_queue(w, 1);
    VkSemaphore never = vulkan_timeline(w->device, 0);
    uint64_t before = accepted(w);
    b.batch.wait = never;
    b.batch.wait_value = 1;
    assert_success(vulkan_submit(b.queue, b.batch));
    block(&a);
    b.batch.commands = VK_NULL_HANDLE;
    assert_success(vulkan_submit(b.queue, b.batch));
    b.queue = w->queues[0][2];
    assert_success(vulkan_submit(b.queue, b.batch));
    assert_int_equal(accepted(w), before);
    unblock(&a);
    vulkan_signal(w->device, never, 1);
    assert_int_equal(accepted(w), before + 4);
    finish(w);
    vkDestroySemaphore(w->device, never, NULL);
}

/* AC-2: a host signal sets free what somebody outside can see. */
DEVICE_TEST(test_signal_returns_when_what_it_frees_is_accepted, "SHAPE=q1", three)
{
    VkSemaphore t = vulkan_timeline(w->device, 0), outside = exported(w);
    struct call a = on_queue(w, 0), b = on_queue(w, 1), c = on_queue(w, 2);
    uint64_t before = accepted(w);
    b.batch.wait = t;
    b.batch.wait_value = 1;
    b.batch.signal = t; /* which sets free the next one */
    b.batch.signal_value = 2;
    assert_success(vulkan_submit(b.queue, b.batch));
    c.batch.wait = t;
    c.batch.wait_value = 2;
    c.batch.signal = outside;
    assert_success(vulkan_submit(c.queue, c.batch));
    block(&a);
    struct call s = {.w = w, .batch = {.signal = t, .signal_value = 1}};
    call_start(&s, signal_host);
    call_await(&s);
    unblock(&a);
    call_join(&s);
    assert_int_equal(s.accepted, before + 3);
    finish(w);
    vulkan_destroy(w->device, t, outside);
}

/* AC-2: where nobody outside can see it, the signal waits for no neighbour. */
DEVICE_TEST(test_signal_that_nobody_sees_returns_at_once, "SHAPE=q1", three)
{
    VkSemaphore t = vulkan_timeline(w->device, 0);
    struct call a = on_queue(w, 0), b = on_queue(w, 1);
    uint64_t before = accepted(w);
    b.batch.wait = t;
    b.batch.wait_value = 1;
    assert_success(vulkan_submit(b.queue, b.batch));
    block(&a);
    vulkan_signal(w->device, t, 1);
    assert_int_equal(accepted(w), before);
    unblock(&a);
    finish(w);
    assert_int_equal(accepted(w), before + 2);
    vkDestroySemaphore(w->device, t, NULL);
}

/* AC-2: who sets nothing free on a VkQueue waits for none of its calls, whoever else can see what
 * the device does: neither for one that is stuck in the driver, nor for who waits for that one. */
DEVICE_TEST(test_signals_wait_for_no_other_call, "SHAPE=q2", three)
{
    VkSemaphore t = vulkan_timeline(w->device, 0), freed = vulkan_timeline(w->device, 0);
    struct call a = on_queue(w, 0), b = on_queue(w, 2), c = on_queue(w, 1);
    uint64_t before = accepted(w);
    assert_submitted(b.queue, .wait = freed, .wait_value = 1);
    c.batch.wait = t;
    c.batch.wait_value = 2;
    assert_success(vulkan_submit(c.queue, c.batch));
    block(&a);
    vulkan_signal(w->device, freed, 1);
    VkSemaphore outside = exported(w);
    call_start(&b, submit);
    call_await(&b);
    vulkan_signal(w->device, t, 1);
    vulkan_signal(w->device, t, 2); /* sets free what is on the other VkQueue */
    assert_int_equal(accepted(w), before + 1);
    assert_false(b.returned);
    unblock(&a);
    call_join(&b);
    assert_int_equal(accepted(w), before + 4);
    finish(w);
    vulkan_destroy(w->device, t, freed, outside);
}

/* what one call sets free on another VkQueue doesn't wait for the next call on its own, which
 * may block. */
DEVICE_TEST(test_what_is_set_free_waits_for_no_other_call, "SHAPE=q2", three)
{
    struct belfry_icd_record records[3];
    VkSemaphore t = vulkan_timeline(w->device, 0), freed = vulkan_timeline(w->device, 0);
    VkFence fence = vulkan_fence(w->device, false); /* which ends the call */
    assert_submitted(w->queues[0][0], .wait = t, .wait_value = 1, .signal = freed,
                     .signal_value = 1, .fence = fence);
    assert_submitted(w->queues[0][0], .wait = t, .wait_value = 1);
    assert_submitted(w->queues[0][1], .wait = freed, .wait_value = 1);
    w->icd.record_start(records, 3);
    vulkan_signal(w->device, t, 1);
    assert_int_equal(w->icd.record_stop(), 3);
    assert_int_equal(records[0].index, 0);
    assert_int_equal(records[1].index, 1);
    assert_int_equal(records[2].index, 0);
    finish(w);
    vkDestroyFence(w->device, fence, NULL);
    vulkan_destroy(w->device, t, freed);
}

static void *wait_idle(void *argument)
{
    struct call *c = argument;
    call_begins(c);
    call_ends(c, vkQueueWaitIdle(c->queue));
    return NULL;
}

/* I-5: what a VkQueue was given before others shared it, and that no sign tells of, isn't over to a
 * request for preemption (PE-2) because somebody waits for it. */
DEVICE_TEST(test_who_waits_for_idleness_ends_nothing, "SHAPE=q1", three)
{
    BfDevice device;
    BfCommandQueue queue;
    BfFence done;
    uint64_t number;
    const BfCommandQueueCreateInfo info = {.sType = BF_STRUCTURE_TYPE_COMMAND_QUEUE_CREATE_INFO};
    struct call c = {.w = w, .queue = w->queues[0][0]};
    const VkCommandBufferSubmitInfo commands = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_SUBMIT_INFO,
        .commandBuffer = device_store(w, 0, 0, 1),
    };
    const VkSubmitInfo2 unknown = {
        .sType = VK_STRUCTURE_TYPE_SUBMIT_INFO_2,
        .pNext = STRANGER,
        .commandBufferInfoCount = 1,
        .pCommandBufferInfos = &commands,
    };
    assert_success(bfGetDevice(w->device, &device));
    assert_success(bfCreateCommandQueue(device, &info, &queue));
    assert_success(bfGetPreemptionFence(queue, &done));
    w->icd.pause();
    assert_success(vkQueueSubmit2(c.queue, 1, &unknown, VK_NULL_HANDLE)); /* without an epoch */
    call_start(&c, wait_idle);
    call_await(&c);
    assert_success(bfRequestPreemption(queue, &number));
    assert_int_equal(bfGetFenceCompletedValue(done), number - 1);
    w->icd.resume();
    call_join(&c);
    assert_success(c.result);
    assert_success(bfWaitFences(1, &done, &number, VK_TRUE, UINT64_MAX));
    bfDestroyCommandQueue(queue);
    finish(w);
}

/* I-3: where there is no memory to wait for Belfry's own fence, the driver still has it, and waits
 * itself. */
DEVICE_TEST(test_idle_wait_without_memory, "SHAPE=q1", three)
{
    struct call c = {.w = w, .queue = w->queues[0][0]};
    VkFence fence = foreign_fence(w);
    w->icd.pause();
    assert_success(vkQueueSubmit(c.queue, 0, NULL, fence)); /* it takes no epoch */
    w->icd.set_fault("vkWaitForFences", 1, VK_ERROR_OUT_OF_HOST_MEMORY);
    call_start(&c, wait_idle);
    call_await(&c);
    assert_false(c.returned);
    w->icd.set_fault(NULL, 0, VK_SUCCESS);
    w->icd.resume();
    call_join(&c);
    assert_success(c.result);
    finish(w);
    vkDestroyFence(w->device, fence, NULL);
}

/* I-3: an idle queue's wait doesn't wait for what a neighbour has on the VkQueue, whatever fence
 * told of its last submission; where only the VkQueue can tell, neighbours submit meanwhile. */
DEVICE_TEST(test_idle_wait_and_neighbours, "SHAPE=q1", three)
{
    VkFence fence = foreign_fence(w);
    struct call a = on_queue(w, 0), b = on_queue(w, 1), c = on_queue(w, 2);
    b.batch.fence = fence;
    assert_success(vulkan_submit(b.queue, b.batch));
    assert_success(vkWaitForFences(w->device, 1, &fence, VK_TRUE, UINT64_MAX));
    w->icd.hold_before_signals(true);
    assert_success(vulkan_submit(a.queue, a.batch));
    assert_success(vkQueueWaitIdle(b.queue));

    assert_success(vkResetFences(w->device, 1, &fence));
    b.batch.commands = VK_NULL_HANDLE;
    assert_success(vkQueueSubmit2(b.queue, 0, NULL, fence));
    call_start(&b, wait_idle);
    call_await(&b);
    assert_false(b.returned);
    uint64_t before = accepted(w);
    assert_success(vulkan_submit(c.queue, c.batch));
    assert_int_equal(accepted(w), before + 1);
    w->icd.hold_before_signals(false);
    call_join(&b);
    assert_success(b.result);
    finish(w);
    vkDestroyFence(w->device, fence, NULL);
}

/* L-3: while a call is stuck in the driver, another thread finds the device lost: it is told, and
 * may destroy what was held and what the stuck call was given. */
DEVICE_TEST(test_loss_is_told_while_a_call_is_stuck, "SHAPE=q1", three)
{
    VkSemaphore t = vulkan_timeline(w->device, 0), given = vulkan_timeline(w->device, 0);
    VkFence fences[3];
    for (int i = 0; i < 3; i++)
        fences[i] = vulkan_fence(w->device, false);
    struct call a = on_queue(w, 0), b = on_queue(w, 1), c = on_queue(w, 2);
    VkCommandPool pool = vulkan_pool(w->device, 0);
    VkCommandBuffer freed = device_store(w, 0, 0, 1),
                    pooled = vulkan_begin(w->device, pool, VK_COMMAND_BUFFER_LEVEL_PRIMARY, 0);
    assert_success(vkEndCommandBuffer(pooled));
    /* Held; the signal then hands both over, in a call of another thread that is stuck. */
    a.batch.wait = t;
    a.batch.wait_value = 1;
    a.batch.commands = freed;
    assert_success(vulkan_submit(a.queue, a.batch));
    a.batch.commands = pooled;
    a.batch.signal = given;
    a.batch.signal_value = 1;
    a.batch.fence = fences[0];
    assert_success(vulkan_submit(a.queue, a.batch));
    w->icd.set_block(&(struct belfry_icd_block){.command = "vkQueueSubmit2", .first = 1});
    struct call s = {.w = w, .batch = {.signal = t, .signal_value = 1}};
    call_start(&s, signal_host);
    w->icd.await_blocked(1);
    b.batch.wait = t;
    b.batch.wait_value = 2;
    b.batch.fence = fences[1];
    assert_success(vulkan_submit(b.queue, b.batch));
    call_start(&c, submit); /* waits for the neighbour */
    call_await(&c);
    w->icd.lose();
    assert_int_equal(vkGetFenceStatus(w->device, fences[2]), VK_ERROR_DEVICE_LOST);
    assert_int_equal(vkGetFenceStatus(w->device, fences[1]), VK_ERROR_DEVICE_LOST);
    call_join(&c);
    assert_int_equal(c.result, VK_ERROR_DEVICE_LOST);
    assert_false(s.returned);
    for (int i = 0; i < 3; i++)
        vkDestroyFence(w->device, fences[i], NULL);
    vkDestroySemaphore(w->device, given, NULL);
    uint64_t pools = w->icd.live("command pool"), buffers = w->icd.live("command buffer");
    const VkCommandBufferBeginInfo begin = {VK_TYPE(COMMAND_BUFFER_BEGIN_INFO)};
    assert_int_equal(vkBeginCommandBuffer(freed, &begin), VK_ERROR_OUT_OF_DEVICE_MEMORY);
    assert_int_equal(vkResetCommandBuffer(freed, 0), VK_ERROR_OUT_OF_DEVICE_MEMORY);
    assert_int_equal(vkResetCommandPool(w->device, pool, 0), VK_ERROR_OUT_OF_DEVICE_MEMORY);
    vkFreeCommandBuffers(w->device, w->pools[0], 1, &freed);
    vkDestroyCommandPool(w->device, pool, NULL);
    assert_int_equal(w->icd.live("command pool"), pools);
    assert_int_equal(w->icd.live("command buffer"), buffers);
    w->icd.release(UINT64_MAX); /* the driver comes to what it was given */
    call_join(&s);
    w->icd.set_block(NULL);
    vkDestroySemaphore(w->device, t, NULL);
}

/* L-5: the device is lost, and who waits for held work is the only one to ask. */
enum held_call { STATUS, WAIT, WAIT_ANY, QUEUE_IDLE, HELD_CALLS };

static VkResult held_call(struct device *w, enum held_call call, const VkFence *fences)
{
    switch (call) {
    case STATUS:
        return vkGetFenceStatus(w->device, fences[0]);
    case WAIT:
        return vkWaitForFences(w->device, 1, fences, VK_TRUE, UINT64_MAX);
    case WAIT_ANY:
        return vkWaitForFences(w->device, 2, fences, VK_FALSE, UINT64_MAX);
    default:
        return vkQueueWaitIdle(w->queues[0][0]);
    }
}

TEST(test_silent_loss)
{
    for (enum held_call call = STATUS; call < HELD_CALLS; call++) {
        struct device w;
        world_open(&w, "SHAPE=q1", three);
        VkSemaphore t = vulkan_timeline(w.device, 0);
        VkFence fences[2];
        for (uint32_t i = 0; i < 2; i++) {
            fences[i] = vulkan_fence(w.device, false);
            assert_submitted(w.queues[0][i], .wait = t, .wait_value = 1, .fence = fences[i]);
        }
        /* Polled for, a loss is asked for once a millisecond at most. */
        struct timespec begin, end;
        clock_gettime(CLOCK_MONOTONIC, &begin);
        w.icd.set_fault("vkWaitSemaphores", UINT64_MAX, 0);
        for (uint32_t i = 0; call == STATUS && i < 20000; i++)
            assert_int_equal(vkGetFenceStatus(w.device, fences[0]), VK_NOT_READY);
        clock_gettime(CLOCK_MONOTONIC, &end);
        assert_true(w.icd.fault_calls() <= 2 + (uint64_t)(end.tv_sec - begin.tv_sec + 1) * 1000);
        w.icd.lose();
        VkResult result;
        do {
            result = held_call(&w, call, fences);
        } while (result == VK_NOT_READY);
        assert_int_equal(result, VK_ERROR_DEVICE_LOST);
        for (uint32_t i = 0; i < 2; i++)
            vkDestroyFence(w.device, fences[i], NULL);
        vkDestroySemaphore(w.device, t, NULL);
        world_close(&w);
    }
}

/* submit=doorbell (scheduler/deferral.h): calls return, and the driver is in the first of them. */

static void open_deferring(struct device *w, const char *setting, const char *value)
{
    char name[64];
    snprintf(name, sizeof(name), "VK_BELFRY_MULTI_ENGINE_%s", setting);
    setenv("VK_BELFRY_MULTI_ENGINE_SUBMIT", "doorbell", 1);
    setenv(name, value, 1);
    world_open(w, "SHAPE=q2", (const uint32_t[]){4, WORLD_END});
    unsetenv("VK_BELFRY_MULTI_ENGINE_SUBMIT");
    unsetenv(name);
}
#define DEFERRING_TEST(name_, setting_, value_)                                                    \
    TEST_AROUND(name_, struct device, w, open_deferring, world_close, setting_, value_)

/* Three of queue 0: the first is in the driver, which knows of none. */
static uint64_t defer_three(struct device *w, VkSemaphore timeline, VkFence fence)
{
    uint64_t before = accepted(w);
    w->icd.set_block(&(struct belfry_icd_block){.command = "vkQueueSubmit2", .first = 1});
    for (uint64_t i = 1; i <= 3; i++) {
        assert_submitted(w->queues[0][0], .commands = device_store(w, 0, 0, 0), .signal = timeline,
                         .signal_value = i, .fence = i == 3 ? fence : VK_NULL_HANDLE);
        if (i == 1)
            w->icd.await_blocked(1);
    }
    assert_int_equal(accepted(w), before);
    return before;
}

/* A call that rests on what has been submitted, or after which somebody outside can look at it. */
struct rests {
    struct call call;
    enum {
        EXPORTED_SEMAPHORE,
        EXPORTED_FENCE,
        EXPORTED_MEMORY,
        BIND,
        UNKNOWN,
        QUEUE_IDLE_DEFERRED,
        DEVICE_IDLE,
        FENCE,
        RESTS
    } kind;
    VkSemaphore timeline, exported;
    VkFence fence, exported_fence;
    VkDeviceMemory memory;
    uint32_t queue;
};

static VkResult rests_make(struct rests *r)
{
    struct device *w = r->call.w;
    const VkSemaphoreSubmitInfo wait = {VK_TYPE(SEMAPHORE_SUBMIT_INFO), .semaphore = r->timeline,
                                        .value = 3};
    const VkExportFenceCreateInfo external = {VK_TYPE(EXPORT_FENCE_CREATE_INFO),
                                              .handleTypes =
                                                  VK_EXTERNAL_FENCE_HANDLE_TYPE_OPAQUE_FD_BIT};
    switch (r->kind) {
    case EXPORTED_SEMAPHORE:
        r->exported = exported(w);
        return VK_SUCCESS;
    case EXPORTED_FENCE:
        return vkCreateFence(w->device,
                             &(VkFenceCreateInfo){VK_TYPE(FENCE_CREATE_INFO), .pNext = &external},
                             NULL, &r->exported_fence);
    case EXPORTED_MEMORY:
        return vkAllocateMemory(
            w->device,
            &(VkMemoryAllocateInfo){
                VK_TYPE(MEMORY_ALLOCATE_INFO), .allocationSize = 4096,
                .pNext =
                    &(VkExportMemoryAllocateInfo){
                        VK_TYPE(EXPORT_MEMORY_ALLOCATE_INFO),
                        .handleTypes = VK_EXTERNAL_MEMORY_HANDLE_TYPE_DMA_BUF_BIT_EXT}},
            NULL, &r->memory);
    case BIND:
        return vkQueueBindSparse(r->call.queue, 0, NULL, r->exported_fence);
    case UNKNOWN:
        return vkQueueSubmit2(r->call.queue, 1,
                              &(VkSubmitInfo2){VK_TYPE(SUBMIT_INFO_2), .pNext = STRANGER,
                                               .waitSemaphoreInfoCount = 1,
                                               .pWaitSemaphoreInfos = &wait},
                              VK_NULL_HANDLE);
    case QUEUE_IDLE_DEFERRED:
        return vkQueueWaitIdle(w->queues[0][0]);
    case DEVICE_IDLE:
        return vkDeviceWaitIdle(w->device);
    default:
        return vkWaitForFences(w->device, 1, &r->fence, VK_TRUE, UINT64_MAX);
    }
}

static void *rests_run(void *argument)
{
    struct rests *r = argument;
    call_begins(&r->call);
    call_ends(&r->call, rests_make(r));
    return NULL;
}

/* DF-2, DF-3, DF-4: by such a call the driver knows of all; none is refused; and what is exported
 * ends deferral. */
TEST(test_deferred_is_handed_over_before_what_rests_on_it)
{
    for (int kind = 0; kind < RESTS; kind++) {
        /* An unknown struct's waits may be for another VkQueue's work. */
        for (uint32_t queue = 0; queue < (kind == UNKNOWN ? 4 : 1); queue++) {
            struct device w;
            open_deferring(&w, "DOORBELLS", "1");
            struct rests r = {.call = {.w = &w, .queue = w.queues[0][queue]},
                              .kind = kind,
                              .timeline = vulkan_timeline(w.device, 0),
                              .fence = vulkan_fence(w.device, false)};
            uint64_t before = defer_three(&w, r.timeline, r.fence);
            call_start(&r.call, rests_run);
            call_await(&r.call);
            assert_false(r.call.returned);
            assert_int_equal(w.icd.sleepers(), 0); /* nor is a fence in the driver's hands */
            w.icd.release(UINT64_MAX);
            call_join(&r.call);
            assert_success(r.call.result);
            assert_true(r.call.accepted >= before + 3);
            assert_submitted(w.queues[0][1], .commands = device_store(&w, 0, 1, 1));
            if (kind <= EXPORTED_MEMORY)
                assert_int_equal(accepted(&w), before + 4);
            finish(&w);
            assert_int_equal(accepted(&w), before + 4 + (kind == UNKNOWN));
            vulkan_destroy(w.device, r.timeline, r.exported, r.fence, r.exported_fence, r.memory);
            world_close(&w);
        }
    }
}

/* DT-8: one queue's work isn't stalled by what another submits later. */
TEST(test_deferred_work_goes_in_the_order_of_the_calls)
{
    setenv("VK_BELFRY_MULTI_ENGINE_SUBMIT", "doorbell", 1);
    struct device w;
    world_open(&w, "SHAPE=q1", three);
    unsetenv("VK_BELFRY_MULTI_ENGINE_SUBMIT");
    for (uint32_t round = 0; round < 6; round++) {
        VkEvent event;
        assert_success(vkCreateEvent(w.device, &(VkEventCreateInfo){VK_TYPE(EVENT_CREATE_INFO)},
                                     NULL, &event));
        VkCommandBuffer stall = device_begin(&w, 0, 0);
        vkCmdWaitEvents(stall, 1, &event, VK_PIPELINE_STAGE_HOST_BIT,
                        VK_PIPELINE_STAGE_TRANSFER_BIT, 0, NULL, 0, NULL, 0, NULL);
        assert_success(vkEndCommandBuffer(stall));
        VkSemaphore t = vulkan_timeline(w.device, 0);
        defer_three(&w, t, VK_NULL_HANDLE);
        VkQueue a = w.queues[0][1 + round % 2], b = w.queues[0][2 - round % 2];
        assert_submitted(a, .commands = device_store(&w, 0, 1, round + 1));
        assert_submitted(b, .commands = device_store(&w, 0, 2, round + 1));
        assert_submitted(a, .commands = device_store(&w, 0, 3, round + 1), .wait = t,
                         .wait_value = 3);
        assert_submitted(b, .commands = stall);
        w.icd.release(UINT64_MAX);
        assert_success(vkQueueWaitIdle(a));
        assert_int_equal(w.words[3], round + 1);
        assert_success(vkSetEvent(w.device, event));
        finish(&w);
        vulkan_destroy(w.device, t, event);
    }
    world_close(&w);
}

/* DF-6: who is too far ahead of the driver waits for it. */
DEFERRING_TEST(test_deferred_work_is_bounded, "DOORBELL_MODEL", "global")
{
    VkSemaphore t = vulkan_timeline(w->device, 0);
    uint64_t before = defer_three(w, t, VK_NULL_HANDLE);
    struct call c = {.w = w, .queue = w->queues[0][0], .batch = {.signal = t, .signal_value = 4}};
    for (; c.batch.signal_value <= 1024; c.batch.signal_value++)
        assert_success(vulkan_submit(c.queue, c.batch));
    assert_int_equal(accepted(w), before);
    call_start(&c, submit);
    call_await(&c);
    assert_false(c.returned);
    unblock(&c);
    assert_int_equal(c.accepted, before + 1025);
    finish(w);
    vkDestroySemaphore(w->device, t, NULL);
}

/* A submission that fails at hand-over is made again; a loss comes with a later call. */
DEFERRING_TEST(test_deferred_work_fails, "DOORBELLS", "1")
{
    VkFence fence = vulkan_fence(w->device, false);
    struct call a = on_queue(w, 0);
    w->icd.set_fault("vkQueueSubmit2", 1, VK_ERROR_OUT_OF_HOST_MEMORY);
    assert_success(vulkan_submit(a.queue, a.batch));
    assert_success(vkQueueWaitIdle(a.queue));
    w->icd.set_fault("vkQueueSubmit2", 1, VK_ERROR_DEVICE_LOST);
    a.batch.fence = fence;
    vulkan_submit(a.queue, a.batch); /* it may know already */
    assert_int_equal(vkWaitForFences(w->device, 1, &fence, VK_TRUE, UINT64_MAX),
                     VK_ERROR_DEVICE_LOST);
    assert_int_equal(vulkan_submit(a.queue, a.batch), VK_ERROR_DEVICE_LOST);
    vkDestroyFence(w->device, fence, NULL);
}

/* DF-5 */
DEFERRING_TEST(test_deferral_without_doorbells, "DOORBELLS", "1")
{
    struct rlimit files, none;
    char line[200];
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &files), 0);
    none = files;
    none.rlim_cur = 0;
    lines_begin();
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
    uint64_t before = accepted(w);
    for (uint32_t i = 1; i <= 3; i++) {
        assert_submitted(w->queues[0][i], .commands = device_store(w, 0, i, i));
        assert_int_equal(accepted(w), before + i);
    }
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &files), 0);
    assert_int_equal(lines_end(line, sizeof(line)), 1);
    finish(w);
}

/* DT-5, DT-6: engines that have gone to sleep are woken by a submission, however often; each
 * engine's VkQueues have the one doorbell in turn. */
DEFERRING_TEST(test_deferral_and_idle_engines, "DOORBELL_IDLE", "1")
{
    BfDevice device;
    assert_success(bfGetDevice(w->device, &device));
    for (uint32_t round = 0; round < 20; round++) {
        for (uint32_t i = 0; i < 4; i++)
            assert_submitted(w->queues[0][i], .commands = device_store(w, 0, i, round + 1));
        BfDevicePowerState state = BF_DEVICE_POWER_STATE_D0;
        while (round % 2 && state != BF_DEVICE_POWER_STATE_D3)
            assert_success(bfGetDevicePowerState(device, &state));
        finish(w);
    }
    for (uint32_t i = 0; i < 4; i++)
        assert_int_equal(w->words[i], 20);
}
