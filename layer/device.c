/* SPDX-License-Identifier: MIT */
/*
 * Devices: the program's VkDeviceCreateInfo is copied, and what the scheduler needs is added to the
 * copy.
 *
 *  DV-1  What is added is valid beside what the program asks for. Where something is not, Belfry
 *        goes without: the core's buffer device addresses beside VK_EXT_buffer_device_address
 *        (VUID-VkDeviceCreateInfo-pNext-04748).
 *
 *  DV-2  What is shown can be had. A device of several physical devices isn't scheduled, and has
 *        what its driver has; so where Belfry shows more, each physical device is alone in its
 *        group (instance.c).
 *
 * Proven by tests/layer (create.c).
 */
#include "layer/layer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "layer/access/access.h"
#include "layer/chain.h"
#include "layer/commands.h"
#include "gpu/dispatch.h"
#include "device/placement.h"
#include "device/tell.h"
#include "trace/session.h"
#include "base/message.h"
#include "layer/specialize/interface.h"

/* A VkDeviceCreateInfo with what was added to the program's, and the memory it uses. */
struct request {
    VkDeviceCreateInfo info;
    struct bf_placement placement;
    const char **extensions;
    struct layer_chain chain; /* the program's chain, with features switched on in it */
    VkPhysicalDeviceTimelineSemaphoreFeatures timeline;
    VkPhysicalDeviceSynchronization2Features sync2;
    VkPhysicalDeviceHostQueryResetFeatures reset;
    VkPhysicalDeviceBufferDeviceAddressFeatures addresses;
    VkPhysicalDeviceFaultFeaturesEXT fault;
    struct layer_internal_queues internal; /* sType 0: none was added */
    VkPhysicalDeviceFeatures features;
    bool names_internal; /* and its extension was */
    bool host_query_reset, calibrated;
    bool buffer_addresses, shader_int64, host_memory, device_fault;
    unsigned added; /* enum layer_added */
    /* Of reserved VkQueues (PL-5), as bits of 'reserved_priorities': those that are wanted,
     * those in the request, those that have been in one that was refused; such requests, by what
     * they reserved, and the last set that was tried. */
    unsigned wanted, reserved, refused, tried;
    const unsigned *set;
    const char *priority; /* the extension added for them, or NULL */
};

static void request_finish(struct request *r)
{
    bf_placement_finish(&r->placement);
    layer_chain_end(&r->chain);
    free(r->extensions);
}

static VkLayerDeviceCreateInfo *find_function(const VkDeviceCreateInfo *info,
                                              VkLayerFunction function)
{
    for (const VkBaseInStructure *s = info->pNext; s; s = s->pNext) {
        VkLayerDeviceCreateInfo *link = (VkLayerDeviceCreateInfo *)s;
        if (s->sType == VK_STRUCTURE_TYPE_LOADER_DEVICE_CREATE_INFO && link->function == function)
            return link;
    }
    return NULL;
}

/* A feature that the scheduler needs, and the two structs that may hold it in a chain: that of a
 * core version ('core') and the feature's own ('own'). */
struct feature {
    VkStructureType core, own;
    size_t core_offset, own_offset;
    bool core_counts; /* the program's API version has the core struct */
};

/* The struct of the chain that holds the feature, with the feature's address in *value; NULL:
 * none. */
static void *feature_struct(const void *chain, const struct feature *f, VkBool32 **value)
{
    char *s = f->core_counts ? (char *)layer_chain_find(chain, f->core) : NULL;
    if (s) {
        *value = (VkBool32 *)(s + f->core_offset);
        return s;
    }
    s = (char *)layer_chain_find(chain, f->own);
    *value = s ? (VkBool32 *)(s + f->own_offset) : NULL;
    return s;
}

/* Switches the feature on in the chain; if no struct holds it, 'own' is put in front.
 * VK_INCOMPLETE: the feature is optional, and the chain can't be changed; it stays off. */
