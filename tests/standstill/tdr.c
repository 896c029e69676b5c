/* SPDX-License-Identifier: MIT */
/* Engines that hang, on a test driver that says that it is a GPU: work of a command queue that
 * doesn't end loses the device after the time that is set, and frees whoever waits, though the
 * driver knows of nothing; what isn't a command queue's, or was exempted, or ends in time, does
 * nothing. */
#include "support/traced.h"

#include <ctype.h>
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

static BfCommandQueue make_queue_with(struct fixture *f, BfCommandQueueFlags flags)
{
    const BfCommandQueueCreateInfo info = {BF_TYPE(COMMAND_QUEUE_CREATE_INFO), .flags = flags};
    BfCommandQueue queue = NULL;
    assert_success(bfCreateCommandQueue(f->bf, &info, &queue));
    return f->made_queues[f->queue_count++] = queue;
}

static BfDeviceRemovedReason reason_of(struct fixture *f)
{
    BfDeviceRemovedReason reason;
    VkResult result = bfGetDeviceRemovedReason(f->bf, &reason);
    assert_int_equal(result == VK_SUCCESS, reason == BF_DEVICE_REMOVED_REASON_NONE);
    return reason;
}

/* The driver finds out, too, as by the kernel's reset: the stalls end. */
static void reset(struct fixture *f)
{
    f->lost = true;
    f->stalls = 0;
    f->icd.lose();
}

static void submit(struct fixture *f, VkQueue queue, VkCommandBuffer commands, VkSemaphore wait)
{
    const VkCommandBufferSubmitInfo buffer = {VK_TYPE(COMMAND_BUFFER_SUBMIT_INFO),
                                              .commandBuffer = commands};
    const VkSemaphoreSubmitInfo semaphore = {VK_TYPE(SEMAPHORE_SUBMIT_INFO), .semaphore = wait,
                                             .value = 7,
                                             .stageMask = VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT};
    const VkSubmitInfo2 info = {
        VK_TYPE(SUBMIT_INFO_2), .commandBufferInfoCount = 1, .pCommandBufferInfos = &buffer,
        .waitSemaphoreInfoCount = wait != VK_NULL_HANDLE, .pWaitSemaphoreInfos = &semaphore};
    assert_success(f->layered ? vkQueueSubmit2(queue, 1, &info, VK_NULL_HANDLE)
                              : bfVkQueueSubmit(f->bf, queue, 1, &info, VK_NULL_HANDLE));
}

/* ------------------------------------------------------------------------------ What is told -- */

static struct {
    pthread_mutex_t lock;
    pthread_cond_t came;
    uint32_t count;
    char lines[64][256];
} told = {.lock = PTHREAD_MUTEX_INITIALIZER, .came = PTHREAD_COND_INITIALIZER};

static void hear(BfMessageSeverity severity, const char *text, void *context)
{
    pthread_mutex_lock(&told.lock);
    if (told.count < 64)
        snprintf(told.lines[told.count++], sizeof(told.lines[0]), "%s", text);
    pthread_cond_broadcast(&told.came);
    pthread_mutex_unlock(&told.lock);
}

#define SETTING "VK_BELFRY_MULTI_ENGINE_"

/* A device that the program attaches, with settings of its own. */
static void attach_gpu(struct fixture *f, const char *settings)
{
    char text[256], *rest;
    BfSetting own[8];
    uint32_t n = 0;
    assert_true((size_t)snprintf(text, sizeof(text), "%s", settings) < sizeof(text));
    for (char *word = strtok_r(text, " ", &rest); word; word = strtok_r(NULL, " ", &rest)) {
        char *key = word + strlen(SETTING), *value = strchr(word, '=');
        assert_true(n < 8 && value && !strncmp(word, SETTING, strlen(SETTING)));
        *value = '\0';
        for (char *c = key; *c; c++)
            *c = (char)tolower(*c);
        own[n++] = (BfSetting){key, value + 1};
    }
    fixture_open_instance(f, ENVIRONMENT("GPU=1"));
    assert_success(fixture_open_device(f, ENVIRONMENT("GPU=1")));
    assert_success(fixture_attach_with(f, n, own));
    device_open_words(&f->base, FIXTURE_WORDS, 0, 0);
}

