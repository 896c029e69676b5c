/* SPDX-License-Identifier: MIT */
/* What a synthetic scheduler did, found again in the timeline. */
#include "trace_helper.h"

struct run {
    char folder[64];
    struct bf_trace *trace;
    uint32_t engines[2];
    uint32_t queues[3]; /* two on the first engine, one on the second */
};

static struct run run_begin(void)
{
    struct run r;
    folder_make(r.folder);
    r.trace = trace_open(in_folder(r.folder, "run.pftrace"));
    r.engines[0] = bf_trace_add_engine(r.trace, "graphics 0");
    r.engines[1] = bf_trace_add_engine(r.trace, "copy 0");
    r.queues[0] = bf_trace_add_queue(r.trace, r.engines[0], "direct");
    r.queues[1] = bf_trace_add_queue(r.trace, r.engines[0], "compute");
    r.queues[2] = bf_trace_add_queue(r.trace, r.engines[1], "copy");
    return r;
}

static struct decoded run_end(struct run *r, size_t *arrows)
{
    return trace_close(r->trace, r->folder, arrows);
}

TEST(tracks_and_slices)
{
    struct run r = run_begin();
    bf_trace_name_semaphore(r.trace, 0x50, "frame");
    struct bf_trace_packet late = queued(r.trace, r.queues[1]);
    bf_trace_packet_held(r.trace, &late, SYNC(0x50, 17));
    bf_trace_packet_held(r.trace, &late, SYNC(0x50, 17)); /* the same: nothing new */
    bf_trace_packet_held(r.trace, &late, SYNC(0x60, 2));
    struct bf_trace_packet first = queued(r.trace, r.queues[0]);
    handed_over(r.trace, &first, NOTHING, SYNC(0x50, 17));
    handed_over(r.trace, &late, SYNC(0x50, 17), NOTHING);
    assert_true(first.queued_ns <= first.handed_over_ns);
    bf_trace_packet_executed(r.trace, &first, first.handed_over_ns + 10,
                             first.handed_over_ns + 500);
    bf_trace_packet_executed(r.trace, &late, first.handed_over_ns + 510,
                             first.handed_over_ns + 900);
    size_t arrows;
    struct decoded d = run_end(&r, &arrows);

    const struct decoded_packet *process = &d.packets[2];
    assert_true(process->process);
    assert_true(decoded_is(process->process_name, "synthetic"));
    assert_int_equal(process->pid, getpid());
    const struct decoded_packet *begin = event_of(&d, 1, "queued", DECODED_BEGIN, 0);
    assert_true(lies_on(&d, begin, "software queue", "compute", "graphics 0"));
    assert_int_equal(begin->time, late.queued_ns);
    const struct decoded_annotation *a = decoded_annotation(begin, "command buffers");
    assert_int_equal(a->number, 2);

    const struct decoded_packet *held = event_named(&d, "held", DECODED_BEGIN, 0);
    assert_int_equal(held->uuid, begin->uuid);
    assert_int_equal(held->time, late.held_since_ns);
    a = decoded_annotation(held, "semaphore");
    assert_true(a->is_text && decoded_is(a->text, "frame"));
    assert_int_equal(decoded_annotation(held, "value")->number, 17);
    const struct decoded_packet *other = event_named(&d, "held", DECODED_BEGIN, 1);
    assert_int_equal(other->time, late.obstacle_since_ns);
    assert_int_equal(end_of(&d, held)->time, other->time);
    a = decoded_annotation(other, "semaphore");
    assert_true(a->is_pointer);
    assert_int_equal(a->number, 0x60);
    assert_null(event_named(&d, "held", DECODED_BEGIN, 2));
    assert_int_equal(end_of(&d, other)->time, late.handed_over_ns);
    assert_int_equal(end_of(&d, end_of(&d, other))->time, late.handed_over_ns);

    const struct decoded_packet *run = hardware_slice(&d, 1);
    assert_true(lies_on(&d, run, "hardware queue", "compute", "graphics 0"));
    assert_int_equal(run->time, first.handed_over_ns + 510);
    assert_int_equal(end_of(&d, run)->time, first.handed_over_ns + 900);
    assert_int_equal(arrows, 1);
    assert_int_equal(run->terminating_count, 1);
    assert_ptr_equal(decoded_flow_source(&d, run->terminating[0]), hardware_slice(&d, 2));
    decoded_free(&d);
}