static VkResult feature_enable(struct request *r, const struct feature *f, VkBaseOutStructure *own,
                               bool optional)
{
    VkBool32 *value;
    char *holder = feature_struct(r->info.pNext, f, &value);
    if (!holder) {
        own->sType = f->own;
        own->pNext = (VkBaseOutStructure *)r->info.pNext;
        *(VkBool32 *)((char *)own + f->own_offset) = VK_TRUE;
        r->info.pNext = own;
        return VK_SUCCESS;
    }
    if (*value)
        return VK_SUCCESS;
    const VkBool32 on = VK_TRUE;
    VkStructureType unknown;
    VkResult result = layer_chain_set(&r->chain, holder, (size_t)((char *)value - holder), &on,
                                      sizeof(on), &unknown);
    r->info.pNext = r->chain.head;
    if (result == VK_ERROR_FEATURE_NOT_PRESENT && optional)
        return VK_INCOMPLETE;
    if (result == VK_ERROR_FEATURE_NOT_PRESENT)
        bf_message(BF_MESSAGE_WARNING,
                   "vkCreateDevice: a struct of type %d in the chain is not known and can't be "
                   "copied, and the one behind it can't be changed in place",
                   (int)unknown);
    return result;
}

/* As many as can be added to the program's own: timeline semaphores, synchronization2, device
 * fault, host query reset, calibrated timestamps, external memory host, external semaphore fd,
 * internally synchronized queues, global priorities. */
#define OWN_EXTENSIONS 9

static bool request_has_extension(const struct request *r, const char *name)
{
    for (uint32_t i = 0; i < r->info.enabledExtensionCount; i++) {
        if (strcmp(r->extensions[i], name) == 0)
            return true;
    }
    return false;
}

static void add_extension(struct request *r, const char *name)
{
    if (request_has_extension(r, name))
        return;
    r->extensions[r->info.enabledExtensionCount++] = name;
    r->added |= layer_extension_added(name);
}

/* To be called of one that was added. */
static void remove_extension(struct request *r, const char *name)
{
    uint32_t i = 0;
    while (strcmp(r->extensions[i], name) != 0)
        i++;
    r->extensions[i] = r->extensions[--r->info.enabledExtensionCount];
}

/* A global priority for which a VkQueue is reserved (PL-5), by the setting of that name. */
struct reserved_priority {
    const char *setting;
    VkQueueGlobalPriorityKHR global;
    BfCommandQueuePriority least;
};
static const struct reserved_priority reserved_priorities[] = {
    {"high_priority", VK_QUEUE_GLOBAL_PRIORITY_HIGH_KHR, BF_COMMAND_QUEUE_PRIORITY_HIGH},
    {"realtime", VK_QUEUE_GLOBAL_PRIORITY_REALTIME_KHR, BF_COMMAND_QUEUE_PRIORITY_GLOBAL_REALTIME},
};
enum { HIGH, REALTIME };

/* Sets of them, which the driver is asked for one after the other until it permits one: there is no
 * other way to know, and its answer may be another one next time. */
static const unsigned reserved_sets[] = {1 << HIGH | 1 << REALTIME, 1 << HIGH, 1 << REALTIME, 0};

static uint32_t reserved_able(const struct layer_physical *p, int which)
{
    return which == REALTIME ? p->realtime_families : p->high_families;
}

/* A family of 'able', of which nobody requests a queue, because a family can have only one global
 * priority, and the program's own queues keep theirs; UINT32_MAX: none. */
static uint32_t find_reserved_family(const struct request *r, const struct layer_physical *p,
                                     uint32_t able)
{
    return able ? bf_placement_spare_family(&r->placement, p->families, p->family_count, able)
                : UINT32_MAX;
}

/* Puts the set into the request, as far as there are families. Who asks for both, and has one
 * family for them, gets REALTIME, which has no other place. */
static void request_reserve(struct request *r, const struct layer_physical *p, unsigned set)
{
    r->reserved = 0;
    while (r->placement.reserved)
        bf_placement_drop_reserved(&r->placement);
    for (int which = REALTIME; which >= HIGH; which--) {
        const struct reserved_priority *priority = &reserved_priorities[which];
        uint32_t family = UINT32_MAX;
        if (set & 1u << which)
            family = find_reserved_family(r, p, reserved_able(p, which));
        if (family == UINT32_MAX)
            continue;
        bf_placement_reserve(&r->placement, family, priority->global, priority->least);
        r->reserved |= 1u << which;
    }
    r->info.queueCreateInfoCount = r->placement.request_count;
    const char *name = p->global_priority_extension;
    if (r->priority && !r->reserved) {
        remove_extension(r, r->priority);
        r->priority = NULL;
    } else if (r->reserved && name &&
               !request_has_extension(r, VK_KHR_GLOBAL_PRIORITY_EXTENSION_NAME) &&
               !request_has_extension(r, VK_EXT_GLOBAL_PRIORITY_EXTENSION_NAME)) {
        r->extensions[r->info.enabledExtensionCount++] = name; /* no commands to hide */
        r->priority = name;
    }
}

