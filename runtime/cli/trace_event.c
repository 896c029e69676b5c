/* SPDX-License-Identifier: MIT */
/* Decodes one packet of a Perfetto trace to a track or an event. */
#include "cli/trace_event.h"

#include <stdlib.h>
#include <string.h>

/* Field numbers, by message, from Perfetto's protos/perfetto/trace. */
enum {
    PACKET_CLOCK_SNAPSHOT = 6,
    PACKET_TIMESTAMP = 8,
    PACKET_SEQUENCE_ID = 10,
    PACKET_TRACK_EVENT = 11,
    PACKET_INTERNED_DATA = 12,
    PACKET_SEQUENCE_FLAGS = 13,
    PACKET_TIMESTAMP_CLOCK_ID = 58,
    PACKET_DEFAULTS = 59,
    PACKET_TRACK_DESCRIPTOR = 60,

    SNAPSHOT_CLOCKS = 1,
    CLOCK_ID = 1,
    CLOCK_TIMESTAMP = 2,
    CLOCK_IS_INCREMENTAL = 3,
    CLOCK_UNIT_MULTIPLIER = 4,

    DEFAULTS_CLOCK_ID = 58,

    INTERNED_IID = 1,
    INTERNED_TEXT = 2,

    TRACK_UUID = 1,
    TRACK_NAME = 2,
    TRACK_PROCESS = 3,
    TRACK_PARENT = 5,
    TRACK_COUNTER = 8,

    EVENT_ANNOTATIONS = 4,
    EVENT_TYPE = 9,
    EVENT_NAME_IID = 10,
    EVENT_TRACK = 11,
    EVENT_NAME = 23,
    EVENT_FLOW_IDS = 47,
    EVENT_TERMINATING_FLOW_IDS = 48,

    ANNOTATION_NAME_IID = 1,
    ANNOTATION_BOOL = 2,
    ANNOTATION_UINT = 3,
    ANNOTATION_INT = 4,
    ANNOTATION_STRING = 6,
    ANNOTATION_POINTER = 7,
    ANNOTATION_NAME = 10,
    ANNOTATION_STRING_IID = 17,
};

enum {
    WIRE_VARINT = 0,
    WIRE_FIXED64 = 1,
    WIRE_LENGTH = 2,
};

/* Values of their enums, and the sequence's own clocks. */
#define CLOCK_MONOTONIC_ID   3
#define SEQUENCE_CLOCK_FIRST 64
#define SEQUENCE_CLOCK_LAST  127
#define INCREMENTAL_CLEARED  1
#define CLOCK_MULTIPLIER_MAX 1000000000u
#define TIME_MAX             (UINT64_MAX / 4)

/* --- Sequences --------------------------------------------------------------------------------*/

#define TEXT_SIZE 128

struct text {
    uint64_t iid; /* 0: empty */
    uint32_t generation;
    uint8_t size;
    uint8_t bytes[TEXT_SIZE - 1];
};

/* What can be interned, as numbered in InternedData. */
enum {
    INTERNED_EVENT_NAMES = 2,
    INTERNED_ANNOTATION_NAMES = 3,
    INTERNED_STRINGS = 29,
};

#define ANNOTATION_NAMES 256
#define EVENT_NAMES      4096
#define STRINGS          8192

struct trace_sequence {
    uint64_t id;
    bool ended;          /* its trace has said so: its place may become another's */
    uint32_t generation; /* names of older ones are gone */
    uint64_t clock;      /* the default for packets that name none; 0: none is known */
    /* Its own clock, if it has one: what it shows, and what CLOCK_MONOTONIC shows then. */
    uint64_t own_clock;
    bool incremental;
    uint64_t multiplier;
    uint64_t own_ns;
    uint64_t own_zero_ns;
    uint64_t monotonic_zero_ns;
    struct text annotation_names[ANNOTATION_NAMES];
    struct text event_names[EVENT_NAMES];
    struct text strings[STRINGS];
};

void trace_decoder_finish(struct trace_decoder *d)
{
    for (size_t i = 0; i < TRACE_SEQUENCES_MAX; i++)
        free(d->sequences[i]);
    *d = (struct trace_decoder){0};
}

