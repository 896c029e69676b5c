/*
 * The specialiser's hooks (layer/recording.c, recording_draw.c, finished.c), with a specializer of
 * the test's own that has a pipeline and a variant of it at each bind point: whatever records work
 * is recorded with the variant where the values are the variant's, and with the program's own
 * pipeline everywhere else; and uses count when the program has seen them finish.
 */
#include "fake.h"
#include "registry.h"

#include <ctype.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "device/device.h"
#include "specialize/pipeline.h"
#include "specialize/recording.h"
#include "specialize/specialize.h"
#include "specialize/submission.h"
#include "specialize/trial.h"

#define GRAPHICS VK_PIPELINE_BIND_POINT_GRAPHICS
#define COMPUTE  VK_PIPELINE_BIND_POINT_COMPUTE

/* The specializer: the layer finds these functions before libbelfry's -------------------------- */

struct bf_specializer {
    struct bf_pipelines pipelines;
    struct bf_submissions submissions;
    struct bf_recorder recorder;
};

static struct bf_specializer specializer;
static struct bf_pipeline *records[2];
static struct bf_variant *variants[2];

#define GENERAL(point) ((VkPipeline)(uintptr_t)(0x1000 + (point)))
#define VARIANT(point) ((VkPipeline)(uintptr_t)(0x2000 + (point)))
#define OTHER          ((VkPipeline)(uintptr_t)0x3000) /* that isn't specialised */

static const uint32_t right[2] = {7, 0x80000000}, wrong[2] = {7, 0};

#define EXPORTED __attribute__((visibility("default")))

EXPORTED VkResult bf_specializer_create(const struct bf_specializer_info *info,
                                        struct bf_specializer **made)
{
    struct bf_specializer *s = &specializer;
    memset(s, 0, sizeof(*s));
    bf_pipelines_init(&s->pipelines, info->device->handle, &info->device->vk, false);
    s->recorder.vk = &info->device->vk;
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
        assert_int_equal(atomic_load(&variants[i]->state) & BF_VARIANT_REFS, 0);
        bf_map_remove(&s->pipelines.records, (uint64_t)GENERAL(i));
        free(records[i]);
        free(variants[i]);
    }
    bf_pipelines_finish(&s->pipelines);
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

/* The driver ------------------------------------------------------------------------------------ */

static VkPipeline bound[2], used[2]; /* the latter when work was recorded last */
static uint32_t uses, next_handle;
static VkCommandBuffer recycled[16];
static uint32_t recycled_count;
static VkResult submit_result;

static void VKAPI_CALL drv_bind(VkCommandBuffer buffer, VkPipelineBindPoint point, VkPipeline p)
{
    (void)buffer;
    if (point <= COMPUTE)
        bound[point] = p;
}

/* Whatever records work, with whatever arguments. */
static void VKAPI_CALL drv_use(void)
{
    memcpy(used, bound, sizeof(used));
    uses++;
}

static VkResult VKAPI_CALL drv_create(VkDevice device, const void *info,
                                      const VkAllocationCallbacks *allocator, uint64_t *handle)
{
    (void)device, (void)info, (void)allocator;
    *handle = 0x5000 + 8 * ++next_handle;
    return VK_SUCCESS;
}

static VkResult VKAPI_CALL drv_allocate(VkDevice device, const VkCommandBufferAllocateInfo *info,
                                        VkCommandBuffer *buffers)
{
    (void)device;
    for (uint32_t i = 0; i < info->commandBufferCount; i++)
        buffers[i] = recycled_count ? recycled[--recycled_count] : fake_dispatchable();
    return VK_SUCCESS;
}

static void VKAPI_CALL drv_free(VkDevice device, VkCommandPool pool, uint32_t count,
                                const VkCommandBuffer *buffers)
{
    (void)device, (void)pool;
    for (uint32_t i = 0; i < count; i++)
        recycled[recycled_count++] = buffers[i];
}

static VkResult VKAPI_CALL drv_submit2(VkQueue queue, uint32_t count, const VkSubmitInfo2 *infos,
                                       VkFence fence)
{
    (void)queue, (void)count, (void)infos, (void)fence;
    return submit_result;
}

static uint32_t stamps;
static void VKAPI_CALL drv_stamp(VkCommandBuffer buffer, VkPipelineStageFlagBits stage,
                                 VkQueryPool queries, uint32_t query)
{
    (void)buffer, (void)stage, (void)queries, (void)query;
    stamps++;
}

static uint64_t counter;
static VkResult VKAPI_CALL drv_counter(VkDevice device, VkSemaphore semaphore, uint64_t *value)
{
    (void)device, (void)semaphore;
    *value = counter;
    return VK_SUCCESS;
}

