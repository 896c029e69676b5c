/* SPDX-License-Identifier: MIT */
/* Random uses, counted by notes and tables and, each by itself, by a model that forgets nothing
 * (specialize/histogram.h, TA-1, TA-4 to TA-6, TA-8): --count N, --seed N. */
#include "../support/std.h"

#include "random/rng.h"
#include "support/arguments.h"
#include "specialize/histogram.h"

#define REQUIRE(condition)                                                                         \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "%s:%d: program of seed %llu: %s\n", __FILE__, __LINE__,               \
                    (unsigned long long)current_seed, #condition);                                 \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

#define MODEL_SIZE 8192 /* more than twice the uses of a program */

static uint64_t current_seed;

struct cell {
    uint64_t uses; /* 0: free */
    uint32_t words[BF_HISTOGRAM_WORDS];
};
static struct cell model[MODEL_SIZE];
static uint64_t model_total;
static uint32_t model_distinct;

static struct cell *model_at(const uint32_t words[BF_HISTOGRAM_WORDS])
{
    uint64_t hash = 14695981039346656037u;
    for (int w = 0; w < BF_HISTOGRAM_WORDS; w++)
        hash = (hash ^ words[w]) * 1099511628211u;
    uint32_t at = (uint32_t)(hash >> 40) % MODEL_SIZE;
    while (model[at].uses && memcmp(model[at].words, words, sizeof(model[at].words)) != 0)
        at = (at + 1) % MODEL_SIZE;
    return &model[at];
}

static void model_add(const uint32_t words[BF_HISTOGRAM_WORDS], uint64_t uses)
{
    struct cell *cell = model_at(words);
    model_distinct += !cell->uses;
    memcpy(cell->words, words, sizeof(cell->words));
    cell->uses += uses;
    model_total += uses;
}

/* The uses of all tuples that agree where the mask is. */
static uint64_t model_uses(uint32_t mask, const uint32_t words[BF_HISTOGRAM_WORDS])
{
    uint64_t uses = 0;
    for (uint32_t i = 0; i < MODEL_SIZE; i++) {
        bool same = true;
        for (int w = 0; w < BF_HISTOGRAM_WORDS; w++)
            same = same && (!(mask >> w & 1) || model[i].words[w] == words[w]);
        uses += same ? model[i].uses : 0;
    }
    return uses;
}

static int cell_compare(const void *a, const void *b)
{
    const struct cell *x = a, *y = b;
    if (x->uses != y->uses)
        return x->uses > y->uses ? -1 : 1;
    for (int w = 0; w < BF_HISTOGRAM_WORDS; w++)
        if (x->words[w] != y->words[w])
            return x->words[w] < y->words[w] ? -1 : 1;
    return 0;
}

/* What is to be chosen of all words, said plainly: the first few of the sorted tuples. */
static uint32_t model_choose(struct cell best[3])
{
    static struct cell sorted[MODEL_SIZE];
    uint32_t n = 0;
    for (uint32_t i = 0; i < MODEL_SIZE; i++)
        if (model[i].uses)
            sorted[n++] = model[i];
    qsort(sorted, n, sizeof(sorted[0]), cell_compare);
    uint64_t covered = 0;
    for (uint32_t i = 0; i < n && i < 3; i++) {
        if (sorted[i].uses * 100 < model_total * 20)
            return 0;
        best[i] = sorted[i];
        covered += sorted[i].uses;
        if (covered * 100 >= model_total * 60)
            return i + 1;
    }
    return 0;
}

/* How the words of a program's uses come about. */
struct source {
    uint32_t words;
    uint32_t
        kind[BF_HISTOGRAM_WORDS]; /* 0 constant, 1 few values, 2 mostly one, 3 never the same */
    uint32_t values[BF_HISTOGRAM_WORDS]; /* of which there are so many */
    uint32_t percent[BF_HISTOGRAM_WORDS];
    uint32_t correlated; /* in percent: all words are as they were at some use before */
};

static void source_make(struct source *source, struct rng *rng)
{
    source->words = 1 + rng_below(rng, BF_HISTOGRAM_WORDS);
    for (int w = 0; w < BF_HISTOGRAM_WORDS; w++) {
        source->kind[w] = rng_percent(rng, 50) ? 0 : rng_below(rng, 4);
        source->values[w] = 1 + rng_below(rng, rng_percent(rng, 50) ? 3 : 12);
        source->percent[w] = 40 + rng_below(rng, 61);
    }
    source->correlated = rng_percent(rng, 50) ? 0 : rng_below(rng, 101);
}

static void source_use(const struct source *source, struct rng *rng, uint32_t number,
                       uint32_t words[BF_HISTOGRAM_WORDS])
{
    if (number && rng_percent(rng, (int)source->correlated))
        return;
    memset(words, 0, BF_HISTOGRAM_WORDS * sizeof(words[0]));
    for (uint32_t w = 0; w < source->words; w++)
        switch (source->kind[w]) {
        case 0:
            words[w] = w;
            break;
        case 1:
            words[w] = rng_below(rng, source->values[w]) << 31 | w;
            words[w] ^= rng_below(rng, source->values[w]);
            break;
        case 2:
            if (!rng_percent(rng, (int)source->percent[w]))
                words[w] = 1 + rng_below(rng, 1000);
            break;
        default:
            words[w] = number + 1;
        }
}