/* For a sequence that begins. NULL: none has ended. */
static struct trace_sequence *sequence_reuse(struct trace_decoder *d, uint64_t id)
{
    for (size_t i = 0; i < TRACE_SEQUENCES_MAX; i++) {
        struct trace_sequence *s = d->sequences[i];
        if (!s->ended)
            continue;
        s->id = id;
        s->ended = false;
        s->clock = s->own_clock = 0;
        s->incremental = false;
        return s;
    }
    return NULL;
}

/* A trace ends, which has two sequences: the now and the late one. */
static void sequences_end(struct trace_decoder *d, uint64_t id)
{
    for (size_t i = 0; i < TRACE_SEQUENCES_MAX && d->sequences[i]; i++)
        d->sequences[i]->ended |= d->sequences[i]->id == id || d->sequences[i]->id == id + 1;
}

/* NULL: there are too many, or no memory. */
static struct trace_sequence *sequence_find(struct trace_decoder *d, uint64_t id, bool begins)
{
    for (size_t i = 0; i < TRACE_SEQUENCES_MAX; i++) {
        if (!d->sequences[i]) {
            d->sequences[i] = calloc(1, sizeof(*d->sequences[i]));
            if (!d->sequences[i]) {
                d->out_of_memory = true;
                return NULL;
            }
            d->sequences[i]->id = id;
        }
        if (d->sequences[i]->id == id)
            return d->sequences[i];
    }
    struct trace_sequence *s = begins ? sequence_reuse(d, id) : NULL;
    d->sequences_left_out += !s;
    return s;
}

static struct text *text_slot(struct trace_sequence *s, uint32_t table, uint64_t iid)
{
    struct text *texts = table == INTERNED_EVENT_NAMES ? s->event_names
                         : table == INTERNED_STRINGS   ? s->strings
                                                       : s->annotation_names;
    uint64_t half = (table == INTERNED_EVENT_NAMES ? EVENT_NAMES
                     : table == INTERNED_STRINGS   ? STRINGS
                                                   : ANNOTATION_NAMES) /
                    2;
    return &texts[iid < half ? iid : half + iid % half];
}

static struct trace_span text_find(struct trace_sequence *s, uint32_t table, uint64_t iid)
{
    if (!s || !iid)
        return (struct trace_span){NULL, 0};
    struct text *text = text_slot(s, table, iid);
    return text->iid == iid && text->generation == s->generation
               ? (struct trace_span){text->bytes, text->size}
               : (struct trace_span){NULL, 0};
}

static bool interned_decode(struct trace_span body, struct trace_sequence *s)
{
    struct trace_field f;
    enum trace_field_result result;
    while ((result = trace_field_next(&body, &f)) == TRACE_FIELD) {
        if (f.type != WIRE_LENGTH ||
            (f.number != INTERNED_EVENT_NAMES && f.number != INTERNED_ANNOTATION_NAMES &&
             f.number != INTERNED_STRINGS))
            continue;
        uint64_t iid = 0;
        struct trace_span text = {NULL, 0};
        struct trace_field entry;
        enum trace_field_result inner;
        while ((inner = trace_field_next(&f.body, &entry)) == TRACE_FIELD) {
            if (entry.number == INTERNED_IID && entry.type == WIRE_VARINT)
                iid = entry.value;
            else if (entry.number == INTERNED_TEXT && entry.type == WIRE_LENGTH)
                text = entry.body;
        }
        if (inner != TRACE_FIELD_END)
            return false;
        if (!iid || !s)
            continue;
        struct text *slot = text_slot(s, f.number, iid);
        slot->iid = iid;
        slot->generation = s->generation;
        slot->size = (uint8_t)(text.size < sizeof(slot->bytes) ? text.size : sizeof(slot->bytes));
        if (slot->size)
            memcpy(slot->bytes, text.at, slot->size);
    }
    return result == TRACE_FIELD_END;
}

