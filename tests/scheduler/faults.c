/* SPDX-License-Identifier: MIT */
/* A driver that fails at each of the first 500 calls of a busy program, in turn: the device is lost
 * there, or there is no memory, once. No call hangs, no object leaks, the results are those that
 * the headers allow, and the program goes on: with its device, or with the next one in its process.
 *
 * Here each STEP-th call fails; BELFRY_TEST_STEP=1 (./dev soak faults) is for all of them. */
#include "support/fixture.h"

enum { A, B, C, D, QUEUES, ROUNDS = 20, CALLS = 500, STEP = CALLS / (10 * TIMES(8)) };

/* What fails, and what has come of it. */
struct program {
    struct fixture f;
    uint64_t at;     /* the call; 0: none */
    VkResult result; /* what it returns */
    uint64_t memory; /* calls that have told the program that there is no memory */
    BfCommandQueue queues[QUEUES];
    VkCommandBuffer commands[QUEUES];
    BfFence chain, next, back, gate, imported, exported, shared;
    BfFence *fences[7];
    BfEvent events[ROUNDS], far;
    BfFenceLogReader reader;
    VkSemaphore followed, following;
    VkFence fence;
};

static bool went(struct program *p, VkResult result)
{
    if (result == VK_SUCCESS || result == VK_INCOMPLETE)
        return true;
    bool memory = result == VK_ERROR_OUT_OF_HOST_MEMORY;
    if (!(memory || result == VK_ERROR_DEVICE_LOST) || result != p->result ||
        p->f.icd.fault_calls() < p->at)
        fail_msg("call %llu returns %d: %d came of it", (unsigned long long)p->at, p->result,
                 result);
    p->memory += memory;
    return false;
}

static VkCommandBuffer make_commands(struct program *p, BfCommandQueue queue, uint32_t word)
{
    struct fixture *f = &p->f;
    VkCommandBuffer commands =
        vulkan_begin(f->device, f->pools[bfGetCommandQueueFamilyIndex(queue)],
                     VK_COMMAND_BUFFER_LEVEL_PRIMARY, VK_COMMAND_BUFFER_USAGE_SIMULTANEOUS_USE_BIT);
    put_word(f, commands, word, word + 1);
    commands_end(commands);
    return commands;
}

/* What a busy program has. Only objects that are Belfry's, or that it has to ask the driver for. */
static void open_objects(struct program *p)
{
    static const BfCommandListType types[QUEUES] = {
        BF_COMMAND_LIST_TYPE_DIRECT, BF_COMMAND_LIST_TYPE_COMPUTE, BF_COMMAND_LIST_TYPE_COPY,
        BF_COMMAND_LIST_TYPE_DIRECT};
    struct fixture *f = &p->f;
    for (int i = 0; i < QUEUES; i++) {
        p->queues[i] = make_queue(f, types[i]);
        p->commands[i] = make_commands(p, p->queues[i], (uint32_t)i);
    }
    p->fence = vulkan_fence(f->device, false);
    p->followed = make_timeline(f, 0);
    p->following = make_timeline(f, 0);
    for (int i = 0; i < ROUNDS; i++)
        p->events[i] = make_event(f);
    p->far = make_event(f);
    f->icd.set_fault(NULL, p->at ? p->at : UINT64_MAX, p->result);

    BfFence *const fences[7] = {&p->chain,    &p->next,   &p->back,    &p->gate,
                                &p->exported, &p->shared, &p->imported};
    for (int i = 0; i < 7; i++) {
        const BfFenceCreateInfo info = {BF_TYPE(FENCE_CREATE_INFO),
                                        .flags = i == 5 ? BF_FENCE_SHARED_BIT : 0};
        const BfNativeFenceCreateInfo native = {BF_TYPE(NATIVE_FENCE_CREATE_INFO)};
        p->fences[i] = fences[i];
        for (int tries = 0; tries < 2 && !*fences[i]; tries++)
            went(p, i == 6 ? bfImportFenceFromSemaphore(f->bf, p->followed, fences[i])
                    : i < 2 && fixture_has_native_fences()
                        ? bfCreateNativeFence(f->bf, &native, fences[i])
                        : bfCreateFence(f->bf, &info, fences[i]));
        if (*fences[i])
            f->made_fences[f->fence_count++] = *fences[i];
    }
    if (p->exported && !went(p, bfExportFenceToSemaphore(p->exported, p->following)))
        went(p, bfExportFenceToSemaphore(p->exported, p->following));
    const BfFenceLogReaderCreateInfo reader = {BF_TYPE(FENCE_LOG_READER_CREATE_INFO),
                                               .queue = p->queues[B],
                                               .type = BF_FENCE_LOG_TYPE_SIGNALS};
    went(p, bfCreateFenceLogReader(f->bf, &reader, &p->reader));
}

