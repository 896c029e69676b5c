/* SPDX-License-Identifier: MIT */
/* Random programs of background processing, checked against what the numbered guarantees
 * (background/background.h) allow.
 *
 * Of one thread: every item stands until the program lets it go on, so a model of queue, modes and
 * commits says exactly what has happened after every step (sequence.c). Of 2 to 8 threads: every
 * call and every item leaves stamps of one clock, and what the stamps of a run must obey is checked
 * afterwards (crowd.c). */
#ifndef BELFRY_TEST_BACKGROUND_RANDOM_H
#define BELFRY_TEST_BACKGROUND_RANDOM_H

#include "../support/std.h"

#include "background/background.h"

/* Says what is wrong with which program, and ends the process: threads can't be unwound. */
__attribute__((format(printf, 1, 2), noreturn)) void program_wrong(const char *format, ...);

#define REQUIRE(condition_, ...)                                                                   \
    do {                                                                                           \
        if (!(condition_))                                                                         \
            program_wrong(__VA_ARGS__);                                                            \
    } while (0)

void sequence_run(uint64_t seed);
void crowd_run(uint64_t seed, uint32_t threads);

#endif