TEST(counters)
{
    struct run r = run_begin();
    struct bf_trace_packet a = queued(r.trace, r.queues[0]);
    struct bf_trace_packet b = queued(r.trace, r.queues[1]);
    bf_trace_packet_held(r.trace, &a, SYNC(1, 1));
    bf_trace_packet_held(r.trace, &b, SYNC(1, 1));
    handed_over(r.trace, &a, NOTHING, NOTHING);
    handed_over(r.trace, &b, NOTHING, NOTHING);
    bf_trace_packet_executed(r.trace, &a, 0, 0);
    bf_trace_packet_executed(r.trace, &b, 100, 200);
    struct decoded d = run_end(&r, NULL);
    int64_t held[8], flying[8];
    size_t held_count = 0, flying_count = 0;
    for (size_t i = 0; i < d.count; i++) {
        if (d.packets[i].kind != DECODED_EVENT || d.packets[i].type != DECODED_COUNTER)
            continue;
        const struct decoded_packet *t = decoded_track(&d, d.packets[i].uuid);
        assert_true(decoded_is(decoded_track(&d, t->parent)->name, "graphics 0"));
        if (decoded_is(t->name, "packets held"))
            held[held_count++] = d.packets[i].value;
        else
            flying[flying_count++] = d.packets[i].value;
    }
    assert_int_equal(held_count, 4);
    assert_int_equal(flying_count, 4);
    const int64_t expected[] = {1, 2, 1, 0};
    assert_memory_equal(held, expected, sizeof(expected));
    assert_memory_equal(flying, expected, sizeof(expected));
    decoded_free(&d);
}

/* A second wait for a signal has an arrow of its own, whenever it comes. */
/* Belfry's own work stands in a lane of its own, and counts for nothing (T-7). */
TEST(own_work)
{
    struct run r = run_begin();
    uint32_t own = bf_trace_own_queue(r.trace, r.engines[1]);
    assert_int_equal(bf_trace_own_queue(r.trace, r.engines[1]), own);
    assert_int_not_equal(bf_trace_own_queue(r.trace, r.engines[0]), own);
    struct bf_trace_packet p = queued(r.trace, own);
    bf_trace_fence_queued(r.trace, own, &p, BF_TRACE_FENCE_SIGNAL, SYNC(5, 1), false);
    bf_trace_packet_held(r.trace, &p, SYNC(0x60, 2));
    handed_over(r.trace, &p, NOTHING, SYNC(5, 1));
    bf_trace_packet_executed(r.trace, &p, p.handed_over_ns + 10, p.handed_over_ns + 5000000);
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    bf_trace_print_summary(r.trace, out);
    fclose(out);
    assert_non_null(strstr(text, " 0 submissions"));
    assert_non_null(strstr(text, "held: none"));
    assert_non_null(strstr(text, "Belfry's own work, in no figure here: 1 submissions, 5.00 ms"));
    free(text);
    struct decoded d = run_end(&r, NULL);
    const struct decoded_packet *slice = hardware_slice(&d, p.id);
    assert_true(lies_on(&d, slice, "hardware queue", "copy 0", "Belfry"));
    assert_int_equal(count_of(&d, DECODED_EVENT, DECODED_COUNTER), 0);
    for (size_t i = 0; i < d.count; i++)
        assert_false(d.packets[i].kind == DECODED_TRACK && d.packets[i].counter);
    decoded_free(&d);
}

