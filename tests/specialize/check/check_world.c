/* SPDX-License-Identifier: MIT */
/* A device with a checker on it, and pipelines made from shaders with one constant. */
#include "check_world.h"
#include "device/device.h"
#include "support/infos.h"

#ifdef __SANITIZE_ADDRESS__
#include <dlfcn.h>
#include <link.h>
#endif

#define CODE(constant, code, text) [constant] = code,
static const char *const codes[] = {BF_REASONS(CODE)};

/* Whether the program asks for descriptor buffers. */
static bool is_described(const struct fixture *f)
{
    const char *variable = getenv("BELFRY_CHECK_DESCRIPTOR_BUFFERS");
    if (!variable)
        return false;
    if (!vulkan_has_device_extension(f->physical, VK_EXT_DESCRIPTOR_BUFFER_EXTENSION_NAME)) {
        printf("skipped: there is no VK_EXT_descriptor_buffer\n");
        exit(77);
    }
    return true;
}

static void open_device(struct fixture *f, bool *inline_blocks)
{
    VkDeviceQueueCreateInfo queues[DEVICE_FAMILIES];
    for (uint32_t i = 0; i < f->family_count; i++) /* one of each family that is of use */
        f->queue_counts[i] =
            (f->families[i].queueFlags & (VK_QUEUE_GRAPHICS_BIT | VK_QUEUE_COMPUTE_BIT)) != 0;
    uint32_t n = device_queue_infos(&f->base, queues);
    VkPhysicalDeviceDescriptorBufferFeaturesEXT buffers = {
        VK_TYPE(PHYSICAL_DEVICE_DESCRIPTOR_BUFFER_FEATURES_EXT)};
    VkPhysicalDeviceVulkan13Features v13 = {VK_TYPE(PHYSICAL_DEVICE_VULKAN_1_3_FEATURES),
                                            .pNext = is_described(f) ? &buffers : NULL};
    VkPhysicalDeviceVulkan12Features v12 = {VK_TYPE(PHYSICAL_DEVICE_VULKAN_1_2_FEATURES),
                                            .pNext = &v13};
    VkPhysicalDeviceVulkan11Features v11 = {VK_TYPE(PHYSICAL_DEVICE_VULKAN_1_1_FEATURES),
                                            .pNext = &v12};
    VkPhysicalDeviceFeatures2 all = {VK_TYPE(PHYSICAL_DEVICE_FEATURES_2), .pNext = &v11};
    vkGetPhysicalDeviceFeatures2(f->physical, &all);
    f->addresses = v12.bufferDeviceAddress;
    *inline_blocks = v13.inlineUniformBlock;
    f->int64 = all.features.shaderInt64;
    buffers.descriptorBufferCaptureReplay = VK_FALSE;
    const char *extensions[2];
    uint32_t extension_count = 0;
    if (vulkan_has_device_extension(f->physical, VK_KHR_PUSH_DESCRIPTOR_EXTENSION_NAME))
        extensions[extension_count++] = VK_KHR_PUSH_DESCRIPTOR_EXTENSION_NAME;
    if (buffers.descriptorBuffer)
        extensions[extension_count++] = VK_EXT_DESCRIPTOR_BUFFER_EXTENSION_NAME;
    const VkDeviceCreateInfo info = {VK_TYPE(DEVICE_CREATE_INFO),
                                     .pNext = &all,
                                     .queueCreateInfoCount = n,
                                     .pQueueCreateInfos = queues,
                                     .enabledExtensionCount = extension_count,
                                     .ppEnabledExtensionNames = extensions};
    f->no_native_fences = true;
    assert_success(device_create(&f->base, &info));
}

#ifdef __SANITIZE_ADDRESS__
/* Lavapipe, and LLVM with it, keep some memory for good. It can be told from ours as long as they
 * stay loaded. (What a check forgets of the driver's objects the test driver tells:
 * check_faults.) */
BF_API const char *__lsan_default_suppressions(void);
BF_API const char *__lsan_default_suppressions(void)
{
    return "leak:libLLVM\nleak:libvulkan_lvp\n";
}

struct names {
    uint32_t count;
    char names[4][256];
};

static int find_driver(struct dl_phdr_info *info, size_t size, void *found)
{
    struct names *names = found;
    const char *name = info->dlpi_name;
    if (name && names->count < 4 && (strstr(name, "libLLVM") || strstr(name, "libvulkan_lvp")))
        snprintf(names->names[names->count++], sizeof(names->names[0]), "%s", name);
    return 0;
}

