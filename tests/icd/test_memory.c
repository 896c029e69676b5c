/* SPDX-License-Identifier: MIT */
/* Memory: the program's own that is imported, and what kinds of it there are. */
#include "support/world.h"
#include "support/infos.h"

#include <sys/mman.h>

#define PAGE 4096

static const VkExternalMemoryHandleTypeFlagBits host_allocation =
    VK_EXTERNAL_MEMORY_HANDLE_TYPE_HOST_ALLOCATION_BIT_EXT;

static void run(struct device *f, VkCommandBuffer commands)
{
    assert_success(vkEndCommandBuffer(commands));
    assert_submitted(f->queues[0][0], .commands = commands);
    assert_success(vkQueueWaitIdle(f->queues[0][0]));
}

static VkBuffer buffer_for(struct device *f, VkExternalMemoryHandleTypeFlags handle_types)
{
    const VkExternalMemoryBufferCreateInfo external = {VK_TYPE(EXTERNAL_MEMORY_BUFFER_CREATE_INFO),
                                                       .handleTypes = handle_types};
    const VkBufferCreateInfo info = {
        VK_TYPE(BUFFER_CREATE_INFO), .pNext = handle_types ? &external : NULL, .size = PAGE,
        .usage = VK_BUFFER_USAGE_TRANSFER_SRC_BIT | VK_BUFFER_USAGE_TRANSFER_DST_BIT};
    VkBuffer buffer;
    assert_success(vkCreateBuffer(f->device, &info, NULL, &buffer));
    return buffer;
}

/* Imported host memory ------------------------------------------------------------------------ */

static VkResult import(VkDevice device, void *pointer, VkDeviceSize size, uint32_t type,
                       VkDeviceMemory *memory)
{
    const VkImportMemoryHostPointerInfoEXT host = {VK_TYPE(IMPORT_MEMORY_HOST_POINTER_INFO_EXT),
                                                   .handleType = host_allocation,
                                                   .pHostPointer = pointer};
    const VkMemoryAllocateInfo info = {VK_TYPE(MEMORY_ALLOCATE_INFO), .pNext = &host,
                                       .allocationSize = size, .memoryTypeIndex = type};
    return vkAllocateMemory(device, &info, NULL, memory);
}