static bool snapshot_decode(struct trace_span body, struct trace_sequence *s)
{
    struct trace_field f;
    enum trace_field_result result;
    uint64_t monotonic_ns = 0;
    uint64_t own = 0;
    uint64_t own_time = 0;
    uint64_t multiplier = 1;
    bool incremental = false;
    while ((result = trace_field_next(&body, &f)) == TRACE_FIELD) {
        if (f.number != SNAPSHOT_CLOCKS || f.type != WIRE_LENGTH)
            continue;
        uint64_t id = 0;
        uint64_t time = 0;
        uint64_t unit = 1;
        bool steps = false;
        struct trace_field c;
        enum trace_field_result inner;
        while ((inner = trace_field_next(&f.body, &c)) == TRACE_FIELD) {
            if (c.type != WIRE_VARINT)
                continue;
            if (c.number == CLOCK_ID)
                id = c.value;
            else if (c.number == CLOCK_TIMESTAMP)
                time = c.value;
            else if (c.number == CLOCK_IS_INCREMENTAL)
                steps = c.value != 0;
            else if (c.number == CLOCK_UNIT_MULTIPLIER)
                unit = c.value;
        }
        if (inner != TRACE_FIELD_END)
            return false;
        if (id == CLOCK_MONOTONIC_ID) {
            monotonic_ns = time;
        } else if (id >= SEQUENCE_CLOCK_FIRST && id <= SEQUENCE_CLOCK_LAST) {
            own = id;
            own_time = time;
            multiplier = unit && unit <= CLOCK_MULTIPLIER_MAX ? unit : 1;
            incremental = steps;
        }
    }
    if (result != TRACE_FIELD_END)
        return false;
    if (s && own && own_time <= TIME_MAX / multiplier) {
        s->own_clock = own;
        s->incremental = incremental;
        s->multiplier = multiplier;
        s->own_ns = own_time * multiplier;
        s->own_zero_ns = s->own_ns;
        s->monotonic_zero_ns = monotonic_ns;
    }
    return true;
}

/* A packet's time on CLOCK_MONOTONIC; 0: there is none. */
static uint64_t time_of(struct trace_sequence *s, uint64_t clock, uint64_t stamp)
{
    if (!clock && s)
        clock = s->clock;
    if (!s || clock < SEQUENCE_CLOCK_FIRST || clock > SEQUENCE_CLOCK_LAST)
        return stamp;
    if (clock != s->own_clock || stamp > TIME_MAX / s->multiplier)
        return 0;
    uint64_t own_ns = stamp * s->multiplier;
    if (s->incremental) {
        if (own_ns > TIME_MAX - s->own_ns)
            return 0;
        own_ns += s->own_ns;
        s->own_ns = own_ns;
    }
    if (own_ns >= s->own_zero_ns)
        return s->monotonic_zero_ns + (own_ns - s->own_zero_ns);
    uint64_t before = s->own_zero_ns - own_ns;
    return before < s->monotonic_zero_ns ? s->monotonic_zero_ns - before : 0;
}

static bool defaults_decode(struct trace_span body, struct trace_sequence *s)
{
    struct trace_field f;
    enum trace_field_result result;
    while ((result = trace_field_next(&body, &f)) == TRACE_FIELD)
        if (s && f.number == DEFAULTS_CLOCK_ID && f.type == WIRE_VARINT)
            s->clock = f.value;
    return result == TRACE_FIELD_END;
}

/* --- Text -------------------------------------------------------------------------------------*/

bool trace_span_is(struct trace_span span, const char *text)
{
    size_t size = strlen(text);
    return span.size == size && memcmp(span.at, text, size) == 0;
}

bool trace_span_starts_with(struct trace_span span, const char *text)
{
    size_t size = strlen(text);
    return span.size >= size && memcmp(span.at, text, size) == 0;
}

const struct trace_annotation *trace_item_annotation(const struct trace_item *item,
                                                     const char *name)
{
    for (uint32_t i = 0; i < item->annotation_count; i++)
        if (trace_span_is(item->annotations[i].name, name))
            return &item->annotations[i];
    return NULL;
}

/* The size of the UTF-8 character at 'at'; 0: it is none, or a control character. */
static size_t character_size(const uint8_t *at, size_t size)
{
    if (at[0] < 0x80)
        return at[0] >= 0x20 && at[0] != 0x7f;
    size_t n = at[0] >= 0xF0 ? 4 : at[0] >= 0xE0 ? 3 : 2;
    if (at[0] < 0xC2 || at[0] > 0xF4 || n > size)
        return 0;
    uint32_t code = at[0] & (0xFFu >> (n + 1));
    for (size_t i = 1; i < n; i++) {
        if ((at[i] & 0xC0) != 0x80)
            return 0;
        code = code << 6 | (at[i] & 0x3Fu);
    }
    bool longer_than_needed = code < (n == 4 ? 0x10000u : n == 3 ? 0x800u : 0x80u);
    bool surrogate = code >= 0xD800 && code <= 0xDFFF;
    bool no_character = code > 0x10FFFF || (code & 0xFFFE) == 0xFFFE || code < 0xA0;
    return longer_than_needed || surrogate || no_character ? 0 : n;
}

