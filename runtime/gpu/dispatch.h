/* The driver's functions as one table, from whatever vkGetDeviceProcAddr lies below. */
#ifndef BELFRY_GPU_DISPATCH_H
#define BELFRY_GPU_DISPATCH_H

#include <volk.h>

#include "base/export.h"

/* Entries of commands that the device does not have are NULL. */
BF_SHARED void bf_dispatch_load(struct VolkDeviceTable *table, VkDevice device,
                                PFN_vkGetDeviceProcAddr get_proc_addr);

#endif
