/*
 * What the specialiser (runtime/specialize/specialize.h) sees of a Vulkan program: its pipelines and
 * what they are made of, the commands of its command buffers, and its submissions.
 *
 * With the setting 'specialize' off none of these functions is ever handed out, so nothing is paid
 * for it. With it on they stand before the layer's own, and call them. What can't be kept for want
 * of memory leaves the general pipeline in use; the program's call doesn't notice.
 */
#ifndef BELFRY_LAYER_SPECIALIZE_H
#define BELFRY_LAYER_SPECIALIZE_H

#include "layer.h"
#include "specialize/specialize.h"

struct bf_recording;

/* With the device's runtime made. Does nothing where the setting is off. */
void layer_specialize_create(struct layer_device *d);
/* Before the runtime's device is destroyed. */
void layer_specialize_destroy(struct layer_device *d);

/* The function that stands in for a command while the specialiser is on, or NULL. */
PFN_vkVoidFunction layer_specialize_find(const char *name);

/* X(command, stand-in), by the file that implements them: layer_specialize_<stand-in>. */

/* pipeline.c: pipelines and what they are made of */
#define LAYER_SPECIALIZE_PIPELINE_COMMANDS(X)

/* recording.c: command buffers, and what is recorded in them */
#define LAYER_SPECIALIZE_RECORDING_COMMANDS(X)

/* finished.c: submissions, and what tells that they have finished */
#define LAYER_SPECIALIZE_FINISHED_COMMANDS(X)

#define LAYER_SPECIALIZE_DECLARE(name, stand_in)                                                   \
    extern __typeof__(*(PFN_##stand_in)0) layer_specialize_##stand_in;
LAYER_SPECIALIZE_PIPELINE_COMMANDS(LAYER_SPECIALIZE_DECLARE)
LAYER_SPECIALIZE_RECORDING_COMMANDS(LAYER_SPECIALIZE_DECLARE)
LAYER_SPECIALIZE_FINISHED_COMMANDS(LAYER_SPECIALIZE_DECLARE)

#endif
