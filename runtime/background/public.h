/*
 * A device's background processing, begun and ended with it.
 */
#ifndef BELFRY_BACKGROUND_PUBLIC_H
#define BELFRY_BACKGROUND_PUBLIC_H

#include "base/export.h"
#include "background/background.h"

struct bf_device;
struct bf_device_info;

/* Errors: VK_ERROR_OUT_OF_HOST_MEMORY. */
VkResult bf_device_begin_background(struct bf_device *device, const struct bf_device_info *info);

/* Before anything else of the device ends (BG-8). One that was never begun is allowed. */
BF_SHARED void bf_device_end_background(struct bf_device *device);

#endif
