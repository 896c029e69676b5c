/* SPDX-License-Identifier: MIT */
/*
 * The devices of the process that Belfry schedules, by their handles.
 *
 * A BfDevice handle is the address of the struct bf_gpu that the device begins with.
 *
 *  RG-1  Of a VkDevice there is one device at most, and what it is, attached or the layer's, is
 *        known before anybody finds it. Proven by tests/attach (threads.c).
 *
 * Thread-safety: safe.
 */
#ifndef BELFRY_GPU_REGISTRY_H
#define BELFRY_GPU_REGISTRY_H

#include <stdbool.h>

#include "belfry/belfry.h"

struct bf_gpu;

/* Adds the device: bfGetDevice and the functions of the C API find it from now on. False: another
 * one of that VkDevice is there. */
bool bf_gpu_register(struct bf_gpu *gpu);
/* Does nothing for a device that is not registered. */
void bf_gpu_unregister(struct bf_gpu *gpu);

/* The registered device of that VkDevice, or NULL. One that is attached another thread may detach
 * as soon as this returns. */
struct bf_gpu *bf_gpu_find(VkDevice handle, bool *attached);

/* The registered device with that handle; else NULL and one line that names the call. */
struct bf_gpu *bf_gpu_of(BfDevice handle, const char *call);

#endif