/* 'settings' are as in the environment, which has them under the layer. */
static void open_gpu(struct fixture *f, const char *settings)
{
    told.count = 0;
    assert_success(bfSetMessageCallback(hear, NULL));
    if (!fixture_is_layered()) {
        attach_gpu(f, settings);
        return;
    }
    fixture_open(f, OPTIONS(.environment = "GPU=1", .settings = settings));
}

static void close_gpu(struct fixture *f)
{
    fixture_close(f);
    assert_success(bfSetMessageCallback(NULL, NULL));
}

/* The line with that in it, or NULL; told's lock is held. Lines stay as they are. */
static const char *told_find(const char *part)
{
    for (uint32_t i = 0; i < told.count; i++)
        if (strstr(told.lines[i], part))
            return told.lines[i];
    return NULL;
}

static uint32_t told_count(const char *part)
{
    uint32_t count = 0;
    pthread_mutex_lock(&told.lock);
    for (uint32_t i = 0; i < told.count; i++)
        count += strstr(told.lines[i], part) != NULL;
    pthread_mutex_unlock(&told.lock);
    return count;
}

static const char *told_line(const char *part)
{
    pthread_mutex_lock(&told.lock);
    const char *line = told_find(part);
    pthread_mutex_unlock(&told.lock);
    return line;
}

/* Waits for a line with that in it. */
static void expect(const char *part)
{
    pthread_mutex_lock(&told.lock);
    while (!told_find(part))
        pthread_cond_wait(&told.came, &told.lock);
    pthread_mutex_unlock(&told.lock);
}

/* ------------------------------------------------------------------------------------ Hangs -- */

#define DELAY SETTING "TDR_DELAY="

struct waiter {
    struct fixture *f;
    int kind;
    BfFence fence;
    BfCommandQueue queue;
    VkFence vkfence;
    VkSemaphore semaphore;
    VkCommandBuffer commands;
    VkResult result;
};

static void wait_for(void *argument)
{
    struct waiter *w = argument;
    const uint64_t value = 7;
    const VkSemaphoreWaitInfo info = {VK_TYPE(SEMAPHORE_WAIT_INFO), .semaphoreCount = 1,
                                      .pSemaphores = &w->semaphore, .pValues = &value};
    switch (w->kind) {
    case 0:
        w->result = bfWaitFences(1, &w->fence, &value, BF_FENCE_WAIT_ALL, UINT64_MAX);
        break;
    case 1:
        w->result = bfQueueWaitIdle(w->queue);
        break;
    case 2: /* from here on in the driver, under the layer */
        w->result = vkWaitSemaphores(w->f->device, &info, UINT64_MAX);
        break;
    case 3:
        w->result = vkWaitForFences(w->f->device, 1, &w->vkfence, VK_TRUE, UINT64_MAX);
        break;
    case 4:
        w->result = vkQueueWaitIdle(w->f->queues[bfGetCommandQueueFamilyIndex(w->queue)][0]);
        break;
    default:
        w->result = vkDeviceWaitIdle(w->f->device);
    }
}

/* What becomes of a process, by the registry's values: it ends by a signal, or goes on. First of
 * all tests: a child has the recoveries of its parent. */
TEST(hangs_end_the_process_or_not)
{
    static const struct {
        const char *settings;
        int hangs, signal;
    } rows[] = {
        {"TDR_LEVEL=1", 1, SIGABRT},
        {"TDR_LEVEL=2", 1, 0},
        {"TDR_LIMIT_COUNT=0", 1, SIGABRT},
        {"TDR_LIMIT_COUNT=1", 2, SIGABRT},
        {"TDR_LIMIT_COUNT=1 VK_BELFRY_MULTI_ENGINE_TDR_LIMIT_TIME=1", 3, 0},
        {"TDR_DEBUG_MODE=0", 1, SIGTRAP},
        {"TDR_DEBUG_MODE=3 VK_BELFRY_MULTI_ENGINE_TDR_LIMIT_COUNT=0", 2, 0},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0) {
            char settings[160];
            snprintf(settings, sizeof(settings), DELAY "40 VK_BELFRY_MULTI_ENGINE_%s",
                     rows[i].settings);
            signal(SIGABRT, SIG_DFL);
            signal(SIGTRAP, SIG_DFL);
            for (int n = 0; n < rows[i].hangs; n++) {
                struct fixture f;
                open_gpu(&f, settings);
                BfCommandQueue queue = make_queue_with(&f, 0);
                stall_begin(&f, queue);
                bfQueueWaitIdle(queue);
                reset(&f);
                close_gpu(&f);
            }
            _exit(0);
        }
        int status;
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_int_equal(rows[i].signal ? WIFSIGNALED(status) : WIFEXITED(status), 1);
        assert_int_equal(rows[i].signal ? WTERMSIG(status) : WEXITSTATUS(status), rows[i].signal);
    }
}

