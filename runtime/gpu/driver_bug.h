/* SPDX-License-Identifier: MIT */
/*
 * Bugs of drivers that Belfry works around. The table in driver_bug.c says which versions of which
 * driver have one, what is wrong there, what Belfry does, and which test shows it.
 */
#ifndef BELFRY_GPU_DRIVER_BUG_H
#define BELFRY_GPU_DRIVER_BUG_H

#include <stdint.h>

#include <vulkan/vulkan.h>

/* A set of them is a mask. */
enum bf_driver_bug {
    /* The driver looks at the timelines of a batch when the batch's fence and signals can already
     * be seen, until the VkQueue's next batch or the driver's wait for its idleness. */
    BF_DRIVER_BUG_LATE_WAIT_POINTS = 1u << 0,
    /* A shader reads an array of descriptors where it doesn't come to, with an index that may be
     * outside, and that can kill the process. */
    BF_DRIVER_BUG_UNTAKEN_DESCRIPTORS = 1u << 1,
};

/* The bugs of a driver; 'version' is VkPhysicalDeviceProperties'. NULL, or zeros: none is known.
 * Thread-safety: pure. */
uint32_t bf_driver_bugs_of(const VkPhysicalDeviceDriverProperties *driver, uint32_t version);

#endif
