/* SPDX-License-Identifier: MIT */
/* vkQueueSubmit as vkQueueSubmit2: nothing that an older submission says is lost on the way. And
 * what is chained to a submission, in whichever form, reaches the driver, held or not. */
#include "fake.h"

#include <semaphore.h>

static uint32_t calls, infos_seen;
static VkSubmitInfo2 seen[4];
static VkSemaphoreSubmitInfo waits[8], signals[8];
static VkCommandBufferSubmitInfo buffers[8];
static VkPerformanceQuerySubmitInfoKHR performance;
static VkFence fence_seen;
static VkQueue queue_seen;

/* VkFrameBoundaryEXT, newer than the oldest headers. */
#define FRAME_BOUNDARY ((VkStructureType)1000375001)
struct frame_boundary {
    VkStructureType sType;
    const void *pNext;
    VkFlags flags;
    uint64_t frameID;
    uint32_t imageCount;
    const VkImage *pImages;
    uint32_t bufferCount;
    const VkBuffer *pBuffers;
    uint64_t tagName;
    size_t tagSize;
    const void *pTag;
};

/* VkLatencySubmissionPresentIdNV, likewise. */
#define PRESENT_ID ((VkStructureType)1000505005)
struct present_id {
    VkStructureType sType;
    const void *pNext;
    uint64_t id;
};

/* The chains of one call as they came, all infos together; arrays are copied. */
static struct {
    uint32_t boundaries, performances, present_ids, others;
    uint64_t present_id;
    struct frame_boundary boundary; /* the last */
    VkImage images[4];
    VkBuffer buffers[4];
    char tag[16];
} chains;

static void see_chain(const void *chain)
{
    for (const VkBaseInStructure *s = chain; s; s = s->pNext) {
        if (s->sType == FRAME_BOUNDARY) {
            chains.boundaries++;
            memcpy(&chains.boundary, s, sizeof(chains.boundary));
            const struct frame_boundary *b = &chains.boundary;
            assert_true(b->imageCount <= 4 && b->bufferCount <= 4 && b->tagSize <= 16);
            if (b->imageCount)
                memcpy(chains.images, b->pImages, b->imageCount * sizeof(VkImage));
            if (b->bufferCount)
                memcpy(chains.buffers, b->pBuffers, b->bufferCount * sizeof(VkBuffer));
            if (b->tagSize)
                memcpy(chains.tag, b->pTag, b->tagSize);
        } else if (s->sType == VK_STRUCTURE_TYPE_PERFORMANCE_QUERY_SUBMIT_INFO_KHR) {
            chains.performances++;
            performance = *(const VkPerformanceQuerySubmitInfoKHR *)s;
        } else if (s->sType == PRESENT_ID) {
            chains.present_ids++;
            chains.present_id = ((const struct present_id *)s)->id;
        } else if (s->sType != VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO) {
            chains.others++;
        }
    }
}

static VkResult VKAPI_CALL drv_bind(VkQueue queue, uint32_t count, const VkBindSparseInfo *infos,
                                    VkFence fence)
{
    calls++;
    infos_seen = count;
    for (uint32_t i = 0; i < count; i++)
        see_chain(infos[i].pNext);
    return VK_SUCCESS;
}

static VkResult VKAPI_CALL drv_submit2(VkQueue queue, uint32_t count, const VkSubmitInfo2 *infos,
                                       VkFence fence)
{
    calls++;
    queue_seen = queue;
    fence_seen = fence;
    infos_seen = count;
    uint32_t w = 0, s = 0, b = 0;
    for (uint32_t i = 0; i < count && i < 4; i++) {
        seen[i] = infos[i];
        for (uint32_t k = 0; k < infos[i].waitSemaphoreInfoCount; k++)
            waits[w++] = infos[i].pWaitSemaphoreInfos[k];
        for (uint32_t k = 0; k < infos[i].signalSemaphoreInfoCount; k++)
            signals[s++] = infos[i].pSignalSemaphoreInfos[k];
        for (uint32_t k = 0; k < infos[i].commandBufferInfoCount; k++)
            buffers[b++] = infos[i].pCommandBufferInfos[k];
        see_chain(infos[i].pNext);
    }
    return VK_SUCCESS;
}

