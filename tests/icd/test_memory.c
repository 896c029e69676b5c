/*
 * Memory: the program's own that is imported, and what kinds of it there are.
 */
#include "fixture.h"

#include <string.h>
#include <sys/mman.h>

#define PAGE 4096

static const VkExternalMemoryHandleTypeFlagBits host_allocation =
    VK_EXTERNAL_MEMORY_HANDLE_TYPE_HOST_ALLOCATION_BIT_EXT;

static void run(struct fixture *f, VkCommandBuffer commands)
{
    assert_success(vkEndCommandBuffer(commands));
    assert_success(fixture_submit(f->queues[0][0], (struct submit){.commands = commands}));
    assert_success(vkQueueWaitIdle(f->queues[0][0]));
}

static VkBuffer buffer_for(struct fixture *f, VkExternalMemoryHandleTypeFlags handle_types)
{
    const VkExternalMemoryBufferCreateInfo external = {
        .sType = VK_STRUCTURE_TYPE_EXTERNAL_MEMORY_BUFFER_CREATE_INFO, .handleTypes = handle_types};
    const VkBufferCreateInfo info = {.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
                                     .pNext = handle_types ? &external : NULL,
                                     .size = PAGE,
                                     .usage = VK_BUFFER_USAGE_TRANSFER_SRC_BIT |
                                              VK_BUFFER_USAGE_TRANSFER_DST_BIT};
    VkBuffer buffer;
    assert_success(vkCreateBuffer(f->device, &info, NULL, &buffer));
    return buffer;
}

/* Imported host memory ------------------------------------------------------------------------ */

static VkResult import(VkDevice device, void *pointer, VkDeviceSize size, uint32_t type,
                       VkDeviceMemory *memory)
{
    const VkImportMemoryHostPointerInfoEXT host = {
        .sType = VK_STRUCTURE_TYPE_IMPORT_MEMORY_HOST_POINTER_INFO_EXT,
        .handleType = host_allocation,
        .pHostPointer = pointer};
    const VkMemoryAllocateInfo info = {.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
                                       .pNext = &host,
                                       .allocationSize = size,
                                       .memoryTypeIndex = type};
    return vkAllocateMemory(device, &info, NULL, memory);
}

static void *pages_new(size_t n)
{
    void *pages = mmap(NULL, n * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(pages != MAP_FAILED);
    return pages;
}

static void test_host_memory_is_offered_unless_switched_off(void **state)
{
    (void)state;
    static const char *const environments[] = {"HOST_MEMORY=0", NULL, "SHAPE=nvidia API=1.1"};
    for (int i = 0; i < 3; i++) {
        struct fixture f;
        fixture_open_instance(&f, environments[i]);
        bool on = i > 0;
        assert_int_equal(fixture_extension(f.physical, VK_EXT_EXTERNAL_MEMORY_HOST_EXTENSION_NAME),
                         on);
        assert_true(fixture_extension(f.physical, VK_KHR_EXTERNAL_MEMORY_EXTENSION_NAME));
        VkPhysicalDeviceExternalMemoryHostPropertiesEXT limits = {
            .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_EXTERNAL_MEMORY_HOST_PROPERTIES_EXT};
        VkPhysicalDeviceProperties2 properties = {
            .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2, .pNext = &limits};
        vkGetPhysicalDeviceProperties2(f.physical, &properties);
        assert_int_equal(limits.minImportedHostPointerAlignment, on ? PAGE : 0);
        const VkPhysicalDeviceExternalBufferInfo info = {
            .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_EXTERNAL_BUFFER_INFO,
            .usage = VK_BUFFER_USAGE_TRANSFER_DST_BIT,
            .handleType = host_allocation};
        VkExternalBufferProperties external = {.sType =
                                                   VK_STRUCTURE_TYPE_EXTERNAL_BUFFER_PROPERTIES};
        vkGetPhysicalDeviceExternalBufferProperties(f.physical, &info, &external);
        assert_int_equal(external.externalMemoryProperties.externalMemoryFeatures,
                         on ? VK_EXTERNAL_MEMORY_FEATURE_IMPORTABLE_BIT : 0);
        assert_int_equal(external.externalMemoryProperties.compatibleHandleTypes,
                         on ? host_allocation : 0);
        fixture_close(&f);
    }
}

/* The device reads and writes the program's own memory, and leaves it to the program. */
static void test_imported_memory_is_the_program_s_own(void **state)
{
    (void)state;
    struct fixture f;
    fixture_open(&f, "SHAPE=q1");
    uint64_t *words = pages_new(2);
    VkMemoryHostPointerPropertiesEXT properties = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_HOST_POINTER_PROPERTIES_EXT};
    assert_success(
        vkGetMemoryHostPointerPropertiesEXT(f.device, host_allocation, words, &properties));
    assert_true(properties.memoryTypeBits & 1);
    VkDeviceMemory memories[2];
    VkBuffer buffers[2];
    for (int i = 0; i < 2; i++) { /* twice the same: both see one memory */
        assert_success(import(f.device, words, 2 * PAGE, 0, &memories[i]));
        buffers[i] = buffer_for(&f, host_allocation);
        assert_success(vkBindBufferMemory(f.device, buffers[i], memories[i], i ? PAGE : 0));
    }
    void *mapped;
    assert_success(vkMapMemory(f.device, memories[0], PAGE, VK_WHOLE_SIZE, 0, &mapped));
    assert_ptr_equal(mapped, words + PAGE / 8);

    words[0] = UINT64_C(0x0102030405060708);
    const uint64_t update = UINT64_C(0x1112131415161718);
    const VkBufferCopy copy = {.srcOffset = 0, .dstOffset = 8, .size = 8};
    VkCommandBuffer commands = fixture_begin(&f, 0);
    vkCmdCopyBuffer(commands, buffers[0], buffers[1], 1, &copy);
    vkCmdUpdateBuffer(commands, buffers[0], 16, sizeof(update), &update);
    run(&f, commands);
    assert_int_equal(words[PAGE / 8 + 1], UINT64_C(0x0102030405060708));
    assert_int_equal(words[2], update);
    for (int i = 0; i < 2; i++) {
        vkDestroyBuffer(f.device, buffers[i], NULL);
        vkFreeMemory(f.device, memories[i], NULL);
    }
    assert_int_equal(words[2], update);
    assert_int_equal(munmap(words, 2 * PAGE), 0);
    fixture_close(&f);
}

