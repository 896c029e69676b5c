/* SPDX-License-Identifier: MIT */
/*
 * Histograms: which values a pipeline is used with. A tuple is what the pipeline's watched words
 * hold at one use: at most eight 32-bit words. Recording threads count uses in notes, one per
 * command buffer; when a submission of the command buffer has finished its notes are added to the
 * tables of the pipelines; a table says which tuples are worth a variant.
 *
 * Notes
 *  TA-1  Noting a use takes constant time, no lock, no memory and no division. The first 'exact'
 *        uses of a recording are all counted; then one of sixteen, drawn at random, counts
 *        sixteenfold: whatever the period of the uses, the weights are right on average. The random
 *        sequence goes on from recording to recording, so that equal recordings aren't sampled at
 *        equal places.
 *  TA-2  The first 64 different tuples of a recording have a row each. Uses of others go to sixteen
 *        more rows in turn; each of these keeps the weight of all uses that it got, and the tuple
 *        of one of them, chosen with a probability in proportion to its weight. No weight is lost,
 *        so no tuple's share is overstated on average, whichever tuples have filled the first rows.
 *  TA-3  Notes hold no pointers: they may be copied. A recording's notes can be added to tables any
 *        number of times, as often as it is submitted; recording anew clears them.
 *
 * Tables
 *  TA-4  The total is exact. A tuple's count is never more than its uses, nor less than these by
 *        more than 'missed' (the heavy hitters of Misra and Gries). 'missed' is at most a ninth of
 *        the total as long as no word was dropped and nothing was halved, and 0 while there were no
 *        more than eight different tuples.
 *  TA-5  The choice is the fewest most frequent tuples that together have at least 60 % of the
 *        uses, each at least 20 %, by counts, and therefore in truth: at most three. Nothing is
 *        chosen if there is no such set, or with fewer uses than the threshold. The choice depends
 *        on the counts alone, not on the order in which they came.
 *  TA-6  Where nothing can be chosen, the word whose commonest value is the rarest is dropped from
 *        the tuples, and so on until something can be chosen or no word is left: a number that
 *        differs with every draw spoils no tuple, and where all words differ nothing is chosen.
 *        After a drop the table goes on with what is certain about the remaining words, if that
 *        suffices, or begins anew. A dropped word comes back with the next epoch.
 *  TA-7  A window is as many uses as the threshold says. A choice is stable if it was made at the
 *        end of two windows in a row and still has 60 % of the uses. Counts go on from window to
 *        window, and are halved when they have reached sixteen windows, so that a program whose
 *        frames have phases is seen whole, and one that changes isn't held to its past.
 *  TA-8  A commit multiplies total and counts by one whole number, so that the total reaches the
 *        threshold: all shares stay as they were. One use is enough; without any nothing changes.
 *  TA-9  A table of another epoch reads as empty, and begins anew, with all its words, when it
 *        is written to: measurements are discarded by going to the next epoch.
 *  TA-10 Words are compared as bits: -0 isn't 0, and each NaN is its own value.
 *
 * Thread-safety: none here. Notes belong to the thread that records; from the end of recording to
 * the last use of this recording they are only read. A table's owner serialises all calls on it.
 * Whoever begins a recording whose notes are still to be added copies them first.
 *
 * Proven by tests/specialize/histogram.c, notes.c and histogram_random.c.
 */
#ifndef BELFRY_SPECIALIZE_HISTOGRAM_H
#define BELFRY_SPECIALIZE_HISTOGRAM_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define BF_HISTOGRAM_WORDS  8
#define BF_HISTOGRAM_ROWS   64 /* tuples of a recording that are counted exactly */
#define BF_HISTOGRAM_STRATA 16 /* rows that all other tuples share */
#define BF_HISTOGRAM_INDEX  128
#define BF_HISTOGRAM_EXACT  256 /* uses of a recording that are counted before sampling begins */
#define BF_HISTOGRAM_PERIOD 16
#define BF_HISTOGRAM_USES   4096 /* the usual threshold */
#define BF_HISTOGRAM_SLOTS  8
#define BF_HISTOGRAM_CHOSEN 4

/* ---- Notes ---- */

