/*
 * One line to the user. Every message begins with "belfry: " and names call, argument and value.
 * Thread-safety: safe; a line is written by one call and never torn.
 */
#ifndef BELFRY_BASE_MESSAGE_H
#define BELFRY_BASE_MESSAGE_H

#include <stdarg.h>

#include "base/export.h"

enum bf_message_level {
    BF_MESSAGE_NONE,
    BF_MESSAGE_ERROR,
    BF_MESSAGE_WARNING,
    BF_MESSAGE_INFO,
};

/* Lines above 'level' are dropped; the process starts with BF_MESSAGE_WARNING. */
BF_SHARED void bf_message_set_level(enum bf_message_level level);
BF_SHARED void bf_message(enum bf_message_level level, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void bf_message_list(enum bf_message_level level, const char *format, va_list arguments)
    __attribute__((format(printf, 2, 0)));

#endif
