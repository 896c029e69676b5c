/* SPDX-License-Identifier: MIT */
/* Fence operations: a box from when the CPU queued it to when the GPU was through with it. */
#include "trace_helper.h"

#include <time.h>

struct run {
    char folder[64];
    struct bf_trace *trace;
    uint32_t queues[2];
};

enum { SIGNAL = BF_TRACE_FENCE_SIGNAL, WAIT = BF_TRACE_FENCE_WAIT };

static struct run run_begin(void)
{
    struct run r;
    folder_make(r.folder);
    r.trace = trace_open(in_folder(r.folder, "run.pftrace"));
    uint32_t engine = bf_trace_add_engine(r.trace, "graphics 0");
    r.queues[0] = bf_trace_add_queue(r.trace, engine, "direct");
    r.queues[1] = bf_trace_add_queue(r.trace, engine, "compute");
    return r;
}

static struct decoded run_end(struct run *r, size_t *arrows)
{
    return trace_close(r->trace, r->folder, arrows);
}

/* The n-th box or instant with this fence and value. */
static const struct decoded_packet *box_of(const struct decoded *d, int op, uint64_t value,
                                           unsigned n)
{
    for (size_t i = 0; i < d->count; i++) {
        const struct decoded_packet *p = &d->packets[i];
        if (p->kind == DECODED_EVENT && (p->type == DECODED_BEGIN || p->type == DECODED_INSTANT) &&
            decoded_is(p->category, op == WAIT ? "fence.wait" : "fence.signal") &&
            number_of(p, "value") == value && n-- == 0)
            return p;
    }
    return NULL;
}

/* The end of a box, past what is nested in it. */
static const struct decoded_packet *end_of_box(const struct decoded *d,
                                               const struct decoded_packet *begin)
{
    int depth = 1;
    for (const struct decoded_packet *p = begin + 1; p < d->packets + d->count; p++) {
        if (p->kind != DECODED_EVENT || p->uuid != begin->uuid)
            continue;
        depth += p->type == DECODED_BEGIN;
        depth -= p->type == DECODED_END;
        if (depth == 0)
            return p;
    }
    return NULL;
}

static void logged(struct run *r, int queue, int op, struct bf_trace_sync sync)
{
    bf_trace_fence_queued(r->trace, r->queues[queue], NULL, (enum bf_trace_fence_op)op, sync, true);
}

static void done(struct run *r, int queue, int op, struct bf_trace_sync sync, uint64_t end,
                 uint64_t observed)
{
    bf_trace_fence_done(r->trace, r->queues[queue], (enum bf_trace_fence_op)op, sync, end, observed,
                        0);
}

static uint64_t clock_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* The four conditions, and the arrow from the signal to the wait. */
TEST(boxes)
{
    struct run r = run_begin();
    bf_trace_name_semaphore(r.trace, 0x50, "frame");
    uint64_t before = clock_now();
    logged(&r, 1, WAIT, SYNC(0x50, 7));
    logged(&r, 0, SIGNAL, SYNC(0x50, 7));
    uint64_t queued = clock_now();
    done(&r, 0, SIGNAL, SYNC(0x50, 7), queued + 1000, 0);
    done(&r, 1, WAIT, SYNC(0x50, 7), queued + 1500, queued + 200);
    size_t arrows;
    struct decoded d = run_end(&r, &arrows);
    const struct decoded_packet *wait = box_of(&d, WAIT, 7, 0), *signal = box_of(&d, SIGNAL, 7, 0);
    assert_true(lies_on(&d, wait, "fence operations", "compute", "graphics 0"));
    assert_true(lies_on(&d, signal, "fence operations", "direct", "graphics 0"));
    assert_true(decoded_is(wait->name, "wait frame"));
    assert_true(decoded_is(signal->name, "signal frame"));
    assert_true(says(wait, "fence", "frame"));
    assert_int_equal(number_of(wait, "handle"), 0x50);
    assert_in_range(wait->time, before, signal->time);
    assert_in_range(signal->time, wait->time, queued);
    const struct decoded_packet *end = end_of_box(&d, wait);
    assert_int_equal(end->time, queued + 1500);
    assert_null(decoded_annotation(end, "ended by"));
    assert_int_equal(end_of_box(&d, signal)->time, queued + 1000);
    const struct decoded_packet *blocked = event_named(&d, "blocked", DECODED_BEGIN, 0);
    assert_int_equal(blocked->uuid, wait->uuid);
    assert_int_equal(blocked->time, queued + 200);
    assert_true(decoded_is(blocked->category, "fence.blocked"));
    assert_int_equal(arrows, 1);
    assert_ptr_equal(decoded_flow_source(&d, end->terminating[0]), end_of_box(&d, signal));
    decoded_free(&d);
}

/* The logs of two queues may be read in either order: the arrow is the same. */
TEST(wait_read_before_its_signal)
{
    struct run r = run_begin();
    logged(&r, 0, SIGNAL, SYNC(5, 1));
    for (int i = 0; i < 3; i++)
        logged(&r, 1, WAIT, SYNC(5, 1));
    uint64_t t = clock_now();
    for (uint64_t i = 0; i < 3; i++)
        done(&r, 1, WAIT, SYNC(5, 1), t + 100 + i, 0);
    done(&r, 0, SIGNAL, SYNC(5, 1), t + 50, 0);
    size_t arrows;
    struct decoded d = run_end(&r, &arrows);
    assert_int_equal(arrows, 3);
    for (unsigned i = 0; i < 3; i++) {
        const struct decoded_packet *end = end_of_box(&d, box_of(&d, WAIT, 1, i));
        assert_int_equal(end->time, t + 100 + i);
        const struct decoded_packet *from = decoded_flow_source(&d, end->terminating[0]);
        assert_ptr_equal(from, end_of_box(&d, box_of(&d, SIGNAL, 1, 0)));
    }
    decoded_free(&d);
}

