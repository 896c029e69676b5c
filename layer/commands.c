/* SPDX-License-Identifier: MIT */
/* Look-ups in the tables of commands and of extensions, which tools/registry generates. */
#include "layer/commands.h"

#include <stdlib.h>
#include <string.h>

#include "layer/access/access.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* A layer that is built without the specialiser has none of its functions: these symbols are
 * NULL. */
#define DECLARE(name)                                                                              \
    extern __typeof__(*(PFN_##name)0) layer_specialize_##name                                      \
        __attribute__((weak, visibility("hidden")));
LAYER_SPECIALIZE_STAND_INS(DECLARE)

#define OWN(name)        (PFN_vkVoidFunction) layer_##name
#define ACCESS(name)     (PFN_vkVoidFunction) layer_access_##name
#define SPECIALIZE(name) (PFN_vkVoidFunction) layer_specialize_##name

/* Sorted by name, for bsearch. */
static const struct layer_command commands[] = {
#include "layer/generated/commands.inc"
};

enum shown {
    LAYER_SHOWN,
    LAYER_HIDDEN,
    LAYER_HIDDEN_WITH_FAMILIES,
};

/* Sorted by name, for bsearch. Extensions without a row are shown, and never enabled by the
 * layer. */
static const struct extension {
    const char *name;
    enum shown shown;
    unsigned added;
} extensions[] = {
#include "layer/generated/extensions.inc"
};

/* The name is the first member of both tables' rows. */
static int compare(const void *name, const void *row)
{
    return strcmp(name, *(const char *const *)row);
}

const struct layer_command *layer_command_find(const char *name)
{
    return bsearch(name, commands, COUNT(commands), sizeof(commands[0]), compare);
}

PFN_vkVoidFunction layer_command_stand_in(const struct layer_command *command, unsigned wanted)
{
    if (command->specialize && (wanted & LAYER_FOR_SPECIALIZE))
        return command->specialize;
    if (command->own_for & wanted & LAYER_FOR_TRACE)
        return command->own;
    if (command->access && (wanted & LAYER_FOR_ACCESS))
        return command->access;
    return command->own_for & wanted ? command->own : NULL;
}

static const struct extension *extension_find(const char *name)
{
    return bsearch(name, extensions, COUNT(extensions), sizeof(extensions[0]), compare);
}

unsigned layer_extension_added(const char *name)
{
    const struct extension *extension = extension_find(name);
    return extension ? extension->added : 0;
}

bool layer_extension_is_hidden(const char *name, bool translates)
{
    const struct extension *extension = extension_find(name);
    enum shown shown = extension ? extension->shown : LAYER_SHOWN;
    return shown == LAYER_HIDDEN || (translates && shown == LAYER_HIDDEN_WITH_FAMILIES);
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