TEST_AROUND(work_that_never_ends_loses_the_device_and_frees_who_waits, struct fixture, f, open_gpu,
            close_gpu, DELAY "300")
{
    BfCommandQueue queue = make_queue_with(f, 0);
    BfFence fence = make_fence(f, 0);
    VkSemaphore semaphore = make_timeline(f, 0);
    VkFence vkfence = vulkan_fence(f->device, false);
    assert_int_equal(reason_of(f), BF_DEVICE_REMOVED_REASON_NONE);
    stall_begin(f, queue);
    queue_signal(queue, fence, 7);
    if (f->layered)
        submit(f, f->queues[0][0], write_word_in(f, 0, 0, 1), semaphore); /* held */
    int count = f->layered ? 6 : 2;
    struct waiter waiters[6];
    struct thread threads[6];
    for (int i = 0; i < count; i++) {
        waiters[i] = (struct waiter){.f = f,
                                     .kind = i,
                                     .fence = fence,
                                     .queue = queue,
                                     .vkfence = vkfence,
                                     .semaphore = semaphore,
                                     .result = VK_INCOMPLETE};
        thread_start(&threads[i], wait_for, &waiters[i]);
    }
    for (int i = 0; i < count; i++) {
        thread_join(&threads[i]);
        assert_int_equal(waiters[i].result, VK_ERROR_DEVICE_LOST);
    }
    assert_int_equal(reason_of(f), BF_DEVICE_REMOVED_REASON_HUNG);
    assert_value(fence, UINT64_MAX);
    expect("packet 1 of its queue, 1 command buffers: hangs");
    reset(f);
    f->icd.quiesce();
    vkDestroyFence(f->device, vkfence, NULL);
}

/* Where nothing is held, it is the driver that waits for idleness. */
TEST_AROUND(work_that_never_ends_frees_who_waits_for_idleness, struct fixture, f, open_gpu,
            close_gpu, DELAY "100 VK_BELFRY_MULTI_ENGINE_TDR_LIMIT_COUNT=63")
{
    BfCommandQueue queue = make_queue_with(f, 0);
    uint32_t family = bfGetCommandQueueFamilyIndex(queue);
    stall_begin(f, queue);
    if (f->layered) {
        submit(f, f->queues[family][0], write_word_in(f, family, 0, 1), VK_NULL_HANDLE);
        struct waiter waiters[2] = {{.f = f, .kind = 4, .queue = queue}, {.f = f, .kind = 5}};
        struct thread threads[2];
        for (int i = 0; i < 2; i++)
            thread_start(&threads[i], wait_for, &waiters[i]);
        for (int i = 0; i < 2; i++)
            thread_join(&threads[i]);
        /* On a VkQueue of its own the first is idle soon. */
        assert_int_equal(waiters[1].result, VK_ERROR_DEVICE_LOST);
    }
    reset(f);
    f->icd.quiesce();
}

/* Whatever the GPU still does of it, and the driver knows of no loss: nobody is told twice, no
 * value comes back, and what was dropped isn't handed over. */
