/* SPDX-License-Identifier: MIT */
/* The specialiser's hooks (layer/specialize), with a specializer of
 * the test's own that has a pipeline and a variant of it at each bind point: whatever records work
 * is recorded with the variant where the values are the variant's, and with the program's own
 * pipeline everywhere else; and uses count when the program has seen them finish. */
#include "fake.h"
#include "recording_world.h"

#include "registry.h"

/* Recording ------------------------------------------------------------------------------------ */

static void check_work(size_t i)
{
    VkCommandBuffer buffer = recording_ready();
    VkPipelineBindPoint point = recording_works[i].point;
    const bool sized = strcmp(recording_works[i].name, "vkCmdDispatchIndirect") != 0; /* RC-7 */
    const VkPipeline wanted = sized ? VARIANT(point) : GENERAL(point);
    assert_bound(recording.bound[point], GENERAL(point));
    assert_bound(recording_do(buffer, i), wanted);
    assert_bound(recording_do(buffer, i), wanted);
    recording_push(buffer, recording_wrong);
    assert_bound(recording_do(buffer, i), GENERAL(point));
    recording_push(buffer, recording_right);
    assert_bound(recording_do(buffer, i), wanted);
    FAKE_CALL(vkCmdBindPipeline, buffer, point, OTHER);
    recording_push(buffer, recording_wrong);
    assert_bound(recording_do(buffer, i), OTHER);
    recording_push(buffer, recording_right);
    assert_bound(recording_do(buffer, i), OTHER);
    recording_bind(buffer, point);
    assert_bound(recording.bound[point], GENERAL(point)); /* it goes down as it comes */
    assert_bound(recording_do(buffer, i), wanted);
    assert_int_equal(atomic_load(&recording.variants[point]->state), sized);
    assert_int_equal(atomic_load(&recording.variants[!point]->state), 0);
    FAKE_CALL(vkFreeCommandBuffers, fake.device, recording.pool, 1, &buffer);
}

/* RC-7: of the size that the variant is for, and smaller, from 0 on. */
TEST(test_sizes_of_dispatches)
{
    recording_open();
    VkCommandBuffer buffer = recording_ready();
    static const struct {
        uint32_t groups[3], first[3];
        bool variant;
    } cases[] = {{{2, 2, 2}, {0}, true},        {{1, 2, 1}, {0}, true},
                 {{3, 1, 1}, {0}, false},       {{2, 2, 2}, {0}, true},
                 {{1, 3, 1}, {0}, false},       {{1, 1, 3}, {0}, false},
                 {{1, 1, 1}, {1, 0, 0}, false}, {{1, 1, 1}, {0, 1, 0}, false},
                 {{1, 1, 1}, {0, 0, 1}, false}, {{0, 2, 2}, {0}, true}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const uint32_t *g = cases[i].groups, *f = cases[i].first;
        const VkPipeline wanted = cases[i].variant ? VARIANT(COMPUTE) : GENERAL(COMPUTE);
        FAKE_CALL(vkCmdDispatchBase, buffer, f[0], f[1], f[2], g[0], g[1], g[2]);
        assert_bound(recording.used[COMPUTE], wanted);
        if (f[0] || f[1] || f[2])
            continue;
        FAKE_CALL(vkCmdDispatch, buffer, g[0], g[1], g[2]);
        assert_bound(recording.used[COMPUTE], wanted);
    }
    recording_close();
}

TEST(test_all_work)
{
    static const char *const suffixes[] = {"", "KHR", "AMD"};
    for (size_t k = 0; k < 3; k++) {
        recording.only = suffixes[k];
        recording_open();
        for (size_t i = 0; i < RECORDING_WORKS; i++)
            if (!recording_lacks(recording_works[i].name))
                check_work(i);
        recording_close();
    }
    recording.only = NULL;
}

