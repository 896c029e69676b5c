/*
 * What the driver finds wrong: one test per kind of violation. Each also shows that the driver
 * itself survives it, which is what the address sanitizer's run is for.
 */
#include "fixture.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#define QUIET "SHAPE=q2 QUIET=1"

TEST(test_binary_wait_before_signal)
{
    struct fixture f;
    fixture_open(&f, QUIET);
    VkSemaphore binary = fixture_binary(&f);
    assert_success(fixture_submit1(f.queues[0][0], (struct submit){.wait = binary}));
    f.icd.quiesce();
    assert_int_equal(f.icd.queue_depth(0, 0), 1);
    fixture_expect(&f, BELFRY_ICD_WAIT_BEFORE_SIGNAL, 1);
    assert_success(fixture_submit1(f.queues[0][1], (struct submit){.signal = binary}));
    assert_success(vkDeviceWaitIdle(f.device));
    vkDestroySemaphore(f.device, binary, NULL);
    fixture_close(&f);
}

static void *wait_idle(void *queue)
{
    vkQueueWaitIdle(queue);
    return NULL;
}

TEST(test_queue_race)
{
    struct fixture f;
    fixture_open(&f, QUIET);
    f.icd.pause();
    VkFence fence = fixture_fence(&f);
    assert_success(vkQueueSubmit(f.queues[0][0], 0, NULL, fence));
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, wait_idle, f.queues[0][0]), 0);
    while (!fixture_counters(&f).queue_wait_idles)
        sched_yield();
    /* The other thread is inside and can't leave. */
    VkSemaphore a = fixture_timeline(&f, 0);
    VkSemaphore b = fixture_timeline(&f, 0);
    assert_success(fixture_submit(f.queues[0][1], (struct submit){.signal = a, .signal_value = 1}));
    fixture_expect_none(&f);
    assert_success(fixture_submit(f.queues[0][0], (struct submit){.signal = b, .signal_value = 1}));
    fixture_expect(&f, BELFRY_ICD_QUEUE_RACE, 1);
    f.icd.resume();
    pthread_join(thread, NULL);
    assert_success(vkDeviceWaitIdle(f.device));
    vkDestroyFence(f.device, fence, NULL);
    vkDestroySemaphore(f.device, a, NULL);
    vkDestroySemaphore(f.device, b, NULL);
    fixture_close(&f);
}

TEST(test_empty_info)
{
    struct fixture f;
    fixture_open(&f, QUIET);
    VkSemaphore a = fixture_timeline(&f, 0);
    VkFence fence = fixture_fence(&f);
    assert_success(fixture_submit(f.queues[0][0], (struct submit){.signal = a, .signal_value = 1}));
    assert_success(fixture_submit(f.queues[0][0], (struct submit){.fence = fence}));
    assert_int_equal(fixture_counters(&f).infos_without_command_buffer, 2);
    fixture_expect_none(&f);
    assert_success(fixture_submit(f.queues[0][0], (struct submit){0}));
    assert_success(fixture_submit1(f.queues[0][0], (struct submit){0}));
    fixture_expect(&f, BELFRY_ICD_EMPTY_INFO, 2);
    assert_success(vkQueueSubmit2(f.queues[0][0], 0, NULL, VK_NULL_HANDLE));
    assert_int_equal(fixture_counters(&f).empty_calls, 1);
    assert_success(vkDeviceWaitIdle(f.device));
    vkDestroyFence(f.device, fence, NULL);
    vkDestroySemaphore(f.device, a, NULL);
    fixture_close(&f);
}

TEST(test_binary_resignal)
{
    struct fixture f;
    fixture_open(&f, QUIET);
    VkSemaphore binary = fixture_binary(&f);
    f.icd.pause();
    assert_success(fixture_submit1(f.queues[0][0], (struct submit){.signal = binary}));
    fixture_expect_none(&f);
    assert_success(fixture_submit1(f.queues[0][0], (struct submit){.signal = binary}));
    fixture_expect(&f, BELFRY_ICD_BINARY_RESIGNAL, 1);
    f.icd.resume();
    assert_success(vkDeviceWaitIdle(f.device));
    /* And once more as the second one runs. */
    fixture_expect(&f, BELFRY_ICD_BINARY_RESIGNAL, 1);
    vkDestroySemaphore(f.device, binary, NULL);
    fixture_close(&f);
}

