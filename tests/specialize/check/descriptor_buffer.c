/* SPDX-License-Identifier: MIT */
/* Where the descriptors of a check lie in a descriptor buffer, what they are made of, and what a
 * command buffer is told; on a driver of paper. Drivers that read them:
 * specialize_check_compute_described and others. */
#include "support/fake_entries.h"
#include "support/test.h"

#include "specialize/pipeline/copy.h"
#include "gpu/gpu.h"
#include "specialize/check/test_descriptor_buffer.h"
#include "specialize/check/test_resource_sets.h"

#define ARENA     UINT64_C(0x100000)
#define DESCRIBED UINT64_C(0x900000)
#define SET(n_)   ((VkDescriptorSetLayout)(uint64_t)(n_))

enum { ROOM = 4096, ALIGNMENT = 64, SIZE = 100 };

static struct {
    struct bf_gpu gpu;
    struct bf_test_place place;
    struct bf_test_resources resources;
    VkDeviceSize set_size;
    bool apart;     /* images and samplers of an array */
    VkBuffer arena; /* made first */
    char memory[ROOM];
    struct {
        VkDescriptorType type;
        size_t size, at;
        VkDescriptorAddressInfoEXT piece;
        VkSampler sampler;
    } got[32];
    uint32_t got_count;
    char told[256]; /* to the command buffer */
} paper;

static VKAPI_ATTR void VKAPI_CALL requirements(VkDevice device, VkBuffer buffer,
                                               VkMemoryRequirements *needs)
{
    *needs = (VkMemoryRequirements){ROOM, 1, 1};
}

static VKAPI_ATTR VkResult VKAPI_CALL allocate(VkDevice device, const VkMemoryAllocateInfo *info,
                                               const VkAllocationCallbacks *allocator,
                                               VkDeviceMemory *memory)
{
    return fake_make(device, VK_OBJECT_TYPE_DEVICE_MEMORY, allocator, (uint64_t *)memory);
}

static VKAPI_ATTR void VKAPI_CALL free_memory(VkDevice device, VkDeviceMemory memory,
                                              const VkAllocationCallbacks *allocator)
{
    fake_unmake(VK_OBJECT_TYPE_DEVICE_MEMORY, (uint64_t)memory, allocator);
}

static VKAPI_ATTR VkResult VKAPI_CALL bind_memory(VkDevice device, VkBuffer buffer,
                                                  VkDeviceMemory memory, VkDeviceSize offset)
{
    return VK_SUCCESS;
}

static VKAPI_ATTR VkResult VKAPI_CALL map(VkDevice device, VkDeviceMemory memory,
                                          VkDeviceSize offset, VkDeviceSize size,
                                          VkMemoryMapFlags flags, void **mapped)
{
    *mapped = paper.memory;
    return VK_SUCCESS;
}

static VKAPI_ATTR VkDeviceAddress VKAPI_CALL address(VkDevice device,
                                                     const VkBufferDeviceAddressInfo *info)
{
    return info->buffer == paper.arena ? ARENA : DESCRIBED;
}

static VKAPI_ATTR void VKAPI_CALL layout_size(VkDevice device, VkDescriptorSetLayout layout,
                                              VkDeviceSize *size)
{
    *size = paper.set_size;
}

/* Binding n of the layout m. */
static VKAPI_ATTR void VKAPI_CALL binding_offset(VkDevice device, VkDescriptorSetLayout layout,
                                                 uint32_t binding, VkDeviceSize *offset)
{
    *offset = (uint64_t)layout + 8 * binding;
}

static VKAPI_ATTR void VKAPI_CALL get(VkDevice device, const VkDescriptorGetInfoEXT *info,
                                      size_t size, void *to)
{
    const VkDescriptorAddressInfoEXT none = {0};
    const VkDescriptorAddressInfoEXT *piece = &none;
    VkSampler sampler = VK_NULL_HANDLE;
    assert_true(paper.got_count < BF_COUNT(paper.got));
    switch (info->type) {
    case VK_DESCRIPTOR_TYPE_SAMPLER:
        sampler = *info->data.pSampler;
        break;
    case VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER:
        sampler = info->data.pCombinedImageSampler->sampler;
        break;
    default:
        piece = info->data.pStorageBuffer; /* all of them are pointers to the same */
        break;
    }
    paper.got[paper.got_count].type = info->type;
    paper.got[paper.got_count].size = size;
    paper.got[paper.got_count].at = (size_t)((char *)to - paper.memory);
    paper.got[paper.got_count].piece = *piece;
    paper.got[paper.got_count++].sampler = sampler;
}

