/* SPDX-License-Identifier: MIT */
/* The timeline: items, cancels, modes and commits on a track of their own, at the times at which
 * they happened, and none of it written by an idle thread. */
#include "../trace/trace_helper.h"
#include "helper.h"

#include "base/clock.h"
#include "trace/state.h"

struct timeline {
    char folder[64], path[128];
    struct bf_trace *trace;
    struct bf_background *b;
    struct story s;
};

static void timeline_open(struct timeline *t)
{
    folder_make(t->folder);
    snprintf(t->path, sizeof(t->path), "%s", in_folder(t->folder, "t.pftrace"));
    t->trace = trace_open(t->path);
    t->b = make_with(&(struct bf_background_info){
        .tasks = 2, .developer_mode = true, .trace = t->trace, .proc = "/nonexistent"});
    t->s = (struct story)STORY;
}

static struct decoded timeline_close(struct timeline *t)
{
    bf_background_destroy(t->b);
    bf_trace_destroy(t->trace);
    struct decoded d = decode_file(t->path);
    remove(t->path);
    remove(t->folder);
    assert_int_equal(d.whole, d.size);
    decoded_check(&d);
    return d;
}

/* Events on the track with names that begin like that. */
static uint32_t events(const struct decoded *d, uint64_t type, const char *name,
                       const struct decoded_packet **last)
{
    uint32_t count = 0;
    for (size_t i = 0; i < d->count; i++) {
        const struct decoded_packet *event = &d->packets[i];
        if (event->kind != DECODED_EVENT || event->type != type)
            continue;
        const struct decoded_packet *track = decoded_track(d, event->uuid);
        if (!decoded_is(track->name, "background processing") ||
            (name && !decoded_starts_with(event->name, name)))
            continue;
        assert_true(decoded_track(d, track->parent)->process);
        count++;
        if (last)
            *last = event;
    }
    return count;
}

TEST(items_have_slices_from_begin_to_end)
{
    struct timeline t;
    struct gate gate = CLOSED;
    timeline_open(&t);
    struct item items[6];
    uint64_t before = bf_now_ns();
    for (int i = 0; i < 6; i++) {
        items[i] = (struct item){.story = &t.s, .number = i, .gate = i < 2 ? &gate : NULL};
        queue(t.b, &items[i]);
    }
    story_await(&t.s, 0, BEGAN);
    story_await(&t.s, 1, BEGAN);
    uint64_t begun = bf_now_ns();
    set_mode(t.b, ALLOWED, HIGH);
    story_await(&t.s, 5, ENDED);
    uint64_t opened = bf_now_ns();
    gate_open(&gate);
    struct decoded d = timeline_close(&t);
    assert_int_equal(events(&d, DECODED_BEGIN, NULL, NULL), 6);
    assert_int_equal(events(&d, DECODED_BEGIN, "item", NULL), 2);
    assert_int_equal(events(&d, DECODED_BEGIN, "boosted item", NULL), 4);
    assert_int_equal(events(&d, DECODED_END, NULL, NULL), 6);
    /* The first two, on tracks of their own, last from before the boost until after it. */
    uint32_t whole = 0;
    for (size_t i = 0; i < d.count; i++) {
        const struct decoded_packet *begin = &d.packets[i];
        if (begin->kind != DECODED_EVENT || begin->type != DECODED_BEGIN || begin->time > begun ||
            begin->time < before)
            continue;
        for (size_t k = i + 1; k < d.count; k++) {
            const struct decoded_packet *end = &d.packets[k];
            if (end->kind == DECODED_EVENT && end->type == DECODED_END &&
                end->uuid == begin->uuid) {
                whole += end->time >= opened;
                break;
            }
        }
    }
    assert_int_equal(whole, 2);
    decoded_free(&d);
}

static void cancel_again(struct item *item)
{
    bf_background_queue(item->data, item_run, item_cancel, item + 1);
}

TEST(modes_commits_and_cancels_are_marked)
{
    struct timeline t;
    struct gate gate = CLOSED;
    timeline_open(&t);
    /* The third is queued, and cancelled, by an idle thread. */
    struct item items[4];
    for (int i = 0; i < 4; i++)
        items[i] = (struct item){.story = &t.s, .number = i, .data = t.b};
    items[1].gate = &gate;
    items[1].run = cancel_again;
    queue(t.b, &items[0]);
    queue(t.b, &items[1]);
    story_await(&t.s, 0, ENDED);
    story_await(&t.s, 1, BEGAN);
    set_mode(t.b, INTRUSIVE, COMMIT);
    set_mode(t.b, DISABLED, DISCARD);
    queue(t.b, &items[3]);
    gate_open(&gate);
    story_await(&t.s, 1, ENDED);
    assert_int_equal(story_count(&t.s, 2, CANCELLED), 1);
    struct decoded d = timeline_close(&t);
    assert_int_equal(events(&d, DECODED_BEGIN, "item", NULL), 2);
    assert_int_equal(events(&d, DECODED_INSTANT, "cancelled", NULL), 2);
    assert_int_equal(
        events(&d, DECODED_INSTANT, "allow intrusive measurements; commit results", NULL), 1);
    assert_int_equal(events(&d, DECODED_INSTANT, "disable background work; discard previous", NULL),
                     1);
    /* The first item may still have been there, as far as the dispatcher knew. */
    const struct decoded_packet *done = NULL, *end = NULL;
    assert_int_equal(events(&d, DECODED_INSTANT, "commit", NULL), 2); /* and its end */
    assert_int_equal(events(&d, DECODED_INSTANT, "commit done", &done), 1);
    assert_int_equal(decoded_annotation(done, "commit")->number, 1);
    assert_int_equal(events(&d, DECODED_END, NULL, &end), 2);
    assert_true(done->time >= end->time);
    decoded_free(&d);
}

