/* SPDX-License-Identifier: MIT */
/*
 * From a file to a report: reads it once in bounded memory, and, where a frame is asked for that
 * has left the window by then, for a second time as far as that goes.
 */
#ifndef BELFRY_CLI_TRACE_LOAD_H
#define BELFRY_CLI_TRACE_LOAD_H

#include "cli/trace_report.h"

struct trace_load {
    struct trace_report report; /* whole if 'usable' */
    bool usable;
    bool intact;       /* nothing in the file is damaged; one that is cut short isn't */
    char message[512]; /* what is wrong with the file or the request; "": nothing */
    struct trace_path path;
    struct trace_reader reader;
};

/* NULL: out of memory. */
struct trace_load *trace_load_create(void);
void trace_load_destroy(struct trace_load *load);

/* Reads 'fd', which messages call 'name' (it must stay). 'frame' 0: the one that tells most. */
void trace_load_run(struct trace_load *load, const char *name, int fd, uint64_t frame);

#endif