TEST(arrows_to_several_waits)
{
    struct run r = run_begin();
    struct bf_trace_packet source = queued(r.trace, r.queues[0]);
    handed_over(r.trace, &source, NOTHING, SYNC(1, 5));
    struct bf_trace_packet early[2], late[2];
    for (int i = 0; i < 2; i++) {
        early[i] = queued(r.trace, r.queues[1]);
        handed_over(r.trace, &early[i], SYNC(1, 4), NOTHING);
    }
    uint64_t t = source.handed_over_ns;
    bf_trace_packet_executed(r.trace, &source, t, t + 100);
    for (int i = 0; i < 2; i++) {
        late[i] = queued(r.trace, r.queues[2]);
        handed_over(r.trace, &late[i], SYNC(1, 5), NOTHING);
    }
    for (int i = 0; i < 2; i++) {
        bf_trace_packet_executed(r.trace, &early[i], t + 100 + 100 * i, t + 200 + 100 * i);
        bf_trace_packet_executed(r.trace, &late[i], t + 100 + 100 * i, t + 200 + 100 * i);
    }
    size_t arrows;
    struct decoded d = run_end(&r, &arrows);
    assert_int_equal(arrows, 4);
    const struct decoded_packet *slice = hardware_slice(&d, source.id);
    for (int i = 0; i < 2; i++) {
        const struct decoded_packet *to = hardware_slice(&d, early[i].id);
        assert_ptr_equal(decoded_flow_source(&d, to->terminating[0]), slice);
        to = hardware_slice(&d, late[i].id);
        const struct decoded_packet *from = decoded_flow_source(&d, to->terminating[0]);
        assert_true(decoded_is(from->name, "signal"));
        assert_int_equal(from->uuid, slice->uuid);
        assert_int_equal(from->time, t + 99); /* inside the slice */
    }
    decoded_free(&d);
}

/* What isn't timed is drawn at its hand-over, and its arrows begin and end there. */
TEST(arrows_without_times)
{
    struct run r = run_begin();
    struct bf_trace_packet source = queued(r.trace, r.queues[0]);
    source.timed = false;
    source.untimed = BF_TRACE_UNTIMED_PERFORMANCE;
    handed_over(r.trace, &source, NOTHING, SYNC(1, 1));
    struct bf_trace_packet timed = queued(r.trace, r.queues[1]);
    handed_over(r.trace, &timed, SYNC(1, 1), SYNC(2, 1));
    struct bf_trace_packet present;
    bf_trace_packet_queued(r.trace, &present, r.queues[0], BF_TRACE_PRESENT, 0);
    handed_over(r.trace, &present, SYNC(2, 1), NOTHING);
    uint64_t t = present.handed_over_ns;
    bf_trace_packet_executed(r.trace, &timed, t + 50, t + 70);
    struct bf_trace_packet again;
    bf_trace_packet_queued(r.trace, &again, r.queues[0], BF_TRACE_PRESENT, 0);
    handed_over(r.trace, &again, SYNC(1, 1), NOTHING);
    size_t arrows;
    struct decoded d = run_end(&r, &arrows);

    assert_int_equal(arrows, 3);
    const struct decoded_packet *mark = event_of(&d, 1, "handed over", DECODED_INSTANT, 0);
    assert_int_equal(mark->time, source.handed_over_ns);
    assert_true(lies_on(&d, mark, "hardware queue", "direct", "graphics 0"));
    assert_true(decoded_is(decoded_annotation(mark, "without GPU times")->text,
                           "it has performance queries"));
    const struct decoded_packet *slice = hardware_slice(&d, timed.id);
    assert_ptr_equal(decoded_flow_source(&d, slice->terminating[0]), mark);
    /* The present was drawn before its source had run: the arrow shows when it could go. */
    mark = event_of(&d, 3, "handed over", DECODED_INSTANT, 0);
    assert_true(decoded_is(mark->name, "present"));
    assert_int_equal(mark->uuid, event_of(&d, 3, "queued", DECODED_BEGIN, 0)->uuid);
    assert_int_equal(decoded_annotation(mark, "semaphore")->number, 2);
    assert_int_equal(mark->terminating_count, 0);
    const struct decoded_packet *unblocked = event_of(&d, 3, "arrow", DECODED_INSTANT, 0);
    assert_true(decoded_is(unblocked->name, "unblocked"));
    assert_int_equal(unblocked->time, t + 70);
    assert_ptr_equal(decoded_flow_source(&d, unblocked->terminating[0]), slice);
    assert_true(lies_on(&d, unblocked, "presents", "direct", "graphics 0"));
    const struct decoded_packet *call = event_of(&d, 3, "queued", DECODED_BEGIN, 0);
    assert_true(decoded_is(call->name, "present"));
    assert_true(lies_on(&d, call, "presents", "direct", "graphics 0"));
    assert_int_equal(end_of(&d, call)->time, present.handed_over_ns);
    mark = event_of(&d, 4, "handed over", DECODED_INSTANT, 0);
    assert_int_equal(mark->terminating_count, 1);
    decoded_free(&d);
}

