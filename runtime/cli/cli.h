/* SPDX-License-Identifier: MIT */
/*
 * The program 'belfry': one file per command.
 */
#ifndef BELFRY_CLI_CLI_H
#define BELFRY_CLI_CLI_H

#include <getopt.h>

/* The exit codes of 'belfry'. 'belfry run' otherwise exits with the exit code of the program. */
enum cli_exit {
    CLI_DONE = 0,
    CLI_FAILED = 1,
    CLI_USAGE = 2,            /* an option or argument is wrong; nothing was done */
    CLI_NO_DEVICE = 77,       /* no Vulkan driver, or one without a GPU */
    CLI_NOT_EXECUTABLE = 126, /* the program is there, but can't be run */
    CLI_NOT_FOUND = 127,      /* the program isn't there */
};

struct cli_command {
    const char *name;
    const char *arguments;
    const char *summary;
    const char *details;                /* the rest of 'belfry help NAME' */
    int (*main)(int argc, char **argv); /* argv[0] is the command's name */
};

extern const struct cli_command cli_run;
extern const struct cli_command cli_list;
extern const struct cli_command cli_log;
extern const struct cli_command cli_settings;
extern const struct cli_command cli_top;
extern const struct cli_command cli_trace;

/* One line on stderr, "belfry run: ..." for the command 'name'. Returns CLI_USAGE. */
__attribute__((format(printf, 2, 3))) int cli_usage(const char *name, const char *format, ...);
/* The same, where the arguments of the command 'name' have an option that isn't in 'options', which
 * getopt_long has just come to: suggests one that is near. */
int cli_usage_option(const char *name, const struct option *options, char **argv);
__attribute__((format(printf, 1, 2))) void cli_warn(const char *format, ...);

/* Formats a text, which the caller frees; ends the program if there is no memory. */
__attribute__((format(printf, 1, 2))) char *cli_format(const char *format, ...);

#define CLI_MANIFEST "VkLayer_belfry_multi_engine.json"

/* The path of the layer's explicit manifest in the tree that this program lies in, or NULL after a
 * line on stderr. The caller frees it. */
char *cli_manifest(void);

#endif