static uint64_t next_semaphore;

static VkResult VKAPI_CALL drv_create_semaphore(VkDevice device, const VkSemaphoreCreateInfo *info,
                                                const VkAllocationCallbacks *allocator,
                                                VkSemaphore *semaphore)
{
    *semaphore = (VkSemaphore)(uintptr_t)(0x100 + 8 * next_semaphore++);
    return VK_SUCCESS;
}

/* The first of so many queues that share the driver's one. */
static VkQueue open_queues(uint32_t count)
{
    setenv("VK_BELFRY_MULTI_ENGINE_QUEUES_PER_FAMILY", "16", 1);
    fake_start(NULL);
    unsetenv("VK_BELFRY_MULTI_ENGINE_QUEUES_PER_FAMILY");
    FAKE_OVERRIDE(vkQueueSubmit2, drv_submit2);
    FAKE_OVERRIDE(vkQueueBindSparse, drv_bind);
    FAKE_OVERRIDE(vkCreateSemaphore, drv_create_semaphore);
    fake_open_device((const uint32_t[]){count, 0});
    VkQueue handle = VK_NULL_HANDLE;
    FAKE_CALL(vkGetDeviceQueue, fake.device, 0, 0, &handle);
    calls = 0;
    memset(&chains, 0, sizeof(chains));
    return handle;
}

static VkQueue open_queue(void)
{
    return open_queues(1);
}

static VkSemaphore make(uint64_t value, bool timeline)
{
    const VkSemaphoreTypeCreateInfo type = {VK_TYPE(SEMAPHORE_TYPE_CREATE_INFO),
                                            .semaphoreType = VK_SEMAPHORE_TYPE_TIMELINE,
                                            .initialValue = value};
    const VkSemaphoreCreateInfo info = {VK_TYPE(SEMAPHORE_CREATE_INFO),
                                        .pNext = timeline ? &type : NULL};
    VkSemaphore semaphore;
    assert_success(FAKE_CALL(vkCreateSemaphore, fake.device, &info, NULL, &semaphore));
    return semaphore;
}