TEST(arrows_from_the_host)
{
    struct run r = run_begin();
    bf_trace_name_semaphore(r.trace, 9, "start");
    struct bf_trace_packet a = queued(r.trace, r.queues[0]);
    struct bf_trace_packet b = queued(r.trace, r.queues[2]);
    bf_trace_host_signal(r.trace, SYNC(9, 3));
    handed_over(r.trace, &a, SYNC(9, 2), NOTHING);
    handed_over(r.trace, &b, SYNC(9, 3), NOTHING);
    bf_trace_packet_executed(r.trace, &a, a.handed_over_ns, a.handed_over_ns + 1);
    bf_trace_packet_executed(r.trace, &b, b.handed_over_ns, b.handed_over_ns + 1);
    size_t arrows;
    struct decoded d = run_end(&r, &arrows);
    assert_int_equal(arrows, 2);
    const struct decoded_packet *host = event_named(&d, "host signal", DECODED_INSTANT, 0);
    assert_true(decoded_is(decoded_annotation(host, "semaphore")->text, "start"));
    assert_ptr_equal(decoded_flow_source(&d, hardware_slice(&d, 1)->terminating[0]), host);
    const struct decoded_packet *mark =
        decoded_flow_source(&d, hardware_slice(&d, 2)->terminating[0]);
    assert_int_equal(mark->time, host->time);
    assert_int_equal(mark->uuid, host->uuid);
    decoded_free(&d);
}

/* More waits and signals than have a place cost arrows, nothing else. */
TEST(arrows_without_end)
{
    struct run r = run_begin();
    struct bf_trace_sync many[40];
    for (uint32_t i = 0; i < 40; i++)
        many[i] = SYNC(100 + i, 1);
    struct bf_trace_packet source = queued(r.trace, r.queues[0]);
    bf_trace_packet_handed_over(r.trace, &source, 0, NULL, 40, many);
    struct bf_trace_packet waits[30];
    for (int i = 0; i < 30; i++) {
        waits[i] = queued(r.trace, r.queues[1 + i % 2]);
        waits[i].timed = i % 3 != 0;
        bf_trace_packet_handed_over(r.trace, &waits[i], 40, many, 0, NULL);
    }
    uint64_t t = source.handed_over_ns;
    bf_trace_packet_executed(r.trace, &source, t, t + 10);
    for (int i = 0; i < 30; i++)
        if (waits[i].timed)
            bf_trace_packet_executed(r.trace, &waits[i], t + 10, t + 20);
    size_t arrows;
    struct decoded d = run_end(&r, &arrows);
    assert_in_range(arrows, 6, 20);
    decoded_free(&d);
}

