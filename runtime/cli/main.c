/* SPDX-License-Identifier: MIT */
/* The program 'belfry': finds the command that was asked for, and prints help. */
#include "cli/cli.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/nearest.h"
#include "belfry/belfry.h"

static const struct cli_command *const commands[] = {&cli_run,      &cli_list, &cli_log,
                                                     &cli_settings, &cli_top,  &cli_trace};
#define COMMAND_COUNT (sizeof(commands) / sizeof(commands[0]))

int cli_usage(const char *name, const char *format, ...)
{
    va_list arguments;
    fprintf(stderr, "belfry%s%s: ", *name ? " " : "", name);
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fprintf(stderr, " (see 'belfry help%s%s')\n", *name ? " " : "", name);
    return CLI_USAGE;
}

/* Reports that there is no 'what' of that name (of which a suggestion begins with 'dashes'). */
static int unknown(const char *command, const char *what, const char *dashes, const char *written,
                   const char *const *names, size_t count)
{
    size_t skipped = strspn(written, "-");
    const char *nearest =
        bf_nearest(written + skipped, strcspn(written + skipped, "="), names, count);
    if (!nearest)
        return cli_usage(command, "there is no %s '%s'", what, written);
    return cli_usage(command, "there is no %s '%s'; did you mean '%s%s'?", what, written, dashes,
                     nearest);
}

int cli_usage_option(const char *name, const struct option *options, char **argv)
{
    const char *names[16] = {NULL};
    for (size_t i = 0; options[i].name && i < 15; i++)
        names[i] = options[i].name;
    /* Of '-xyz' getopt_long names the letter. */
    char letter[] = {'-', (char)optopt, '\0'};
    return unknown(name, "option", "--", optopt ? letter : argv[optind - 1], names,
                   optopt ? 0 : 16);
}

void cli_warn(const char *format, ...)
{
    va_list arguments;
    fprintf(stderr, "belfry: ");
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fprintf(stderr, "\n");
}

char *cli_format(const char *format, ...)
{
    char *text;
    va_list arguments;
    va_start(arguments, format);
    int length = vasprintf(&text, format, arguments);
    va_end(arguments);
    if (length < 0) {
        cli_warn("out of memory");
        exit(CLI_FAILED);
    }
    return text;
}

static const struct cli_command *command_find(const char *name)
{
    for (size_t i = 0; i < COMMAND_COUNT; i++) {
        if (strcmp(commands[i]->name, name) == 0) {
            return commands[i];
        }
    }
    return NULL;
}

static int command_unknown(const char *name)
{
    const char *names[COMMAND_COUNT + 1] = {"help"};
    const char *const options[] = {"help", "version"};
    for (size_t i = 0; i < COMMAND_COUNT; i++)
        names[i + 1] = commands[i]->name;
    return *name == '-' ? unknown("", "option", "--", name, options, 2)
                        : unknown("", "command", "", name, names, COMMAND_COUNT + 1);
}

static void help_all(void)
{
    printf("Belfry: D3D12's multi-engine execution model on Vulkan.\n\n"
           "Usage: belfry COMMAND [ARGUMENTS]\n\n");
    for (size_t i = 0; i < COMMAND_COUNT; i++) {
        printf("  belfry %-10s %s\n", commands[i]->name, commands[i]->summary);
    }
    printf("  belfry %-10s %s\n", "help", "explains a command: belfry help run");
    printf("\n  -h, --help      this text\n"
           "  -V, --version   the version\n\n"
           "Exit codes: 0 done, 1 failed, 2 wrong arguments, 77 no Vulkan device,\n"
           "126 the program can't be run, 127 there is no such program;\n"
           "'belfry run' otherwise exits with what the program exits with.\n");
}

static int help_command(const char *name)
{
    const struct cli_command *command = command_find(name);
    if (!command) {
        return command_unknown(name);
    }
    printf("Usage: belfry %s%s%s\n\n%s", command->name, *command->arguments ? " " : "",
           command->arguments, command->details);
    return CLI_DONE;
}

static int help_main(int argc, char **argv)
{
    if (argc > 2) {
        return cli_usage("", "'help' explains one command at a time");
    }
    if (argc == 2 && strcmp(argv[1], "help") != 0) {
        return help_command(argv[1]);
    }
    help_all();
    return CLI_DONE;
}

/* Is there an option --help before the "--" that ends a command's options? */
static int wants_help(int argc, char **argv)
{
    return argc > 1 && (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0);
}

int main(int argc, char **argv)
{
    if (argc < 2) {
        help_all();
        return CLI_USAGE;
    }
    const char *name = argv[1];
    int result;
    if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0) {
        help_all();
        result = CLI_DONE;
    } else if (strcmp(name, "--version") == 0 || strcmp(name, "-V") == 0) {
        uint32_t version = bfGetVersion();
        printf("belfry %u.%u.%u\n", version >> 22, version >> 12 & 0x3ff, version & 0xfff);
        result = CLI_DONE;
    } else if (strcmp(name, "help") == 0) {
        result = help_main(argc - 1, argv + 1);
    } else {
        const struct cli_command *command = command_find(name);
        if (!command) {
            return command_unknown(name);
        }
        result =
            wants_help(argc - 1, argv + 1) ? help_command(name) : command->main(argc - 1, argv + 1);
    }
    /* Reports output that could not be written, because the disk is full for instance. */
    if (fflush(stdout) != 0 || ferror(stdout)) {
        cli_warn("writing to standard output failed");
        return result ? result : CLI_FAILED;
    }
    return result;
}
