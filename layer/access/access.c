/* SPDX-License-Identifier: MIT */
/* The check 'access': the layer's part of a device's state, and the buffers, images, views,
 * swapchains, render passes and names that the check has to know. */
#include "layer/access/access.h"

#include <stdlib.h>
#include <string.h>

#include "base/message.h"

struct bf_observer *layer_access_create(struct layer_device *d)
{
    if (d->instance->settings.check != BF_CHECK_ACCESS)
        return NULL;
    struct layer_access *access = calloc(1, sizeof(*access));
    const struct bf_access_info info = {.layer = true};
    if (!access || bf_access_create(&info, &access->check) != VK_SUCCESS) {
        bf_message(BF_MESSAGE_WARNING, "access: nothing is checked: out of memory");
        free(access);
        return NULL;
    }
    d->access = access;
    return bf_access_observer(access->check);
}

static void free_value(void *value, void *context)
{
    (void)context;
    free(value);
}

static void free_recording(void *value, void *context)
{
    struct layer_recording *recording = value;
    (void)context;
    bf_access_recording_destroy(recording->uses);
    free(recording);
}

void layer_access_destroy(struct layer_device *d)
{
    struct layer_access *access = d->access;
    if (!access)
        return;
    d->access = NULL;
    bf_map_finish(&access->recordings, free_recording, NULL);
    layer_access_pools_finish(access);
    bf_map_finish(&access->views, free_value, NULL);
    bf_map_finish(&access->framebuffers, free_value, NULL);
    bf_map_finish(&access->passes, free_value, NULL);
    bf_map_finish(&access->swapchains, free_value, NULL);
    bf_access_destroy(access->check);
    free(access);
}

/* Takes ownership of the value. If there is no memory to keep it, the check ends. */
static void map_keep(struct layer_access *access, struct bf_map *map, uint64_t handle, void *value)
{
    if (value && bf_map_insert(map, handle, value))
        return;
    free(value);
    bf_access_stop(access->check, "out of memory");
}

static void map_drop(struct bf_map *map, uint64_t handle)
{
    if (handle)
        free(bf_map_remove(map, handle));
}

/* ------------------------------------------------------------------------ Buffers and images -- */

VKAPI_ATTR VkResult VKAPI_CALL layer_access_vkCreateBuffer(VkDevice device,
                                                           const VkBufferCreateInfo *info,
                                                           const VkAllocationCallbacks *allocator,
                                                           VkBuffer *buffer)
{
    struct layer_device *d = layer_device_of(device);
    PFN_vkCreateBuffer next = d->translates ? layer_vkCreateBuffer : d->vk.vkCreateBuffer;
    VkResult result = next(device, info, allocator, buffer);
    if (result == VK_SUCCESS && d->access)
        bf_access_buffer_add(d->access->check, *buffer, info->size);
    return result;
}

VKAPI_ATTR void VKAPI_CALL layer_access_vkDestroyBuffer(VkDevice device, VkBuffer buffer,
                                                        const VkAllocationCallbacks *allocator)
{
    struct layer_device *d = layer_device_of(device);
    if (d->access)
        bf_access_buffer_remove(d->access->check, buffer);
    layer_vkDestroyBuffer(device, buffer, allocator);
}

/* The runtime calls this command, and the one for images below, to learn the program's handle of a
 * buffer or image (gpu/upper_layers.h). */
VKAPI_ATTR void VKAPI_CALL layer_access_vkGetBufferMemoryRequirements(
    VkDevice device, VkBuffer buffer, VkMemoryRequirements *requirements)
{
    struct layer_device *d = layer_device_of(device);
    bool asked = d->access && bf_upper_layers_hear(d->gpu, VK_OBJECT_TYPE_BUFFER, (uint64_t)buffer,
                                                   requirements);
    if (!asked || bf_access_knows_buffer(d->access->check, buffer))
        d->vk.vkGetBufferMemoryRequirements(device, buffer, requirements);
    else
        *requirements = (VkMemoryRequirements){0};
}