/* All that record work, and where. */
static const struct {
    const char *name;
    VkPipelineBindPoint point;
} work[] = {
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
#define WORK (sizeof(work) / sizeof(work[0]))

static VkPipelineLayout layouts[2]; /* with different ranges */
static VkCommandPool pool;

/* Of several names of a command the driver has the one that ends so; NULL: all. */
static const char *only;

static bool lacks_others(const char *name)
{
    bool several = (strstr(name, "IndirectCount") && !strstr(name, "MeshTasks")) ||
                   strstr(name, "DispatchBase");
    size_t length = strlen(name);
    const char *suffix = isupper((unsigned char)name[length - 2]) ? name + length - 3 : "";
    return only && several && strcmp(suffix, only) != 0;
}

static void make_record(int point)
{
    struct bf_pipeline *p = calloc(1, sizeof(*p));
    struct bf_variant *v = calloc(1, sizeof(*v));
    assert_true(p && v);
    p->handle = GENERAL(point);
    p->id = 100 + (uint64_t)point;
    p->point = (VkPipelineBindPoint)point;
    p->push_id = bf_pipelines_push_id(&specializer.pipelines, layouts[0]);
    assert_int_not_equal(p->push_id, 0);
    p->watch.count = 2;
    p->watch.offset[0] = 4;
    p->watch.offset[1] = 8;
    p->tally.all = p->tally.mask = 3;
    v->handle = VARIANT(point);
    v->mask = 3;
    memcpy(v->values, right, sizeof(right));
    atomic_store(&p->variants[1], v);
    records[point] = p;
    variants[point] = v;
    assert_true(bf_map_insert(&specializer.pipelines.records, (uint64_t)p->handle, p));
    assert_true(bf_map_insert(&specializer.pipelines.ids, p->id, p));
}

static void open_world(void)
{
    next_handle = recycled_count = uses = 0;
    submit_result = VK_SUCCESS;
    memset(bound, 0, sizeof(bound));
    setenv("VK_BELFRY_MULTI_ENGINE_SPECIALIZE", "exact", 1);
    fake_load(&(struct fake_driver){.lacks = lacks_others});
    assert_int_equal(fake_instance(VK_API_VERSION_1_3, 0, NULL), VK_SUCCESS);
    FAKE_OVERRIDE(vkCmdBindPipeline, drv_bind);
    for (size_t i = 0; i < WORK; i++)
        fake_override(work[i].name, (PFN_vkVoidFunction)drv_use);
    static const char *const created[] = {"vkCreatePipelineLayout", "vkCreateCommandPool",
                                          "vkCreateQueryPool", "vkCreateFence",
                                          "vkCreateSemaphore"};
    for (size_t i = 0; i < sizeof(created) / sizeof(created[0]); i++)
        fake_override(created[i], (PFN_vkVoidFunction)drv_create);
    FAKE_OVERRIDE(vkAllocateCommandBuffers, drv_allocate);
    FAKE_OVERRIDE(vkFreeCommandBuffers, drv_free);
    FAKE_OVERRIDE(vkQueueSubmit2, drv_submit2);
    FAKE_OVERRIDE(vkCmdWriteTimestamp, drv_stamp);
    FAKE_OVERRIDE(vkGetSemaphoreCounterValue, drv_counter);
    static const float priority = 1;
    const VkDeviceQueueCreateInfo queue = {.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO,
                                           .queueCount = 1,
                                           .pQueuePriorities = &priority};
    assert_int_equal(
        fake_device(&(VkDeviceCreateInfo){.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
                                          .queueCreateInfoCount = 1,
                                          .pQueueCreateInfos = &queue}),
        VK_SUCCESS);
    unsetenv("VK_BELFRY_MULTI_ENGINE_SPECIALIZE");
    for (uint32_t i = 0; i < 2; i++) {
        const VkPushConstantRange range = {VK_SHADER_STAGE_ALL, 0, 32 + 16 * i};
        const VkPipelineLayoutCreateInfo info = {.sType =
                                                     VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO,
                                                 .pushConstantRangeCount = 1,
                                                 .pPushConstantRanges = &range};
        assert_int_equal(FAKE_CALL(vkCreatePipelineLayout)(fake.device, &info, NULL, &layouts[i]),
                         VK_SUCCESS);
    }
    make_record(0);
    make_record(1);
    assert_int_equal(
        FAKE_CALL(vkCreateCommandPool)(
            fake.device,
            &(VkCommandPoolCreateInfo){.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO}, NULL,
            &pool),
        VK_SUCCESS);
}

static void close_world(void)
{
    for (int i = 0; i < 2; i++)
        FAKE_CALL(vkDestroyPipelineLayout)(fake.device, layouts[i], NULL);
    fake_close();
}

static VkCommandBuffer allocate(VkCommandPool from, VkCommandBufferLevel level)
{
    VkCommandBuffer buffer;
    const VkCommandBufferAllocateInfo info = {.sType =
                                                  VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
                                              .commandPool = from,
                                              .level = level,
                                              .commandBufferCount = 1};
    assert_int_equal(FAKE_CALL(vkAllocateCommandBuffers)(fake.device, &info, &buffer), VK_SUCCESS);
    return buffer;
}

static void begin_with(VkCommandBuffer buffer, VkQueryPipelineStatisticFlags inherited,
                       VkCommandBufferUsageFlags flags)
{
    const VkCommandBufferInheritanceInfo inheritance = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_INHERITANCE_INFO,
        .pipelineStatistics = inherited};
    const VkCommandBufferBeginInfo info = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
                                           .flags = flags,
                                           .pInheritanceInfo = &inheritance};
    assert_int_equal(FAKE_CALL(vkBeginCommandBuffer)(buffer, &info), VK_SUCCESS);
    bound[0] = bound[1] = VK_NULL_HANDLE;
}

static void begin(VkCommandBuffer buffer, VkQueryPipelineStatisticFlags inherited)
{
    begin_with(buffer, inherited, 0);
}

static void bind(VkCommandBuffer buffer, VkPipelineBindPoint point)
{
    FAKE_CALL(vkCmdBindPipeline)(buffer, point, GENERAL(point));
}

static void push(VkCommandBuffer buffer, const uint32_t words[2])
{
    FAKE_CALL(vkCmdPushConstants)(buffer, layouts[0], VK_SHADER_STAGE_ALL, 4, 8, words);
}

/* The command, with arguments of no meaning. */
static VkPipeline do_work(VkCommandBuffer buffer, size_t i)
{
    typedef void(VKAPI_PTR * any)(VkCommandBuffer, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t,
                                  uint64_t, uint64_t);
    uint32_t before = uses;
    ((any)fake_command(work[i].name))(buffer, 0, 0, 0, 0, 0, 0, 0);
    assert_int_equal(uses, before + 1);
    return used[work[i].point];
}

