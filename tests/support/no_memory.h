/* SPDX-License-Identifier: MIT */
/* Stand-ins for malloc, calloc and realloc, for the one file of a test that says when there is no
 * memory: by has_none, which it defines. With NO_MEMORY_WRAPPED they are those of the linker's
 * --wrap, else the process's own functions are replaced. */
#ifndef BELFRY_TESTS_SUPPORT_NO_MEMORY_H
#define BELFRY_TESTS_SUPPORT_NO_MEMORY_H

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

static bool has_none(void);

#ifdef NO_MEMORY_WRAPPED
#define NO_MEMORY_REAL(name_) __real_##name_
#define NO_MEMORY_OURS(name_) __wrap_##name_
#else
/* glibc's own, under the names it keeps for those who replace the others. */
#define NO_MEMORY_REAL(name_) __libc_##name_
#define NO_MEMORY_OURS(name_) name_
#endif

void *NO_MEMORY_REAL(malloc)(size_t size);
void *NO_MEMORY_REAL(calloc)(size_t count, size_t size);
void *NO_MEMORY_REAL(realloc)(void *memory, size_t size);
#pragma GCC visibility push(default)
void *NO_MEMORY_OURS(malloc)(size_t size);
void *NO_MEMORY_OURS(calloc)(size_t count, size_t size);
void *NO_MEMORY_OURS(realloc)(void *memory, size_t size);
#pragma GCC visibility pop

void *NO_MEMORY_OURS(malloc)(size_t size)
{
    return has_none() ? NULL : NO_MEMORY_REAL(malloc)(size);
}

void *NO_MEMORY_OURS(calloc)(size_t count, size_t size)
{
    return has_none() ? NULL : NO_MEMORY_REAL(calloc)(count, size);
}

void *NO_MEMORY_OURS(realloc)(void *memory, size_t size)
{
    return has_none() ? NULL : NO_MEMORY_REAL(realloc)(memory, size);
}

#endif
