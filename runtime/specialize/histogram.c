/* SPDX-License-Identifier: MIT */
/* Histograms of push-constant values: notes that recording threads take, tables per pipeline,
 * and the choice of tuples that are worth a variant. */
#include "specialize/histogram.h"

/* The largest weight of a row. Sums can't overflow: one row is too small, and tables are halved
 * before many rows add up. */
#define WEIGHT_MOST (UINT64_C(1) << 40)
#define TOTAL_MOST  (UINT64_C(1) << 50)

/* How many windows the counts span before they are halved. */
#define WINDOWS_MOST 16

/* ---- Notes ---- */

void bf_histogram_notes_init(struct bf_histogram_notes *notes, uint64_t seed, uint32_t exact)
{
    /* splitmix64: neighbouring seeds give unlike sequences. */
    uint64_t z = seed + UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    z ^= z >> 31;
    notes->random = z ? z : 1; /* xorshift stays at 0 */
    notes->exact = exact;
    bf_histogram_notes_begin(notes);
}

void bf_histogram_notes_begin(struct bf_histogram_notes *notes)
{
    notes->overflow = 0;
    notes->exact_left = notes->exact;
    notes->row_count = 0;
    memset(notes->index, 0, sizeof(notes->index));
}

/* The upper 64 bits of the product, or one less. */
static uint64_t product_high(uint64_t a, uint64_t b)
{
    uint64_t a_high = a >> 32, b_high = b >> 32;
    return a_high * b_high + (a_high * (uint32_t)b >> 32) + ((uint32_t)a * b_high >> 32);
}

/* True with a probability of 'part' in 'whole'. */
static bool notes_draw(struct bf_histogram_notes *notes, uint64_t part, uint64_t whole)
{
    notes->random ^= notes->random << 13;
    notes->random ^= notes->random >> 7;
    notes->random ^= notes->random << 17;
    return product_high(notes->random, whole) < part;
}

void bf_histogram_notes_new(struct bf_histogram_notes *notes, uint32_t at,
                            const struct bf_histogram_row *row)
{
    if (!row->weight)
        return;
    if (notes->row_count < BF_HISTOGRAM_ROWS) {
        notes->rows[notes->row_count++] = *row;
        notes->index[at] = (uint8_t)notes->row_count;
        return;
    }
    struct bf_histogram_row *sample =
        &notes->rows[BF_HISTOGRAM_ROWS + notes->overflow % BF_HISTOGRAM_STRATA];
    uint64_t weight = notes->overflow < BF_HISTOGRAM_STRATA ? 0 : sample->weight;
    notes->overflow++;
    weight += row->weight;
    if (weight == row->weight || notes_draw(notes, row->weight, weight))
        *sample = *row;
    sample->weight = weight;
}

void bf_histogram_notes_append(struct bf_histogram_notes *notes,
                               const struct bf_histogram_notes *other)
{
    const struct bf_histogram_row *row;
    for (uint32_t i = 0; (row = bf_histogram_notes_row(other, i)) != NULL; i++)
        bf_histogram_notes_add(notes, row->key, row->mask, row->words, row->weight);
}

/* ---- Tables ---- */

/* Clears the counts. Which words are counted stays. */
static void counts_clear(struct bf_histogram *histogram)
{
    uint32_t epoch = histogram->epoch, all = histogram->all, mask = histogram->mask;
    memset(histogram, 0, sizeof(*histogram));
    histogram->epoch = epoch;
    histogram->all = all;
    histogram->mask = mask;
}

void bf_histogram_init(struct bf_histogram *histogram, uint32_t words, uint32_t epoch)
{
    if (words > BF_HISTOGRAM_WORDS)
        words = BF_HISTOGRAM_WORDS;
    histogram->epoch = epoch;
    histogram->mask = histogram->all = (UINT32_C(1) << words) - 1;
    counts_clear(histogram);
}

static void epoch_enter(struct bf_histogram *histogram, uint32_t epoch)
{
    if (histogram->epoch == epoch)
        return;
    histogram->epoch = epoch;
    histogram->mask = histogram->all;
    counts_clear(histogram);
}

/* Counts 'weight' uses of a value that has no slot. Returns its slot; or -1: no slot is free,
 * and as many uses were taken from each of the others (Misra and Gries). */
