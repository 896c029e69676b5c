/* SPDX-License-Identifier: MIT */
/* Compares many shaders on both sides of a twin, in turns. */
#include "pairs.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HASHED 8 /* the first frames, whose pictures are compared */

/* Uses ranks only, so that an interruption of a second counts no more than one of a millisecond. */
struct pair_summary pair_summarise(const struct pair_times *times)
{
    struct pair_summary summary = {0};
    double sorted[PAIRS_SAMPLES], more[PAIRS_SAMPLES];
    uint32_t n = times->count;

    if (!n)
        return summary;
    for (uint32_t side = 0; side < 2; ++side) {
        memcpy(sorted, times->ns[side], n * sizeof *sorted);
        summary.median[side] = bench_spread(sorted, n).median;
    }
    for (uint32_t i = 0; i < n; ++i)
        sorted[i] = more[i] = times->ns[BENCH_BELFRY][i] - times->ns[BENCH_PLAIN][i];
    double median = bench_spread(sorted, n).median, plain = summary.median[BENCH_PLAIN];
    for (uint32_t i = 0; i < n; ++i)
        sorted[i] = fabs(more[i] - median);
    /* In a normal distribution, the standard deviation is 1.4826 times the median absolute
     * deviation, and the standard error of the median is 1.2533 times that of the mean. */
    double error = 1.2533 * 1.4826 * bench_spread(sorted, n).median / sqrt(n);
    summary.more = plain > 0 ? median / plain : 0;
    summary.error = plain > 0 && n > 1 ? error / plain : INFINITY;
    return summary;
}

bool pair_slower(const struct pair_summary *summary)
{
    return summary->more > 0.01 && summary->more > 3 * summary->error;
}

enum bench_side pair_first(uint32_t *random)
{
    *random ^= *random << 13;
    *random ^= *random >> 17;
    *random ^= *random << 5;
    return *random >> 31 ? BENCH_BELFRY : BENCH_PLAIN;
}

bool pairs_create(struct pairs *pairs, struct twin *twin, enum corpus_form form,
                  struct bench_found *found)
{
    char folder[4096];

    snprintf(folder, sizeof folder, "%s/corpus", getenv("BELFRY_TEST_BUILD"));
    if (!corpus_open(folder, &pairs->corpus)) {
        bench_found_nothing(found, "%.150s", pairs->corpus.error);
        return false;
    }
    pairs->list = calloc(pairs->corpus.shader_count + 1, sizeof *pairs->list);
    if (!pairs->list) {
        corpus_close(&pairs->corpus);
        bench_found_nothing(found, "out of memory");
        return false;
    }
    for (uint32_t i = 0; i < pairs->corpus.shader_count; ++i) {
        struct pair *pair = &pairs->list[i];
        pair->shader = &pairs->corpus.shaders[i];
        pairs->count = i + 1;
        for (enum bench_side side = BENCH_PLAIN; side <= BENCH_BELFRY; ++side) {
            if (corpus_pipeline_create(twin_use(twin, side), &pairs->corpus, pair->shader, form,
                                       &pair->pipelines[side]) < 0) {
                bench_found_nothing(found, "%s has no pipeline", pair->shader->name);
                return false;
            }
        }
    }
    return true;
}

void pairs_release(struct pairs *pairs, struct twin *twin)
{
    for (uint32_t i = 0; i < pairs->count; ++i) {
        for (enum bench_side side = BENCH_PLAIN; side <= BENCH_BELFRY; ++side)
            corpus_pipeline_destroy(twin_use(twin, side), &pairs->list[i].pipelines[side]);
    }
}

void pairs_destroy(struct pairs *pairs)
{
    free(pairs->list);
    if (pairs->list)
        corpus_close(&pairs->corpus);
    *pairs = (struct pairs){0};
}

static VkResult pair_draw(const struct pair *pair, struct twin *twin, enum bench_side side,
                          uint32_t frame, double *ns)
{
    struct corpus_gpu *gpu = twin_use(twin, side);
    const struct corpus_moment moment = {
        .frame = frame, .width = gpu->extent.width, .height = gpu->extent.height};
    uint8_t push[CORPUS_PUSH_MOST];

    corpus_values(pair->shader, &moment, push);
    return corpus_frame(gpu, &pair->pipelines[side], push, 1, ns);
}

VkResult pairs_draw(struct pairs *pairs, struct twin *twin, enum bench_side side, uint32_t frame)
{
    VkResult result = VK_SUCCESS;
    for (uint32_t i = 0; i < pairs->count && result >= 0; ++i)
        result = pair_draw(&pairs->list[i], twin, side, frame, NULL);
    return result;
}

/* Takes one more sample of each side. */
static VkResult pair_measure(struct pair *pair, struct twin *twin, uint32_t frame, uint32_t *random)
{
    enum bench_side first = pair_first(random);
    uint64_t hashes[2];
    double ns[2];

    for (uint32_t turn = 0; turn < 2; ++turn) {
        enum bench_side side = turn ? 1 - first : first;
        VkResult result = pair_draw(pair, twin, side, frame, &ns[side]);
        if (result < 0)
            return result;
        hashes[side] = pair->times.count < HASHED ? corpus_frame_hash(&twin->gpus[side]) : 0;
    }
    pair->differs |= hashes[0] != hashes[1];
    for (uint32_t side = 0; side < 2; ++side)
        pair->times.ns[side][pair->times.count] = ns[side];
    ++pair->times.count;
    return VK_SUCCESS;
}

VkResult pairs_measure(struct pairs *pairs, struct twin *twin, uint32_t count)
{
    uint32_t random = 0x2545f491;
    VkResult result = VK_SUCCESS;

    if (count > PAIRS_SAMPLES)
        count = PAIRS_SAMPLES;
    for (uint32_t frame = 0; frame < count; ++frame) {
        for (uint32_t i = 0; i < pairs->count && result >= 0; ++i)
            result = pair_measure(&pairs->list[i], twin, 1000 + frame, &random);
    }
    for (uint32_t i = 0; i < pairs->count && result >= 0; ++i) {
        struct pair *pair = &pairs->list[i];
        struct pair_summary summary = pair_summarise(&pair->times);
        if (!pair_slower(&summary))
            continue;
        pair->times.count = 0;
        for (uint32_t frame = 0; frame < PAIRS_SAMPLES && result >= 0; ++frame)
            result = pair_measure(pair, twin, 2000 + frame, &random);
        summary = pair_summarise(&pair->times);
        pair->slower = pair_slower(&summary);
    }
    return result;
}