static VkPipeline dispatch(VkCommandBuffer buffer)
{
    FAKE_CALL(vkCmdDispatch)(buffer, 1, 1, 1);
    return used[COMPUTE];
}

static VkPipeline draw(VkCommandBuffer buffer)
{
    FAKE_CALL(vkCmdDraw)(buffer, 3, 1, 0, 0);
    return used[GRAPHICS];
}

/* A command buffer whose next work at both bind points gets the variants. */
static VkCommandBuffer ready(void)
{
    VkCommandBuffer buffer = allocate(pool, VK_COMMAND_BUFFER_LEVEL_PRIMARY);
    begin(buffer, 0);
    bind(buffer, GRAPHICS);
    bind(buffer, COMPUTE);
    push(buffer, right);
    return buffer;
}

#define assert_bound(actual, expected) assert_ptr_equal((actual), (expected))

/* Recording ------------------------------------------------------------------------------------- */

static void check_work(size_t i)
{
    VkCommandBuffer buffer = ready();
    VkPipelineBindPoint point = work[i].point;
    assert_bound(bound[point], GENERAL(point));
    assert_bound(do_work(buffer, i), VARIANT(point));
    assert_bound(do_work(buffer, i), VARIANT(point));
    push(buffer, wrong);
    assert_bound(do_work(buffer, i), GENERAL(point));
    push(buffer, right);
    assert_bound(do_work(buffer, i), VARIANT(point));
    FAKE_CALL(vkCmdBindPipeline)(buffer, point, OTHER);
    push(buffer, wrong);
    assert_bound(do_work(buffer, i), OTHER);
    push(buffer, right);
    assert_bound(do_work(buffer, i), OTHER);
    bind(buffer, point);
    assert_bound(bound[point], GENERAL(point)); /* it goes down as it comes */
    assert_bound(do_work(buffer, i), VARIANT(point));
    assert_int_equal(atomic_load(&variants[point]->state), 1);
    assert_int_equal(atomic_load(&variants[!point]->state), 0);
    FAKE_CALL(vkFreeCommandBuffers)(fake.device, pool, 1, &buffer);
}

static void test_all_work(void **state)
{
    (void)state;
    static const char *const suffixes[] = {"", "KHR", "AMD"};
    for (size_t k = 0; k < 3; k++) {
        only = suffixes[k];
        open_world();
        for (size_t i = 0; i < WORK; i++) {
            if (!lacks_others(work[i].name))
                check_work(i);
        }
        close_world();
    }
    only = NULL;
}

/* Every command of the registry that records work or what it reads is stood in for. */
static void test_registry(void **state)
{
    (void)state;
    struct registry registry;
    static const char *const kinds[] = {"vkCmdDraw",         "vkCmdDispatch",    "vkCmdPushConst",
                                        "vkCmdPushData",     "vkCmdExecute",     "vkCmdPreprocess",
                                        "vkCmdBindPipeline", "vkCmdBindShaders", "vkCmdBeginQuery",
                                        "vkCmdEndQuery",     "vkCmdBeginTrans",  "vkCmdEndTrans"};
    if (!registry_read(&registry))
        skip();
    open_world();
    uint32_t seen = 0;
    for (uint32_t i = 0; i < registry.count; i++) {
        const char *name = registry.commands[i].name;
        for (size_t k = 0; k < sizeof(kinds) / sizeof(kinds[0]); k++) {
            if (strncmp(name, kinds[k], strlen(kinds[k])) != 0)
                continue;
            fake_command(name);
            if (specializer.recorder.stopped)
                fail_msg("%s is not known", name);
            seen++;
        }
    }
    assert_true(seen >= 35);
    VkCommandBuffer buffer = ready();
    assert_bound(dispatch(buffer), VARIANT(COMPUTE));
    fake_command("vkCmdDispatchGraphAMDX"); /* of a bind point of its own */
    fake_command("vkCmdTraceRaysKHR");
    assert_bound(dispatch(buffer), VARIANT(COMPUTE));
    fake_command("vkCmdDispatchTomorrowKHR");
    assert_bound(dispatch(buffer), GENERAL(COMPUTE));
    close_world();
    registry_free(&registry);
}

static void test_pushes(void **state)
{
    (void)state;
    open_world();
    VkCommandBuffer buffer = ready();
    struct {
        VkStructureType type;
        const void *next;
        VkPipelineLayout layout;
        VkShaderStageFlags stages;
        uint32_t offset, size;
        const void *values;
    } info = {(VkStructureType)1000545002, NULL, layouts[0], VK_SHADER_STAGE_ALL, 8, 4, &wrong[1]};
    typedef void(VKAPI_PTR * with_info)(VkCommandBuffer, const void *);
    static const char *const names[] = {"vkCmdPushConstants2", "vkCmdPushConstants2KHR"};
    for (int i = 0; i < 2; i++) {
        with_info push2 = (with_info)fake_command(names[i]);
        info.layout = layouts[0];
        info.values = &right[1];
        push2(buffer, &info);
        assert_bound(dispatch(buffer), VARIANT(COMPUTE));
        info.values = &wrong[1];
        push2(buffer, &info);
        assert_bound(dispatch(buffer), GENERAL(COMPUTE));
        push(buffer, right);
        assert_bound(dispatch(buffer), VARIANT(COMPUTE));
        info.layout = VK_NULL_HANDLE; /* its ranges are chained */
        info.values = &right[1];
        push2(buffer, &info);
        assert_bound(dispatch(buffer), GENERAL(COMPUTE));
        push(buffer, right);
    }
    /* Through a layout with other ranges, and back: what was pushed before is unknown. */
    FAKE_CALL(vkCmdPushConstants)(buffer, layouts[1], VK_SHADER_STAGE_ALL, 4, 8, right);
    assert_bound(dispatch(buffer), GENERAL(COMPUTE));
    FAKE_CALL(vkCmdPushConstants)(buffer, layouts[0], VK_SHADER_STAGE_ALL, 4, 4, right);
    assert_bound(dispatch(buffer), GENERAL(COMPUTE));
    push(buffer, right);
    assert_bound(dispatch(buffer), VARIANT(COMPUTE));
    ((with_info)fake_command("vkCmdPushDataEXT"))(buffer, NULL);
    assert_bound(dispatch(buffer), GENERAL(COMPUTE));
    close_world();
}