/* By its own clock a wait was over before its signal: the arrow leaves from inside the signal's
 * box. */
TEST(clocks_that_disagree)
{
    struct run r = run_begin();
    logged(&r, 0, SIGNAL, SYNC(5, 1));
    logged(&r, 1, WAIT, SYNC(5, 1));
    uint64_t t = clock_now();
    done(&r, 1, WAIT, SYNC(5, 1), t + 100, 0);
    done(&r, 0, SIGNAL, SYNC(5, 1), t + 150, 0);
    logged(&r, 0, SIGNAL, SYNC(6, 1));
    logged(&r, 1, WAIT, SYNC(6, 1));
    t = clock_now();
    done(&r, 0, SIGNAL, SYNC(6, 1), t + 350, 0);
    done(&r, 1, WAIT, SYNC(6, 1), t + 300, 0);
    /* The other way round the wait's end moves. */
    size_t arrows;
    struct decoded d = run_end(&r, &arrows);
    assert_int_equal(arrows, 2);
    const struct decoded_packet *end = end_of_box(&d, box_of(&d, WAIT, 1, 0));
    const struct decoded_packet *mark = decoded_flow_source(&d, end->terminating[0]);
    assert_true(decoded_is(mark->category, "arrow"));
    assert_int_equal(mark->time, end->time - 1);
    assert_int_equal(end_of_box(&d, box_of(&d, WAIT, 1, 1))->time, t + 350);
    decoded_free(&d);
}

/* A time of the GPU that is still to come by the CPU's clock: the box has its lane to itself. */
TEST(gpu_ahead_of_the_cpu)
{
    struct run r = run_begin();
    for (uint64_t i = 1; i <= 3; i++) {
        logged(&r, 0, SIGNAL, SYNC(5, i));
        done(&r, 0, SIGNAL, SYNC(5, i), clock_now() + 1000000000, 0);
    }
    struct decoded d = run_end(&r, NULL);
    assert_true(box_of(&d, SIGNAL, 1, 0)->uuid != box_of(&d, SIGNAL, 2, 0)->uuid);
    decoded_free(&d);
}

/* A signal that was queued after a wait was over didn't satisfy it, though its value would. */
TEST(signalled_again)
{
    struct run r = run_begin();
    logged(&r, 1, WAIT, SYNC(5, 1));
    uint64_t t = clock_now();
    while (clock_now() == t)
        ;
    logged(&r, 0, SIGNAL, SYNC(5, 1));
    done(&r, 1, WAIT, SYNC(5, 1), t, 0);
    done(&r, 0, SIGNAL, SYNC(5, 1), clock_now(), 0);
    size_t arrows;
    struct decoded d = run_end(&r, &arrows);
    assert_int_equal(arrows, 0);
    assert_int_equal(end_of_box(&d, box_of(&d, WAIT, 1, 0))->time, t);
    decoded_free(&d);
}

/* A wait for a value that its fence has when it is queued costs nothing, whenever its packet
 * begins. */
TEST(wait_for_what_there_is)
{
    struct run r = run_begin();
    logged(&r, 0, SIGNAL, SYNC(5, 1));
    uint64_t t = clock_now();
    done(&r, 0, SIGNAL, SYNC(5, 1), t, 0);
    while (clock_now() == t)
        ;
    logged(&r, 1, WAIT, SYNC(5, 1));
    done(&r, 1, WAIT, SYNC(5, 1), clock_now() + 1000000, 0);
    size_t arrows;
    struct decoded d = run_end(&r, &arrows);
    const struct decoded_packet *wait = box_of(&d, WAIT, 1, 0);
    assert_int_equal(end_of_box(&d, wait)->time, wait->time);
    assert_int_equal(arrows, 1);
    decoded_free(&d);
}

/* Equal values, over and over: each entry ends the oldest. */
TEST(equal_values_in_order)
{
    struct run r = run_begin();
    for (int i = 0; i < 4; i++)
        logged(&r, 0, SIGNAL, SYNC(5, 1));
    uint64_t t = clock_now();
    for (uint64_t i = 0; i < 4; i++)
        done(&r, 0, SIGNAL, SYNC(5, 1), t + 100 * i, 0);
    struct decoded d = run_end(&r, NULL);
    for (unsigned i = 0; i < 4; i++)
        assert_int_equal(end_of_box(&d, box_of(&d, SIGNAL, 1, i))->time, t + 100 * i);
    decoded_free(&d);
}

