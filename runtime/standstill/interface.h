/* SPDX-License-Identifier: MIT */
/*
 * The part of the layer's interface (interface/interface.h) that is standstill/'s: names by which
 * the watchdog tells.
 */
#ifndef BELFRY_STANDSTILL_INTERFACE_H
#define BELFRY_STANDSTILL_INTERFACE_H

#include "standstill/standstill.h"

/* clang-format off: it takes these for expressions */
#define BF_STANDSTILL_INTERFACE(F)                                                                 \
    F(void, bf_standstill_name,                                                                    \
      (struct bf_standstill * standstill, VkObjectType type, uint64_t handle, const char *name),   \
      (standstill, type, handle, name))                                                            \
    F(void, bf_standstill_buffer_begun,                                                            \
      (struct bf_standstill * standstill, VkCommandBuffer buffer), (standstill, buffer))           \
    F(void, bf_standstill_buffer_label,                                                            \
      (struct bf_standstill * standstill, VkCommandBuffer buffer, const char *label),              \
      (standstill, buffer, label))                                                                 \
    F(void, bf_standstill_forget_buffer,                                                           \
      (struct bf_standstill * standstill, VkCommandBuffer buffer), (standstill, buffer))
/* clang-format on */

#endif
