/* SPDX-License-Identifier: MIT */
/* Measures signals of fences that have waiters, with few such fences and with many. */
#include "crowd.h"

#include <stdlib.h>

#include "../common/report.h"

/* A thread with its share of the fences, and the one event that it has registered with them. */
struct member {
    pthread_t thread;
    pthread_barrier_t *start;
    uint32_t count;
    BfFence *fences;
    BfEvent event;
    uint64_t value;
    VkResult result;
};

static void *register_and_wait(void *data)
{
    struct member *member = data;
    pthread_barrier_wait(member->start);
    for (uint32_t i = 0; i < member->count && member->result >= 0; ++i)
        member->result =
            bfSetEventOnFenceCompletion(member->fences[i], member->value, member->event);
    return NULL;
}

static bool register_all(struct member *members, uint64_t value, struct bench_found *found)
{
    pthread_barrier_t start;
    pthread_barrier_init(&start, NULL, CROWD_THREADS);
    for (int i = 0; i < CROWD_THREADS; ++i) {
        members[i].start = &start;
        members[i].value = value;
        bench_thread_start(&members[i].thread, register_and_wait, &members[i]);
    }
    bool well = true;
    for (int i = 0; i < CROWD_THREADS; ++i) {
        pthread_join(members[i].thread, NULL);
        well = well && members[i].result >= 0;
        if (!well)
            bench_found_nothing(found, "bfSetEventOnFenceCompletion: %s",
                                sample_result_name(members[i].result));
    }
    pthread_barrier_destroy(&start);
    return well;
}

static bool create(BfDevice device, struct member *members, uint32_t count,
                   struct bench_found *found)
{
    const BfFenceCreateInfo info = {.sType = BF_STRUCTURE_TYPE_FENCE_CREATE_INFO};
    VkResult result = VK_SUCCESS;
    for (int m = 0; m < CROWD_THREADS && result >= 0; ++m) {
        uint32_t share = count / CROWD_THREADS + ((uint32_t)m < count % CROWD_THREADS);
        members[m].fences = calloc(share, sizeof *members[m].fences);
        result =
            members[m].fences ? bfCreateEvent(0, &members[m].event) : VK_ERROR_OUT_OF_HOST_MEMORY;
        for (; members[m].count < share && result >= 0; ++members[m].count)
            result = bfCreateFence(device, &info, &members[m].fences[members[m].count]);
    }
    if (result < 0)
        bench_found_nothing(found, "a crowd of fences: %s", sample_result_name(result));
    return result >= 0;
}

static void destroy(struct member *members)
{
    for (int m = 0; m < CROWD_THREADS; ++m) {
        for (uint32_t i = 0; members[m].fences && i < members[m].count; ++i)
            bfDestroyFence(members[m].fences[i]);
        free(members[m].fences);
        bfDestroyEvent(members[m].event);
    }
}

/* The time of a signal, from signalling all fences once; if they are few, several times. */
static double time_signals(struct member *members, uint32_t count, uint64_t *value,
                           struct bench_found *found)
{
    uint64_t took = 0;
    uint32_t rounds = CROWD_MANY / count;
    for (uint32_t round = 0; round < rounds; ++round) {
        if (!register_all(members, ++*value, found))
            return 0;
        uint64_t begin = bench_now();
        for (int m = 0; m < CROWD_THREADS; ++m) {
            for (uint32_t i = 0; i < members[m].count; ++i)
                bfSignalFence(members[m].fences[i], *value);
        }
        took += bench_now() - begin;
    }
    return (double)took / (rounds * count);
}

void crowd_compare(BfDevice device, uint32_t repetitions, struct bench_found *found)
{
    struct member few[CROWD_THREADS] = {0}, many[CROWD_THREADS] = {0};
    uint64_t values[2] = {0};
    bool well = create(device, few, CROWD_FEW, found) && create(device, many, CROWD_MANY, found);
    for (uint32_t i = 0; i < repetitions && well; ++i) {
        found->plain[i] = time_signals(few, CROWD_FEW, &values[0], found);
        found->belfry[i] = time_signals(many, CROWD_MANY, &values[1], found);
        well = !found->reason[0];
    }
    found->count = well ? repetitions : 0;
    destroy(many);
    destroy(few);
}