/* Everything at once, ready; then the same, held for a while. */
static void everything(bool held)
{
    VkQueue queue = open_queue();
    VkSemaphore t = make(held ? 0 : 5, true), u = make(0, true), b = make(0, false);
    const VkSemaphore wait_handles[] = {t, b}, signal_handles[] = {u};
    const uint64_t wait_values[] = {5, 77}, signal_values[] = {9};
    const VkPipelineStageFlags stages[] = {VK_PIPELINE_STAGE_TRANSFER_BIT,
                                           VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT};
    const uint32_t wait_devices[] = {0, 1}, masks[] = {1, 3}, signal_devices[] = {1};
    const VkCommandBuffer commands[] = {fake_dispatchable(), fake_dispatchable()};
    const VkPerformanceQuerySubmitInfoKHR pass = {VK_TYPE(PERFORMANCE_QUERY_SUBMIT_INFO_KHR),
                                                  .counterPassIndex = 3};
    const VkProtectedSubmitInfo protected_submit = {VK_TYPE(PROTECTED_SUBMIT_INFO), .pNext = &pass,
                                                    .protectedSubmit = VK_TRUE};
    const VkDeviceGroupSubmitInfo group = {VK_STRUCTURE_TYPE_DEVICE_GROUP_SUBMIT_INFO,
                                           &protected_submit,
                                           2,
                                           wait_devices,
                                           2,
                                           masks,
                                           1,
                                           signal_devices};
    const VkTimelineSemaphoreSubmitInfo values = {
        VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO, &group, 2, wait_values, 1, signal_values};
    const VkSubmitInfo infos[2] = {
        {VK_STRUCTURE_TYPE_SUBMIT_INFO, &values, 2, wait_handles, stages, 2, commands, 1,
         signal_handles},
        {VK_TYPE(SUBMIT_INFO), .commandBufferCount = 1, .pCommandBuffers = commands}};
    const VkFence fence = (VkFence)(uintptr_t)0x900;
    assert_success(FAKE_CALL(vkQueueSubmit, queue, 2, infos, fence));
    if (held) {
        assert_int_equal(calls, 0);
        const VkSemaphoreSignalInfo signal = {VK_TYPE(SEMAPHORE_SIGNAL_INFO), .semaphore = t,
                                              .value = 5};
        assert_success(FAKE_CALL(vkSignalSemaphore, fake.device, &signal));
    }
    assert_int_equal(calls, 1);
    assert_ptr_equal(queue_seen, fake_queue(0, 0, 0));
    assert_ptr_equal(fence_seen, fence);
    assert_int_equal(infos_seen, 2);
    assert_int_equal(seen[0].flags, VK_SUBMIT_PROTECTED_BIT);
    assert_non_null(seen[0].pNext);
    assert_int_equal(performance.sType, VK_STRUCTURE_TYPE_PERFORMANCE_QUERY_SUBMIT_INFO_KHR);
    assert_null(performance.pNext);
    assert_int_equal(performance.counterPassIndex, 3);
    assert_int_equal(seen[0].waitSemaphoreInfoCount, 2);
    for (uint32_t i = 0; i < 2; i++) {
        assert_ptr_equal(waits[i].semaphore, wait_handles[i]);
        assert_int_equal(waits[i].stageMask, stages[i]);
        assert_int_equal(waits[i].deviceIndex, wait_devices[i]);
        assert_ptr_equal(buffers[i].commandBuffer, commands[i]);
        assert_int_equal(buffers[i].deviceMask, masks[i]);
    }
    assert_int_equal(waits[0].value, 5);
    assert_int_equal(seen[0].commandBufferInfoCount, 2);
    assert_int_equal(seen[0].signalSemaphoreInfoCount, 1);
    assert_ptr_equal(signals[0].semaphore, u);
    assert_int_equal(signals[0].value, 9);
    assert_int_equal(signals[0].stageMask, VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT);
    assert_int_equal(signals[0].deviceIndex, 1);
    /* The second info says nothing, and gets nothing of the first. */
    assert_int_equal(seen[1].flags, 0);
    assert_null(seen[1].pNext);
    assert_int_equal(seen[1].waitSemaphoreInfoCount, 0);
    assert_int_equal(seen[1].signalSemaphoreInfoCount, 0);
    assert_int_equal(buffers[2].deviceMask, 0);
    fake_close();
}

TEST(test_everything)
{
    everything(false);
    everything(true);
}

/* Frame boundaries: with what else may be chained, in either order, through every command. ----- */

enum command { SUBMIT, SUBMIT2, BIND, COMMANDS };

static const VkImage images[] = {(VkImage)(uintptr_t)0x11, (VkImage)(uintptr_t)0x22};
static const VkBuffer sinks[] = {(VkBuffer)(uintptr_t)0x33};

