/* SPDX-License-Identifier: MIT */
/*
 * The layer's own objects, and the functions that stand in for Vulkan's.
 *
 * The layer turns Vulkan calls into runtime calls and holds no policy. VkQueue is the only handle
 * it wraps; instances and devices are found by their dispatch key, the loader's pointer in the
 * first word of every dispatchable object.
 */
#ifndef BELFRY_LAYER_LAYER_H
#define BELFRY_LAYER_LAYER_H

#include <stdbool.h>
#include <stdint.h>

#include <volk.h>
#include <vulkan/vk_layer.h>

#include "device/device.h"
#include "device/family.h"
#include "queue/vkqueue.h"
#include "base/map.h"
#include "settings/settings.h"
#include "layer/generated/lists.h"
#include "layer/newer.h"

struct layer_messenger;
struct layer_access;
struct layer_specializer;
struct layer_device;

/* What the layer calls of the commands of instances and their physical devices, by each command's
 * first name; NULL where nobody below has it. */
struct layer_instance_calls {
#define LAYER_CALL(name, ...) PFN_##name name;
    LAYER_INSTANCE_CALLS(LAYER_CALL)
};

/* Likewise of devices' commands that volk's table leaves out: those of instance extensions, and
 * those that are newer than the oldest headers. */
struct layer_device_calls {
    LAYER_DEVICE_CALLS(LAYER_CALL)
#undef LAYER_CALL
};

#define LAYER_VERSIONS 5 /* of Vulkan, 1.0 first */

struct layer_instance {
    VkInstance handle;
    PFN_vkGetInstanceProcAddr next;
    PFN_GetPhysicalDeviceProcAddr next_physical; /* NULL: the next layer has none */
    uint32_t api_version;                        /* the program's; 1.0 if it named none */
    struct bf_settings settings;
    struct bf_map physical_devices; /* of layer_physical, made at first sight */
    struct bf_lock lock;            /* over making them */
    struct bf_lock devices_lock;    /* leaf lock: the list of devices */
    struct layer_device *devices;
    struct bf_lock messengers_lock; /* leaf lock: the list of messengers */
    struct layer_messenger *messengers;

    bool asks_old_devices; /* VK_KHR_get_physical_device_properties2 is enabled below */
    struct layer_instance_calls
        calls[LAYER_VERSIONS];             /* by the version that a device is used with */
    const struct layer_instance_calls *vk; /* the newest's */
};

struct layer_physical {
    VkPhysicalDevice handle;
    struct layer_instance *instance;
    uint32_t api_version; /* what programs may use of it: the lesser of instance's and device's */
    const struct layer_instance_calls *vk; /* the instance's, by that version */
    char name[VK_MAX_PHYSICAL_DEVICE_NAME_SIZE];
    uint32_t driver_version;
    bool driver_properties; /* VkPhysicalDeviceDriverProperties can be asked for */
    bool checks_bounds;     /* its shaders never reach beyond a buffer, whatever is enabled */
    float timestamp_period;
    /* It has what the scheduler needs. If not, its families are shown as they are and its devices
     * are passed through. */
    bool capable;
    bool timeline_by_extension, sync2_by_extension, host_reset_by_extension;
    bool host_query_reset;
    /* For native fences, where the setting wants them. */
    bool buffer_addresses, shader_int64;
    VkDeviceSize host_pointer_alignment; /* 0: VK_EXT_external_memory_host isn't there */
    struct bf_sharing sharing;           /* with VK_KHR_external_semaphore_fd */
    VkPhysicalDeviceMemoryProperties memory;
    const char *calibrated_extension; /* NULL: none */
    /* With the setting 'realtime'. */
    const char *global_priority_extension; /* NULL: none, or none is needed */
    uint32_t realtime_families;            /* real ones that may have the priority, as a mask */
    uint32_t family_count;
    VkQueueFamilyProperties *families; /* the real ones */
    struct bf_family_map map;
};

/* A program's private data on a queue: the handle is ours, so the driver can't keep it. */
struct layer_queue_data {
    struct layer_queue_data *next;
    uint64_t slot;
    const void *queue;
    uint64_t value;
};

struct layer_device {
    VkDevice handle;
    struct layer_device *next_device; /* of the instance's list */
    struct layer_instance *instance;
    struct layer_physical *physical;
    PFN_vkGetDeviceProcAddr next;
    struct VolkDeviceTable vk;
    struct layer_device_calls more;
    struct bf_device *runtime; /* NULL: passed through */
    struct bf_trace *trace;
    struct layer_access *access;           /* access.h; NULL: off */
    struct layer_specializer *specializer; /* specialize/interface.h; NULL: off */
    bool robust;                           /* robustBufferAccess is enabled */
    bool translates;                       /* families the program sees are not the real ones */
    unsigned added;                        /* enum layer_added: what was enabled for ourselves */
    struct bf_map pools; /* of struct pool, in resource.c: the command pools with their buffers */
    struct bf_lock queue_data_lock;
    struct layer_queue_data *queue_data;
};

static inline uint64_t layer_key(const void *dispatchable)
{
    return *(const uint64_t *)dispatchable;
}

/* interface.c. NULL: not one of ours (never for a valid handle). Lock-free. */
struct layer_instance *layer_instance_of(const void *dispatchable);
struct layer_device *layer_device_of(const void *dispatchable);
bool layer_instance_add(struct layer_instance *instance);
void layer_instance_remove(struct layer_instance *instance);
bool layer_device_add(struct layer_device *device);
void layer_device_remove(struct layer_device *device);

/* calls.c. All of an instance's at once, while it is being made: afterwards the loader answers some
 * names with the top of the chain, which is us. */
void layer_instance_calls_load(struct layer_instance *instance);
const struct layer_instance_calls *layer_instance_calls_of(const struct layer_instance *instance,
                                                           uint32_t api_version);
void layer_device_calls_load(struct layer_device *device);
/* Is there somebody below who has the command? Its function out of the device's calls, none of
 * which is NULL. */
bool layer_device_has(PFN_vkVoidFunction function);

/* instance.c. NULL: out of memory. */
struct layer_physical *layer_physical_of(VkPhysicalDevice handle);

/* messenger.c. Frees what is left of an instance's messengers. */
void layer_messengers_finish(struct layer_instance *instance);

/* resource.c. Frees what is kept about command pools, with their device. */
void layer_pools_finish(struct layer_device *device);

/* family.c. The real families of a CONCURRENT list, each once: one alone means EXCLUSIVE. */
uint32_t layer_real_families(const struct bf_family_map *map, uint32_t count, const uint32_t *shown,
                             uint32_t real[BF_MAX_FAMILIES]);

/* A program's VkQueue: our object, or, where its device is passed through, the driver's. */
static inline struct bf_queue *layer_queue(VkQueue handle)
{
    return (struct bf_queue *)handle;
}

/* Each command's stand-in is layer_<command>, declared with the command's own type. */
#define LAYER_DECLARE(name) extern __typeof__(*(PFN_##name)0) layer_##name;
LAYER_STAND_INS(LAYER_DECLARE)

#endif
