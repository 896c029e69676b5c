/* SPDX-License-Identifier: MIT */
/*
 * The queues, fences, events and log readers that are alive, process-wide (not the
 * devices), and the names that the program has given them. A function of the C API can so
 * tell a destroyed or foreign handle from a live one without touching the memory behind it.
 *
 * H-1  A live handle is always found; a destroyed one is not, until its address is used again by an
 *      object of the same kind.
 */
#ifndef BELFRY_BASE_HANDLE_H
#define BELFRY_BASE_HANDLE_H

#include <stdbool.h>

enum bf_handle_kind {
    BF_HANDLE_QUEUE = 1,
    BF_HANDLE_FENCE,
    BF_HANDLE_EVENT,
    BF_HANDLE_LOG_READER,
    BF_HANDLE_BACKGROUND, /* a device, for calls that may take no lock */
};

/* False: out of memory. Thread-safety: safe. */
bool bf_handle_add(const void *object, enum bf_handle_kind kind);
/* Removes its name, too. */
void bf_handle_remove(const void *object);

/* Is it a live object of that kind? Any pointer value is allowed, NULL too. Thread-safety: safe,
 * lock-free. */
bool bf_handle_is(const void *object, enum bf_handle_kind kind);

/* As bf_handle_is; if it is none, one line says so and names the call and the argument. */
bool bf_handle_check(const void *object, enum bf_handle_kind kind, const char *call,
                     const char *argument);

/* The program's name for a live object: copied, up to 127 bytes; NULL or "" is none. False: out of
 * memory, it keeps the name that it had. Thread-safety: safe. */
bool bf_handle_name(const void *object, const char *name);

/* For messages: " 'NAME'", or "" for an object without a name. Thread-safety: safe. */
#define BF_HANDLE_LABEL 132
const char *bf_handle_label(const void *object, char label[BF_HANDLE_LABEL]);

/* The same, in a buffer of the calling block. */
#define BF_LABEL(object) bf_handle_label(object, (char[BF_HANDLE_LABEL]){0})

#endif