static int slot_take(uint64_t counts[BF_HISTOGRAM_SLOTS], uint64_t *missed, uint64_t *weight)
{
    int least = 0;
    for (int i = 0; i < BF_HISTOGRAM_SLOTS; i++) {
        if (!counts[i])
            return i;
        if (counts[i] < counts[least])
            least = i;
    }
    uint64_t taken = counts[least] < *weight ? counts[least] : *weight;
    for (int i = 0; i < BF_HISTOGRAM_SLOTS; i++)
        counts[i] -= taken;
    *missed += taken;
    *weight -= taken;
    return *weight ? least : -1;
}

static void word_add(struct bf_histogram_word *word, uint32_t value, uint64_t weight)
{
    for (int i = 0; i < BF_HISTOGRAM_SLOTS; i++)
        if (word->counts[i] && word->values[i] == value) {
            word->counts[i] += weight;
            return;
        }
    int slot = slot_take(word->counts, &word->missed, &weight);
    if (slot < 0)
        return;
    word->counts[slot] = weight;
    word->values[slot] = value;
}

/* -1: not found. */
static int tuple_find(const struct bf_histogram *histogram,
                      const uint32_t words[BF_HISTOGRAM_WORDS])
{
    for (int i = 0; i < BF_HISTOGRAM_SLOTS; i++)
        if (histogram->counts[i] &&
            !memcmp(histogram->tuples[i], words, sizeof(histogram->tuples[i])))
            return i;
    return -1;
}

static void tuple_add(struct bf_histogram *histogram, const uint32_t words[BF_HISTOGRAM_WORDS],
                      uint64_t weight)
{
    int slot = tuple_find(histogram, words);
    if (slot >= 0) {
        histogram->counts[slot] += weight;
        return;
    }
    slot = slot_take(histogram->counts, &histogram->missed, &weight);
    if (slot < 0)
        return;
    histogram->counts[slot] = weight;
    memcpy(histogram->tuples[slot], words, sizeof(histogram->tuples[slot]));
}

/* Counts are rounded down and their possible deficits up, so that TA-4 holds for the halved
 * numbers. */
static void histogram_halve(struct bf_histogram *histogram)
{
    histogram->total = (histogram->total + 1) / 2;
    histogram->missed = histogram->missed / 2 + 1;
    for (int i = 0; i < BF_HISTOGRAM_SLOTS; i++)
        histogram->counts[i] /= 2;
    for (int w = 0; w < BF_HISTOGRAM_WORDS; w++) {
        struct bf_histogram_word *word = &histogram->words[w];
        word->missed = word->missed / 2 + 1;
        for (int i = 0; i < BF_HISTOGRAM_SLOTS; i++)
            word->counts[i] /= 2;
    }
}

void bf_histogram_add(struct bf_histogram *histogram, uint32_t epoch,
                      const struct bf_histogram_row *row)
{
    epoch_enter(histogram, epoch);
    if ((row->mask & histogram->mask) != histogram->mask || !row->weight)
        return;
    uint64_t weight = row->weight < WEIGHT_MOST ? row->weight : WEIGHT_MOST;
    if (histogram->total > TOTAL_MOST)
        histogram_halve(histogram);
    histogram->total += weight;
    histogram->fresh += weight;
    uint32_t words[BF_HISTOGRAM_WORDS] = {0};
    for (int w = 0; w < BF_HISTOGRAM_WORDS; w++)
        if (histogram->mask >> w & 1) {
            words[w] = row->words[w];
            word_add(&histogram->words[w], words[w], weight);
        }
    tuple_add(histogram, words, weight);
}

/* A share of at least 20 %, and one of at least 60 %. */
static bool share_enough(uint64_t uses, uint64_t total)
{
    return uses * 5 >= total;
}

static bool cover_enough(uint64_t uses, uint64_t total)
{
    return uses * 5 >= total * 3;
}

/* The order of two tuples: more uses first, then the lower words (TA-5). */
static bool slot_before(const struct bf_histogram *histogram, int a, int b)
{
    if (histogram->counts[a] != histogram->counts[b])
        return histogram->counts[a] > histogram->counts[b];
    for (int w = 0; w < BF_HISTOGRAM_WORDS; w++)
        if (histogram->tuples[a][w] != histogram->tuples[b][w])
            return histogram->tuples[a][w] < histogram->tuples[b][w];
    return false;
}

