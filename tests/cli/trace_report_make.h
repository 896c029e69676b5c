/* SPDX-License-Identifier: MIT */
/* Timelines made by hand, with times and names of the test's choosing, in the two ways in which
 * Belfry has written them: each name in full and each time absolute, or names said once and times
 * as distances. */
#ifndef BELFRY_TESTS_TRACE_REPORT_MAKE_H
#define BELFRY_TESTS_TRACE_REPORT_MAKE_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/trace_load.h"
#include "trace/protobuf.h"

#define MADE_WORDS 256

struct made {
    struct bf_protobuf pb; /* the file */
    bool interned;
    uint64_t last_track;
    uint64_t clock_ns; /* of the stepping clock */
    const char *words[2][MADE_WORDS];
    uint32_t word_count[2];
    uint32_t said[2]; /* words that the packet at hand uses first */
};

struct made_queue {
    uint64_t track;
    uint64_t software[4]; /* lanes */
    uint64_t hardware;
    uint64_t presents; /* older traces have them on the other two */
    uint64_t fences[4];
};

struct made_note {
    const char *name;
    const char *text; /* NULL: the number */
    uint64_t number;
};

/* 'type' is Perfetto's: 1 begin, 2 end, 3 instant. Flows of 0 are none. */
struct made_event {
    uint64_t time_ns;
    uint64_t track;
    uint32_t type;
    const char *name;
    uint64_t flow;
    uint64_t terminating;
    struct made_note notes[5];
    bool late; /* on the second sequence, whose times are absolute */
};

void made_begin(struct made *made, bool interned);
void made_finish(struct made *made);
uint64_t made_track(struct made *made, uint64_t parent, const char *name, bool process);
uint64_t made_host(struct made *made); /* the track of the CPU's signals */
struct made_queue made_queue(struct made *made, uint64_t engine, const char *name);
void made_event(struct made *made, const struct made_event *event);

#define MADE_PROCESS 1 /* its track */

/* A packet's time in the software queue, with one hold if 'held_ns' isn't 0. 'kind' as in the
 * format, 'caption' NULL or the name of its command buffers. */
struct made_packet {
    uint64_t id;
    const char *kind;
    const char *caption;
    uint32_t command_buffers;
    uint32_t lane;
    uint64_t queued_ns;
    uint64_t handed_over_ns;
    uint64_t held_ns; /* when that began */
    const char *fence;
    uint64_t value;
    const char *waits_for; /* what holds it, if it is no fence */
};
void made_packet(struct made *made, const struct made_queue *queue,
                 const struct made_packet *packet);

/* What the GPU did, and the arrows there. */
void made_run(struct made *made, const struct made_queue *queue, uint64_t id, uint64_t begin_ns,
              uint64_t end_ns, uint64_t in, uint64_t out);
void made_instant(struct made *made, const struct made_queue *queue, uint64_t id, const char *kind,
                  uint64_t time_ns, uint64_t in, uint64_t out);
void made_unblocked(struct made *made, const struct made_queue *queue, uint64_t id,
                    uint64_t time_ns, uint64_t in);
/* A fence operation, "wait" or "signal" and its fence; without an end where 'end_ns' is 0. */
void made_operation(struct made *made, const struct made_queue *queue, uint32_t lane,
                    const char *name, uint64_t id, const char *fence, uint64_t value,
                    uint64_t begin_ns, uint64_t end_ns, const char *by);
void made_end(struct made *made, uint64_t time_ns); /* of the trace */
void made_host_signal(struct made *made, uint64_t track, uint64_t time_ns, const char *fence,
                      uint64_t value, uint64_t out);

/* Reads the bytes back as a file; frame 0: any. The caller destroys it. */
struct trace_load *made_load(const struct made *made, uint64_t frame);
struct trace_load *bytes_load(const uint8_t *bytes, size_t size, uint64_t frame);

/* What the report says, in memory of the caller's. */
char *load_text(const struct trace_load *load);
char *load_json(const struct trace_load *load);
char *load_svg(const struct trace_load *load);

/* A test with a trace of its own making, 'm'. */
#define MADE_TEST(name_)                                                                           \
    static void name_##_on(struct made *m);                                                        \
    TEST(name_)                                                                                    \
    {                                                                                              \
        struct made m;                                                                             \
        made_begin(&m, true);                                                                      \
        name_##_on(&m);                                                                            \
        made_finish(&m);                                                                           \
    }                                                                                              \
    static void name_##_on(struct made *m)

#endif