/* Entries that were overwritten: their boxes end when a later one is read. */
TEST(lost_entries)
{
    struct run r = run_begin();
    for (uint64_t i = 1; i <= 3; i++) {
        logged(&r, 0, SIGNAL, SYNC(5, i));
        logged(&r, 0, WAIT, SYNC(6, i));
    }
    logged(&r, 1, WAIT, SYNC(5, 2));
    uint64_t t = clock_now();
    done(&r, 1, WAIT, SYNC(5, 2), t + 10, 0);
    bf_trace_fences_lost(r.trace, r.queues[0], 2);
    bf_trace_fences_lost(r.trace, r.queues[0], 0); /* nothing to tell */
    bf_trace_fences_lost(r.trace, r.queues[1], 5);
    done(&r, 0, SIGNAL, SYNC(5, 3), t + 50, 0);
    done(&r, 0, SIGNAL, SYNC(5, 3), t + 60, 0); /* never queued */
    bf_trace_fence_done(r.trace, r.queues[1], BF_TRACE_FENCE_WAIT, SYNC(9, 9), t + 70, t + 65,
                        BF_TRACE_FENCE_LATE_BOUND);
    char *text = NULL;
    size_t size, arrows;
    FILE *out = open_memstream(&text, &size);
    bf_trace_print_summary(r.trace, out);
    fclose(out);
    assert_non_null(strstr(text, "7 entries of fence logs overwritten unread"));
    free(text);
    struct decoded d = run_end(&r, &arrows);
    for (uint64_t i = 1; i <= 2; i++) {
        const struct decoded_packet *end = end_of_box(&d, box_of(&d, SIGNAL, i, 0));
        assert_true(says(end, "ended by", "lost entry"));
        if (i == 2) /* it was executed before the wait that it satisfied was over */
            assert_int_equal(end->time, t + 9);
    }
    assert_int_equal(arrows, 1);
    assert_int_equal(end_of_box(&d, box_of(&d, SIGNAL, 3, 0))->time, t + 50);
    for (uint64_t i = 1; i <= 3; i++) /* of another kind: still to come */
        assert_null(end_of_box(&d, box_of(&d, WAIT, i, 0)));
    const struct decoded_packet *stray = box_of(&d, SIGNAL, 3, 1);
    assert_int_equal(stray->type, DECODED_INSTANT);
    assert_int_equal(stray->time, t + 60);
    stray = box_of(&d, WAIT, 9, 0);
    assert_true(says(stray, "ended by", "late-bound entry"));
    const struct decoded_packet *lost = event_named(&d, "lost log entries", DECODED_INSTANT, 0);
    assert_int_equal(number_of(lost, "count"), 2);
    assert_true(decoded_is(lost->category, "lost"));
    assert_true(lies_on(&d, lost, "fence operations", "direct", "graphics 0"));
    assert_null(event_named(&d, "lost log entries", DECODED_INSTANT, 2));
    int64_t total = 0;
    for (size_t i = 0; i < d.count; i++)
        if (d.packets[i].kind == DECODED_EVENT && d.packets[i].type == DECODED_COUNTER &&
            decoded_is(decoded_track(&d, d.packets[i].uuid)->name, "log entries lost"))
            total = d.packets[i].value;
    assert_int_equal(total, 7);
    decoded_free(&d);
}

TEST(entries_without_time)
{
    struct run r = run_begin();
    logged(&r, 0, SIGNAL, SYNC(5, 1));
    uint64_t before = clock_now();
    done(&r, 0, SIGNAL, SYNC(5, 1), 0, 0);
    uint64_t after = clock_now();
    struct decoded d = run_end(&r, NULL);
    const struct decoded_packet *end = end_of_box(&d, box_of(&d, SIGNAL, 1, 0));
    assert_true(says(end, "ended by", "entry without time"));
    assert_in_range(end->time, before, after);
    decoded_free(&d);
}

/* A command queue's call: its log reports the end with the queue's next batch. */
static void noted(struct run *r, int queue, int op, struct bf_trace_sync sync)
{
    struct bf_trace_packet packet;
    bool wait = op == WAIT;
    bf_trace_packet_queued(r->trace, &packet, r->queues[queue],
                           wait ? BF_TRACE_WAIT : BF_TRACE_SIGNAL, 0);
    bf_trace_fence_queued(r->trace, r->queues[queue], &packet, (enum bf_trace_fence_op)op, sync,
                          true);
    handed_over(r->trace, &packet, wait ? sync : NOTHING, wait ? NOTHING : sync);
}

static void done_later(struct run *r, int queue, int op, struct bf_trace_sync sync, uint64_t end)
{
    bf_trace_fence_done(r->trace, r->queues[queue], (enum bf_trace_fence_op)op, sync, end, 0,
                        BF_TRACE_FENCE_LATER_BATCH);
}

static void ends(const struct decoded *d, int op, uint64_t value, uint64_t time, const char *by,
                 bool at_most)
{
    const struct decoded_packet *end = end_of_box(d, box_of(d, op, value, 0));
    assert_int_equal(end->time, time);
    assert_true(says(end, "ended by", by));
    assert_int_equal(number_of(end, "at most"), at_most);
}

#define NIGHT UINT64_C(10000000000)

/* An operation that was over by some time ends with what it comes after, when that is known, and
 * else says 'at most' (T-6). */
TEST(over_by_some_time)
{
    struct run r = run_begin();
    struct bf_trace_packet p = queued(r.trace, r.queues[0]), q;
    handed_over(r.trace, &p, NOTHING, NOTHING);
    noted(&r, 0, SIGNAL, SYNC(5, 1));
    noted(&r, 1, WAIT, SYNC(5, 1));
    noted(&r, 1, SIGNAL, SYNC(6, 2));
    noted(&r, 1, WAIT, SYNC(7, 3)); /* for a signal that nobody knows */
    noted(&r, 1, SIGNAL, SYNC(6, 4));
    uint64_t t = clock_now(), morning = t + NIGHT;
    while (clock_now() < t + 100)
        continue;
    done_later(&r, 1, WAIT, SYNC(5, 1), morning); /* the signal isn't known to be over */
    done(&r, 1, SIGNAL, SYNC(6, 2), 0, 0);
    done_later(&r, 1, WAIT, SYNC(7, 3), morning + 1);
    done_later(&r, 1, SIGNAL, SYNC(6, 4), morning + 2);
    bf_trace_packet_executed(r.trace, &p, t + 10, t + 20);
    done_later(&r, 0, SIGNAL, SYNC(5, 1), morning + 3);
    /* A packet of the same queue that nobody times; and one whose stamps stand in for entries. */
    bf_trace_packet_queued(r.trace, &q, r.queues[0], BF_TRACE_EXECUTE, 1);
    handed_over(r.trace, &q, NOTHING, NOTHING);
    noted(&r, 0, SIGNAL, SYNC(5, 5));
    done_later(&r, 0, SIGNAL, SYNC(5, 5), morning + 5);
    q = queued(r.trace, r.queues[0]);
    bf_trace_fence_queued(r.trace, r.queues[0], &q, BF_TRACE_FENCE_SIGNAL, SYNC(5, 6), true);
    handed_over(r.trace, &q, NOTHING, NOTHING);
    uint64_t s = clock_now();
    bf_trace_packet_executed(r.trace, &q, s + 50, s + 60);
    done(&r, 0, SIGNAL, SYNC(5, 6), 0, 0);
    noted(&r, 1, WAIT, SYNC(5, 5)); /* the signal's end is an upper bound */
    done_later(&r, 1, WAIT, SYNC(5, 5), morning + NIGHT);
    size_t arrows;
    struct decoded d = run_end(&r, &arrows);
    ends(&d, SIGNAL, 1, t + 20, "stamps", false);
    ends(&d, WAIT, 1, t + 20, "signal", false);
    ends(&d, SIGNAL, 2, t + 20, "stamps", false);
    ends(&d, WAIT, 3, morning + 1, "later batch", true);
    ends(&d, SIGNAL, 4, morning + 1, "stamps", true);
    ends(&d, SIGNAL, 5, morning + 5, "later batch", true);
    ends(&d, SIGNAL, 6, s + 60, "stamps", false);
    ends(&d, WAIT, 5, morning + 5, "signal", true);
    assert_int_equal(arrows, 2);
    decoded_free(&d);
}

