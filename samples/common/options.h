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
    SAMPLE_OPTION_NUMBER, /* `to` is a uint32_t from least to most */
    SAMPLE_OPTION_SIZE,   /* WIDTHxHEIGHT; `to` is a uint32_t[2], each from least to most */
    SAMPLE_OPTION_TEXT,   /* not empty; `to` is a const char *, pointing into argv */
};

struct sample_option {
    const char *name;  /* with its dashes */
    const char *value; /* the value's name in --help; NULL for a flag */
    const char *help;
    enum sample_option_kind kind;
    void *to; /* not written if the option isn't given */
    uint32_t least, most;
};

/* Returned if the program is to continue; any other value is its exit code. */
#define SAMPLE_OPTIONS_GO_ON (-1)

/* Accepts "--name value" and "--name=value"; of several the last one counts. Handles --help. */
int sample_options_parse(const struct sample_option *options, size_t count, const char *purpose,
                         int argc, char **argv);

#endif