/* The settings 'realtime' and 'high_priority': those that there is a family for. */
static void add_reserved(struct request *r, const struct layer_physical *p)
{
    const struct bf_settings *settings = &p->instance->settings;
    const bool asked[] = {[HIGH] = settings->high_priority, [REALTIME] = settings->realtime};
    for (int which = REALTIME; which >= HIGH; which--) {
        const uint32_t able = reserved_able(p, which);
        if (asked[which] && find_reserved_family(r, p, able) != UINT32_MAX)
            r->wanted |= 1u << which;
        else if (asked[which])
            bf_message(BF_MESSAGE_WARNING,
                       able
                           ? "%s: %s has no family of compute queues that the program asked none of"
                           : "%s: %s has no queues of that global priority",
                       reserved_priorities[which].setting, p->name);
    }
    r->set = reserved_sets;
    request_reserve(r, p, r->wanted & *r->set);
}

static const char *reserved_setting(const struct bf_engine_info *engine)
{
    int which = HIGH;
    while (engine->least != (uint32_t)reserved_priorities[which].least)
        which++;
    return reserved_priorities[which].setting;
}

/* The driver didn't permit what is reserved: the next set that is another one. */
static void reserve_otherwise(struct request *r, const struct layer_physical *p)
{
    r->refused |= r->reserved;
    r->tried |= 1u << r->reserved;
    do
        request_reserve(r, p, r->wanted & *++r->set);
    while (r->tried & 1u << r->reserved);
}

/* What is wanted and isn't there. */
static void reserved_tell(const struct request *r, const struct layer_physical *p, VkResult error)
{
    for (int which = REALTIME; which >= HIGH; which--) {
        const unsigned bit = 1u << which;
        if (!(r->wanted & ~r->reserved & bit))
            continue;
        if (r->refused & bit)
            bf_message(BF_MESSAGE_WARNING,
                       "%s: %s permits no queue of that global priority (error %d)",
                       reserved_priorities[which].setting, p->name, error);
        else
            bf_message(BF_MESSAGE_WARNING,
                       "%s: realtime has the one family of compute queues of %s that the program "
                       "asked none of",
                       reserved_priorities[which].setting, p->name);
    }
}

/* has the driver synchronize VkQueues that may be shared. A program that knows the feature,
 * and leaves it off, has its way. Its struct comes to the front of the chain, the last one to do
 * so. */
static void add_internal_queues(struct request *r, const struct layer_physical *p)
{
    const struct layer_internal_queues *own =
        layer_chain_find(r->info.pNext, LAYER_INTERNAL_QUEUES_FEATURES);
    if (!p->internal_queues || !p->instance->settings.synchronized_queues ||
        (own && (!own->on || !request_has_extension(r, LAYER_INTERNAL_QUEUES_EXTENSION))))
        return;
    bf_placement_synchronize(&r->placement);
    if (own || !r->placement.synchronized)
        return;
    r->internal = (struct layer_internal_queues){LAYER_INTERNAL_QUEUES_FEATURES,
                                                 (void *)(uintptr_t)r->info.pNext, VK_TRUE};
    r->info.pNext = &r->internal;
    r->names_internal = !request_has_extension(r, LAYER_INTERNAL_QUEUES_EXTENSION);
    if (r->names_internal) /* no commands to hide */
        r->extensions[r->info.enabledExtensionCount++] = LAYER_INTERNAL_QUEUES_EXTENSION;
}

/* PL-2: spares, and what has the driver synchronize VkQueues. */
static void drop_spares(struct request *r)
{
    bf_placement_drop_spares(&r->placement);
    if (r->internal.sType) {
        r->info.pNext = r->internal.pNext;
        r->internal.sType = 0;
        if (r->names_internal)
            remove_extension(r, LAYER_INTERNAL_QUEUES_EXTENSION);
    }
}

/* Switches shaderInt64 on, a feature of Vulkan 1.0: in VkPhysicalDeviceFeatures2 in the chain, or
 * else in pEnabledFeatures. */