void trace_span_copy(struct trace_span span, char *to, size_t size)
{
    size_t used = 0;
    while (span.size > 0) {
        size_t n = character_size(span.at, span.size);
        if (used + (n ? n : 1) >= size)
            break;
        if (n)
            memcpy(to + used, span.at, n);
        else
            to[used] = '?';
        used += n ? n : 1;
        span.at += n ? n : 1;
        span.size -= n ? n : 1;
    }
    to[used] = 0;
}

void trace_text_cut(char *text, size_t size)
{
    if (strlen(text) <= size)
        return;
    while (size > 0 && ((uint8_t)text[size] & 0xC0) == 0x80) /* amid a character */
        size--;
    text[size] = 0;
}

/* --- Events and tracks ------------------------------------------------------------------------*/

static bool annotation_decode(struct trace_span body, struct trace_sequence *s,
                              struct trace_item *item)
{
    struct trace_annotation a = {0};
    struct trace_field f;
    enum trace_field_result result;
    while ((result = trace_field_next(&body, &f)) == TRACE_FIELD) {
        if (f.number == ANNOTATION_NAME && f.type == WIRE_LENGTH) {
            a.name = f.body;
        } else if (f.number == ANNOTATION_STRING && f.type == WIRE_LENGTH) {
            a.text = f.body;
            a.is_text = true;
        } else if (f.number == ANNOTATION_NAME_IID && f.type == WIRE_VARINT) {
            a.name = text_find(s, INTERNED_ANNOTATION_NAMES, f.value);
        } else if (f.number == ANNOTATION_STRING_IID && f.type == WIRE_VARINT) {
            a.text = text_find(s, INTERNED_STRINGS, f.value);
            a.is_text = true;
        } else if (f.type == WIRE_VARINT &&
                   (f.number == ANNOTATION_BOOL || f.number == ANNOTATION_UINT ||
                    f.number == ANNOTATION_INT || f.number == ANNOTATION_POINTER)) {
            a.number = f.value;
            a.is_pointer = f.number == ANNOTATION_POINTER;
        }
    }
    if (item->annotation_count < TRACE_EVENT_ANNOTATIONS)
        item->annotations[item->annotation_count++] = a;
    else
        item->passed_over++;
    return result == TRACE_FIELD_END;
}

static void flow_take(struct trace_item *item, uint64_t flows[TRACE_EVENT_FLOWS], uint32_t *count,
                      uint64_t flow)
{
    if (*count < TRACE_EVENT_FLOWS)
        flows[(*count)++] = flow;
    else
        item->passed_over++;
}

static bool event_decode(struct trace_span body, struct trace_sequence *s, struct trace_item *item)
{
    struct trace_field f;
    enum trace_field_result result;
    item->kind = TRACE_ITEM_EVENT;
    while ((result = trace_field_next(&body, &f)) == TRACE_FIELD) {
        if (f.number == EVENT_TYPE && f.type == WIRE_VARINT)
            item->type = f.value <= TRACE_EVENT_COUNTER ? (uint32_t)f.value : 0;
        else if (f.number == EVENT_TRACK && f.type == WIRE_VARINT)
            item->track = f.value;
        else if (f.number == EVENT_NAME_IID && f.type == WIRE_VARINT)
            item->name = text_find(s, INTERNED_EVENT_NAMES, f.value);
        else if (f.number == EVENT_NAME && f.type == WIRE_LENGTH)
            item->name = f.body;
        else if (f.number == EVENT_FLOW_IDS && f.type == WIRE_FIXED64)
            flow_take(item, item->flows, &item->flow_count, f.value);
        else if (f.number == EVENT_TERMINATING_FLOW_IDS && f.type == WIRE_FIXED64)
            flow_take(item, item->terminating, &item->terminating_count, f.value);
        else if (f.number == EVENT_ANNOTATIONS && f.type == WIRE_LENGTH &&
                 !annotation_decode(f.body, s, item))
            return false;
    }
    return result == TRACE_FIELD_END;
}