VKAPI_ATTR VkResult VKAPI_CALL layer_access_vkCreateImage(VkDevice device,
                                                          const VkImageCreateInfo *info,
                                                          const VkAllocationCallbacks *allocator,
                                                          VkImage *image)
{
    struct layer_device *d = layer_device_of(device);
    PFN_vkCreateImage next = d->translates ? layer_vkCreateImage : d->vk.vkCreateImage;
    VkResult result = next(device, info, allocator, image);
    if (result != VK_SUCCESS || !d->access)
        return result;
    const struct bf_access_image_info told = {info->imageType, info->format, info->mipLevels,
                                              info->arrayLayers,
                                              info->flags & VK_IMAGE_CREATE_SPARSE_RESIDENCY_BIT};
    bf_access_image_add(d->access->check, *image, &told);
    return result;
}

VKAPI_ATTR void VKAPI_CALL layer_access_vkDestroyImage(VkDevice device, VkImage image,
                                                       const VkAllocationCallbacks *allocator)
{
    struct layer_device *d = layer_device_of(device);
    if (d->access)
        bf_access_image_remove(d->access->check, image);
    layer_vkDestroyImage(device, image, allocator);
}

/* Of the commands that take an image, this is the only one that is valid for all images: others
 * exclude disjoint images, or all but one tiling. */
VKAPI_ATTR void VKAPI_CALL layer_access_vkGetImageSparseMemoryRequirements(
    VkDevice device, VkImage image, uint32_t *count, VkSparseImageMemoryRequirements *requirements)
{
    struct layer_device *d = layer_device_of(device);
    bool asked =
        d->access && bf_upper_layers_hear(d->gpu, VK_OBJECT_TYPE_IMAGE, (uint64_t)image, count);
    struct bf_access_image_info info;
    /* Only images with sparse residency have such requirements, and some drivers report an error
     * when asked about others. */
    if (!asked || (bf_access_image_get(d->access->check, image, &info) && info.sparse))
        d->vk.vkGetImageSparseMemoryRequirements(device, image, count, requirements);
    else
        *count = 0;
}

/* The view's area. Slices of a 3D image that is viewed as a 2D array count as layers. */
static struct layer_view view_from_info(struct layer_access *access,
                                        const VkImageViewCreateInfo *info)
{
    const VkImageSubresourceRange *r = &info->subresourceRange;
    struct layer_view view = {info->image, layer_area_of_range(r)};
    struct bf_access_image_info image;
    bool slices =
        bf_access_image_get(access->check, info->image, &image) && image.type == VK_IMAGE_TYPE_3D &&
        (info->viewType == VK_IMAGE_VIEW_TYPE_2D || info->viewType == VK_IMAGE_VIEW_TYPE_2D_ARRAY);
    if (slices) {
        view.area.low[2] = view.area.layers[0];
        view.area.high[2] = view.area.layers[1];
        view.area.layers[0] = 0;
        view.area.layers[1] = UINT32_MAX;
    }
    return view;
}

VKAPI_ATTR VkResult VKAPI_CALL
layer_access_vkCreateImageView(VkDevice device, const VkImageViewCreateInfo *info,
                               const VkAllocationCallbacks *allocator, VkImageView *handle)
{
    struct layer_device *d = layer_device_of(device);
    VkResult result = d->vk.vkCreateImageView(device, info, allocator, handle);
    if (result != VK_SUCCESS || !d->access)
        return result;
    struct layer_view *view = malloc(sizeof(*view));
    if (view)
        *view = view_from_info(d->access, info);
    map_keep(d->access, &d->access->views, (uint64_t)*handle, view);
    return result;
}

VKAPI_ATTR void VKAPI_CALL layer_access_vkDestroyImageView(VkDevice device, VkImageView view,
                                                           const VkAllocationCallbacks *allocator)
{
    struct layer_device *d = layer_device_of(device);
    if (d->access)
        map_drop(&d->access->views, (uint64_t)view);
    d->vk.vkDestroyImageView(device, view, allocator);
}

/* -------------------------------------------------------------------------------- Swapchains -- */

