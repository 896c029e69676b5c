/* SPDX-License-Identifier: MIT */
/* Queries about queue families: programs ask about shown families, and are answered for the real
 * ones behind them. */
#include "layer/layer.h"

#include <stdlib.h>
#include <string.h>

#include "layer/chain.h"
#include "base/message.h"

/* Sets the members in which a shown family may differ from its real one. */
static void family_apply_narrowing(const struct layer_physical *p, uint32_t shown,
                                   VkQueueFamilyProperties *target)
{
    target->queueFlags = p->map.shown[shown].flags;
    target->queueCount = p->map.shown[shown].count;
}

static uint32_t shown_count(const struct layer_physical *p)
{
    return bf_family_map_is_identity(&p->map) ? p->family_count : p->map.shown_count;
}

VKAPI_ATTR void VKAPI_CALL layer_vkGetPhysicalDeviceQueueFamilyProperties(
    VkPhysicalDevice physical, uint32_t *count, VkQueueFamilyProperties *properties)
{
    struct layer_physical *p = layer_physical_of(physical);
    if (!p) {
        layer_instance_of(physical)->vk->vkGetPhysicalDeviceQueueFamilyProperties(physical, count,
                                                                                  properties);
        return;
    }
    uint32_t available = shown_count(p);
    if (!properties) {
        *count = available;
        return;
    }
    if (*count > available)
        *count = available;
    for (uint32_t i = 0; i < *count; i++) {
        properties[i] = p->families[bf_family_real(&p->map, i)];
        if (i < p->map.shown_count)
            family_apply_narrowing(p, i, &properties[i]);
    }
}

/* Fills the entry of an appended family. The driver fills the structs chained to each entry, so
 * those of an appended family are passed to it in the entry of the real family behind it. */
static void fill_appended(struct layer_physical *p, uint32_t shown,
                          VkQueueFamilyProperties2 *target)
{
    VkQueueFamilyProperties2 *all = calloc(p->family_count, sizeof(*all));
    uint32_t host = bf_family_real(&p->map, shown), count = p->family_count;
    if (all) {
        for (uint32_t f = 0; f < count; f++)
            all[f].sType = VK_STRUCTURE_TYPE_QUEUE_FAMILY_PROPERTIES_2;
        all[host].pNext = target->pNext;
        p->vk->vkGetPhysicalDeviceQueueFamilyProperties2(p->handle, &count, all);
        free(all);
    }
    target->queueFamilyProperties = p->families[host];
}

/* VkQueueFamilyOwnershipTransferPropertiesKHR of VK_KHR_maintenance9: a mask of families to which
 * an image may go without a transfer. What holds of a real family holds of those on it, and between
 * families on one real family nothing has to be transferred. */
static void translate_transfers(const struct bf_family_map *map, uint32_t family, const void *chain)
{
    struct transfers {
        VkStructureType sType;
        void *pNext;
        uint32_t mask;
    } *t = (void *)layer_chain_find(chain, (VkStructureType)1000584002);
    for (uint32_t f = 0; t && f < map->shown_count; f++) {
        if (f != family && (bf_family_same_real(map, f, family) ||
                            (t->mask & UINT32_C(1) << bf_family_real(map, f))))
            t->mask |= UINT32_C(1) << f;
    }
}

VKAPI_ATTR void VKAPI_CALL layer_vkGetPhysicalDeviceQueueFamilyProperties2(
    VkPhysicalDevice physical, uint32_t *count, VkQueueFamilyProperties2 *properties)
{
    struct layer_instance *i = layer_instance_of(physical);
    struct layer_physical *p = layer_physical_of(physical);
    if (!p) {
        i->vk->vkGetPhysicalDeviceQueueFamilyProperties2(physical, count, properties);
        return;
    }
    uint32_t available = shown_count(p);
    if (!properties) {
        *count = available;
        return;
    }
    if (*count > available)
        *count = available;
    uint32_t real = *count < p->family_count ? *count : p->family_count;
    p->vk->vkGetPhysicalDeviceQueueFamilyProperties2(physical, &real, properties);
    for (uint32_t f = p->family_count; f < *count; f++)
        fill_appended(p, f, &properties[f]);
    for (uint32_t f = 0; f < *count && f < p->map.shown_count; f++) {
        family_apply_narrowing(p, f, &properties[f].queueFamilyProperties);
        translate_transfers(&p->map, f, properties[f].pNext);
    }
}

