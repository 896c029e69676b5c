/* SPDX-License-Identifier: MIT */
/*
 * The specialiser, for the rest of the layer: it builds variants of shaders for the push constants
 * that a program uses (runtime/specialize/specialize.h). If the setting 'specialize' is off, none
 * of its functions (the column 'specialize' of layer/registry/commands.csv) is ever handed out, so
 * it costs nothing. If it is on, they replace the layer's own, and call them.
 *
 * A build without it (BELFRY_SPECIALIZE=OFF) has none.c in its place: no device is specialised.
 */
#ifndef BELFRY_LAYER_SPECIALIZE_INTERFACE_H
#define BELFRY_LAYER_SPECIALIZE_INTERFACE_H

#include <vulkan/vulkan_core.h>

struct layer_device;
struct layer_instance;

/* Before the instance is created, with the setting loaded: keeps what a helper process is to know
 * of it. Without memory nothing is specialised. */
void layer_specialize_instance_create(struct layer_instance *instance,
                                      const VkInstanceCreateInfo *info);
void layer_specialize_instance_destroy(struct layer_instance *instance);

/* To be called when the device's runtime has been created; 'made' is what the driver's device was
 * created with. Leaves device->specializer NULL if the setting is off, or if it fails, with a line
 * that says why. */
void layer_specialize_create(struct layer_device *device, const VkDeviceCreateInfo *made);
/* To be called before the runtime's device is destroyed. */
void layer_specialize_destroy(struct layer_device *device);

/*
 * The program queries a command that the layer doesn't replace. If that is a command of some
 * extension which records draws, dispatches or push constants in an unknown way, it would be
 * recorded with the variant that happens to be bound: from then on only the program's own pipelines
 * are bound.
 */
void layer_specialize_asked(struct layer_device *device, const char *name);

#endif