/* Slices that overlap don't nest: they lie on tracks of one name. */
TEST(lanes)
{
    enum { COUNT = 300 }; /* more than there are lanes */
    struct run r = run_begin();
    struct bf_trace_packet *packets = calloc(COUNT, sizeof(*packets));
    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < COUNT; i++)
            packets[i] = queued(r.trace, r.queues[0]);
        for (int i = 0; i < COUNT; i++)
            handed_over(r.trace, &packets[i], NOTHING, NOTHING);
        /* Twenty at a time, more than there are hardware lanes. */
        for (uint64_t i = 0; i < COUNT; i++)
            bf_trace_packet_executed(r.trace, &packets[i], 1000 * (i / 20), 1000 * (i / 20) + 900);
    }
    struct decoded d = run_end(&r, NULL);
    size_t software = 0, hardware = 0;
    for (size_t i = 0; i < d.count; i++) {
        software +=
            d.packets[i].kind == DECODED_TRACK && decoded_is(d.packets[i].name, "software queue");
        hardware +=
            d.packets[i].kind == DECODED_TRACK && decoded_is(d.packets[i].name, "hardware queue");
    }
    size_t laneless = 0;
    for (size_t i = 0; i < d.count; i++)
        laneless += d.packets[i].kind == DECODED_EVENT && d.packets[i].type == DECODED_INSTANT &&
                    decoded_is(d.packets[i].category, "queued") &&
                    number_of(&d.packets[i], "packet");
    assert_int_equal(laneless, 2 * (COUNT - 256));
    assert_null(event_named(&d, "lost events", DECODED_INSTANT, 0));
    assert_int_equal(software, 256);
    assert_int_equal(hardware, 8);
    for (uint64_t id = 1; id <= 2 * COUNT; id++)
        assert_non_null(hardware_slice(&d, id));
    free(packets);
    decoded_free(&d);
}

/* One after the other, all packets lie on one track. */
TEST(one_lane)
{
    struct run r = run_begin();
    for (int i = 0; i < 10; i++) {
        struct bf_trace_packet p = queued(r.trace, r.queues[0]);
        if (i % 2)
            bf_trace_packet_dropped(r.trace, &p);
        else
            handed_over(r.trace, &p, NOTHING, NOTHING);
    }
    struct decoded d = run_end(&r, NULL);
    size_t tracks = 0;
    for (size_t i = 0; i < d.count; i++)
        tracks +=
            d.packets[i].kind == DECODED_TRACK && decoded_is(d.packets[i].name, "software queue");
    assert_int_equal(tracks, 1);
    decoded_free(&d);
}

/* The handle of a destroyed semaphore comes back as another. */
TEST(destroyed_semaphore)
{
    struct run r = run_begin();
    struct bf_trace_packet a = queued(r.trace, r.queues[0]);
    handed_over(r.trace, &a, NOTHING, SYNC(5, 10));
    bf_trace_forget_semaphore(r.trace, 5);
    struct bf_trace_packet b = queued(r.trace, r.queues[1]);
    handed_over(r.trace, &b, SYNC(5, 1), NOTHING);
    bf_trace_packet_executed(r.trace, &a, 100, 200);
    bf_trace_packet_executed(r.trace, &b, 200, 300);
    size_t arrows;
    struct decoded d = run_end(&r, &arrows);
    assert_int_equal(arrows, 0);
    decoded_free(&d);
}

TEST(dropped)
{
    struct run r = run_begin();
    struct bf_trace_packet a = queued(r.trace, r.queues[0]);
    bf_trace_packet_held(r.trace, &a, SYNC(0, 0));
    bf_trace_packet_dropped(r.trace, &a);
    struct decoded d = run_end(&r, NULL);
    const struct decoded_packet *held = event_named(&d, "held", DECODED_BEGIN, 0);
    assert_true(decoded_is(decoded_annotation(held, "waits for")->text, "the packet before it"));
    assert_non_null(end_of(&d, end_of(&d, held)));
    assert_non_null(event_of(&d, 1, "dropped", DECODED_INSTANT, 0));
    decoded_free(&d);
}

