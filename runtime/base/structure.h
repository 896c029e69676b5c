/* SPDX-License-Identifier: MIT */
/*
 * What every struct of the public headers begins with, checked: sType and pNext, by the rules of
 * BfStructureType.
 */
#ifndef BELFRY_BASE_STRUCTURE_H
#define BELFRY_BASE_STRUCTURE_H

#include <stdbool.h>

#include "belfry/belfry.h"

/*
 * Whether 'structure' may be used as one of 'type', BF_STRUCTURE_TYPE_*. If not (it is NULL, its
 * sType is another, or its pNext isn't NULL: nothing extends most structs), one line says so;
 * 'call' is the function that was called, 'argument' what its declaration calls the pointer.
 * Thread-safety: safe.
 */
#define bf_structure_check(structure, type, call, argument)                                        \
    bf_structure_check_named(structure, type, #type, call, argument)
bool bf_structure_check_named(const void *structure, BfStructureType type, const char *name,
                              const char *call, const char *argument);

/* The same for a struct that one of the type 'extension' may extend: *extended becomes that one, or
 * NULL. */
#define bf_structure_check_extended(structure, type, extension, extended, call, argument)          \
    bf_structure_check_chain(structure, type, #type, extension, extended, call, argument)
bool bf_structure_check_chain(const void *structure, BfStructureType type, const char *name,
                              BfStructureType extension, const void **extended, const char *call,
                              const char *argument);

#endif