TEST_AROUND(work_that_ends_after_the_loss_changes_nothing, struct fixture, f, open_gpu, close_gpu,
            DELAY "100")
{
    BfCommandQueue queue = make_queue_with(f, 0),
                   behind = make_queue(f, BF_COMMAND_LIST_TYPE_COMPUTE);
    BfFence fence = make_fence(f, 0), native = make_native_fence(f, 0);
    BfEvent event = make_event(f);
    VkEvent stall = stall_begin(f, queue);
    queue_signal(queue, fence, 7);
    queue_signal(queue, native, 7);
    execute(queue, write_word(f, queue, 0, 5));
    queue_wait(behind, make_fence(f, 0), 1);
    execute(behind, write_word(f, behind, 1, 6));
    set_event_on(fence, 7, event);
    assert_int_equal(bfQueueWaitIdle(queue), VK_ERROR_DEVICE_LOST);
    await_event(event);
    stall_end(f, stall);
    f->icd.quiesce();
    assert_int_equal(counters_of(f).eventsSet, 1);
    assert_false(take_event(event));
    assert_value(fence, UINT64_MAX);
    assert_value(native, UINT64_MAX);
    assert_int_equal(read_word(f, 1), 0);
    assert_int_equal(bfQueueWaitIdle(queue), VK_ERROR_DEVICE_LOST);
    assert_int_equal(reason_of(f), BF_DEVICE_REMOVED_REASON_HUNG);
    f->lost = true;
    f->icd.lose();
}

/* SS-7: the watchdog has said what stands, so the hang doesn't say it again. */
TEST_AROUND(what_stands_is_told_once, struct fixture, f, open_gpu, close_gpu,
            DELAY
            "1000 VK_BELFRY_MULTI_ENGINE_WATCHDOG=50 VK_BELFRY_MULTI_ENGINE_TDR_LIMIT_COUNT=63")
{
    BfCommandQueue queue = make_queue_with(f, 0);
    stall_begin(f, queue);
    assert_int_equal(bfQueueWaitIdle(queue), VK_ERROR_DEVICE_LOST);
    expect(" hangs: ");
    assert_int_equal(told_count("standstill: the GPU has been busy with packet 1 of "), 1);
    reset(f);
    f->icd.quiesce();
}

/* Beside the submissions: what its fence logs say last, by names. */
TEST_AROUND(last_log_entries_are_told, struct fixture, f, open_gpu, close_gpu, DELAY "100")
{
    BfCommandQueue queue = make_queue_with(f, 0);
    BfFence fence = make_fence(f, 0);
    const BfFenceLogReaderCreateInfo info = {BF_TYPE(FENCE_LOG_READER_CREATE_INFO), .queue = queue,
                                             .type = BF_FENCE_LOG_TYPE_SIGNALS};
    BfFenceLogReader reader;
    assert_success(bfCreateFenceLogReader(f->bf, &info, &reader));
    assert_success(bfSetObjectName(BF_OBJECT_TYPE_FENCE, fence, "copied"));
    assert_success(bfSetObjectName(BF_OBJECT_TYPE_COMMAND_QUEUE, queue, "upload"));
    for (uint64_t value = 1; value <= 4; value++)
        queue_signal(queue, fence, value);
    queue_wait(queue, fence, 2);
    await_idle(queue);
    execute(queue, write_word(f, queue, 0, 1));
    await_idle(queue);
    stall_begin(f, queue);
    queue_signal(queue, fence, 5);
    assert_int_equal(bfQueueWaitIdle(queue), VK_ERROR_DEVICE_LOST);
    expect("it signalled 4 of fence 'copied'");
    assert_non_null(strstr(told_line("entry 2: it signalled 2 of fence 'copied'"), "'upload'"));
    assert_non_null(told_line("entry 1: it waited for 2 of fence 'copied'"));
    assert_null(told_line("it signalled 1 of"));
    assert_null(told_line("it signalled 5 of"));
    reset(f);
    f->icd.quiesce();
    bfDestroyFenceLogReader(reader);
}

/* Also where the watchdog is off: the line with the packet, its queue and its command buffers, and
 * the log's; the first stands in the trace, too, with that of the hang. */