TEST(idle_threads_do_not_take_the_traces_lock)
{
    struct timeline t;
    struct gate gate = CLOSED;
    timeline_open(&t);
    struct item items[2] = {
        {.story = &t.s, .number = 0, .gate = &gate, .run = cancel_again, .data = t.b},
        {.story = &t.s, .number = 1},
    };
    queue(t.b, &items[0]);
    story_await(&t.s, 0, BEGAN);
    set_mode(t.b, DISABLED, KEEP);
    bf_lock_acquire(&t.trace->output->lock);
    gate_open(&gate);
    story_await(&t.s, 1, CANCELLED);
    story_await(&t.s, 0, ENDED);
    bf_lock_release(&t.trace->output->lock);
    struct decoded d = timeline_close(&t);
    assert_int_equal(events(&d, DECODED_BEGIN, "item", NULL), 1);
    assert_int_equal(events(&d, DECODED_INSTANT, "cancelled", NULL), 1);
    decoded_free(&d);
}

TEST(what_a_destroyed_device_cancels_is_marked)
{
    struct timeline t;
    struct gate gate = CLOSED;
    timeline_open(&t);
    struct item items[4];
    for (int i = 0; i < 4; i++) {
        items[i] = (struct item){.story = &t.s, .number = i, .gate = i < 2 ? &gate : NULL};
        queue(t.b, &items[i]);
    }
    story_await(&t.s, 0, BEGAN);
    story_await(&t.s, 1, BEGAN);
    set_mode(t.b, ALLOWED, COMMIT);
    gate_open(&gate);
    struct decoded d = timeline_close(&t);
    uint32_t begun = events(&d, DECODED_BEGIN, "item", NULL);
    assert_true(begun >= 2);
    assert_int_equal(events(&d, DECODED_INSTANT, "cancelled", NULL), 4 - begun);
    assert_int_equal(events(&d, DECODED_INSTANT, "commit done", NULL), 1);
    for (size_t i = 0; i < d.count; i++) {
        const struct decoded_packet *event = &d.packets[i];
        if (event->kind == DECODED_EVENT && decoded_is(event->name, "commit"))
            assert_int_equal(decoded_annotation(event, "items")->number, 4);
    }
    decoded_free(&d);
}

static void destroy_own(struct item *item)
{
    struct timeline *t = item->data;
    bf_background_destroy(t->b);
    bf_trace_destroy(t->trace); /* nobody writes to it any more */
}

TEST(an_item_that_destroys_its_own_device_ends_its_timeline)
{
    for (int i = 0; i < 50; i++) {
        struct timeline t;
        timeline_open(&t);
        struct item item = {.story = &t.s, .number = 0, .run = destroy_own, .data = &t};
        queue(t.b, &item);
        story_await(&t.s, 0, ENDED);
        struct decoded d = decode_file(t.path);
        remove(t.path);
        remove(t.folder);
        assert_int_equal(events(&d, DECODED_BEGIN, "item", NULL), 1);
        decoded_free(&d);
    }
}

/* What the specialiser does with its variants is told here, too. */
TEST(swaps_of_variants_are_marked)
{
    struct timeline t;
    timeline_open(&t);
    bf_trace_swap(t.trace, BF_TRACE_SWAP_IN, 7, 2, "none");
    bf_trace_swap(t.trace, BF_TRACE_SWAP_OUT, 7, 2, "slower");
    bf_trace_swap(NULL, BF_TRACE_SWAP_OUT, 7, 2, "slower");
    struct decoded d = timeline_close(&t);
    const struct decoded_packet *in = NULL, *out = NULL;
    assert_int_equal(events(&d, DECODED_INSTANT, "variant in", &in), 1);
    assert_int_equal(events(&d, DECODED_INSTANT, "variant out", &out), 1);
    assert_int_equal(decoded_annotation(in, "pipeline")->number, 7);
    assert_int_equal(decoded_annotation(in, "variant")->number, 2);
    assert_null(decoded_annotation(in, "reason"));
    assert_int_equal(decoded_annotation(out, "pipeline")->number, 7);
    assert_true(decoded_is(decoded_annotation(out, "reason")->text, "slower"));
    assert_true(in->time <= out->time);
    decoded_free(&d);
}
