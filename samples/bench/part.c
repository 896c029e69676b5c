/* SPDX-License-Identifier: MIT */
/* Runs parts of a benchmark in processes of their own. */
#include "part.h"

#include <errno.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../common/report.h"

void bench_found_nothing(struct bench_found *found, const char *reason, ...)
{
    if (found->reason[0])
        return;
    va_list arguments;
    va_start(arguments, reason);
    vsnprintf(found->reason, sizeof found->reason, reason, arguments);
    va_end(arguments);
}

bool bench_worked(VkResult result, const char *what, struct bench_found *found)
{
    if (result >= 0)
        return true;
    bench_found_nothing(found, "%s: %s", what, sample_result_name(result));
    return false;
}

/* Have two "NAME=value" strings the same name? */
static bool same_name(const char *left, const char *right)
{
    size_t length = strcspn(left, "=");
    return !strncmp(left, right, length) && right[length] == '=';
}

char **bench_environment(const char *const *added)
{
    size_t own = 0, more = 0, count = 0;
    while (environ[own])
        ++own;
    while (added && added[more])
        ++more;
    char **result = calloc(own + more + 1, sizeof *result);
    if (!result)
        return NULL;
    for (size_t i = 0; i < own; ++i) {
        bool replaced = false;
        for (size_t m = 0; m < more; ++m)
            replaced |= same_name(added[m], environ[i]);
        if (!replaced)
            result[count++] = environ[i];
    }
    for (size_t m = 0; m < more; ++m)
        result[count++] = (char *)added[m];
    return result;
}

static bool read_whole(int from, void *to, size_t size)
{
    size_t done = 0;
    while (done < size) {
        ssize_t got = read(from, (char *)to + done, size - done);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return false;
        done += (size_t)got;
    }
    return true;
}

void bench_part_run(const char *name, enum bench_side side, const struct bench_options *options,
                    const char *const *environment, struct bench_found *found)
{
    int ends[2], status = 0, result;
    pid_t child;
    char descriptor[16];
    posix_spawn_file_actions_t actions;

    *found = (struct bench_found){0};
    char **variables = bench_environment(environment);
    if (!variables) {
        bench_found_nothing(found, "out of memory");
        return;
    }
    if (pipe(ends)) {
        bench_found_nothing(found, "no pipe: %s", strerror(errno));
        goto out_variables;
    }
    if (posix_spawn_file_actions_init(&actions)) {
        bench_found_nothing(found, "out of memory");
        close(ends[1]);
        goto out_pipe;
    }
    posix_spawn_file_actions_addclose(&actions, ends[0]);
    snprintf(descriptor, sizeof descriptor, "%d", ends[1]);
    char *arguments[] = {
        program_invocation_name,
        "--part",
        (char *)name,
        "--side",
        side == BENCH_BELFRY ? "belfry" : "plain",
        "--to",
        descriptor,
        options->gpu ? "--gpu" : NULL,
        (char *)options->gpu,
        NULL,
    };
    result = posix_spawn(&child, "/proc/self/exe", &actions, NULL, arguments, variables);
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);
    if (result) {
        bench_found_nothing(found, "the program can't run itself: %s", strerror(result));
        goto out_pipe;
    }

    bool whole = read_whole(ends[0], found, sizeof *found);
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
    if (!whole) {
        *found = (struct bench_found){0};
        if (WIFSIGNALED(status))
            bench_found_nothing(found, "its process died of signal %d", WTERMSIG(status));
        else
            bench_found_nothing(found, "its process ended with status %d", WEXITSTATUS(status));
    } else if (WIFSIGNALED(status) || WEXITSTATUS(status)) {
        /* The numbers may be right, but a process that failed isn't to be trusted. */
        bench_found_nothing(found, "its process measured, and then failed (status %d)", status);
    }

out_pipe:
    close(ends[0]);
out_variables:
    free(variables);
}

int bench_part_send(const struct bench_found *found, int to)
{
    const char *from = (const char *)found;
    size_t left = sizeof *found;
    while (left) {
        ssize_t put = write(to, from, left);
        if (put < 0 && errno == EINTR)
            continue;
        if (put <= 0) {
            sample_complain("cannot send what was measured: %s", strerror(errno));
            return SAMPLE_EXIT_FAILED;
        }
        from += put;
        left -= (size_t)put;
    }
    return SAMPLE_EXIT_DONE;
}

const char *const bench_icd_free[] = {"BELFRY_ICD_FREE=1", "BELFRY_ICD_SHAPE=q1", NULL};

void bench_part_run_on_icd(const char *name, enum bench_side side, const char *const *settings,
                           struct bench_found *found)
{
    const struct bench_options any = {.gpu = NULL};
    const char *build = getenv("BELFRY_TEST_BUILD");
    char driver[4200], driver_too[4200];
    /* VK_DRIVER_FILES takes precedence; older loaders only know the other. */
    const char *environment[9] = {driver, driver_too};
    for (size_t i = 0; i < 6 && settings[i]; ++i)
        environment[i + 2] = settings[i];
    snprintf(driver, sizeof driver, "VK_ICD_FILENAMES=%s/lib/belfry_test_icd.json", build);
    snprintf(driver_too, sizeof driver_too, "VK_DRIVER_FILES=%s/lib/belfry_test_icd.json", build);
    bench_part_run(name, side, &any, environment, found);
}
