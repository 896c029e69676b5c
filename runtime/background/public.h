/*
 * A device's background processing: created and destroyed with it.
 */
#ifndef BELFRY_BACKGROUND_PUBLIC_H
#define BELFRY_BACKGROUND_PUBLIC_H

#include "base/export.h"
#include "background/background.h"

struct bf_device;
struct bf_device_info;

/* Errors: VK_ERROR_OUT_OF_HOST_MEMORY. */
VkResult bf_device_begin_background(struct bf_device *device, const struct bf_device_info *info);

/* Must come before anything else of the device is destroyed (BG-8). Does nothing where
 * bf_device_begin_background failed or was never called. */
BF_SHARED void bf_device_end_background(struct bf_device *device);

#endif
