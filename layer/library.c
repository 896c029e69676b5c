/* SPDX-License-Identifier: MIT */
/*
 * libbelfry's functions for the layer. Their table is fetched once and copied, so that a call costs
 * no more than one through the procedure linkage table.
 */
#include "layer/library.h"

#include <stdio.h>

#include "base/lock.h"
#include "interface/interface.h"
#include "interface/version.h"

/* Weak: a program has to start even if the library has no such function. */
extern __typeof__(bf_layer_interface) bf_layer_interface __attribute__((weak));

static struct bf_layer_interface library;

#define ANOTHER_BUILD "belfry: libbelfry beside the layer is of another build "

bool layer_library_open(void)
{
    static struct bf_lock lock;
    static enum { UNKNOWN, USABLE, UNUSABLE } state;
    bf_lock_acquire(&lock);
    if (state == UNKNOWN) {
        const struct bf_layer_interface *found =
            bf_layer_interface ? bf_layer_interface(BF_LAYER_INTERFACE_VERSION) : NULL;
        if (found)
            library = *found;
        else if (bf_layer_interface)
            fprintf(stderr, ANOTHER_BUILD "(no interface %08x): everything passes through\n",
                    BF_LAYER_INTERFACE_VERSION);
        else
            fputs(ANOTHER_BUILD "(no bf_layer_interface): everything passes through\n", stderr);
        state = found ? USABLE : UNUSABLE;
    }
    bool usable = state == USABLE;
    bf_lock_release(&lock);
    return usable;
}

/* Defines the layer's function for a row of a folder's list, which calls the library's. */
#define FORWARD(type, name, parameters, arguments)                                                 \
    type name parameters                                                                           \
    {                                                                                              \
        return library.SECTION.name arguments;                                                     \
    }

#define SECTION base
BF_BASE_INTERFACE(FORWARD)
#undef SECTION
#define SECTION settings
BF_SETTINGS_INTERFACE(FORWARD)
#undef SECTION
#define SECTION trace
BF_TRACE_INTERFACE(FORWARD)
#undef SECTION
#define SECTION gpu
BF_GPU_INTERFACE(FORWARD)
#undef SECTION
#define SECTION scheduler
BF_SCHEDULER_INTERFACE(FORWARD)
#undef SECTION
#define SECTION fence
BF_FENCE_INTERFACE(FORWARD)
#undef SECTION
#define SECTION queue
BF_QUEUE_INTERFACE(FORWARD)
#undef SECTION
#define SECTION background
BF_BACKGROUND_INTERFACE(FORWARD)
#undef SECTION
#define SECTION access
BF_ACCESS_INTERFACE(FORWARD)
#undef SECTION
#define SECTION standstill
BF_STANDSTILL_INTERFACE(FORWARD)
#undef SECTION
#define SECTION device
BF_DEVICE_INTERFACE(FORWARD)
#undef SECTION

void bf_message(enum bf_message_level level, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    bf_message_list(level, format, arguments);
    va_end(arguments);
}
