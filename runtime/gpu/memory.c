/* SPDX-License-Identifier: MIT */
/* Belfry's own buffers: choosing a memory type, importing host memory, mapping. */
#include "gpu/memory.h"

#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "gpu/gpu.h"
#include "gpu/made.h"

#define HANDLE_TYPE VK_EXTERNAL_MEMORY_HANDLE_TYPE_HOST_ALLOCATION_BIT_EXT

static bool buffer_has_address(const struct bf_gpu *gpu, enum bf_buffer_place place)
{
    return gpu->writes_values || place == BF_BUFFER_DESCRIPTORS;
}

static VkResult buffer_create_handle(struct bf_gpu *gpu, VkDeviceSize size, bool imported,
                                     enum bf_buffer_place place, VkBuffer *handle)
{
    const VkBufferUsageFlags descriptors = VK_BUFFER_USAGE_RESOURCE_DESCRIPTOR_BUFFER_BIT_EXT |
                                           VK_BUFFER_USAGE_SAMPLER_DESCRIPTOR_BUFFER_BIT_EXT;
    uint32_t count = gpu->family_count;
    const VkExternalMemoryBufferCreateInfo external = {
        .sType = VK_STRUCTURE_TYPE_EXTERNAL_MEMORY_BUFFER_CREATE_INFO,
        .handleTypes = HANDLE_TYPE,
    };
    const VkBufferCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
        .pNext = imported ? &external : NULL,
        .size = size,
        .usage = VK_BUFFER_USAGE_TRANSFER_SRC_BIT | VK_BUFFER_USAGE_TRANSFER_DST_BIT |
                 VK_BUFFER_USAGE_STORAGE_BUFFER_BIT |
                 (buffer_has_address(gpu, place) ? VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT : 0) |
                 (place == BF_BUFFER_DESCRIPTORS ? descriptors : 0),
        .sharingMode = count > 1 ? VK_SHARING_MODE_CONCURRENT : VK_SHARING_MODE_EXCLUSIVE,
        .queueFamilyIndexCount = count > 1 ? count : 0,
        .pQueueFamilyIndices = gpu->families,
    };
    return BF_MADE(gpu->vk.vkCreateBuffer(gpu->handle, &info, NULL, handle), handle);
}

/* The memory type in the mask 'bits' that has all flags of 'needed' and, if possible, all of
 * 'liked'; UINT32_MAX if there is none. */
static uint32_t memory_type_find(const struct bf_gpu *gpu, uint32_t bits,
                                 VkMemoryPropertyFlags needed, VkMemoryPropertyFlags liked)
{
    uint32_t best = UINT32_MAX;
    for (uint32_t i = 0; i < gpu->memory.memoryTypeCount; i++) {
        VkMemoryPropertyFlags flags = gpu->memory.memoryTypes[i].propertyFlags;
        if (!(bits & UINT32_C(1) << i) || (flags & needed) != needed ||
            (flags & VK_MEMORY_PROPERTY_PROTECTED_BIT))
            continue;
        if ((flags & liked) == liked)
            return i;
        if (best == UINT32_MAX)
            best = i;
    }
    return best;
}

static VkResult buffer_allocate(struct bf_gpu *gpu, struct bf_buffer *buffer, uint32_t bits,
                                enum bf_buffer_place place)
{
    const VkMemoryPropertyFlags host =
        VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
    VkMemoryRequirements needs;
    gpu->vk.vkGetBufferMemoryRequirements(gpu->handle, buffer->handle, &needs);
    uint32_t type =
        place == BF_BUFFER_DEVICE
            ? memory_type_find(gpu, needs.memoryTypeBits, 0, VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT)
            : memory_type_find(gpu, needs.memoryTypeBits & bits, host,
                               VK_MEMORY_PROPERTY_HOST_CACHED_BIT);
    if (type == UINT32_MAX || (buffer->pages && needs.size > buffer->size))
        return VK_ERROR_OUT_OF_DEVICE_MEMORY;
    const VkImportMemoryHostPointerInfoEXT import = {
        .sType = VK_STRUCTURE_TYPE_IMPORT_MEMORY_HOST_POINTER_INFO_EXT,
        .handleType = HANDLE_TYPE,
        .pHostPointer = buffer->pages,
    };
    const VkMemoryAllocateFlagsInfo flags = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_FLAGS_INFO,
        .pNext = buffer->pages ? &import : NULL,
        .flags = buffer_has_address(gpu, place) ? VK_MEMORY_ALLOCATE_DEVICE_ADDRESS_BIT : 0,
    };
    const VkMemoryAllocateInfo info = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
        .pNext = flags.flags ? &flags : flags.pNext,
        .allocationSize = buffer->pages ? buffer->size : needs.size,
        .memoryTypeIndex = type,
    };
    VkResult result = BF_MADE(gpu->vk.vkAllocateMemory(gpu->handle, &info, NULL, &buffer->memory),
                              &buffer->memory);
    if (result != VK_SUCCESS)
        return result;
    return gpu->vk.vkBindBufferMemory(gpu->handle, buffer->handle, buffer->memory, 0);
}