TEST(test_fence_busy)
{
    struct fixture f;
    fixture_open(&f, QUIET);
    VkFence fence = fixture_fence(&f);
    f.icd.pause();
    assert_success(vkQueueSubmit(f.queues[0][0], 0, NULL, fence));
    fixture_expect_none(&f);
    assert_success(vkResetFences(f.device, 1, &fence));
    fixture_expect(&f, BELFRY_ICD_FENCE_BUSY, 1);
    assert_success(vkQueueSubmit(f.queues[0][1], 0, NULL, fence));
    fixture_expect(&f, BELFRY_ICD_FENCE_BUSY, 1);
    f.icd.resume();
    assert_success(vkDeviceWaitIdle(f.device));
    assert_success(vkQueueSubmit(f.queues[0][0], 0, NULL, fence));
    fixture_expect(&f, BELFRY_ICD_FENCE_BUSY, 1);
    assert_success(vkDeviceWaitIdle(f.device));
    assert_success(vkResetFences(f.device, 1, &fence));
    vkDestroyFence(f.device, fence, NULL);
    fixture_close(&f);
}

TEST(test_timeline_not_increasing)
{
    struct fixture f;
    fixture_open(&f, QUIET);
    VkSemaphore a = fixture_timeline(&f, 5);
    assert_success(fixture_submit(f.queues[0][0], (struct submit){.signal = a, .signal_value = 5}));
    assert_success(vkDeviceWaitIdle(f.device));
    fixture_expect(&f, BELFRY_ICD_TIMELINE_NOT_INCREASING, 1);
    fixture_signal(&f, a, 4);
    fixture_expect(&f, BELFRY_ICD_TIMELINE_NOT_INCREASING, 1);
    assert_int_equal(fixture_value(&f, a), 5);
    vkDestroySemaphore(f.device, a, NULL);
    fixture_close(&f);
}

/* Reachable, so that the leak sanitizer leaves the finding to the driver. */
static VkFence leaked[2];

TEST(test_leak)
{
    struct fixture f;
    fixture_open(&f, QUIET);
    leaked[0] = fixture_fence(&f);
    leaked[1] = fixture_fence(&f);
    assert_ptr_not_equal(leaked[0], leaked[1]);
    fixture_close_device(&f);
    fixture_expect(&f, BELFRY_ICD_LEAK, 2);
    fixture_close(&f);
}

TEST(test_destroy_pending)
{
    struct fixture f;
    fixture_open(&f, QUIET);
    VkSemaphore signalled = fixture_timeline(&f, 0);
    VkSemaphore waited = fixture_binary(&f);
    VkFence fence = fixture_fence(&f);
    VkCommandBuffer commands = fixture_store(&f, 0, 42);
    f.icd.pause();
    assert_success(fixture_submit1(f.queues[0][0], (struct submit){.signal = waited}));
    assert_success(fixture_submit(f.queues[0][0], (struct submit){.wait = waited,
                                                                  .commands = commands,
                                                                  .signal = signalled,
                                                                  .signal_value = 1,
                                                                  .fence = fence}));
    fixture_expect_none(&f);
    vkDestroySemaphore(f.device, signalled, NULL);
    fixture_expect(&f, BELFRY_ICD_DESTROY_PENDING, 1);
    vkDestroySemaphore(f.device, waited, NULL);
    fixture_expect(&f, BELFRY_ICD_DESTROY_PENDING, 1);
    vkDestroyFence(f.device, fence, NULL);
    fixture_expect(&f, BELFRY_ICD_DESTROY_PENDING, 1);
    assert_success(vkResetCommandBuffer(commands, 0));
    fixture_expect(&f, BELFRY_ICD_DESTROY_PENDING, 1);
    f.icd.resume();
    assert_success(vkDeviceWaitIdle(f.device));
    assert_int_equal(f.words[0], 42);

    commands = fixture_store(&f, 0, 43);
    f.icd.pause();
    assert_success(fixture_submit(f.queues[0][0], (struct submit){.commands = commands}));
    vkFreeCommandBuffers(f.device, f.pool, 1, &commands);
    fixture_expect(&f, BELFRY_ICD_DESTROY_PENDING, 1);
    f.icd.resume();
    assert_success(vkDeviceWaitIdle(f.device));
    assert_int_equal(f.words[0], 43);
    fixture_close(&f);
}

/* A device destroyed with work in it doesn't hang, not even over a wait that nothing will end. */
TEST(test_destroy_busy_device)
{
    struct fixture f;
    fixture_open(&f, QUIET);
    VkSemaphore a = fixture_timeline(&f, 0);
    assert_success(fixture_submit(f.queues[0][0], (struct submit){.wait = a, .wait_value = 1}));
    f.icd.quiesce();
    f.icd.reset_counters();
    vkDestroySemaphore(f.device, a, NULL);
    fixture_expect(&f, BELFRY_ICD_DESTROY_PENDING, 1);
    fixture_close_device(&f);
    fixture_expect(&f, BELFRY_ICD_DESTROY_PENDING, 1);
    fixture_close(&f);
}