static void test_secondaries(void **state)
{
    (void)state;
    open_world();
    VkCommandBuffer buffer = ready(), secondary = allocate(pool, VK_COMMAND_BUFFER_LEVEL_SECONDARY);
    assert_bound(dispatch(buffer), VARIANT(COMPUTE));
    begin(secondary, 0);
    bind(secondary, COMPUTE);
    assert_bound(dispatch(secondary), GENERAL(COMPUTE)); /* nothing is inherited */
    push(secondary, right);
    assert_bound(dispatch(secondary), VARIANT(COMPUTE));
    FAKE_CALL(vkEndCommandBuffer)(secondary);
    bound[COMPUTE] = GENERAL(COMPUTE);
    bind(buffer, COMPUTE);
    FAKE_CALL(vkCmdExecuteCommands)(buffer, 1, &secondary);
    bind(buffer, COMPUTE);
    assert_bound(dispatch(buffer), GENERAL(COMPUTE));
    push(buffer, right);
    assert_bound(dispatch(buffer), VARIANT(COMPUTE));
    assert_int_equal(atomic_load(&variants[COMPUTE]->state), 2);
    /* Executed, perhaps, with a pipeline-statistics query active. */
    begin(secondary, VK_QUERY_PIPELINE_STATISTIC_COMPUTE_SHADER_INVOCATIONS_BIT);
    bind(secondary, COMPUTE);
    push(secondary, right);
    assert_bound(dispatch(secondary), GENERAL(COMPUTE));
    begin(secondary, 0);
    bind(secondary, COMPUTE);
    push(secondary, right);
    assert_bound(dispatch(secondary), VARIANT(COMPUTE));
    close_world();
}

static VkQueryPool query_pool(VkQueryType type)
{
    VkQueryPool made;
    const VkQueryPoolCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_QUERY_POOL_CREATE_INFO, .queryType = type, .queryCount = 4};
    assert_int_equal(FAKE_CALL(vkCreateQueryPool)(fake.device, &info, NULL, &made), VK_SUCCESS);
    return made;
}

static void test_queries(void **state)
{
    (void)state;
    open_world();
    VkCommandBuffer buffer = ready();
    VkQueryPool occlusion = query_pool(VK_QUERY_TYPE_OCCLUSION),
                statistics = query_pool(VK_QUERY_TYPE_PIPELINE_STATISTICS),
                performance = query_pool(VK_QUERY_TYPE_PERFORMANCE_QUERY_KHR);
    FAKE_CALL(vkCmdBeginQuery)(buffer, occlusion, 0, 0);
    assert_bound(draw(buffer), VARIANT(GRAPHICS));
    FAKE_CALL(vkCmdBeginQuery)(buffer, statistics, 0, 0);
    assert_bound(draw(buffer), GENERAL(GRAPHICS));
    FAKE_CALL(vkCmdBeginQueryIndexedEXT)(buffer, performance, 0, 0, 0);
    FAKE_CALL(vkCmdEndQuery)(buffer, statistics, 0);
    FAKE_CALL(vkCmdEndQuery)(buffer, occlusion, 0);
    assert_bound(draw(buffer), GENERAL(GRAPHICS));
    FAKE_CALL(vkCmdEndQueryIndexedEXT)(buffer, performance, 0, 0);
    assert_bound(draw(buffer), VARIANT(GRAPHICS));
    FAKE_CALL(vkDestroyQueryPool)(fake.device, statistics, NULL);
    FAKE_CALL(vkDestroyQueryPool)(fake.device, performance, NULL);
    FAKE_CALL(vkDestroyQueryPool)(fake.device, occlusion, NULL);
    close_world();
}

static void test_feedback(void **state)
{
    (void)state;
    open_world();
    VkCommandBuffer buffer = ready();
    assert_bound(draw(buffer), VARIANT(GRAPHICS));
    FAKE_CALL(vkCmdBeginTransformFeedbackEXT)(buffer, 0, 0, NULL, NULL);
    assert_bound(bound[GRAPHICS], GENERAL(GRAPHICS)); /* behind it nothing may be bound */
    push(buffer, right);
    assert_bound(draw(buffer), GENERAL(GRAPHICS));
    FAKE_CALL(vkCmdEndTransformFeedbackEXT)(buffer, 0, 0, NULL, NULL);
    assert_bound(draw(buffer), VARIANT(GRAPHICS));
    close_world();
}

