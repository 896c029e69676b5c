/* SPDX-License-Identifier: MIT */
/*
 * The layer's own objects, and the functions that it puts in place of Vulkan's commands.
 *
 * The layer turns Vulkan calls into runtime calls and holds no policy. VkQueue is the only handle
 * it wraps; instances and devices are looked up by their dispatch key, the loader's pointer that is
 * the first word of every dispatchable object.
 */
#ifndef BELFRY_LAYER_LAYER_H
#define BELFRY_LAYER_LAYER_H

#include <stdbool.h>
#include <stdint.h>

#include <volk.h>
#include <vulkan/vk_layer.h>

#include "device/device.h"
#include "device/family.h"
#include "gpu/driver_name.h"
#include "queue/vkqueue.h"
#include "base/map.h"
#include "settings/settings.h"
#include "layer/generated/lists.h"
#include "layer/newer.h"

struct layer_messenger;
struct layer_access;
struct layer_specializer;
struct layer_device;

/* The next layer's or driver's functions for commands of instances and physical devices that the
 * layer calls, by each command's oldest name; NULL if there is none. */
struct layer_instance_calls {
#define LAYER_CALL(name, ...) PFN_##name name;
    LAYER_INSTANCE_CALLS(LAYER_CALL)
};

/* The same for commands of devices that volk's table doesn't have: those of instance extensions,
 * and those newer than the oldest headers. None is NULL (calls.c). */
struct layer_device_calls {
    LAYER_DEVICE_CALLS(LAYER_CALL)
#undef LAYER_CALL
};

#define LAYER_VERSIONS 5 /* API versions 1.0 to 1.4 */

struct layer_instance {
    VkInstance handle;
    PFN_vkGetInstanceProcAddr next;
    PFN_GetPhysicalDeviceProcAddr next_physical; /* NULL: the next layer has no such function */
    uint32_t api_version;                        /* the program's; 1.0 if it gave none */
    struct bf_settings settings;
    struct bf_isolate_origin
        *origin;                    /* specialize/isolate/origin.h; NULL: nothing is specialised */
    struct bf_map physical_devices; /* of struct layer_physical, created at first use */
    struct bf_lock lock;            /* held while one is created */
    struct bf_lock devices_lock;    /* leaf lock: the list of devices */
    struct layer_device *devices;
    struct bf_lock messengers_lock; /* leaf lock: the list of messengers */
    struct layer_messenger *messengers;

    bool properties2; /* VK_KHR_get_physical_device_properties2 is enabled */
    struct layer_instance_calls
        calls[LAYER_VERSIONS];             /* by the API version that a device is used with */
    const struct layer_instance_calls *vk; /* for the newest version */
};

struct layer_physical {
    VkPhysicalDevice handle;
    struct layer_instance *instance;
    uint32_t api_version;                  /* the lesser of the instance's and the device's */
    const struct layer_instance_calls *vk; /* the instance's calls for that version */
    char name[VK_MAX_PHYSICAL_DEVICE_NAME_SIZE];
    uint32_t driver_version;
    VkPhysicalDeviceDriverProperties driver; /* zeros: not known */
    char driver_text[BF_DRIVER_NAME_SIZE];
    bool driver_properties;       /* VkPhysicalDeviceDriverProperties may be queried */
    uint64_t timeline_difference; /* maxTimelineSemaphoreValueDifference; 0: not known */
    bool cpu;                     /* it computes on the CPU */
    bool checks_bounds;           /* shaders never access memory beyond a bound range */
    float timestamp_period;
    /* The device has what the scheduler needs. If not, its families are shown unchanged and its
     * devices are passed through. */
    bool capable;
    bool internal_queues; /* VK_KHR_internally_synchronized_queues may be used */
    bool timeline_by_extension, sync2_by_extension, host_reset_by_extension;
    bool host_query_reset;
    /* Features for native fences; false if the setting is off. */
    bool buffer_addresses, shader_int64;
    VkDeviceSize host_pointer_alignment; /* 0: without VK_EXT_external_memory_host */
    bool device_fault;                   /* VK_EXT_device_fault, with its feature */
    struct bf_sharing sharing;           /* with VK_KHR_external_semaphore_fd */
    VkPhysicalDeviceMemoryProperties memory;
    const char *calibrated_extension; /* NULL: none */
    /* For the settings 'realtime' and 'high_priority': masks of real families that may have that
     * global priority. */
    const char *global_priority_extension; /* NULL: none, or none is needed */
    uint32_t realtime_families, high_families;
    uint32_t family_count;
    VkQueueFamilyProperties *families; /* the real ones */
    struct bf_family_map map;
};