/* Every command of the registry that records work or what it reads is stood in for. */
TEST(test_registry)
{
    struct registry registry;
    static const char *const kinds[] = {"vkCmdDraw",         "vkCmdDispatch",    "vkCmdPushConst",
                                        "vkCmdPushData",     "vkCmdExecute",     "vkCmdPreprocess",
                                        "vkCmdBindPipeline", "vkCmdBindShaders", "vkCmdBeginQuery",
                                        "vkCmdEndQuery",     "vkCmdBeginTrans",  "vkCmdEndTrans"};
    TEST_NEEDS(registry_read(&registry), "registry (vk.xml)");
    recording_open();
    uint32_t seen = 0;
    for (uint32_t i = 0; i < registry.count; i++) {
        const char *name = registry.commands[i].name;
        for (size_t k = 0; k < sizeof(kinds) / sizeof(kinds[0]); k++) {
            if (strncmp(name, kinds[k], strlen(kinds[k])) != 0)
                continue;
            fake_command(name);
            if (recording.specializer.recorder.stopped)
                fail_msg("%s is not known", name);
            seen++;
        }
    }
    assert_true(seen >= 35);
    VkCommandBuffer buffer = recording_ready();
    assert_bound(recording_dispatch(buffer), VARIANT(COMPUTE));
    fake_command("vkCmdDispatchGraphAMDX"); /* of a bind point of its own */
    fake_command("vkCmdTraceRaysKHR");
    assert_bound(recording_dispatch(buffer), VARIANT(COMPUTE));
    fake_command("vkCmdDispatchTomorrowKHR");
    assert_bound(recording_dispatch(buffer), GENERAL(COMPUTE));
    recording_close();
    registry_free(&registry);
}

TEST(test_pushes)
{
    recording_open();
    VkCommandBuffer buffer = recording_ready();
    struct {
        VkStructureType type;
        const void *next;
        VkPipelineLayout layout;
        VkShaderStageFlags stages;
        uint32_t offset, size;
        const void *values;
    } info = {(VkStructureType)1000545002, NULL, recording.layouts[0], VK_SHADER_STAGE_ALL, 8, 4,
              &recording_wrong[1]};
    typedef void(VKAPI_PTR * with_info)(VkCommandBuffer, const void *);
    static const char *const names[] = {"vkCmdPushConstants2", "vkCmdPushConstants2KHR"};
    for (int i = 0; i < 2; i++) {
        with_info push2 = (with_info)fake_command(names[i]);
        info.layout = recording.layouts[0];
        info.values = &recording_right[1];
        push2(buffer, &info);
        assert_bound(recording_dispatch(buffer), VARIANT(COMPUTE));
        info.values = &recording_wrong[1];
        push2(buffer, &info);
        assert_bound(recording_dispatch(buffer), GENERAL(COMPUTE));
        recording_push(buffer, recording_right);
        assert_bound(recording_dispatch(buffer), VARIANT(COMPUTE));
        info.layout = VK_NULL_HANDLE; /* its ranges are chained */
        info.values = &recording_right[1];
        push2(buffer, &info);
        assert_bound(recording_dispatch(buffer), GENERAL(COMPUTE));
        recording_push(buffer, recording_right);
    }
    /* Through a layout with other ranges, and back: what was pushed before is unknown. */
    FAKE_CALL(vkCmdPushConstants, buffer, recording.layouts[1], VK_SHADER_STAGE_ALL, 4, 8,
              recording_right);
    assert_bound(recording_dispatch(buffer), GENERAL(COMPUTE));
    FAKE_CALL(vkCmdPushConstants, buffer, recording.layouts[0], VK_SHADER_STAGE_ALL, 4, 4,
              recording_right);
    assert_bound(recording_dispatch(buffer), GENERAL(COMPUTE));
    recording_push(buffer, recording_right);
    assert_bound(recording_dispatch(buffer), VARIANT(COMPUTE));
    ((with_info)fake_command("vkCmdPushDataEXT"))(buffer, NULL);
    assert_bound(recording_dispatch(buffer), GENERAL(COMPUTE));
    recording_close();
}

