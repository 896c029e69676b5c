/* SPDX-License-Identifier: MIT */
/* Drivers that fail: the device is lost, or there is no memory, at every place in turn. Nothing
 * hangs, nothing leaks, and no error is one that Vulkan doesn't allow there. */
#include "support/world.h"

#include "scheduler/queue.h"

/* A little program on three queues, with a second thread, that keeps going whatever fails. */
struct program {
    struct device w;
    bool may_lose;    /* VK_ERROR_DEVICE_LOST is a result to be had */
    bool may_run_out; /* out of memory is */
    VkResult first;   /* the first error */
    uint32_t errors;
    bool lost;
};

/* Notes a result that may be an error of the kind that is being provoked. */
static bool ok(struct program *p, VkResult result)
{
    if (result == VK_SUCCESS)
        return true;
    if (result == VK_ERROR_DEVICE_LOST)
        assert_true(p->may_lose || p->may_run_out);
    else if (result == VK_ERROR_OUT_OF_HOST_MEMORY || result == VK_ERROR_OUT_OF_DEVICE_MEMORY)
        assert_true(p->may_run_out);
    else
        fail_msg("%d is no result to be had here", result);
    if (!p->errors++)
        p->first = result;
    p->lost |= result == VK_ERROR_DEVICE_LOST;
    return false;
}

static VkSemaphore make_semaphore(struct program *p, bool timeline)
{
    const VkSemaphoreTypeCreateInfo type = {VK_TYPE(SEMAPHORE_TYPE_CREATE_INFO),
                                            .semaphoreType = VK_SEMAPHORE_TYPE_TIMELINE};
    const VkSemaphoreCreateInfo info = {VK_TYPE(SEMAPHORE_CREATE_INFO),
                                        .pNext = timeline ? &type : NULL};
    VkSemaphore semaphore = VK_NULL_HANDLE;
    return ok(p, vkCreateSemaphore(p->w.device, &info, NULL, &semaphore)) ? semaphore
                                                                          : VK_NULL_HANDLE;
}

static VkCommandBuffer make_commands(struct program *p, VkCommandPool pool)
{
    const VkCommandBufferAllocateInfo info = {VK_TYPE(COMMAND_BUFFER_ALLOCATE_INFO),
                                              .commandPool = pool, .commandBufferCount = 1};
    const VkCommandBufferBeginInfo begin = {VK_TYPE(COMMAND_BUFFER_BEGIN_INFO)};
    VkCommandBuffer commands;
    if (!pool || !ok(p, vkAllocateCommandBuffers(p->w.device, &info, &commands)) ||
        !ok(p, vkBeginCommandBuffer(commands, &begin)) || !ok(p, vkEndCommandBuffer(commands)))
        return VK_NULL_HANDLE;
    return commands;
}

#define ROUNDS 4

/* Two queues hand a timeline to and fro, held until a third begins. A submit that fails leaves its
 * value to the host, so that the others come to their end. */
