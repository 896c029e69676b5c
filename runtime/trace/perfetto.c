/* SPDX-License-Identifier: MIT */
/* Writes the messages of Perfetto that a trace consists of. */
#include "trace/perfetto.h"

/* Field numbers, by message, from Perfetto's protos/perfetto/trace. */
enum {
    TRACE_PACKET = 1,

    PACKET_CLOCK_SNAPSHOT = 6,
    PACKET_TIMESTAMP = 8,
    PACKET_SEQUENCE_ID = 10, /* trusted_packet_sequence_id */
    PACKET_TRACK_EVENT = 11,
    PACKET_INTERNED_DATA = 12,
    PACKET_SEQUENCE_FLAGS = 13,
    PACKET_PREVIOUS_DROPPED = 42,
    PACKET_TIMESTAMP_CLOCK_ID = 58,
    PACKET_DEFAULTS = 59, /* trace_packet_defaults, with fields of the packet's numbers */
    PACKET_TRACK_DESCRIPTOR = 60,
    PACKET_FIRST_ON_SEQUENCE = 87,

    SNAPSHOT_CLOCKS = 1,
    SNAPSHOT_PRIMARY_CLOCK = 2,
    CLOCK_ID = 1,
    CLOCK_TIMESTAMP = 2,
    CLOCK_IS_INCREMENTAL = 3,

    TRACK_UUID = 1,
    TRACK_NAME = 2,
    TRACK_PROCESS = 3,
    TRACK_PARENT = 5,
    TRACK_COUNTER = 8,
    TRACK_CHILD_ORDERING = 11,
    TRACK_RANK = 12, /* sibling_order_rank */

    PROCESS_PID = 1,
    PROCESS_NAME = 6,

    COUNTER_UNIT = 3,
    COUNTER_UNIT_NAME = 6,

    INTERNED_CATEGORIES = 1,
    INTERNED_NAMES = 2,
    INTERNED_ANNOTATIONS = 3,
    INTERNED_TEXTS = 29, /* debug_annotation_string_values */
    WORD_IID = 1,
    WORD_TEXT = 2,

    EVENT_CATEGORY_IIDS = 3,
    EVENT_ANNOTATIONS = 4,
    EVENT_TYPE = 9,
    EVENT_NAME_IID = 10,
    EVENT_TRACK = 11,
    EVENT_COUNTER_VALUE = 30,
    EVENT_FLOW_IDS = 47,
    EVENT_TERMINATING_FLOW_IDS = 48,

    ANNOTATION_NAME_IID = 1,
    ANNOTATION_UINT = 3,
    ANNOTATION_STRING = 6,
    ANNOTATION_POINTER = 7,
    ANNOTATION_STRING_IID = 17,
};

/* Values of their enums. */
enum {
    BUILTIN_CLOCK_REALTIME = 1,
    BUILTIN_CLOCK_MONOTONIC = 3,
    BUILTIN_CLOCK_BOOTTIME = 6,
    CLOCK_INCREMENTAL = 64, /* the first clock number that is local to a sequence */

    SEQ_INCREMENTAL_STATE_CLEARED = 1,
    SEQ_NEEDS_INCREMENTAL_STATE = 2,
    CHILD_ORDERING_EXPLICIT = 3,
    UNIT_COUNT = 2,
};

/* Without such a packet, a reader assumes that the beginning of the sequence was lost. */
static void sequence_start(struct bf_protobuf *pb, uint32_t sequence, uint32_t clock)
{
    bf_protobuf_varint(pb, PACKET_SEQUENCE_ID, sequence);
    bf_protobuf_varint(pb, PACKET_SEQUENCE_FLAGS, SEQ_INCREMENTAL_STATE_CLEARED);
    bf_protobuf_varint(pb, PACKET_PREVIOUS_DROPPED, 1);
    bf_protobuf_varint(pb, PACKET_FIRST_ON_SEQUENCE, 1);
    size_t defaults = bf_protobuf_begin(pb, PACKET_DEFAULTS);
    bf_protobuf_varint(pb, PACKET_TIMESTAMP_CLOCK_ID, clock);
    bf_protobuf_end(pb, defaults);
}

static void clock_write(struct bf_protobuf *pb, uint32_t id, uint64_t time_ns, bool incremental)
{
    size_t clock = bf_protobuf_begin(pb, SNAPSHOT_CLOCKS);
    bf_protobuf_varint(pb, CLOCK_ID, id);
    bf_protobuf_varint(pb, CLOCK_TIMESTAMP, time_ns);
    if (incremental)
        bf_protobuf_varint(pb, CLOCK_IS_INCREMENTAL, 1);
    bf_protobuf_end(pb, clock);
}