/* Everything of the submission is on the heap, and gone when the call has returned. */
static VkResult submit_boundary(VkQueue queue, enum command command, VkSemaphore t, bool empty,
                                uint32_t beside)
{
    struct {
        struct frame_boundary boundary;
        VkImage images[2];
        VkBuffer buffers[1];
        char tag[5];
        VkPerformanceQuerySubmitInfoKHR pass;
        struct present_id id;
        VkTimelineSemaphoreSubmitInfo values;
        VkSemaphoreSubmitInfo wait;
        VkSubmitInfo old;
        VkSubmitInfo2 info;
        VkBindSparseInfo bind;
        VkPipelineStageFlags stage;
        uint64_t value;
        VkSemaphore t;
    } *m = malloc(sizeof(*m));
    assert_non_null(m);
    memcpy(m->images, images, sizeof(images));
    memcpy(m->buffers, sinks, sizeof(sinks));
    memcpy(m->tag, "frame", 5);
    m->t = t;
    m->value = 5;
    m->stage = VK_PIPELINE_STAGE_ALL_COMMANDS_BIT;
    m->boundary = (struct frame_boundary){
        .sType = FRAME_BOUNDARY, .flags = 1, .frameID = UINT64_C(1) << 40, .tagName = 7};
    if (!empty) {
        m->boundary.imageCount = 2;
        m->boundary.pImages = m->images;
        m->boundary.bufferCount = 1;
        m->boundary.pBuffers = m->buffers;
        m->boundary.tagSize = 5;
        m->boundary.pTag = m->tag;
    }
    m->pass = (VkPerformanceQuerySubmitInfoKHR){VK_TYPE(PERFORMANCE_QUERY_SUBMIT_INFO_KHR),
                                                .counterPassIndex = 3};
    m->values = (VkTimelineSemaphoreSubmitInfo){
        VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO, NULL, 1, &m->value, 0, NULL};
    m->id = (struct present_id){PRESENT_ID, &m->boundary, UINT64_C(7) << 33};
    /* 0: alone, 1: the query behind it, 2: before it, 3: a submission's id before it */
    const void *chain = &m->boundary;
    if (beside == 1)
        m->boundary.pNext = &m->pass;
    if (beside == 2) {
        m->pass.pNext = &m->boundary;
        chain = &m->pass;
    }
    if (beside == 3)
        chain = &m->id;
    m->values.pNext = chain;
    m->old = (VkSubmitInfo){VK_TYPE(SUBMIT_INFO), .pNext = &m->values, .waitSemaphoreCount = 1,
                            .pWaitSemaphores = &m->t, .pWaitDstStageMask = &m->stage};
    m->wait = (VkSemaphoreSubmitInfo){VK_TYPE(SEMAPHORE_SUBMIT_INFO), .semaphore = t, .value = 5,
                                      .stageMask = VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT};
    m->info = (VkSubmitInfo2){VK_TYPE(SUBMIT_INFO_2), .pNext = chain, .waitSemaphoreInfoCount = 1,
                              .pWaitSemaphoreInfos = &m->wait};
    m->bind = (VkBindSparseInfo){VK_TYPE(BIND_SPARSE_INFO), .pNext = &m->values,
                                 .waitSemaphoreCount = 1, .pWaitSemaphores = &m->t};
    VkResult result =
        command == SUBMIT    ? FAKE_CALL(vkQueueSubmit, queue, 1, &m->old, VK_NULL_HANDLE)
        : command == SUBMIT2 ? FAKE_CALL(vkQueueSubmit2, queue, 1, &m->info, VK_NULL_HANDLE)
                             : FAKE_CALL(vkQueueBindSparse, queue, 1, &m->bind, VK_NULL_HANDLE);
    memset(m, 0xdd, sizeof(*m));
    free(m);
    return result;
}