TEST(test_secondaries)
{
    recording_open();
    VkCommandBuffer buffer = recording_ready(),
                    secondary =
                        recording_allocate(recording.pool, VK_COMMAND_BUFFER_LEVEL_SECONDARY);
    assert_bound(recording_dispatch(buffer), VARIANT(COMPUTE));
    recording_begin(secondary, 0);
    recording_bind(secondary, COMPUTE);
    assert_bound(recording_dispatch(secondary), GENERAL(COMPUTE)); /* nothing is inherited */
    recording_push(secondary, recording_right);
    assert_bound(recording_dispatch(secondary), VARIANT(COMPUTE));
    FAKE_CALL(vkEndCommandBuffer, secondary);
    recording.bound[COMPUTE] = GENERAL(COMPUTE);
    recording_bind(buffer, COMPUTE);
    FAKE_CALL(vkCmdExecuteCommands, buffer, 1, &secondary);
    recording_bind(buffer, COMPUTE);
    assert_bound(recording_dispatch(buffer), GENERAL(COMPUTE));
    recording_push(buffer, recording_right);
    assert_bound(recording_dispatch(buffer), VARIANT(COMPUTE));
    assert_int_equal(atomic_load(&recording.variants[COMPUTE]->state), 2);
    /* Executed, perhaps, with a pipeline-statistics query active. */
    recording_begin(secondary, VK_QUERY_PIPELINE_STATISTIC_COMPUTE_SHADER_INVOCATIONS_BIT);
    recording_bind(secondary, COMPUTE);
    recording_push(secondary, recording_right);
    assert_bound(recording_dispatch(secondary), GENERAL(COMPUTE));
    recording_begin(secondary, 0);
    recording_bind(secondary, COMPUTE);
    recording_push(secondary, recording_right);
    assert_bound(recording_dispatch(secondary), VARIANT(COMPUTE));
    recording_close();
}

static VkQueryPool query_pool(VkQueryType type)
{
    VkQueryPool made;
    const VkQueryPoolCreateInfo info = {VK_TYPE(QUERY_POOL_CREATE_INFO), .queryType = type,
                                        .queryCount = 4};
    assert_success(FAKE_CALL(vkCreateQueryPool, fake.device, &info, NULL, &made));
    return made;
}

TEST(test_queries)
{
    recording_open();
    VkCommandBuffer buffer = recording_ready();
    VkQueryPool occlusion = query_pool(VK_QUERY_TYPE_OCCLUSION),
                statistics = query_pool(VK_QUERY_TYPE_PIPELINE_STATISTICS),
                performance = query_pool(VK_QUERY_TYPE_PERFORMANCE_QUERY_KHR);
    FAKE_CALL(vkCmdBeginQuery, buffer, occlusion, 0, 0);
    assert_bound(recording_draw(buffer), VARIANT(GRAPHICS));
    FAKE_CALL(vkCmdBeginQuery, buffer, statistics, 0, 0);
    assert_bound(recording_draw(buffer), GENERAL(GRAPHICS));
    FAKE_CALL(vkCmdBeginQueryIndexedEXT, buffer, performance, 0, 0, 0);
    FAKE_CALL(vkCmdEndQuery, buffer, statistics, 0);
    FAKE_CALL(vkCmdEndQuery, buffer, occlusion, 0);
    assert_bound(recording_draw(buffer), GENERAL(GRAPHICS));
    FAKE_CALL(vkCmdEndQueryIndexedEXT, buffer, performance, 0, 0);
    assert_bound(recording_draw(buffer), VARIANT(GRAPHICS));
    FAKE_CALL(vkDestroyQueryPool, fake.device, statistics, NULL);
    FAKE_CALL(vkDestroyQueryPool, fake.device, performance, NULL);
    FAKE_CALL(vkDestroyQueryPool, fake.device, occlusion, NULL);
    recording_close();
}

TEST(test_feedback)
{
    recording_open();
    VkCommandBuffer buffer = recording_ready();
    assert_bound(recording_draw(buffer), VARIANT(GRAPHICS));
    FAKE_CALL(vkCmdBeginTransformFeedbackEXT, buffer, 0, 0, NULL, NULL);
    assert_bound(recording.bound[GRAPHICS], GENERAL(GRAPHICS)); /* behind it nothing may be bound */
    recording_push(buffer, recording_right);
    assert_bound(recording_draw(buffer), GENERAL(GRAPHICS));
    FAKE_CALL(vkCmdEndTransformFeedbackEXT, buffer, 0, 0, NULL, NULL);
    assert_bound(recording_draw(buffer), VARIANT(GRAPHICS));
    recording_close();
}

