/* SPDX-License-Identifier: MIT */
/*
 * The functions of the next layer or driver that the layer calls. A command may have two names, of
 * core and of an extension. The core name is called where the API version that instance and device
 * both support has the command, and the extension's elsewhere: both functions may exist, but to
 * call the wrong one is invalid usage, which a validation layer below would report.
 */
#include "layer/layer.h"

#include <string.h>

static PFN_vkVoidFunction either(PFN_vkVoidFunction first, PFN_vkVoidFunction second)
{
    return first ? first : second;
}

void layer_instance_calls_load(struct layer_instance *i)
{
#define LOAD(name, other, promoted)                                                                \
    {                                                                                              \
        PFN_vkVoidFunction core = i->next(i->handle, #name);                                       \
        PFN_vkVoidFunction extension = other ? i->next(i->handle, other) : NULL;                   \
        for (uint32_t v = 0; v < LAYER_VERSIONS; v++) {                                            \
            bool is_core = VK_MAKE_API_VERSION(0, 1, v, 0) >= promoted;                            \
            i->calls[v].name =                                                                     \
                (PFN_##name)(is_core ? either(core, extension) : either(extension, core));         \
        }                                                                                          \
    }
    LAYER_INSTANCE_CALLS(LOAD)
#undef LOAD
    i->vk = &i->calls[LAYER_VERSIONS - 1];
    i->next_physical =
        (PFN_GetPhysicalDeviceProcAddr)i->next(i->handle, "vk_layerGetPhysicalDeviceProcAddr");
}

const struct layer_instance_calls *layer_instance_calls_of(const struct layer_instance *i,
                                                           uint32_t api_version)
{
    uint32_t minor = VK_API_VERSION_MINOR(api_version);
    bool newest = VK_API_VERSION_MAJOR(api_version) > 1 || minor >= LAYER_VERSIONS;
    return &i->calls[newest ? LAYER_VERSIONS - 1 : minor];
}

/*
 * Commands that neither driver nor lower layers have. Programs can call the layer's functions for
 * them all the same: the loader hands out those of VK_EXT_debug_utils from the instance, whether it
 * is enabled or not, and upper layers may ask for any. Commands that set names, tags or labels then
 * succeed and do nothing, as they do without the layer; others return
 * VK_ERROR_EXTENSION_NOT_PRESENT if they return a VkResult. In C's calling conventions the caller
 * removes the arguments, so one function can stand for commands of all types.
 */
static VKAPI_ATTR VkResult VKAPI_CALL do_nothing(void)
{
    return VK_SUCCESS;
}

static VKAPI_ATTR VkResult VKAPI_CALL call_refuse(void)
{
    return VK_ERROR_EXTENSION_NOT_PRESENT;
}

static PFN_vkVoidFunction missing(const char *name)
{
    return (PFN_vkVoidFunction)(strstr(name, "DebugUtils") ? do_nothing : call_refuse);
}

/* Where the device has a command under the core name, that is used: the function under the
 * extension's name is the same. No entry is left NULL. */
void layer_device_calls_load(struct layer_device *d)
{
#define LOAD(name, other, promoted)                                                                \
    d->more.name = (PFN_##name)either(                                                             \
        either(d->next(d->handle, #name), other ? d->next(d->handle, other) : NULL),               \
        missing(#name));
    LAYER_DEVICE_CALLS(LOAD)
#undef LOAD
    PFN_vkVoidFunction functions[sizeof(d->vk) / sizeof(PFN_vkVoidFunction)];
    memcpy(functions, &d->vk, sizeof(d->vk));
    for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++)
        functions[i] = either(functions[i], missing(""));
    memcpy(&d->vk, functions, sizeof(d->vk));
}

bool layer_device_has(PFN_vkVoidFunction function)
{
    return function != missing("");
}