static void test_generated(void **state)
{
    (void)state;
    open_world();
    VkCommandBuffer buffer = ready(), other = ready();
    typedef void(VKAPI_PTR * execute)(VkCommandBuffer, VkBool32, const void *);
    typedef void(VKAPI_PTR * preprocess)(VkCommandBuffer, const void *, VkCommandBuffer);
    const VkGeneratedCommandsInfoNV info = {.pipeline = OTHER};
    static const char *const names[] = {"vkCmdExecuteGeneratedCommandsEXT",
                                        "vkCmdExecuteGeneratedCommandsNV"};
    for (int i = 0; i < 2; i++) {
        bind(buffer, COMPUTE);
        push(buffer, right);
        assert_bound(dispatch(buffer), VARIANT(COMPUTE));
        ((execute)fake_command(names[i]))(buffer, VK_FALSE, &info);
        assert_bound(bound[COMPUTE], GENERAL(COMPUTE));
        bind(buffer, COMPUTE);
        assert_bound(dispatch(buffer), GENERAL(COMPUTE)); /* they may have pushed */
    }
    push(other, right);
    assert_bound(dispatch(other), VARIANT(COMPUTE));
    ((preprocess)fake_command("vkCmdPreprocessGeneratedCommandsEXT"))(buffer, NULL, other);
    assert_bound(bound[COMPUTE], GENERAL(COMPUTE)); /* the other one's state is what is taken */
    assert_bound(dispatch(other), VARIANT(COMPUTE));
    FAKE_CALL(vkCmdPreprocessGeneratedCommandsNV)(other, &info);
    assert_bound(bound[COMPUTE], GENERAL(COMPUTE));
    /* From then on its handle is a matter of generated commands. */
    const VkGeneratedCommandsInfoNV named = {.pipeline = GENERAL(GRAPHICS)};
    assert_bound(draw(other), VARIANT(GRAPHICS));
    FAKE_CALL(vkCmdPreprocessGeneratedCommandsNV)(other, &named);
    assert_bound(draw(other), GENERAL(GRAPHICS));
    specializer.pipelines.ended = NULL; /* the variant is the test's */
    FAKE_CALL(vkCmdBindPipelineShaderGroupNV)(other, COMPUTE, OTHER, 0);
    bound[COMPUTE] = OTHER;
    assert_bound(dispatch(other), OTHER);
    close_world();
}

static void test_shader_objects(void **state)
{
    (void)state;
    open_world();
    VkCommandBuffer buffer = ready();
    typedef void(VKAPI_PTR * bind_shaders)(VkCommandBuffer, uint32_t, const VkShaderStageFlagBits *,
                                           const uint64_t *);
    const VkShaderStageFlagBits stage = VK_SHADER_STAGE_FRAGMENT_BIT;
    assert_bound(draw(buffer), VARIANT(GRAPHICS));
    ((bind_shaders)fake_command("vkCmdBindShadersEXT"))(buffer, 1, &stage, NULL);
    bound[GRAPHICS] = OTHER;
    assert_bound(draw(buffer), OTHER); /* nothing comes back to life */
    assert_bound(dispatch(buffer), VARIANT(COMPUTE));
    push(buffer, wrong);
    assert_bound(dispatch(buffer), GENERAL(COMPUTE));
    close_world();
}

/* Life of command buffers ----------------------------------------------------------------------- */

static uint32_t references(void)
{
    return atomic_load(&variants[COMPUTE]->state) & BF_VARIANT_REFS;
}

static void test_references(void **state)
{
    (void)state;
    open_world();
    VkCommandBuffer buffer = ready();
    for (int i = 0; i < 3; i++) {
        assert_bound(dispatch(buffer), VARIANT(COMPUTE));
        assert_int_equal(references(), 1);
        assert_int_equal(FAKE_CALL(vkEndCommandBuffer)(buffer), VK_SUCCESS);
        if (i == 0)
            FAKE_CALL(vkResetCommandBuffer)(buffer, 0);
        else if (i == 1)
            FAKE_CALL(vkResetCommandPool)(fake.device, pool, 0);
        else
            begin(buffer, 0);
        assert_int_equal(references(), 0);
        begin(buffer, 0);
        bind(buffer, COMPUTE);
        assert_bound(dispatch(buffer), GENERAL(COMPUTE));
        push(buffer, right);
    }
    assert_bound(dispatch(buffer), VARIANT(COMPUTE));
    FAKE_CALL(vkFreeCommandBuffers)(fake.device, pool, 1, &buffer);
    assert_int_equal(references(), 0);
    ready();
    buffer = ready();
    assert_bound(dispatch(buffer), VARIANT(COMPUTE));
    FAKE_CALL(vkDestroyCommandPool)(fake.device, pool, NULL);
    assert_int_equal(references(), 0);
    /* Never picked for protected work. */
    const VkCommandPoolCreateInfo info = {.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
                                          .flags = VK_COMMAND_POOL_CREATE_PROTECTED_BIT};
    assert_int_equal(FAKE_CALL(vkCreateCommandPool)(fake.device, &info, NULL, &pool), VK_SUCCESS);
    buffer = ready();
    assert_bound(dispatch(buffer), GENERAL(COMPUTE));
    close_world(); /* with all that is left */
}

/* A handle that comes back stands for another command buffer, in every thread. */
static struct {
    pthread_barrier_t turn;
    VkCommandBuffer buffer;
} relay;

static void *use_twice(void *unused)
{
    (void)unused;
    assert_bound(dispatch(relay.buffer), VARIANT(COMPUTE));
    pthread_barrier_wait(&relay.turn);
    pthread_barrier_wait(&relay.turn);
    begin(relay.buffer, 0);
    bind(relay.buffer, COMPUTE);
    push(relay.buffer, right);
    assert_bound(dispatch(relay.buffer), VARIANT(COMPUTE));
    return NULL;
}