TEST(what_hangs_is_told_by_names_without_a_watchdog)
{
    struct fixture f;
    struct traced t;
    char settings[200];
    traced_prepare(&t);
    snprintf(settings, sizeof(settings),
             DELAY "100 " SETTING "TDR_LIMIT_COUNT=63 " SETTING "WATCHDOG=0 " SETTING "TRACE=%s",
             t.path);
    open_gpu(&f, settings);
    BfCommandQueue queue = make_queue_with(&f, 0);
    BfFence fence = make_fence(&f, 0);
    assert_success(bfSetObjectName(BF_OBJECT_TYPE_FENCE, fence, "copied"));
    assert_success(bfSetObjectName(BF_OBJECT_TYPE_COMMAND_QUEUE, queue, "upload"));
    queue_signal(queue, fence, 1);
    execute(queue, write_word(&f, queue, 0, 1));
    await_idle(queue);
    stall_begin(&f, queue);
    assert_int_equal(bfQueueWaitIdle(queue), VK_ERROR_DEVICE_LOST);
    expect("it signalled 1 of fence 'copied'");
    const char *line = told_line("standstill: the GPU has been busy with packet ");
    assert_non_null(line);
    assert_non_null(strstr(line, "'upload' for "));
    assert_non_null(strstr(line, " s: command buffer "));
    assert_non_null(told_line(" of its queue, 1 command buffers: hangs"));
    reset(&f);
    f.icd.quiesce();
    close_gpu(&f);
    assert_true(traced_has(&t, " hangs: it hasn't finished a command queue's submission"));
    assert_true(traced_has(&t, "the GPU has been busy with packet "));
    traced_remove(&t);
}

/* The clock doesn't run for what the first queue has, though it is there first, and its engine is
 * looked at first: the second queue's engine hangs. */
static void blame_the_second(int first)
{
    struct fixture f;
    /* With those of other tests these are more than a process may recover from. */
    open_gpu(&f, DELAY "40 VK_BELFRY_MULTI_ENGINE_TDR_LIMIT_COUNT=63");
    BfCommandQueue hangs = make_queue(&f, BF_COMMAND_LIST_TYPE_COMPUTE);
    BfCommandQueue waits =
        make_queue_with(&f, first == 0 ? BF_COMMAND_QUEUE_DISABLE_GPU_TIMEOUT_BIT : 0);
    BfFence fence = make_fence(&f, 0);
    uint32_t family = bfGetCommandQueueFamilyIndex(hangs);
    assert_true(family > bfGetCommandQueueFamilyIndex(waits));
    if (first == 0) { /* exempted */
        stall_begin(&f, waits);
    } else if (first == 1) { /* behind work of VkQueues */
        VkEvent stall =
            stall_begin(&f, make_queue_with(&f, BF_COMMAND_QUEUE_DISABLE_GPU_TIMEOUT_BIT));
        for (uint32_t i = 0; i < f.queue_counts[0]; i++) {
            VkCommandBuffer commands = commands_begin_in(&f, 0, VK_COMMAND_BUFFER_LEVEL_PRIMARY);
            vkCmdWaitEvents(commands, 1, &stall, VK_PIPELINE_STAGE_HOST_BIT,
                            VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, 0, NULL, 0, NULL, 0, NULL);
            assert_success(vkEndCommandBuffer(commands));
            submit(&f, f.queues[0][i], commands, VK_NULL_HANDLE);
        }
        execute(waits, write_word(&f, waits, 0, 1));
    }
    stall_begin(&f, hangs);
    queue_signal(hangs, fence, 1);
    if (first == 2) { /* it waits on the GPU for the second */
        queue_wait(waits, fence, 1);
        execute(waits, write_word(&f, waits, 0, 1));
    }
    assert_int_equal(bfQueueWaitIdle(hangs), VK_ERROR_DEVICE_LOST);
    assert_int_equal(reason_of(&f), BF_DEVICE_REMOVED_REASON_HUNG);
    char engine[32];
    snprintf(engine, sizeof(engine), "engine %u:", family);
    assert_non_null(strstr(told_line(" hangs: "), engine));
    reset(&f);
    close_gpu(&f);
}

TEST(what_has_no_timeout_is_no_hang)
{
    for (int first = 0; first < 3; first++)
        blame_the_second(first);
}

/* Half of the time over, the queue is given no more work, and has it when the engine gets on. */
TEST_AROUND(work_that_ends_late_goes_on, struct fixture, f, open_gpu, close_gpu, DELAY "6000")
{
    BfCommandQueue queue = make_queue_with(f, 0);
    BfFence fence = make_fence(f, 0);
    VkEvent stall = stall_begin(f, queue);
    alarm(FIXTURE_SECONDS);
    expect("no more work");
    execute(queue, write_word(f, queue, 0, 5));
    queue_signal(queue, fence, 1);
    assert_value(fence, 0);
    stall_end(f, stall);
    await_fence(fence, 1);
    assert_int_equal(read_word(f, 0), 5);
    assert_int_equal(reason_of(f), BF_DEVICE_REMOVED_REASON_NONE);
}

