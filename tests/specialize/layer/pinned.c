/* SPDX-License-Identifier: MIT */
/* Device-generated commands, through the layer on the test driver, which offers them and generates
 * nothing: a pipeline that they may name keeps its general form from then on, what they use is what
 * the program has bound, and behind them nothing is known of what is bound and pushed. */
#include "icd_program.h"
#include "support/infos.h"

#define COMPUTE  VK_PIPELINE_BIND_POINT_COMPUTE
#define GRAPHICS VK_PIPELINE_BIND_POINT_GRAPHICS

/* Newer than the oldest headers there are. */
struct address_info {
    VkStructureType type;
    const void *next;
    VkPipelineBindPoint point;
    VkPipeline pipeline;
};

struct initial_pipeline {
    VkStructureType type;
    const void *next;
    VkPipeline pipeline;
    uint32_t room;
};

struct set_info {
    VkStructureType type;
    const void *next;
    uint32_t kind;
    const struct initial_pipeline *initial;
};

struct set_write {
    VkStructureType type;
    const void *next;
    uint32_t index;
    VkPipeline pipeline;
};

typedef VkDeviceAddress(VKAPI_PTR *get_address)(VkDevice, const void *);
typedef void(VKAPI_PTR *update_buffer)(VkCommandBuffer, VkPipelineBindPoint, VkPipeline);
typedef VkResult(VKAPI_PTR *create_set)(VkDevice, const void *, const VkAllocationCallbacks *,
                                        uint64_t *);
typedef void(VKAPI_PTR *destroy_set)(VkDevice, uint64_t, const VkAllocationCallbacks *);
typedef void(VKAPI_PTR *update_set)(VkDevice, uint64_t, uint32_t, const void *);
typedef void(VKAPI_PTR *execute_generated)(VkCommandBuffer, VkBool32, const void *);
typedef void(VKAPI_PTR *preprocess_generated)(VkCommandBuffer, const void *, VkCommandBuffer);

static PFN_vkVoidFunction command(struct program *p, const char *name)
{
    PFN_vkVoidFunction function = vkGetDeviceProcAddr(p->f.device, name);
    if (!function)
        fail_msg("no %s", name);
    return function;
}
#define COMMAND(type_, name_) ((type_)command(p, name_))

static struct program *open_program(void)
{
    static const char *const extensions[] = {VK_NV_DEVICE_GENERATED_COMMANDS_EXTENSION_NAME,
                                             "VK_NV_device_generated_commands_compute",
                                             "VK_EXT_device_generated_commands", NULL};
    return program_open("GENERATED=1", extensions);
}

static const struct program_push hot = {0, 8, 3}, cold = {0, 8, 5};

/* One that has a variant for 'hot', which every command buffer gets from now on. */
static VkPipeline specialised(struct program *p, bool draws, const char *name)
{
    VkPipeline pipeline = program_pipeline(p, draws, name);
    program_frame(p, draws, pipeline, hot);
    return pipeline;
}

static void build_all(struct program *p, VkPipeline first)
{
    program_commit(p);
    program_frame(p, false, first, cold); /* takes them over */
    program_freeze(p);
}

static VkPipelineBindPoint point_of(bool draws)
{
    return draws ? GRAPHICS : COMPUTE;
}

/* What a frame with these values records it with. */
static VkPipeline recorded_with(struct program *p, bool draws, VkPipeline pipeline,
                                struct program_push push)
{
    program_frame(p, draws, pipeline, push);
    return (VkPipeline)p->f.icd.used(p->commands, point_of(draws));
}

/* The next work in the command buffer that is being recorded. */
static VkPipeline dispatched(struct program *p)
{
    vkCmdDispatch(p->commands, 1, 1, 1);
    return (VkPipeline)p->f.icd.used(p->commands, COMPUTE);
}