/* Maps the file at a multiple of 'alignment', a power of two, which may be more than a page. */
static void *map_aligned(int fd, size_t size, size_t alignment, int protection)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    if (alignment <= page)
        return mmap(NULL, size, protection, MAP_SHARED, fd, 0);
    char *room = mmap(NULL, size + alignment, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (room == MAP_FAILED)
        return MAP_FAILED;
    const size_t before = -(uintptr_t)room & (alignment - 1), after = alignment - before;
    void *pages = mmap(room + before, size, protection, MAP_SHARED | MAP_FIXED, fd, 0);
    if (pages == MAP_FAILED) {
        munmap(room, size + alignment);
        return MAP_FAILED;
    }
    if (before)
        munmap(room, before);
    munmap(room + before + size, after);
    return pages;
}

/* Creates memory that is mapped twice, once writable for Belfry and once read-only for the
 * program. */
static bool buffer_map_pages(struct bf_gpu *gpu, struct bf_buffer *buffer)
{
    size_t size = (buffer->size + gpu->host_pointer_alignment - 1) / gpu->host_pointer_alignment *
                  gpu->host_pointer_alignment;
    int fd = memfd_create("belfry fence values", MFD_CLOEXEC);
    if (fd < 0)
        return false;
    void *pages = MAP_FAILED, *view = MAP_FAILED;
    if (ftruncate(fd, (off_t)size) == 0) {
        pages = map_aligned(fd, size, (size_t)gpu->host_pointer_alignment, PROT_READ | PROT_WRITE);
        view = mmap(NULL, size, PROT_READ, MAP_SHARED, fd, 0);
    }
    close(fd);
    if (pages == MAP_FAILED || view == MAP_FAILED) {
        if (pages != MAP_FAILED)
            munmap(pages, size);
        if (view != MAP_FAILED)
            munmap(view, size);
        return false;
    }
    buffer->size = size;
    buffer->pages = pages;
    buffer->view = view;
    return true;
}

/* Imports host memory. Some drivers with the extension refuse some pointers (amdgpu's all memory of
 * files): then false, and the caller allocates ordinary memory. */
static bool buffer_import(struct bf_gpu *gpu, struct bf_buffer *buffer, enum bf_buffer_place place)
{
    if (place != BF_BUFFER_SHOWN || !gpu->host_pointer_alignment || !buffer_map_pages(gpu, buffer))
        return false;
    VkMemoryHostPointerPropertiesEXT properties = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_HOST_POINTER_PROPERTIES_EXT};
    if (gpu->vk.vkGetMemoryHostPointerPropertiesEXT(gpu->handle, HANDLE_TYPE, buffer->pages,
                                                    &properties) != VK_SUCCESS ||
        buffer_create_handle(gpu, buffer->size, true, place, &buffer->handle) != VK_SUCCESS ||
        buffer_allocate(gpu, buffer, properties.memoryTypeBits, place) != VK_SUCCESS) {
        bf_buffer_destroy(gpu, buffer);
        return false;
    }
    buffer->mapped = buffer->pages;
    buffer->shown = buffer->view;
    buffer->read_only = true;
    return true;
}

VkResult bf_buffer_create(struct bf_gpu *gpu, VkDeviceSize size, enum bf_buffer_place place,
                          struct bf_buffer *buffer)
{
    *buffer = (struct bf_buffer){.size = size};
    if (!buffer_import(gpu, buffer, place)) {
        *buffer = (struct bf_buffer){.size = size};
        VkResult result = buffer_create_handle(gpu, size, false, place, &buffer->handle);
        if (result == VK_SUCCESS)
            result = buffer_allocate(gpu, buffer, UINT32_MAX, place);
        if (result == VK_SUCCESS && place != BF_BUFFER_DEVICE)
            result = gpu->vk.vkMapMemory(gpu->handle, buffer->memory, 0, VK_WHOLE_SIZE, 0,
                                         &buffer->mapped);
        if (result != VK_SUCCESS) {
            bf_buffer_destroy(gpu, buffer);
            return result;
        }
        if (buffer->mapped)
            memset(buffer->mapped, 0, size);
        if (place == BF_BUFFER_SHOWN)
            buffer->shown = buffer->mapped;
    }
    if (buffer_has_address(gpu, place))
        buffer->address = gpu->vk.vkGetBufferDeviceAddress(
            gpu->handle,
            &(VkBufferDeviceAddressInfo){.sType = VK_STRUCTURE_TYPE_BUFFER_DEVICE_ADDRESS_INFO,
                                         .buffer = buffer->handle});
    return VK_SUCCESS;
}

void bf_buffer_destroy(struct bf_gpu *gpu, struct bf_buffer *buffer)
{
    if (buffer->handle)
        gpu->vk.vkDestroyBuffer(gpu->handle, buffer->handle, NULL);
    if (buffer->memory)
        gpu->vk.vkFreeMemory(gpu->handle, buffer->memory, NULL);
    if (buffer->pages)
        munmap(buffer->pages, buffer->size);
    if (buffer->view)
        munmap(buffer->view, buffer->size);
    *buffer = (struct bf_buffer){0};
}
