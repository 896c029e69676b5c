/* SPDX-License-Identifier: MIT */
/* Headless surfaces and swapchains. An image is free again once its present has run on its queue.
 */
#include "icd.h"

#define SWAPCHAIN(handle_) ICD_FROM(icd_swapchain, ICD_KIND_SWAPCHAIN, handle_)
#define PHYSICAL(handle_)  ICD_FROM(icd_physical, ICD_KIND_PHYSICAL_DEVICE, handle_)

#define MIN_IMAGES 2
#define MAX_IMAGES 8

enum image_state {
    IMAGE_FREE,
    IMAGE_ACQUIRED,
};

struct icd_swapchain {
    struct icd_object object;
    uint32_t n_images;
    struct icd_image *images[MAX_IMAGES];
    /* locked from here */
    enum image_state states[MAX_IMAGES];
    uint32_t next;    /* where the search for a free image begins: they come in turn */
    uint32_t pending; /* presents accepted that haven't run */
    bool retired;     /* replaced by a newer swapchain */
    bool orphan;      /* destroyed while presents were pending: the last of them frees it */
};

/* Surfaces ---------------------------------------------------------------------------------- */

static VkResult icd_CreateHeadlessSurfaceEXT(VkInstance instance,
                                             const VkHeadlessSurfaceCreateInfoEXT *pCreateInfo,
                                             const VkAllocationCallbacks *pAllocator,
                                             VkSurfaceKHR *pSurface)
{
    if (icd_oom(ICD_FROM(icd_instance, ICD_KIND_INSTANCE, instance)))
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    void *surface = icd_object_new(NULL, ICD_KIND_SURFACE, sizeof(struct icd_object));
    *pSurface = ICD_HANDLE(VkSurfaceKHR, surface);
    return surface ? VK_SUCCESS : VK_ERROR_OUT_OF_HOST_MEMORY;
}

static void icd_DestroySurfaceKHR(VkInstance instance, VkSurfaceKHR surface,
                                  const VkAllocationCallbacks *pAllocator)
{
    icd_object_free(surface ? ICD_FROM(icd_object, ICD_KIND_SURFACE, surface) : NULL);
}

static VkResult icd_GetPhysicalDeviceSurfaceSupportKHR(VkPhysicalDevice physicalDevice,
                                                       uint32_t queueFamilyIndex,
                                                       VkSurfaceKHR surface, VkBool32 *pSupported)
{
    struct icd_physical *physical = PHYSICAL(physicalDevice);
    const struct icd_shape *shape = &physical->config.shape;
    if (icd_oom(physical->instance))
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    *pSupported =
        queueFamilyIndex < shape->n_families &&
        (shape->families[queueFamilyIndex].flags & (VK_QUEUE_GRAPHICS_BIT | VK_QUEUE_COMPUTE_BIT));
    return VK_SUCCESS;
}

static void capabilities_fill(VkSurfaceCapabilitiesKHR *capabilities)
{
    *capabilities = (VkSurfaceCapabilitiesKHR){
        .minImageCount = MIN_IMAGES,
        .maxImageCount = MAX_IMAGES,
        /* A headless surface takes the size of its swapchain. */
        .currentExtent = {UINT32_MAX, UINT32_MAX},
        .minImageExtent = {1, 1},
        .maxImageExtent = {16384, 16384},
        .maxImageArrayLayers = 1,
        .supportedTransforms = VK_SURFACE_TRANSFORM_IDENTITY_BIT_KHR,
        .currentTransform = VK_SURFACE_TRANSFORM_IDENTITY_BIT_KHR,
        .supportedCompositeAlpha = VK_COMPOSITE_ALPHA_OPAQUE_BIT_KHR,
        .supportedUsageFlags = VK_IMAGE_USAGE_TRANSFER_SRC_BIT | VK_IMAGE_USAGE_TRANSFER_DST_BIT |
                               VK_IMAGE_USAGE_SAMPLED_BIT | VK_IMAGE_USAGE_STORAGE_BIT |
                               VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT,
    };
}

static VkResult icd_GetPhysicalDeviceSurfaceCapabilitiesKHR(VkPhysicalDevice physicalDevice,
                                                            VkSurfaceKHR surface,
                                                            VkSurfaceCapabilitiesKHR *pCapabilities)
{
    if (icd_oom(PHYSICAL(physicalDevice)->instance))
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    capabilities_fill(pCapabilities);
    return VK_SUCCESS;
}