static VKAPI_ATTR void VKAPI_CALL bind_buffers(VkCommandBuffer commands, uint32_t count,
                                               const VkDescriptorBufferBindingInfoEXT *infos)
{
    assert_int_equal(count, 1);
    sprintf(paper.told + strlen(paper.told), "buffer %llx;", (unsigned long long)infos->address);
}

static VKAPI_ATTR void VKAPI_CALL set_offsets(VkCommandBuffer commands, VkPipelineBindPoint point,
                                              VkPipelineLayout layout, uint32_t first,
                                              uint32_t count, const uint32_t *buffers,
                                              const VkDeviceSize *offsets)
{
    assert_int_equal(count, 1);
    sprintf(paper.told + strlen(paper.told), " set %u in %u at %llu;", first, *buffers,
            (unsigned long long)*offsets);
}

static VKAPI_ATTR void VKAPI_CALL properties(VkPhysicalDevice physical,
                                             VkPhysicalDeviceProperties2 *to)
{
    VkPhysicalDeviceDescriptorBufferPropertiesEXT *sizes = to->pNext;
    sizes->descriptorBufferOffsetAlignment = ALIGNMENT;
    sizes->maxResourceDescriptorBufferRange = sizes->maxSamplerDescriptorBufferRange = 1 << 16;
    sizes->combinedImageSamplerDescriptorSingleArray = !paper.apart;
    sizes->samplerDescriptorSize = 4;
    sizes->combinedImageSamplerDescriptorSize = 12;
    sizes->storageBufferDescriptorSize = 5;
    sizes->robustStorageBufferDescriptorSize = 6;
    sizes->uniformTexelBufferDescriptorSize = 7;
    sizes->robustUniformTexelBufferDescriptorSize = 9;
}

static VKAPI_ATTR void VKAPI_CALL formats(VkPhysicalDevice physical, VkFormat format,
                                          VkFormatProperties *to)
{
    *to = (VkFormatProperties){~0u, ~0u, ~0u};
}

static VKAPI_ATTR VkResult VKAPI_CALL image_formats(VkPhysicalDevice physical, VkFormat format,
                                                    VkImageType type, VkImageTiling tiling,
                                                    VkImageUsageFlags usage,
                                                    VkImageCreateFlags flags,
                                                    VkImageFormatProperties *to)
{
    *to = (VkImageFormatProperties){{4096, 4096, 256}, 12, 256, VK_SAMPLE_COUNT_1_BIT, 1 << 30};
    return VK_SUCCESS;
}

static void paper_open(bool robust)
{
    struct VolkDeviceTable *vk = &paper.gpu.vk;
    memset(&paper, 0, sizeof(paper));
    fake_reset();
    fake_fill(vk, "vkCreateBuffer vkDestroyBuffer vkCreateBufferView vkDestroyBufferView "
                  "vkCreateSampler vkDestroySampler");
    vk->vkGetBufferMemoryRequirements = requirements;
    vk->vkAllocateMemory = allocate;
    vk->vkFreeMemory = free_memory;
    vk->vkBindBufferMemory = bind_memory;
    vk->vkMapMemory = map;
    vk->vkGetBufferDeviceAddress = address;
    vk->vkGetDescriptorSetLayoutSizeEXT = layout_size;
    vk->vkGetDescriptorSetLayoutBindingOffsetEXT = binding_offset;
    vk->vkGetDescriptorEXT = get;
    vk->vkCmdBindDescriptorBuffersEXT = bind_buffers;
    vk->vkCmdSetDescriptorBufferOffsetsEXT = set_offsets;
    paper.gpu.memory.memoryTypeCount = 1;
    paper.gpu.memory.memoryTypes[0].propertyFlags =
        VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
    paper.set_size = SIZE;
    paper.place = (struct bf_test_place){.gpu = &paper.gpu,
                                         .formats = formats,
                                         .image_formats = image_formats,
                                         .properties = properties,
                                         .robust = true,
                                         .robust_enabled = robust};
    bf_test_resources_init(&paper.resources, &paper.place);
}