TEST(test_generated)
{
    recording_open();
    VkCommandBuffer buffer = recording_ready(), other = recording_ready();
    typedef void(VKAPI_PTR * execute)(VkCommandBuffer, VkBool32, const void *);
    typedef void(VKAPI_PTR * preprocess)(VkCommandBuffer, const void *, VkCommandBuffer);
    const VkGeneratedCommandsInfoNV info = {.pipeline = OTHER};
    static const char *const names[] = {"vkCmdExecuteGeneratedCommandsEXT",
                                        "vkCmdExecuteGeneratedCommandsNV"};
    for (int i = 0; i < 2; i++) {
        recording_bind(buffer, COMPUTE);
        recording_push(buffer, recording_right);
        assert_bound(recording_dispatch(buffer), VARIANT(COMPUTE));
        ((execute)fake_command(names[i]))(buffer, VK_FALSE, &info);
        assert_bound(recording.bound[COMPUTE], GENERAL(COMPUTE));
        recording_bind(buffer, COMPUTE);
        assert_bound(recording_dispatch(buffer), GENERAL(COMPUTE)); /* they may have pushed */
    }
    recording_push(other, recording_right);
    assert_bound(recording_dispatch(other), VARIANT(COMPUTE));
    ((preprocess)fake_command("vkCmdPreprocessGeneratedCommandsEXT"))(buffer, NULL, other);
    assert_bound(recording.bound[COMPUTE],
                 GENERAL(COMPUTE)); /* the other one's state is what is taken */
    assert_bound(recording_dispatch(other), VARIANT(COMPUTE));
    FAKE_CALL(vkCmdPreprocessGeneratedCommandsNV, other, &info);
    assert_bound(recording.bound[COMPUTE], GENERAL(COMPUTE));
    /* From then on its handle is a matter of generated commands. */
    const VkGeneratedCommandsInfoNV named = {.pipeline = GENERAL(GRAPHICS)};
    assert_bound(recording_draw(other), VARIANT(GRAPHICS));
    FAKE_CALL(vkCmdPreprocessGeneratedCommandsNV, other, &named);
    assert_bound(recording_draw(other), GENERAL(GRAPHICS));
    recording.specializer.pipelines.ended = NULL; /* the variant is the test's */
    FAKE_CALL(vkCmdBindPipelineShaderGroupNV, other, COMPUTE, OTHER, 0);
    recording.bound[COMPUTE] = OTHER;
    assert_bound(recording_dispatch(other), OTHER);
    recording_close();
}

TEST(test_shader_objects)
{
    recording_open();
    VkCommandBuffer buffer = recording_ready();
    typedef void(VKAPI_PTR * bind_shaders)(VkCommandBuffer, uint32_t, const VkShaderStageFlagBits *,
                                           const uint64_t *);
    const VkShaderStageFlagBits stage = VK_SHADER_STAGE_FRAGMENT_BIT;
    assert_bound(recording_draw(buffer), VARIANT(GRAPHICS));
    ((bind_shaders)fake_command("vkCmdBindShadersEXT"))(buffer, 1, &stage, NULL);
    recording.bound[GRAPHICS] = OTHER;
    assert_bound(recording_draw(buffer), OTHER); /* nothing comes back to life */
    assert_bound(recording_dispatch(buffer), VARIANT(COMPUTE));
    recording_push(buffer, recording_wrong);
    assert_bound(recording_dispatch(buffer), GENERAL(COMPUTE));
    recording_close();
}

/* Life of command buffers ---------------------------------------------------------------------- */

static uint32_t references(void)
{
    return atomic_load(&recording.variants[COMPUTE]->state) & BF_VARIANT_REFS;
}