static void keep_driver(void)
{
    struct names names = {0};
    dl_iterate_phdr(find_driver, &names);
    for (uint32_t i = 0; i < names.count; i++)
        dlopen(names.names[i], RTLD_NOW | RTLD_NODELETE);
}
#else
static void keep_driver(void)
{
}
#endif

struct world *world_open_device(const struct fixture_options *options)
{
    static struct world world;
    world = (struct world){0};
    fixture_open_instance(&world.f, options);
    open_device(&world.f, &world.inline_blocks);
    world.described = is_described(&world.f);
    keep_driver();
    assert_success(fixture_attach(&world.f));
    return &world;
}

struct world *world_open(void)
{
    struct world *w = world_open_device(&fixture_plain);
    /* However busy this machine is. */
    w->double_ns = FIXTURE_SECONDS * UINT64_C(1000000000);
    world_open_checker(w, true, FIXTURE_SECONDS * UINT64_C(1000000000),
                       FIXTURE_SECONDS * UINT64_C(1000000000));
    return w;
}

static struct bf_check_queue find_queue(struct world *w, VkQueueFlags needed)
{
    struct bf_check_queue queue = {0};
    for (uint32_t i = 0; i < w->f.family_count && !queue.handle; i++) {
        queue = (struct bf_check_queue){.family = i,
                                        .flags = w->f.families[i].queueFlags,
                                        .timestamp_bits = w->f.families[i].timestampValidBits};
        if ((queue.flags & needed) == needed)
            vkGetDeviceQueue(w->f.device, i, 0, &queue.handle);
    }
    return queue;
}

struct bf_checker_info world_checker_info(struct world *w)
{
    return (struct bf_checker_info){.gpu = bf_device_gpu((struct bf_device *)w->f.bf),
                                    .compute = find_queue(w, VK_QUEUE_COMPUTE_BIT),
                                    .direct =
                                        find_queue(w, VK_QUEUE_GRAPHICS_BIT | VK_QUEUE_COMPUTE_BIT),
                                    .instance = w->f.instance,
                                    .physical = w->f.physical,
                                    .get_instance_proc_addr = vkGetInstanceProcAddr,
                                    .robust = true,
                                    .robust_enabled = true};
}

void world_open_checker(struct world *w, bool robust, uint64_t patience_ns, uint64_t limit_ns)
{
    struct bf_checker_info info = world_checker_info(w);
    info.robust = robust;
    info.patience_ns = patience_ns;
    info.limit_ns = limit_ns;
    info.double_ns = w->double_ns;
    bf_checker_destroy(w->checker);
    assert_success(bf_checker_create(&info, &w->checker));
}

void world_close(struct world *w)
{
    bf_checker_destroy(w->checker);
    for (uint32_t i = 0; i < w->pipeline_count; i++)
        vkDestroyPipeline(w->f.device, w->pipelines[i], NULL);
    for (uint32_t i = 0; i < w->layout_count; i++)
        vkDestroyPipelineLayout(w->f.device, w->layouts[i], NULL);
    for (uint32_t i = 0; i < w->set_layout_count; i++)
        vkDestroyDescriptorSetLayout(w->f.device, w->set_layouts[i], NULL);
    uint32_t messages = w->f.messages;
    fixture_close(&w->f);
    assert_int_equal(messages, 0);
}

static VkDescriptorSetLayout make_set_layout(struct world *w, const struct bf_check_set *set)
{
    VkDescriptorSetLayoutBinding bindings[16] = {0};
    assert_true(set->binding_count <= 16);
    for (uint32_t i = 0; i < set->binding_count; i++) {
        const struct bf_check_binding *b = &set->bindings[i];
        bool input = b->type == VK_DESCRIPTOR_TYPE_INPUT_ATTACHMENT;
        bindings[i] = (VkDescriptorSetLayoutBinding){b->binding, b->type, b->count,
                                                     input ? VK_SHADER_STAGE_FRAGMENT_BIT
                                                           : VK_SHADER_STAGE_ALL_GRAPHICS |
                                                                 VK_SHADER_STAGE_COMPUTE_BIT,
                                                     NULL};
    }
    const VkDescriptorSetLayoutCreateInfo info = {
        VK_TYPE(DESCRIPTOR_SET_LAYOUT_CREATE_INFO), .flags = set->flags,
        .bindingCount = set->binding_count, .pBindings = bindings};
    assert_true(w->set_layout_count < WORLD_OBJECTS);
    VkDescriptorSetLayout *made = &w->set_layouts[w->set_layout_count++];
    assert_success(vkCreateDescriptorSetLayout(w->f.device, &info, NULL, made));
    return *made;
}