static void test_handles_come_back(void **state)
{
    (void)state;
    open_world();
    pthread_t thread;
    relay.buffer = ready();
    pthread_barrier_init(&relay.turn, NULL, 2);
    assert_int_equal(pthread_create(&thread, NULL, use_twice, NULL), 0);
    pthread_barrier_wait(&relay.turn);
    VkCommandBuffer before = relay.buffer;
    FAKE_CALL(vkFreeCommandBuffers)(fake.device, pool, 1, &before);
    assert_int_equal(references(), 0);
    relay.buffer = allocate(pool, VK_COMMAND_BUFFER_LEVEL_PRIMARY);
    assert_ptr_equal(relay.buffer, before);
    pthread_barrier_wait(&relay.turn);
    assert_int_equal(pthread_join(thread, NULL), 0);
    pthread_barrier_destroy(&relay.turn);
    assert_int_equal(references(), 1);
    FAKE_CALL(vkFreeCommandBuffers)(fake.device, pool, 1, &relay.buffer);
    assert_int_equal(references(), 0);
    close_world();
}

/* What has finished ----------------------------------------------------------------------------- */

static uint64_t counted(void)
{
    return records[COMPUTE]->tally.total;
}

static VkQueue first_queue(void)
{
    VkQueue queue;
    FAKE_CALL(vkGetDeviceQueue)(fake.device, 0, 0, &queue);
    return queue;
}

static VkFence make_fence(void)
{
    VkFence fence;
    const VkFenceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO};
    assert_int_equal(FAKE_CALL(vkCreateFence)(fake.device, &info, NULL, &fence), VK_SUCCESS);
    return fence;
}

static VkSemaphore make_timeline(void)
{
    VkSemaphore semaphore;
    const VkSemaphoreTypeCreateInfo type = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO,
                                            .semaphoreType = VK_SEMAPHORE_TYPE_TIMELINE};
    const VkSemaphoreCreateInfo info = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO,
                                        .pNext = &type};
    assert_int_equal(FAKE_CALL(vkCreateSemaphore)(fake.device, &info, NULL, &semaphore),
                     VK_SUCCESS);
    return semaphore;
}

static VkResult submit(VkQueue queue, VkCommandBuffer buffer, VkFence fence, VkSemaphore signal,
                       uint64_t value, VkPipelineStageFlags2 stages)
{
    const VkCommandBufferSubmitInfo buffers = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_SUBMIT_INFO, .commandBuffer = buffer};
    const VkSemaphoreSubmitInfo signals = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_SUBMIT_INFO,
                                           .semaphore = signal,
                                           .value = value,
                                           .stageMask = stages};
    const VkSubmitInfo2 info = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO_2,
                                .commandBufferInfoCount = buffer ? 1 : 0,
                                .pCommandBufferInfos = &buffers,
                                .signalSemaphoreInfoCount = signal ? 1 : 0,
                                .pSignalSemaphoreInfos = &signals};
    return FAKE_CALL(vkQueueSubmit2)(queue, 1, &info, fence);
}

static void submit1(VkQueue queue, VkCommandBuffer buffer, VkSemaphore signal, uint64_t value)
{
    const VkTimelineSemaphoreSubmitInfo timeline = {
        .sType = VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO,
        .signalSemaphoreValueCount = 1,
        .pSignalSemaphoreValues = &value};
    const VkSubmitInfo info = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
                               .pNext = &timeline,
                               .commandBufferCount = 1,
                               .pCommandBuffers = &buffer,
                               .signalSemaphoreCount = 1,
                               .pSignalSemaphores = &signal};
    assert_int_equal(FAKE_CALL(vkQueueSubmit)(queue, 1, &info, VK_NULL_HANDLE), VK_SUCCESS);
}