/* Plans and builds the sets alone: nothing else has to be there. */
static VkResult paper_build(const struct bf_check_layout *layout)
{
    VkResult result = bf_test_resources_add_layout(&paper.resources, layout);
    if (result == VK_SUCCESS) {
        const VkBufferCreateInfo info = {VK_TYPE(BUFFER_CREATE_INFO), .size = 1};
        assert_success(paper.gpu.vk.vkCreateBuffer(paper.gpu.handle, &info, NULL, &paper.arena));
        paper.resources.arena = paper.arena;
        result = bf_test_resources_build_sets(&paper.resources);
    }
    return result;
}

static void paper_close(void)
{
    bf_test_resources_finish(&paper.resources);
    assert_null(fake_next(NULL));
}

#define FLAGS VK_DESCRIPTOR_SET_LAYOUT_CREATE_DESCRIPTOR_BUFFER_BIT_EXT

static const VkSampler immutable[2] = {(VkSampler)(uint64_t)0x51, (VkSampler)(uint64_t)0x52};
static const uint8_t words[] = {BF_UNIT_INTEGER};
static const struct bf_check_binding first[] = {
    {0, VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 2, .used = true, .array_stride = 4, .kinds = words,
     .kind_count = 1, .period = 1},
    {2, VK_DESCRIPTOR_TYPE_SAMPLER, 2, .used = true, .immutable_samplers = true,
     .immutable = immutable},
    {3, VK_DESCRIPTOR_TYPE_SAMPLER, 1, .used = true},
};
static const struct bf_check_binding third[] = {
    {1, VK_DESCRIPTOR_TYPE_UNIFORM_TEXEL_BUFFER, 1, .used = true, .format = VK_FORMAT_R32_UINT,
     .number = BF_TEXEL_UINT},
    {2, VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 1, .used = false}, /* nobody uses it */
    {3, VK_DESCRIPTOR_TYPE_INLINE_UNIFORM_BLOCK, 16, .used = true, .kinds = words, .kind_count = 1,
     .period = 1},
};
static const struct bf_check_set sets[] = {{SET(16), FLAGS, BF_COUNT(first), first},
                                           {SET(0), 0, 0, NULL},
                                           {SET(24), FLAGS, BF_COUNT(third), third}};
static const struct bf_check_layout layout = {.set_count = 3, .sets = sets};

static void expect_got(uint32_t i, VkDescriptorType type, size_t size, size_t at)
{
    assert_true(i < paper.got_count);
    assert_int_equal(paper.got[i].type, type);
    assert_int_equal(paper.got[i].size, size);
    assert_int_equal(paper.got[i].at, at);
}

/* Each where the driver says that its binding is, behind the offset of its set, and as large as the
 * driver says that it is where accesses are robust, or aren't. */