void bf_perfetto_write_clocks(struct bf_protobuf *pb, struct bf_perfetto_sequence *sequence,
                              const struct bf_perfetto_clocks *clocks)
{
    size_t packet = bf_protobuf_begin(pb, TRACE_PACKET);
    bf_protobuf_varint(pb, PACKET_TIMESTAMP, clocks->monotonic_ns);
    bf_protobuf_varint(pb, PACKET_TIMESTAMP_CLOCK_ID, BUILTIN_CLOCK_MONOTONIC);
    sequence_start(pb, sequence->id, CLOCK_INCREMENTAL);
    size_t snapshot = bf_protobuf_begin(pb, PACKET_CLOCK_SNAPSHOT);
    clock_write(pb, BUILTIN_CLOCK_REALTIME, clocks->realtime_ns, false);
    clock_write(pb, BUILTIN_CLOCK_MONOTONIC, clocks->monotonic_ns, false);
    clock_write(pb, BUILTIN_CLOCK_BOOTTIME, clocks->boottime_ns, false);
    clock_write(pb, CLOCK_INCREMENTAL, clocks->monotonic_ns, true);
    bf_protobuf_varint(pb, SNAPSHOT_PRIMARY_CLOCK, BUILTIN_CLOCK_MONOTONIC);
    bf_protobuf_end(pb, snapshot);
    bf_protobuf_end(pb, packet);
    sequence->incremental = true;
    sequence->last_ns = clocks->monotonic_ns;
}

void bf_perfetto_write_sequence(struct bf_protobuf *pb, const struct bf_perfetto_sequence *sequence)
{
    size_t packet = bf_protobuf_begin(pb, TRACE_PACKET);
    sequence_start(pb, sequence->id, BUILTIN_CLOCK_MONOTONIC);
    bf_protobuf_end(pb, packet);
}

void bf_perfetto_write_track(struct bf_protobuf *pb, const struct bf_perfetto_sequence *sequence,
                             const struct bf_perfetto_track *track)
{
    size_t packet = bf_protobuf_begin(pb, TRACE_PACKET);
    bf_protobuf_varint(pb, PACKET_SEQUENCE_ID, sequence->id);
    size_t descriptor = bf_protobuf_begin(pb, PACKET_TRACK_DESCRIPTOR);
    bf_protobuf_varint(pb, TRACK_UUID, track->uuid);
    if (track->parent)
        bf_protobuf_varint(pb, TRACK_PARENT, track->parent);
    bf_protobuf_string(pb, TRACK_NAME, track->name);
    if (track->process) {
        size_t process = bf_protobuf_begin(pb, TRACK_PROCESS);
        bf_protobuf_varint(pb, PROCESS_PID, (uint64_t)(int64_t)track->pid);
        bf_protobuf_string(pb, PROCESS_NAME, track->name);
        bf_protobuf_end(pb, process);
    }
    if (track->counter) {
        size_t counter = bf_protobuf_begin(pb, TRACK_COUNTER);
        if (track->unit)
            bf_protobuf_string(pb, COUNTER_UNIT_NAME, track->unit);
        else
            bf_protobuf_varint(pb, COUNTER_UNIT, UNIT_COUNT);
        bf_protobuf_end(pb, counter);
    }
    bf_protobuf_varint(pb, TRACK_CHILD_ORDERING, CHILD_ORDERING_EXPLICIT);
    bf_protobuf_varint(pb, TRACK_RANK, (uint64_t)(int64_t)track->rank);
    bf_protobuf_end(pb, descriptor);
    bf_protobuf_end(pb, packet);
}

/* The entry of one string; its message is begun with the packet's first entry. */
struct interning {
    struct bf_protobuf *pb;
    const struct bf_perfetto_sequence *sequence;
    bool open;
    size_t message;
};

static void interned_write(struct interning *in, uint64_t number, enum bf_string_role role)
{
    static const uint32_t fields[BF_STRING_ROLES] = {
        [BF_STRING_CATEGORY] = INTERNED_CATEGORIES,
        [BF_STRING_NAME] = INTERNED_NAMES,
        [BF_STRING_ANNOTATION] = INTERNED_ANNOTATIONS,
        [BF_STRING_TEXT] = INTERNED_TEXTS,
    };
    uint32_t sequence = (in->sequence->id - 1) % BF_STRING_SEQUENCES;
    if (!bf_interning_announce(in->sequence->interning, number, role, sequence))
        return;
    if (!in->open)
        in->message = bf_protobuf_begin(in->pb, PACKET_INTERNED_DATA);
    in->open = true;
    size_t word = bf_protobuf_begin(in->pb, fields[role]);
    bf_protobuf_varint(in->pb, WORD_IID, number);
    bf_protobuf_string(in->pb, WORD_TEXT, bf_interning_text(in->sequence->interning, number));
    bf_protobuf_end(in->pb, word);
}

