/* SPDX-License-Identifier: MIT */
/*
 * Exit codes of the samples, and their error messages: one line on stderr that begins with the
 * program's name.
 */
#ifndef SAMPLE_REPORT_H
#define SAMPLE_REPORT_H

#include <volk.h>

enum sample_exit {
    SAMPLE_EXIT_DONE = 0,
    SAMPLE_EXIT_FAILED = 1,
    SAMPLE_EXIT_USAGE = 2,      /* an argument is wrong; the line names it */
    SAMPLE_EXIT_NO_DEVICE = 77, /* nothing is broken, but this machine can't run it */
};

/* Prints "program: message" and a newline on stderr. Safe on any thread. */
__attribute__((format(printf, 1, 2))) void sample_complain(const char *format, ...);

/* Returns `result`; if it is an error (a negative value), reports it with the call's name. */
VkResult sample_check(VkResult result, const char *call);

/* The enumerant's name; static storage. */
const char *sample_result_name(VkResult result);

#endif
