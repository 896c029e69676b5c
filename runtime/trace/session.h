/* SPDX-License-Identifier: MIT */
/*
 * A trace session: the trace of one device, from its creation to its end, as the settings ask for
 * it. Devices of one process share a file (trace/output.h, O-5).
 *
 * Thread-safety: safe, for different traces.
 */
#ifndef BELFRY_TRACE_SESSION_H
#define BELFRY_TRACE_SESSION_H

#include "settings/settings.h"
#include "trace/trace.h"

/* NULL: the settings ask for none, or it can't be created (one line says why): the device then goes
 * without one. */
struct bf_trace *bf_trace_session_open(const struct bf_settings *settings, const char *device_name,
                                       const char *driver);

/* A program has the layer in an instance, with these settings: where they ask for something about
 * devices, and the process ends and has never created one, a line says so. */
void bf_trace_session_expect(const struct bf_settings *settings);
/* The process has created a device. */
void bf_trace_session_met(void);

/* After the bf_device is destroyed, or where it could not be created. 'summary': a summary of the
 * trace is printed to stderr. NULL is allowed. */
void bf_trace_session_close(struct bf_trace *trace, bool summary);

#endif
