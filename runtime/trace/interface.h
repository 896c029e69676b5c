/* SPDX-License-Identifier: MIT */
/*
 * The part of the layer's interface (interface/interface.h) that is trace/'s.
 */
#ifndef BELFRY_TRACE_INTERFACE_H
#define BELFRY_TRACE_INTERFACE_H

#include "trace/session.h"
#include "trace/trace.h"

/* clang-format off: it takes these for expressions */
#define BF_TRACE_INTERFACE(F)                                                                      \
    F(void, bf_trace_session_close, (struct bf_trace * trace, bool summary), (trace, summary))     \
    F(struct bf_trace *, bf_trace_session_open,                                                    \
      (const struct bf_settings *settings, const char *device_name, const char *driver),           \
      (settings, device_name, driver))                                                             \
    F(void, bf_trace_session_expect, (const struct bf_settings *settings), (settings))             \
    F(void, bf_trace_session_met, (void), ())                                                      \
    F(void, bf_trace_command_buffer_begun, (struct bf_trace * trace, VkCommandBuffer buffer),      \
      (trace, buffer))                                                                             \
    F(void, bf_trace_command_buffer_label,                                                         \
      (struct bf_trace * trace, VkCommandBuffer buffer, const char *label),                        \
      (trace, buffer, label))                                                                      \
    F(void, bf_trace_forget_command_buffer, (struct bf_trace * trace, VkCommandBuffer buffer),     \
      (trace, buffer))                                                                             \
    F(void, bf_trace_name_command_buffer,                                                          \
      (struct bf_trace * trace, VkCommandBuffer buffer, const char *name), (trace, buffer, name))  \
    F(void, bf_trace_name_queue, (struct bf_trace * trace, uint32_t queue, const char *name),      \
      (trace, queue, name))                                                                        \
    F(void, bf_trace_name_semaphore,                                                               \
      (struct bf_trace * trace, uint64_t semaphore, const char *name), (trace, semaphore, name))   \
    F(void, bf_trace_swap,                                                                         \
      (struct bf_trace * trace, enum bf_trace_swap swap, uint64_t pipeline, uint32_t variant,      \
       const char *reason),                                                                        \
      (trace, swap, pipeline, variant, reason))
/* clang-format on */

#endif
