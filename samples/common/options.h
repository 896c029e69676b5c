/* SPDX-License-Identifier: MIT */
/*
 * A program's command line as a table: parsing, range checks and --help from one description.
 */
#ifndef SAMPLE_OPTIONS_H
#define SAMPLE_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum sample_option_kind {
    SAMPLE_OPTION_FLAG,   /* takes no value; `to` is a bool */
    SAMPLE_OPTION_NUMBER, /* `to` is a uint32_t within least..most */
    SAMPLE_OPTION_SIZE,   /* WIDTHxHEIGHT; `to` is a uint32_t[2], each within least..most */
    SAMPLE_OPTION_TEXT,   /* not empty; `to` is a const char *, pointing into argv */
};

struct sample_option {
    const char *name;  /* with its dashes */
    const char *value; /* what --help calls the value; NULL for a flag */
    const char *help;
    enum sample_option_kind kind;
    void *to; /* left alone when the option is not given */
    uint32_t least, most;
};

/* Returned when the program is to go on; anything else is the code to exit with. */
#define SAMPLE_OPTIONS_GO_ON (-1)

/* Accepts "--name value" and "--name=value"; the last one wins. --help is understood by itself. */
int sample_options_parse(const struct sample_option *options, size_t count, const char *purpose,
                         int argc, char **argv);

#endif