/* The trace ends while something is still open: it was over when that was reported, at most. */
TEST(over_at_the_end)
{
    struct run r = run_begin();
    noted(&r, 0, SIGNAL, SYNC(8, 1)); /* its entry never comes */
    noted(&r, 1, WAIT, SYNC(8, 1));
    noted(&r, 1, SIGNAL, SYNC(6, 2));
    uint64_t t = clock_now() + NIGHT;
    done_later(&r, 1, WAIT, SYNC(8, 1), t);
    done_later(&r, 1, SIGNAL, SYNC(6, 2), t + 1);
    struct decoded d = run_end(&r, NULL);
    ends(&d, WAIT, 1, t, "later batch", true);
    ends(&d, SIGNAL, 2, t, "stamps", true);
    decoded_free(&d);
}

/* However many are queued and never heard of again, as many are remembered as there are places. */
TEST(bounded)
{
    struct run r = run_begin();
    for (uint64_t i = 0; i < 100000; i++) {
        logged(&r, 0, SIGNAL, SYNC(5, i + 1));
        logged(&r, 0, WAIT, SYNC(6, i + 1));
    }
    struct bf_trace_counts counts;
    bf_trace_count(r.trace, &counts);
    assert_int_equal(counts.lost, 4 * (100000 - 256)); /* two events each */
    /* The lanes are taken: these are instants at their end, and what comes next finds room again.
     */
    uint64_t t = clock_now();
    done(&r, 0, SIGNAL, SYNC(5, 256), t, 0);
    done(&r, 0, WAIT, SYNC(6, 256), t, 0);
    logged(&r, 0, SIGNAL, SYNC(5, 200000));
    done(&r, 0, SIGNAL, SYNC(5, 200000), t + 1000000, 0);
    struct decoded d = run_end(&r, NULL);
    size_t tracks = 0, begun = 0;
    for (size_t i = 0; i < d.count; i++) {
        tracks +=
            d.packets[i].kind == DECODED_TRACK && decoded_is(d.packets[i].name, "fence operations");
        begun += d.packets[i].kind == DECODED_EVENT && d.packets[i].type == DECODED_BEGIN;
    }
    assert_int_equal(tracks, 256);
    assert_int_equal(begun, 257);
    const struct decoded_packet *lost = event_named(&d, "lost events", DECODED_INSTANT, 0);
    assert_non_null(lost);
    assert_int_equal(box_of(&d, WAIT, 256, 0)->type, DECODED_INSTANT);
    assert_non_null(end_of_box(&d, box_of(&d, SIGNAL, 200000, 0)));
    decoded_free(&d);
}

/* No log: a packet's stamps tell. */
TEST(by_stamps)
{
    struct run r = run_begin();
    struct bf_trace_packet p = queued(r.trace, r.queues[0]);
    bf_trace_fence_queued(r.trace, r.queues[0], &p, BF_TRACE_FENCE_WAIT, SYNC(5, 1), false);
    bf_trace_fence_queued(r.trace, r.queues[0], &p, BF_TRACE_FENCE_SIGNAL, SYNC(6, 1), false);
    handed_over(r.trace, &p, SYNC(5, 1), SYNC(6, 1));
    struct bf_trace_packet q = queued(r.trace, r.queues[1]);
    bf_trace_fence_queued(r.trace, r.queues[1], &q, BF_TRACE_FENCE_WAIT, SYNC(6, 1), false);
    handed_over(r.trace, &q, SYNC(6, 1), NOTHING);
    uint64_t t = q.handed_over_ns;
    bf_trace_packet_executed(r.trace, &p, t + 10, t + 20);
    bf_trace_packet_executed(r.trace, &q, t + 19, t + 30); /* by its engine's clock */
    size_t arrows;
    struct decoded d = run_end(&r, &arrows);
    assert_int_equal(arrows, 2); /* between the packets, and between the boxes */
    const struct decoded_packet *wait = box_of(&d, WAIT, 1, 0);
    assert_int_equal(number_of(wait, "packet"), p.id);
    assert_int_equal(end_of_box(&d, wait)->time, t + 10);
    assert_true(says(end_of_box(&d, wait), "ended by", "stamps"));
    assert_int_equal(end_of_box(&d, box_of(&d, SIGNAL, 1, 0))->time, t + 20);
    assert_int_equal(end_of_box(&d, box_of(&d, WAIT, 1, 1))->time, t + 20);
    decoded_free(&d);
}

