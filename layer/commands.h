/* SPDX-License-Identifier: MIT */
/*
 * The table of commands that the layer intercepts or hides (layer/registry/commands.csv), and the
 * table of extensions that it hides from programs or enables for itself (extensions.csv).
 *
 * A VkQueue handle of Belfry's must never reach the driver: a command that takes one, in a struct
 * or as a parameter, is intercepted or hidden. tools/registry refuses to generate a table in which
 * one is neither.
 */
#ifndef BELFRY_LAYER_COMMANDS_H
#define BELFRY_LAYER_COMMANDS_H

#include <stdbool.h>
#include <stdint.h>

#include <vulkan/vulkan.h>

/* The dispatch level of a command: the type of its first parameter. */
enum layer_level {
    LAYER_LEVEL_GLOBAL,
    LAYER_LEVEL_INSTANCE,
    LAYER_LEVEL_PHYSICAL,
    LAYER_LEVEL_DEVICE,
};

/* The devices for which a function of the layer's replaces the command, as bits. */
enum layer_for {
    LAYER_FOR_ALWAYS = 1,
    LAYER_FOR_SUBMITS = 2,     /* devices that the runtime schedules */
    LAYER_FOR_FAMILIES = 4,    /* devices whose shown families differ from the real ones */
    LAYER_FOR_TRACE = 8,       /* devices with a trace or a watchdog */
    LAYER_FOR_ACCESS = 16,     /* devices with the check 'access' */
    LAYER_FOR_SPECIALIZE = 32, /* devices with the specialiser */
};

/* Device extensions that the layer may enable for itself, as bits. */
enum layer_added {
    LAYER_ADDED_TIMELINE = 1,
    LAYER_ADDED_SYNC2 = 2,
    LAYER_ADDED_HOST_RESET = 4,
    LAYER_ADDED_CALIBRATED = 8,
    LAYER_ADDED_HOST_MEMORY = 16,
    LAYER_ADDED_SEMAPHORE_FD = 32,
    LAYER_ADDED_DEVICE_FAULT = 64,
};

struct layer_command {
    const char *name;
    enum layer_level level;
    /* The layer's functions for the command, or NULL. The specialiser's function comes before the
     * access check's, and both come before the layer's own, which they call; only for a trace does
     * the layer's own come before the access check's. */
    PFN_vkVoidFunction own, access, specialize;
    unsigned own_for;          /* enum layer_for */
    unsigned added;            /* enum layer_added: the extensions that the command belongs to */
    bool specialize_by_device; /* only vkGetDeviceProcAddr returns the specialiser's function */
    bool hidden;               /* it would pass a VkQueue of Belfry's to the driver */
};

/* NULL: the layer neither intercepts nor hides the command. */
const struct layer_command *layer_command_find(const char *name);

/* The layer's function for the command on a device to which all bits of 'wanted' (enum layer_for)
 * apply; NULL: the next layer's or driver's is used. */
PFN_vkVoidFunction layer_command_stand_in(const struct layer_command *command, unsigned wanted);

/* The extension as a bit of enum layer_added; 0 if the layer never enables it for itself. */
unsigned layer_extension_added(const char *name);

/* Is the extension hidden from programs, so that none may enable it? 'translates': the shown
 * families differ from the real ones; then a few more extensions are hidden. */
bool layer_extension_is_hidden(const char *name, bool translates);

/* Removes hidden extensions from a list and returns how many are left. */
uint32_t layer_filter_extensions(VkExtensionProperties *list, uint32_t count, bool translates);

#endif