static bool track_decode(struct trace_span body, struct trace_item *item)
{
    struct trace_field f;
    enum trace_field_result result;
    item->kind = TRACE_ITEM_TRACK;
    while ((result = trace_field_next(&body, &f)) == TRACE_FIELD) {
        if (f.number == TRACK_UUID && f.type == WIRE_VARINT)
            item->track = f.value;
        else if (f.number == TRACK_PARENT && f.type == WIRE_VARINT)
            item->parent = f.value;
        else if (f.number == TRACK_NAME && f.type == WIRE_LENGTH)
            item->name = f.body;
        else if (f.number == TRACK_PROCESS && f.type == WIRE_LENGTH)
            item->process = true;
        else if (f.number == TRACK_COUNTER && f.type == WIRE_LENGTH)
            item->counter = true;
    }
    return result == TRACE_FIELD_END;
}

static void item_clear(struct trace_item *item)
{
    item->kind = TRACE_ITEM_OTHER;
    item->time_ns = 0;
    item->track = 0;
    item->parent = 0;
    item->name = (struct trace_span){NULL, 0};
    item->process = false;
    item->counter = false;
    item->type = 0;
    item->flow_count = 0;
    item->terminating_count = 0;
    item->annotation_count = 0;
    item->passed_over = 0;
}

/* The parts of a packet. They come in any order in the file, but must be handled in a certain
 * one. */
struct parts {
    uint64_t sequence;
    uint64_t flags;
    uint64_t clock;
    uint64_t stamp;
    bool stamped;
    struct trace_span snapshot;
    struct trace_span interned;
    struct trace_span defaults;
    struct trace_span event;
    struct trace_span track;
};

static bool parts_find(struct trace_span packet, struct parts *parts)
{
    struct trace_field f;
    enum trace_field_result result;
    while ((result = trace_field_next(&packet, &f)) == TRACE_FIELD) {
        if (f.type == WIRE_VARINT) {
            if (f.number == PACKET_TIMESTAMP) {
                parts->stamp = f.value;
                parts->stamped = true;
            } else if (f.number == PACKET_SEQUENCE_ID) {
                parts->sequence = f.value;
            } else if (f.number == PACKET_SEQUENCE_FLAGS) {
                parts->flags = f.value;
            } else if (f.number == PACKET_TIMESTAMP_CLOCK_ID) {
                parts->clock = f.value;
            }
        } else if (f.type == WIRE_LENGTH) {
            if (f.number == PACKET_CLOCK_SNAPSHOT)
                parts->snapshot = f.body;
            else if (f.number == PACKET_INTERNED_DATA)
                parts->interned = f.body;
            else if (f.number == PACKET_DEFAULTS)
                parts->defaults = f.body;
            else if (f.number == PACKET_TRACK_EVENT)
                parts->event = f.body;
            else if (f.number == PACKET_TRACK_DESCRIPTOR)
                parts->track = f.body;
        }
    }
    return result == TRACE_FIELD_END;
}

bool trace_item_decode(struct trace_decoder *d, struct trace_span packet, struct trace_item *item)
{
    item_clear(item);
    struct parts parts = {0};
    if (!parts_find(packet, &parts))
        return false;
    bool begins = parts.flags & INCREMENTAL_CLEARED;
    struct trace_sequence *s = parts.sequence ? sequence_find(d, parts.sequence, begins) : NULL;
    if (s && begins) {
        s->generation++;
        s->ended = false;
    }
    if (!snapshot_decode(parts.snapshot, s) || !defaults_decode(parts.defaults, s) ||
        !interned_decode(parts.interned, s))
        return false;
    /* Every timestamp must be read, since in an incremental clock each is relative to the one
     * before. */
    if (parts.stamped)
        item->time_ns = time_of(s, parts.clock, parts.stamp);
    else if (s && s->incremental && s->clock == s->own_clock)
        item->time_ns = time_of(s, s->clock, 0);
    if (parts.event.at) {
        bool whole = event_decode(parts.event, s, item);
        if (whole && trace_span_is(item->name, "Belfry: tracing ends"))
            sequences_end(d, parts.sequence);
        return whole;
    }
    if (parts.track.at)
        return track_decode(parts.track, item);
    return true;
}
