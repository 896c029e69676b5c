#include "layer/commands.h"

#include <string.h>

struct queue_command {
    const char *name;
    bool handled;
};

#define ROW(name, handled) {#name, handled},
static const struct queue_command queue_commands[] = {LAYER_QUEUE_COMMANDS(ROW)};

/* Their commands or structs take a VkQueue that would have to be unwrapped. */
static const char *const hidden_extensions[] = {
    "VK_NV_low_latency2",       "VK_NV_external_compute_queue", "VK_QCOM_queue_perf_hint",
    "VK_ANDROID_native_buffer", "VK_OHOS_native_buffer",        "VK_OHOS_external_memory",
    "VK_EXT_metal_objects",
};

/* They carry family indices in structs newer than the oldest headers Belfry builds with. */
static const char *const hidden_with_families[] = {
    "VK_KHR_maintenance9",
    "VK_KHR_device_address_commands",
    "VK_ARM_tensors",
    "VK_ARM_data_graph",
    "VK_FUCHSIA_buffer_collection",
    "VK_ARM_performance_counters_by_region",
};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

bool layer_command_is_hidden(const char *name)
{
    for (size_t i = 0; i < COUNT(queue_commands); i++) {
        if (!queue_commands[i].handled && strcmp(queue_commands[i].name, name) == 0)
            return true;
    }
    return false;
}

static const struct {
    const char *name;
    enum layer_added of;
} added_commands[] = {
    {"vkGetSemaphoreCounterValueKHR", LAYER_ADDED_TIMELINE},
    {"vkWaitSemaphoresKHR", LAYER_ADDED_TIMELINE},
    {"vkSignalSemaphoreKHR", LAYER_ADDED_TIMELINE},
    {"vkQueueSubmit2KHR", LAYER_ADDED_SYNC2},
    {"vkCmdPipelineBarrier2KHR", LAYER_ADDED_SYNC2},
    {"vkCmdSetEvent2KHR", LAYER_ADDED_SYNC2},
    {"vkCmdResetEvent2KHR", LAYER_ADDED_SYNC2},
    {"vkCmdWaitEvents2KHR", LAYER_ADDED_SYNC2},
    {"vkCmdWriteTimestamp2KHR", LAYER_ADDED_SYNC2},
    {"vkCmdWriteBufferMarker2AMD", LAYER_ADDED_SYNC2},
    {"vkGetQueueCheckpointData2NV", LAYER_ADDED_SYNC2},
    {"vkResetQueryPoolEXT", LAYER_ADDED_HOST_RESET},
    {"vkGetCalibratedTimestampsEXT", LAYER_ADDED_CALIBRATED},
    {"vkGetCalibratedTimestampsKHR", LAYER_ADDED_CALIBRATED},
    {"vkGetMemoryHostPointerPropertiesEXT", LAYER_ADDED_HOST_MEMORY},
    {"vkGetSemaphoreFdKHR", LAYER_ADDED_SEMAPHORE_FD},
    {"vkImportSemaphoreFdKHR", LAYER_ADDED_SEMAPHORE_FD},
};

bool layer_command_is_of(const char *name, unsigned added)
{
    for (size_t i = 0; added && i < COUNT(added_commands); i++) {
        if ((added & added_commands[i].of) && strcmp(added_commands[i].name, name) == 0)
            return true;
    }
    return false;
}

static bool contains(const char *const *names, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++) {
        if (strcmp(names[i], name) == 0)
            return true;
    }
    return false;
}

bool layer_extension_is_hidden(const char *name, bool translates)
{
    return contains(hidden_extensions, COUNT(hidden_extensions), name) ||
           (translates && contains(hidden_with_families, COUNT(hidden_with_families), name));
}

uint32_t layer_filter_extensions(VkExtensionProperties *list, uint32_t count, bool translates)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (!layer_extension_is_hidden(list[i].extensionName, translates))
            list[kept++] = list[i];
    }
    return kept;
}