static VkResult enable_int64(struct request *r, const VkDeviceCreateInfo *info)
{
    const VkStructureType type = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2;
    const struct feature int64 = {
        .own = type,
        .own_offset = offsetof(VkPhysicalDeviceFeatures2, features) +
                      offsetof(VkPhysicalDeviceFeatures, shaderInt64),
    };
    if (layer_chain_find(r->info.pNext, type))
        return feature_enable(r, &int64, NULL, true);
    if (info->pEnabledFeatures)
        r->features = *info->pEnabledFeatures;
    r->features.shaderInt64 = VK_TRUE;
    r->info.pEnabledFeatures = &r->features;
    return VK_SUCCESS;
}

static VkResult request_init(struct request *r, struct layer_physical *p,
                             const VkDeviceCreateInfo *info)
{
    *r = (struct request){.info = *info};
    layer_chain_begin(&r->chain, info->pNext);
    VkResult result = bf_placement_init(&p->map, info->queueCreateInfoCount,
                                        info->pQueueCreateInfos, &r->placement);
    if (result != VK_SUCCESS)
        return result;
    if (p->instance->settings.queue_priorities)
        bf_placement_take_priorities(&r->placement, info->queueCreateInfoCount,
                                     info->pQueueCreateInfos);
    if (p->instance->settings.spare_queues)
        bf_placement_add_spares(&p->map, &r->placement);
    r->info.queueCreateInfoCount = r->placement.request_count;
    r->info.pQueueCreateInfos = r->placement.requests;

    for (uint32_t i = 0; i < info->enabledExtensionCount; i++) {
        if (layer_extension_is_hidden(info->ppEnabledExtensionNames[i],
                                      !bf_family_map_is_identity(&p->map))) {
            bf_message(BF_MESSAGE_WARNING,
                       "vkCreateDevice: %s is none that Belfry can schedule beside",
                       info->ppEnabledExtensionNames[i]);
            return VK_ERROR_EXTENSION_NOT_PRESENT;
        }
    }
    r->extensions = malloc((info->enabledExtensionCount + OWN_EXTENSIONS) * sizeof(*r->extensions));
    if (!r->extensions)
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    if (info->enabledExtensionCount)
        memcpy(r->extensions, info->ppEnabledExtensionNames,
               info->enabledExtensionCount * sizeof(*r->extensions));
    r->info.ppEnabledExtensionNames = r->extensions;
    if (p->timeline_by_extension)
        add_extension(r, VK_KHR_TIMELINE_SEMAPHORE_EXTENSION_NAME);
    if (p->sync2_by_extension)
        add_extension(r, VK_KHR_SYNCHRONIZATION_2_EXTENSION_NAME);

    bool core12 = p->api_version >= VK_API_VERSION_1_2,
         core13 = p->api_version >= VK_API_VERSION_1_3;
    const struct feature timeline = {
        VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES,
        VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_TIMELINE_SEMAPHORE_FEATURES,
        offsetof(VkPhysicalDeviceVulkan12Features, timelineSemaphore),
        offsetof(VkPhysicalDeviceTimelineSemaphoreFeatures, timelineSemaphore),
        core12,
    };
    const struct feature sync2 = {
        VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_3_FEATURES,
        VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SYNCHRONIZATION_2_FEATURES,
        offsetof(VkPhysicalDeviceVulkan13Features, synchronization2),
        offsetof(VkPhysicalDeviceSynchronization2Features, synchronization2),
        core13,
    };
    const struct feature reset = {
        VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES,
        VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_HOST_QUERY_RESET_FEATURES,
        offsetof(VkPhysicalDeviceVulkan12Features, hostQueryReset),
        offsetof(VkPhysicalDeviceHostQueryResetFeatures, hostQueryReset),
        core12,
    };
    const struct feature addresses = {
        VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES,
        VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_BUFFER_DEVICE_ADDRESS_FEATURES,
        offsetof(VkPhysicalDeviceVulkan12Features, bufferDeviceAddress),
        offsetof(VkPhysicalDeviceBufferDeviceAddressFeatures, bufferDeviceAddress),
        core12,
    };
    /* First the features whose struct is in the chain, then the others: what is put in front is no
     * part of r->chain. */
    const struct bf_settings *settings = &p->instance->settings;
    bool traced = settings->trace || settings->summary;
    bool measures = settings->preemption && !p->cpu; /* PW-8, scheduler/packet_time.h */
    bool reset_wanted =
        (traced || measures || settings->fence_log == BF_FENCE_LOG_TIMED) && p->host_query_reset;
    r->buffer_addresses =
        p->buffer_addresses &&
        !request_has_extension(r, VK_EXT_BUFFER_DEVICE_ADDRESS_EXTENSION_NAME); /* DV-1 */
    r->shader_int64 = p->shader_int64;
    if (r->shader_int64) {
        result = enable_int64(r, info);
        if (result < 0)
            return result;
        r->shader_int64 = result == VK_SUCCESS;
    }
    const struct feature fault = {
        .own = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FAULT_FEATURES_EXT,
        .own_offset = offsetof(VkPhysicalDeviceFaultFeaturesEXT, deviceFault),
    };
    r->device_fault = p->device_fault;
    const struct feature *wanted[] = {&timeline, &sync2, reset_wanted ? &reset : NULL,
                                      r->buffer_addresses ? &addresses : NULL,
                                      r->device_fault ? &fault : NULL};
    VkBaseOutStructure *own[] = {(VkBaseOutStructure *)&r->timeline,
                                 (VkBaseOutStructure *)&r->sync2, (VkBaseOutStructure *)&r->reset,
                                 (VkBaseOutStructure *)&r->addresses,
                                 (VkBaseOutStructure *)&r->fault};
    for (int pass = 0; pass < 2; pass++) {
        for (int i = 0; i < 5; i++) {
            VkBool32 *value;
            if (!wanted[i] ||
                (feature_struct(r->info.pNext, wanted[i], &value) != NULL) != (pass == 0))
                continue;
            result = feature_enable(r, wanted[i], own[i], i >= 2);
            if (result < 0)
                return result;
            reset_wanted = reset_wanted && (i != 2 || result == VK_SUCCESS);
            r->buffer_addresses = r->buffer_addresses && (i != 3 || result == VK_SUCCESS);
            r->device_fault = r->device_fault && (i != 4 || result == VK_SUCCESS);
        }
    }
    r->host_query_reset = reset_wanted;
    if (r->device_fault)
        add_extension(r, VK_EXT_DEVICE_FAULT_EXTENSION_NAME);
    if (reset_wanted && p->host_reset_by_extension)
        add_extension(r, VK_EXT_HOST_QUERY_RESET_EXTENSION_NAME);
    /* The KHR and the EXT extension are equivalent: if the program enables either, none is
     * added. */
    r->calibrated = request_has_extension(r, VK_EXT_CALIBRATED_TIMESTAMPS_EXTENSION_NAME) ||
                    request_has_extension(r, "VK_KHR_calibrated_timestamps");
    if (!r->calibrated && p->calibrated_extension) {
        add_extension(r, p->calibrated_extension);
        r->calibrated = true;
    }
    if (p->host_pointer_alignment) {
        add_extension(r, VK_EXT_EXTERNAL_MEMORY_HOST_EXTENSION_NAME);
        r->host_memory = true;
    }
    if (p->sharing.timelines)
        add_extension(r, VK_KHR_EXTERNAL_SEMAPHORE_FD_EXTENSION_NAME);
    add_internal_queues(r, p);
    add_reserved(r, p);
    return VK_SUCCESS;
}

