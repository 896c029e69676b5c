/* SPDX-License-Identifier: MIT */
/*
 * The parts of 'belfry top': live pages of a process (top_page.c), what they say as text
 * (top_text.c), the terminal (top_screen.c).
 */
#ifndef BELFRY_CLI_TOP_H
#define BELFRY_CLI_TOP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#include "standstill/live_page.h"

#define TOP_DEVICES 8 /* of a process; further ones are not shown */

/* --------------------------------------------------------------------------------- Processes -- */

struct top_process {
    pid_t id;
    int folder; /* /proc/ID: of this process, whoever has its number later */
    char name[32];
};

/* False: there is none. */
bool top_process_open(struct top_process *process, pid_t id);
void top_process_close(struct top_process *process);
/* proc(5)'s letter; 0: it has ended. */
char top_process_state(const struct top_process *process);

/* ------------------------------------------------------------------------------------- Pages -- */

enum top_answer {
    TOP_ANSWERED,
    TOP_SILENT,        /* not in time */
    TOP_OTHER_VERSION, /* of the page: 'version' */
    TOP_DAMAGED,       /* it isn't what a watchdog writes */
};

struct top_device {
    ino_t inode; /* tells the page from others */
    enum top_answer answer;
    uint32_t version;
    struct bf_live_view view; /* checked (LP-2): TOP_ANSWERED */
};

/* The pages that the process has, up to 'room'. Returns how many; -1: the process may not be looked
 * at. With 'devices' NULL they are counted. Else each is asked, and what has come after 'wait_ns'
 * is in 'devices'. */
int top_devices_look(const struct top_process *process, struct top_device *devices, size_t room,
                     uint64_t wait_ns);

/* Makes the view such that it can be shown, whatever it was: false if a count or a string is none;
 * what would control a terminal becomes '?'. */
bool top_view_check(struct bf_live_view *view);
/* The same of one string of valid length. */
void top_text_tame(char *text);

/* -------------------------------------------------------------------------------------- Text -- */

/* Writes what is known of the process, in lines. 'before' is what was known 'before_count' devices
 * ago: of what is in both, rates are shown. */
void top_write(FILE *to, const struct top_process *process, const struct top_device *devices,
               size_t count, const struct top_device *before, size_t before_count);

/* ---------------------------------------------------------------------------------- Terminal -- */

enum top_event {
    TOP_TICK,  /* the time has come */
    TOP_QUIT,  /* q, Ctrl-C */
    TOP_ENDED, /* the process has */
};

/* Takes the terminal, if standard output is one that can be drawn on; else text goes to it as it
 * is. */
struct top_screen;
struct top_screen *top_screen_open(void);
void top_screen_show(struct top_screen *screen, const char *text);
/* Until the time on CLOCK_MONOTONIC; 'process' is a pidfd, or -1. */
enum top_event top_screen_wait(struct top_screen *screen, uint64_t until_ns, int process);
/* Gives the terminal back as it was. A signal that was to end the program does so now. */
void top_screen_close(struct top_screen *screen);

#endif
