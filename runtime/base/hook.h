/*
 * Points at which a test may step in, to have races come out in every order. In the library that is
 * installed there are none: BF_HOOK is nothing unless BELFRY_HOOKS is defined.
 */
#ifndef BELFRY_BASE_HOOK_H
#define BELFRY_BASE_HOOK_H

#include "base/export.h"

enum bf_hook_point {
    BF_HOOK_MONITORED, /* a monitored value has been written, the current one not yet looked at */
    BF_HOOK_WOKEN,     /* a sleeper's wait for the GPU is over, and it has not looked yet */
    BF_HOOK_MAP_PROBE, /* a map's reader has seen a slot that isn't its key's, and not the next */
};

#ifdef BELFRY_HOOKS
/* Set by the test while nobody else is at work; NULL at first. */
extern BF_SHARED void (*bf_hook)(enum bf_hook_point point);
#define BF_HOOK(point_)                                                                            \
    do {                                                                                           \
        if (bf_hook)                                                                               \
            bf_hook(point_);                                                                       \
    } while (0)
#else
#define BF_HOOK(point_) ((void)0)
#endif

#endif
