/* SPDX-License-Identifier: MIT */
/* The programs, one after the other: --count N, --seed N (of the first; each has the next one),
 * --threads N (of all; else the seed decides). */
#include "random.h"
#include "support/arguments.h"

#include <signal.h>

static uint64_t current_seed;
static uint32_t current_threads;

void program_wrong(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fprintf(stderr, "program of seed %llu, %u threads: ", (unsigned long long)current_seed,
            current_threads);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    va_end(arguments);
    _exit(1);
}

static void on_alarm(int signal)
{
    (void)signal;
    static const char line[] = "a program has not ended for 60 seconds; its seed is one more than "
                               "those that have:\n";
    ssize_t ignored = write(STDERR_FILENO, line, sizeof(line) - 1);
    (void)ignored;
    program_wrong("hangs");
}

int main(int argc, char **argv)
{
    const uint64_t count = argument(argc, argv, "--count", 1000),
                   seed = argument(argc, argv, "--seed", 1);
    const uint32_t threads = (uint32_t)argument(argc, argv, "--threads", 0);
    signal(SIGALRM, on_alarm);
    /* Most programs find the pool of threads there; every sixteenth begins and ends it. */
    struct bf_background *anchor = NULL;
    for (uint64_t i = 0; i < count; i++) {
        current_seed = seed + i;
        current_threads = threads ? threads : 1 + (uint32_t)(current_seed % 8);
        if (i % 16 == 0) {
            bf_background_destroy(anchor);
            anchor = NULL;
        } else if (!anchor) {
            anchor = bf_background_create(
                &(struct bf_background_info){.tasks = 16, .proc = "/nonexistent"});
            REQUIRE(anchor, "no memory");
        }
        alarm(60);
        /* A program of one thread takes less time than one of many. */
        if (current_threads == 1)
            sequence_run(current_seed);
        else
            crowd_run(current_seed, current_threads);
    }
    bf_background_destroy(anchor);
    printf("%llu programs\n", (unsigned long long)count);
    return 0;
}
