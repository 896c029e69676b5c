/* SPDX-License-Identifier: MIT */
/* The table of functions that the layer calls: filled in from the lists of the folders. */
#include "interface/interface.h"

#include "interface/version.h"

#define ENTRY(type, name, parameters, arguments) .name = name,

static const struct bf_layer_interface table = {
    .base = {BF_BASE_INTERFACE(ENTRY)},
    .settings = {BF_SETTINGS_INTERFACE(ENTRY)},
    .trace = {BF_TRACE_INTERFACE(ENTRY)},
    .gpu = {BF_GPU_INTERFACE(ENTRY)},
    .scheduler = {BF_SCHEDULER_INTERFACE(ENTRY)},
    .fence = {BF_FENCE_INTERFACE(ENTRY)},
    .queue = {BF_QUEUE_INTERFACE(ENTRY)},
    .background = {BF_BACKGROUND_INTERFACE(ENTRY)},
    .access = {BF_ACCESS_INTERFACE(ENTRY)},
    .standstill = {BF_STANDSTILL_INTERFACE(ENTRY)},
    .device = {BF_DEVICE_INTERFACE(ENTRY)},
};

const struct bf_layer_interface *bf_layer_interface(uint32_t version)
{
    return version == BF_LAYER_INTERFACE_VERSION ? &table : NULL;
}
