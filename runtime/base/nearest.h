/* SPDX-License-Identifier: MIT */
/* Suggestions: which of several names somebody has meant. Thread-safety: safe. */
#ifndef BELFRY_BASE_NEAREST_H
#define BELFRY_BASE_NEAREST_H

#include <stddef.h>

/* The one of 'names' (up to 'count', or to the first NULL) that 'written' ('length' bytes) is a
 * slip of, without regard to case; NULL if it is a slip of none. A slip leaves out, adds, changes
 * or swaps a letter: one in names of up to four letters, one more for each three further; or the
 * end is missing, of three letters at least. */
const char *bf_nearest(const char *written, size_t length, const char *const *names, size_t count);

#endif
