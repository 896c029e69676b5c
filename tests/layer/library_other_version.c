/* SPDX-License-Identifier: MIT */
/* A libbelfry of another build: it knows the layer, but no interface that this one asks for. */
#include <stddef.h>
#include <stdint.h>

__attribute__((visibility("default"))) const void *bf_layer_interface(uint32_t version);

const void *bf_layer_interface(uint32_t version)
{
    return version == 1 ? "" : NULL;
}
