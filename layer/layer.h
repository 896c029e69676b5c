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
#include "base/map.h"
#include "settings/settings.h"

/* Window systems' headers are not needed to pass their pointers on. */
typedef VkBool32(VKAPI_PTR *PFN_layer_presentation_support)(VkPhysicalDevice, uint32_t, void *,
                                                            uintptr_t);
#define PFN_vkGetPhysicalDeviceXcbPresentationSupportKHR      PFN_layer_presentation_support
#define PFN_vkGetPhysicalDeviceXlibPresentationSupportKHR     PFN_layer_presentation_support
#define PFN_vkGetPhysicalDeviceWaylandPresentationSupportKHR  PFN_layer_presentation_support
#define PFN_vkGetPhysicalDeviceDirectFBPresentationSupportEXT PFN_layer_presentation_support

/* VK_KHR_maintenance6's, newer than the oldest headers Belfry builds with. */
typedef void(VKAPI_PTR *PFN_layer_push_descriptors)(VkCommandBuffer, const void *);

struct layer_messenger;
struct layer_access;
struct layer_specializer;
struct layer_device;
struct layer_recorder;

/* Commands of Vulkan 1.1 and of VK_KHR_get_physical_device_properties2. */
struct layer_questions {
    PFN_vkGetPhysicalDeviceFeatures2 features2;
    PFN_vkGetPhysicalDeviceQueueFamilyProperties2 queue_families2;
    PFN_vkGetPhysicalDeviceImageFormatProperties2 image_format2;
};

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
    /* By the extension's names, for physical devices of Vulkan 1.0, and by the core names, for
     * newer ones; NULL where nobody below has either. */
    struct layer_questions old_questions, questions;
    PFN_vkGetPhysicalDeviceProperties properties;
    PFN_vkGetPhysicalDeviceQueueFamilyProperties queue_families;
    PFN_vkEnumerateDeviceExtensionProperties device_extensions;
    PFN_vkGetPhysicalDeviceMemoryProperties memory_properties;
    PFN_vkGetPhysicalDeviceProperties2 properties2; /* since 1.1 */
    PFN_vkDestroyInstance destroy;
    PFN_vkCreateDebugUtilsMessengerEXT create_messenger;
    PFN_vkDestroyDebugUtilsMessengerEXT destroy_messenger;
    PFN_vkCreateDebugReportCallbackEXT create_report;
    PFN_vkDestroyDebugReportCallbackEXT destroy_report;
    PFN_vkGetPhysicalDeviceToolProperties old_tools, tools; /* likewise, before 1.3 and since */
    PFN_vkGetPhysicalDeviceSurfaceSupportKHR surface_support;
    PFN_layer_presentation_support xcb_support, xlib_support, wayland_support, directfb_support;
    PFN_vkEnumeratePhysicalDeviceQueueFamilyPerformanceQueryCountersKHR performance_counters;
    PFN_vkGetPhysicalDeviceQueueFamilyPerformanceQueryPassesKHR performance_passes;
};