static uint32_t real_of(VkPhysicalDevice physical, uint32_t family)
{
    struct layer_physical *p = layer_physical_of(physical);
    return p ? bf_family_real(&p->map, family) : family;
}

VKAPI_ATTR VkResult VKAPI_CALL layer_vkGetPhysicalDeviceSurfaceSupportKHR(VkPhysicalDevice physical,
                                                                          uint32_t family,
                                                                          VkSurfaceKHR surface,
                                                                          VkBool32 *supported)
{
    struct layer_instance *i = layer_instance_of(physical);
    return i->vk->vkGetPhysicalDeviceSurfaceSupportKHR(physical, real_of(physical, family), surface,
                                                       supported);
}

#define PRESENTATION_SUPPORT(command)                                                              \
    VKAPI_ATTR VkBool32 VKAPI_CALL layer_##command(VkPhysicalDevice physical, uint32_t family,     \
                                                   void *display, uintptr_t visual)                \
    {                                                                                              \
        return layer_instance_of(physical)->vk->command(physical, real_of(physical, family),       \
                                                        display, visual);                          \
    }

/* The commands for Wayland and DirectFB have no visual: with C's calling conventions on all
 * platforms that have those, passing one argument too many is harmless. */
PRESENTATION_SUPPORT(vkGetPhysicalDeviceXcbPresentationSupportKHR)
PRESENTATION_SUPPORT(vkGetPhysicalDeviceXlibPresentationSupportKHR)
PRESENTATION_SUPPORT(vkGetPhysicalDeviceWaylandPresentationSupportKHR)
PRESENTATION_SUPPORT(vkGetPhysicalDeviceDirectFBPresentationSupportEXT)

/* Queries by the index alone. Not all of them have four further arguments: see above. */
#define FAMILY_QUERY(command)                                                                      \
    VKAPI_ATTR VkResult VKAPI_CALL layer_##command(VkPhysicalDevice physical, uint32_t family,     \
                                                   void *a, void *b, void *c, void *d)             \
    {                                                                                              \
        return layer_instance_of(physical)->vk->command(physical, real_of(physical, family), a, b, \
                                                        c, d);                                     \
    }

FAMILY_QUERY(vkEnumeratePhysicalDeviceQueueFamilyPerformanceCountersByRegionARM)
FAMILY_QUERY(vkGetPhysicalDeviceQueueFamilyDataGraphPropertiesARM)
FAMILY_QUERY(vkGetPhysicalDeviceQueueFamilyDataGraphEngineOperationPropertiesARM)
FAMILY_QUERY(vkGetPhysicalDeviceQueueFamilyDataGraphOpticalFlowImageFormatsARM)

VKAPI_ATTR void VKAPI_CALL
layer_vkGetPhysicalDeviceQueueFamilyDataGraphProcessingEnginePropertiesARM(
    VkPhysicalDevice physical, const void *question, void *out)
{
    /* VkPhysicalDeviceQueueFamilyDataGraphProcessingEngineInfoARM */
    struct {
        VkStructureType sType;
        const void *pNext;
        uint32_t family;
        uint32_t engine;
    } copy;
    memcpy(&copy, question, sizeof(copy));
    copy.family = real_of(physical, copy.family);
    layer_instance_of(physical)
        ->vk->vkGetPhysicalDeviceQueueFamilyDataGraphProcessingEnginePropertiesARM(physical, &copy,
                                                                                   out);
}

VKAPI_ATTR VkResult VKAPI_CALL
layer_vkEnumeratePhysicalDeviceQueueFamilyPerformanceQueryCountersKHR(
    VkPhysicalDevice physical, uint32_t family, uint32_t *count, VkPerformanceCounterKHR *counters,
    VkPerformanceCounterDescriptionKHR *descriptions)
{
    struct layer_instance *i = layer_instance_of(physical);
    return i->vk->vkEnumeratePhysicalDeviceQueueFamilyPerformanceQueryCountersKHR(
        physical, real_of(physical, family), count, counters, descriptions);
}

