/* SPDX-License-Identifier: MIT */
/* The specialiser of a device: creation, destruction, and unknown commands that the program asks
 * for. */
#include "layer/specialize/specialize.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/message.h"
#include "specialize/isolate/isolate.h"
#include "specialize/isolate/origin.h"
#include "specialize/recording.h"
#include "specialize/shader/shader.h"

/* Identifies the device in other processes and later runs. If the driver can't be asked it is zero,
 * and no helper process finds the device. */
struct identity {
    VkPhysicalDeviceProperties2 properties;
    VkPhysicalDeviceIDProperties id;
    VkPhysicalDeviceDriverProperties driver;
};

static void find_identity(const struct layer_physical *p, struct identity *who)
{
    *who = (struct identity){
        .properties = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2, .pNext = &who->id},
        .id = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_ID_PROPERTIES},
        .driver = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DRIVER_PROPERTIES},
    };
    if (p->driver_properties)
        who->id.pNext = &who->driver;
    if (p->vk->vkGetPhysicalDeviceProperties2 && p->api_version >= VK_API_VERSION_1_1)
        p->vk->vkGetPhysicalDeviceProperties2(p->handle, &who->properties);
    else
        p->vk->vkGetPhysicalDeviceProperties(p->handle, &who->properties.properties);
}

static struct bf_archive_driver describe_driver(const struct identity *who)
{
    const VkPhysicalDeviceProperties *properties = &who->properties.properties;
    struct bf_archive_driver driver = {
        .vendor_id = properties->vendorID,
        .device_id = properties->deviceID,
        .driver_version = properties->driverVersion,
        .api_version = properties->apiVersion,
        .device_name = properties->deviceName,
        .driver_id = (uint32_t)who->driver.driverID,
        .driver_name = who->driver.driverName,
        .driver_info = who->driver.driverInfo,
    };
    memcpy(driver.cache_uuid, properties->pipelineCacheUUID, sizeof(driver.cache_uuid));
    memcpy(driver.driver_uuid, who->id.driverUUID, sizeof(driver.driver_uuid));
    memcpy(driver.device_uuid, who->id.deviceUUID, sizeof(driver.device_uuid));
    return driver;
}

void layer_specialize_instance_create(struct layer_instance *i, const VkInstanceCreateInfo *info)
{
    if (i->settings.specialize != BF_SPECIALIZE_OFF)
        i->origin = bf_isolate_origin_create(info, environ);
}

void layer_specialize_instance_destroy(struct layer_instance *i)
{
    bf_isolate_origin_destroy(i->origin);
}

static bool enables(const VkDeviceCreateInfo *info, const char *extension)
{
    bool found = false;
    for (uint32_t i = 0; i < info->enabledExtensionCount && !found; i++)
        found = strcmp(info->ppEnabledExtensionNames[i], extension) == 0;
    return found;
}

/* What modules may ask of the device's floats (bf_specializer_info.kept_floats). */
static uint8_t find_kept_floats(const struct layer_physical *p, const VkDeviceCreateInfo *made)
{
    VkPhysicalDeviceFloatControlsProperties floats = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FLOAT_CONTROLS_PROPERTIES,
    };
    VkPhysicalDeviceProperties2 properties = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2,
        .pNext = &floats,
    };
    if (!p->vk->vkGetPhysicalDeviceProperties2 || p->api_version < VK_API_VERSION_1_1 ||
        (p->api_version < VK_API_VERSION_1_2 &&
         !enables(made, VK_KHR_SHADER_FLOAT_CONTROLS_EXTENSION_NAME)))
        return 0;
    p->vk->vkGetPhysicalDeviceProperties2(p->handle, &properties);
    return (uint8_t)((floats.shaderSignedZeroInfNanPreserveFloat16 ? BF_FLOAT_16 : 0) |
                     (floats.shaderSignedZeroInfNanPreserveFloat32 ? BF_FLOAT_32 : 0) |
                     (floats.shaderSignedZeroInfNanPreserveFloat64 ? BF_FLOAT_64 : 0));
}

/* Can a check be trusted on this device (IS-7)? */
static bool can_run_dry(const struct layer_physical *p)
{
    VkPhysicalDeviceFeatures features;
    p->vk->vkGetPhysicalDeviceFeatures(p->handle, &features);
    return features.robustBufferAccess;
}

/* Whether it is on, or would be, because nobody has said anything of it: nobody will miss it. */
static bool is_unasked(const struct bf_settings *settings)
{
    return bf_settings_source(settings, BF_KEY_SPECIALIZE) == BF_SETTING_DEFAULT &&
           !settings->report;
}