TEST(names)
{
    struct run r = run_begin();
    char longest[300];
    memset(longest, 'n', sizeof(longest) - 3);
    memcpy(longest + sizeof(longest) - 3, "\xc3\xa9", 3); /* é */
    memcpy(longest + 126, "\xc3\xa9", 2);                 /* its second byte is the 128th */
    bf_trace_name_queue(r.trace, r.queues[0], "Async");
    bf_trace_name_queue(r.trace, r.queues[1], longest);
    bf_trace_name_queue(r.trace, r.queues[2], "for a while");
    bf_trace_name_queue(r.trace, r.queues[2], NULL);
    bf_trace_name_queue(r.trace, 77, "nobody");
    for (int i = 0; i < 3; i++)
        queued(r.trace, r.queues[i]);
    bf_trace_name_queue(r.trace, r.queues[0], "Later");
    bf_trace_name_semaphore(r.trace, 5, longest);
    bf_trace_name_semaphore(r.trace, 5, "short");
    bf_trace_name_semaphore(r.trace, 6, "gone");
    bf_trace_name_semaphore(r.trace, 6, "");
    bf_trace_host_signal(r.trace, SYNC(5, 1));
    bf_trace_host_signal(r.trace, SYNC(6, 1));
    struct decoded d = run_end(&r, NULL);
    size_t async = 0, later = 0, cut = 0, plain = 0;
    for (size_t i = 0; i < d.count; i++) {
        if (d.packets[i].kind != DECODED_TRACK)
            continue;
        async += decoded_is(d.packets[i].name, "Async (direct)");
        later += decoded_is(d.packets[i].name, "Later (direct)");
        plain += decoded_is(d.packets[i].name, "copy");
        if (decoded_starts_with(d.packets[i].name, "nnn")) {
            cut++;
            longest[126] = 0;
            strcat(longest, " (compute)");
            assert_true(decoded_is(d.packets[i].name, longest));
        }
    }
    assert_true(async == 1 && later == 1 && cut == 1 && plain == 1);
    const struct decoded_packet *e = event_named(&d, "host signal", DECODED_INSTANT, 0);
    assert_true(decoded_is(decoded_annotation(e, "semaphore")->text, "short"));
    e = event_named(&d, "host signal", DECODED_INSTANT, 1);
    assert_true(decoded_annotation(e, "semaphore")->is_pointer);
    decoded_free(&d);
}

static struct bf_trace_packet submit(struct run *r, uint32_t count, const VkCommandBuffer *buffers,
                                     const char *label)
{
    struct bf_trace_packet packet;
    const struct bf_trace_contents contents = {.count = count, .buffers = buffers, .label = label};
    bf_trace_packet_queued_with(r->trace, &packet, r->queues[0], BF_TRACE_EXECUTE, &contents);
    packet.timed = true;
    handed_over(r->trace, &packet, NOTHING, NOTHING);
    bf_trace_packet_executed(r->trace, &packet, packet.handed_over_ns, packet.handed_over_ns + 1);
    return packet;
}

/* What a program calls its command buffers, and the labels in them and around them, is on its
 * packets. */
TEST(captions)
{
    struct run r = run_begin();
    VkCommandBuffer b[3] = {(VkCommandBuffer)0x10, (VkCommandBuffer)0x20, (VkCommandBuffer)0x30};
    bf_trace_name_command_buffer(r.trace, b[0], "shadows");
    bf_trace_command_buffer_begun(r.trace, b[0]);
    bf_trace_command_buffer_label(r.trace, b[0], "cascade 0");
    bf_trace_command_buffer_label(r.trace, b[0], "cascade 1");
    bf_trace_command_buffer_label(r.trace, b[1], "post");
    submit(&r, 3, b, "frame > main");             /* 1 */
    submit(&r, 1, b + 1, "frame");                /* 2 */
    submit(&r, 1, b + 2, "frame > main");         /* 3 */
    submit(&r, 1, b + 2, NULL);                   /* 4 */
    bf_trace_command_buffer_begun(r.trace, b[0]); /* recorded anew */
    bf_trace_name_command_buffer(r.trace, b[1], "late");
    submit(&r, 2, b, NULL); /* 5 */
    bf_trace_forget_command_buffer(r.trace, b[0]);
    bf_trace_name_command_buffer(r.trace, b[1], NULL);
    bf_trace_command_buffer_begun(r.trace, b[1]);
    bf_trace_name_command_buffer(r.trace, b[2], "");
    submit(&r, 3, b, NULL);      /* 6 */
    for (int i = 0; i < 30; i++) /* more than fits */
        bf_trace_command_buffer_label(r.trace, b[1], "a label of some length");
    struct bf_trace_packet last = submit(&r, 2, b, NULL);
    struct decoded d = run_end(&r, NULL);
    static const struct {
        const char *caption, *buffers, *label;
    } expected[] = {
        {"shadows", "shadows [cascade 0, cascade 1], [post]", "frame > main"},
        {"[post]", "[post]", "frame"},
        {"frame > main", NULL, "frame > main"},
        {"execute", NULL, NULL},
        {"shadows, late", "shadows, late [post]", NULL},
        {"execute", NULL, NULL},
    };
    for (uint64_t i = 0; i < 6; i++) {
        const struct decoded_packet *slice = event_of(&d, i + 1, "queued", DECODED_BEGIN, 0);
        const struct decoded_packet *run = hardware_slice(&d, i + 1);
        assert_true(decoded_is(slice->name, expected[i].caption));
        assert_true(decoded_is(run->name, expected[i].caption));
        bool plain = strcmp(expected[i].caption, "execute") == 0;
        assert_true(says(slice, "kind", "execute") == !plain);
        assert_true(says(run, "kind", "execute") == !plain);
        assert_true(expected[i].buffers ? says(slice, "buffers", expected[i].buffers)
                                        : !decoded_annotation(slice, "buffers"));
        assert_true(expected[i].label ? says(slice, "label", expected[i].label)
                                      : !decoded_annotation(slice, "label"));
    }
    const struct decoded_packet *slice = event_of(&d, last.id, "queued", DECODED_BEGIN, 0);
    assert_int_equal(decoded_annotation(slice, "buffers")->text.size, 127);
    decoded_free(&d);
}