/* Of a packet that is split, the first part has the waits, the last the signals. */
TEST(by_stamps_of_parts)
{
    struct run r = run_begin();
    const VkCommandBufferSubmitInfo infos[3] = {{0}};
    struct bf_trace_packet rest = queued(r.trace, r.queues[0]), parts[2];
    const uint64_t id = rest.id;
    bf_trace_fence_queued(r.trace, r.queues[0], &rest, BF_TRACE_FENCE_WAIT, SYNC(5, 1), false);
    bf_trace_fence_queued(r.trace, r.queues[0], &rest, BF_TRACE_FENCE_SIGNAL, SYNC(6, 1), false);
    for (uint32_t i = 0; i < 2; i++) {
        const struct bf_trace_contents first = {.count = 1, .infos = &infos[i]},
                                       left = {.count = 2 - i, .infos = &infos[i + 1]};
        bf_trace_packet_divided(r.trace, &parts[i], &first, &rest, &left);
        parts[i].timed = rest.timed = true;
        handed_over(r.trace, &parts[i], i ? NOTHING : SYNC(5, 1), NOTHING);
    }
    handed_over(r.trace, &rest, NOTHING, SYNC(6, 1));
    assert_int_equal(parts[0].id, id);
    assert_int_equal(rest.command_buffers, 1);
    uint64_t t = rest.handed_over_ns;
    bf_trace_packet_executed(r.trace, &parts[0], t + 10, t + 20);
    bf_trace_packet_executed(r.trace, &parts[1], t + 30, t + 40);
    bf_trace_packet_executed(r.trace, &rest, t + 50, t + 60);
    struct decoded d = run_end(&r, NULL);
    assert_int_equal(end_of_box(&d, box_of(&d, WAIT, 1, 0))->time, t + 10);
    assert_int_equal(end_of_box(&d, box_of(&d, SIGNAL, 1, 0))->time, t + 60);
    decoded_free(&d);
}

/* Signals and waits of command queues: a box each, and nothing on the hardware queue. */
TEST(calls_on_command_queues)
{
    struct run r = run_begin();
    /* Nothing under way: both are over in the call. */
    struct bf_trace_packet s, w;
    bf_trace_packet_queued(r.trace, &s, r.queues[0], BF_TRACE_SIGNAL, 0);
    bf_trace_fence_queued(r.trace, r.queues[0], &s, BF_TRACE_FENCE_SIGNAL, SYNC(5, 1), false);
    handed_over(r.trace, &s, NOTHING, SYNC(5, 1));
    bf_trace_packet_queued(r.trace, &w, r.queues[1], BF_TRACE_WAIT, 0);
    bf_trace_fence_queued(r.trace, r.queues[1], &w, BF_TRACE_FENCE_WAIT, SYNC(5, 1), false);
    handed_over(r.trace, &w, SYNC(5, 1), NOTHING);
    uint64_t first_wait_ns = w.handed_over_ns;
    /* Behind an execution: the signal is executed with it, the wait and what comes behind it then.
     */
    struct bf_trace_packet p = queued(r.trace, r.queues[0]);
    handed_over(r.trace, &p, NOTHING, NOTHING);
    bf_trace_packet_queued(r.trace, &s, r.queues[0], BF_TRACE_SIGNAL, 0);
    bf_trace_fence_queued(r.trace, r.queues[0], &s, BF_TRACE_FENCE_SIGNAL, SYNC(5, 2), false);
    handed_over(r.trace, &s, NOTHING, SYNC(5, 2));
    bf_trace_packet_queued(r.trace, &w, r.queues[1], BF_TRACE_WAIT, 0);
    bf_trace_fence_queued(r.trace, r.queues[1], &w, BF_TRACE_FENCE_WAIT, SYNC(5, 2), false);
    bf_trace_packet_held(r.trace, &w, SYNC(5, 2));
    handed_over(r.trace, &w, SYNC(5, 2), NOTHING);
    bf_trace_packet_queued(r.trace, &s, r.queues[1], BF_TRACE_SIGNAL, 0);
    bf_trace_fence_queued(r.trace, r.queues[1], &s, BF_TRACE_FENCE_SIGNAL, SYNC(6, 3), false);
    handed_over(r.trace, &s, NOTHING, SYNC(6, 3));
    uint64_t t = s.handed_over_ns;
    bf_trace_packet_executed(r.trace, &p, t + 10, t + 500);
    size_t arrows;
    struct decoded d = run_end(&r, &arrows);
    assert_int_equal(arrows, 2);
    const struct decoded_packet *end = end_of_box(&d, box_of(&d, WAIT, 1, 0));
    assert_int_equal(end->time, first_wait_ns);
    assert_true(says(end, "ended by", "hand-over"));
    end = end_of_box(&d, box_of(&d, SIGNAL, 2, 0));
    assert_int_equal(end->time, t + 500);
    assert_true(says(end, "ended by", "stamps"));
    const struct decoded_packet *wait = end_of_box(&d, box_of(&d, WAIT, 2, 0));
    assert_int_equal(wait->time, t + 500);
    assert_true(says(wait, "ended by", "signal"));
    assert_ptr_equal(decoded_flow_source(&d, wait->terminating[0]), end);
    assert_int_equal(end_of_box(&d, box_of(&d, SIGNAL, 3, 0))->time, t + 500);
    for (size_t i = 0; i < d.count; i++)
        if (d.packets[i].kind == DECODED_EVENT && number_of(&d.packets[i], "packet") != p.id)
            assert_false(decoded_is(d.packets[i].category, "handed over"));
    assert_non_null(event_named(&d, "held", DECODED_BEGIN, 0));
    decoded_free(&d);
}

/* A chain of signals and waits as long as there are places ends with its first signal, without
 * recursion. */
