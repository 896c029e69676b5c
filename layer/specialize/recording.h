/* SPDX-License-Identifier: MIT */
/* Recordings of command buffers, for the specialiser's functions (recording.c, recording_draw.c,
 * submission.c). */
#ifndef BELFRY_LAYER_RECORDING_H
#define BELFRY_LAYER_RECORDING_H

#include "layer/specialize/specialize.h"
#include "specialize/recording.h"

/* The command buffer that this thread used last, for quick look-up. A handle may be reused after it
 * is freed: each free increments the generation, so that other threads notice. */
struct layer_last_recording {
    VkCommandBuffer handle;
    uint64_t generation;
    struct bf_recording *recording;
};

/* In the static part of thread-local storage: access needs no call of __tls_get_addr. */
extern _Thread_local struct layer_last_recording layer_last_recording
    __attribute__((tls_model("initial-exec"), visibility("hidden")));
extern _Atomic uint64_t layer_recording_generation __attribute__((visibility("hidden")));

struct bf_recording *layer_recording_look_up(VkCommandBuffer buffer);

/* NULL: the command buffer is unknown; only the program's own pipelines are bound in it. */
static inline struct bf_recording *layer_recording_find(VkCommandBuffer buffer)
{
    if (layer_last_recording.handle == buffer &&
        layer_last_recording.generation ==
            atomic_load_explicit(&layer_recording_generation, memory_order_relaxed))
        return layer_last_recording.recording;
    return layer_recording_look_up(buffer);
}

/* The next layer's or driver's functions for a command buffer. */
static inline const struct VolkDeviceTable *layer_recording_table(struct bf_recording *recording,
                                                                  VkCommandBuffer buffer)
{
    return recording ? recording->vk : &layer_device_of(buffer)->vk;
}

#endif