TEST(test_references)
{
    recording_open();
    VkCommandBuffer buffer = recording_ready();
    for (int i = 0; i < 3; i++) {
        assert_bound(recording_dispatch(buffer), VARIANT(COMPUTE));
        assert_int_equal(references(), 1);
        assert_success(FAKE_CALL(vkEndCommandBuffer, buffer));
        if (i == 0)
            FAKE_CALL(vkResetCommandBuffer, buffer, 0);
        else if (i == 1)
            FAKE_CALL(vkResetCommandPool, fake.device, recording.pool, 0);
        else
            recording_begin(buffer, 0);
        assert_int_equal(references(), 0);
        recording_begin(buffer, 0);
        recording_bind(buffer, COMPUTE);
        assert_bound(recording_dispatch(buffer), GENERAL(COMPUTE));
        recording_push(buffer, recording_right);
    }
    assert_bound(recording_dispatch(buffer), VARIANT(COMPUTE));
    FAKE_CALL(vkFreeCommandBuffers, fake.device, recording.pool, 1, &buffer);
    assert_int_equal(references(), 0);
    recording_ready();
    buffer = recording_ready();
    assert_bound(recording_dispatch(buffer), VARIANT(COMPUTE));
    FAKE_CALL(vkDestroyCommandPool, fake.device, recording.pool, NULL);
    assert_int_equal(references(), 0);
    /* Never picked for protected work. */
    const VkCommandPoolCreateInfo info = {VK_TYPE(COMMAND_POOL_CREATE_INFO),
                                          .flags = VK_COMMAND_POOL_CREATE_PROTECTED_BIT};
    assert_success(FAKE_CALL(vkCreateCommandPool, fake.device, &info, NULL, &recording.pool));
    buffer = recording_ready();
    assert_bound(recording_dispatch(buffer), GENERAL(COMPUTE));
    recording_close(); /* with all that is left */
}

/* A handle that comes back stands for another command buffer, in every thread. */
static struct {
    pthread_barrier_t turn;
    VkCommandBuffer buffer;
} relay;

static void *use_twice(void *unused)
{
    assert_bound(recording_dispatch(relay.buffer), VARIANT(COMPUTE));
    pthread_barrier_wait(&relay.turn);
    pthread_barrier_wait(&relay.turn);
    recording_begin(relay.buffer, 0);
    recording_bind(relay.buffer, COMPUTE);
    recording_push(relay.buffer, recording_right);
    assert_bound(recording_dispatch(relay.buffer), VARIANT(COMPUTE));
    return NULL;
}

TEST(test_handles_come_back)
{
    recording_open();
    pthread_t thread;
    relay.buffer = recording_ready();
    pthread_barrier_init(&relay.turn, NULL, 2);
    assert_int_equal(pthread_create(&thread, NULL, use_twice, NULL), 0);
    pthread_barrier_wait(&relay.turn);
    VkCommandBuffer before = relay.buffer;
    FAKE_CALL(vkFreeCommandBuffers, fake.device, recording.pool, 1, &before);
    assert_int_equal(references(), 0);
    relay.buffer = recording_allocate(recording.pool, VK_COMMAND_BUFFER_LEVEL_PRIMARY);
    assert_ptr_equal(relay.buffer, before);
    pthread_barrier_wait(&relay.turn);
    assert_int_equal(pthread_join(thread, NULL), 0);
    pthread_barrier_destroy(&relay.turn);
    assert_int_equal(references(), 1);
    FAKE_CALL(vkFreeCommandBuffers, fake.device, recording.pool, 1, &relay.buffer);
    assert_int_equal(references(), 0);
    recording_close();
}

/* What has finished ---------------------------------------------------------------------------- */

static uint64_t counted(void)
{
    bf_submissions_settle(&recording.specializer.submissions); /* SU-4 */
    return recording.records[COMPUTE]->histogram->total;
}

static VkFence make_fence(void)
{
    VkFence fence;
    const VkFenceCreateInfo info = {VK_TYPE(FENCE_CREATE_INFO)};
    assert_success(FAKE_CALL(vkCreateFence, fake.device, &info, NULL, &fence));
    return fence;
}

static VkSemaphore make_timeline(void)
{
    VkSemaphore semaphore;
    const VkSemaphoreTypeCreateInfo type = {VK_TYPE(SEMAPHORE_TYPE_CREATE_INFO),
                                            .semaphoreType = VK_SEMAPHORE_TYPE_TIMELINE};
    const VkSemaphoreCreateInfo info = {VK_TYPE(SEMAPHORE_CREATE_INFO), .pNext = &type};
    assert_success(FAKE_CALL(vkCreateSemaphore, fake.device, &info, NULL, &semaphore));
    return semaphore;
}

