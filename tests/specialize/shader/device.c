/* SPDX-License-Identifier: MIT */
/* On a device: the general shader and what it is folded into write the same words. [SF-1] The
 * kernels move and reckon with integers alone, so that there is one right answer for every bit. */
#include "helper.h"
#include "support/device.h"
#include "support/infos.h"

#define GROUPS 2
#define WORDS  4096

static struct {
    DEVICE_BASE;
    uint32_t family;
    VkDescriptorSetLayout set_layout;
    VkPipelineLayout layout;
    VkDescriptorPool descriptors;
    VkDescriptorSet set;
    bool narrow;
} gpu;

static bool device_open(void)
{
    const struct device_instance plain = {.extensions = (const char *const[]){NULL}};
    VkPhysicalDevice physical;
    uint32_t count = 1;
    if (volkInitialize() != VK_SUCCESS || device_open_instance(&gpu.base, &plain) != VK_SUCCESS ||
        vkEnumeratePhysicalDevices(gpu.instance, &count, &physical) < 0 || !count)
        return false;
    device_choose(&gpu.base, physical);
    while (gpu.family < gpu.family_count &&
           !(gpu.families[gpu.family].queueFlags & VK_QUEUE_COMPUTE_BIT))
        gpu.family++;
    if (gpu.family == gpu.family_count)
        return false;
    VkPhysicalDeviceVulkan12Features twelve = {VK_TYPE(PHYSICAL_DEVICE_VULKAN_1_2_FEATURES)};
    VkPhysicalDeviceVulkan11Features eleven = {VK_TYPE(PHYSICAL_DEVICE_VULKAN_1_1_FEATURES),
                                               .pNext = &twelve};
    VkPhysicalDeviceFeatures2 features = {VK_TYPE(PHYSICAL_DEVICE_FEATURES_2), .pNext = &eleven};
    vkGetPhysicalDeviceFeatures2(gpu.physical, &features);
    if (!features.features.shaderInt64 || !features.features.shaderFloat64)
        return false;
    gpu.narrow = twelve.shaderInt8 && twelve.shaderFloat16 && features.features.shaderInt16 &&
                 eleven.storagePushConstant16 && twelve.storagePushConstant8;
    gpu.queue_counts[gpu.family] = 1;
    VkDeviceQueueCreateInfo queue;
    const VkDeviceCreateInfo device = {
        VK_TYPE(DEVICE_CREATE_INFO), .pNext = &features,
        .queueCreateInfoCount = device_queue_infos(&gpu.base, &queue), .pQueueCreateInfos = &queue};
    assert_success(device_create(&gpu.base, &device));
    return true;
}

static void things_make(void)
{
    const VkDescriptorType type = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER;
    device_open_words(&gpu.base, WORDS, VK_BUFFER_USAGE_STORAGE_BUFFER_BIT, 0);
    gpu.set_layout = vulkan_set_layout(gpu.device, 1, &type, VK_SHADER_STAGE_COMPUTE_BIT);
    gpu.layout = vulkan_layout(gpu.device, gpu.set_layout, VK_SHADER_STAGE_COMPUTE_BIT,
                               BF_PUSH_CONSTANT_BYTES);
    gpu.set = vulkan_set(gpu.device, gpu.set_layout, 1, &type, &gpu.descriptors);
    vulkan_set_buffer(gpu.device, gpu.set, gpu.buffer);
}

static VkPipeline pipeline_make(const uint32_t *words, size_t count,
                                const VkSpecializationInfo *specialization)
{
    VkShaderModule module = vulkan_module(gpu.device, words, count * 4);
    const VkComputePipelineCreateInfo create = info_compute(module, gpu.layout, specialization);
    VkPipeline pipeline;
    assert_success(
        vkCreateComputePipelines(gpu.device, VK_NULL_HANDLE, 1, &create, NULL, &pipeline));
    vkDestroyShaderModule(gpu.device, module, NULL);
    return pipeline;
}

