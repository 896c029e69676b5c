/* SPDX-License-Identifier: MIT */
/*
 * The part of the layer's interface (interface/interface.h) that is base/'s: messages. What else is
 * here has no state that the process shares: the layer has maps and hashes of its own.
 */
#ifndef BELFRY_BASE_INTERFACE_H
#define BELFRY_BASE_INTERFACE_H

#include "base/message.h"

/* clang-format off: it takes these for expressions */
#define BF_BASE_INTERFACE(F)                                                                       \
    F(void, bf_message_list, (enum bf_message_level level, const char *format, va_list arguments), \
      (level, format, arguments))                                                                  \
    F(void, bf_message_set_level, (enum bf_message_level level), (level))
/* clang-format on */

#endif