/* Devices of several physical devices aren't scheduled. */
static bool is_group(const VkDeviceCreateInfo *info)
{
    const VkDeviceGroupDeviceCreateInfo *group =
        layer_chain_find(info->pNext, VK_STRUCTURE_TYPE_DEVICE_GROUP_DEVICE_CREATE_INFO);
    return group && group->physicalDeviceCount > 1;
}

/* Can the program's own VkDeviceCreateInfo be passed to the driver unchanged? */
static bool is_native_request(const struct layer_physical *p, const VkDeviceCreateInfo *info)
{
    for (uint32_t i = 0; i < info->queueCreateInfoCount; i++) {
        const VkDeviceQueueCreateInfo *q = &info->pQueueCreateInfos[i];
        if (q->queueFamilyIndex >= p->family_count ||
            q->queueCount > p->families[q->queueFamilyIndex].queueCount)
            return false;
    }
    return true;
}

/* Gets an engine's VkQueue from the driver. False: it returned no handle. */
static bool get_engine(struct layer_device *d, struct bf_engine_info *e,
                       PFN_vkSetDeviceLoaderData set_loader_data)
{
    e->family_flags = d->physical->families[e->family].queueFlags;
    e->timestamp_bits = d->physical->families[e->family].timestampValidBits;
    e->copies_whole = bf_family_copies_whole(&d->physical->families[e->family]);
    if (e->flags) {
        const VkDeviceQueueInfo2 info = {
            .sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_INFO_2,
            .flags = e->flags,
            .queueFamilyIndex = e->family,
            .queueIndex = e->index,
        };
        d->vk.vkGetDeviceQueue2(d->handle, &info, &e->handle);
    }
    /* Some drivers return a queue from vkGetDeviceQueue only. */
    if (!e->handle)
        d->vk.vkGetDeviceQueue(d->handle, e->family, e->index, &e->handle);
    return e->handle && set_loader_data(d->handle, e->handle) == VK_SUCCESS;
}