static void begin(struct program *p)
{
    const VkCommandBufferBeginInfo info = info_begin(0);
    assert_success(vkBeginCommandBuffer(p->commands, &info));
    vkCmdBindDescriptorSets(p->commands, COMPUTE, p->layout, 0, 1, &p->set, 0, NULL);
}

static void bind(struct program *p, VkPipeline pipeline)
{
    vkCmdBindPipeline(p->commands, COMPUTE, pipeline);
}

static void push(struct program *p, struct program_push values)
{
    vkCmdPushConstants(p->commands, p->layout,
                       VK_SHADER_STAGE_COMPUTE_BIT | VK_SHADER_STAGE_FRAGMENT_BIT, 0,
                       sizeof(values), &values);
}

/* ----------------------------------------------------------------------------- Who names one -- */

static uint64_t made_set;

#define WAY(name_)                                                                                 \
    static void name_(struct program *p, VkPipeline pipeline,                                      \
                      __attribute__((unused)) VkPipeline other)

WAY(by_requirements)
{
    const VkGeneratedCommandsMemoryRequirementsInfoNV info = {
        VK_TYPE(GENERATED_COMMANDS_MEMORY_REQUIREMENTS_INFO_NV), .pipelineBindPoint = COMPUTE,
        .pipeline = pipeline};
    VkMemoryRequirements2 needs = {VK_TYPE(MEMORY_REQUIREMENTS_2)};
    COMMAND(PFN_vkGetGeneratedCommandsMemoryRequirementsNV,
            "vkGetGeneratedCommandsMemoryRequirementsNV")
    (p->f.device, &info, &needs);
    assert_int_equal(needs.memoryRequirements.size, 256); /* it has come down */
}

WAY(by_address)
{
    const struct address_info info = {.point = COMPUTE, .pipeline = pipeline};
    assert_int_equal(
        COMMAND(get_address, "vkGetPipelineIndirectDeviceAddressNV")(p->f.device, &info),
        (uint64_t)pipeline);
}

WAY(by_update_of_a_buffer)
{
    begin(p);
    COMMAND(update_buffer, "vkCmdUpdatePipelineIndirectBufferNV")(p->commands, COMPUTE, pipeline);
    assert_success(vkEndCommandBuffer(p->commands));
}

static uint64_t create(struct program *p, VkPipeline pipeline)
{
    const struct initial_pipeline initial = {.pipeline = pipeline, .room = 4};
    const struct set_info info = {.kind = 0, .initial = &initial};
    assert_success(COMMAND(create_set, "vkCreateIndirectExecutionSetEXT")(p->f.device, &info, NULL,
                                                                          &made_set));
    return made_set;
}

WAY(by_execution_set)
{
    create(p, pipeline);
}

/* Created with another, whose turn it is then. */
WAY(by_update_of_a_set)
{
    const struct set_write writes[2] = {{.index = 0, .pipeline = other},
                                        {.index = 1, .pipeline = pipeline}};
    COMMAND(update_set, "vkUpdateIndirectExecutionSetPipelineEXT")
    (p->f.device, create(p, other), 2, writes);
}

WAY(by_execution)
{
    const VkGeneratedCommandsInfoNV info = {.pipelineBindPoint = COMPUTE, .pipeline = pipeline};
    begin(p);
    bind(p, pipeline);
    COMMAND(execute_generated, "vkCmdExecuteGeneratedCommandsNV")(p->commands, VK_FALSE, &info);
    assert_success(vkEndCommandBuffer(p->commands));
}

WAY(by_preprocessing)
{
    const VkGeneratedCommandsInfoNV info = {.pipelineBindPoint = COMPUTE, .pipeline = pipeline};
    begin(p);
    bind(p, pipeline);
    COMMAND(PFN_vkCmdPreprocessGeneratedCommandsNV, "vkCmdPreprocessGeneratedCommandsNV")
    (p->commands, &info);
    assert_success(vkEndCommandBuffer(p->commands));
}

