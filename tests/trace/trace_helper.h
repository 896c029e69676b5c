/* SPDX-License-Identifier: MIT */
/* A trace in a folder of its own, and what a scheduler would say to it. */
#ifndef BELFRY_TESTS_TRACE_HELPER_H
#define BELFRY_TESTS_TRACE_HELPER_H

#include "support/test.h"

#include "trace/trace.h"
#include "trace_decode.h"

#define SYNC(semaphore, value) ((struct bf_trace_sync){(semaphore), (value)})

static inline void folder_make(char folder[64])
{
    const char *base = getenv("TMPDIR");
    snprintf(folder, 64, "%.40s/belfry-XXXXXX", base && strlen(base) < 40 ? base : "/tmp");
    assert_non_null(mkdtemp(folder));
}

/* The file 'name' of the folder. Good until the next call. */
static inline const char *in_folder(const char *folder, const char *name)
{
    static char path[128];
    snprintf(path, sizeof(path), "%s/%s", folder, name);
    return path;
}

static inline struct bf_trace *trace_open(const char *path)
{
    const struct bf_trace_info info = {
        .path = path, .program = "synthetic", .device = "Paper GPU", .driver = "pencil 1.0"};
    struct bf_trace *trace;
    assert_int_equal(bf_trace_create(&info, &trace), VK_SUCCESS);
    assert_non_null(trace);
    return trace;
}

/* Closes the trace, reads it back, checks what must hold for any, and removes file and folder. */
static inline struct decoded trace_close(struct bf_trace *trace, const char *folder, size_t *arrows)
{
    char path[128];
    snprintf(path, sizeof(path), "%s", bf_trace_path(trace));
    bf_trace_destroy(trace);
    struct decoded d = decode_file(path);
    assert_int_equal(d.whole, d.size);
    size_t arrived = decoded_check(&d);
    if (arrows)
        *arrows = arrived;
    unlink(path);
    rmdir(folder);
    return d;
}

static inline struct bf_trace_packet queued(struct bf_trace *trace, uint32_t queue)
{
    struct bf_trace_packet packet;
    bf_trace_packet_queued(trace, &packet, queue, BF_TRACE_EXECUTE, 2);
    packet.timed = true;
    return packet;
}

static inline void handed_over(struct bf_trace *trace, struct bf_trace_packet *packet,
                               struct bf_trace_sync wait, struct bf_trace_sync signal)
{
    bf_trace_packet_handed_over(trace, packet, wait.semaphore != 0, &wait, signal.semaphore != 0,
                                &signal);
}

#define NOTHING SYNC(0, 0)

/* The n-th event with this name and type, in the order of the file; NULL if there are fewer. */
static inline const struct decoded_packet *event_named(const struct decoded *d, const char *name,
                                                       uint64_t type, unsigned n)
{
    for (size_t i = 0; i < d->count; i++) {
        const struct decoded_packet *p = &d->packets[i];
        if (p->kind == DECODED_EVENT && p->type == type && decoded_is(p->name, name) && n-- == 0)
            return p;
    }
    return NULL;
}

/* The name of the track that an event lies on, and of the tracks around it. */
static inline bool lies_on(const struct decoded *d, const struct decoded_packet *event,
                           const char *track, const char *queue, const char *engine)
{
    const struct decoded_packet *t = decoded_track(d, event->uuid);
    const struct decoded_packet *q = decoded_track(d, t->parent);
    const struct decoded_packet *e = decoded_track(d, q->parent);
    return decoded_is(t->name, track) && decoded_is(q->name, queue) && decoded_is(e->name, engine);
}

static inline uint64_t number_of(const struct decoded_packet *event, const char *annotation)
{
    const struct decoded_annotation *a = decoded_annotation(event, annotation);
    return a && !a->is_text ? a->number : 0;
}

/* The n-th event of this category and type that is about a packet, in the order of the file. */
static inline const struct decoded_packet *event_of(const struct decoded *d, uint64_t packet,
                                                    const char *category, uint64_t type, unsigned n)
{
    for (size_t i = 0; i < d->count; i++) {
        const struct decoded_packet *p = &d->packets[i];
        if (p->kind == DECODED_EVENT && p->type == type && decoded_is(p->category, category) &&
            number_of(p, "packet") == packet && n-- == 0)
            return p;
    }
    return NULL;
}

/* The packet's slice on a hardware track. */
static inline const struct decoded_packet *hardware_slice(const struct decoded *d, uint64_t id)
{
    return event_of(d, id, "executed", DECODED_BEGIN, 0);
}

static inline size_t count_of(const struct decoded *d, enum decoded_kind kind, uint64_t type)
{
    size_t n = 0;
    for (size_t i = 0; i < d->count; i++)
        n += d->packets[i].kind == kind && (kind != DECODED_EVENT || d->packets[i].type == type);
    return n;
}

static inline bool says(const struct decoded_packet *event, const char *annotation,
                        const char *text)
{
    const struct decoded_annotation *a = decoded_annotation(event, annotation);
    return a && a->is_text && decoded_is(a->text, text);
}

static inline const struct decoded_packet *end_of(const struct decoded *d,
                                                  const struct decoded_packet *begin)
{
    for (const struct decoded_packet *p = begin + 1; p < d->packets + d->count; p++)
        if (p->kind == DECODED_EVENT && p->uuid == begin->uuid && p->type == DECODED_END)
            return p;
    return NULL;
}

#endif
