/* SPDX-License-Identifier: MIT */
/*
 * The devices of the process that Belfry schedules, by their handles.
 *
 * A BfDevice is the address of the struct bf_gpu that a device begins with.
 *
 * Thread-safety: safe.
 */
#ifndef BELFRY_GPU_REGISTRY_H
#define BELFRY_GPU_REGISTRY_H

#include "belfry/belfry.h"

struct bf_gpu;

/* Makes the device known to bfGetDevice, and to the functions of the C API. */
void bf_gpu_register(struct bf_gpu *gpu);
/* One that isn't known is left alone. */
void bf_gpu_unregister(struct bf_gpu *gpu);

/* The live device that was made of a VkDevice; NULL: none. */
struct bf_gpu *bf_gpu_find(VkDevice handle);

/* The live device behind a handle, else NULL and one line that names the call. */
struct bf_gpu *bf_gpu_of(BfDevice handle, const char *call);

#endif