static void *pages_new(size_t n)
{
    void *pages = mmap(NULL, n * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(pages != MAP_FAILED);
    return pages;
}

TEST(test_host_memory_is_offered_unless_switched_off)
{
    static const char *const environments[] = {"HOST_MEMORY=0", NULL, "SHAPE=nvidia API=1.1"};
    for (int i = 0; i < 3; i++) {
        struct device f;
        assert_success(world_instance(&f, environments[i]));
        bool on = i > 0;
        assert_int_equal(
            vulkan_has_device_extension(f.physical, VK_EXT_EXTERNAL_MEMORY_HOST_EXTENSION_NAME),
            on);
        assert_true(vulkan_has_device_extension(f.physical, VK_KHR_EXTERNAL_MEMORY_EXTENSION_NAME));
        VkPhysicalDeviceExternalMemoryHostPropertiesEXT limits = {
            VK_TYPE(PHYSICAL_DEVICE_EXTERNAL_MEMORY_HOST_PROPERTIES_EXT)};
        VkPhysicalDeviceProperties2 properties = {VK_TYPE(PHYSICAL_DEVICE_PROPERTIES_2),
                                                  .pNext = &limits};
        vkGetPhysicalDeviceProperties2(f.physical, &properties);
        assert_int_equal(limits.minImportedHostPointerAlignment, on ? PAGE : 0);
        const VkPhysicalDeviceExternalBufferInfo info = {
            VK_TYPE(PHYSICAL_DEVICE_EXTERNAL_BUFFER_INFO),
            .usage = VK_BUFFER_USAGE_TRANSFER_DST_BIT, .handleType = host_allocation};
        VkExternalBufferProperties external = {VK_TYPE(EXTERNAL_BUFFER_PROPERTIES)};
        vkGetPhysicalDeviceExternalBufferProperties(f.physical, &info, &external);
        assert_int_equal(external.externalMemoryProperties.externalMemoryFeatures,
                         on ? VK_EXTERNAL_MEMORY_FEATURE_IMPORTABLE_BIT : 0);
        assert_int_equal(external.externalMemoryProperties.compatibleHandleTypes,
                         on ? host_allocation : 0);
        world_close(&f);
    }
}

/* The device reads and writes the program's own memory, and leaves it to the program. */
DEVICE_TEST(test_imported_memory_is_the_program_s_own, "SHAPE=q1", WORLD_ALL)
{
    uint64_t *words = pages_new(2);
    VkMemoryHostPointerPropertiesEXT properties = {VK_TYPE(MEMORY_HOST_POINTER_PROPERTIES_EXT)};
    assert_success(
        vkGetMemoryHostPointerPropertiesEXT(w->device, host_allocation, words, &properties));
    assert_true(properties.memoryTypeBits & 1);
    VkDeviceMemory memories[2];
    VkBuffer buffers[2];
    for (int i = 0; i < 2; i++) { /* twice the same: both see one memory */
        assert_success(import(w->device, words, 2 * PAGE, 0, &memories[i]));
        buffers[i] = buffer_for(w, host_allocation);
        assert_success(vkBindBufferMemory(w->device, buffers[i], memories[i], i ? PAGE : 0));
    }
    void *mapped;
    assert_success(vkMapMemory(w->device, memories[0], PAGE, VK_WHOLE_SIZE, 0, &mapped));
    assert_ptr_equal(mapped, words + PAGE / 8);

    words[0] = UINT64_C(0x0102030405060708);
    const uint64_t update = UINT64_C(0x1112131415161718);
    const VkBufferCopy copy = {.srcOffset = 0, .dstOffset = 8, .size = 8};
    VkCommandBuffer commands = device_begin(w, 0, 0);
    vkCmdCopyBuffer(commands, buffers[0], buffers[1], 1, &copy);
    vkCmdUpdateBuffer(commands, buffers[0], 16, sizeof(update), &update);
    run(w, commands);
    assert_int_equal(words[PAGE / 8 + 1], UINT64_C(0x0102030405060708));
    assert_int_equal(words[2], update);
    for (int i = 0; i < 2; i++) {
        vulkan_destroy(w->device, buffers[i], memories[i]);
    }
    assert_int_equal(words[2], update);
    assert_int_equal(munmap(words, 2 * PAGE), 0);
}

DEVICE_TEST(test_imports_are_checked, "SHAPE=q1 QUIET=1", WORLD_ALL)
{
    uint8_t *bytes = pages_new(2);
    VkDeviceMemory memory;
    VkMemoryHostPointerPropertiesEXT properties = {VK_TYPE(MEMORY_HOST_POINTER_PROPERTIES_EXT)};
    assert_int_equal(
        vkGetMemoryHostPointerPropertiesEXT(w->device, VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT,
                                            bytes, &properties),
        VK_ERROR_INVALID_EXTERNAL_HANDLE);
    vulkan_expect(&w->icd, BELFRY_ICD_VIOLATION_COUNT, 0);
    assert_int_equal(
        vkGetMemoryHostPointerPropertiesEXT(w->device, host_allocation, bytes + 64, &properties),
        VK_ERROR_INVALID_EXTERNAL_HANDLE);
    assert_int_equal(import(w->device, bytes + 64, PAGE, 0, &memory),
                     VK_ERROR_INVALID_EXTERNAL_HANDLE);
    assert_int_equal(import(w->device, bytes, PAGE + 64, 0, &memory),
                     VK_ERROR_INVALID_EXTERNAL_HANDLE);
    /* Host memory is coherent, type 1 isn't. */
    assert_int_equal(import(w->device, bytes, PAGE, 1, &memory), VK_ERROR_INVALID_EXTERNAL_HANDLE);
    vulkan_expect(&w->icd, BELFRY_ICD_MEMORY_MISMATCH, 4);

    assert_success(import(w->device, bytes, PAGE, 0, &memory));
    VkBuffer announced = buffer_for(w, host_allocation);
    assert_success(vkBindBufferMemory(w->device, announced, memory, 0));
    vulkan_expect(&w->icd, BELFRY_ICD_VIOLATION_COUNT, 0);
    VkBuffer plain = buffer_for(w, 0);
    assert_success(vkBindBufferMemory(w->device, plain, memory, 0));
    vulkan_expect(&w->icd, BELFRY_ICD_MEMORY_MISMATCH, 1);
    vulkan_destroy(w->device, plain, announced, memory);

    const VkDeviceCreateInfo info = info_device(NULL, 0, NULL);
    VkDevice plain_device;
    assert_success(vkCreateDevice(w->physical, &info, NULL, &plain_device));
    assert_int_equal(import(plain_device, bytes, PAGE, 0, &memory),
                     VK_ERROR_INVALID_EXTERNAL_HANDLE);
    vulkan_expect(&w->icd, BELFRY_ICD_MEMORY_MISMATCH, 1);
    vkDestroyDevice(plain_device, NULL);
    munmap(bytes, 2 * PAGE);
}

/* Types --------------------------------------------------------------------------------------- */

#define LOCAL    VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT
#define VISIBLE  VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT
#define COHERENT VK_MEMORY_PROPERTY_HOST_COHERENT_BIT
#define CACHED   VK_MEMORY_PROPERTY_HOST_CACHED_BIT

static const struct {
    const char *environment;
    uint32_t n;
    VkMemoryPropertyFlags flags[4];
    uint32_t heaps, buffers, images, sparse;
} memories[] = {
    {"SHAPE=q1", 2, {LOCAL | VISIBLE | COHERENT, LOCAL | VISIBLE | CACHED}, 1, 3, 3, 3},
    {"SHAPE=q1 MEMORY=split",
     4,
     {LOCAL, VISIBLE | COHERENT, VISIBLE | COHERENT | CACHED, VISIBLE | CACHED},
     2,
     15,
     1,
     1},
    {"SHAPE=q1 MEMORY=split BUFFER_TYPES=3",
     4,
     {LOCAL, VISIBLE | COHERENT, VISIBLE | COHERENT | CACHED, VISIBLE | CACHED},
     2,
     3,
     1,
     1},
    {"SHAPE=q1 MEMORY=uncached", 2, {LOCAL, VISIBLE | COHERENT}, 2, 3, 1, 1},
    {"SHAPE=q1 MEMORY=single", 1, {LOCAL | VISIBLE | COHERENT | CACHED}, 1, 1, 1, 1},
    /* Neither a local nor a coherent type, respectively: ignored. */
    {"SHAPE=q1 MEMORY=uncached BUFFER_TYPES=2", 2, {LOCAL, VISIBLE | COHERENT}, 2, 3, 1, 1},
    {"SHAPE=q1 MEMORY=uncached BUFFER_TYPES=1", 2, {LOCAL, VISIBLE | COHERENT}, 2, 3, 1, 1},
};

TEST(test_the_memory_there_is)
{
    for (size_t i = 0; i < sizeof(memories) / sizeof(memories[0]); i++) {
        struct device f;
        assert_success(world_instance(&f, memories[i].environment));
        assert_success(world_device(&f, WORLD_ALL, NULL));
        VkPhysicalDeviceMemoryProperties properties;
        vkGetPhysicalDeviceMemoryProperties(f.physical, &properties);
        assert_int_equal(properties.memoryTypeCount, memories[i].n);
        for (uint32_t k = 0; k < memories[i].n; k++) {
            assert_int_equal(properties.memoryTypes[k].propertyFlags, memories[i].flags[k]);
            assert_int_equal(properties.memoryTypes[k].heapIndex, !(memories[i].flags[k] & LOCAL));
        }
        assert_int_equal(properties.memoryHeapCount, memories[i].heaps);
        assert_true(properties.memoryHeaps[0].flags & VK_MEMORY_HEAP_DEVICE_LOCAL_BIT);
        if (memories[i].heaps > 1)
            assert_false(properties.memoryHeaps[1].flags & VK_MEMORY_HEAP_DEVICE_LOCAL_BIT);

        VkBuffer buffer = buffer_for(&f, 0);
        VkMemoryRequirements requirements;
        vkGetBufferMemoryRequirements(f.device, buffer, &requirements);
        assert_int_equal(requirements.memoryTypeBits, memories[i].buffers);
        vkDestroyBuffer(f.device, buffer, NULL);
        const VkBufferCreateInfo sparse = {VK_TYPE(BUFFER_CREATE_INFO),
                                           .flags = VK_BUFFER_CREATE_SPARSE_BINDING_BIT,
                                           .size = PAGE, .usage = VK_BUFFER_USAGE_TRANSFER_DST_BIT};
        assert_success(vkCreateBuffer(f.device, &sparse, NULL, &buffer));
        vkGetBufferMemoryRequirements(f.device, buffer, &requirements);
        assert_int_equal(requirements.memoryTypeBits, memories[i].sparse);
        vkDestroyBuffer(f.device, buffer, NULL);
        const VkImageCreateInfo info = {VK_TYPE(IMAGE_CREATE_INFO),
                                        .imageType = VK_IMAGE_TYPE_2D,
                                        .format = VK_FORMAT_R8G8B8A8_UNORM,
                                        .extent = {16, 16, 1},
                                        .mipLevels = 1,
                                        .arrayLayers = 1,
                                        .samples = VK_SAMPLE_COUNT_1_BIT,
                                        .usage = VK_IMAGE_USAGE_TRANSFER_DST_BIT};
        VkImage image;
        assert_success(vkCreateImage(f.device, &info, NULL, &image));
        vkGetImageMemoryRequirements(f.device, image, &requirements);
        assert_int_equal(requirements.memoryTypeBits, memories[i].images);
        vkDestroyImage(f.device, image, NULL);
        world_close(&f);
    }
}

static VkDeviceMemory allocate(struct device *f, uint32_t type)
{
    const VkMemoryAllocateInfo info = {VK_TYPE(MEMORY_ALLOCATE_INFO), .allocationSize = PAGE,
                                       .memoryTypeIndex = type};
    VkDeviceMemory memory;
    assert_success(vkAllocateMemory(f->device, &info, NULL, &memory));
    return memory;
}

/* The host writes word 0, the device copies it to word 8 and writes word 16: who sees what, before
 * and after a flush and an invalidation of each. Atoms are of 64 bytes, 8 words. */
static void coherence_tour(const char *environment, uint32_t type, bool coherent)
{
    struct device f;
    assert_success(world_instance(&f, environment));
    assert_success(world_device(&f, WORLD_ALL, NULL));
    const VkCommandPoolCreateInfo pool = {VK_TYPE(COMMAND_POOL_CREATE_INFO)};
    assert_success(vkCreateCommandPool(f.device, &pool, NULL, &f.pools[0]));
    VkBuffer buffer = buffer_for(&f, 0);
    VkDeviceMemory memory = allocate(&f, type);
    assert_success(vkBindBufferMemory(f.device, buffer, memory, 0));
    volatile uint64_t *words;
    assert_success(vkMapMemory(f.device, memory, 0, VK_WHOLE_SIZE, 0, (void **)(uintptr_t)&words));
    const uint64_t update = 3;
    const VkBufferCopy copy = {.srcOffset = 0, .dstOffset = 64, .size = 8};
    VkCommandBuffer commands = device_begin(&f, 0, 0);
    vkCmdCopyBuffer(commands, buffer, buffer, 1, &copy);
    vkCmdUpdateBuffer(commands, buffer, 128, 8, &update);
    assert_success(vkEndCommandBuffer(commands));
    VkMappedMemoryRange range = {VK_TYPE(MAPPED_MEMORY_RANGE), .memory = memory, .size = 64};

    words[0] = 2;
    assert_submitted(f.queues[0][0], .commands = commands);
    assert_success(vkQueueWaitIdle(f.queues[0][0]));
    assert_int_equal(words[16], coherent ? 3 : 0);
    range.offset = 128;
    assert_success(vkInvalidateMappedMemoryRanges(f.device, 1, &range));
    assert_int_equal(words[16], 3);
    range.offset = 64;
    assert_success(vkInvalidateMappedMemoryRanges(f.device, 1, &range));
    assert_int_equal(words[8], coherent ? 2 : 0); /* the device had 0 to copy */

    range.offset = 0;
    assert_success(vkFlushMappedMemoryRanges(f.device, 1, &range));
    assert_submitted(f.queues[0][0], .commands = commands);
    assert_success(vkQueueWaitIdle(f.queues[0][0]));
    assert_int_equal(words[8], coherent ? 2 : 0);
    range.offset = 64;
    assert_success(vkInvalidateMappedMemoryRanges(f.device, 1, &range));
    assert_int_equal(words[8], 2);
    vulkan_destroy(f.device, buffer, memory);
    world_close(&f);
}

TEST(test_what_is_not_coherent_needs_flush_and_invalidation)
{
    coherence_tour("SHAPE=q1", 0, true);
    coherence_tour("SHAPE=q1", 1, false);
    coherence_tour("SHAPE=q1 MEMORY=split", 1, true);
    coherence_tour("SHAPE=q1 MEMORY=split", 2, true);
    coherence_tour("SHAPE=q1 MEMORY=split", 3, false);
    coherence_tour("SHAPE=q1 MEMORY=single", 0, true);
}

TEST(test_memory_is_used_for_what_takes_it)
{
    struct device f;
    assert_success(world_instance(&f, "SHAPE=q1 MEMORY=split BUFFER_TYPES=3 QUIET=1"));
    assert_success(world_device(&f, WORLD_ALL, NULL));
    VkBuffer buffer = buffer_for(&f, 0);
    VkDeviceMemory local = allocate(&f, 0), cached = allocate(&f, 2);
    assert_success(vkBindBufferMemory(f.device, buffer, local, 0));
    vulkan_expect(&f.icd, BELFRY_ICD_VIOLATION_COUNT, 0);
    const VkBindBufferMemoryInfo bind = {VK_TYPE(BIND_BUFFER_MEMORY_INFO), .buffer = buffer,
                                         .memory = cached};
    assert_success(vkBindBufferMemory2(f.device, 1, &bind));
    vulkan_expect(&f.icd, BELFRY_ICD_MEMORY_MISMATCH, 1);
    const VkImageCreateInfo info = {VK_TYPE(IMAGE_CREATE_INFO),
                                    .imageType = VK_IMAGE_TYPE_2D,
                                    .format = VK_FORMAT_R8G8B8A8_UNORM,
                                    .extent = {4, 4, 1},
                                    .mipLevels = 1,
                                    .arrayLayers = 1,
                                    .samples = VK_SAMPLE_COUNT_1_BIT,
                                    .usage = VK_IMAGE_USAGE_TRANSFER_DST_BIT};
    VkImage image;
    assert_success(vkCreateImage(f.device, &info, NULL, &image));
    assert_success(vkBindImageMemory(f.device, image, local, 0));
    vulkan_expect(&f.icd, BELFRY_ICD_VIOLATION_COUNT, 0);
    assert_success(vkBindImageMemory(f.device, image, cached, 0));
    vulkan_expect(&f.icd, BELFRY_ICD_MEMORY_MISMATCH, 1);
    VkDeviceMemory none;
    const VkMemoryAllocateInfo fifth = {VK_TYPE(MEMORY_ALLOCATE_INFO), .allocationSize = PAGE,
                                        .memoryTypeIndex = 4};
    assert_int_equal(vkAllocateMemory(f.device, &fifth, NULL, &none),
                     VK_ERROR_OUT_OF_DEVICE_MEMORY);
    vulkan_expect(&f.icd, BELFRY_ICD_MEMORY_MISMATCH, 1);

    void *data;
    assert_int_equal(vkMapMemory(f.device, local, 0, VK_WHOLE_SIZE, 0, &data),
                     VK_ERROR_MEMORY_MAP_FAILED);
    vulkan_expect(&f.icd, BELFRY_ICD_MAPPING, 1);
    vulkan_destroy(f.device, image, buffer, local, cached);
    world_close(&f);
}

DEVICE_TEST(test_mappings_are_checked, "SHAPE=q1 QUIET=1", WORLD_ALL)
{
    static const struct {
        VkDeviceSize offset, size;
        bool wrong;
    } ranges[] = {
        {1024, 1024, false}, {1024, 1088, false}, {1024, VK_WHOLE_SIZE, false},
        {2048, 64, false},   {960, 64, true},     {1024, 1152, true},
        {2048, 128, true},   {3072, 64, true},    {1032, 64, true},
        {1024, 72, true},
    };
    VkDeviceMemory memory = allocate(w, 1);
    void *data;
    assert_success(vkMapMemory(w->device, memory, 1024, 1024 + 64, 0, &data));
    vulkan_expect(&w->icd, BELFRY_ICD_VIOLATION_COUNT, 0);
    for (size_t i = 0; i < sizeof(ranges) / sizeof(ranges[0]); i++) {
        const VkMappedMemoryRange range = {VK_TYPE(MAPPED_MEMORY_RANGE), .memory = memory,
                                           .offset = ranges[i].offset, .size = ranges[i].size};
        assert_success(vkFlushMappedMemoryRanges(w->device, 1, &range));
        vulkan_expect(&w->icd, BELFRY_ICD_MAPPING, ranges[i].wrong);
        assert_success(vkInvalidateMappedMemoryRanges(w->device, 1, &range));
        vulkan_expect(&w->icd, BELFRY_ICD_MAPPING, ranges[i].wrong);
    }
    assert_success(vkMapMemory(w->device, memory, 0, VK_WHOLE_SIZE, 0, &data));
    vulkan_expect(&w->icd, BELFRY_ICD_MAPPING, 1);
    vkUnmapMemory(w->device, memory);
    vulkan_expect(&w->icd, BELFRY_ICD_VIOLATION_COUNT, 0);
    vkUnmapMemory(w->device, memory);
    vulkan_expect(&w->icd, BELFRY_ICD_MAPPING, 1);
    const VkMappedMemoryRange range = {VK_TYPE(MAPPED_MEMORY_RANGE), .memory = memory,
                                       .size = VK_WHOLE_SIZE};
    assert_success(vkFlushMappedMemoryRanges(w->device, 1, &range));
    vulkan_expect(&w->icd, BELFRY_ICD_MAPPING, 1);
    vkFreeMemory(w->device, memory, NULL);
}