TEST(uncalibrated)
{
    struct run r = run_begin();
    bf_trace_mark_uncalibrated(r.trace);
    bf_trace_mark_uncalibrated(r.trace);
    struct decoded d = run_end(&r, NULL);
    assert_non_null(event_named(&d, "GPU times are uncalibrated", DECODED_INSTANT, 0));
    assert_null(event_named(&d, "GPU times are uncalibrated", DECODED_INSTANT, 1));
    decoded_free(&d);
}

/* However short the file was cut, all whole packets before the cut are there. */
TEST(cut_anywhere)
{
    struct run r = run_begin();
    for (int i = 0; i < 4; i++) {
        struct bf_trace_packet p = queued(r.trace, r.queues[i % 3]);
        bf_trace_packet_held(r.trace, &p, SYNC(3, 1));
        handed_over(r.trace, &p, SYNC(3, (uint64_t)i), SYNC(3, (uint64_t)i + 1));
        bf_trace_packet_executed(r.trace, &p, p.handed_over_ns, p.handed_over_ns + 5);
    }
    struct decoded d = run_end(&r, NULL);
    size_t last = 0;
    for (size_t size = 0; size <= d.size; size++) {
        struct decoded part = decode_bytes(d.bytes, size);
        assert_true(part.whole <= size);
        assert_true(part.count == last || part.count == last + 1);
        assert_true(part.count == last || part.whole == size);
        last = part.count;
        free(part.packets);
    }
    assert_int_equal(last, d.count);
    decoded_free(&d);
}

/* A numberless queue or engine (memory ran out) and a missing trace are no reason to stop. */
TEST(nothing_to_write_to)
{
    struct run r = run_begin();
    assert_int_equal(bf_trace_add_queue(r.trace, UINT32_MAX, "lost"), UINT32_MAX);
    struct bf_trace *traces[] = {r.trace, NULL};
    for (int i = 0; i < 2; i++) {
        struct bf_trace_packet p = {0};
        bf_trace_packet_queued(traces[i], &p, UINT32_MAX, BF_TRACE_EXECUTE, 1);
        bf_trace_packet_held(traces[i], &p, SYNC(1, 1));
        bf_trace_packet_handed_over(traces[i], &p, 0, NULL, 0, NULL);
        bf_trace_packet_executed(traces[i], &p, 1, 2);
        bf_trace_packet_dropped(traces[i], &p);
        bf_trace_name_queue(traces[i], UINT32_MAX, "x");
        bf_trace_name_semaphore(traces[i], 0, "x");
    }
    /* What the scheduler submits on its own account was never queued. */
    struct bf_trace_packet own = {.timed = true};
    bf_trace_packet_held(r.trace, &own, SYNC(1, 1));
    handed_over(r.trace, &own, SYNC(1, 1), SYNC(1, 1));
    bf_trace_packet_executed(r.trace, &own, 1, 2);
    bf_trace_packet_dropped(r.trace, &own);
    bf_trace_host_signal(NULL, SYNC(1, 1));
    bf_trace_mark_uncalibrated(NULL);
    bf_trace_print_summary(NULL, stdout);
    bf_trace_flush(NULL);
    bf_trace_destroy(NULL);
    assert_null(bf_trace_path(NULL));
    assert_int_equal(bf_trace_add_engine(NULL, "x"), UINT32_MAX);
    assert_int_equal(bf_trace_add_queue(NULL, 0, "x"), UINT32_MAX);
    struct decoded d = run_end(&r, NULL);
    assert_int_equal(d.count, 4 + 1); /* what every trace begins and ends with */
    decoded_free(&d);
}

