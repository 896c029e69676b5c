/* SPDX-License-Identifier: MIT */
/* Many threads on one trace: what must hold for any trace holds for theirs. */
#include "trace_helper.h"

#define THREADS 4
#define PACKETS 300

struct worker {
    struct bf_trace *trace;
    const uint32_t *queues;
    uint64_t number;
};

static void *work(void *argument)
{
    struct worker *w = argument;
    char name[32];
    for (uint64_t i = 0; i < PACKETS; i++) {
        uint32_t queue = w->queues[(w->number + i) % 3];
        struct bf_trace_packet p = queued(w->trace, queue);
        p.timed = i % 5 != 0;
        struct bf_trace_sync waits[2] = {SYNC(1 + w->number, i), SYNC(1 + (i + 1) % THREADS, i)};
        struct bf_trace_sync signal = SYNC(1 + w->number, i + 1);
        bool logged = i % 3 == 0;
        bf_trace_fence_queued(w->trace, queue, &p, BF_TRACE_FENCE_WAIT, waits[i % 2], logged);
        bf_trace_fence_queued(w->trace, queue, &p, BF_TRACE_FENCE_SIGNAL, signal, logged);
        if (i % 4 == 1)
            bf_trace_packet_held(w->trace, &p, SYNC(1 + i % 7, i));
        if (i % 16 == 3) {
            bf_trace_packet_dropped(w->trace, &p);
            continue;
        }
        handed_over(w->trace, &p, waits[i % 2], signal);
        if (p.timed)
            bf_trace_packet_executed(w->trace, &p, p.handed_over_ns, p.handed_over_ns + i);
        if (logged) {
            bf_trace_fence_done(w->trace, queue, BF_TRACE_FENCE_SIGNAL, signal,
                                p.handed_over_ns + i, 0, 0);
            bf_trace_fence_done(w->trace, queue, BF_TRACE_FENCE_WAIT, waits[i % 2],
                                p.handed_over_ns + i, p.queued_ns + 1, 0);
        }
        VkCommandBuffer buffer = (VkCommandBuffer)(uintptr_t)(0x1000 + 16 * (i % 9));
        bf_trace_command_buffer_label(w->trace, buffer, "label");
        if (i % 7 == 0)
            bf_trace_command_buffer_begun(w->trace, buffer);
        if (i % 50 == 7) {
            snprintf(name, sizeof(name), "name %u", (unsigned)i);
            if (i % 100 == 7)
                bf_trace_name_semaphore(w->trace, 1 + i % 7, name);
            else
                bf_trace_forget_semaphore(w->trace, 1 + i % 7);
            bf_trace_name_queue(w->trace, queue, name);
            bf_trace_name_command_buffer(w->trace, buffer, name);
            bf_trace_fences_lost(w->trace, queue, i);
            bf_trace_host_signal(w->trace, SYNC(50 + w->number, i));
        }
        if (i % 150 == 149) {
            FILE *out = fopen("/dev/null", "w");
            bf_trace_print_summary(w->trace, out);
            fclose(out);
            bf_trace_flush(w->trace);
            bf_trace_drain(w->trace);
            bf_trace_forget_command_buffer(w->trace, buffer);
        }
    }
    return NULL;
}

TEST(all_at_once)
{
    char folder[64];
    folder_make(folder);
    struct bf_trace *trace = trace_open(in_folder(folder, "run"));
    uint32_t engines[2] = {bf_trace_add_engine(trace, "a"), bf_trace_add_engine(trace, "b")};
    const uint32_t queues[3] = {bf_trace_add_queue(trace, engines[0], "q"),
                                bf_trace_add_queue(trace, engines[0], "r"),
                                bf_trace_add_queue(trace, engines[1], "s")};
    pthread_t threads[THREADS];
    struct worker workers[THREADS];
    for (uint64_t i = 0; i < THREADS; i++) {
        workers[i] = (struct worker){trace, queues, i};
        assert_int_equal(pthread_create(&threads[i], NULL, work, &workers[i]), 0);
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    struct bf_trace_counts counts;
    bf_trace_count(trace, &counts);
    assert_int_equal(counts.lost, 0);
    struct decoded d = trace_close(trace, folder, NULL);
    size_t slices = 0;
    size_t ends = 0;
    for (size_t i = 0; i < d.count; i++) {
        slices += d.packets[i].kind == DECODED_EVENT && d.packets[i].type == DECODED_BEGIN;
        ends += d.packets[i].kind == DECODED_EVENT && d.packets[i].type == DECODED_END;
    }
    assert_true(slices > THREADS * PACKETS);
    assert_int_equal(slices, ends);
    decoded_free(&d);
}
