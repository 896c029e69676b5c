/* SPDX-License-Identifier: MIT */
/* A device's functions as one table, and the names that a device of some version has for them. */
#include "gpu/dispatch.h"

#include <stdlib.h>
#include <string.h>

/* Loads a device's functions into volk's table. volk's own loader calls the global
 * vkGetDeviceProcAddr; the generated function behind it accepts any source of functions, but is
 * private to volk.c, so that file is included here. Its global function pointers stay NULL and
 * hidden. */
#include <volk.c>

struct source {
    VkDevice device;
    PFN_vkGetDeviceProcAddr get_proc_addr;
};

static PFN_vkVoidFunction dispatch_get_proc_addr(void *context, const char *name)
{
    const struct source *source = context;
    return source->get_proc_addr(source->device, name);
}

void bf_dispatch_load(struct VolkDeviceTable *table, VkDevice device,
                      PFN_vkGetDeviceProcAddr get_proc_addr)
{
    struct source source = {device, get_proc_addr};
    volkGenLoadDeviceTable(table, &source, dispatch_get_proc_addr);
/* JOIN: both names are members of volk's table. OR: the newer name is one that these headers don't
 * know yet. */
#define JOIN(name, other)                                                                          \
    table->name = table->name ? table->name : table->other;                                        \
    table->other = table->other ? table->other : table->name;
#define OR(name, newer)                                                                            \
    if (!table->name)                                                                              \
        table->name = (PFN_##name)dispatch_get_proc_addr(&source, #newer);
#include "gpu/generated/aliases.inc"
#undef JOIN
#undef OR
}

/* Sorted by name. */
static const struct promoted {
    const char *core;
    uint32_t since;
    const char *before;
} promoted[] = {
#include "gpu/generated/promoted.inc"
};

static int compare_core(const void *name, const void *row)
{
    return strcmp(name, ((const struct promoted *)row)->core);
}

const char *bf_dispatch_name(const char *core, uint32_t api_version)
{
    const struct promoted *row = bsearch(core, promoted, sizeof(promoted) / sizeof(promoted[0]),
                                         sizeof(promoted[0]), compare_core);
    return row && api_version < row->since ? row->before : core;
}
