/* SPDX-License-Identifier: MIT */
/* The driver's functions as one table, from whatever vkGetDeviceProcAddr lies below. */
#ifndef BELFRY_GPU_DISPATCH_H
#define BELFRY_GPU_DISPATCH_H

#include <volk.h>

/* Entries of commands that the device does not have are NULL. A command has several names, as a rule the
 * core's and an extension's: the entries of all of them hold the first that is there, the core's before
 * the others, so that a caller need not choose. */
void bf_dispatch_load(struct VolkDeviceTable *table, VkDevice device,
                      PFN_vkGetDeviceProcAddr get_proc_addr);

/* The name under which a device that is used with that version has a command: 'core', or the
 * extension's that it had before the core took it over. */
const char *bf_dispatch_name(const char *core, uint32_t api_version);

#endif