static VkResult
icd_GetPhysicalDeviceSurfaceCapabilities2KHR(VkPhysicalDevice physicalDevice,
                                             const VkPhysicalDeviceSurfaceInfo2KHR *pInfo,
                                             VkSurfaceCapabilities2KHR *pCapabilities)
{
    if (icd_oom(PHYSICAL(physicalDevice)->instance))
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    capabilities_fill(&pCapabilities->surfaceCapabilities);
    return VK_SUCCESS;
}

static const VkSurfaceFormatKHR formats[] = {
    {VK_FORMAT_B8G8R8A8_SRGB, VK_COLOR_SPACE_SRGB_NONLINEAR_KHR},
    {VK_FORMAT_B8G8R8A8_UNORM, VK_COLOR_SPACE_SRGB_NONLINEAR_KHR},
};
#define N_FORMATS 2

static VkResult icd_GetPhysicalDeviceSurfaceFormatsKHR(VkPhysicalDevice physicalDevice,
                                                       VkSurfaceKHR surface, uint32_t *pCount,
                                                       VkSurfaceFormatKHR *pFormats)
{
    if (icd_oom(PHYSICAL(physicalDevice)->instance))
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    return icd_enumerate(pCount, pFormats, sizeof(formats[0]), formats, N_FORMATS);
}

static VkResult
icd_GetPhysicalDeviceSurfaceFormats2KHR(VkPhysicalDevice physicalDevice,
                                        const VkPhysicalDeviceSurfaceInfo2KHR *pInfo,
                                        uint32_t *pCount, VkSurfaceFormat2KHR *pFormats)
{
    if (icd_oom(PHYSICAL(physicalDevice)->instance))
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    if (!pFormats) {
        *pCount = N_FORMATS;
        return VK_SUCCESS;
    }
    if (*pCount > N_FORMATS)
        *pCount = N_FORMATS;
    for (uint32_t i = 0; i < *pCount; i++)
        pFormats[i].surfaceFormat = formats[i];
    return *pCount < N_FORMATS ? VK_INCOMPLETE : VK_SUCCESS;
}

static VkResult icd_GetPhysicalDeviceSurfacePresentModesKHR(VkPhysicalDevice physicalDevice,
                                                            VkSurfaceKHR surface, uint32_t *pCount,
                                                            VkPresentModeKHR *pModes)
{
    if (icd_oom(PHYSICAL(physicalDevice)->instance))
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    static const VkPresentModeKHR modes[] = {VK_PRESENT_MODE_FIFO_KHR, VK_PRESENT_MODE_MAILBOX_KHR,
                                             VK_PRESENT_MODE_IMMEDIATE_KHR};
    return icd_enumerate(pCount, pModes, sizeof(modes[0]), modes, 3);
}

static VkResult icd_GetPhysicalDevicePresentRectanglesKHR(VkPhysicalDevice physicalDevice,
                                                          VkSurfaceKHR surface, uint32_t *pCount,
                                                          VkRect2D *pRects)
{
    if (icd_oom(PHYSICAL(physicalDevice)->instance))
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    static const VkRect2D all = {{0, 0}, {16384, 16384}};
    return icd_enumerate(pCount, pRects, sizeof(all), &all, 1);
}

/* Swapchains -------------------------------------------------------------------------------- */

static void swapchain_free(struct icd_swapchain *swapchain)
{
    for (uint32_t i = 0; i < swapchain->n_images; i++)
        free(swapchain->images[i]); /* not counted: the swapchain owns them */
    icd_object_free(swapchain);
}