static void histogram_choose(const struct bf_histogram *histogram, uint64_t threshold,
                             struct bf_histogram_choice *choice)
{
    memset(choice, 0, sizeof(*choice));
    if (!histogram->mask || !histogram->total || histogram->total < threshold)
        return;
    choice->mask = histogram->mask;
    choice->total = histogram->total;
    uint64_t covered = 0;
    uint32_t taken = 0;
    while (choice->count < BF_HISTOGRAM_CHOSEN) {
        int best = -1;
        for (int i = 0; i < BF_HISTOGRAM_SLOTS; i++)
            if (!(taken >> i & 1) && (best < 0 || slot_before(histogram, i, best)))
                best = i;
        if (!share_enough(histogram->counts[best], histogram->total))
            break;
        taken |= UINT32_C(1) << best;
        choice->uses[choice->count] = histogram->counts[best];
        memcpy(choice->words[choice->count], histogram->tuples[best], sizeof(choice->words[0]));
        choice->count++;
        covered += histogram->counts[best];
        if (cover_enough(covered, histogram->total))
            return;
    }
    memset(choice, 0, sizeof(*choice));
}

void bf_histogram_choose(const struct bf_histogram *histogram, uint32_t epoch, uint64_t threshold,
                         struct bf_histogram_choice *choice)
{
    if (histogram->epoch == epoch)
        histogram_choose(histogram, threshold, choice);
    else
        memset(choice, 0, sizeof(*choice));
}

static int word_top(const struct bf_histogram_word *word)
{
    int top = 0;
    for (int i = 1; i < BF_HISTOGRAM_SLOTS; i++)
        if (word->counts[i] > word->counts[top])
            top = i;
    return top;
}

static uint64_t word_most(const struct bf_histogram_word *word)
{
    return word->counts[word_top(word)];
}

/* No choice can contain the word, whatever the counts lack: those of its values that have 20 %
 * or more have less than 60 % together. */
static bool word_useless(const struct bf_histogram_word *word, uint64_t total)
{
    uint64_t covered = 0;
    for (int i = 0; i < BF_HISTOGRAM_SLOTS; i++)
        if (share_enough(word->counts[i] + word->missed, total))
            covered += word->counts[i] + word->missed;
    return !cover_enough(covered, total);
}

/* The uses that no tuple's count contains: no tuple's count can lack more than these. */
static uint64_t histogram_unknown(const struct bf_histogram *histogram)
{
    uint64_t known = 0;
    for (int i = 0; i < BF_HISTOGRAM_SLOTS; i++)
        known += histogram->counts[i];
    return histogram->total - known;
}

/* 'uses' is another lower bound for a tuple's count. */
static void tuple_raise(struct bf_histogram *histogram, const uint32_t words[BF_HISTOGRAM_WORDS],
                        uint64_t uses)
{
    int slot = tuple_find(histogram, words);
    if (slot < 0) {
        slot = 0;
        for (int i = 1; i < BF_HISTOGRAM_SLOTS; i++)
            if (histogram->counts[i] < histogram->counts[slot])
                slot = i;
        if (histogram->counts[slot] >= uses)
            return;
        memcpy(histogram->tuples[slot], words, sizeof(histogram->tuples[slot]));
    }
    if (histogram->counts[slot] < uses)
        histogram->counts[slot] = uses;
}

/*
 * Infers tuples from the histograms of single words. The uses where word p holds v, less the uses
 * where some other word doesn't hold its commonest value, must have had v there and the commonest
 * values elsewhere. p is the word whose values differ most. The result is exact where all other
 * words never change.
 */
static void tuples_infer(struct bf_histogram *histogram)
{
    uint32_t words[BF_HISTOGRAM_WORDS] = {0};
    int p = -1;
    for (int w = 0; w < BF_HISTOGRAM_WORDS; w++)
        if (histogram->mask >> w & 1) {
            words[w] = histogram->words[w].values[word_top(&histogram->words[w])];
            if (p < 0 || word_most(&histogram->words[w]) < word_most(&histogram->words[p]))
                p = w;
        }
    if (p < 0)
        return;
    uint64_t others = 0;
    for (int w = 0; w < BF_HISTOGRAM_WORDS; w++)
        if (w != p && (histogram->mask >> w & 1))
            others += histogram->total - word_most(&histogram->words[w]);
    for (int i = 0; i < BF_HISTOGRAM_SLOTS; i++)
        if (histogram->words[p].counts[i] > others) {
            words[p] = histogram->words[p].values[i];
            tuple_raise(histogram, words, histogram->words[p].counts[i] - others);
        }
}