static void run(VkPipeline pipeline, const uint32_t push[64], uint32_t result[WORDS])
{
    memset(gpu.words, 0xa5, WORDS * 4);
    assert_success(vkResetCommandPool(gpu.device, gpu.pools[gpu.family], 0));
    VkCommandBuffer commands = device_begin(&gpu.base, gpu.family, 0);
    vkCmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_COMPUTE, pipeline);
    vkCmdBindDescriptorSets(commands, VK_PIPELINE_BIND_POINT_COMPUTE, gpu.layout, 0, 1, &gpu.set, 0,
                            NULL);
    vkCmdPushConstants(commands, gpu.layout, VK_SHADER_STAGE_COMPUTE_BIT, 0, BF_PUSH_CONSTANT_BYTES,
                       push);
    vkCmdDispatch(commands, GROUPS, 1, 1);
    const VkMemoryBarrier barrier =
        info_barrier(VK_ACCESS_SHADER_WRITE_BIT, VK_ACCESS_HOST_READ_BIT);
    vkCmdPipelineBarrier(commands, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, VK_PIPELINE_STAGE_HOST_BIT,
                         0, 1, &barrier, 0, NULL, 0, NULL);
    assert_success(vkEndCommandBuffer(commands));
    assert_submitted1(gpu.queues[gpu.family][0], .commands = commands);
    assert_success(vkQueueWaitIdle(gpu.queues[gpu.family][0]));
    vkFreeCommandBuffers(gpu.device, gpu.pools[gpu.family], 1, &commands);
    memcpy(result, gpu.words, WORDS * 4);
}

static uint32_t expected[WORDS], found[WORDS];

/* What was folded nobody reads: it may say anything now. */
static void disturb(const struct bf_folded *folded, const struct bf_shader *shader,
                    const struct bf_watch *watch, uint32_t push[64])
{
    struct bf_shader *after =
        shader_of_words(folded->words, folded->word_count, bf_shader_stage(shader));
    uint32_t count;
    const struct bf_fold_member *left = bf_shader_members(after, &count);
    for (uint32_t w = 0; w < watch->count; w++) {
        bool read = false;
        for (uint32_t i = 0; i < count; i++) {
            for (uint32_t c = 0; c < left[i].components; c++) {
                uint32_t at = left[i].offset + c * left[i].stride;
                read |= watch->offset[w] < at + left[i].width && at < watch->offset[w] + 4u;
            }
        }
        if (!read)
            push[watch->offset[w] / 4] ^= 0xffffffffu;
    }
    bf_shader_release(after);
}

/* One module for all values. 'whole': every load that touches the watched words is a member's. */
static void compare(const char *name, const VkSpecializationInfo *own, const struct bf_watch *watch,
                    bool whole, uint32_t masks, const uint32_t (*pushes)[64], uint32_t push_count)
{
    struct bf_shader *shader = shader_of(name, own);
    size_t count;
    const uint32_t *words = bf_shader_words(shader, &count);
    VkPipeline general = pipeline_make(words, count, own);
    for (uint32_t m = 0; m < masks; m++) {
        uint8_t mask = (uint8_t)((1u << watch->count) - 1) & (uint8_t) ~(m ? 0x55u >> (m - 1) : 0);
        struct bf_folded folded;
        VkResult result = bf_shader_fold(shader, watch, mask, m & 1, &folded);
        if (result == VK_INCOMPLETE)
            continue;
        assert_int_equal(result, VK_SUCCESS);
        validate(folded.words, folded.word_count);
        for (uint32_t p = 0; p < push_count; p++) {
            VkSpecializationInfo info;
            assert_success(bf_folded_specialize(&folded, shader, pushes[p], &info));
            VkPipeline variant = pipeline_make(folded.words, folded.word_count, &info);
            run(general, pushes[p], expected);
            uint32_t other[64];
            memcpy(other, pushes[p], sizeof(other));
            if (whole)
                disturb(&folded, shader, watch, other);
            run(variant, other, found);
            assert_memory_equal(found, expected, sizeof(found));
            vkDestroyPipeline(gpu.device, variant, NULL);
            bf_folded_specialization_finish(&info);
        }
        bf_folded_finish(&folded);
    }
    vkDestroyPipeline(gpu.device, general, NULL);
    bf_shader_release(shader);
}