static VkResult icd_CreateSwapchainKHR(VkDevice device_,
                                       const VkSwapchainCreateInfoKHR *pCreateInfo,
                                       const VkAllocationCallbacks *pAllocator,
                                       VkSwapchainKHR *pSwapchain)
{
    struct icd_device *device = ICD_DEV(device_);
    ICD_FAULT_MAKING(pSwapchain, device);
    if (pCreateInfo->imageSharingMode == VK_SHARING_MODE_CONCURRENT)
        for (uint32_t i = 0; i < pCreateInfo->queueFamilyIndexCount; i++)
            icd_family_seen(device, pCreateInfo->pQueueFamilyIndices[i], "vkCreateSwapchainKHR");
    struct icd_swapchain *swapchain =
        icd_object_new(device, ICD_KIND_SWAPCHAIN, sizeof(*swapchain));
    if (!swapchain)
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    uint32_t n = pCreateInfo->minImageCount;
    n = n < MIN_IMAGES ? MIN_IMAGES : n > MAX_IMAGES ? MAX_IMAGES : n;
    for (; swapchain->n_images < n; swapchain->n_images++) {
        struct icd_image *image = calloc(1, sizeof(*image));
        if (!image) {
            swapchain_free(swapchain);
            return VK_ERROR_OUT_OF_HOST_MEMORY;
        }
        image->object.kind = ICD_KIND_IMAGE;
        image->object.device = device;
        image->extent =
            (VkExtent3D){pCreateInfo->imageExtent.width, pCreateInfo->imageExtent.height, 1};
        image->mips = 1;
        image->layers = pCreateInfo->imageArrayLayers;
        swapchain->images[swapchain->n_images] = image;
    }
    if (pCreateInfo->oldSwapchain) {
        icd_lock();
        SWAPCHAIN(pCreateInfo->oldSwapchain)->retired = true;
        icd_unlock();
    }
    *pSwapchain = ICD_HANDLE(VkSwapchainKHR, swapchain);
    return VK_SUCCESS;
}

static void icd_DestroySwapchainKHR(VkDevice device, VkSwapchainKHR swapchain_,
                                    const VkAllocationCallbacks *pAllocator)
{
    if (!swapchain_)
        return;
    struct icd_swapchain *swapchain = SWAPCHAIN(swapchain_);
    icd_lock();
    bool pending = swapchain->pending != 0;
    if (pending) {
        /* No violation: Vulkan gives programs no way to know when a present has ended. */
        icd_object_uncount(swapchain);
        swapchain->object.kind = 0;
        swapchain->orphan = true;
    }
    icd_unlock();
    if (!pending)
        swapchain_free(swapchain);
}

static VkResult icd_GetSwapchainImagesKHR(VkDevice device, VkSwapchainKHR swapchain_,
                                          uint32_t *pCount, VkImage *pImages)
{
    ICD_FAULT(ICD_DEV(device));
    struct icd_swapchain *swapchain = SWAPCHAIN(swapchain_);
    return icd_enumerate(pCount, pImages, sizeof(swapchain->images[0]), swapchain->images,
                         swapchain->n_images);
}

/* Locked. */
static bool image_find(struct icd_swapchain *swapchain, uint32_t *image)
{
    for (uint32_t i = 0; i < swapchain->n_images; i++) {
        uint32_t k = (swapchain->next + i) % swapchain->n_images;
        if (swapchain->states[k] == IMAGE_FREE) {
            swapchain->states[k] = IMAGE_ACQUIRED;
            swapchain->next = (k + 1) % swapchain->n_images;
            *image = k;
            return true;
        }
    }
    return false;
}

static VkResult acquire(struct icd_device *device, struct icd_swapchain *swapchain,
                        uint64_t timeout, VkSemaphore semaphore, VkFence fence_, uint32_t *image)
{
    uint64_t deadline = icd_deadline(timeout);
    VkResult result = VK_SUCCESS;
    icd_lock();
    for (bool in_time = true;; in_time = icd_host_sleep(deadline)) {
        if (device->lost) {
            result = VK_ERROR_DEVICE_LOST;
            break;
        }
        if (swapchain->retired) {
            result = VK_ERROR_OUT_OF_DATE_KHR;
            break;
        }
        if (image_find(swapchain, image))
            break;
        if (timeout == 0 || !in_time) {
            result = timeout ? VK_TIMEOUT : VK_NOT_READY;
            break;
        }
    }
    if (result == VK_SUCCESS && semaphore)
        icd_payload_signal_now(ICD_FROM(icd_semaphore, ICD_KIND_SEMAPHORE, semaphore)->payload,
                               "acquiring an image");
    if (result == VK_SUCCESS && fence_) {
        struct icd_fence *fence = ICD_FROM(icd_fence, ICD_KIND_FENCE, fence_);
        icd_fence_submit(fence, "acquiring an image");
        icd_fence_signal(fence);
        icd_fence_unref(fence);
    }
    icd_unlock();
    return result;
}

static VkResult icd_AcquireNextImageKHR(VkDevice device_, VkSwapchainKHR swapchain,
                                        uint64_t timeout, VkSemaphore semaphore, VkFence fence,
                                        uint32_t *pImageIndex)
{
    struct icd_device *device = ICD_DEV(device_);
    ICD_FAULT(device);
    return acquire(device, SWAPCHAIN(swapchain), timeout, semaphore, fence, pImageIndex);
}