static void work(struct program *p)
{
    struct device *w = &p->w;
    VkSemaphore t = make_semaphore(p, true), b = make_semaphore(p, false);
    const VkCommandPoolCreateInfo pool_info = {VK_TYPE(COMMAND_POOL_CREATE_INFO)};
    VkCommandPool pool = VK_NULL_HANDLE;
    if (!ok(p, vkCreateCommandPool(w->device, &pool_info, NULL, &pool)))
        pool = VK_NULL_HANDLE; /* a call that fails may leave anything there */
    VkCommandBuffer commands[3 * ROUNDS];
    bool made = t && b;
    for (uint32_t i = 0; made && i < 3 * ROUNDS; i++)
        made = (commands[i] = make_commands(p, pool)) != VK_NULL_HANDLE;
    const VkFenceCreateInfo fence_info = {VK_TYPE(FENCE_CREATE_INFO)};
    VkFence fence = VK_NULL_HANDLE;
    if (made && !ok(p, vkCreateFence(w->device, &fence_info, NULL, &fence)))
        made = (fence = VK_NULL_HANDLE) != VK_NULL_HANDLE;
    bool fence_submitted = false, all_submitted = true;
    for (uint32_t i = 1; made && i < 3 * ROUNDS; i++) {
        bool last = i == 3 * ROUNDS - 1;
        if (ok(p, vulkan_submit(w->queues[0][1 + i % 2],
                                (struct vulkan_batch){.wait = t,
                                                      .wait_value = i,
                                                      .commands = commands[i],
                                                      .signal = t,
                                                      .signal_value = i + 1,
                                                      .fence = last ? fence : VK_NULL_HANDLE})))
            fence_submitted |= last;
        else
            all_submitted = false;
    }
    if (made && all_submitted) {
        if (!ok(p, vulkan_submit1(w->queues[0][0], (struct vulkan_batch){.commands = commands[0],
                                                                         .signal = t,
                                                                         .signal_value = 1})))
            all_submitted = false;
    }
    if (made && all_submitted) {
        /* Binary semaphores across two queues, in order. */
        bool signalled = ok(p, vulkan_submit(w->queues[0][1], (struct vulkan_batch){.signal = b}));
        if (signalled)
            ok(p, vulkan_submit(w->queues[0][2], (struct vulkan_batch){.wait = b}));
        const uint64_t value = 3 * ROUNDS;
        const VkSemaphoreWaitInfo wait = {VK_TYPE(SEMAPHORE_WAIT_INFO), .semaphoreCount = 1,
                                          .pSemaphores = &t, .pValues = &value};
        ok(p, vkWaitSemaphores(w->device, &wait, UINT64_MAX));
        if (fence_submitted)
            ok(p, vkWaitForFences(w->device, 1, &fence, VK_TRUE, UINT64_MAX));
        for (uint32_t i = 0; i < 3; i++)
            ok(p, vkQueueWaitIdle(w->queues[0][i]));
    }
    if (p->lost && made) {
        /* Whatever is asked of a lost device ends, with that result. */
        assert_int_equal(
            vulkan_submit(w->queues[0][0], (struct vulkan_batch){.commands = commands[0]}),
            VK_ERROR_DEVICE_LOST);
        if (fence_submitted) {
            VkResult status = vkGetFenceStatus(w->device, fence);
            assert_true(status == VK_ERROR_DEVICE_LOST || status == VK_SUCCESS);
            VkResult wait = vkWaitForFences(w->device, 1, &fence, VK_TRUE, UINT64_MAX);
            assert_true(wait == VK_ERROR_DEVICE_LOST || wait == VK_SUCCESS);
        }
        const uint64_t value = 3 * ROUNDS;
        const VkSemaphoreWaitInfo wait = {VK_TYPE(SEMAPHORE_WAIT_INFO), .semaphoreCount = 1,
                                          .pSemaphores = &t, .pValues = &value};
        assert_int_equal(vkWaitSemaphores(w->device, &wait, UINT64_MAX), VK_ERROR_DEVICE_LOST);
        for (uint32_t i = 0; i < 3; i++)
            assert_int_equal(vkQueueWaitIdle(w->queues[0][i]), VK_ERROR_DEVICE_LOST);
        assert_int_equal(vkDeviceWaitIdle(w->device), VK_ERROR_DEVICE_LOST);
        w->icd.quiesce(); /* the test driver drops what it has on its own threads */
    } else if (made && !all_submitted) {
        /* What is held waits for values that never come by themselves: the host brings them. */
        for (uint64_t v = 1; v <= 3 * ROUNDS; v++) {
            uint64_t now = 0;
            VkResult result = vkGetSemaphoreCounterValue(w->device, t, &now);
            while (result == VK_ERROR_OUT_OF_HOST_MEMORY)
                result = vkGetSemaphoreCounterValue(w->device, t, &now);
            if (result != VK_SUCCESS || now >= v)
                continue;
            /* A queue may be about to signal it: wait for as long as it may take it. */
            w->icd.quiesce();
            result = vkGetSemaphoreCounterValue(w->device, t, &now);
            if (result != VK_SUCCESS || now >= v)
                continue;
            const VkSemaphoreSignalInfo signal = {VK_TYPE(SEMAPHORE_SIGNAL_INFO), .semaphore = t,
                                                  .value = v};
            while (vkSignalSemaphore(w->device, &signal) == VK_ERROR_OUT_OF_HOST_MEMORY)
                ;
        }
        while (vkDeviceWaitIdle(w->device) == VK_ERROR_OUT_OF_HOST_MEMORY)
            ;
    } else if (made) {
        while (!ok(p, vkDeviceWaitIdle(w->device)) && !p->lost)
            ;
    }
    vulkan_destroy(w->device, fence, t, b, pool);
}

static const uint32_t three[] = {3, WORLD_END};

/* Runs it all; returns whether no error came. */
static bool run(struct program *p, const char *environment)
{
    VkResult result = world_instance(&p->w, environment);
    if (result != VK_SUCCESS)
        ok(p, result);
    else if (p->w.physical && p->w.family_count && ok(p, world_device(&p->w, three, NULL)))
        work(p);
    if (!p->w.instance)
        return p->errors == 0;
    if (!p->w.icd.library)
        assert_true(belfry_icd_control_load(&p->w.icd));
    world_close(&p->w);
    return p->errors == 0;
}

static void lose_at_every_submit(const char *shape)
{
    uint32_t lost = 0;
    for (uint32_t n = 1; n <= 20; n++) {
        char environment[80];
        snprintf(environment, sizeof(environment), "SHAPE=%s LOSE_AT_SUBMIT=%u QUIET=1", shape, n);
        struct program p = {.may_lose = true};
        if (!run(&p, environment)) {
            assert_true(p.lost);
            assert_int_equal(p.first, VK_ERROR_DEVICE_LOST);
            lost++;
        }
    }
    assert_true(lost >= 3);
}

TEST(test_lost)
{
    lose_at_every_submit("q1");
    lose_at_every_submit("q2");
    lose_at_every_submit("q3");
}

/* Memory runs out once, at each call in turn, until the program gets through untouched. The loader
 * doesn't survive it while it looks for devices, without any layer: of the calls that make the
 * instance only the first is tried. */