/* A value of vkSetPrivateData for a queue: the driver doesn't know the handle. */
struct layer_queue_data {
    struct layer_queue_data *next;
    uint64_t slot;
    const void *queue;
    uint64_t value;
};

struct layer_device {
    VkDevice handle;
    struct layer_device *next_device; /* in the instance's list */
    struct layer_instance *instance;
    struct layer_physical *physical;
    PFN_vkGetDeviceProcAddr next;
    struct VolkDeviceTable vk;
    struct layer_device_calls more;
    struct bf_device *runtime;      /* NULL: passed through */
    struct bf_scheduler *scheduler; /* of the runtime's device; NULL: passed through */
    struct bf_gpu *gpu;             /* likewise */
    struct bf_trace *trace;
    struct bf_standstill *standstill;      /* the runtime's watchdog; NULL: none */
    struct layer_access *access;           /* access.h; NULL: off */
    struct layer_specializer *specializer; /* specialize/interface.h; NULL: off */
    bool robust;                           /* robustBufferAccess is enabled */
    bool translates;                       /* the shown families differ from the real ones */
    _Atomic bool barriers_lost;            /* barriers were, of some command buffer (B-2) */
    unsigned added;                        /* enum layer_added: extensions enabled for the layer */
    struct bf_map pools; /* of struct pool (resource.c): the command pools and their buffers */
    /* Resources that the program has made CONCURRENT and the driver knows as EXCLUSIVE (B-3), with
     * their real family, plus 1. */
    struct bf_map narrowed_buffers, narrowed_images;
    struct bf_lock queue_data_lock;
    struct layer_queue_data *queue_data;
};

static inline uint64_t layer_key(const void *dispatchable)
{
    return *(const uint64_t *)dispatchable;
}

/* interface.c. NULL: unknown, which no valid handle is. Lock-free. */
struct layer_instance *layer_instance_of(const void *dispatchable);
struct layer_device *layer_device_of(const void *dispatchable);

/* PE-6 (scheduler/preempt.h): a rendering is recorded; does it span command buffers? */
void layer_rendering_begins(struct layer_device *d, const VkRenderingInfo *info);
bool layer_instance_add(struct layer_instance *instance);
void layer_instance_remove(struct layer_instance *instance);
bool layer_device_add(struct layer_device *device);
void layer_device_remove(struct layer_device *device);

/* calls.c. All functions of an instance are queried while it is created: later the loader answers
 * for some names with the top of the chain, the layer itself. */
void layer_instance_calls_load(struct layer_instance *instance);
const struct layer_instance_calls *layer_instance_calls_of(const struct layer_instance *instance,
                                                           uint32_t api_version);
void layer_device_calls_load(struct layer_device *device);
/* Does a lower layer or the driver have the command? 'function' is an entry of the device's calls,
 * none of which is NULL. */
bool layer_device_has(PFN_vkVoidFunction function);

/* instance.c. NULL: out of memory. */
struct layer_physical *layer_physical_of(VkPhysicalDevice handle);

/* messenger.c. Frees the messengers that the program hasn't destroyed. */
void layer_messengers_finish(struct layer_instance *instance);

/* resource.c. Frees the records of command pools and resources when their device is destroyed. */
void layer_resources_finish(struct layer_device *device);
/* L-3: a stuck call may have the device's command buffers, which stay as they are. Thread-safety:
 * safe. */
bool layer_keeps_commands(const struct layer_device *d);

/* family.c. Translates the families of a CONCURRENT resource, each real family once. If only one is
 * left, the resource has to be EXCLUSIVE. */
uint32_t layer_real_families(const struct bf_family_map *map, uint32_t count, const uint32_t *shown,
                             uint32_t real[BF_MAX_FAMILIES]);

/* Is one of the families an appended one, which the driver doesn't know? */
bool layer_has_appended(const struct bf_family_map *map, uint32_t count, const uint32_t *shown);

/* The queue behind a program's VkQueue. On a passed-through device the handle is the driver's
 * own. */
static inline struct bf_queue *layer_queue(VkQueue handle)
{
    return (struct bf_queue *)handle;
}

/* The layer's function for a command is layer_<command>, declared with the command's own type. */
#define LAYER_DECLARE(name) extern __typeof__(*(PFN_##name)0) layer_##name;
LAYER_STAND_INS(LAYER_DECLARE)

#endif