static void submit(struct program *p, uint64_t value)
{
    struct fixture *f = &p->f;
    uint32_t family = bfGetCommandQueueFamilyIndex(p->queues[A]);
    const VkCommandBufferSubmitInfo commands = {VK_TYPE(COMMAND_BUFFER_SUBMIT_INFO),
                                                .commandBuffer = p->commands[A]};
    const VkSemaphoreSubmitInfo wait = {VK_TYPE(SEMAPHORE_SUBMIT_INFO), .semaphore = p->followed,
                                        .value = value,
                                        .stageMask = VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT};
    const VkSubmitInfo2 info = {VK_TYPE(SUBMIT_INFO_2), .waitSemaphoreInfoCount = 1,
                                .pWaitSemaphoreInfos = &wait, .commandBufferInfoCount = 1,
                                .pCommandBufferInfos = &commands};
    VkQueue queue = f->queues[family][0];
    if (!went(p, f->layered ? vkQueueSubmit2(queue, 1, &info, p->fence)
                            : bfVkQueueSubmit(f->bf, queue, 1, &info, p->fence)))
        return;
    /* What it waits for: by the queue, which may have lacked the memory, or else by the host. */
    if (p->memory) {
        while (!went(p, bfQueueWaitIdle(p->queues[D])))
            ;
        while (bfGetFenceCompletedValue(p->imported) < value)
            went(p, bfSignalFence(p->imported, value));
    }
    while (!went(p, vkWaitForFences(f->device, 1, &p->fence, VK_TRUE, UINT64_MAX)))
        if (p->result == VK_ERROR_DEVICE_LOST)
            return;
    if (!went(p, vkResetFences(f->device, 1, &p->fence)))
        went(p, vkResetFences(f->device, 1, &p->fence));
}

/* Work goes from queue to queue and back, held until the host says so. */
static void run_round(struct program *p, uint64_t value)
{
    const uint64_t failed = p->memory;
    went(p, bfQueueWait(p->queues[A], p->back, value - 1));
    went(p, bfQueueExecute(p->queues[A], 1, &p->commands[A]));
    went(p, bfQueueSignal(p->queues[A], p->chain, value));
    went(p, bfQueueSignal(p->queues[A], p->exported, value));
    went(p, bfQueueWait(p->queues[B], p->chain, value));
    went(p, bfQueueWait(p->queues[B], p->gate, value));
    went(p, bfQueueExecute(p->queues[B], 1, &p->commands[B]));
    went(p, bfQueueSignal(p->queues[B], p->next, value));
    went(p, bfQueueWait(p->queues[C], p->next, value));
    went(p, bfQueueExecute(p->queues[C], 1, &p->commands[C]));
    went(p, bfQueueSignal(p->queues[C], p->back, value));
    went(p, bfQueueSignal(p->queues[C], p->shared, value));
    went(p, bfQueueWait(p->queues[D], p->back, value));
    went(p, bfQueueExecute(p->queues[D], 1, &p->commands[D]));
    went(p, bfQueueSignal(p->queues[D], p->imported, value));
    if (!went(p, bfSetEventOnFenceCompletion(p->back, value, p->events[value - 1])))
        assert_success(bfSetEventOnFenceCompletion(p->back, value, p->events[value - 1]));
    while (!went(p, bfSignalFence(p->gate, value)) && p->result != VK_ERROR_DEVICE_LOST)
        ;
    /* A signal that there was no memory for: the host stands in. */
    BfFence *const hosts[] = {&p->chain, &p->next, &p->back};
    for (int i = 0; i < 3 && p->memory > failed; i++)
        while (!went(p, bfSignalFence(*hosts[i], value)))
            ;
    await_event(p->events[value - 1]);
    submit(p, value);
    if (p->reader) {
        BfFenceLogRecord records[8];
        uint32_t count = 0;
        went(p, bfReadFenceLog(p->reader, 8, records, &count, NULL));
    }
}