static void interned_data_write(struct bf_protobuf *pb, const struct bf_perfetto_sequence *sequence,
                                const struct bf_perfetto_event *event)
{
    struct interning in = {.pb = pb, .sequence = sequence};
    interned_write(&in, event->category, BF_STRING_CATEGORY);
    interned_write(&in, event->name, BF_STRING_NAME);
    for (uint32_t i = 0; i < event->annotation_count; i++) {
        const struct bf_perfetto_annotation *a = &event->annotations[i];
        interned_write(&in, a->name, BF_STRING_ANNOTATION);
        if (a->kind == BF_PERFETTO_INTERNED)
            interned_write(&in, a->number, BF_STRING_TEXT);
    }
    if (in.open)
        bf_protobuf_end(pb, in.message);
}

static void annotation_write(struct bf_protobuf *pb, const struct bf_perfetto_annotation *a)
{
    size_t annotation = bf_protobuf_begin(pb, EVENT_ANNOTATIONS);
    bf_protobuf_varint(pb, ANNOTATION_NAME_IID, a->name);
    switch (a->kind) {
    case BF_PERFETTO_UINT:
        bf_protobuf_varint(pb, ANNOTATION_UINT, a->number);
        break;
    case BF_PERFETTO_POINTER:
        bf_protobuf_varint(pb, ANNOTATION_POINTER, a->number);
        break;
    case BF_PERFETTO_INTERNED:
        bf_protobuf_varint(pb, ANNOTATION_STRING_IID, a->number);
        break;
    case BF_PERFETTO_STRING:
        bf_protobuf_string(pb, ANNOTATION_STRING, a->text);
        break;
    }
    bf_protobuf_end(pb, annotation);
}

static uint64_t timestamp_of(struct bf_perfetto_sequence *sequence, uint64_t time_ns)
{
    if (!sequence->incremental)
        return time_ns;
    uint64_t distance = time_ns > sequence->last_ns ? time_ns - sequence->last_ns : 0;
    sequence->last_ns += distance;
    return distance;
}

void bf_perfetto_write_event(struct bf_protobuf *pb, struct bf_perfetto_sequence *sequence,
                             const struct bf_perfetto_event *event)
{
    size_t packet = bf_protobuf_begin(pb, TRACE_PACKET);
    bf_protobuf_varint(pb, PACKET_TIMESTAMP, timestamp_of(sequence, event->time_ns));
    bf_protobuf_varint(pb, PACKET_SEQUENCE_ID, sequence->id);
    /* Numbers of strings; the writer gives all names, categories and annotations by these. */
    if (event->name || event->category || event->annotation_count)
        bf_protobuf_varint(pb, PACKET_SEQUENCE_FLAGS, SEQ_NEEDS_INCREMENTAL_STATE);
    interned_data_write(pb, sequence, event);
    size_t body = bf_protobuf_begin(pb, PACKET_TRACK_EVENT);
    bf_protobuf_varint(pb, EVENT_TYPE, event->type);
    bf_protobuf_varint(pb, EVENT_TRACK, event->track);
    if (event->category)
        bf_protobuf_varint(pb, EVENT_CATEGORY_IIDS, event->category);
    if (event->name)
        bf_protobuf_varint(pb, EVENT_NAME_IID, event->name);
    if (event->type == BF_PERFETTO_COUNTER)
        bf_protobuf_varint(pb, EVENT_COUNTER_VALUE, (uint64_t)event->counter);
    for (uint32_t i = 0; i < event->flow_count; i++)
        bf_protobuf_fixed64(pb, EVENT_FLOW_IDS, event->flows[i]);
    for (uint32_t i = 0; i < event->terminating_flow_count; i++)
        bf_protobuf_fixed64(pb, EVENT_TERMINATING_FLOW_IDS, event->terminating_flows[i]);
    for (uint32_t i = 0; i < event->annotation_count; i++)
        annotation_write(pb, &event->annotations[i]);
    bf_protobuf_end(pb, body);
    bf_protobuf_end(pb, packet);
}