/* Pushed descriptors and dynamic buffers are none for descriptor buffers. */
static bool is_for_sets(const struct bf_check_set *set)
{
    bool is = set->flags != 0;
    for (uint32_t i = 0; i < set->binding_count; i++)
        is = is || set->bindings[i].type == VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER_DYNAMIC ||
             set->bindings[i].type == VK_DESCRIPTOR_TYPE_STORAGE_BUFFER_DYNAMIC;
    return is;
}

void subject_init(struct world *w, uint32_t set_count, const struct bf_check_set *sets,
                  uint32_t push_bytes)
{
    struct interface *s = &w->s;
    VkDescriptorSetLayout handles[4];
    *s = (struct interface){.range = {VK_SHADER_STAGE_ALL, 0, push_bytes}};
    for (uint32_t i = 0; i < set_count; i++)
        w->described = w->described && !is_for_sets(&sets[i]);
    for (uint32_t i = 0; i < set_count; i++) {
        s->sets[i] = sets[i];
        if (w->described)
            s->sets[i].flags = VK_DESCRIPTOR_SET_LAYOUT_CREATE_DESCRIPTOR_BUFFER_BIT_EXT;
        s->sets[i].handle = handles[i] = make_set_layout(w, &s->sets[i]);
    }
    const VkPipelineLayoutCreateInfo info = {
        VK_TYPE(PIPELINE_LAYOUT_CREATE_INFO), .setLayoutCount = set_count, .pSetLayouts = handles,
        .pushConstantRangeCount = push_bytes ? 1 : 0, .pPushConstantRanges = &s->range};
    assert_true(w->layout_count < WORLD_OBJECTS);
    VkPipelineLayout *made = &w->layouts[w->layout_count++];
    assert_success(vkCreatePipelineLayout(w->f.device, &info, NULL, made));
    s->layout = (struct bf_check_layout){.handle = *made,
                                         .set_count = set_count,
                                         .sets = s->sets,
                                         .range_count = info.pushConstantRangeCount,
                                         .ranges = &s->range};
    s->check.layout = &s->layout;
}

VkPipelineCreateFlags world_pipeline_flags(const struct world *w)
{
    return w->described ? VK_PIPELINE_CREATE_DESCRIPTOR_BUFFER_BIT_EXT : 0;
}

VkPipeline make_compute(struct world *w, const uint32_t *words, size_t size, int32_t which)
{
    VkShaderModule module = vulkan_module(w->f.device, words, size);
    const VkSpecializationMapEntry entry = {.size = sizeof(which)};
    const VkSpecializationInfo specialization = {1, &entry, sizeof(which), &which};
    VkComputePipelineCreateInfo info = info_compute(module, w->s.layout.handle, &specialization);
    info.flags = world_pipeline_flags(w);
    assert_true(w->pipeline_count < WORLD_OBJECTS);
    VkPipeline *made = &w->pipelines[w->pipeline_count++];
    assert_success(vkCreateComputePipelines(w->f.device, VK_NULL_HANDLE, 1, &info, NULL, made));
    vkDestroyShaderModule(w->f.device, module, NULL);
    return *made;
}

void trial_init(struct world *w, VkPipeline general)
{
    struct timing *t = &w->t;
    *t = (struct timing){.info = {.interface = &w->s.check, .general = general}};
    t->info.forms = t->forms;
    t->info.push = (const uint8_t *)t->push;
}

void trial_add(struct world *w, VkPipeline form)
{
    assert_true(w->t.info.form_count < 8);
    w->t.forms[w->t.info.form_count++] = (struct bf_check_form){.handle = form};
}

void expect_forms(struct world *w, const char *letters)
{
    struct timing *t = &w->t;
    assert_success(bf_check_run(w->checker, &t->info));
    for (uint32_t i = 0; i < t->info.form_count; i++) {
        enum bf_reason wanted = letters[i] == '='   ? BF_REASON_NONE
                                : letters[i] == '!' ? BF_REASON_INEXACT
                                : letters[i] == '~' ? BF_REASON_TOO_SLOW
                                                    : BF_REASON_UNCHECKABLE;
        if (letters[i] != ' ' && t->forms[i].reason != wanted)
            fail_msg("form %u: %s, not %s (%s)", i, codes[t->forms[i].reason], codes[wanted],
                     t->info.why ? t->info.why : "-");
    }
}

void expect_refusal(struct world *w, const char *why)
{
    expect_forms(w, "????????");
    if (why)
        assert_string_equal(w->t.info.why, why);
}
