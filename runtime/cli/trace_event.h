/* SPDX-License-Identifier: MIT */
/*
 * Decodes one packet of a Perfetto trace into what Belfry uses: the description of a track, or an
 * event on a track. All other contents are skipped.
 *
 * Interned names are remembered for each sequence: the first ones for good, later ones in a ring,
 * so that memory is bounded. A name that has left the ring reads as "". Times may be relative to
 * the packet before, on a clock that the file relates to CLOCK_MONOTONIC.
 *
 * Thread-safety: none; one thread at a time per decoder.
 */
#ifndef BELFRY_CLI_TRACE_EVENT_H
#define BELFRY_CLI_TRACE_EVENT_H

#include "cli/trace_read.h"

#define TRACE_EVENT_FLOWS       32 /* that an event can carry; further ones are passed over */
#define TRACE_EVENT_ANNOTATIONS 24

enum trace_item_kind {
    TRACE_ITEM_OTHER, /* nothing of interest here */
    TRACE_ITEM_TRACK,
    TRACE_ITEM_EVENT,
};

enum trace_event_type {
    TRACE_EVENT_BEGIN = 1,
    TRACE_EVENT_END = 2,
    TRACE_EVENT_INSTANT = 3,
    TRACE_EVENT_COUNTER = 4,
};

struct trace_annotation {
    struct trace_span name;
    struct trace_span text; /* of a string */
    uint64_t number;        /* of anything else */
    bool is_text;
    bool is_pointer;
};

/* All spans point into the packet or into the decoder, and stay until the next packet. */
struct trace_item {
    enum trace_item_kind kind;
    uint64_t time_ns;
    uint64_t track;
    uint64_t parent; /* of a track; 0: none */
    struct trace_span name;
    bool process; /* a track: it is a process */
    bool counter;
    uint32_t type;
    uint32_t flow_count;
    uint32_t terminating_count;
    uint32_t annotation_count;
    uint32_t passed_over; /* flows and annotations for which there was no room */
    uint64_t flows[TRACE_EVENT_FLOWS];
    uint64_t terminating[TRACE_EVENT_FLOWS];
    struct trace_annotation annotations[TRACE_EVENT_ANNOTATIONS];
};

/* Whose names are kept at once: those of traces that have ended make room for others. */
#define TRACE_SEQUENCES_MAX 16

struct trace_sequence;

/* A zeroed one is ready for use. */
struct trace_decoder {
    struct trace_sequence *sequences[TRACE_SEQUENCES_MAX];
    uint64_t sequences_left_out; /* packets of them */
    bool out_of_memory;
};

void trace_decoder_finish(struct trace_decoder *decoder);

/* False: the packet is damaged, and nothing in 'item' counts. */
bool trace_item_decode(struct trace_decoder *decoder, struct trace_span packet,
                       struct trace_item *item);

bool trace_span_is(struct trace_span span, const char *text);
bool trace_span_starts_with(struct trace_span span, const char *text);

/* NULL: it has none of that name. */
const struct trace_annotation *trace_item_annotation(const struct trace_item *item,
                                                     const char *name);

/* Copies what fits as text that any terminal and any XML file can take: bytes that are no UTF-8,
 * and control characters, become '?'. */
void trace_span_copy(struct trace_span span, char *to, size_t size);

/* Cuts a text to so many bytes at most, between characters. */
void trace_text_cut(char *text, size_t size);

#endif
