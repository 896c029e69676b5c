/* SPDX-License-Identifier: MIT */
/* Opens and closes the trace of a device, as its settings say. */
#include "trace/session.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

#include "base/message.h"

/* The process that expects a device, or 0. A forked child isn't expected to create one. */
static _Atomic pid_t expecting;
static _Atomic bool met;

struct bf_trace *bf_trace_session_open(const struct bf_settings *settings, const char *device_name,
                                       const char *driver)
{
    if (!settings->trace && !settings->summary)
        return NULL;
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

void bf_trace_session_expect(const struct bf_settings *settings)
{
    if (settings->trace || settings->summary || settings->report ||
        settings->check != BF_CHECK_NONE)
        atomic_store(&expecting, getpid());
}

void bf_trace_session_met(void)
{
    atomic_store(&met, true);
}

__attribute__((destructor)) static void session_end(void)
{
    if (atomic_load(&expecting) == getpid() && !atomic_load(&met))
        bf_message_at_exit(BF_MESSAGE_WARNING,
                           "%s has created no Vulkan device: there is nothing to trace or report",
                           program_invocation_short_name);
}

void bf_trace_session_close(struct bf_trace *trace, bool summary)
{
    if (summary)
        bf_trace_print_summary(trace, stderr);
    bf_trace_destroy(trace);
}
