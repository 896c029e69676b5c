/* SPDX-License-Identifier: MIT */
/*
 * How the layer calls libbelfry: by a table of functions (runtime/interface/interface.h), for each
 * of which the layer has a function of the same name.
 */
#ifndef BELFRY_LAYER_LIBRARY_H
#define BELFRY_LAYER_LIBRARY_H

#include <stdbool.h>

/* Must return true before anything else of the library is called. False: the library is of another
 * build, and nothing of it may be called; the first call says so in one line. Thread-safety:
 * safe. */
bool layer_library_open(void);

#endif