/* False: there is no handle of a VkQueue for the program's queues. Without that of a spare the
 * device has no spares, and without that of a VkQueue that is reserved (PL-5), it has not that
 * one. */
static bool get_engines(struct layer_device *d, struct bf_placement *placement,
                        PFN_vkSetDeviceLoaderData set_loader_data)
{
    for (uint32_t i = 0; i < placement->engine_count; i++) {
        const struct bf_engine_info *e = &placement->engines[i];
        if (get_engine(d, &placement->engines[i], set_loader_data))
            continue;
        if (e->reserved) {
            bf_message(BF_MESSAGE_WARNING,
                       "%s: %s gives no handle of the queue of that global priority, of family %u",
                       reserved_setting(e), d->physical->name, e->family);
            bf_placement_forget_reserved(placement, i--);
            continue;
        }
        bf_message(e->spare ? BF_MESSAGE_INFO : BF_MESSAGE_ERROR,
                   "vkCreateDevice: the driver has no queue %u of family %u", e->index, e->family);
        if (!e->spare)
            return false;
        bf_placement_drop_spares(placement);
        return get_engines(d, placement, set_loader_data);
    }
    return true;
}

static bool is_robust(const VkDeviceCreateInfo *info)
{
    const VkPhysicalDeviceFeatures2 *features =
        layer_chain_find(info->pNext, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2);
    return features ? features->features.robustBufferAccess
                    : info->pEnabledFeatures && info->pEnabledFeatures->robustBufferAccess;
}

static VkResult device_create_runtime(struct layer_device *d, struct request *r,
                                      PFN_vkSetDeviceLoaderData set_loader_data)
{
    d->trace =
        bf_trace_session_open(&d->instance->settings, d->physical->name, d->physical->driver_text);
    if (!get_engines(d, &r->placement, set_loader_data))
        return VK_ERROR_INITIALIZATION_FAILED;
    const struct bf_device_info info = {
        .scheduler =
            {
                .gpu =
                    {
                        .handle = d->handle,
                        .get_proc_addr = d->next,
                        .set_loader_data = set_loader_data,
                        .api_version = d->physical->api_version,
                        .trace = d->trace,
                        .driver = &d->physical->driver,
                        .driver_version = d->physical->driver_version,
                        .timestamp_period_ns = d->physical->timestamp_period,
                        .host_query_reset = r->host_query_reset,
                        .calibrated_timestamps = r->calibrated,
                        .memory = d->physical->memory,
                        .native_fences = d->instance->settings.native_fences,
                        .buffer_addresses = r->buffer_addresses,
                        .shader_int64 = r->shader_int64,
                        .host_pointer_alignment =
                            r->host_memory ? d->physical->host_pointer_alignment : 0,
                        .fence_log = d->instance->settings.fence_log,
                        .sharing = d->physical->sharing,
                        .timeline_difference = d->physical->timeline_difference,
                        .device_fault = r->device_fault,
                        .checkpoints = request_has_extension(
                            r, VK_NV_DEVICE_DIAGNOSTIC_CHECKPOINTS_EXTENSION_NAME),
                    },
                .engine_count = r->placement.engine_count,
                .queue_count = r->placement.queue_count,
                .engines = r->placement.engines,
                .queues = r->placement.queues,
                .serialize_submits = d->instance->settings.serialize_submits,
                .preemption = d->instance->settings.preemption,
                .doorbell_info = bf_doorbell_info_of(&d->instance->settings),
                .layer = true,
                .observer = layer_access_create(d),
            },
        .background_tasks = d->instance->settings.background_tasks,
        .developer_mode = d->instance->settings.developer_mode,
        .watchdog_ms = d->instance->settings.watchdog,
        .tdr = bf_tdr_info_of(&d->instance->settings),
        .cpu = d->physical->cpu,
        .at_interrupt = d->instance->settings.at_interrupt,
        .summary = d->instance->settings.summary,
    };
    VkResult result = bf_device_create(&info, &d->runtime);
    if (result == VK_SUCCESS) {
        d->scheduler = bf_device_scheduler(d->runtime);
        d->gpu = bf_device_gpu(d->runtime);
        /* Names are kept for what 'watchdog' tells alone. */
        d->standstill = d->instance->settings.watchdog ? bf_device_standstill(d->runtime) : NULL;
    }
    d->translates = !bf_family_map_is_identity(&d->physical->map);
    d->robust = is_robust(&r->info);
    d->added = r->added;
    return result;
}