TEST(long_chains)
{
    struct run r = run_begin();
    struct bf_trace_packet p = queued(r.trace, r.queues[0]), s, w;
    handed_over(r.trace, &p, NOTHING, NOTHING);
    for (uint64_t i = 1; i <= 250; i++) {
        uint32_t a = r.queues[(i + 1) % 2], b = r.queues[i % 2];
        bf_trace_packet_queued(r.trace, &s, a, BF_TRACE_SIGNAL, 0);
        bf_trace_fence_queued(r.trace, a, &s, BF_TRACE_FENCE_SIGNAL, SYNC(5, i), false);
        handed_over(r.trace, &s, NOTHING, SYNC(5, i));
        bf_trace_packet_queued(r.trace, &w, b, BF_TRACE_WAIT, 0);
        bf_trace_fence_queued(r.trace, b, &w, BF_TRACE_FENCE_WAIT, SYNC(5, i), false);
        handed_over(r.trace, &w, SYNC(5, i), NOTHING);
    }
    uint64_t t = w.handed_over_ns;
    bf_trace_packet_executed(r.trace, &p, t + 10, t + 500);
    size_t arrows;
    struct decoded d = run_end(&r, &arrows);
    assert_int_equal(arrows, 250);
    for (uint64_t i = 1; i <= 250; i++) {
        assert_int_equal(end_of_box(&d, box_of(&d, SIGNAL, i, 0))->time, t + 500);
        assert_int_equal(end_of_box(&d, box_of(&d, WAIT, i, 0))->time, t + 500);
    }
    decoded_free(&d);
}

/* Whatever is reported, no two operations wait for each other: only what was handed over before can
 * be what a wait ends with. */
TEST(no_circles)
{
    struct run r = run_begin();
    struct bf_trace_packet w[2], s[2];
    for (int q = 0; q < 2; q++) {
        bf_trace_packet_queued(r.trace, &w[q], r.queues[q], BF_TRACE_WAIT, 0);
        bf_trace_fence_queued(r.trace, r.queues[q], &w[q], BF_TRACE_FENCE_WAIT,
                              SYNC(5 + (uint64_t)q, 1), false);
        bf_trace_packet_queued(r.trace, &s[q], r.queues[q], BF_TRACE_SIGNAL, 0);
        bf_trace_fence_queued(r.trace, r.queues[q], &s[q], BF_TRACE_FENCE_SIGNAL,
                              SYNC(6 - (uint64_t)q, 1), false);
    }
    for (int q = 0; q < 2; q++)
        handed_over(r.trace, &w[q], NOTHING, NOTHING);
    for (int q = 0; q < 2; q++)
        handed_over(r.trace, &s[q], NOTHING, NOTHING);
    size_t arrows;
    struct decoded d = run_end(&r, &arrows);
    assert_int_equal(arrows, 0);
    for (unsigned n = 0; n < 2; n++) {
        assert_non_null(end_of_box(&d, box_of(&d, WAIT, 1, n)));
        assert_non_null(end_of_box(&d, box_of(&d, SIGNAL, 1, n)));
    }
    decoded_free(&d);
}

/* Under way while thousands of others come and go: nothing of it is forgotten. */
TEST(outlives_thousands)
{
    struct run r = run_begin();
    struct bf_trace_packet w;
    logged(&r, 0, SIGNAL, SYNC(5, 1));
    logged(&r, 0, WAIT, SYNC(5, 1));
    bf_trace_packet_queued(r.trace, &w, r.queues[1], BF_TRACE_WAIT, 0);
    bf_trace_fence_queued(r.trace, r.queues[1], &w, BF_TRACE_FENCE_WAIT, SYNC(5, 1), false);
    handed_over(r.trace, &w, SYNC(5, 1), NOTHING);
    uint64_t t = clock_now();
    done(&r, 0, WAIT, SYNC(5, 1), t + 100, 0);
    for (uint64_t i = 1; i <= 10000; i++) {
        if (i == 100) {
            logged(&r, 0, SIGNAL, SYNC(7, 20000));
            logged(&r, 0, WAIT, SYNC(7, 20000));
            done(&r, 0, WAIT, SYNC(7, 20000), clock_now() + 100, 0);
        }
        /* On its queue, too, though what comes behind it is told of by stamps. */
        struct bf_trace_packet p = queued(r.trace, r.queues[i % 2]);
        bf_trace_fence_queued(r.trace, r.queues[i % 2], &p, BF_TRACE_FENCE_SIGNAL, SYNC(6, i),
                              false);
        handed_over(r.trace, &p, NOTHING, SYNC(6, i));
        bf_trace_packet_executed(r.trace, &p, p.handed_over_ns, p.handed_over_ns + 1);
    }
    done(&r, 0, SIGNAL, SYNC(5, 1), t + 50, 0);
    done(&r, 0, SIGNAL, SYNC(7, 20000), 1, 0); /* as soon as it was queued */
    struct bf_trace_counts counts;
    bf_trace_count(r.trace, &counts);
    assert_int_equal(counts.lost, 0);
    char path[128];
    snprintf(path, sizeof(path), "%s", bf_trace_path(r.trace));
    bf_trace_destroy(r.trace);
    struct decoded d = decode_file(path); /* decoded_check would take its time */
    const struct decoded_packet *signal = end_of_box(&d, box_of(&d, SIGNAL, 1, 0));
    const struct decoded_packet *wait = end_of_box(&d, box_of(&d, WAIT, 1, 0));
    assert_int_equal(wait->time, t + 100);
    assert_ptr_equal(decoded_flow_source(&d, wait->terminating[0]), signal);
    wait = end_of_box(&d, box_of(&d, WAIT, 1, 1));
    assert_int_equal(wait->time, t + 50);
    assert_true(says(wait, "ended by", "signal"));
    assert_ptr_equal(decoded_flow_source(&d, wait->terminating[0]), signal);
    signal = end_of_box(&d, box_of(&d, SIGNAL, 20000, 0));
    wait = end_of_box(&d, box_of(&d, WAIT, 20000, 0));
    assert_ptr_equal(decoded_flow_source(&d, wait->terminating[0]), signal);
    decoded_free(&d);
    unlink(path);
    rmdir(r.folder);
}