WAY(by_shader_group)
{
    begin(p);
    COMMAND(PFN_vkCmdBindPipelineShaderGroupNV, "vkCmdBindPipelineShaderGroupNV")
    (p->commands, COMPUTE, pipeline, 0);
    assert_success(vkEndCommandBuffer(p->commands));
}

static const struct {
    const char *name;
    void (*pin)(struct program *p, VkPipeline pipeline, VkPipeline other);
    bool pins_other;
} ways[] = {
    {"requirements", by_requirements, false},   {"address", by_address, false},
    {"buffer", by_update_of_a_buffer, false},   {"set", by_execution_set, false},
    {"update", by_update_of_a_set, true},       {"execution", by_execution, false},
    {"preprocessing", by_preprocessing, false}, {"group", by_shader_group, false},
};
#define WAYS (sizeof(ways) / sizeof(ways[0]))

static void destroy_made_set(struct program *p)
{
    if (made_set)
        COMMAND(destroy_set, "vkDestroyIndirectExecutionSetEXT")(p->f.device, made_set, NULL);
    made_set = 0;
}

static void assert_line(const char *report, const char *name, const char *what)
{
    const char *line = program_line(report, name);
    if (!line || !strstr(line, what))
        fail_msg("%s: %s, not %s", name, line ? line : "no line", what);
}

TEST_WITH(what_is_named_keeps_its_general_form, cache_setup, cache_teardown)
{
    for (size_t i = 0; i < WAYS; i++) {
        struct program *p = open_program();
        print_message("%s\n", ways[i].name);
        VkPipeline named = specialised(p, false, "named"), other = specialised(p, false, "other"),
                   draws = specialised(p, true, "draws");
        build_all(p, named);
        assert_int_equal(p->f.icd.live("pipeline"), 6);
        VkPipeline variants[3] = {recorded_with(p, false, named, hot),
                                  recorded_with(p, false, other, hot),
                                  recorded_with(p, true, draws, hot)};
        assert_true(variants[0] != named && variants[1] != other && variants[2] != draws);
        assert_true(recorded_with(p, false, named, cold) == named);
        ways[i].pin(p, named, other);
        VkPipeline untouched = ways[i].pins_other ? other : variants[1];
        assert_true(recorded_with(p, false, named, hot) == named);
        assert_true(recorded_with(p, false, other, hot) == untouched);
        assert_true(recorded_with(p, true, draws, hot) == variants[2]);
        /* Gone, as soon as no command buffer has it; and no other comes. */
        assert_int_equal(p->f.icd.live("pipeline"), ways[i].pins_other ? 4 : 5);
        program_commit(p);
        program_freeze(p);
        assert_true(recorded_with(p, false, named, hot) == named);
        assert_int_equal(p->f.icd.live("pipeline"), ways[i].pins_other ? 4 : 5);
        destroy_made_set(p);
        program_destroy(p, named);
        program_destroy(p, other);
        program_destroy(p, draws);
        const char *report = program_close(p);
        assert_line(report, "named", " rejected pinned ");
        assert_line(report, "other", ways[i].pins_other ? " rejected pinned " : " unjudged none ");
        assert_line(report, "draws", " unjudged none ");
    }
}

/* A build may be under way: what comes of it is not published. */
TEST_WITH(what_is_named_during_a_build_gets_no_variant, cache_setup, cache_teardown)
{
    for (size_t i = 0; i < WAYS; i++) {
        struct program *p = open_program();
        VkPipeline named = specialised(p, false, "named"), other = specialised(p, false, "other");
        program_commit(p);
        ways[i].pin(p, named, other); /* a begin of a command buffer may take it over first */
        assert_success(vkResetCommandBuffer(p->commands, 0));
        program_freeze(p);
        assert_true(recorded_with(p, false, named, hot) == named);
        assert_true((recorded_with(p, false, other, hot) == other) == ways[i].pins_other);
        destroy_made_set(p);
        program_destroy(p, named);
        program_destroy(p, other);
        assert_line(program_close(p), "named", " rejected pinned ");
    }
}