static void test_finished(void **state)
{
    (void)state;
    const VkPipelineStageFlags2 all = VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT;
    open_world();
    VkQueue queue = first_queue();
    VkFence fence = make_fence(), none = VK_NULL_HANDLE;
    VkSemaphore timeline = make_timeline();
    VkCommandBuffer buffer = ready();
    dispatch(buffer);
    dispatch(buffer);
    FAKE_CALL(vkEndCommandBuffer)(buffer);
    uint64_t expected = 0;
    /* By a fence, waited for or asked. */
    assert_int_equal(submit(queue, buffer, fence, VK_NULL_HANDLE, 0, 0), VK_SUCCESS);
    assert_int_equal(counted(), expected);
    assert_int_equal(FAKE_CALL(vkWaitForFences)(fake.device, 1, &fence, VK_FALSE, 0), VK_SUCCESS);
    assert_int_equal(counted(), expected += 2);
    assert_int_equal(FAKE_CALL(vkGetFenceStatus)(fake.device, fence), VK_SUCCESS);
    assert_int_equal(counted(), expected);
    assert_int_equal(FAKE_CALL(vkResetFences)(fake.device, 1, &fence), VK_SUCCESS);
    assert_int_equal(submit(queue, buffer, fence, VK_NULL_HANDLE, 0, 0), VK_SUCCESS);
    const VkFence several[] = {make_fence(), fence};
    assert_int_equal(FAKE_CALL(vkWaitForFences)(fake.device, 2, several, VK_FALSE, 0), VK_SUCCESS);
    assert_int_equal(counted(), expected); /* which of them isn't said */
    assert_int_equal(FAKE_CALL(vkGetFenceStatus)(fake.device, fence), VK_SUCCESS);
    assert_int_equal(counted(), expected += 2);
    /* By a later submission's, which has nothing to do but that. */
    assert_int_equal(FAKE_CALL(vkResetFences)(fake.device, 1, &fence), VK_SUCCESS);
    assert_int_equal(submit(queue, buffer, none, VK_NULL_HANDLE, 0, 0), VK_SUCCESS);
    assert_int_equal(FAKE_CALL(vkQueueSubmit2)(queue, 0, NULL, fence), VK_SUCCESS);
    assert_int_equal(FAKE_CALL(vkWaitForFences)(fake.device, 2, several, VK_TRUE, 0), VK_SUCCESS);
    assert_int_equal(counted(), expected += 2);
    assert_int_equal(submit(queue, buffer, none, VK_NULL_HANDLE, 0, 0), VK_SUCCESS);
    assert_int_equal(FAKE_CALL(vkResetFences)(fake.device, 1, &fence), VK_SUCCESS);
    assert_int_equal(FAKE_CALL(vkQueueSubmit)(queue, 0, NULL, fence), VK_SUCCESS);
    assert_int_equal(FAKE_CALL(vkGetFenceStatus)(fake.device, fence), VK_SUCCESS);
    assert_int_equal(counted(), expected += 2);
    /* By a timeline value, in both forms of vkQueueSubmit, unless it waits for some stages alone. */
    assert_int_equal(submit(queue, buffer, none, timeline, 1, all), VK_SUCCESS);
    submit1(queue, buffer, timeline, 2);
    assert_int_equal(
        submit(queue, buffer, none, timeline, 3, VK_PIPELINE_STAGE_2_COMPUTE_SHADER_BIT),
        VK_SUCCESS);
    const VkSemaphoreWaitInfo wait = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_WAIT_INFO,
                                      .semaphoreCount = 1,
                                      .pSemaphores = &timeline,
                                      .pValues = &(uint64_t){1}};
    assert_int_equal(FAKE_CALL(vkWaitSemaphores)(fake.device, &wait, 0), VK_SUCCESS);
    assert_int_equal(counted(), expected += 2);
    uint64_t value;
    counter = 3;
    assert_int_equal(FAKE_CALL(vkGetSemaphoreCounterValue)(fake.device, timeline, &value),
                     VK_SUCCESS);
    assert_int_equal(counted(), expected += 2);
    assert_int_equal(FAKE_CALL(vkQueueWaitIdle)(queue), VK_SUCCESS);
    assert_int_equal(counted(), expected += 2);
    /* By a wait for the device, or by being recorded anew. */
    assert_int_equal(submit(queue, buffer, none, VK_NULL_HANDLE, 0, 0), VK_SUCCESS);
    assert_int_equal(FAKE_CALL(vkDeviceWaitIdle)(fake.device), VK_SUCCESS);
    assert_int_equal(counted(), expected += 2);
    assert_int_equal(submit(queue, buffer, none, VK_NULL_HANDLE, 0, 0), VK_SUCCESS);
    begin(buffer, 0);
    assert_int_equal(counted(), expected += 2);
    assert_int_equal(specializer.submissions.open, 0);
    /* What wasn't submitted never counts. */
    bind(buffer, COMPUTE);
    push(buffer, wrong);
    dispatch(buffer);
    FAKE_CALL(vkEndCommandBuffer)(buffer);
    submit_result = VK_ERROR_OUT_OF_HOST_MEMORY;
    assert_int_equal(submit(queue, buffer, none, VK_NULL_HANDLE, 0, 0),
                     VK_ERROR_OUT_OF_HOST_MEMORY);
    submit_result = VK_SUCCESS;
    assert_int_equal(specializer.submissions.open, 0);
    begin(buffer, 0);
    assert_int_equal(counted(), expected);
    FAKE_CALL(vkDestroyFence)(fake.device, fence, NULL);
    FAKE_CALL(vkDestroyFence)(fake.device, several[0], NULL);
    FAKE_CALL(vkDestroySemaphore)(fake.device, timeline, NULL);
    close_world();
}

/* More command buffers than are looked up at a time, in one batch. */
static void test_many_buffers(void **state)
{
    (void)state;
    open_world();
    VkQueue queue = first_queue();
    VkSemaphore timeline = make_timeline();
    VkCommandBuffer buffers[150];
    VkCommandBufferSubmitInfo infos[150];
    for (int i = 0; i < 150; i++) {
        buffers[i] = ready();
        dispatch(buffers[i]);
        FAKE_CALL(vkEndCommandBuffer)(buffers[i]);
        infos[i] = (VkCommandBufferSubmitInfo){
            .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_SUBMIT_INFO, .commandBuffer = buffers[i]};
    }
    const VkSemaphoreSubmitInfo signal = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_SUBMIT_INFO,
                                          .semaphore = timeline,
                                          .value = 1,
                                          .stageMask = VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT};
    const VkSubmitInfo2 info = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO_2,
                                .commandBufferInfoCount = 150,
                                .pCommandBufferInfos = infos,
                                .signalSemaphoreInfoCount = 1,
                                .pSignalSemaphoreInfos = &signal};
    assert_int_equal(FAKE_CALL(vkQueueSubmit2)(queue, 1, &info, VK_NULL_HANDLE), VK_SUCCESS);
    uint64_t value;
    counter = 1;
    assert_int_equal(counted(), 0);
    FAKE_CALL(vkGetSemaphoreCounterValue)(fake.device, timeline, &value);
    assert_int_equal(counted(), 150);
    assert_int_equal(specializer.submissions.open, 0);
    FAKE_CALL(vkDestroySemaphore)(fake.device, timeline, NULL);
    close_world();
}

/* Measuring ------------------------------------------------------------------------------------- */

static struct bf_trials trials;

static void open_trials(void)
{
    open_world();
    trials =
        (struct bf_trials){.device = fake.device, .vk = specializer.recorder.vk, .period_ns = 1};
    specializer.recorder.trials = &trials;
    specializer.recorder.passes = 1;
    for (int i = 0; i < 2; i++)
        atomic_store(&variants[i]->on_trial, true);
    stamps = 0;
}