static void run_out_at_every_call(const char *shape, const char *fault)
{
    char environment[80];
    snprintf(environment, sizeof(environment), "SHAPE=%s", shape);
    struct device w;
    assert_success(world_instance(&w, environment));
    uint32_t first =
        strcmp(fault, "OOM_AT") == 0 ? (uint32_t)vulkan_counters(&w.icd).oom_points + 1 : 1;
    world_close(&w);

    uint32_t failed = 0;
    for (uint32_t n = 1;; n = n < first ? first : n + 1) {
        snprintf(environment, sizeof(environment), "SHAPE=%s %s=%u", shape, fault, n);
        struct program p = {.may_run_out = true};
        bool clean = run(&p, environment);
        failed += !clean;
        assert_false(p.lost); /* once is not enough to lose a device */
        assert_true(n < 500);
        /* The fault may have been swallowed where a retry helps: go on a little. */
        if (clean && n > first + failed + 40)
            break;
    }
    assert_true(failed > 0);
}

TEST(test_out_of_memory)
{
    run_out_at_every_call("q1", "OOM_AT");
    run_out_at_every_call("q2", "OOM_AT");
}

TEST(test_out_of_memory_at_submit)
{
    run_out_at_every_call("q1", "OOM_AT_SUBMIT");
    run_out_at_every_call("q2", "OOM_AT_SUBMIT");
}

/* L-1: who is told of a loss finds nothing held any more. */
DEVICE_TEST(test_nothing_is_held_once_a_loss_is_told, "SHAPE=q1 QUIET=1", three)
{
    VkSemaphore t = vulkan_timeline(w->device, 0);
    for (uint32_t q = 0; q < 3; q++)
        assert_submitted(w->queues[0][q], .wait = t, .wait_value = 1,
                         .commands = device_store(w, 0, q, q));
    w->icd.lose();
    assert_int_equal(vkQueueWaitIdle(w->queues[0][0]), VK_ERROR_DEVICE_LOST);
    for (uint32_t q = 0; q < 3; q++) {
        const struct bf_queue *queue = (struct bf_queue *)w->queues[0][q];
        assert_int_equal(atomic_load(&queue->finished), atomic_load(&queue->appended));
    }
    vkDestroySemaphore(w->device, t, NULL);
}

/* Lost from outside, while threads sleep in every kind of wait. */
struct sleeper {
    struct device *w;
    uint32_t kind;
    VkSemaphore t;
    VkFence fence;
    VkResult result;
    pthread_t thread;
};

static void *fall_asleep(void *argument)
{
    struct sleeper *s = argument;
    const uint64_t value = 99;
    const VkSemaphoreWaitInfo info = {VK_TYPE(SEMAPHORE_WAIT_INFO), .semaphoreCount = 1,
                                      .pSemaphores = &s->t, .pValues = &value};
    switch (s->kind) {
    case 0:
        s->result = vkWaitSemaphores(s->w->device, &info, UINT64_MAX);
        break;
    case 1:
        s->result = vkWaitForFences(s->w->device, 1, &s->fence, VK_TRUE, UINT64_MAX);
        break;
    case 2:
        s->result = vkQueueWaitIdle(s->w->queues[0][1]);
        break;
    default:
        s->result = vkDeviceWaitIdle(s->w->device);
        break;
    }
    return NULL;
}

TEST(test_lost_under_sleepers)
{
    static const char *const shapes[] = {"SHAPE=q1 QUIET=1", "SHAPE=q3 QUIET=1"};
    for (size_t i = 0; i < 2; i++) {
        for (uint32_t round = 0; round < 5; round++) {
            struct device w;
            world_open(&w, shapes[i], three);
            VkSemaphore t = vulkan_timeline(w.device, 0);
            VkFence fence = vulkan_fence(w.device, false);
            for (uint32_t q = 0; q < 3; q++)
                assert_submitted(w.queues[0][q], .wait = t, .wait_value = 1 + q,
                                 .commands = device_store(&w, 0, q, q),
                                 .fence = q == 0 ? fence : VK_NULL_HANDLE);
            struct sleeper sleepers[4];
            for (uint32_t s = 0; s < 4; s++) {
                sleepers[s] = (struct sleeper){.w = &w, .kind = s, .t = t, .fence = fence};
                assert_int_equal(
                    pthread_create(&sleepers[s].thread, NULL, fall_asleep, &sleepers[s]), 0);
            }
            w.icd.lose(); /* one of them sleeps in the driver, or will: the others hear of it */
            for (uint32_t s = 0; s < 4; s++) {
                pthread_join(sleepers[s].thread, NULL);
                assert_int_equal(sleepers[s].result, VK_ERROR_DEVICE_LOST);
            }
            w.icd.quiesce();
            vulkan_destroy(w.device, t, fence);
            world_close(&w);
        }
    }
}

int main(int argc, char **argv)
{
    setenv("VK_BELFRY_MULTI_ENGINE_MESSAGES", "none",
           1); /* it says each time that the device is lost */
    return test_run(argc > 1 ? argv[1] : NULL);
}
