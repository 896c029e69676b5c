/* SPDX-License-Identifier: MIT */
/* Buffers, images and their views. Buffers are real; images have requirements and memory, and
 * nothing ever looks inside. */
#include "icd.h"

#include <sys/mman.h>

#define BUFFER(handle_) ICD_FROM(icd_buffer, ICD_KIND_BUFFER, handle_)
#define IMAGE(handle_)  ICD_FROM(icd_image, ICD_KIND_IMAGE, handle_)
#define MEMORY(handle_) ICD_FROM(icd_memory, ICD_KIND_MEMORY, handle_)

/* Buffers ----------------------------------------------------------------------------------- */

static VkResult icd_CreateBuffer(VkDevice device_, const VkBufferCreateInfo *pCreateInfo,
                                 const VkAllocationCallbacks *pAllocator, VkBuffer *pBuffer)
{
    struct icd_device *device = ICD_DEV(device_);
    ICD_FAULT_MAKING(pBuffer, device);
    if (pCreateInfo->sharingMode == VK_SHARING_MODE_CONCURRENT)
        for (uint32_t i = 0; i < pCreateInfo->queueFamilyIndexCount; i++)
            icd_family_seen(device, pCreateInfo->pQueueFamilyIndices[i], "vkCreateBuffer");
    struct icd_buffer *buffer = icd_object_new(device, ICD_KIND_BUFFER, sizeof(*buffer));
    if (!buffer)
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    buffer->size = pCreateInfo->size;
    buffer->flags = pCreateInfo->flags;
    buffer->usage = pCreateInfo->usage;
    for (const VkBaseInStructure *s = pCreateInfo->pNext; s; s = s->pNext)
        if (s->sType == VK_STRUCTURE_TYPE_EXTERNAL_MEMORY_BUFFER_CREATE_INFO)
            buffer->handle_types = ((const VkExternalMemoryBufferCreateInfo *)s)->handleTypes;
    buffer->unlocked = device->config->free_submit;
    if (buffer->flags & VK_BUFFER_CREATE_SPARSE_BINDING_BIT) {
        void *reserved =
            mmap(NULL, buffer->size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (reserved == MAP_FAILED) {
            icd_object_free(buffer);
            return VK_ERROR_OUT_OF_DEVICE_MEMORY;
        }
        buffer->reserved = reserved;
    }
    *pBuffer = ICD_HANDLE(VkBuffer, buffer);
    return VK_SUCCESS;
}

static void buffer_end(void *object)
{
    struct icd_buffer *buffer = object;
    if (buffer->reserved)
        munmap(buffer->reserved, buffer->size);
    free(buffer->ranges);
    icd_object_free(buffer);
}

static void icd_DestroyBuffer(VkDevice device, VkBuffer buffer,
                              const VkAllocationCallbacks *pAllocator)
{
    if (buffer)
        icd_object_destroy(BUFFER(buffer), buffer_end);
}

static void buffer_requirements(const struct icd_device *device, VkDeviceSize size,
                                VkBufferCreateFlags flags, VkMemoryRequirements *requirements)
{
    bool sparse = flags & VK_BUFFER_CREATE_SPARSE_BINDING_BIT;
    VkDeviceSize alignment = sparse ? ICD_SPARSE_BLOCK : ICD_ALIGNMENT;
    requirements->alignment = alignment;
    requirements->size = (size + alignment - 1) & ~(alignment - 1);
    requirements->memoryTypeBits =
        sparse ? device->config->memory.sparse_types : device->config->buffer_types;
    if (flags & VK_BUFFER_CREATE_PROTECTED_BIT)
        requirements->memoryTypeBits = 1u << (device->config->memory.n_types - 1);
}

/* VkMemoryDedicatedRequirements, wherever requirements are asked for. */
static void requirements_chain(VkBaseOutStructure *s)
{
    for (; s; s = s->pNext) {
        if (s->sType == VK_STRUCTURE_TYPE_MEMORY_DEDICATED_REQUIREMENTS) {
            VkMemoryDedicatedRequirements *dedicated = (void *)s;
            dedicated->prefersDedicatedAllocation = VK_FALSE;
            dedicated->requiresDedicatedAllocation = VK_FALSE;
        }
    }
}

static void icd_GetBufferMemoryRequirements(VkDevice device, VkBuffer buffer,
                                            VkMemoryRequirements *pRequirements)
{
    buffer_requirements(ICD_DEV(device), BUFFER(buffer)->size, BUFFER(buffer)->flags,
                        pRequirements);
}

static void icd_GetBufferMemoryRequirements2(VkDevice device,
                                             const VkBufferMemoryRequirementsInfo2 *pInfo,
                                             VkMemoryRequirements2 *pRequirements)
{
    icd_GetBufferMemoryRequirements(device, pInfo->buffer, &pRequirements->memoryRequirements);
    requirements_chain(pRequirements->pNext);
}

static void icd_GetDeviceBufferMemoryRequirements(VkDevice device,
                                                  const VkDeviceBufferMemoryRequirements *pInfo,
                                                  VkMemoryRequirements2 *pRequirements)
{
    buffer_requirements(ICD_DEV(device), pInfo->pCreateInfo->size, pInfo->pCreateInfo->flags,
                        &pRequirements->memoryRequirements);
    requirements_chain(pRequirements->pNext);
}

static void buffer_bind(struct icd_buffer *buffer, struct icd_memory *memory, VkDeviceSize offset)
{
    VkMemoryRequirements requirements;
    icd_device_seen(buffer->object.device, memory, "vkBindBufferMemory");
    buffer_requirements(buffer->object.device, buffer->size, buffer->flags, &requirements);
    if (!(requirements.memoryTypeBits >> memory->type & 1))
        icd_violation(BELFRY_ICD_MEMORY_MISMATCH,
                      "a buffer that takes memory of the types %#x is bound to type %u",
                      requirements.memoryTypeBits, memory->type);
    if (offset % requirements.alignment || offset > memory->size ||
        requirements.size > memory->size - offset)
        icd_violation(BELFRY_ICD_OUT_OF_RANGE,
                      "a buffer that requires %llu bytes at multiples of %llu is bound at %llu of "
                      "memory of %llu",
                      (unsigned long long)requirements.size,
                      (unsigned long long)requirements.alignment, (unsigned long long)offset,
                      (unsigned long long)memory->size);
    if (memory->imported &&
        !(buffer->handle_types & VK_EXTERNAL_MEMORY_HANDLE_TYPE_HOST_ALLOCATION_BIT_EXT))
        icd_violation(BELFRY_ICD_MEMORY_MISMATCH,
                      "a buffer is bound to imported memory that wasn't created for its kind");
    buffer->memory = memory;
    buffer->offset = offset;
}

static VkResult icd_BindBufferMemory(VkDevice device, VkBuffer buffer, VkDeviceMemory memory,
                                     VkDeviceSize offset)
{
    ICD_FAULT(ICD_DEV(device));
    buffer_bind(BUFFER(buffer), MEMORY(memory), offset);
    return VK_SUCCESS;
}

static VkResult icd_BindBufferMemory2(VkDevice device, uint32_t bindInfoCount,
                                      const VkBindBufferMemoryInfo *pBindInfos)
{
    ICD_FAULT(ICD_DEV(device));
    for (uint32_t i = 0; i < bindInfoCount; i++)
        buffer_bind(BUFFER(pBindInfos[i].buffer), MEMORY(pBindInfos[i].memory),
                    pBindInfos[i].memoryOffset);
    return VK_SUCCESS;
}

static VkDeviceAddress icd_GetBufferDeviceAddress(VkDevice device,
                                                  const VkBufferDeviceAddressInfo *pInfo)
{
    struct icd_buffer *buffer = BUFFER(pInfo->buffer);
    if (buffer->reserved)
        return (uintptr_t)buffer->reserved;
    return buffer->memory ? (uintptr_t)(buffer->memory->data + buffer->offset) : 0;
}

static uint64_t icd_GetBufferOpaqueCaptureAddress(VkDevice device,
                                                  const VkBufferDeviceAddressInfo *pInfo)
{
    return 0;
}

static VkResult icd_CreateBufferView(VkDevice device_, const VkBufferViewCreateInfo *pCreateInfo,
                                     const VkAllocationCallbacks *pAllocator, VkBufferView *pView)
{
    struct icd_device *device = ICD_DEV(device_);
    ICD_FAULT_MAKING(pView, device);
    void *view = icd_object_new(device, ICD_KIND_BUFFER_VIEW, sizeof(struct icd_object));
    *pView = ICD_HANDLE(VkBufferView, view);
    return view ? VK_SUCCESS : VK_ERROR_OUT_OF_HOST_MEMORY;
}

static void icd_DestroyBufferView(VkDevice device, VkBufferView view,
                                  const VkAllocationCallbacks *pAllocator)
{
    icd_object_free(view ? ICD_FROM(icd_object, ICD_KIND_BUFFER_VIEW, view) : NULL);
}

/* Images ------------------------------------------------------------------------------------ */

/* A bound, not the exact size: every mip counts as the first, every texel as the largest. */
static VkDeviceSize image_size(const VkImageCreateInfo *info)
{
    VkDeviceSize texels = (VkDeviceSize)info->extent.width * info->extent.height *
                          info->extent.depth * info->arrayLayers * info->samples;
    return texels * ICD_TEXEL * (info->mipLevels > 1 ? 2 : 1);
}

static VkResult icd_CreateImage(VkDevice device_, const VkImageCreateInfo *pCreateInfo,
                                const VkAllocationCallbacks *pAllocator, VkImage *pImage)
{
    struct icd_device *device = ICD_DEV(device_);
    ICD_FAULT_MAKING(pImage, device);
    if (pCreateInfo->sharingMode == VK_SHARING_MODE_CONCURRENT)
        for (uint32_t i = 0; i < pCreateInfo->queueFamilyIndexCount; i++)
            icd_family_seen(device, pCreateInfo->pQueueFamilyIndices[i], "vkCreateImage");
    struct icd_image *image = icd_object_new(device, ICD_KIND_IMAGE, sizeof(*image));
    if (!image)
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    image->flags = pCreateInfo->flags;
    image->extent = pCreateInfo->extent;
    image->mips = pCreateInfo->mipLevels;
    image->layers = pCreateInfo->arrayLayers;
    image->size = image_size(pCreateInfo);
    *pImage = ICD_HANDLE(VkImage, image);
    return VK_SUCCESS;
}

static void icd_DestroyImage(VkDevice device, VkImage image_,
                             const VkAllocationCallbacks *pAllocator)
{
    icd_object_free(image_ ? IMAGE(image_) : NULL);
}

static void image_requirements(const struct icd_device *device, VkDeviceSize size,
                               VkImageCreateFlags flags, VkMemoryRequirements *requirements)
{
    VkDeviceSize alignment =
        flags & VK_IMAGE_CREATE_SPARSE_BINDING_BIT ? ICD_SPARSE_BLOCK : ICD_ALIGNMENT;
    requirements->alignment = alignment;
    requirements->size = (size + alignment - 1) & ~(alignment - 1);
    requirements->memoryTypeBits = device->config->memory.image_types;
}

static void icd_GetImageMemoryRequirements(VkDevice device, VkImage image,
                                           VkMemoryRequirements *pRequirements)
{
    image_requirements(ICD_DEV(device), IMAGE(image)->size, IMAGE(image)->flags, pRequirements);
}

static void icd_GetImageMemoryRequirements2(VkDevice device,
                                            const VkImageMemoryRequirementsInfo2 *pInfo,
                                            VkMemoryRequirements2 *pRequirements)
{
    icd_GetImageMemoryRequirements(device, pInfo->image, &pRequirements->memoryRequirements);
    requirements_chain(pRequirements->pNext);
}

static void icd_GetDeviceImageMemoryRequirements(VkDevice device,
                                                 const VkDeviceImageMemoryRequirements *pInfo,
                                                 VkMemoryRequirements2 *pRequirements)
{
    image_requirements(ICD_DEV(device), image_size(pInfo->pCreateInfo), pInfo->pCreateInfo->flags,
                       &pRequirements->memoryRequirements);
    requirements_chain(pRequirements->pNext);
}

static void icd_GetImageSparseMemoryRequirements(VkDevice device, VkImage image, uint32_t *pCount,
                                                 VkSparseImageMemoryRequirements *pRequirements)
{
    *pCount = 0;
}

static void icd_GetImageSparseMemoryRequirements2(VkDevice device,
                                                  const VkImageSparseMemoryRequirementsInfo2 *pInfo,
                                                  uint32_t *pCount,
                                                  VkSparseImageMemoryRequirements2 *pRequirements)
{
    *pCount = 0;
}

static void icd_GetDeviceImageSparseMemoryRequirements(
    VkDevice device, const VkDeviceImageMemoryRequirements *pInfo, uint32_t *pCount,
    VkSparseImageMemoryRequirements2 *pRequirements)
{
    *pCount = 0;
}

static void image_bind(struct icd_image *image, struct icd_memory *memory, VkDeviceSize offset)
{
    uint32_t types = image->object.device->config->memory.image_types;
    icd_device_seen(image->object.device, memory, "vkBindImageMemory");
    if (!(types >> memory->type & 1))
        icd_violation(BELFRY_ICD_MEMORY_MISMATCH,
                      "an image that takes memory of the types %#x is bound to type %u", types,
                      memory->type);
    image->memory = memory;
    image->offset = offset;
}

static VkResult icd_BindImageMemory(VkDevice device, VkImage image, VkDeviceMemory memory,
                                    VkDeviceSize offset)
{
    ICD_FAULT(ICD_DEV(device));
    image_bind(IMAGE(image), MEMORY(memory), offset);
    return VK_SUCCESS;
}

static VkResult icd_BindImageMemory2(VkDevice device, uint32_t bindInfoCount,
                                     const VkBindImageMemoryInfo *pBindInfos)
{
    ICD_FAULT(ICD_DEV(device));
    /* Binding to a swapchain's image brings no memory object. */
    for (uint32_t i = 0; i < bindInfoCount; i++)
        if (pBindInfos[i].memory)
            image_bind(IMAGE(pBindInfos[i].image), MEMORY(pBindInfos[i].memory),
                       pBindInfos[i].memoryOffset);
    return VK_SUCCESS;
}

static void icd_GetImageSubresourceLayout(VkDevice device, VkImage image_,
                                          const VkImageSubresource *pSubresource,
                                          VkSubresourceLayout *pLayout)
{
    struct icd_image *image = IMAGE(image_);
    VkDeviceSize row = (VkDeviceSize)image->extent.width * ICD_TEXEL;
    VkDeviceSize slice = row * image->extent.height;
    *pLayout =
        (VkSubresourceLayout){.offset = slice * image->extent.depth * pSubresource->arrayLayer,
                              .size = slice * image->extent.depth,
                              .rowPitch = row,
                              .arrayPitch = slice * image->extent.depth,
                              .depthPitch = slice};
}

static VkResult icd_CreateImageView(VkDevice device_, const VkImageViewCreateInfo *pCreateInfo,
                                    const VkAllocationCallbacks *pAllocator, VkImageView *pView)
{
    struct icd_device *device = ICD_DEV(device_);
    ICD_FAULT_MAKING(pView, device);
    void *view = icd_object_new(device, ICD_KIND_IMAGE_VIEW, sizeof(struct icd_object));
    *pView = ICD_HANDLE(VkImageView, view);
    return view ? VK_SUCCESS : VK_ERROR_OUT_OF_HOST_MEMORY;
}

static void icd_DestroyImageView(VkDevice device, VkImageView view,
                                 const VkAllocationCallbacks *pAllocator)
{
    icd_object_free(view ? ICD_FROM(icd_object, ICD_KIND_IMAGE_VIEW, view) : NULL);
}

const struct icd_entry icd_resource_entries[] = {
    ICD_CORE(ICD_DEVICE, 0, CreateBuffer),
    ICD_CORE(ICD_DEVICE, 0, DestroyBuffer),
    ICD_CORE(ICD_DEVICE, 0, GetBufferMemoryRequirements),
    ICD_BOTH(ICD_DEVICE, 1, ICD_KHR_GET_MEMORY_REQUIREMENTS_2, GetBufferMemoryRequirements2),
    ICD_BOTH(ICD_DEVICE, 3, ICD_KHR_MAINTENANCE_4, GetDeviceBufferMemoryRequirements),
    ICD_CORE(ICD_DEVICE, 0, BindBufferMemory),
    ICD_BOTH(ICD_DEVICE, 1, ICD_KHR_BIND_MEMORY_2, BindBufferMemory2),
    ICD_BOTH(ICD_DEVICE, 2, ICD_KHR_BUFFER_DEVICE_ADDRESS, GetBufferDeviceAddress),
    ICD_BOTH(ICD_DEVICE, 2, ICD_KHR_BUFFER_DEVICE_ADDRESS, GetBufferOpaqueCaptureAddress),
    ICD_CORE(ICD_DEVICE, 0, CreateBufferView),
    ICD_CORE(ICD_DEVICE, 0, DestroyBufferView),
    ICD_CORE(ICD_DEVICE, 0, CreateImage),
    ICD_CORE(ICD_DEVICE, 0, DestroyImage),
    ICD_CORE(ICD_DEVICE, 0, GetImageMemoryRequirements),
    ICD_BOTH(ICD_DEVICE, 1, ICD_KHR_GET_MEMORY_REQUIREMENTS_2, GetImageMemoryRequirements2),
    ICD_BOTH(ICD_DEVICE, 3, ICD_KHR_MAINTENANCE_4, GetDeviceImageMemoryRequirements),
    ICD_CORE(ICD_DEVICE, 0, GetImageSparseMemoryRequirements),
    ICD_BOTH(ICD_DEVICE, 1, ICD_KHR_GET_MEMORY_REQUIREMENTS_2, GetImageSparseMemoryRequirements2),
    ICD_BOTH(ICD_DEVICE, 3, ICD_KHR_MAINTENANCE_4, GetDeviceImageSparseMemoryRequirements),
    ICD_CORE(ICD_DEVICE, 0, BindImageMemory),
    ICD_BOTH(ICD_DEVICE, 1, ICD_KHR_BIND_MEMORY_2, BindImageMemory2),
    ICD_CORE(ICD_DEVICE, 0, GetImageSubresourceLayout),
    ICD_CORE(ICD_DEVICE, 0, CreateImageView),
    ICD_CORE(ICD_DEVICE, 0, DestroyImageView),
    ICD_END};
