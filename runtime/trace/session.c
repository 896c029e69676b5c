/* SPDX-License-Identifier: MIT */
/* Opens and closes the trace of a device, as its settings say. */
#include "trace/session.h"

#include <errno.h>
#include <stdio.h>

struct bf_trace *bf_trace_session_open(const struct bf_settings *settings, const char *device_name,
                                       uint32_t driver_version)
{
    if (!settings->trace && !settings->summary)
        return NULL;
    char driver[64];
    snprintf(driver, sizeof(driver), "driver version 0x%08x", driver_version);
    const struct bf_trace_info info = {
        .path = settings->trace,
        .program = program_invocation_short_name,
        .device = device_name,
        .driver = driver,
    };
    struct bf_trace *trace = NULL;
    bf_trace_create(&info, &trace);
    return trace;
}

void bf_trace_session_close(struct bf_trace *trace, bool summary)
{
    if (summary)
        bf_trace_print_summary(trace, stderr);
    bf_trace_destroy(trace);
}
