/* SPDX-License-Identifier: MIT */
/*
 * The layer's part of the specialiser, for its own files: the commands that stand in for the
 * driver's and what they keep of a device. What the rest of the layer calls is in interface.h.
 *
 * What can't be kept for want of memory leaves the general pipeline in use; the program's call
 * doesn't notice.
 */
#ifndef BELFRY_LAYER_SPECIALIZE_H
#define BELFRY_LAYER_SPECIALIZE_H

#include "layer/layer.h"
#include "layer/specialize/interface.h"
#include "specialize/specialize.h"

struct layer_recorder;

/* Of a device. */
struct layer_specializer {
    struct bf_specializer *model;        /* what is decided, built and measured: the library's */
    struct bf_execute_observer observer; /* of what command queues execute */
    struct layer_recorder *recorder;     /* recording.c */
    struct bf_map recordings;            /* of struct bf_recording, by command buffer */
};

/* submission.c. Has the runtime tell what the device's command queues execute. */
void layer_specialize_observe(struct layer_device *d);

/* recording.c. What it keeps about the device's command buffers. False: out of memory. */
bool layer_recorder_create(struct layer_specializer *s);
/* Before the model is destroyed. */
void layer_recorder_destroy(struct layer_specializer *s);

/* Each command's stand-in is layer_specialize_<command>, declared with the command's own type. */
#define LAYER_SPECIALIZE_DECLARE(name) extern __typeof__(*(PFN_##name)0) layer_specialize_##name;
LAYER_SPECIALIZE_STAND_INS(LAYER_SPECIALIZE_DECLARE)

#endif