/* The images of a swapchain are added to the check when the program gets them. */
struct swapchain {
    struct bf_access_image_info info;
    uint32_t count;
    VkImage images[32];
};

VKAPI_ATTR VkResult VKAPI_CALL
layer_access_vkCreateSwapchainKHR(VkDevice device, const VkSwapchainCreateInfoKHR *info,
                                  const VkAllocationCallbacks *allocator, VkSwapchainKHR *handle)
{
    struct layer_device *d = layer_device_of(device);
    PFN_vkCreateSwapchainKHR next =
        d->translates ? layer_vkCreateSwapchainKHR : d->vk.vkCreateSwapchainKHR;
    VkResult result = next(device, info, allocator, handle);
    if (result != VK_SUCCESS || !d->access)
        return result;
    struct swapchain *swapchain = calloc(1, sizeof(*swapchain));
    if (swapchain)
        swapchain->info = (struct bf_access_image_info){VK_IMAGE_TYPE_2D, info->imageFormat, 1,
                                                        info->imageArrayLayers, false};
    map_keep(d->access, &d->access->swapchains, (uint64_t)*handle, swapchain);
    return result;
}

VKAPI_ATTR VkResult VKAPI_CALL layer_access_vkGetSwapchainImagesKHR(VkDevice device,
                                                                    VkSwapchainKHR handle,
                                                                    uint32_t *count,
                                                                    VkImage *images)
{
    struct layer_device *d = layer_device_of(device);
    VkResult result = d->vk.vkGetSwapchainImagesKHR(device, handle, count, images);
    struct swapchain *s =
        d->access && images ? bf_map_find(&d->access->swapchains, (uint64_t)handle) : NULL;
    for (uint32_t i = 0; s && result >= VK_SUCCESS && i < *count; i++) {
        struct bf_access_image_info known;
        if (s->count == 32 || bf_access_image_get(d->access->check, images[i], &known))
            continue;
        s->images[s->count++] = images[i];
        bf_access_image_add(d->access->check, images[i], &s->info);
    }
    return result;
}

VKAPI_ATTR void VKAPI_CALL layer_access_vkDestroySwapchainKHR(
    VkDevice device, VkSwapchainKHR handle, const VkAllocationCallbacks *allocator)
{
    struct layer_device *d = layer_device_of(device);
    struct swapchain *s =
        d->access && handle ? bf_map_remove(&d->access->swapchains, (uint64_t)handle) : NULL;
    for (uint32_t i = 0; s && i < s->count; i++)
        bf_access_image_remove(d->access->check, s->images[i]);
    free(s);
    if (d->access)
        bf_access_swapchain_remove(d->access->check, handle);
    d->vk.vkDestroySwapchainKHR(device, handle, allocator);
}

/* ----------------------------------------------------------------------------- Render passes -- */

VKAPI_ATTR VkResult VKAPI_CALL
layer_access_vkCreateFramebuffer(VkDevice device, const VkFramebufferCreateInfo *info,
                                 const VkAllocationCallbacks *allocator, VkFramebuffer *handle)
{
    struct layer_device *d = layer_device_of(device);
    VkResult result = d->vk.vkCreateFramebuffer(device, info, allocator, handle);
    if (result != VK_SUCCESS || !d->access)
        return result;
    uint32_t count = info->flags & VK_FRAMEBUFFER_CREATE_IMAGELESS_BIT ? 0 : info->attachmentCount;
    struct layer_framebuffer *framebuffer =
        malloc(sizeof(*framebuffer) + count * sizeof(framebuffer->views[0]));
    if (framebuffer) {
        framebuffer->count = count;
        for (uint32_t i = 0; i < count; i++)
            framebuffer->views[i] = info->pAttachments[i];
    }
    map_keep(d->access, &d->access->framebuffers, (uint64_t)*handle, framebuffer);
    return result;
}

VKAPI_ATTR void VKAPI_CALL layer_access_vkDestroyFramebuffer(VkDevice device,
                                                             VkFramebuffer framebuffer,
                                                             const VkAllocationCallbacks *allocator)
{
    struct layer_device *d = layer_device_of(device);
    if (d->access)
        map_drop(&d->access->framebuffers, (uint64_t)framebuffer);
    d->vk.vkDestroyFramebuffer(device, framebuffer, allocator);
}