static void test_imports_are_checked(void **state)
{
    (void)state;
    struct fixture f;
    fixture_open(&f, "SHAPE=q1 QUIET=1");
    uint8_t *bytes = pages_new(2);
    VkDeviceMemory memory;
    VkMemoryHostPointerPropertiesEXT properties = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_HOST_POINTER_PROPERTIES_EXT};
    assert_int_equal(
        vkGetMemoryHostPointerPropertiesEXT(f.device, VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT,
                                            bytes, &properties),
        VK_ERROR_INVALID_EXTERNAL_HANDLE);
    fixture_expect_none(&f);
    assert_int_equal(
        vkGetMemoryHostPointerPropertiesEXT(f.device, host_allocation, bytes + 64, &properties),
        VK_ERROR_INVALID_EXTERNAL_HANDLE);
    assert_int_equal(import(f.device, bytes + 64, PAGE, 0, &memory),
                     VK_ERROR_INVALID_EXTERNAL_HANDLE);
    assert_int_equal(import(f.device, bytes, PAGE + 64, 0, &memory),
                     VK_ERROR_INVALID_EXTERNAL_HANDLE);
    /* Host memory is coherent, type 1 isn't. */
    assert_int_equal(import(f.device, bytes, PAGE, 1, &memory), VK_ERROR_INVALID_EXTERNAL_HANDLE);
    fixture_expect(&f, BELFRY_ICD_MEMORY_MISMATCH, 4);

    assert_success(import(f.device, bytes, PAGE, 0, &memory));
    VkBuffer announced = buffer_for(&f, host_allocation);
    assert_success(vkBindBufferMemory(f.device, announced, memory, 0));
    fixture_expect_none(&f);
    VkBuffer plain = buffer_for(&f, 0);
    assert_success(vkBindBufferMemory(f.device, plain, memory, 0));
    fixture_expect(&f, BELFRY_ICD_MEMORY_MISMATCH, 1);
    vkDestroyBuffer(f.device, plain, NULL);
    vkDestroyBuffer(f.device, announced, NULL);
    vkFreeMemory(f.device, memory, NULL);

    const float priority = 1.0f;
    const VkDeviceQueueCreateInfo queue = {.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO,
                                           .queueCount = 1,
                                           .pQueuePriorities = &priority};
    const VkDeviceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
                                     .queueCreateInfoCount = 1,
                                     .pQueueCreateInfos = &queue};
    VkDevice plain_device;
    assert_success(vkCreateDevice(f.physical, &info, NULL, &plain_device));
    assert_int_equal(import(plain_device, bytes, PAGE, 0, &memory),
                     VK_ERROR_INVALID_EXTERNAL_HANDLE);
    fixture_expect(&f, BELFRY_ICD_MEMORY_MISMATCH, 1);
    vkDestroyDevice(plain_device, NULL);
    munmap(bytes, 2 * PAGE);
    fixture_close(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_host_memory_is_offered_unless_switched_off),
        TEST(test_imported_memory_is_the_program_s_own),
        TEST(test_imports_are_checked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
