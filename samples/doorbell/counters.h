/* SPDX-License-Identifier: MIT */
/* What has been counted, as lines of text in the picture. */
#ifndef DOORBELL_COUNTERS_H
#define DOORBELL_COUNTERS_H

#include <stdint.h>

#define COUNTERS_LINES  5u
#define COUNTERS_ACROSS 5u /* words of 32 dots in a row */
#define COUNTERS_DOWN   (COUNTERS_LINES * 9u)
#define COUNTERS_WORDS  (COUNTERS_ACROSS * COUNTERS_DOWN)

struct counters {
    uint64_t entries;    /* written to rings */
    uint64_t rings;      /* stores to doorbells */
    uint64_t batches;    /* calls of the driver with what had gathered */
    uint64_t notifies;   /* the doorbell thread had to be woken */
    uint64_t reconnects; /* the doorbell had been given to another queue */
};

/* Writes COUNTERS_WORDS words: rows of dots. */
void counters_draw(const struct counters *counters, uint32_t *words);

#endif