TEST(dropped_with_their_packet)
{
    struct run r = run_begin();
    struct bf_trace_packet p = queued(r.trace, r.queues[0]);
    bf_trace_fence_queued(r.trace, r.queues[0], &p, BF_TRACE_FENCE_WAIT, SYNC(5, 1), false);
    bf_trace_fence_queued(r.trace, r.queues[0], &p, BF_TRACE_FENCE_SIGNAL, SYNC(6, 2), true);
    bf_trace_packet_dropped(r.trace, &p);
    struct decoded d = run_end(&r, NULL);
    assert_true(says(end_of_box(&d, box_of(&d, WAIT, 1, 0)), "ended by", "dropped"));
    assert_true(says(end_of_box(&d, box_of(&d, SIGNAL, 2, 0)), "ended by", "dropped"));
    decoded_free(&d);
}

/* The host's signal satisfies waits of queues, too. */
/* A wait that nothing had satisfied when its fence was destroyed ends with that, and says so; one
 * that the signal before had satisfied doesn't. */
TEST(destroyed_with_their_fence)
{
    struct run r = run_begin();
    for (uint64_t value = 1; value <= 2; value++)
        for (int told = 0; told < 2; told++) {
            struct bf_trace_packet p;
            bf_trace_host_signal(r.trace, SYNC(0x50, 1));
            bf_trace_packet_queued(r.trace, &p, r.queues[told], BF_TRACE_WAIT, 0);
            bf_trace_fence_queued(r.trace, r.queues[told], &p, BF_TRACE_FENCE_WAIT,
                                  SYNC(0x50, value), told);
            bf_trace_forget_semaphore(r.trace, 0x50);
            handed_over(r.trace, &p, SYNC(0x50, value), NOTHING);
            if (told)
                done(&r, 1, WAIT, SYNC(0x50, value), clock_now(), 0);
        }
    struct decoded d = run_end(&r, NULL);
    for (unsigned i = 0; i < 4; i++)
        assert_int_equal(
            says(end_of_box(&d, box_of(&d, WAIT, 1 + i / 2, i % 2)), "ended by", "fence destroyed"),
            i / 2);
    decoded_free(&d);
}

TEST(signalled_by_the_host)
{
    struct run r = run_begin();
    logged(&r, 0, WAIT, SYNC(5, 1));
    logged(&r, 1, WAIT, SYNC(5, 2));
    bf_trace_host_signal(r.trace, SYNC(5, 2));
    uint64_t t = clock_now();
    done(&r, 0, WAIT, SYNC(5, 1), t + 10, 0);
    done(&r, 1, WAIT, SYNC(5, 2), t + 20, 0);
    size_t arrows;
    struct decoded d = run_end(&r, &arrows);
    assert_int_equal(arrows, 2);
    const struct decoded_packet *host = event_named(&d, "host signal", DECODED_INSTANT, 0);
    const struct decoded_packet *end = end_of_box(&d, box_of(&d, WAIT, 1, 0));
    assert_ptr_equal(decoded_flow_source(&d, end->terminating[0]), host);
    decoded_free(&d);
}

/* A wait for a value that its fence has had from the beginning, or since a signal long ago, ends
 * when it is handed over, and not with a signal that is still to come. */
TEST(met_before_the_signal_to_come)
{
    struct run r = run_begin();
    bf_trace_semaphore_value(r.trace, 5, 5);
    bf_trace_host_signal(r.trace, SYNC(6, 5));
    for (uint64_t i = 1; i <= 5000; i++)
        bf_trace_host_signal(r.trace, SYNC(7, i));
    struct bf_trace_packet late = queued(r.trace, r.queues[0]), w;
    uint64_t last = 0;
    for (uint64_t fence = 5; fence <= 6; fence++)
        bf_trace_fence_queued(r.trace, r.queues[0], &late, BF_TRACE_FENCE_SIGNAL, SYNC(fence, 10),
                              false);
    const struct bf_trace_sync signals[2] = {SYNC(5, 10), SYNC(6, 10)};
    bf_trace_packet_handed_over(r.trace, &late, 0, NULL, 2, signals);
    for (uint64_t fence = 5; fence <= 6; fence++) {
        for (int told = 0; told < 2; told++) {
            bf_trace_packet_queued(r.trace, &w, r.queues[1], BF_TRACE_WAIT, 0);
            bf_trace_fence_queued(r.trace, r.queues[1], &w, BF_TRACE_FENCE_WAIT, SYNC(fence, 3),
                                  told);
            handed_over(r.trace, &w, SYNC(fence, 3), NOTHING);
            w = queued(r.trace, r.queues[1]);
            w.timed = told;
            handed_over(r.trace, &w, SYNC(fence, 3), NOTHING);
            last = w.handed_over_ns;
            if (told)
                bf_trace_packet_executed(r.trace, &w, last + 1, last + 2);
        }
        logged(&r, 1, WAIT, SYNC(fence, 3));
    }
    uint64_t end = clock_now() + 1000000000;
    bf_trace_packet_executed(r.trace, &late, end - 1000, end);
    for (uint64_t fence = 5; fence <= 6; fence++)
        for (int i = 0; i < 2; i++)
            done(&r, 1, WAIT, SYNC(fence, 3), 0, 0);
    size_t arrows;
    struct decoded d = run_end(&r, &arrows);
    assert_int_equal(arrows, 0);
    for (unsigned i = 0; i < 6; i++) {
        const struct decoded_packet *wait = end_of_box(&d, box_of(&d, WAIT, 3, i));
        assert_true(wait->time <= clock_now() && wait->time < end - 1000);
    }
    decoded_free(&d);
}

