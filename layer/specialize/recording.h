/*
 * Command buffers as the specialiser's hooks see them (recording.c, recording_draw.c, submission.c).
 */
#ifndef BELFRY_LAYER_RECORDING_H
#define BELFRY_LAYER_RECORDING_H

#include "layer/specialize/specialize.h"
#include "specialize/recording.h"

/* The command buffer that this thread used last. One that is freed may come back as another:
 * whoever frees any counts the generation up, and who is given a handle afterwards sees that. */
struct layer_last_recording {
    VkCommandBuffer handle;
    uint64_t generation;
    struct bf_recording *recording;
};

/* In the layer's share of the threads' static storage: no call is needed to find it. */
extern _Thread_local struct layer_last_recording layer_last_recording
    __attribute__((tls_model("initial-exec"), visibility("hidden")));
extern _Atomic uint64_t layer_recording_generation __attribute__((visibility("hidden")));

struct bf_recording *layer_recording_look_up(VkCommandBuffer buffer);

/* NULL: it isn't known, nor recorded with anything but the program's own pipelines. */
static inline struct bf_recording *layer_recording_find(VkCommandBuffer buffer)
{
    if (layer_last_recording.handle == buffer &&
        layer_last_recording.generation ==
            atomic_load_explicit(&layer_recording_generation, memory_order_relaxed))
        return layer_last_recording.recording;
    return layer_recording_look_up(buffer);
}

/* What lies below. */
static inline const struct VolkDeviceTable *layer_recording_table(struct bf_recording *recording,
                                                                  VkCommandBuffer buffer)
{
    return recording ? recording->vk : &layer_device_of(buffer)->vk;
}

#endif