static VkResult submit(VkQueue queue, VkCommandBuffer buffer, VkFence fence, VkSemaphore signal,
                       uint64_t value, VkPipelineStageFlags2 stages)
{
    const VkCommandBufferSubmitInfo buffers = {VK_TYPE(COMMAND_BUFFER_SUBMIT_INFO),
                                               .commandBuffer = buffer};
    const VkSemaphoreSubmitInfo signals = {VK_TYPE(SEMAPHORE_SUBMIT_INFO), .semaphore = signal,
                                           .value = value, .stageMask = stages};
    const VkSubmitInfo2 info = {VK_TYPE(SUBMIT_INFO_2), .commandBufferInfoCount = buffer ? 1 : 0,
                                .pCommandBufferInfos = &buffers,
                                .signalSemaphoreInfoCount = signal ? 1 : 0,
                                .pSignalSemaphoreInfos = &signals};
    return FAKE_CALL(vkQueueSubmit2, queue, 1, &info, fence);
}

static void submit1(VkQueue queue, VkCommandBuffer buffer, VkSemaphore signal, uint64_t value)
{
    const VkTimelineSemaphoreSubmitInfo timeline = {VK_TYPE(TIMELINE_SEMAPHORE_SUBMIT_INFO),
                                                    .signalSemaphoreValueCount = 1,
                                                    .pSignalSemaphoreValues = &value};
    const VkSubmitInfo info = {VK_TYPE(SUBMIT_INFO),      .pNext = &timeline,
                               .commandBufferCount = 1,   .pCommandBuffers = &buffer,
                               .signalSemaphoreCount = 1, .pSignalSemaphores = &signal};
    assert_success(FAKE_CALL(vkQueueSubmit, queue, 1, &info, VK_NULL_HANDLE));
}

TEST(test_finished)
{
    const VkPipelineStageFlags2 all = VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT;
    recording_open();
    VkQueue queue = recording_queue();
    VkFence fence = make_fence(), none = VK_NULL_HANDLE;
    VkSemaphore timeline = make_timeline();
    VkCommandBuffer buffer = recording_ready();
    recording_dispatch(buffer);
    recording_dispatch(buffer);
    FAKE_CALL(vkEndCommandBuffer, buffer);
    uint64_t expected = 0;
    /* By a fence, waited for or asked. */
    assert_success(submit(queue, buffer, fence, VK_NULL_HANDLE, 0, 0));
    assert_int_equal(counted(), expected);
    assert_success(FAKE_CALL(vkWaitForFences, fake.device, 1, &fence, VK_FALSE, 0));
    assert_int_equal(counted(), expected += 2);
    assert_success(FAKE_CALL(vkGetFenceStatus, fake.device, fence));
    assert_int_equal(counted(), expected);
    assert_success(FAKE_CALL(vkResetFences, fake.device, 1, &fence));
    assert_success(submit(queue, buffer, fence, VK_NULL_HANDLE, 0, 0));
    const VkFence several[] = {make_fence(), fence};
    assert_success(FAKE_CALL(vkWaitForFences, fake.device, 2, several, VK_FALSE, 0));
    assert_int_equal(counted(), expected); /* which of them isn't said */
    assert_success(FAKE_CALL(vkGetFenceStatus, fake.device, fence));
    assert_int_equal(counted(), expected += 2);
    /* By a later submission's, which has nothing to do but that. */
    assert_success(FAKE_CALL(vkResetFences, fake.device, 1, &fence));
    assert_success(submit(queue, buffer, none, VK_NULL_HANDLE, 0, 0));
    assert_success(FAKE_CALL(vkQueueSubmit2, queue, 0, NULL, fence));
    assert_success(FAKE_CALL(vkWaitForFences, fake.device, 2, several, VK_TRUE, 0));
    assert_int_equal(counted(), expected += 2);
    assert_success(submit(queue, buffer, none, VK_NULL_HANDLE, 0, 0));
    assert_success(FAKE_CALL(vkResetFences, fake.device, 1, &fence));
    assert_success(FAKE_CALL(vkQueueSubmit, queue, 0, NULL, fence));
    assert_success(FAKE_CALL(vkGetFenceStatus, fake.device, fence));
    assert_int_equal(counted(), expected += 2);
    /* By a timeline value, in both forms of vkQueueSubmit, unless it waits for some stages
     * alone. */
    assert_success(submit(queue, buffer, none, timeline, 1, all));
    submit1(queue, buffer, timeline, 2);
    assert_success(
        submit(queue, buffer, none, timeline, 3, VK_PIPELINE_STAGE_2_COMPUTE_SHADER_BIT));
    const VkSemaphoreWaitInfo wait = {VK_TYPE(SEMAPHORE_WAIT_INFO), .semaphoreCount = 1,
                                      .pSemaphores = &timeline, .pValues = &(uint64_t){1}};
    assert_success(FAKE_CALL(vkWaitSemaphores, fake.device, &wait, 0));
    assert_int_equal(counted(), expected += 2);
    uint64_t value;
    recording.counter = 3;
    assert_success(FAKE_CALL(vkGetSemaphoreCounterValue, fake.device, timeline, &value));
    assert_int_equal(counted(), expected += 2);
    assert_success(FAKE_CALL(vkQueueWaitIdle, queue));
    assert_int_equal(counted(), expected += 2);
    /* By a wait for the device, or by being recorded anew. */
    assert_success(submit(queue, buffer, none, VK_NULL_HANDLE, 0, 0));
    assert_success(FAKE_CALL(vkDeviceWaitIdle, fake.device));
    assert_int_equal(counted(), expected += 2);
    assert_success(submit(queue, buffer, none, VK_NULL_HANDLE, 0, 0));
    recording_begin(buffer, 0);
    assert_int_equal(counted(), expected += 2);
    assert_int_equal(recording.specializer.submissions.open, 0);
    /* What wasn't submitted never counts. */
    recording_bind(buffer, COMPUTE);
    recording_push(buffer, recording_wrong);
    recording_dispatch(buffer);
    FAKE_CALL(vkEndCommandBuffer, buffer);
    recording.submit_result = VK_ERROR_OUT_OF_HOST_MEMORY;
    assert_int_equal(submit(queue, buffer, none, VK_NULL_HANDLE, 0, 0),
                     VK_ERROR_OUT_OF_HOST_MEMORY);
    recording.submit_result = VK_SUCCESS;
    assert_int_equal(recording.specializer.submissions.open, 0);
    recording_begin(buffer, 0);
    assert_int_equal(counted(), expected);
    FAKE_CALL(vkDestroyFence, fake.device, fence, NULL);
    FAKE_CALL(vkDestroyFence, fake.device, several[0], NULL);
    FAKE_CALL(vkDestroySemaphore, fake.device, timeline, NULL);
    recording_close();
}