/* Whoever asks a lost device is told, and its fences and events say so. */
static void assert_lost(struct program *p)
{
    assert_int_equal(bfQueueExecute(p->queues[A], 1, &p->commands[A]), VK_ERROR_DEVICE_LOST);
    for (int i = 0; i < 7; i++)
        if (*p->fences[i])
            assert_value(*p->fences[i], UINT64_MAX);
    for (int i = 0; i < QUEUES; i++)
        assert_int_equal(bfQueueWaitIdle(p->queues[i]), VK_ERROR_DEVICE_LOST);
}

/* How many driver calls it made. */
static uint64_t run(uint64_t at, VkResult result)
{
    struct program p = {.at = at, .result = result};
    struct fixture *f = &p.f;
    fixture_open(f, ENVIRONMENT("QUIET=1"));
    open_objects(&p);
    bool made = true;
    for (int i = 0; i < 7; i++)
        made = made && *p.fences[i];
    struct blocked blocked = {.fence = p.back, .value = ROUNDS};
    struct thread waiter;
    bool lost = false;
    if (made) {
        bool armed = went(&p, bfSetEventOnFenceCompletion(p.back, ROUNDS + 1, p.far));
        thread_start(&waiter, block_on, &blocked);
        for (uint64_t value = 1; value <= ROUNDS; value++)
            run_round(&p, value);
        uint64_t calls = f->icd.fault_calls();
        lost = at && calls >= at && result == VK_ERROR_DEVICE_LOST;
        if (lost)
            assert_lost(&p);
        thread_join(&waiter);
        went(&p, blocked.result);
        if (armed)
            assert_int_equal(take_event(p.far), lost);
        if (!lost)
            for (int i = 0; i < QUEUES; i++) {
                while (!went(&p, bfQueueWaitIdle(p.queues[i])))
                    ;
                assert_int_equal(read_word(f, (uint32_t)i), i + 1);
            }
    } else {
        assert_int_equal(result, VK_ERROR_DEVICE_LOST);
        lost = true;
        assert_lost(&p);
    }
    uint64_t calls = f->icd.fault_calls();
    f->icd.set_fault(NULL, 0, VK_SUCCESS);
    f->lost = lost;
    bfDestroyFenceLogReader(p.reader);
    f->icd.quiesce();
    vkDestroyFence(f->device, p.fence, NULL);
    fixture_close(f);
    return calls;
}

static void fail_at_each(VkResult result)
{
    const char *step = getenv("BELFRY_TEST_STEP");
    uint64_t stride = step ? strtoull(step, NULL, 10) : STEP, calls = run(0, VK_SUCCESS);
    assert_true(stride > 0);
    if (calls < CALLS)
        fail_msg("the program makes %llu driver calls only", (unsigned long long)calls);
    for (uint64_t n = 1; n <= CALLS; n += stride)
        run(n, result);
}

TEST(a_device_is_lost_at_each_driver_call)
{
    fail_at_each(VK_ERROR_DEVICE_LOST);
}

TEST(memory_runs_out_at_each_driver_call)
{
    fail_at_each(VK_ERROR_OUT_OF_HOST_MEMORY);
}