/* Drops a word from the tuples; tuples that differed in this word alone become one. */
static void word_drop(struct bf_histogram *histogram, int w)
{
    uint64_t counts[BF_HISTOGRAM_SLOTS];
    histogram->mask &= ~(UINT32_C(1) << w);
    memset(&histogram->words[w], 0, sizeof(histogram->words[w]));
    memcpy(counts, histogram->counts, sizeof(counts));
    memset(histogram->counts, 0, sizeof(histogram->counts));
    for (int i = 0; i < BF_HISTOGRAM_SLOTS; i++)
        if (counts[i]) {
            histogram->tuples[i][w] = 0;
            int slot = tuple_find(histogram, histogram->tuples[i]);
            histogram->counts[slot < 0 ? i : slot] += counts[i];
        }
    tuples_infer(histogram);
    histogram->missed = histogram_unknown(histogram);
}

/* TA-6. True: there is a choice. False: there is none; words may have been dropped, and the
 * table may be empty. */
static bool histogram_settle(struct bf_histogram *histogram, uint64_t threshold,
                             struct bf_histogram_choice *choice)
{
    for (bool dropped = false;; dropped = true) {
        histogram_choose(histogram, threshold, choice);
        if (choice->count)
            return true;
        if (!histogram->mask || histogram->total < threshold)
            return false;
        int rarest = -1;
        for (int w = 0; w < BF_HISTOGRAM_WORDS; w++)
            if ((histogram->mask >> w & 1) &&
                (rarest < 0 ||
                 word_most(&histogram->words[w]) <= word_most(&histogram->words[rarest])))
                rarest = w;
        /* Too little is known about the remaining words' tuples to decide that one more word
         * must be dropped. */
        if (dropped && histogram->missed > histogram->total / 64 &&
            !word_useless(&histogram->words[rarest], histogram->total)) {
            counts_clear(histogram);
            return false;
        }
        word_drop(histogram, rarest);
    }
}

static uint64_t threshold_sane(uint64_t threshold)
{
    if (threshold > TOTAL_MOST / WINDOWS_MOST)
        return TOTAL_MOST / WINDOWS_MOST;
    return threshold ? threshold : 1;
}

bool bf_histogram_window(struct bf_histogram *histogram, uint32_t epoch, uint64_t threshold,
                         struct bf_histogram_choice *choice)
{
    memset(choice, 0, sizeof(*choice));
    epoch_enter(histogram, epoch);
    threshold = threshold_sane(threshold);
    if (histogram->fresh < threshold)
        return false;
    struct bf_histogram_choice last = histogram->last, now;
    histogram_settle(histogram, threshold, &now);
    histogram->fresh = 0;
    histogram->last = now;
    if (histogram->total / WINDOWS_MOST >= threshold)
        histogram_halve(histogram);
    if (now.mask != last.mask)
        return false;
    uint64_t covered = 0;
    choice->mask = now.mask;
    choice->total = now.total;
    for (uint32_t i = 0; i < now.count; i++)
        for (uint32_t j = 0; j < last.count; j++)
            if (!memcmp(now.words[i], last.words[j], sizeof(now.words[i]))) {
                memcpy(choice->words[choice->count], now.words[i], sizeof(now.words[i]));
                choice->uses[choice->count++] = now.uses[i];
                covered += now.uses[i];
            }
    if (choice->count && cover_enough(covered, now.total))
        return true;
    memset(choice, 0, sizeof(*choice));
    return false;
}

bool bf_histogram_commit(struct bf_histogram *histogram, uint32_t epoch, uint64_t threshold,
                         struct bf_histogram_choice *choice)
{
    memset(choice, 0, sizeof(*choice));
    epoch_enter(histogram, epoch);
    threshold = threshold_sane(threshold);
    if (!histogram->total)
        return false;
    if (histogram->total < threshold) {
        uint64_t factor = (threshold + histogram->total - 1) / histogram->total;
        histogram->total *= factor;
        histogram->missed *= factor;
        for (int i = 0; i < BF_HISTOGRAM_SLOTS; i++)
            histogram->counts[i] *= factor;
        for (int w = 0; w < BF_HISTOGRAM_WORDS; w++) {
            histogram->words[w].missed *= factor;
            for (int i = 0; i < BF_HISTOGRAM_SLOTS; i++)
                histogram->words[w].counts[i] *= factor;
        }
    }
    histogram->fresh = 0;
    histogram_settle(histogram, threshold, choice);
    histogram->last = *choice;
    return choice->count != 0;
}