struct layer_physical {
    VkPhysicalDevice handle;
    struct layer_instance *instance;
    uint32_t api_version; /* what programs may use of it: the lesser of instance's and device's */
    const struct layer_questions *questions; /* the instance's, by that version */
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
    struct { /* an instance extension's device commands, which volk's table leaves out */
        PFN_vkQueueBeginDebugUtilsLabelEXT vkQueueBeginDebugUtilsLabelEXT;
        PFN_vkQueueEndDebugUtilsLabelEXT vkQueueEndDebugUtilsLabelEXT;
        PFN_vkQueueInsertDebugUtilsLabelEXT vkQueueInsertDebugUtilsLabelEXT;
        PFN_vkSetDebugUtilsObjectNameEXT vkSetDebugUtilsObjectNameEXT;
        PFN_vkSetDebugUtilsObjectTagEXT vkSetDebugUtilsObjectTagEXT;
        PFN_vkCmdBeginDebugUtilsLabelEXT vkCmdBeginDebugUtilsLabelEXT;
        PFN_vkCmdInsertDebugUtilsLabelEXT vkCmdInsertDebugUtilsLabelEXT;
    } debug;
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

/* The commands we stand in for, by the file that implements them. */
#define LAYER_GLOBAL_COMMANDS(X)                                                                   \
    X(vkCreateInstance)                                                                            \
    X(vkEnumerateInstanceExtensionProperties)                                                      \
    X(vkEnumerateInstanceLayerProperties)

#define LAYER_INSTANCE_COMMANDS(X)                                                                 \
    X(vkDestroyInstance)                                                                           \
    X(vkCreateDebugUtilsMessengerEXT)                                                              \
    X(vkDestroyDebugUtilsMessengerEXT)                                                             \
    X(vkCreateDebugReportCallbackEXT)                                                              \
    X(vkDestroyDebugReportCallbackEXT)

#define LAYER_PHYSICAL_COMMANDS(X)                                                                 \
    X(vkCreateDevice, vkCreateDevice)                                                              \
    X(vkEnumerateDeviceExtensionProperties, vkEnumerateDeviceExtensionProperties)                  \
    X(vkEnumerateDeviceLayerProperties, vkEnumerateDeviceLayerProperties)                          \
    X(vkGetPhysicalDeviceToolProperties, vkGetPhysicalDeviceToolProperties)                        \
    X(vkGetPhysicalDeviceToolPropertiesEXT, vkGetPhysicalDeviceToolProperties)                     \
    X(vkGetPhysicalDeviceQueueFamilyProperties, vkGetPhysicalDeviceQueueFamilyProperties)          \
    X(vkGetPhysicalDeviceQueueFamilyProperties2, vkGetPhysicalDeviceQueueFamilyProperties2)        \
    X(vkGetPhysicalDeviceQueueFamilyProperties2KHR, vkGetPhysicalDeviceQueueFamilyProperties2)     \
    X(vkGetPhysicalDeviceSurfaceSupportKHR, vkGetPhysicalDeviceSurfaceSupportKHR)                  \
    X(vkGetPhysicalDeviceXcbPresentationSupportKHR, vkGetPhysicalDeviceXcbPresentationSupportKHR)  \
    X(vkGetPhysicalDeviceXlibPresentationSupportKHR,                                               \
      vkGetPhysicalDeviceXlibPresentationSupportKHR)                                               \
    X(vkGetPhysicalDeviceWaylandPresentationSupportKHR,                                            \
      vkGetPhysicalDeviceWaylandPresentationSupportKHR)                                            \
    X(vkGetPhysicalDeviceDirectFBPresentationSupportEXT,                                           \
      vkGetPhysicalDeviceDirectFBPresentationSupportEXT)                                           \
    X(vkEnumeratePhysicalDeviceQueueFamilyPerformanceQueryCountersKHR,                             \
      vkEnumeratePhysicalDeviceQueueFamilyPerformanceQueryCountersKHR)                             \
    X(vkGetPhysicalDeviceQueueFamilyPerformanceQueryPassesKHR,                                     \
      vkGetPhysicalDeviceQueueFamilyPerformanceQueryPassesKHR)                                     \
    X(vkGetPhysicalDeviceImageFormatProperties2, vkGetPhysicalDeviceImageFormatProperties2)        \
    X(vkGetPhysicalDeviceImageFormatProperties2KHR, vkGetPhysicalDeviceImageFormatProperties2)

/* Wanted for every device. */
#define LAYER_DEVICE_COMMANDS(X) X(vkDestroyDevice, vkDestroyDevice)

/* Wanted where the runtime schedules the device. */
#define LAYER_SCHEDULED_COMMANDS(X)                                                                \
    X(vkGetDeviceQueue, vkGetDeviceQueue)                                                          \
    X(vkGetDeviceQueue2, vkGetDeviceQueue2)                                                        \
    X(vkQueueSubmit, vkQueueSubmit)                                                                \
    X(vkQueueSubmit2, vkQueueSubmit2)                                                              \
    X(vkQueueSubmit2KHR, vkQueueSubmit2)                                                           \
    X(vkQueueBindSparse, vkQueueBindSparse)                                                        \
    X(vkQueueWaitIdle, vkQueueWaitIdle)                                                            \
    X(vkDeviceWaitIdle, vkDeviceWaitIdle)                                                          \
    X(vkQueuePresentKHR, vkQueuePresentKHR)                                                        \
    X(vkCreateCommandPool, vkCreateCommandPool)                                                    \
    X(vkDestroyCommandPool, vkDestroyCommandPool)                                                  \
    X(vkAllocateCommandBuffers, vkAllocateCommandBuffers)                                          \
    X(vkFreeCommandBuffers, vkFreeCommandBuffers)                                                  \
    X(vkQueueBeginDebugUtilsLabelEXT, vkQueueBeginDebugUtilsLabelEXT)                              \
    X(vkQueueEndDebugUtilsLabelEXT, vkQueueEndDebugUtilsLabelEXT)                                  \
    X(vkQueueInsertDebugUtilsLabelEXT, vkQueueInsertDebugUtilsLabelEXT)                            \
    X(vkGetQueueCheckpointDataNV, vkGetQueueCheckpointDataNV)                                      \
    X(vkGetQueueCheckpointData2NV, vkGetQueueCheckpointData2NV)                                    \
    X(vkQueueSetPerformanceConfigurationINTEL, vkQueueSetPerformanceConfigurationINTEL)            \
    X(vkSetDebugUtilsObjectNameEXT, vkSetDebugUtilsObjectNameEXT)                                  \
    X(vkSetDebugUtilsObjectTagEXT, vkSetDebugUtilsObjectTagEXT)                                    \
    X(vkDebugMarkerSetObjectNameEXT, vkDebugMarkerSetObjectNameEXT)                                \
    X(vkDebugMarkerSetObjectTagEXT, vkDebugMarkerSetObjectTagEXT)                                  \
    X(vkSetPrivateData, vkSetPrivateData)                                                          \
    X(vkSetPrivateDataEXT, vkSetPrivateData)                                                       \
    X(vkGetPrivateData, vkGetPrivateData)                                                          \
    X(vkGetPrivateDataEXT, vkGetPrivateData)                                                       \
    X(vkDestroyPrivateDataSlot, vkDestroyPrivateDataSlot)                                          \
    X(vkDestroyPrivateDataSlotEXT, vkDestroyPrivateDataSlot)                                       \
    X(vkCreateSemaphore, vkCreateSemaphore)                                                        \
    X(vkDestroySemaphore, vkDestroySemaphore)                                                      \
    X(vkSignalSemaphore, vkSignalSemaphore)                                                        \
    X(vkSignalSemaphoreKHR, vkSignalSemaphore)                                                     \
    X(vkWaitSemaphores, vkWaitSemaphores)                                                          \
    X(vkWaitSemaphoresKHR, vkWaitSemaphores)                                                       \
    X(vkGetSemaphoreFdKHR, vkGetSemaphoreFdKHR)                                                    \
    X(vkImportSemaphoreFdKHR, vkImportSemaphoreFdKHR)                                              \
    X(vkWaitForFences, vkWaitForFences)                                                            \
    X(vkResetFences, vkResetFences)                                                                \
    X(vkGetFenceStatus, vkGetFenceStatus)                                                          \
    X(vkDestroyFence, vkDestroyFence)                                                              \
    X(vkGetFenceFdKHR, vkGetFenceFdKHR)                                                            \
    X(vkGetSemaphoreCounterValue, vkGetSemaphoreCounterValue)                                      \
    X(vkGetSemaphoreCounterValueKHR, vkGetSemaphoreCounterValue)                                   \
    X(vkGetEventStatus, vkGetEventStatus)                                                          \
    X(vkCreateFence, vkCreateFence)                                                                \
    X(vkImportFenceFdKHR, vkImportFenceFdKHR)                                                      \
    X(vkAcquireNextImageKHR, vkAcquireNextImageKHR)                                                \
    X(vkAcquireNextImage2KHR, vkAcquireNextImage2KHR)                                              \
    X(vkGetQueryPoolResults, vkGetQueryPoolResults)

/* Wanted where there is a trace. */
#define LAYER_TRACED_COMMANDS(X)                                                                   \
    X(vkBeginCommandBuffer, vkBeginCommandBuffer)                                                  \
    X(vkCmdBeginDebugUtilsLabelEXT, vkCmdBeginDebugUtilsLabelEXT)                                  \
    X(vkCmdInsertDebugUtilsLabelEXT, vkCmdInsertDebugUtilsLabelEXT)

/* Wanted where family indices travel and the program's are not the real ones. */
#define LAYER_TRANSLATED_COMMANDS(X)                                                               \
    X(vkCreateBuffer, vkCreateBuffer)                                                              \
    X(vkCreateImage, vkCreateImage)                                                                \
    X(vkCreateSwapchainKHR, vkCreateSwapchainKHR)                                                  \
    X(vkCreateSharedSwapchainsKHR, vkCreateSharedSwapchainsKHR)                                    \
    X(vkCreateQueryPool, vkCreateQueryPool)                                                        \
    X(vkCreateVideoSessionKHR, vkCreateVideoSessionKHR)                                            \
    X(vkGetDeviceBufferMemoryRequirements, vkGetDeviceBufferMemoryRequirements)                    \
    X(vkGetDeviceBufferMemoryRequirementsKHR, vkGetDeviceBufferMemoryRequirements)                 \
    X(vkGetDeviceImageMemoryRequirements, vkGetDeviceImageMemoryRequirements)                      \
    X(vkGetDeviceImageMemoryRequirementsKHR, vkGetDeviceImageMemoryRequirements)                   \
    X(vkGetDeviceImageSparseMemoryRequirements, vkGetDeviceImageSparseMemoryRequirements)          \
    X(vkGetDeviceImageSparseMemoryRequirementsKHR, vkGetDeviceImageSparseMemoryRequirements)       \
    X(vkGetDeviceImageSubresourceLayout, vkGetDeviceImageSubresourceLayout)                        \
    X(vkGetDeviceImageSubresourceLayoutKHR, vkGetDeviceImageSubresourceLayout)                     \
    X(vkCmdPipelineBarrier, vkCmdPipelineBarrier)                                                  \
    X(vkCmdPipelineBarrier2, vkCmdPipelineBarrier2)                                                \
    X(vkCmdPipelineBarrier2KHR, vkCmdPipelineBarrier2)                                             \
    X(vkCmdWaitEvents, vkCmdWaitEvents)                                                            \
    X(vkCmdWaitEvents2, vkCmdWaitEvents2)                                                          \
    X(vkCmdWaitEvents2KHR, vkCmdWaitEvents2)                                                       \
    X(vkCmdSetEvent2, vkCmdSetEvent2)                                                              \
    X(vkCmdSetEvent2KHR, vkCmdSetEvent2)

/* Newer than the oldest headers Belfry builds with. */
typedef void(VKAPI_PTR *PFN_layer_image_subresource_layout)(VkDevice, const void *, void *);
#define PFN_vkGetDeviceImageSubresourceLayout PFN_layer_image_subresource_layout

/* Each command's stand-in is layer_<command>, declared with the command's own type. */
#define LAYER_DECLARE(name, ...)            extern __typeof__(*(PFN_##name)0) layer_##name;
#define LAYER_DECLARE_ALIAS(name, stand_in) LAYER_DECLARE(stand_in)
LAYER_GLOBAL_COMMANDS(LAYER_DECLARE)
LAYER_INSTANCE_COMMANDS(LAYER_DECLARE)
LAYER_PHYSICAL_COMMANDS(LAYER_DECLARE_ALIAS)
LAYER_DEVICE_COMMANDS(LAYER_DECLARE_ALIAS)
LAYER_SCHEDULED_COMMANDS(LAYER_DECLARE_ALIAS)
LAYER_TRACED_COMMANDS(LAYER_DECLARE_ALIAS)
LAYER_TRANSLATED_COMMANDS(LAYER_DECLARE_ALIAS)

#endif