/* A handle that comes back, and a name that two have, are told apart by a number. */
TEST(numbers_of_fences)
{
    struct run r = run_begin();
    static const uint64_t handles[4] = {0x50, 0x60, 0x50, 0x50};
    for (uint64_t i = 0; i < 4; i++) {
        if (i == 3)
            bf_trace_forget_semaphore(r.trace, handles[i]);
        bf_trace_add_semaphore(r.trace, handles[i], 0);
        bf_trace_name_semaphore(r.trace, handles[i], "timeline");
        logged(&r, 0, SIGNAL, SYNC(handles[i], i + 1));
        done(&r, 0, SIGNAL, SYNC(handles[i], i + 1), clock_now(), 0);
        bf_trace_host_signal(r.trace, SYNC(handles[i], 10));
    }
    struct decoded d = run_end(&r, NULL);
    for (unsigned i = 0; i < 4; i++) {
        uint64_t number = number_of(box_of(&d, SIGNAL, i + 1, 0), "object");
        assert_true(number > 0);
        assert_int_equal(number_of(event_named(&d, "host signal", DECODED_INSTANT, i), "object"),
                         number);
        for (unsigned other = 0; other < i; other++)
            assert_int_not_equal(number_of(box_of(&d, SIGNAL, other + 1, 0), "object"), number);
    }
    decoded_free(&d);
}

/* Entries of signals beyond those that are followed aren't taken for those of later ones. */
TEST(entries_of_what_is_not_followed)
{
    struct run r = run_begin();
    for (uint64_t i = 0; i < 300; i++)
        logged(&r, 0, SIGNAL, SYNC(5, i % 2));
    uint64_t t = clock_now();
    for (uint64_t i = 0; i < 256; i++)
        done(&r, 0, SIGNAL, SYNC(5, i % 2), t + i, 0);
    for (uint64_t i = 300; i < 302; i++)
        logged(&r, 0, SIGNAL, SYNC(5, i % 2));
    for (uint64_t i = 256; i < 300; i++)
        done(&r, 0, SIGNAL, SYNC(5, i % 2), t + i, 0);
    uint64_t later = clock_now() + 1000000000;
    for (uint64_t i = 300; i < 302; i++)
        done(&r, 0, SIGNAL, SYNC(5, i % 2), later + i, 0);
    struct decoded d = run_end(&r, NULL);
    for (unsigned i = 0; i < 2; i++) {
        const struct decoded_packet *begin = box_of(&d, SIGNAL, i, 128), *end;
        while (begin && begin->type != DECODED_BEGIN) /* past the entries of those not followed */
            begin = box_of(&d, SIGNAL, i, 150);
        end = begin ? end_of_box(&d, begin) : NULL;
        assert_non_null(end);
        assert_int_equal(end->time, later + 300 + i);
        assert_null(decoded_annotation(end, "at most"));
    }
    decoded_free(&d);
}

/* Room is made for one more by giving one up that is over; that is told first. */
TEST(no_end_before_its_begin)
{
    struct run r = run_begin();
    logged(&r, 0, WAIT, SYNC(9, 1)); /* stands: nobody knows since when the signals are over */
    for (uint64_t i = 1; i <= 256; i++)
        noted(&r, 0, SIGNAL, SYNC(5, i));
    done(&r, 0, SIGNAL, SYNC(5, 256), 0, 0);
    logged(&r, 0, SIGNAL, SYNC(5, 1000));
    done(&r, 0, SIGNAL, SYNC(5, 1000), 1, 0); /* the GPU's clock is behind */
    struct decoded d = run_end(&r, NULL);
    const struct decoded_packet *begin = box_of(&d, SIGNAL, 1000, 0);
    assert_true(end_of_box(&d, begin)->time >= begin->time);
    decoded_free(&d);
}

TEST(signals_pending)
{
    struct run r = run_begin();
    logged(&r, 0, SIGNAL, SYNC(5, 1));
    logged(&r, 1, SIGNAL, SYNC(6, 1));
    logged(&r, 1, WAIT, SYNC(6, 1));
    done(&r, 1, SIGNAL, SYNC(6, 1), clock_now(), 0);
    done(&r, 0, SIGNAL, SYNC(5, 1), clock_now(), 0);
    struct decoded d = run_end(&r, NULL);
    int64_t values[8];
    size_t n = 0;
    for (size_t i = 0; i < d.count; i++)
        if (d.packets[i].kind == DECODED_EVENT && d.packets[i].type == DECODED_COUNTER &&
            decoded_is(decoded_track(&d, d.packets[i].uuid)->name, "signals pending"))
            values[n++] = d.packets[i].value;
    const int64_t expected[] = {1, 2, 1, 0};
    assert_int_equal(n, 4);
    assert_memory_equal(values, expected, sizeof(expected));
    decoded_free(&d);
}

/* No trace, no file, no queue. */
TEST(nobody_to_tell)
{
    struct bf_trace *summary = trace_open(NULL);
    struct bf_trace *traces[] = {NULL, summary};
    for (int i = 0; i < 2; i++) {
        struct bf_trace_packet p = {0};
        bf_trace_fence_queued(traces[i], 0, &p, BF_TRACE_FENCE_WAIT, SYNC(1, 1), false);
        bf_trace_fence_queued(traces[i], UINT32_MAX, NULL, BF_TRACE_FENCE_WAIT, SYNC(1, 1), true);
        bf_trace_fence_done(traces[i], 0, BF_TRACE_FENCE_WAIT, SYNC(1, 1), 1, 0, 0);
        bf_trace_fences_lost(traces[i], 7, 1);
        struct bf_trace_counts counts = {1, 1, 1};
        bf_trace_count(traces[i], &counts);
        assert_true(counts.events == 0 && counts.lost == 0 && counts.bytes == 0);
        bf_trace_drain(traces[i]);
    }
    bf_trace_destroy(summary);
}