/* --------------------------------------------------------------------- What they are used on -- */

/* 'unnamed' is in no argument: what is bound is what counts. */
TEST_WITH(generated_commands_use_what_the_program_bound, cache_setup, cache_teardown)
{
    struct program *p = open_program();
    VkPipeline unnamed = specialised(p, false, "unnamed"), named = specialised(p, false, "named");
    build_all(p, unnamed);
    VkPipeline variant = recorded_with(p, false, unnamed, hot);
    assert_true(variant != unnamed);
    const VkGeneratedCommandsInfoNV info = {.pipelineBindPoint = COMPUTE, .pipeline = named};
    static const char *const names[] = {"vkCmdExecuteGeneratedCommandsNV",
                                        "vkCmdExecuteGeneratedCommandsEXT"};
    for (int i = 0; i < 2; i++) {
        begin(p);
        bind(p, unnamed);
        push(p, hot);
        assert_true(dispatched(p) == variant);
        COMMAND(execute_generated, names[i])(p->commands, VK_FALSE, &info);
        assert_true(p->f.icd.used(p->commands, COMPUTE) == (uint64_t)unnamed);
        /* Nothing is bound for Belfry, either, that it might bind again. */
        assert_true(dispatched(p) == VK_NULL_HANDLE);
        push(p, hot);
        assert_true(dispatched(p) == VK_NULL_HANDLE);
        assert_success(vkEndCommandBuffer(p->commands));
        /* What was pushed before is not known any more. */
        begin(p);
        push(p, hot);
        COMMAND(execute_generated, names[i])(p->commands, VK_FALSE, &info);
        bind(p, unnamed);
        assert_true(dispatched(p) == unnamed);
        push(p, hot);
        assert_true(dispatched(p) == variant);
        assert_success(vkEndCommandBuffer(p->commands));
    }
    program_destroy(p, unnamed);
    program_destroy(p, named);
    program_close(p);
}

/* Preprocessing looks at what is bound, here or in another command buffer, and changes nothing. */
TEST_WITH(preprocessing_finds_what_the_program_bound, cache_setup, cache_teardown)
{
    struct program *p = open_program();
    VkPipeline unnamed = specialised(p, false, "unnamed"), named = specialised(p, false, "named");
    build_all(p, unnamed);
    VkPipeline variant = recorded_with(p, false, unnamed, hot);
    const VkGeneratedCommandsInfoNV info = {.pipelineBindPoint = COMPUTE, .pipeline = named};
    const VkCommandBuffer main = p->commands;
    VkCommandBuffer side;
    const VkCommandBufferAllocateInfo allocate = {VK_TYPE(COMMAND_BUFFER_ALLOCATE_INFO),
                                                  .commandPool = p->pool, .commandBufferCount = 1};
    assert_success(vkAllocateCommandBuffers(p->f.device, &allocate, &side));
    begin(p);
    bind(p, unnamed);
    push(p, hot);
    assert_true(dispatched(p) == variant);
    COMMAND(PFN_vkCmdPreprocessGeneratedCommandsNV, "vkCmdPreprocessGeneratedCommandsNV")
    (main, &info);
    assert_true(p->f.icd.used(main, COMPUTE) == (uint64_t)unnamed);
    assert_true(dispatched(p) == variant); /* what was pushed is still there */
    p->commands = side;
    begin(p);
    COMMAND(preprocess_generated, "vkCmdPreprocessGeneratedCommandsEXT")(side, NULL, main);
    assert_true(p->f.icd.used(main, COMPUTE) == (uint64_t)unnamed);
    assert_success(vkEndCommandBuffer(side));
    p->commands = main;
    assert_true(dispatched(p) == variant);
    assert_success(vkEndCommandBuffer(main));
    vkFreeCommandBuffers(p->f.device, p->pool, 1, &side);
    program_destroy(p, unnamed);
    program_destroy(p, named);
    program_close(p);
}