TEST(test_frame_boundary)
{
    for (uint32_t i = 0; i < COMMANDS * 2 * 2 * 4; i++) {
        enum command command = (enum command)(i % COMMANDS);
        bool held = i / COMMANDS % 2, empty = i / COMMANDS / 2 % 2;
        uint32_t beside = i / COMMANDS / 4;
        if (command == BIND && beside)
            continue; /* a bind counts no performance, and has no id */
        VkQueue queue = open_queue();
        VkSemaphore t = make(held ? 0 : 5, true);
        assert_success(submit_boundary(queue, command, t, empty, beside));
        assert_int_equal(calls, !held);
        if (held) {
            const VkSemaphoreSignalInfo signal = {VK_TYPE(SEMAPHORE_SIGNAL_INFO), .semaphore = t,
                                                  .value = 5};
            assert_success(FAKE_CALL(vkSignalSemaphore, fake.device, &signal));
        }
        assert_int_equal(calls, 1);
        assert_int_equal(chains.boundaries, 1);
        assert_int_equal(chains.performances, beside == 1 || beside == 2);
        assert_int_equal(chains.present_ids, beside == 3);
        assert_true(chains.present_id == (beside == 3 ? UINT64_C(7) << 33 : 0));
        assert_int_equal(chains.others, 0);
        if (chains.performances)
            assert_int_equal(performance.counterPassIndex, 3);
        const struct frame_boundary *b = &chains.boundary;
        assert_int_equal(b->flags, 1);
        assert_true(b->frameID == UINT64_C(1) << 40);
        assert_int_equal(b->tagName, 7);
        assert_int_equal(b->imageCount, empty ? 0 : 2);
        assert_int_equal(b->bufferCount, empty ? 0 : 1);
        assert_int_equal(b->tagSize, empty ? 0 : 5);
        if (!empty) {
            assert_memory_equal(chains.images, images, sizeof(images));
            assert_memory_equal(chains.buffers, sinks, sizeof(sinks));
            assert_memory_equal(chains.tag, "frame", 5);
        }
        fake_close();
    }
}

/* vkLatencySleepNV: the driver itself signals the semaphore, so a queue that waits for it goes on
 * though no submission signals it. */
static _Atomic uint64_t slept_until;
static sem_t submitted;

static VkResult VKAPI_CALL drv_sleep(VkDevice device, VkSwapchainKHR swapchain, const void *info)
{
    struct {
        VkStructureType sType;
        const void *pNext;
        VkSemaphore semaphore;
        uint64_t value;
    } sleep;
    memcpy(&sleep, info, sizeof(sleep));
    slept_until = sleep.value;
    return VK_SUCCESS;
}

static VkResult VKAPI_CALL drv_counter(VkDevice device, VkSemaphore semaphore, uint64_t *value)
{
    *value = slept_until;
    return VK_SUCCESS;
}

static VkResult VKAPI_CALL drv_submit2_post(VkQueue queue, uint32_t count,
                                            const VkSubmitInfo2 *infos, VkFence fence)
{
    VkResult result = drv_submit2(queue, count, infos, fence);
    sem_post(&submitted);
    return result;
}

TEST(test_latency_sleep)
{
    sem_init(&submitted, 0, 0);
    for (uint32_t early = 0; early < 2; early++) {
        slept_until = 0;
        setenv("VK_BELFRY_MULTI_ENGINE_QUEUES_PER_FAMILY", "2", 1);
        fake_start(NULL);
        unsetenv("VK_BELFRY_MULTI_ENGINE_QUEUES_PER_FAMILY");
        FAKE_OVERRIDE(vkQueueSubmit2, drv_submit2_post);
        FAKE_OVERRIDE(vkCreateSemaphore, drv_create_semaphore);
        FAKE_OVERRIDE(vkGetSemaphoreCounterValue, drv_counter);
        fake_override("vkLatencySleepNV", (PFN_vkVoidFunction)drv_sleep);
        fake_open_device((const uint32_t[]){2, 0});
        VkQueue queue = VK_NULL_HANDLE;
        FAKE_CALL(vkGetDeviceQueue, fake.device, 0, 0, &queue);
        VkSemaphore t = make(0, true);
        calls = 0;
        const struct {
            VkStructureType sType;
            const void *pNext;
            VkSemaphore semaphore;
            uint64_t value;
        } sleep = {(VkStructureType)1000505001, NULL, t, 5};
        VkResult(VKAPI_PTR * latency_sleep)(VkDevice, VkSwapchainKHR, const void *) = (VkResult(
            VKAPI_PTR *)(VkDevice, VkSwapchainKHR, const void *))fake_command("vkLatencySleepNV");
        if (early)
            assert_success(latency_sleep(fake.device, VK_NULL_HANDLE, &sleep));
        assert_success(submit_boundary(queue, SUBMIT2, t, true, 0));
        if (!early) {
            assert_int_equal(calls, 0);
            assert_success(latency_sleep(fake.device, VK_NULL_HANDLE, &sleep));
        }
        assert_int_equal(sem_wait(&submitted), 0);
        assert_int_equal(calls, 1);
        fake_close();
    }
    sem_destroy(&submitted);
}