TEST(test_command_buffer_state)
{
    struct fixture f;
    fixture_open(&f, QUIET);
    VkCommandBuffer once = fixture_begin(&f, VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT);
    assert_success(fixture_submit(f.queues[0][0], (struct submit){.commands = once}));
    fixture_expect(&f, BELFRY_ICD_COMMAND_BUFFER_STATE, 1);
    assert_success(vkDeviceWaitIdle(f.device));
    once = fixture_begin(&f, VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT);
    assert_success(vkEndCommandBuffer(once));
    assert_success(fixture_submit(f.queues[0][0], (struct submit){.commands = once}));
    assert_success(vkDeviceWaitIdle(f.device));
    fixture_expect_none(&f);
    assert_success(fixture_submit(f.queues[0][0], (struct submit){.commands = once}));
    fixture_expect(&f, BELFRY_ICD_COMMAND_BUFFER_STATE, 1);

    VkCommandBuffer single = fixture_store(&f, 0, 1);
    VkCommandBuffer many = fixture_begin(&f, VK_COMMAND_BUFFER_USAGE_SIMULTANEOUS_USE_BIT);
    assert_success(vkEndCommandBuffer(many));
    f.icd.pause();
    assert_success(fixture_submit(f.queues[0][0], (struct submit){.commands = single}));
    assert_success(fixture_submit(f.queues[0][0], (struct submit){.commands = many}));
    assert_success(fixture_submit(f.queues[0][1], (struct submit){.commands = many}));
    fixture_expect_none(&f);
    assert_success(fixture_submit(f.queues[0][1], (struct submit){.commands = single}));
    fixture_expect(&f, BELFRY_ICD_COMMAND_BUFFER_STATE, 1);
    f.icd.resume();
    assert_success(vkDeviceWaitIdle(f.device));
    fixture_close(&f);
}

TEST(test_unknown_family)
{
    struct fixture f;
    fixture_open(&f, QUIET);
    VkCommandBuffer commands = fixture_begin(&f, 0);
    VkBufferMemoryBarrier barrier = {
        .sType = VK_STRUCTURE_TYPE_BUFFER_MEMORY_BARRIER,
        .srcQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
        .dstQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
        .buffer = f.buffer,
        .size = VK_WHOLE_SIZE,
    };
    vkCmdPipelineBarrier(commands, VK_PIPELINE_STAGE_TRANSFER_BIT, VK_PIPELINE_STAGE_TRANSFER_BIT,
                         0, 0, NULL, 1, &barrier, 0, NULL);
    fixture_expect_none(&f);
    barrier.srcQueueFamilyIndex = 0;
    barrier.dstQueueFamilyIndex = 1;
    vkCmdPipelineBarrier(commands, VK_PIPELINE_STAGE_TRANSFER_BIT, VK_PIPELINE_STAGE_TRANSFER_BIT,
                         0, 0, NULL, 1, &barrier, 0, NULL);
    fixture_expect(&f, BELFRY_ICD_UNKNOWN_FAMILY, 1);
    const VkCommandPoolCreateInfo info = {.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
                                          .queueFamilyIndex = 3};
    VkCommandPool pool;
    assert_success(vkCreateCommandPool(f.device, &info, NULL, &pool));
    fixture_expect(&f, BELFRY_ICD_UNKNOWN_FAMILY, 1);
    vkDestroyCommandPool(f.device, pool, NULL);
    fixture_close(&f);
}

TEST(test_label_unbalanced)
{
    struct fixture f;
    fixture_open(&f, "SHAPE=q2 QUIET=1");
    const VkDebugUtilsLabelEXT label = {.sType = VK_STRUCTURE_TYPE_DEBUG_UTILS_LABEL_EXT,
                                        .pLabelName = "a"};
    vkQueueBeginDebugUtilsLabelEXT(f.queues[0][0], &label);
    vkQueueEndDebugUtilsLabelEXT(f.queues[0][0]);
    fixture_expect_none(&f);
    vkQueueBeginDebugUtilsLabelEXT(f.queues[0][0], &label);
    vkQueueEndDebugUtilsLabelEXT(f.queues[0][1]); /* the other's is none of its business */
    fixture_expect(&f, BELFRY_ICD_LABEL_UNBALANCED, 1);
    vkQueueEndDebugUtilsLabelEXT(f.queues[0][0]);
    fixture_expect_none(&f);
    fixture_close(&f);
}

/* First of all, while the process has no thread yet. */
TEST(test_abort)
{
    pid_t child = fork();
    assert_true(child >= 0);
    if (!child) {
        fclose(stderr);
        struct fixture f;
        fixture_open(&f, "SHAPE=q1 ABORT_ON_VIOLATION=1");
        fixture_submit(f.queues[0][0], (struct submit){0});
        _exit(0);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status));
    assert_int_equal(WTERMSIG(status), SIGABRT);
}
