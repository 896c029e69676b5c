/* SPDX-License-Identifier: MIT */
/* A program's command line as a table: parsing, range checks and --help. */
#include "options.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report.h"

static void help_print(const struct sample_option *options, size_t count, const char *purpose)
{
    printf("Usage: %s [options]\n%s\n\n", program_invocation_short_name, purpose);
    for (size_t i = 0; i < count; ++i) {
        char left[40];
        snprintf(left, sizeof left, "%s %s", options[i].name,
                 options[i].value ? options[i].value : "");
        printf("  %-20s %s\n", left, options[i].help);
    }
    printf("  %-20s %s\n", "--help", "print this and exit");
}

/* Accepts decimal digits only: strtoul would also accept signs, spaces and any text behind. */
static bool number_parse(const char *text, char end, uint32_t *number, const char **rest)
{
    uint64_t value = 0;
    const char *at = text;
    for (; *at >= '0' && *at <= '9'; ++at) {
        value = value * 10 + (uint64_t)(*at - '0');
        if (value > UINT32_MAX)
            return false;
    }
    if (at == text || *at != end)
        return false;
    *number = (uint32_t)value;
    *rest = at;
    return true;
}

static bool value_parse(const struct sample_option *option, const char *text)
{
    const char *rest = text;
    uint32_t number[2] = {0, 0};

    switch (option->kind) {
    case SAMPLE_OPTION_FLAG:
        *(bool *)option->to = true;
        return true;
    case SAMPLE_OPTION_NUMBER:
        if (!number_parse(text, '\0', &number[0], &rest) || number[0] < option->least ||
            number[0] > option->most) {
            sample_complain("%s '%s': expected a whole number from %u to %u", option->name, text,
                            option->least, option->most);
            return false;
        }
        *(uint32_t *)option->to = number[0];
        return true;
    case SAMPLE_OPTION_SIZE:
        if (!number_parse(text, 'x', &number[0], &rest) ||
            !number_parse(rest + 1, '\0', &number[1], &rest) || number[0] < option->least ||
            number[0] > option->most || number[1] < option->least || number[1] > option->most) {
            sample_complain("%s '%s': expected WIDTHxHEIGHT, each from %u to %u", option->name,
                            text, option->least, option->most);
            return false;
        }
        memcpy(option->to, number, sizeof number);
        return true;
    case SAMPLE_OPTION_TEXT:
        if (!*text) {
            sample_complain("%s: expected %s, got nothing", option->name, option->value);
            return false;
        }
        *(const char **)option->to = text;
        return true;
    }
    return false;
}

int sample_options_parse(const struct sample_option *options, size_t count, const char *purpose,
                         int argc, char **argv)
{
    for (int i = 1; i < argc; ++i) {
        if (!strcmp(argv[i], "--help") || !strcmp(argv[i], "-h")) {
            help_print(options, count, purpose);
            if (fflush(stdout) || ferror(stdout)) {
                sample_complain("cannot write the help: %s", strerror(errno));
                return SAMPLE_EXIT_FAILED;
            }
            return SAMPLE_EXIT_DONE;
        }

        const char *equals = strchr(argv[i], '=');
        size_t length = equals ? (size_t)(equals - argv[i]) : strlen(argv[i]);
        const struct sample_option *option = NULL;
        for (size_t o = 0; o < count && !option; ++o) {
            if (strlen(options[o].name) == length && !strncmp(options[o].name, argv[i], length))
                option = &options[o];
        }
        if (!option) {
            sample_complain("unknown argument '%s'; --help lists the options", argv[i]);
            return SAMPLE_EXIT_USAGE;
        }

        const char *text = equals ? equals + 1 : NULL;
        if (option->kind == SAMPLE_OPTION_FLAG && text) {
            sample_complain("%s takes no value, got '%s'", option->name, text);
            return SAMPLE_EXIT_USAGE;
        }
        if (option->kind != SAMPLE_OPTION_FLAG && !text) {
            if (++i == argc) {
                sample_complain("%s needs a value: %s", option->name, option->value);
                return SAMPLE_EXIT_USAGE;
            }
            text = argv[i];
        }
        if (!value_parse(option, text))
            return SAMPLE_EXIT_USAGE;
    }
    return SAMPLE_OPTIONS_GO_ON;
}
