/* SPDX-License-Identifier: MIT */
/* A specializer and a driver of the tests' own around the specialiser's hooks. */
#include "recording_world.h"

#include <ctype.h>

#include "device/device.h"

/* The specializer: the layer has none, and finds these functions in the program ---------------- */

struct recording_world recording;

const uint32_t recording_right[2] = {7, 0x80000000}, recording_wrong[2] = {7, 0};

#define EXPORTED __attribute__((visibility("default")))

EXPORTED VkResult bf_specializer_create(const struct bf_specializer_info *info,
                                        struct bf_specializer **made)
{
    struct bf_specializer *s = &recording.specializer;
    memset(s, 0, sizeof(*s));
    bf_pipelines_init(&s->pipelines, info->device->scheduler.gpu.handle,
                      &info->device->scheduler.gpu.vk);
    s->recorder.vk = &info->device->scheduler.gpu.vk;
    s->recorder.pipelines = &s->pipelines;
    s->recorder.submissions = &s->submissions;
    s->recorder.noting = true;
    *made = s;
    return bf_submissions_init(&s->submissions, &s->pipelines);
}

EXPORTED void bf_specializer_destroy(struct bf_specializer *s)
{
    if (!s)
        return;
    bf_submissions_finish(&s->submissions);
    for (int i = 0; i < 2; i++) {
        /* All references are given back. */
        assert_int_equal(atomic_load(&recording.variants[i]->state) & BF_VARIANT_REFS, 0);
        bf_map_remove(&s->pipelines.records, (uint64_t)GENERAL(i));
        free(recording.records[i]);
        free(recording.variants[i]);
    }
    bf_pipelines_finish(&s->pipelines);
}

EXPORTED bool bf_specializer_abandon(struct bf_specializer *s)
{
    assert_non_null(s);
    return false;
}

EXPORTED void bf_specializer_collect(struct bf_specializer *s)
{
    assert_non_null(s);
}

EXPORTED struct bf_pipelines *bf_specializer_pipelines(struct bf_specializer *s)
{
    return &s->pipelines;
}

EXPORTED struct bf_recorder *bf_specializer_recorder(struct bf_specializer *s)
{
    return &s->recorder;
}

/* The driver ----------------------------------------------------------------------------------- */

static void VKAPI_CALL drv_bind(VkCommandBuffer buffer, VkPipelineBindPoint point, VkPipeline p)
{
    if (point <= COMPUTE)
        recording.bound[point] = p;
}

/* Whatever records work, with whatever arguments. */
static void VKAPI_CALL drv_use(void)
{
    memcpy(recording.used, recording.bound, sizeof(recording.used));
    recording.uses++;
}

static VkResult VKAPI_CALL drv_submit2(VkQueue queue, uint32_t count, const VkSubmitInfo2 *infos,
                                       VkFence fence)
{
    return recording.submit_result;
}

static void VKAPI_CALL drv_stamp(VkCommandBuffer buffer, VkPipelineStageFlagBits stage,
                                 VkQueryPool queries, uint32_t query)
{
    recording.stamps++;
}

static VkResult VKAPI_CALL drv_counter(VkDevice device, VkSemaphore semaphore, uint64_t *value)
{
    *value = recording.counter;
    return VK_SUCCESS;
}