/* What happens to a ring lies on its queue's own track, which is described before, also if nothing
 * else has been seen of the queue. */
TEST(rings_lie_on_a_track_that_is_described)
{
    char folder[64];
    folder_make(folder);
    struct bf_trace *trace = trace_open(in_folder(folder, "run.pftrace"));
    uint32_t queue = bf_trace_add_queue(trace, bf_trace_add_engine(trace, "engine"), "queue");
    bf_trace_ring(trace, queue, BF_TRACE_RING_CONNECTED, 0, 0);
    bf_trace_ring(trace, queue, BF_TRACE_RING_READ, 3, 1);
    struct decoded d = trace_close(trace, folder, NULL);
    static const char *const names[] = {"doorbell connected", "ring read"};
    for (int i = 0; i < 2; i++) {
        const struct decoded_packet *p = event_named(&d, names[i], DECODED_INSTANT, 0);
        const struct decoded_packet *track = p ? decoded_track(&d, p->uuid) : NULL;
        assert_non_null(track);
        assert_true(track < p && decoded_is(track->name, "queue"));
        assert_true(decoded_is(decoded_track(&d, track->parent)->name, "engine"));
    }
    decoded_free(&d);
}

/* Queues that come and go take each other's place, as long as there is nothing left to be told of
 * the one before; memory doesn't grow with how many there have been. */
TEST(queues_that_come_and_go)
{
    char folder[64];
    folder_make(folder);
    struct bf_trace *trace = trace_open(in_folder(folder, "run.pftrace"));
    uint32_t engine = bf_trace_add_engine(trace, "engine");
    uint32_t other = bf_trace_add_queue(trace, bf_trace_add_engine(trace, "other"), "queue");
    uint32_t first = bf_trace_add_queue(trace, engine, "queue 0");
    bf_trace_end_queue(trace, other);
    for (int i = 1; i <= 100; i++) {
        struct bf_trace_packet p = queued(trace, i == 1 ? first : first + 1);
        bf_trace_fence_queued(trace, p.queue, &p, BF_TRACE_FENCE_SIGNAL, SYNC(5, 1), false);
        handed_over(trace, &p, NOTHING, SYNC(5, 1));
        if (i > 1) /* the first one's end is never told */
            bf_trace_packet_executed(trace, &p, p.handed_over_ns, p.handed_over_ns + 1);
        bf_trace_end_queue(trace, p.queue);
        assert_int_equal(bf_trace_add_queue(trace, engine, "another"), first + 1);
    }
    struct bf_trace_packet p;
    bf_trace_packet_queued(trace, &p, first + 1, BF_TRACE_EXECUTE, 1);
    handed_over(trace, &p, NOTHING, NOTHING);
    bf_trace_end_queue(trace, bf_trace_own_queue(trace, engine));
    assert_int_equal(bf_trace_own_queue(trace, engine), first + 2);
    char path[128];
    snprintf(path, sizeof(path), "%s", bf_trace_path(trace));
    bf_trace_destroy(trace);
    struct decoded d = decode_file(path);
    bool last = false;
    for (size_t i = 0; i < d.count; i++)
        last = last || (d.packets[i].kind == DECODED_TRACK &&
                        decoded_is(d.packets[i].name, "another, the last of 100"));
    assert_true(last);
    decoded_free(&d);
    unlink(path);
    rmdir(folder);
}
