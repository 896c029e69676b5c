/* SPDX-License-Identifier: MIT */
/*
 * libbelfry, as the layer finds it beside itself: a table of functions
 * (runtime/interface/interface.h), each called by its own name.
 */
#ifndef BELFRY_LAYER_LIBRARY_H
#define BELFRY_LAYER_LIBRARY_H

#include <stdbool.h>

/* Before anything else of the library is called. False: it is of another build, and nothing of it
 * may be called; the first time one line says so. Thread-safety: safe. */
bool layer_library_open(void);

#endif