static void close_trials(void)
{
    void *blocks = trials.blocks; /* one: it is only memory here */
    close_world();
    free(blocks);
}

/* How many stamps a pass gets that is begun so, and ended. */
static uint32_t stamps_of_rendering(VkCommandBuffer buffer, VkRenderingFlags flags)
{
    const VkRenderingInfo info = {.sType = VK_STRUCTURE_TYPE_RENDERING_INFO, .flags = flags};
    stamps = 0;
    FAKE_CALL(vkCmdBeginRendering)(buffer, &info);
    assert_true(stamps <= 1);
    FAKE_CALL(vkCmdEndRendering)(buffer);
    return stamps;
}

static uint32_t stamps_of_pass(VkCommandBuffer buffer, VkSubpassContents contents)
{
    const VkRenderPassBeginInfo info = {.sType = VK_STRUCTURE_TYPE_RENDER_PASS_BEGIN_INFO};
    const VkSubpassBeginInfo subpass = {.sType = VK_STRUCTURE_TYPE_SUBPASS_BEGIN_INFO,
                                        .contents = contents};
    const VkSubpassEndInfo end = {.sType = VK_STRUCTURE_TYPE_SUBPASS_END_INFO};
    stamps = 0;
    FAKE_CALL(vkCmdBeginRenderPass)(buffer, &info, contents);
    assert_true(stamps <= 1);
    FAKE_CALL(vkCmdEndRenderPass)(buffer);
    uint32_t first = stamps;
    stamps = 0;
    FAKE_CALL(vkCmdBeginRenderPass2)(buffer, &info, &subpass);
    FAKE_CALL(vkCmdEndRenderPass2)(buffer, &end);
    assert_int_equal(stamps, first);
    return first;
}

static void test_passes(void **state)
{
    (void)state;
    open_trials();
    VkCommandBuffer buffer = allocate(pool, VK_COMMAND_BUFFER_LEVEL_PRIMARY);
    begin(buffer, 0);
    assert_int_equal(stamps_of_pass(buffer, VK_SUBPASS_CONTENTS_INLINE), 2);
    assert_int_equal(stamps_of_pass(buffer, VK_SUBPASS_CONTENTS_SECONDARY_COMMAND_BUFFERS), 2);
    begin(buffer, 0);
    assert_int_equal(stamps_of_rendering(buffer, 0), 2);
    assert_int_equal(
        stamps_of_rendering(buffer, VK_RENDERING_CONTENTS_SECONDARY_COMMAND_BUFFERS_BIT), 2);
    assert_int_equal(stamps_of_rendering(buffer, VK_RENDERING_SUSPENDING_BIT), 0);
    assert_int_equal(stamps_of_rendering(buffer, VK_RENDERING_RESUMING_BIT), 0);
    atomic_store(&specializer.recorder.passes, 0);
    assert_int_equal(stamps_of_rendering(buffer, 0), 0);
    atomic_store(&specializer.recorder.passes, 1);
    begin_with(buffer, 0, VK_COMMAND_BUFFER_USAGE_SIMULTANEOUS_USE_BIT);
    assert_int_equal(stamps_of_rendering(buffer, 0), 0);
    close_trials();
}

/* How often of 200 a secondary command buffer that is begun so gets the variant. */
static uint32_t picks_of(VkCommandBufferUsageFlags flags, VkPipelineBindPoint point)
{
    VkCommandBuffer secondary = allocate(pool, VK_COMMAND_BUFFER_LEVEL_SECONDARY);
    VkQueue queue = first_queue();
    uint32_t picks = 0;
    stamps = 0;
    for (int i = 0; i < 200; i++) {
        begin_with(secondary, 0, flags);
        bind(secondary, point);
        push(secondary, right);
        VkPipeline got = point == GRAPHICS ? draw(secondary) : dispatch(secondary);
        picks += got == VARIANT(point);
        for (int k = 0; k < BF_RECORDING_SHARED; k++)
            assert_int_equal(submit(queue, NULL, VK_NULL_HANDLE, VK_NULL_HANDLE, 0, 0), VK_SUCCESS);
    }
    FAKE_CALL(vkFreeCommandBuffers)(fake.device, pool, 1, &secondary);
    return picks;
}

/* Coins are thrown as they were begun, and dispatches measured in them. */
static void test_secondaries_on_trial(void **state)
{
    (void)state;
    const VkCommandBufferUsageFlags within = VK_COMMAND_BUFFER_USAGE_RENDER_PASS_CONTINUE_BIT,
                                    repeats = VK_COMMAND_BUFFER_USAGE_SIMULTANEOUS_USE_BIT;
    open_trials();
    uint32_t half = picks_of(0, COMPUTE);
    assert_in_range(half, 60, 140);
    assert_int_equal(stamps, 400);
    half = picks_of(within, GRAPHICS);
    assert_in_range(half, 60, 140);
    half = picks_of(within | repeats, GRAPHICS);
    assert_in_range(half, 60, 140);
    assert_int_equal(stamps, 0);
    assert_int_equal(picks_of(repeats, COMPUTE), 200);
    assert_int_equal(stamps, 0);
    close_trials();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_work),   cmocka_unit_test(test_registry),
        cmocka_unit_test(test_pushes),     cmocka_unit_test(test_secondaries),
        cmocka_unit_test(test_queries),    cmocka_unit_test(test_feedback),
        cmocka_unit_test(test_generated),  cmocka_unit_test(test_shader_objects),
        cmocka_unit_test(test_references), cmocka_unit_test(test_handles_come_back),
        cmocka_unit_test(test_finished),   cmocka_unit_test(test_many_buffers),
        cmocka_unit_test(test_passes),     cmocka_unit_test(test_secondaries_on_trial),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