/* As in Windows 7: nobody asks it before. */
TEST_AROUND(without_preemption_nothing_is_held_back, struct fixture, f, open_gpu, close_gpu,
            DELAY "40 VK_BELFRY_MULTI_ENGINE_TDR_DEBUG_MODE=1 "
                  "VK_BELFRY_MULTI_ENGINE_PREEMPTION=false")
{
    BfCommandQueue queue = make_queue_with(f, 0);
    VkEvent stall = stall_begin(f, queue);
    expect(" hangs: ");
    assert_null(told_line("no more work"));
    stall_end(f, stall);
    await_idle(queue);
}

TEST_AROUND(a_hang_may_be_ignored, struct fixture, f, open_gpu, close_gpu,
            DELAY "40 VK_BELFRY_MULTI_ENGINE_TDR_DEBUG_MODE=1")
{
    BfCommandQueue queue = make_queue_with(f, 0);
    VkEvent stall = stall_begin(f, queue);
    expect(" hangs: ");
    stall_end(f, stall);
    await_idle(queue);
    assert_int_equal(reason_of(f), BF_DEVICE_REMOVED_REASON_NONE);
}

/* What an attached program's VkQueues wait for Belfry may never have been told of: it may be
 * binary, with whatever value, and be destroyed as soon as the submission has ended. */
TEST_AROUND(semaphores_of_which_nobody_told_are_not_asked, struct fixture, f, open_gpu, close_gpu,
            DELAY "60000 VK_BELFRY_MULTI_ENGINE_WATCHDOG=50")
{
    if (f->layered) /* which sees how they are made */
        return;
    VkSemaphore binary = vulkan_binary(f->device);
    const VkCommandBufferSubmitInfo buffer = {VK_TYPE(COMMAND_BUFFER_SUBMIT_INFO),
                                              .commandBuffer = write_word_in(f, 0, 0, 1)};
    const VkSemaphoreSubmitInfo signal = {VK_TYPE(SEMAPHORE_SUBMIT_INFO), .semaphore = binary,
                                          .stageMask = VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT};
    const VkSubmitInfo2 info = {VK_TYPE(SUBMIT_INFO_2), .commandBufferInfoCount = 1,
                                .pCommandBufferInfos = &buffer, .signalSemaphoreInfoCount = 1,
                                .pSignalSemaphoreInfos = &signal};
    assert_true(f->queue_counts[0] > 1);
    f->icd.hold_before_signals(true);
    assert_success(bfVkQueueSubmit(f->bf, f->queues[0][1], 1, &info, VK_NULL_HANDLE));
    submit(f, f->queues[0][0], write_word_in(f, 0, 1, 2), binary);
    expect("the GPU has been busy with packet 1 of");
    f->icd.hold_before_signals(false);
    f->icd.quiesce();
    vkDestroySemaphore(f->device, binary, NULL);
}

/* Who is still in the driver when tdr_ddi_delay is over is named. */
static void execute_one(void *argument)
{
    struct waiter *w = argument;
    VkCommandBuffer commands = w->commands;
    w->result = bfQueueExecute(w->queue, 1, &commands);
}

TEST_AROUND(calls_that_stay_in_the_driver_are_told, struct fixture, f, open_gpu, close_gpu,
            DELAY "100 VK_BELFRY_MULTI_ENGINE_TDR_DDI_DELAY=50 "
                  "VK_BELFRY_MULTI_ENGINE_TDR_LIMIT_COUNT=63")
{
    BfCommandQueue queue = make_queue_with(f, 0),
                   stuck = make_queue(f, BF_COMMAND_LIST_TYPE_COMPUTE);
    struct waiter w = {.f = f, .queue = stuck, .commands = write_word(f, stuck, 0, 1)};
    struct thread thread;
    stall_begin(f, queue);
    f->icd.set_block(&(struct belfry_icd_block){.command = "vkQueueSubmit2", .first = 1});
    thread_start(&thread, execute_one, &w);
    f->icd.await_blocked(1);
    expect("hasn't left the driver 50 ms after the loss");
    f->icd.set_block(NULL);
    f->icd.release(UINT64_MAX);
    thread_join(&thread);
    reset(f);
    f->icd.quiesce();
}