TEST(integers)
{
    static const uint32_t pushes[][64] = {
        {5, 0, 3, 0, 1, 2, 3, 4, 10, 20, 30, 40, 1000},
        {9, 1, 7, 1, 11, 12, 13, 14, 10, 20, 30, 40, 0x80000000u},
        {13, 2, 1, 3, 0xffffffffu, 0x80000000u, 5, 0, 7, 0, 0xffffffffu, 9, 0x7fffffff},
        {0, 77, 0xffffffffu, 2},
        {31, 0xffffffffu, 0, 0xffffffffu, 3, 1, 4, 1, 5, 9, 2, 6, 0},
    };
    struct bf_shader *shader = shader_of("loops.comp", NULL);
    struct bf_watch watch;
    bf_watch_choose(&watch, (const struct bf_shader *const[]){shader}, 1);
    bf_shader_release(shader);
    compare("loops.comp", NULL, &watch, false, 3, pushes, 5);
    compare("loops_opt.comp", NULL, &watch, false, 2, pushes, 5);
    /* The program's own constants stay what it has chosen. */
    const uint32_t values[2] = {0xdeadbeef, 11};
    const VkSpecializationMapEntry map[] = {{3, 4, 4}, {0, 0, 4}};
    const VkSpecializationInfo own = {2, map, sizeof(values), values};
    compare("loops.comp", &own, &watch, false, 1, pushes, 3);
}

/* Every kind of member arrives bit by bit: NaNs with their loads, negative zeros, denormals. */
TEST(members)
{
    uint32_t pushes[2][64];
    static const uint32_t odd[] = {0x7fa12345, 0xffc00001, 0x80000000, 1, 0x807fffff, 0x7f800000};
    for (uint32_t i = 0; i < 64; i++) {
        pushes[0][i] = 0x01020304u * (i + 1);
        pushes[1][i] = odd[i % 6] + (i % 6 < 2 ? i : 0);
    }
    static const uint16_t words[][8] = {
        {0, 4, 8, 16, 20, 32, 36, 40},
        {48, 52, 56, 60, 64, 72, 84, 112},
        {84, 88, 92, 100, 108, 112, 116, 144},
        {136, 140, 144, 168, 188, 100, 108, 116},
    };
    for (uint32_t i = 0; i < 4; i++) {
        struct bf_watch watch = watch_of(words[i], 8);
        compare("types.comp", NULL, &watch, true, 2, (const uint32_t(*)[64])pushes, 2);
    }
    struct bf_watch watch = watch_of((const uint16_t[]){0, 4, 8, 12, 16, 20, 24, 28}, 8);
    compare("wide.comp", NULL, &watch, true, 2, (const uint32_t(*)[64])pushes, 2);
    if (gpu.narrow) {
        watch = watch_of((const uint16_t[]){0, 4, 8, 12}, 4);
        /* Half a NaN plus one may be another NaN. */
        compare("narrow.comp", NULL, &watch, true, 2, (const uint32_t(*)[64])pushes, 1);
    } else {
        print_message("no 8- and 16-bit push constants here\n");
    }
}

static int teardown(void **state)
{
    vkDestroyDescriptorPool(gpu.device, gpu.descriptors, NULL);
    vkDestroyPipelineLayout(gpu.device, gpu.layout, NULL);
    vkDestroyDescriptorSetLayout(gpu.device, gpu.set_layout, NULL);
    device_close(&gpu.base);
    device_close_instance(&gpu.base);
    return 0;
}

static int setup(void **state)
{
    things_make();
    return 0;
}

int main(void)
{
    if (!device_open()) {
        fprintf(stderr, "no device that computes with shaderInt64 and shaderFloat64\n");
        return 77;
    }
    return test_run_group(NULL, setup, teardown);
}