static bool is_wanted(const struct layer_device *d)
{
    const struct bf_settings *settings = &d->instance->settings;
    if (settings->specialize != BF_SPECIALIZE_AUTO)
        return settings->specialize != BF_SPECIALIZE_OFF;
    const char *why = settings->trace ? "a trace shows the program as it is"
                      : d->access     ? "the check 'access' looks at the same commands"
                      : !can_run_dry(d->physical)
                          ? "it has no robustBufferAccess, without which no check can be trusted"
                          : NULL;
    if (why && !is_unasked(settings))
        bf_message(settings->report ? BF_MESSAGE_WARNING : BF_MESSAGE_INFO,
                   "specialize=auto is off for this device: %s", why);
    return !why;
}

void layer_specialize_create(struct layer_device *d, const VkDeviceCreateInfo *made)
{
    const struct bf_settings *settings = &d->instance->settings;
    const struct bf_isolate_origin *origin = d->instance->origin;
    if (!origin || !is_wanted(d))
        return;
    if (d->access) {
        bf_message(BF_MESSAGE_WARNING,
                   "specialize is off: the check 'access' looks at the same commands");
        return;
    }
    struct bf_isolate_info isolate = {
        .api_version = d->physical->api_version,
        .extension_count = made->enabledExtensionCount,
        .extensions = made->ppEnabledExtensionNames,
        .features = made->pNext,
        .enabled_features = made->pEnabledFeatures,
        .application = origin->application.sType ? &origin->application : NULL,
        .instance_flags = origin->flags,
        .instance_extension_count = origin->extension_count,
        .instance_extensions = origin->extensions,
        .environment = origin->environment,
        .name = origin->name,
        .robust = d->robust || d->physical->checks_bounds,
        .unasked = is_unasked(settings),
    };
    struct identity who;
    find_identity(d->physical, &who);
    memcpy(isolate.device_uuid, who.id.deviceUUID, sizeof(isolate.device_uuid));
    memcpy(isolate.driver_uuid, who.id.driverUUID, sizeof(isolate.driver_uuid));
    memcpy(isolate.cache_uuid, who.properties.properties.pipelineCacheUUID,
           sizeof(isolate.cache_uuid));
    isolate.driver_version = who.properties.properties.driverVersion;
    isolate.driver_id = (uint32_t)who.driver.driverID;
    isolate.driver_info = d->physical->driver_properties ? who.driver.driverInfo : NULL;
    struct bf_specializer_info info = {
        .device = d->runtime,
        .isolate = &isolate,
        .folder = settings->cache ? settings->cache : settings->user_cache,
        .report = settings->report,
        .memory = (uint64_t)settings->specialize_memory << 20,
        .driver = describe_driver(&who),
        .api_version = d->physical->api_version,
        .kept_floats = find_kept_floats(d->physical, made),
    };
    struct layer_specializer *s = calloc(1, sizeof(*s));
    if (!s || bf_specializer_create(&info, &s->model) != VK_SUCCESS)
        goto fail; /* the function that failed has written a line; the program runs unspecialised */
    if (!layer_recorder_create(s))
        goto fail_recorder;
    d->specializer = s;
    layer_specialize_observe(d);
    return;

fail_recorder:
    bf_specializer_destroy(s->model);
fail:
    free(s);
}

void layer_specialize_destroy(struct layer_device *d)
{
    struct layer_specializer *s = d->specializer;
    if (!s)
        return;
    bf_scheduler_observe_executes(d->scheduler, NULL);
    d->specializer = NULL;
    if (bf_specializer_abandon(s->model))
        return;
    layer_recorder_destroy(s);
    bf_specializer_destroy(s->model);
    free(s);
}

/* Commands whose names begin like this record work, or set state that work uses. */
static const char *const telling[] = {
    "vkCmdDraw",         "vkCmdDispatch",    "vkCmdPushConstants",  "vkCmdPushData",
    "vkCmdBindPipeline", "vkCmdBindShaders", "vkCmdExecute",        "vkCmdPreprocess",
    "vkCmdBeginQuery",   "vkCmdEndQuery",    "vkCmdBeginTransform", "vkCmdEndTransform",
};

/* Except for these, which have bind points of their own. */
static const char *const harmless[] = {"vkCmdDispatchGraph", "vkCmdDispatchDataGraph"};

static bool begins_with_one(const char *name, const char *const *beginnings, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (strncmp(name, beginnings[i], strlen(beginnings[i])) == 0)
            return true;
    }
    return false;
}

void layer_specialize_asked(struct layer_device *d, const char *name)
{
    if (!begins_with_one(name, telling, sizeof(telling) / sizeof(telling[0])) ||
        begins_with_one(name, harmless, sizeof(harmless) / sizeof(harmless[0])))
        return;
    struct bf_recorder *recorder = bf_specializer_recorder(d->specializer->model);
    if (!atomic_exchange(&recorder->stopped, true))
        bf_message(BF_MESSAGE_WARNING, "specialize: no variant is used: %s is not known to Belfry",
                   name);
}