static VkResult icd_AcquireNextImage2KHR(VkDevice device_,
                                         const VkAcquireNextImageInfoKHR *pAcquireInfo,
                                         uint32_t *pImageIndex)
{
    struct icd_device *device = ICD_DEV(device_);
    ICD_FAULT(device);
    return acquire(device, SWAPCHAIN(pAcquireInfo->swapchain), pAcquireInfo->timeout,
                   pAcquireInfo->semaphore, pAcquireInfo->fence, pImageIndex);
}

void icd_swapchain_accept(struct icd_swapchain *swapchain)
{
    swapchain->pending++;
}

void icd_swapchain_presented(struct icd_swapchain *swapchain, uint32_t image)
{
    swapchain->pending--;
    if (swapchain->orphan) {
        if (!swapchain->pending)
            swapchain_free(swapchain);
        return;
    }
    if (image < swapchain->n_images)
        swapchain->states[image] = IMAGE_FREE;
    pthread_cond_broadcast(&icd_world.host);
}

static VkResult
icd_GetDeviceGroupPresentCapabilitiesKHR(VkDevice device,
                                         VkDeviceGroupPresentCapabilitiesKHR *pCapabilities)
{
    ICD_FAULT(ICD_DEV(device));
    memset(pCapabilities->presentMask, 0, sizeof(pCapabilities->presentMask));
    pCapabilities->presentMask[0] = 1;
    pCapabilities->modes = VK_DEVICE_GROUP_PRESENT_MODE_LOCAL_BIT_KHR;
    return VK_SUCCESS;
}

static VkResult icd_GetDeviceGroupSurfacePresentModesKHR(VkDevice device, VkSurfaceKHR surface,
                                                         VkDeviceGroupPresentModeFlagsKHR *pModes)
{
    ICD_FAULT(ICD_DEV(device));
    *pModes = VK_DEVICE_GROUP_PRESENT_MODE_LOCAL_BIT_KHR;
    return VK_SUCCESS;
}

#define SURFACE(name_)    ICD_EXTRA(ICD_PHYSICAL, ICD_KHR_SURFACE, name_, name_)
#define SWAPCHAINS(name_) ICD_EXTRA(ICD_DEVICE, ICD_KHR_SWAPCHAIN, name_, name_)

const struct icd_entry icd_surface_entries[] = {
    ICD_EXTRA(ICD_INSTANCE, ICD_EXT_HEADLESS_SURFACE, CreateHeadlessSurfaceEXT,
              CreateHeadlessSurfaceEXT),
    ICD_EXTRA(ICD_INSTANCE, ICD_KHR_SURFACE, DestroySurfaceKHR, DestroySurfaceKHR),
    SURFACE(GetPhysicalDeviceSurfaceSupportKHR),
    SURFACE(GetPhysicalDeviceSurfaceCapabilitiesKHR),
    SURFACE(GetPhysicalDeviceSurfaceFormatsKHR),
    SURFACE(GetPhysicalDeviceSurfacePresentModesKHR),
    ICD_EXTRA(ICD_PHYSICAL, ICD_KHR_GET_SURFACE_CAPABILITIES_2,
              GetPhysicalDeviceSurfaceCapabilities2KHR, GetPhysicalDeviceSurfaceCapabilities2KHR),
    ICD_EXTRA(ICD_PHYSICAL, ICD_KHR_GET_SURFACE_CAPABILITIES_2, GetPhysicalDeviceSurfaceFormats2KHR,
              GetPhysicalDeviceSurfaceFormats2KHR),
    ICD_EXTRA(ICD_PHYSICAL, ICD_KHR_SWAPCHAIN, GetPhysicalDevicePresentRectanglesKHR,
              GetPhysicalDevicePresentRectanglesKHR),
    SWAPCHAINS(CreateSwapchainKHR),
    SWAPCHAINS(DestroySwapchainKHR),
    SWAPCHAINS(GetSwapchainImagesKHR),
    SWAPCHAINS(AcquireNextImageKHR),
    SWAPCHAINS(AcquireNextImage2KHR),
    SWAPCHAINS(GetDeviceGroupPresentCapabilitiesKHR),
    SWAPCHAINS(GetDeviceGroupSurfacePresentModesKHR),
    ICD_END};
