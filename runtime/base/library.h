/* SPDX-License-Identifier: MIT */
/* Libraries that have to stay in the process, whoever closes them. */
#ifndef BELFRY_BASE_LIBRARY_H
#define BELFRY_BASE_LIBRARY_H

#include <dlfcn.h>
#include <stdint.h>

/* The library that has something at this address is never unmapped. Nothing is done where that
 * isn't known. Thread-safety: safe. */
static inline void bf_library_stay(uintptr_t address)
{
    Dl_info info;
    if (dladdr((void *)address, &info) && info.dli_fname)
        dlopen(info.dli_fname, RTLD_NOW | RTLD_NOLOAD | RTLD_NODELETE);
}

#endif
