/* SPDX-License-Identifier: MIT */
/*
 * The specialiser as the rest of the layer sees it: shaders rebuilt for the push constants that a
 * program really uses (runtime/specialize/specialize.h). With the setting 'specialize' off none of
 * its stand-ins (the column 'specialize' of layer/registry/commands.csv) is ever handed out, so
 * nothing is paid for it. With it on they stand before the layer's own, and call them.
 *
 * A build without it (BELFRY_SPECIALIZE=OFF) has none.c in its place: no device is specialised.
 */
#ifndef BELFRY_LAYER_SPECIALIZE_INTERFACE_H
#define BELFRY_LAYER_SPECIALIZE_INTERFACE_H

#include <vulkan/vulkan_core.h>

struct layer_device;

/* With the device's runtime made; 'made' is what the device below was created with. Leaves
 * device->specializer NULL where the setting is off, or says in one line why there is none. */
void layer_specialize_create(struct layer_device *device, const VkDeviceCreateInfo *made);
/* Before the runtime's device is destroyed. */
void layer_specialize_destroy(struct layer_device *device);

/*
 * The program asks for a command that nobody stands in for. One that records draws, dispatches or
 * push constants in a way that is not known here, some extension's, would be recorded with whatever
 * is bound: from then on nothing but the program's own pipelines is.
 */
void layer_specialize_asked(struct layer_device *device, const char *name);

#endif