const struct recording_work recording_works[] = {
    {"vkCmdDraw", GRAPHICS},
    {"vkCmdDrawIndexed", GRAPHICS},
    {"vkCmdDrawMultiEXT", GRAPHICS},
    {"vkCmdDrawMultiIndexedEXT", GRAPHICS},
    {"vkCmdDrawIndirect", GRAPHICS},
    {"vkCmdDrawIndexedIndirect", GRAPHICS},
    {"vkCmdDrawIndirectCount", GRAPHICS},
    {"vkCmdDrawIndirectCountKHR", GRAPHICS},
    {"vkCmdDrawIndirectCountAMD", GRAPHICS},
    {"vkCmdDrawIndexedIndirectCount", GRAPHICS},
    {"vkCmdDrawIndexedIndirectCountKHR", GRAPHICS},
    {"vkCmdDrawIndexedIndirectCountAMD", GRAPHICS},
    {"vkCmdDrawIndirectByteCountEXT", GRAPHICS},
    {"vkCmdDrawMeshTasksNV", GRAPHICS},
    {"vkCmdDrawMeshTasksIndirectNV", GRAPHICS},
    {"vkCmdDrawMeshTasksIndirectCountNV", GRAPHICS},
    {"vkCmdDrawMeshTasksEXT", GRAPHICS},
    {"vkCmdDrawMeshTasksIndirectEXT", GRAPHICS},
    {"vkCmdDrawMeshTasksIndirectCountEXT", GRAPHICS},
    {"vkCmdDrawClusterHUAWEI", GRAPHICS},
    {"vkCmdDrawClusterIndirectHUAWEI", GRAPHICS},
    {"vkCmdDispatch", COMPUTE},
    {"vkCmdDispatchIndirect", COMPUTE},
    {"vkCmdDispatchBase", COMPUTE},
    {"vkCmdDispatchBaseKHR", COMPUTE},
};
_Static_assert(sizeof(recording_works) / sizeof(recording_works[0]) == RECORDING_WORKS, "all");

bool recording_lacks(const char *name)
{
    bool several = (strstr(name, "IndirectCount") && !strstr(name, "MeshTasks")) ||
                   strstr(name, "DispatchBase");
    size_t length = strlen(name);
    const char *suffix = isupper((unsigned char)name[length - 2]) ? name + length - 3 : "";
    return recording.only && several && strcmp(suffix, recording.only) != 0;
}

static void make_record(int point)
{
    struct bf_pipeline *p = calloc(1, sizeof(*p));
    struct bf_variant *v = calloc(1, sizeof(*v));
    assert_true(p && v);
    p->handle = GENERAL(point);
    p->id = 100 + (uint64_t)point;
    p->point = (VkPipelineBindPoint)point;
    p->push_id = bf_pipelines_push_id(&recording.specializer.pipelines, recording.layouts[0]);
    assert_int_not_equal(p->push_id, 0);
    p->histogram = &recording.histograms[point];
    bf_pipeline_watch(p, &(struct bf_watch){.count = 2, .offset = {4, 8}});
    v->handle = VARIANT(point);
    v->mask = 3;
    memcpy(v->values, recording_right, sizeof(recording_right));
    for (int i = 0; i < 3; i++)
        v->groups[i] = point == VK_PIPELINE_BIND_POINT_COMPUTE ? 2 : UINT32_MAX;
    atomic_store(&p->variants[1], v);
    recording.records[point] = p;
    recording.variants[point] = v;
    assert_true(bf_map_insert(&recording.specializer.pipelines.records, (uint64_t)p->handle, p));
    assert_true(bf_map_insert(&recording.specializer.pipelines.ids, p->id, p));
}

void recording_open(void)
{
    recording.uses = 0;
    recording.submit_result = VK_SUCCESS;
    memset(recording.bound, 0, sizeof(recording.bound));
    setenv("VK_BELFRY_MULTI_ENGINE_SPECIALIZE", "exact", 1);
    fake_start(
        &(struct fake_driver){.layer = "libbelfry_test_layer_open.so", .lacks = recording_lacks});
    FAKE_OVERRIDE(vkCmdBindPipeline, drv_bind);
    for (size_t i = 0; i < RECORDING_WORKS; i++)
        fake_override(recording_works[i].name, (PFN_vkVoidFunction)drv_use);
    fake_use(
        "vkCreatePipelineLayout vkDestroyPipelineLayout vkCreateCommandPool vkDestroyCommandPool "
        "vkCreateQueryPool vkDestroyQueryPool vkCreateFence vkDestroyFence vkCreateSemaphore "
        "vkDestroySemaphore vkAllocateCommandBuffers vkFreeCommandBuffers");
    FAKE_OVERRIDE(vkQueueSubmit2, drv_submit2);
    FAKE_OVERRIDE(vkCmdWriteTimestamp, drv_stamp);
    FAKE_OVERRIDE(vkGetSemaphoreCounterValue, drv_counter);
    fake_open_device((const uint32_t[]){1, 0});
    for (uint32_t i = 0; i < 2; i++) {
        const VkPushConstantRange range = {VK_SHADER_STAGE_ALL, 0, 32 + 16 * i};
        const VkPipelineLayoutCreateInfo info = {VK_TYPE(PIPELINE_LAYOUT_CREATE_INFO),
                                                 .pushConstantRangeCount = 1,
                                                 .pPushConstantRanges = &range};
        assert_success(
            FAKE_CALL(vkCreatePipelineLayout, fake.device, &info, NULL, &recording.layouts[i]));
    }
    make_record(0);
    make_record(1);
    assert_success(FAKE_CALL(vkCreateCommandPool, fake.device,
                             &(VkCommandPoolCreateInfo){VK_TYPE(COMMAND_POOL_CREATE_INFO)}, NULL,
                             &recording.pool));
}