bool layer_layout_is_read_only(VkImageLayout layout, VkImageAspectFlags aspects)
{
    switch ((int)layout) {
    case VK_IMAGE_LAYOUT_DEPTH_READ_ONLY_STENCIL_ATTACHMENT_OPTIMAL:
        return aspects == VK_IMAGE_ASPECT_DEPTH_BIT;
    case VK_IMAGE_LAYOUT_DEPTH_ATTACHMENT_STENCIL_READ_ONLY_OPTIMAL:
        return aspects == VK_IMAGE_ASPECT_STENCIL_BIT;
    case VK_IMAGE_LAYOUT_DEPTH_STENCIL_READ_ONLY_OPTIMAL:
    case VK_IMAGE_LAYOUT_DEPTH_READ_ONLY_OPTIMAL:
    case VK_IMAGE_LAYOUT_STENCIL_READ_ONLY_OPTIMAL:
    case VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL:
    case VK_IMAGE_LAYOUT_READ_ONLY_OPTIMAL:
        return true;
    default:
        return false;
    }
}

/* Notes what a load operation does to an attachment; DONT_CARE counts as a write. */
static void attachment_load(struct layer_attachment *a, VkAttachmentLoadOp op)
{
    if (op == VK_ATTACHMENT_LOAD_OP_LOAD)
        a->reads = true;
    else if (op == VK_ATTACHMENT_LOAD_OP_CLEAR || op == VK_ATTACHMENT_LOAD_OP_DONT_CARE)
        a->writes = true;
}

/* The two generations of vkCreateRenderPass differ in the names of their structs, and in that the
 * newer one may give stencil a layout of its own; that is needed only to find read-only layouts. */
#define DEFINE_PASS(suffix, CreateInfo, Subpass, Reference)                                        \
    static void refer##suffix(struct layer_pass *pass, bool *used, const Reference *references,    \
                              uint32_t count, bool writes)                                         \
    {                                                                                              \
        for (uint32_t i = 0; references && i < count; i++) {                                       \
            uint32_t n = references[i].attachment;                                                 \
            if (n >= pass->count)                                                                  \
                continue;                                                                          \
            used[n] = true;                                                                        \
            if (writes && !layer_layout_is_read_only(references[i].layout, 0))                     \
                pass->attachments[n].writes = true;                                                \
            if (!writes)                                                                           \
                pass->attachments[n].reads = true;                                                 \
        }                                                                                          \
    }                                                                                              \
                                                                                                   \
    static struct layer_pass *pass_of##suffix(const CreateInfo *info)                              \
    {                                                                                              \
        uint32_t count = info->attachmentCount;                                                    \
        struct layer_pass *pass = calloc(1, sizeof(*pass) + count * sizeof(pass->attachments[0])); \
        bool *used = calloc(count + 1, sizeof(*used));                                             \
        if (!pass || !used) {                                                                      \
            free(pass);                                                                            \
            free(used);                                                                            \
            return NULL;                                                                           \
        }                                                                                          \
        pass->count = count;                                                                       \
        for (uint32_t i = 0; i < info->subpassCount; i++) {                                        \
            const Subpass *s = &info->pSubpasses[i];                                               \
            refer##suffix(pass, used, s->pColorAttachments, s->colorAttachmentCount, true);        \
            refer##suffix(pass, used, s->pResolveAttachments, s->colorAttachmentCount, true);      \
            refer##suffix(pass, used, s->pDepthStencilAttachment, 1, true);                        \
            refer##suffix(pass, used, s->pInputAttachments, s->inputAttachmentCount, false);       \
        }                                                                                          \
        for (uint32_t i = 0; i < count; i++) {                                                     \
            struct layer_attachment *a = &pass->attachments[i];                                    \
            a->initial = info->pAttachments[i].initialLayout;                                      \
            a->final = info->pAttachments[i].finalLayout;                                          \
            VkFormat format = info->pAttachments[i].format;                                        \
            bool stencil = layer_format_has_stencil(format);                                       \
            if (used[i] && (!stencil || layer_format_has_depth(format)))                           \
                attachment_load(a, info->pAttachments[i].loadOp);                                  \
            if (used[i] && stencil)                                                                \
                attachment_load(a, info->pAttachments[i].stencilLoadOp);                           \
            a->writes |= a->initial != a->final;                                                   \
        }                                                                                          \
        free(used);                                                                                \
        return pass;                                                                               \
    }