/* Beside one that Belfry knows, a stranger is found, and named. */
TEST(test_stranger_behind_a_frame_boundary)
{
    const struct frame_boundary boundary = {.sType = FRAME_BOUNDARY, .pNext = STRANGER};
    VkQueue queue = open_queues(2);
    VkSemaphore t = make(0, true);
    const uint64_t value = 5;
    const VkTimelineSemaphoreSubmitInfo values = {
        VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO, &boundary, 1, &value, 0, NULL};
    const VkPipelineStageFlags stage = VK_PIPELINE_STAGE_ALL_COMMANDS_BIT;
    const VkSemaphoreSubmitInfo wait = {VK_TYPE(SEMAPHORE_SUBMIT_INFO), .semaphore = t,
                                        .value = value,
                                        .stageMask = VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT};
    const VkSubmitInfo old = {VK_TYPE(SUBMIT_INFO), .pNext = &values, .waitSemaphoreCount = 1,
                              .pWaitSemaphores = &t, .pWaitDstStageMask = &stage};
    const VkSubmitInfo2 info = {VK_TYPE(SUBMIT_INFO_2), .pNext = &boundary,
                                .waitSemaphoreInfoCount = 1, .pWaitSemaphoreInfos = &wait};
    const VkBindSparseInfo bind = {VK_TYPE(BIND_SPARSE_INFO), .pNext = &values,
                                   .waitSemaphoreCount = 1, .pWaitSemaphores = &t};
    char name[16];
    snprintf(name, sizeof(name), "%d", UNKNOWN_TYPE);
    for (enum command command = 0; command < COMMANDS; command++) {
        char line[512];
        lines_begin();
        VkResult result =
            command == SUBMIT    ? FAKE_CALL(vkQueueSubmit, queue, 1, &old, VK_NULL_HANDLE)
            : command == SUBMIT2 ? FAKE_CALL(vkQueueSubmit2, queue, 1, &info, VK_NULL_HANDLE)
                                 : FAKE_CALL(vkQueueBindSparse, queue, 1, &bind, VK_NULL_HANDLE);
        assert_int_equal(lines_end(line, sizeof(line)), 1);
        assert_int_equal(result, VK_ERROR_UNKNOWN);
        assert_non_null(strstr(line, name));
        assert_int_equal(calls, 0);
    }
    fake_close();
}

/* A group's arrays may be empty. */
TEST(test_empty_group)
{
    VkQueue queue = open_queue();
    const VkDeviceGroupSubmitInfo group = {VK_TYPE(DEVICE_GROUP_SUBMIT_INFO)};
    const VkCommandBuffer commands = fake_dispatchable();
    const VkSubmitInfo info = {VK_TYPE(SUBMIT_INFO), .pNext = &group, .commandBufferCount = 1,
                               .pCommandBuffers = &commands};
    assert_success(FAKE_CALL(vkQueueSubmit, queue, 1, &info, VK_NULL_HANDLE));
    assert_int_equal(calls, 1);
    assert_int_equal(buffers[0].deviceMask, 0);
    assert_ptr_equal(buffers[0].commandBuffer, commands);
    assert_null(seen[0].pNext);
    fake_close();
}