struct bf_histogram_row {
    uint64_t key;
    uint64_t tag;
    uint64_t weight;
    uint32_t mask; /* bit i: words[i] counts; all others are 0 */
    uint32_t words[BF_HISTOGRAM_WORDS];
};

struct bf_histogram_notes {
    uint64_t random;
    uint64_t overflow; /* weight that went to the sampled rows */
    uint32_t exact, exact_left;
    uint32_t row_count;
    uint8_t index[BF_HISTOGRAM_INDEX]; /* 0, or a row's index plus 1 */
    /* the sampled ones come last */
    struct bf_histogram_row rows[BF_HISTOGRAM_ROWS + BF_HISTOGRAM_STRATA];
};

/* Once for a command buffer. 'seed' starts the random sequence and differs from command buffer
 * to command buffer. 'exact' is how many uses of a recording are counted before sampling begins,
 * usually BF_HISTOGRAM_EXACT; UINT32_MAX: no sampling. */
void bf_histogram_notes_init(struct bf_histogram_notes *notes, uint64_t seed, uint32_t exact);

/* A recording begins: clears the notes. */
void bf_histogram_notes_begin(struct bf_histogram_notes *notes);

/* A 64-bit hash for comparing tuples fast; different tuples may have the same one. */
static inline uint64_t bf_histogram_tag(const uint32_t words[BF_HISTOGRAM_WORDS])
{
    /* Sums of products of 32-bit words and odd 64-bit numbers: the products are independent of
     * each other, and any difference between two tuples reaches the upper half. */
    uint64_t tag =
        words[0] * UINT64_C(0x9e3779b97f4a7c15) + words[1] * UINT64_C(0xc2b2ae3d27d4eb4f) +
        words[2] * UINT64_C(0x165667b19e3779f9) + words[3] * UINT64_C(0xd6e8feb86659fd93) +
        words[4] * UINT64_C(0xa0761d6478bd642f) + words[5] * UINT64_C(0xe7037ed1a0b428db) +
        words[6] * UINT64_C(0x8ebc6af09c88c6e3) + words[7] * UINT64_C(0x589965cc75374cc3);
    return tag ^ tag >> 32;
}

/* How many uses the use that is being recorded stands for; 0: it isn't counted. */
static inline uint32_t bf_histogram_notes_sample(struct bf_histogram_notes *notes)
{
    if (notes->exact_left) {
        notes->exact_left--;
        return 1;
    }
    uint64_t random = notes->random; /* xorshift */
    random ^= random << 13;
    random ^= random >> 7;
    random ^= random << 17;
    notes->random = random;
    return random >> 60 ? 0 : BF_HISTOGRAM_PERIOD;
}

/* The tuple has no row yet: 'at' is the free place in the index. */
void bf_histogram_notes_new(struct bf_histogram_notes *notes, uint32_t at,
                            const struct bf_histogram_row *row);

/* Adds to a tuple's weight. 'key' names the pipeline, by a number that is never used again
 * rather than an address. 'mask' says which words are watched; the others must be 0. */
static inline void bf_histogram_notes_add(struct bf_histogram_notes *notes, uint64_t key,
                                          uint32_t mask, const uint32_t words[BF_HISTOGRAM_WORDS],
                                          uint64_t weight)
{
    uint64_t tag = bf_histogram_tag(words) + key * UINT64_C(0xff51afd7ed558ccd) + mask;
    tag *= UINT64_C(0x9fb21c651e98df25);
    uint32_t at = (uint32_t)(tag >> 57);
    for (uint32_t number; (number = notes->index[at]) != 0; at = (at + 1) % BF_HISTOGRAM_INDEX) {
        struct bf_histogram_row *row = &notes->rows[number - 1];
        /* Where tag, key and words are equal the masks are equal too. */
        if (row->tag == tag && row->key == key && !memcmp(row->words, words, sizeof(row->words))) {
            row->weight += weight;
            return;
        }
    }
    struct bf_histogram_row fresh = {.key = key, .tag = tag, .weight = weight, .mask = mask};
    memcpy(fresh.words, words, sizeof(fresh.words));
    bf_histogram_notes_new(notes, at, &fresh);
}

