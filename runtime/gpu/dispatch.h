/* SPDX-License-Identifier: MIT */
/* The driver's functions as one table, from whatever vkGetDeviceProcAddr lies below. */
#ifndef BELFRY_GPU_DISPATCH_H
#define BELFRY_GPU_DISPATCH_H

#include <volk.h>

/* Fills the table with the driver's functions; entries of commands that the device does not have
 * are NULL. Many commands have two names, the core's and an extension's: the entries of both then
 * hold the first one that exists, the core's before the extension's, so that callers need not
 * choose. */
void bf_dispatch_load(struct VolkDeviceTable *table, VkDevice device,
                      PFN_vkGetDeviceProcAddr get_proc_addr);

/* The name under which a device, used with that API version, has a command: 'core' itself, or the
 * name that the extension gave it before the core took it over. */
const char *bf_dispatch_name(const char *core, uint32_t api_version);

#endif
