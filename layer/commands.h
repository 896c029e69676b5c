/*
 * Every command that takes a VkQueue, and what becomes of it; and the extensions that are hidden.
 *
 * A wrapped handle must never reach the driver, so the table is complete for the registry it was
 * checked against (tests/layer/contract.c, which reads vk.xml). A command in it is either
 * stood in for, or its extension is hidden: never passed through.
 */
#ifndef BELFRY_LAYER_COMMANDS_H
#define BELFRY_LAYER_COMMANDS_H

#include <stdbool.h>
#include <stdint.h>

#include <vulkan/vulkan.h>

/* X(command, handled): sixteen with aliases counted once. */
#define LAYER_QUEUE_COMMANDS(X)                                                                    \
    X(vkQueueSubmit, true)                                                                         \
    X(vkQueueSubmit2, true)                                                                        \
    X(vkQueueBindSparse, true)                                                                     \
    X(vkQueueWaitIdle, true)                                                                       \
    X(vkQueuePresentKHR, true)                                                                     \
    X(vkQueueBeginDebugUtilsLabelEXT, true)                                                        \
    X(vkQueueEndDebugUtilsLabelEXT, true)                                                          \
    X(vkQueueInsertDebugUtilsLabelEXT, true)                                                       \
    X(vkGetQueueCheckpointDataNV, true)                                                            \
    X(vkGetQueueCheckpointData2NV, true)                                                           \
    X(vkQueueSetPerformanceConfigurationINTEL, true)                                               \
    X(vkQueueNotifyOutOfBandNV, false)                                                             \
    X(vkQueueNotifyOutOfBandLegacyNV, false)                                                       \
    X(vkQueueSetPerfHintQCOM, false)                                                               \
    X(vkQueueSignalReleaseImageANDROID, false)                                                     \
    X(vkQueueSignalReleaseImageOHOS, false)

bool layer_command_is_hidden(const char *name);

/* Device extensions that the layer may enable for itself, as bits. */
enum layer_added {
    LAYER_ADDED_TIMELINE = 1,
    LAYER_ADDED_SYNC2 = 2,
    LAYER_ADDED_HOST_RESET = 4,
    LAYER_ADDED_CALIBRATED = 8,
    LAYER_ADDED_HOST_MEMORY = 16,
    LAYER_ADDED_SEMAPHORE_FD = 32,
};

/* Is it a command of one of those extensions? The program didn't enable them: it has no such
 * commands. */
bool layer_command_is_of(const char *name, unsigned added);

/* Is it hidden from programs, and so not to be enabled by one? */
bool layer_extension_is_hidden(const char *name, bool translates);

/* Takes extensions that Belfry can't stand behind out of a list; returns what is left.
 * 'translates': the program's families are not the real ones, which rules out a few more. */
uint32_t layer_filter_extensions(VkExtensionProperties *list, uint32_t count, bool translates);

#endif
