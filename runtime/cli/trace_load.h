/* SPDX-License-Identifier: MIT */
/* Reads a file into a report, once and in bounded memory. Where a frame is asked for that has left
 * the window by the end, the file is read a second time, up to that frame. */
#ifndef BELFRY_CLI_TRACE_LOAD_H
#define BELFRY_CLI_TRACE_LOAD_H

#include "cli/trace_report.h"

struct trace_load {
    struct trace_report report; /* complete if 'usable' */
    bool usable;
    bool intact;       /* nothing in the file is damaged; a file that is cut short isn't damaged */
    char message[512]; /* what is wrong with the file or the request; "": nothing */
    struct trace_path path;
    struct trace_reader reader;
};

/* NULL: out of memory. */
struct trace_load *trace_load_create(void);
void trace_load_destroy(struct trace_load *load);

/* Reads 'fd'; messages call it 'name', which must stay valid. 'frame' 0: the default frame. */
void trace_load_run(struct trace_load *load, const char *name, int fd, uint64_t frame);

/* Whether what 'fd' reads begins as a trace of Belfry's. */
bool trace_load_recognize(int fd);

#endif
