/* SPDX-License-Identifier: MIT */
/*
 * Who waits for the end of a traced program, to say that nothing was traced: a program that never
 * loads the layer can't say so itself, and 'belfry run' has become that program.
 *
 *  RW-1  There is one only where a person reads stderr, on a terminal: it says its line when the
 *        program is over, and so perhaps behind the shell's prompt, or too late for a script.
 *  RW-2  It is nobody's child that the program could find with wait, in a session of its own, which
 *        no signal of the terminal reaches, and holds no file of the program's open but stderr. It
 *        sleeps until the program is over, and ends then.
 */
#ifndef BELFRY_CLI_RUN_WATCH_H
#define BELFRY_CLI_RUN_WATCH_H

/* Starts it for this process, which is about to become 'program' and to write 'trace'. Returns what
 * run_watch_end takes: the program hasn't come to be. Where there is none: -1. */
int run_watch_begin(const char *program, const char *trace);
void run_watch_end(int watch);

#endif