void recording_close(void)
{
    for (int i = 0; i < 2; i++)
        FAKE_CALL(vkDestroyPipelineLayout, fake.device, recording.layouts[i], NULL);
    fake_close();
}

VkCommandBuffer recording_allocate(VkCommandPool from, VkCommandBufferLevel level)
{
    VkCommandBuffer buffer;
    const VkCommandBufferAllocateInfo info = {VK_TYPE(COMMAND_BUFFER_ALLOCATE_INFO),
                                              .commandPool = from, .level = level,
                                              .commandBufferCount = 1};
    assert_success(FAKE_CALL(vkAllocateCommandBuffers, fake.device, &info, &buffer));
    return buffer;
}

void recording_begin_with(VkCommandBuffer buffer, VkQueryPipelineStatisticFlags inherited,
                          VkCommandBufferUsageFlags flags)
{
    const VkCommandBufferInheritanceInfo inheritance = {VK_TYPE(COMMAND_BUFFER_INHERITANCE_INFO),
                                                        .pipelineStatistics = inherited};
    const VkCommandBufferBeginInfo info = {VK_TYPE(COMMAND_BUFFER_BEGIN_INFO), .flags = flags,
                                           .pInheritanceInfo = &inheritance};
    assert_success(FAKE_CALL(vkBeginCommandBuffer, buffer, &info));
    recording.bound[0] = recording.bound[1] = VK_NULL_HANDLE;
}

void recording_begin(VkCommandBuffer buffer, VkQueryPipelineStatisticFlags inherited)
{
    recording_begin_with(buffer, inherited, 0);
}

void recording_bind(VkCommandBuffer buffer, VkPipelineBindPoint point)
{
    FAKE_CALL(vkCmdBindPipeline, buffer, point, GENERAL(point));
}

void recording_push(VkCommandBuffer buffer, const uint32_t words[2])
{
    FAKE_CALL(vkCmdPushConstants, buffer, recording.layouts[0], VK_SHADER_STAGE_ALL, 4, 8, words);
}

/* The command, with arguments of no meaning. */
VkPipeline recording_do(VkCommandBuffer buffer, size_t i)
{
    typedef void(VKAPI_PTR * any)(VkCommandBuffer, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t,
                                  uint64_t, uint64_t);
    uint32_t before = recording.uses;
    ((any)fake_command(recording_works[i].name))(buffer, 0, 0, 0, 0, 0, 0, 0);
    assert_int_equal(recording.uses, before + 1);
    return recording.used[recording_works[i].point];
}

VkPipeline recording_dispatch(VkCommandBuffer buffer)
{
    FAKE_CALL(vkCmdDispatch, buffer, 1, 1, 1);
    return recording.used[COMPUTE];
}

VkPipeline recording_draw(VkCommandBuffer buffer)
{
    FAKE_CALL(vkCmdDraw, buffer, 3, 1, 0, 0);
    return recording.used[GRAPHICS];
}

/* A command buffer whose next work at both bind points gets the variants. */
VkCommandBuffer recording_ready(void)
{
    VkCommandBuffer buffer = recording_allocate(recording.pool, VK_COMMAND_BUFFER_LEVEL_PRIMARY);
    recording_begin(buffer, 0);
    recording_bind(buffer, GRAPHICS);
    recording_bind(buffer, COMPUTE);
    recording_push(buffer, recording_right);
    return buffer;
}

VkQueue recording_queue(void)
{
    VkQueue queue;
    FAKE_CALL(vkGetDeviceQueue, fake.device, 0, 0, &queue);
    return queue;
}
