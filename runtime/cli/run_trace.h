/* SPDX-License-Identifier: MIT */
/*
 * The file of 'belfry run --trace FILE'.
 *
 * RU-2  An earlier trace gives way to a program that begins, and to nothing else.
 */
#ifndef BELFRY_CLI_RUN_TRACE_H
#define BELFRY_CLI_RUN_TRACE_H

/* May a trace be written to 'path', where there is nothing, an empty file, a trace of Belfry's that
 * nobody writes, or a character device? Sets '*file' to where what is there really lies (the caller
 * frees it), or to NULL. Returns CLI_DONE, or CLI_USAGE after a line. */
int run_trace_check(const char *path, char **file);

/* Removes the file that run_trace_check has found; '*kept' is a descriptor of it, or -1: there was
 * none. The program's start closes it. CLI_FAILED after a line. */
int run_trace_clear(const char *file, int *kept);

/* RU-2. No program has begun: a copy of the file takes its place again. */
void run_trace_restore(const char *file, int kept);

#endif
