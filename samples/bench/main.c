/* SPDX-License-Identifier: MIT */
/*
 * belfry-bench: compares Belfry with the plain driver.
 */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../common/options.h"
#include "../common/report.h"
#include "bench.h"
#include "part.h"

static const struct bench *const benches[] = {&bench_submit,     &bench_fence,  &bench_log,
                                              &bench_background, &bench_record, &bench_specialize,
                                              &bench_doorbell,   &bench_preempt};
#define BENCH_COUNT (sizeof benches / sizeof benches[0])

/* A device that hangs must not hang the benchmark's caller: SIGALRM ends the program. */
#define PART_SECONDS  60
#define BENCH_SECONDS 900

/* Removes all of the caller's settings: the plain side must run without layers, and Belfry's side
 * with its defaults, but for the number of queues. The layer is found beside this program. */
static bool environment_prepare(void)
{
    static const char *const foreign[] = {
        "VK_INSTANCE_LAYERS",
        "VK_LOADER_LAYERS_ENABLE",
        "VK_LOADER_LAYERS_DISABLE",
        "VK_ADD_LAYER_PATH",
        "BELFRY",
        "DISABLE_BELFRY",
        "VK_LAYER_SETTINGS_PATH",
    };
    char program[PATH_MAX], path[PATH_MAX + 64];

    for (size_t i = 0; i < sizeof foreign / sizeof foreign[0]; ++i)
        unsetenv(foreign[i]);
    for (char **at = environ; *at;) {
        char name[128];
        if ((!strncmp(*at, "VK_BELFRY_", 10) || !strncmp(*at, "VK_MULTI_ENGINE_", 16)) &&
            strcspn(*at, "=") < sizeof name) {
            snprintf(name, sizeof name, "%.*s", (int)strcspn(*at, "="), *at);
            unsetenv(name);
            at = environ; /* unsetenv moves the later entries to this place */
        } else {
            ++at;
        }
    }

    ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
    if (length < 0) {
        sample_complain("cannot read /proc/self/exe");
        return false;
    }
    program[length] = '\0';
    for (int up = 0; up < 2; ++up) {
        char *slash = strrchr(program, '/');
        if (slash)
            *slash = '\0';
    }
    snprintf(path, sizeof path, "%s/lib", program);
    setenv("VK_LAYER_PATH", path, 1);
    /* Several queues of a family that share one VkQueue are what is measured. */
    setenv("VK_BELFRY_MULTI_ENGINE_QUEUES_PER_FAMILY", "16", 1);
    setenv("BELFRY_TEST_BUILD", program, 1);
    return true;
}

static int list_print(void)
{
    for (size_t i = 0; i < BENCH_COUNT; ++i)
        puts(benches[i]->name);
    return SAMPLE_EXIT_DONE;
}

static int part_run(const char *name, const char *side, uint32_t to,
                    const struct bench_options *options)
{
    static struct bench_found found;
    const struct bench_part *part = bench_part_find(name);
    if (!part || !to) {
        sample_complain("--part %s: no such part, or no --to", name);
        return SAMPLE_EXIT_USAGE;
    }
    alarm(PART_SECONDS);
    part->run(options, side && !strcmp(side, "belfry") ? BENCH_BELFRY : BENCH_PLAIN, &found);
    return bench_part_send(&found, (int)to);
}

static int bench_run(const struct bench *bench, const struct bench_options *options,
                     const char *json)
{
    static struct bench_report report;
    alarm(BENCH_SECONDS);
    int code = bench->run(options, &report);
    if (code)
        return code;
    bench_print(bench, &report, stdout);
    if (fflush(stdout))
        return SAMPLE_EXIT_FAILED;
    if (json && !bench_json_write(&report, json))
        return SAMPLE_EXIT_FAILED;
    /* Rows are required on lavapipe only, which another machine may lack, and only if both forms
     * are measured. */
    if (!options->form && strstr(report.device, "llvmpipe") && !bench_complete(bench, &report))
        return SAMPLE_EXIT_FAILED;
    return SAMPLE_EXIT_DONE;
}

int main(int argc, char **argv)
{
    struct bench_options options = {.gpu = getenv("BELFRY_GPU")};
    const char *json = NULL, *part = NULL, *side = NULL, *name = NULL;
    uint32_t to = 0;
    bool list = false;
    const struct sample_option table[] = {
        {"--gpu", "NAME", "part of the device's name; else BELFRY_GPU, else the first device",
         SAMPLE_OPTION_TEXT, &options.gpu, 0, 0},
        {"--form", "FORM", "'specialize': shaders of this form alone: compute, pass or hostile",
         SAMPLE_OPTION_TEXT, &options.form, 0, 0},
        {"--json", "FILE", "write the rows as a JSON array", SAMPLE_OPTION_TEXT, &json, 0, 0},
        {"--list", NULL, "print the names of the benchmarks", SAMPLE_OPTION_FLAG, &list, 0, 0},
        {"--part", "NAME", "(how the program runs itself)", SAMPLE_OPTION_TEXT, &part, 0, 0},
        {"--side", "SIDE", "(how the program runs itself)", SAMPLE_OPTION_TEXT, &side, 0, 0},
        {"--to", "NUMBER", "(how the program runs itself)", SAMPLE_OPTION_NUMBER, &to, 3, 65535},
    };

    if (options.form && strcmp(options.form, "compute") && strcmp(options.form, "pass") &&
        strcmp(options.form, "hostile")) {
        sample_complain("--form %s: there are compute, pass and hostile", options.form);
        return SAMPLE_EXIT_USAGE;
    }
    if (options.gpu && !*options.gpu)
        options.gpu = NULL;
    if (argc > 1 && argv[1][0] != '-') {
        name = argv[1];
        --argc;
        ++argv;
    }
    int code = sample_options_parse(table, sizeof table / sizeof table[0],
                                    "belfry-bench NAME: measures Belfry against the plain driver.",
                                    argc, argv);
    if (code != SAMPLE_OPTIONS_GO_ON)
        return code;
    if (list)
        return list_print();
    if (!environment_prepare())
        return SAMPLE_EXIT_FAILED;
    if (part)
        return part_run(part, side, to, &options);
    for (size_t i = 0; name && i < BENCH_COUNT; ++i) {
        if (!strcmp(benches[i]->name, name))
            return bench_run(benches[i], &options, json);
    }
    if (name)
        sample_complain("no benchmark '%s'; --list names them", name);
    else
        sample_complain("which benchmark? --list names them");
    return SAMPLE_EXIT_USAGE;
}
