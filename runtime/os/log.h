/*
 * One line to the user. Every message begins with "belfry: " and names call, argument and value.
 * Thread-safety: safe; a line is written by one call and never torn.
 */
#ifndef BELFRY_OS_LOG_H
#define BELFRY_OS_LOG_H

#include "os/export.h"
#include "settings/settings.h"

/* Lines above 'level' are dropped; the process starts with BF_LOG_WARNING. */
BF_SHARED void bf_log_set_level(enum bf_log_level level);
BF_SHARED void bf_log(enum bf_log_level level, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