/* Calls the next vkCreateDevice. Each call starts from the same link of the loader's, in the chain
 * that is passed down, which may be a copy. *device must be passed down with the value it had:
 * until the driver sets it, the loader keeps a pointer there. */
static VkResult device_create_below(struct layer_device *d, const VkDeviceCreateInfo *info,
                                    const VkAllocationCallbacks *allocator,
                                    VkLayerDeviceLink *below)
{
    VkLayerDeviceCreateInfo *link = find_function(info, VK_LAYER_LINK_INFO);
    PFN_vkCreateDevice create = (PFN_vkCreateDevice)below->pfnNextGetInstanceProcAddr(
        d->instance->handle, "vkCreateDevice");
    if (!create)
        return VK_ERROR_INITIALIZATION_FAILED;
    link->u.pLayerInfo = below->pNext;
    VkDevice created = d->handle;
    VkResult result = create(d->physical->handle, info, allocator, &created);
    if (result == VK_SUCCESS)
        d->handle = created;
    return result;
}

/* Creates the device with what the scheduler needs; without spares (PL-2), and without the VkQueues
 * that are reserved (PL-5), if it is only with those that the driver refuses it. */
static VkResult create_scheduled(struct layer_device *d, struct request *r,
                                 const VkAllocationCallbacks *allocator, VkLayerDeviceLink *below)
{
    VkResult spares = VK_SUCCESS, reserved = VK_SUCCESS; /* why they were refused */
    VkResult result = device_create_below(d, &r->info, allocator, below);
    while (result < 0) {
        if (r->reserved) {
            reserved = result;
            reserve_otherwise(r, d->physical);
        } else if (r->placement.spare_count || r->placement.synchronized) {
            spares = result;
            drop_spares(r);
        } else {
            return result;
        }
        result = device_create_below(d, &r->info, allocator, below);
    }
    reserved_tell(r, d->physical, reserved);
    if (spares)
        bf_message(BF_MESSAGE_INFO,
                   "%s: the driver refuses spare or internally synchronized VkQueues (error %d)",
                   d->physical->name, spares);
    return result;
}

static void load_functions(struct layer_device *d)
{
    bf_dispatch_load(&d->vk, d->handle, d->next);
    layer_device_calls_load(d);
}

static void device_list_add(struct layer_device *d)
{
    bf_lock_acquire(&d->instance->devices_lock);
    d->next_device = d->instance->devices;
    d->instance->devices = d;
    bf_lock_release(&d->instance->devices_lock);
}

static void device_list_remove(struct layer_device *d)
{
    bf_lock_acquire(&d->instance->devices_lock);
    struct layer_device **link = &d->instance->devices;
    while (*link != d)
        link = &(*link)->next_device;
    *link = d->next_device;
    bf_lock_release(&d->instance->devices_lock);
}

static void pass_through_tell(const struct layer_physical *p, const char *why)
{
    bf_message(BF_MESSAGE_WARNING, "%s: %s: this device is passed through as it is", p->name, why);
}

