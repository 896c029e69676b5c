/*
 * The timeline of a device, as its settings ask for one: the layer's devices and those that
 * programs attach have it from here, and devices of one process share a file (trace/output.h, O-5).
 *
 * Thread-safety: safe, for different traces.
 */
#ifndef BELFRY_DEVICE_TIMELINE_H
#define BELFRY_DEVICE_TIMELINE_H

#include "settings/settings.h"
#include "trace/trace.h"

/* NULL: none is wanted, or there can be none (one line has said why): that stops no program. */
BF_SHARED struct bf_trace *bf_timeline_open(const struct bf_settings *settings,
                                            const char *device_name, uint32_t driver_version);

/* When the bf_device is destroyed, or there was none. 'summary': it is printed to stderr. NULL is
 * allowed. */
BF_SHARED void bf_timeline_close(struct bf_trace *trace, bool summary);

#endif
