/* SPDX-License-Identifier: MIT */
/*
 * The functions below that the layer calls. A command that has two names is called by the one that
 * instance and device have in common, the core's since the version that took it over: the other may
 * be there too, but calling it is an error, and the validation layer below says so.
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
 * Commands that nobody below has. Programs reach our stand-ins for them nevertheless: the loader
 * answers for the commands of VK_EXT_debug_utils by the instance, enabled or not, and layers above
 * may ask for any. Names, tags and labels then succeed and do nothing, as without the layer; the
 * others say what is missing, those with a result. Arguments are the caller's to take away, so one
 * function does for all types.
 */
static VKAPI_ATTR VkResult VKAPI_CALL do_nothing(void)
{
    return VK_SUCCESS;
}

static VKAPI_ATTR VkResult VKAPI_CALL refuse(void)
{
    return VK_ERROR_EXTENSION_NOT_PRESENT;
}

static PFN_vkVoidFunction missing(const char *name)
{
    return (PFN_vkVoidFunction)(strstr(name, "DebugUtils") ? do_nothing : refuse);
}

/* The core's name where the device has it: the extension's is the same function. Nothing is
 * NULL. */
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
