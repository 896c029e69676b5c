/* SPDX-License-Identifier: MIT */
/*
 * Messages to the user, one line each: to stderr, where every line begins with "belfry: ", or to
 * the callback that the program has set. A message about a call names the call, the argument and
 * its value. Thread-safety: safe; a line on stderr is written by one call, so that lines of several
 * threads don't mix. The program's callback is called with whatever locks the caller holds.
 */
#ifndef BELFRY_BASE_MESSAGE_H
#define BELFRY_BASE_MESSAGE_H

#include <stdarg.h>

#include "belfry/belfry.h"

enum bf_message_level {
    BF_MESSAGE_NONE,
    BF_MESSAGE_ERROR = BF_MESSAGE_SEVERITY_ERROR,
    BF_MESSAGE_WARNING = BF_MESSAGE_SEVERITY_WARNING,
    BF_MESSAGE_INFO = BF_MESSAGE_SEVERITY_INFO,
};

/* Messages above 'level' are dropped; the process starts with BF_MESSAGE_WARNING. */
void bf_message_set_level(enum bf_message_level level);
void bf_message(enum bf_message_level level, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void bf_message_list(enum bf_message_level level, const char *format, va_list arguments)
    __attribute__((format(printf, 2, 0)));

/* To stderr even if there is a callback: at the end of the process that may be gone. */
void bf_message_at_exit(enum bf_message_level level, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
