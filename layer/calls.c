/*
 * The functions below that the layer calls. A command that has two names is called by the one that
 * instance and device have in common, the core's since the version that took it over: the other may be
 * there too, but calling it is an error, and the validation layer below says so.
 */
#include "layer/layer.h"

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

/* The core's name where the device has it: the extension's is the same function. */
void layer_device_calls_load(struct layer_device *d)
{
#define LOAD(name, other, promoted)                                                                \
    d->more.name =                                                                                 \
        (PFN_##name)either(d->next(d->handle, #name), other ? d->next(d->handle, other) : NULL);
    LAYER_DEVICE_CALLS(LOAD)
#undef LOAD
}