TEST(descriptors_lie_where_the_driver_says)
{
    for (uint32_t robust = 0; robust < 2; robust++) {
        const size_t storage = robust ? 6 : 5, texel = robust ? 9 : 7, second = 128;
        paper_open(robust);
        assert_success(paper_build(&layout));
        assert_int_equal(paper.got_count, 6);
        expect_got(0, VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, storage, 16);
        expect_got(1, VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, storage, 16 + storage);
        expect_got(2, VK_DESCRIPTOR_TYPE_SAMPLER, 4, 16 + 16);
        expect_got(3, VK_DESCRIPTOR_TYPE_SAMPLER, 4, 16 + 16 + 4);
        expect_got(4, VK_DESCRIPTOR_TYPE_SAMPLER, 4, 16 + 24);
        expect_got(5, VK_DESCRIPTOR_TYPE_UNIFORM_TEXEL_BUFFER, texel, second + 24 + 8);

        const struct bf_test_buffer *buffers = paper.resources.buffers;
        const uint32_t of[] = {0, 1, 2}, by[] = {0, 1, 5};
        assert_int_equal(paper.resources.buffer_count, 3);
        for (uint32_t i = 0; i < 3; i++) {
            const VkDescriptorAddressInfoEXT *piece = &paper.got[by[i]].piece;
            assert_int_equal(piece->address, ARENA + buffers[of[i]].offset);
            assert_int_equal(piece->range, buffers[of[i]].size);
            assert_int_equal(piece->format, i == 2 ? VK_FORMAT_R32_UINT : VK_FORMAT_UNDEFINED);
        }
        /* Samplers that can't change are written too. */
        assert_ptr_equal(paper.got[2].sampler, immutable[0]);
        assert_ptr_equal(paper.got[3].sampler, immutable[1]);
        assert_non_null(paper.got[4].sampler);
        /* A block's content is there itself, once it is filled. */
        static const char zeros[16];
        const struct bf_inputs inputs = {.style = BF_INPUTS_SPREAD, .limit = 256};
        assert_memory_equal(paper.memory + second + 24 + 24, zeros, sizeof(zeros));
        bf_test_resources_fill_blocks(&paper.resources, &inputs);
        assert_memory_not_equal(paper.memory + second + 24 + 24, zeros, sizeof(zeros));

        bf_test_resources_bind(&paper.resources, NULL, VK_PIPELINE_BIND_POINT_COMPUTE);
        assert_string_equal(paper.told, "buffer 900000; set 0 in 0 at 0; set 2 in 0 at 128;");
        paper_close();
    }
}

static void expect_why(const struct bf_check_layout *of, const char *why)
{
    assert_int_equal(paper_build(of), VK_ERROR_FEATURE_NOT_PRESENT);
    assert_string_equal(paper.resources.why, why);
    paper_close();
}

TEST(what_is_not_known_is_refused)
{
    static const struct bf_check_binding pair[] = {{0, VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER, 2,
                                                    .used = true, .view = VK_IMAGE_VIEW_TYPE_2D,
                                                    .number = BF_TEXEL_SFLOAT}};
    static const struct bf_check_set pairs = {SET(8), FLAGS, 1, pair},
                                     pushed = {SET(8), FLAGS | 1, 1, third},
                                     mixed[] = {{SET(8), FLAGS, 1, third}, {SET(8), 0, 1, third}};
    const struct bf_check_layout of_pairs = {.set_count = 1, .sets = &pairs},
                                 of_pushed = {.set_count = 1, .sets = &pushed},
                                 of_mixed = {.set_count = 2, .sets = mixed};
    paper_open(true);
    assert_success(paper_build(&of_pairs));
    expect_got(1, VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER, 12, 8 + 12);
    paper_close();
    paper_open(true);
    paper.apart = true;
    expect_why(&of_pairs, "images and samplers of an array lie apart in descriptor buffers");
    paper_open(true);
    expect_why(&of_pushed, "a set beside descriptor buffers is not known here");
    paper_open(true);
    expect_why(&of_mixed, "a set beside descriptor buffers is not known here");
    paper_open(true);
    paper.set_size = 1 << 16;
    expect_why(&layout, "it has very large sets");
    paper_open(true);
    paper.gpu.vk.vkGetDescriptorEXT = NULL;
    expect_why(&layout, "there are no descriptor buffers");
}

/* Whatever can't be made (the buffer, its memory, a sampler, a view): nothing of it stays. */
TEST(errors_leave_nothing)
{
    for (uint32_t at = 2; at < 6; at++) { /* behind the arena */
        paper_open(true);
        fake_entries.fail_at = at;
        assert_int_equal(paper_build(&layout), VK_ERROR_OUT_OF_DEVICE_MEMORY);
        paper_close();
    }
    paper_open(true);
    fake_entries.fail_at = 6;
    assert_success(paper_build(&layout));
    paper_close();
}
