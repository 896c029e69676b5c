/* SPDX-License-Identifier: MIT */
/*
 * The specialiser's part of the layer, for its own files: the functions that replace the driver's,
 * and their state of a device. interface.h has what the rest of the layer calls.
 *
 * If there is no memory for something, the general pipeline is used; the program's call succeeds.
 */
#ifndef BELFRY_LAYER_SPECIALIZE_H
#define BELFRY_LAYER_SPECIALIZE_H

#include "layer/layer.h"
#include "layer/specialize/interface.h"
#include "specialize/specialize.h"

struct layer_recorder;

/* The state of a device. */
struct layer_specializer {
    struct bf_specializer *model;        /* the library's: decides, builds and measures */
    struct bf_execute_observer observer; /* is told what command queues execute */
    struct layer_recorder *recorder;     /* recording.c */
    struct bf_map recordings;            /* of struct bf_recording, by command buffer */
};

/* submission.c. Registers the observer of the device's command queues. */
void layer_specialize_observe(struct layer_device *d);

/* recording.c. Creates the state of the device's command buffers. False: out of memory. */
bool layer_recorder_create(struct layer_specializer *s);
/* To be called before the model is destroyed. */
void layer_recorder_destroy(struct layer_specializer *s);

/* The specialiser's function for a command is layer_specialize_<command>, declared with the
 * command's own type. */
#define LAYER_SPECIALIZE_DECLARE(name) extern __typeof__(*(PFN_##name)0) layer_specialize_##name;
LAYER_SPECIALIZE_STAND_INS(LAYER_SPECIALIZE_DECLARE)

#endif
