/* SPDX-License-Identifier: MIT */
/* Reads a Perfetto trace back: an independent decoder of the few messages that Belfry writes.
 *
 * Anything it doesn't expect fails the test that called it. Strings point into the file's bytes and
 * are not terminated: compare them with decoded_is. */
#ifndef BELFRY_TESTS_TRACE_DECODE_H
#define BELFRY_TESTS_TRACE_DECODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct text {
    const char *data;
    size_t size;
};

struct decoded_annotation {
    struct text name;
    struct text text;
    uint64_t number;
    bool is_text;
    bool is_pointer;
    uint64_t name_number; /* of words, until they are looked up */
    uint64_t text_number;
};

enum decoded_kind {
    DECODED_NOTHING,
    DECODED_CLOCKS,
    DECODED_TRACK,
    DECODED_EVENT,
};

enum { DECODED_BEGIN = 1, DECODED_END, DECODED_INSTANT, DECODED_COUNTER };

#define DECODED_FLOWS       32
#define DECODED_ANNOTATIONS 6

struct decoded_packet {
    enum decoded_kind kind;
    uint64_t time; /* on CLOCK_MONOTONIC, of whatever clock the packet has it */
    uint64_t clock;
    uint64_t sequence;
    uint64_t flags;
    bool first_on_sequence;

    uint64_t clocks[16]; /* by clock number */
    uint64_t primary_clock;
    uint64_t incremental_clock;
    uint64_t incremental_base;

    uint64_t uuid; /* of the track, or the event's track */
    uint64_t parent;
    struct text name;
    struct text category;
    uint64_t name_number;
    uint64_t category_number;
    struct text process_name;
    bool process;
    bool counter;
    int64_t pid;
    int64_t rank;
    uint64_t ordering;

    uint64_t type;
    int64_t value;
    uint64_t flows[DECODED_FLOWS];
    uint64_t terminating[DECODED_FLOWS];
    uint32_t flow_count;
    uint32_t terminating_count;
    struct decoded_annotation annotations[DECODED_ANNOTATIONS];
    uint32_t annotation_count;
};

struct decoded {
    uint8_t *bytes;
    size_t size;
    size_t whole; /* bytes of whole packets; the rest is a packet cut short */
    struct decoded_packet *packets;
    size_t count;
};

/* Reads a file; fails the test if that isn't possible. */
struct decoded decode_file(const char *path);
/* Decodes the first 'size' of 'bytes', which must stay. */
struct decoded decode_bytes(const uint8_t *bytes, size_t size);
void decoded_free(struct decoded *decoded);

bool decoded_is(struct text text, const char *expected);
bool decoded_starts_with(struct text text, const char *expected);

/* The descriptor of a track by its number, or NULL. */
const struct decoded_packet *decoded_track(const struct decoded *decoded, uint64_t uuid);
/* An annotation of an event, or NULL. */
const struct decoded_annotation *decoded_annotation(const struct decoded_packet *event,
                                                    const char *name);

/* What must hold for any trace: clocks first; each sequence announced; each event's track described
 * before it, up to the process; sequence 1 in the order of time; on each track, in the order of
 * time, ends that match begins; counters never below zero; each arrow from one event to one other,
 * not backwards in time. Returns the number of arrows that arrive. */
size_t decoded_check(const struct decoded *decoded);

/* The arrow with this number: the events it leaves from and arrives at, or NULL. */
const struct decoded_packet *decoded_flow_source(const struct decoded *decoded, uint64_t flow);
const struct decoded_packet *decoded_flow_target(const struct decoded *decoded, uint64_t flow);

#endif
