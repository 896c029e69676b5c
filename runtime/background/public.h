/* SPDX-License-Identifier: MIT */
/*
 * A device's background processing, begun and ended with it.
 */
#ifndef BELFRY_BACKGROUND_PUBLIC_H
#define BELFRY_BACKGROUND_PUBLIC_H

#include "background/background.h"

struct bf_gpu;

/* Errors: VK_ERROR_OUT_OF_HOST_MEMORY. */
VkResult bf_background_begin(struct bf_gpu *gpu, uint32_t tasks, bool developer_mode,
                             _Atomic bool *frozen);

/* Must come before anything else of the device is destroyed (BG-8). Does nothing where
 * bf_background_begin failed or was never called. */
void bf_background_end(struct bf_gpu *gpu);

#endif
