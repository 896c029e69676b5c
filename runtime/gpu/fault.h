/* SPDX-License-Identifier: MIT */
/* What the driver knows of a device that it has lost. */
#ifndef BELFRY_GPU_FAULT_H
#define BELFRY_GPU_FAULT_H

struct bf_gpu;
struct bf_gpu_engine;

/* Both print what there is, a message for each piece, and nothing where the device was created
 * without the extension: VK_EXT_device_fault, with its feature deviceFault, and
 * VK_NV_device_diagnostic_checkpoints, for markers that the program has set. The driver has said
 * that the device is lost, which Vulkan demands of both calls. Thread-safety: safe. */
void bf_gpu_fault_tell(struct bf_gpu *gpu);
void bf_gpu_engine_tell_checkpoints(struct bf_gpu_engine *engine);

#endif