VKAPI_ATTR VkResult VKAPI_CALL layer_vkCreateDevice(VkPhysicalDevice physical,
                                                    const VkDeviceCreateInfo *info,
                                                    const VkAllocationCallbacks *allocator,
                                                    VkDevice *device)
{
    VkLayerDeviceCreateInfo *link = find_function(info, VK_LAYER_LINK_INFO);
    VkLayerDeviceCreateInfo *loader_data = find_function(info, VK_LOADER_DATA_CALLBACK);
    struct layer_physical *p = layer_physical_of(physical);
    if (!p)
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    if (!link || !link->u.pLayerInfo)
        return VK_ERROR_INITIALIZATION_FAILED;
    struct layer_device *d = calloc(1, sizeof(*d));
    if (!d)
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    VkLayerDeviceLink *below = link->u.pLayerInfo;
    d->instance = p->instance;
    d->physical = p;
    d->handle = *device;
    d->next = below->pfnNextGetDeviceProcAddr;

    struct request r = {0};
    VkResult result = VK_ERROR_FEATURE_NOT_PRESENT, refusal = VK_ERROR_INITIALIZATION_FAILED;
    bool scheduled = false;
    if (p->capable && loader_data && !is_group(info)) {
        result = request_init(&r, p, info);
        if (result == VK_ERROR_OUT_OF_HOST_MEMORY || result == VK_ERROR_INITIALIZATION_FAILED)
            goto fail_create;
        if (result == VK_SUCCESS) {
            result = create_scheduled(d, &r, allocator, below);
            refusal = result;
        }
        scheduled = result == VK_SUCCESS;
        if (!scheduled)
            layer_chain_end(&r.chain);
        if (!scheduled && result != VK_ERROR_FEATURE_NOT_PRESENT &&
            result != VK_ERROR_EXTENSION_NOT_PRESENT)
            goto fail_create;
    }
    if (!scheduled) {
        if (!is_native_request(p, info)) {
            bf_message(BF_MESSAGE_ERROR,
                       "vkCreateDevice: %s can't be scheduled for this program, and its "
                       "queues are not the driver's own",
                       p->name);
            result = refusal;
            goto fail_create;
        }
        result = device_create_below(d, info, allocator, below);
        if (result != VK_SUCCESS) /* the driver refused the program's own request */
            goto fail_create;
        if (p->capable)
            pass_through_tell(p, is_group(info) ? "a group of several devices"
                                                : "what scheduling needs can't be enabled");
    }
    load_functions(d);
    if (!layer_device_add(d)) {
        result = VK_ERROR_OUT_OF_HOST_MEMORY;
        goto fail_add;
    }
    if (scheduled) {
        result = device_create_runtime(d, &r, loader_data->u.pfnSetDeviceLoaderData);
        if (result != VK_SUCCESS)
            goto fail_attach;
        if (request_has_extension(&r, "VK_QCOM_tile_memory_heap")) /* PE-6 */
            bf_preempt_keep_whole(d->scheduler);
    }
    if (r.internal.sType) /* processes that build shaders know nothing of it */
        r.info.pNext = r.internal.pNext;
    if (scheduled)
        layer_specialize_create(d, &r.info);
    bf_trace_session_met();
    if (scheduled)
        bf_device_tell(&(struct bf_device_tell){
            .call = "vkCreateDevice",
            .device = p->name,
            .driver = p->driver_text,
            .engine_count = r.placement.engine_count,
            .spare_count = r.placement.spare_count,
            .reserved_count = r.placement.reserved,
            .map = &p->map,
            .settings = &p->instance->settings,
        });
    device_list_add(d);
    request_finish(&r);
    *device = d->handle;
    return VK_SUCCESS;

fail_attach:
    bf_device_destroy(d->runtime);
    layer_access_destroy(d);
    bf_trace_session_close(d->trace, false);
    layer_device_remove(d);
fail_add:
    d->vk.vkDestroyDevice(d->handle, allocator);
fail_create:
    request_finish(&r);
    free(d);
    return result;
}

VKAPI_ATTR void VKAPI_CALL layer_vkDestroyDevice(VkDevice device,
                                                 const VkAllocationCallbacks *allocator)
{
    if (!device)
        return;
    struct layer_device *d = layer_device_of(device);
    device_list_remove(d);
    layer_specialize_destroy(d);
    const bool left = !bf_device_destroy(d->runtime);
    layer_access_destroy(d);
    bf_trace_session_close(d->trace, d->instance->settings.summary);
    layer_device_remove(d);
    if (!left) /* else a thread is in the driver that uses it (L-7) */
        d->vk.vkDestroyDevice(device, allocator);
    layer_resources_finish(d);
    while (d->queue_data) {
        struct layer_queue_data *next = d->queue_data->next;
        free(d->queue_data);
        d->queue_data = next;
    }
    free(d);
}
