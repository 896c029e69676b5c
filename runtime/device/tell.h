/* SPDX-License-Identifier: MIT */
/* What a user is told of a device with the setting messages=info. */
#ifndef BELFRY_DEVICE_TELL_H
#define BELFRY_DEVICE_TELL_H

#include "device/family.h"

struct bf_device_tell {
    const char *call;   /* the one that has created it */
    const char *device; /* VkPhysicalDeviceProperties::deviceName */
    const char *driver; /* of bf_driver_describe */
    uint32_t engine_count;
    uint32_t spare_count;            /* of these (PL-1) */
    uint32_t reserved_count;         /* and of a global priority, for command queues (PL-5) */
    const struct bf_family_map *map; /* the families that the program sees */
    const struct bf_settings *settings;
};

/* A line for the device, one for each family, and one for each setting that has another value than
 * its default. Thread-safety: safe. */
void bf_device_tell(const struct bf_device_tell *tell);

/* What a family can do, "graphics compute transfer". Returns 'buffer'. Thread-safety: pure. */
const char *bf_family_flags_text(VkQueueFlags flags, char *buffer, size_t size);

#endif