/* A use is recorded, with a weight of 1 where all uses weigh the same. */
static inline void bf_histogram_note(struct bf_histogram_notes *notes, uint64_t key, uint32_t mask,
                                     const uint32_t words[BF_HISTOGRAM_WORDS], uint32_t weight)
{
    uint32_t uses = bf_histogram_notes_sample(notes);
    if (uses)
        bf_histogram_notes_add(notes, key, mask, words, (uint64_t)weight * uses);
}

/* Adds what 'other' holds to 'notes': a secondary command buffer is executed. */
void bf_histogram_notes_append(struct bf_histogram_notes *notes,
                               const struct bf_histogram_notes *other);

/* Row i, from 0; NULL: there are no more. */
static inline const struct bf_histogram_row *
bf_histogram_notes_row(const struct bf_histogram_notes *notes, uint32_t i)
{
    if (i < notes->row_count)
        return &notes->rows[i];
    i -= notes->row_count;
    return i < BF_HISTOGRAM_STRATA && i < notes->overflow ? &notes->rows[BF_HISTOGRAM_ROWS + i]
                                                          : NULL;
}

/* The weight of uses whose tuples are not in the notes. */
static inline uint64_t bf_histogram_notes_dropped(const struct bf_histogram_notes *notes)
{
    return notes->overflow > BF_HISTOGRAM_STRATA ? notes->overflow - BF_HISTOGRAM_STRATA : 0;
}

/* ---- Tables ---- */

/* The choice: the words of 'mask' hold one of these tuples, most frequent first. */
struct bf_histogram_choice {
    uint32_t mask;
    uint32_t count; /* 0: nothing was chosen */
    uint64_t total; /* uses of the pipeline, of which … */
    uint64_t uses[BF_HISTOGRAM_CHOSEN];
    uint32_t words[BF_HISTOGRAM_CHOSEN][BF_HISTOGRAM_WORDS]; /* 0 outside the mask */
};

/* The histogram of a single word. */
struct bf_histogram_word {
    uint64_t missed;
    uint64_t counts[BF_HISTOGRAM_SLOTS];
    uint32_t values[BF_HISTOGRAM_SLOTS];
};

struct bf_histogram {
    uint32_t epoch;
    uint32_t all;  /* bit i: word i exists */
    uint32_t mask; /* the words that haven't been dropped: those that are to be noted from now on */
    uint64_t total;
    uint64_t missed;
    uint64_t fresh;                      /* uses since the end of the last window */
    uint64_t counts[BF_HISTOGRAM_SLOTS]; /* 0: the slot is free */
    uint32_t tuples[BF_HISTOGRAM_SLOTS][BF_HISTOGRAM_WORDS];
    struct bf_histogram_word words[BF_HISTOGRAM_WORDS];
    struct bf_histogram_choice last; /* as it was at the end of the last window */
};

/* A table of 'words' words; only the first eight are used. */
void bf_histogram_init(struct bf_histogram *histogram, uint32_t words, uint32_t epoch);

/* The words that are counted in this epoch. */
static inline uint32_t bf_histogram_mask(const struct bf_histogram *histogram, uint32_t epoch)
{
    return histogram->epoch == epoch ? histogram->mask : histogram->all;
}

/* Adds a row of a submission that has finished; the caller finds the table by the row's key.
 * Rows that lack a word of the table are left out: they were noted while that word was dropped,
 * in an earlier epoch. */
void bf_histogram_add(struct bf_histogram *histogram, uint32_t epoch,
                      const struct bf_histogram_row *row);

/* The choice by the counts as they are. A threshold of 0 is taken as 1, here and below. */
void bf_histogram_choose(const struct bf_histogram *histogram, uint32_t epoch, uint64_t threshold,
                         struct bf_histogram_choice *choice);

/* To be called after rows were added. True, with the choice: a window ended, and its choice is
 * stable; it may be the same as at the end of the last window. Else the choice is empty. */
bool bf_histogram_window(struct bf_histogram *histogram, uint32_t epoch, uint64_t threshold,
                         struct bf_histogram_choice *choice);

/* Scales the counts (TA-8) and chooses, stable or not. False, with an empty choice: nothing was
 * counted, or nothing can be chosen. */
bool bf_histogram_commit(struct bf_histogram *histogram, uint32_t epoch, uint64_t threshold,
                         struct bf_histogram_choice *choice);

#endif