DEFINE_PASS(1, VkRenderPassCreateInfo, VkSubpassDescription, VkAttachmentReference)
DEFINE_PASS(2, VkRenderPassCreateInfo2, VkSubpassDescription2, VkAttachmentReference2)

VKAPI_ATTR VkResult VKAPI_CALL
layer_access_vkCreateRenderPass(VkDevice device, const VkRenderPassCreateInfo *info,
                                const VkAllocationCallbacks *allocator, VkRenderPass *handle)
{
    struct layer_device *d = layer_device_of(device);
    VkResult result = d->vk.vkCreateRenderPass(device, info, allocator, handle);
    if (result == VK_SUCCESS && d->access)
        map_keep(d->access, &d->access->passes, (uint64_t)*handle, pass_of1(info));
    return result;
}

VKAPI_ATTR VkResult VKAPI_CALL
layer_access_vkCreateRenderPass2(VkDevice device, const VkRenderPassCreateInfo2 *info,
                                 const VkAllocationCallbacks *allocator, VkRenderPass *handle)
{
    struct layer_device *d = layer_device_of(device);
    VkResult result = d->vk.vkCreateRenderPass2(device, info, allocator, handle);
    if (result == VK_SUCCESS && d->access)
        map_keep(d->access, &d->access->passes, (uint64_t)*handle, pass_of2(info));
    return result;
}

VKAPI_ATTR void VKAPI_CALL layer_access_vkDestroyRenderPass(VkDevice device, VkRenderPass pass,
                                                            const VkAllocationCallbacks *allocator)
{
    struct layer_device *d = layer_device_of(device);
    if (d->access)
        map_drop(&d->access->passes, (uint64_t)pass);
    d->vk.vkDestroyRenderPass(device, pass, allocator);
}

/* ------------------------------------------------------------------------------------- Names -- */

static void object_name(struct layer_device *d, bool buffer, bool image, bool queue,
                        uint64_t handle, const char *text)
{
    if (!d->access)
        return;
    if (buffer)
        bf_access_buffer_name(d->access->check, (VkBuffer)handle, text);
    else if (image)
        bf_access_image_name(d->access->check, (VkImage)handle, text);
    else if (queue && text && *text)
        bf_access_vkqueue_name(d->access->check, (VkQueue)(uintptr_t)handle, text);
}

VKAPI_ATTR VkResult VKAPI_CALL layer_access_vkSetDebugUtilsObjectNameEXT(
    VkDevice device, const VkDebugUtilsObjectNameInfoEXT *info)
{
    object_name(layer_device_of(device), info->objectType == VK_OBJECT_TYPE_BUFFER,
                info->objectType == VK_OBJECT_TYPE_IMAGE, info->objectType == VK_OBJECT_TYPE_QUEUE,
                info->objectHandle, info->pObjectName);
    return layer_vkSetDebugUtilsObjectNameEXT(device, info);
}

VKAPI_ATTR VkResult VKAPI_CALL layer_access_vkDebugMarkerSetObjectNameEXT(
    VkDevice device, const VkDebugMarkerObjectNameInfoEXT *info)
{
    object_name(layer_device_of(device), info->objectType == VK_DEBUG_REPORT_OBJECT_TYPE_BUFFER_EXT,
                info->objectType == VK_DEBUG_REPORT_OBJECT_TYPE_IMAGE_EXT,
                info->objectType == VK_DEBUG_REPORT_OBJECT_TYPE_QUEUE_EXT, info->object,
                info->pObjectName);
    return layer_vkDebugMarkerSetObjectNameEXT(device, info);
}