VKAPI_ATTR void VKAPI_CALL layer_vkGetPhysicalDeviceQueueFamilyPerformanceQueryPassesKHR(
    VkPhysicalDevice physical, const VkQueryPoolPerformanceCreateInfoKHR *info, uint32_t *passes)
{
    struct layer_instance *i = layer_instance_of(physical);
    VkQueryPoolPerformanceCreateInfoKHR copy = *info;
    copy.queueFamilyIndex = real_of(physical, info->queueFamilyIndex);
    i->vk->vkGetPhysicalDeviceQueueFamilyPerformanceQueryPassesKHR(physical, &copy, passes);
}

/* VkPhysicalDeviceImageDrmFormatModifierInfoEXT in the chain names the families that share the
 * image. */
VKAPI_ATTR VkResult VKAPI_CALL layer_vkGetPhysicalDeviceImageFormatProperties2(
    VkPhysicalDevice physical, const VkPhysicalDeviceImageFormatInfo2 *info,
    VkImageFormatProperties2 *properties)
{
    struct layer_instance *i = layer_instance_of(physical);
    struct layer_physical *p = layer_physical_of(physical);
    PFN_vkGetPhysicalDeviceImageFormatProperties2 next =
        (p ? p->vk : i->vk)->vkGetPhysicalDeviceImageFormatProperties2;
    const VkPhysicalDeviceImageDrmFormatModifierInfoEXT *drm = layer_chain_find(
        info->pNext, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_IMAGE_DRM_FORMAT_MODIFIER_INFO_EXT);
    if (!p || !drm || drm->sharingMode != VK_SHARING_MODE_CONCURRENT ||
        !layer_has_appended(&p->map, drm->queueFamilyIndexCount, drm->pQueueFamilyIndices))
        return next(physical, info, properties);

    uint32_t families[BF_MAX_FAMILIES];
    uint32_t count = layer_real_families(&p->map, drm->queueFamilyIndexCount,
                                         drm->pQueueFamilyIndices, families);
    struct sharing {
        VkSharingMode mode;
        uint32_t count;
        const uint32_t *families;
    } real = {count > 1 ? VK_SHARING_MODE_CONCURRENT : VK_SHARING_MODE_EXCLUSIVE, count, families};
    struct layer_chain chain;
    VkStructureType unknown;
    layer_chain_begin(&chain, info->pNext);
    VkResult result = layer_chain_set(
        &chain, drm, offsetof(VkPhysicalDeviceImageDrmFormatModifierInfoEXT, sharingMode), &real,
        sizeof(real), &unknown);
    if (result == VK_ERROR_FEATURE_NOT_PRESENT) {
        bf_message(BF_MESSAGE_WARNING,
                   "vkGetPhysicalDeviceImageFormatProperties2: a struct of type %d in the chain is "
                   "not known, and the families of the one behind it can't be translated",
                   (int)unknown);
        result = VK_ERROR_FORMAT_NOT_SUPPORTED;
    }
    if (result == VK_SUCCESS) {
        VkPhysicalDeviceImageFormatInfo2 copy = *info;
        copy.pNext = chain.head;
        result = next(physical, &copy, properties);
    }
    layer_chain_end(&chain);
    return result;
}

bool layer_has_appended(const struct bf_family_map *map, uint32_t count, const uint32_t *shown)
{
    for (uint32_t i = 0; i < count; i++) {
        if (bf_family_real(map, shown[i]) != shown[i])
            return true;
    }
    return false;
}

uint32_t layer_real_families(const struct bf_family_map *map, uint32_t count, const uint32_t *shown,
                             uint32_t real[BF_MAX_FAMILIES])
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < count && kept < BF_MAX_FAMILIES; i++) {
        uint32_t family = bf_family_real(map, shown[i]);
        bool known = false;
        for (uint32_t k = 0; k < kept; k++)
            known |= real[k] == family;
        if (!known)
            real[kept++] = family;
    }
    return kept;
}