/* More command buffers than are looked up at a time, in one batch. */
TEST(test_many_buffers)
{
    recording_open();
    VkQueue queue = recording_queue();
    VkSemaphore timeline = make_timeline();
    VkCommandBuffer buffers[150];
    VkCommandBufferSubmitInfo infos[150];
    for (int i = 0; i < 150; i++) {
        buffers[i] = recording_ready();
        recording_dispatch(buffers[i]);
        FAKE_CALL(vkEndCommandBuffer, buffers[i]);
        infos[i] = (VkCommandBufferSubmitInfo){VK_TYPE(COMMAND_BUFFER_SUBMIT_INFO),
                                               .commandBuffer = buffers[i]};
    }
    const VkSemaphoreSubmitInfo signal = {VK_TYPE(SEMAPHORE_SUBMIT_INFO), .semaphore = timeline,
                                          .value = 1,
                                          .stageMask = VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT};
    const VkSubmitInfo2 info = {VK_TYPE(SUBMIT_INFO_2), .commandBufferInfoCount = 150,
                                .pCommandBufferInfos = infos, .signalSemaphoreInfoCount = 1,
                                .pSignalSemaphoreInfos = &signal};
    assert_success(FAKE_CALL(vkQueueSubmit2, queue, 1, &info, VK_NULL_HANDLE));
    uint64_t value;
    recording.counter = 1;
    assert_int_equal(counted(), 0);
    FAKE_CALL(vkGetSemaphoreCounterValue, fake.device, timeline, &value);
    assert_int_equal(counted(), 150);
    assert_int_equal(recording.specializer.submissions.open, 0);
    FAKE_CALL(vkDestroySemaphore, fake.device, timeline, NULL);
    recording_close();
}