static void check_counts(const struct bf_histogram *histogram)
{
    REQUIRE(histogram->total == model_total);
    REQUIRE(histogram->missed <= histogram->total / 9);
    REQUIRE(model_distinct > 8 || histogram->missed == 0);
    uint64_t kept = 0;
    for (int i = 0; i < BF_HISTOGRAM_SLOTS; i++) {
        if (!histogram->counts[i])
            continue;
        uint64_t uses = model_at(histogram->tuples[i])->uses;
        REQUIRE(histogram->counts[i] <= uses && uses <= histogram->counts[i] + histogram->missed);
        kept += uses;
    }
    /* Who has no slot has been missed wholly. */
    for (uint32_t i = 0; i < MODEL_SIZE; i++)
        if (model[i].uses > histogram->missed) {
            bool found = false;
            for (int slot = 0; slot < BF_HISTOGRAM_SLOTS; slot++)
                found |= histogram->counts[slot] &&
                         !memcmp(histogram->tuples[slot], model[i].words, sizeof(model[i].words));
            REQUIRE(found);
        }
    REQUIRE(kept <= model_total);
}

/* What is chosen deserves it, and is all that would be, had nothing been missed. */
static void check_choice(const struct bf_histogram *histogram,
                         const struct bf_histogram_choice *choice)
{
    uint64_t covered = 0, factor = histogram->total / model_total;
    REQUIRE(choice->count <= 3);
    REQUIRE(!choice->count || choice->total == histogram->total);
    for (uint32_t i = 0; i < choice->count; i++) {
        uint64_t uses = model_uses(choice->mask, choice->words[i]);
        REQUIRE(choice->uses[i] <= uses * factor);
        REQUIRE(uses * 100 >= model_total * 20);
        for (int w = 0; w < BF_HISTOGRAM_WORDS; w++)
            REQUIRE(choice->mask >> w & 1 || !choice->words[i][w]);
        for (uint32_t j = 0; j < i; j++)
            REQUIRE(memcmp(choice->words[i], choice->words[j], sizeof(choice->words[i])) != 0);
        covered += uses;
    }
    REQUIRE(!choice->count || covered * 100 >= model_total * 60);
}

/* Whatever words are left: what is counted of a tuple, and what may have been missed. */
static void check_bounds(const struct bf_histogram *histogram)
{
    uint64_t factor = histogram->total / model_total;
    for (int i = 0; i < BF_HISTOGRAM_SLOTS; i++) {
        if (!histogram->counts[i])
            continue;
        uint64_t uses = model_uses(histogram->mask, histogram->tuples[i]) * factor;
        REQUIRE(histogram->counts[i] <= uses && uses <= histogram->counts[i] + histogram->missed);
    }
}

static void program_run(uint64_t seed)
{
    struct rng rng = {seed};
    struct source source;
    struct bf_histogram histogram;
    struct bf_histogram_choice choice;
    static struct bf_histogram_notes notes;
    uint32_t words[BF_HISTOGRAM_WORDS] = {0};
    uint32_t uses = 1 + rng_below(&rng, rng_percent(&rng, 50) ? 50 : 2000);
    bool heavy = rng_percent(&rng, 30);

    current_seed = seed;
    memset(model, 0, sizeof(model));
    model_total = model_distinct = 0;
    source_make(&source, &rng);
    bf_histogram_init(&histogram, source.words, 3);
    bf_histogram_notes_init(&notes, seed, UINT32_MAX);
    uint32_t mask = bf_histogram_mask(&histogram, 3), noted = 0;
    for (uint32_t i = 0; i < uses; i++) {
        uint32_t weight = heavy ? 1 + rng_below(&rng, 100) : 1;
        source_use(&source, &rng, i, words);
        bf_histogram_note(&notes, 1, mask, words, weight);
        model_add(words, weight);
        /* As often as the notes' rows suffice for all that comes: they are exact then. */
        if (++noted == BF_HISTOGRAM_ROWS || i + 1 == uses) {
            const struct bf_histogram_row *row;
            for (uint32_t n = 0; (row = bf_histogram_notes_row(&notes, n)) != NULL; n++)
                bf_histogram_add(&histogram, 3, row);
            bf_histogram_notes_begin(&notes);
            noted = 0;
        }
    }
    check_counts(&histogram);
    bf_histogram_choose(&histogram, 3, 1, &choice);
    check_choice(&histogram, &choice);
    struct cell best[3];
    uint32_t count = model_choose(best);
    if (!histogram.missed) {
        REQUIRE(choice.count == count);
        for (uint32_t i = 0; i < count; i++)
            REQUIRE(!memcmp(choice.words[i], best[i].words, sizeof(best[i].words)));
    }
    /* Counts that lack something may need one more tuple, and may choose nothing; no less. */
    REQUIRE(!choice.count || (count && choice.count >= count));
    /* Some words may have to go. */
    bool found = bf_histogram_commit(&histogram, 3, BF_HISTOGRAM_USES, &choice);
    REQUIRE(found == (choice.count != 0));
    REQUIRE(!found || histogram.total >= BF_HISTOGRAM_USES);
    REQUIRE(histogram.total % model_total == 0);
    if (found)
        check_choice(&histogram, &choice);
    check_bounds(&histogram);
    bool constant = false;
    for (uint32_t w = 0; w < source.words; w++)
        constant |= source.kind[w] == 0;
    for (uint32_t w = 0; w < source.words; w++)
        if (!source.correlated && !heavy && source.kind[w] == 3 && uses > 5)
            REQUIRE(!found || !(choice.mask >> w & 1));
    REQUIRE(found || histogram.mask == 0 || histogram.total == 0);
    REQUIRE(!constant || histogram.mask);
}

int main(int argc, char **argv)
{
    const uint64_t count = argument(argc, argv, "--count", 3000),
                   seed = argument(argc, argv, "--seed", 1);
    for (uint64_t i = 0; i < count; i++)
        program_run(seed + i);
    printf("%llu programs\n", (unsigned long long)count);
    return 0;
}
