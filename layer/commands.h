/* SPDX-License-Identifier: MIT */
/*
 * The table of commands (layer/registry/commands.csv): what the layer has to say about a name; and
 * the extensions that are hidden from programs, or enabled for the layer itself (extensions.csv).
 *
 * A VkQueue of ours must never reach the driver: a command that carries one, in a struct or by
 * itself, is stood in for or hidden. tools/registry makes no table in which one is neither.
 */
#ifndef BELFRY_LAYER_COMMANDS_H
#define BELFRY_LAYER_COMMANDS_H

#include <stdbool.h>
#include <stdint.h>

#include <vulkan/vulkan.h>

/* By a command's first parameter. */
enum layer_level {
    LAYER_LEVEL_GLOBAL,
    LAYER_LEVEL_INSTANCE,
    LAYER_LEVEL_PHYSICAL,
    LAYER_LEVEL_DEVICE,
};

/* Which devices a stand-in is handed out for, as bits. */
enum layer_for {
    LAYER_FOR_ALWAYS = 1,
    LAYER_FOR_SUBMITS = 2,  /* that the runtime schedules */
    LAYER_FOR_FAMILIES = 4, /* whose families, as the program sees them, are not the real ones */
    LAYER_FOR_TRACE = 8,
    LAYER_FOR_ACCESS = 16,     /* that are checked for accesses */
    LAYER_FOR_SPECIALIZE = 32, /* that are specialised */
};

/* Device extensions that the layer may enable for itself, as bits. */
enum layer_added {
    LAYER_ADDED_TIMELINE = 1,
    LAYER_ADDED_SYNC2 = 2,
    LAYER_ADDED_HOST_RESET = 4,
    LAYER_ADDED_CALIBRATED = 8,
    LAYER_ADDED_HOST_MEMORY = 16,
    LAYER_ADDED_SEMAPHORE_FD = 32,
};

struct layer_command {
    const char *name;
    enum layer_level level;
    /* The stand-ins, or NULL. The specialiser's stands before the access check's, and both before
     * the layer's own, which they call; but for a trace the layer's own comes before the
     * check's. */
    PFN_vkVoidFunction own, access, specialize;
    unsigned own_for;          /* enum layer_for */
    unsigned added;            /* enum layer_added: extensions that it belongs to */
    bool specialize_by_device; /* the specialiser's is handed out by vkGetDeviceProcAddr alone */
    bool hidden;               /* it would pass a VkQueue of ours on */
};

/* NULL: the layer has nothing to say about it. */
const struct layer_command *layer_command_find(const char *name);

/* The command's stand-in for a device for which all of 'wanted' (enum layer_for) is so, or NULL. */
PFN_vkVoidFunction layer_command_stand_in(const struct layer_command *command, unsigned wanted);

/* enum layer_added of an extension that the layer may enable. */
unsigned layer_extension_added(const char *name);

/* Is it hidden from programs, and so not to be enabled by one? 'translates': the program's families
 * are not the real ones, which rules out a few more. */
bool layer_extension_is_hidden(const char *name, bool translates);

/* Takes extensions that Belfry can't stand behind out of a list; returns what is left. */
uint32_t layer_filter_extensions(VkExtensionProperties *list, uint32_t count, bool translates);

#endif
