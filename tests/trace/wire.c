/* SPDX-License-Identifier: MIT */
/* The wire format, byte by byte, as protobuf.dev and Perfetto's .proto files describe it. */
#include "support/test.h"

#include "trace/perfetto.h"
#include "trace/protobuf.h"

#define BYTES(...)  ((const uint8_t[]){__VA_ARGS__})
#define EXPECT(...) expect(pb, BYTES(__VA_ARGS__), sizeof(BYTES(__VA_ARGS__)))

/* The buffer holds exactly these bytes; empties it. */
static void expect(struct bf_protobuf *pb, const uint8_t *bytes, size_t size)
{
    assert_false(pb->failed);
    assert_int_equal(pb->size, size);
    assert_memory_equal(pb->data, bytes, size);
    bf_protobuf_rewind(pb, 0);
}

TEST(fields)
{
    uint8_t memory[64];
    struct bf_protobuf buffer;
    struct bf_protobuf *pb = &buffer;
    bf_protobuf_init(pb, memory, sizeof(memory));

    bf_protobuf_varint(pb, 1, 0);
    EXPECT(0x08, 0x00);
    bf_protobuf_varint(pb, 1, 150);
    EXPECT(0x08, 0x96, 0x01);
    bf_protobuf_varint(pb, 15, 127);
    EXPECT(0x78, 0x7f);
    bf_protobuf_varint(pb, 16, 128);
    EXPECT(0x80, 0x01, 0x80, 0x01);
    bf_protobuf_varint(pb, 2, (uint64_t)(int64_t)-1);
    EXPECT(0x10, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01);
    bf_protobuf_fixed64(pb, 47, 0x0102030405060708);
    EXPECT(0xf9, 0x02, 0x08, 0x07, 0x06, 0x05, 0x04, 0x03, 0x02, 0x01);
    bf_protobuf_double(pb, 5, 1.0);
    EXPECT(0x29, 0, 0, 0, 0, 0, 0, 0xf0, 0x3f);
    bf_protobuf_string(pb, 2, "testing");
    EXPECT(0x12, 0x07, 't', 'e', 's', 't', 'i', 'n', 'g');
    bf_protobuf_string(pb, 2, "");
    EXPECT(0x12, 0x00);
}

TEST(nesting)
{
    uint8_t memory[64];
    struct bf_protobuf buffer;
    struct bf_protobuf *pb = &buffer;
    bf_protobuf_init(pb, memory, sizeof(memory));
    size_t outer = bf_protobuf_begin(pb, 3);
    bf_protobuf_varint(pb, 1, 150);
    size_t inner = bf_protobuf_begin(pb, 60);
    bf_protobuf_end(pb, inner);
    bf_protobuf_varint(pb, 2, 1);
    bf_protobuf_end(pb, outer);
    EXPECT(0x1a, 0x08, 0x08, 0x96, 0x01, 0xe2, 0x03, 0x00, 0x10, 0x01);
}

/* Lengths of one, two and three bytes, in canonical form, with what surrounds them in place. */
TEST(long_messages)
{
    static const size_t sizes[] = {0, 1, 125, 126, 127, 128, 16379, 16380, 16381, 16382, 20000};
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        struct bf_protobuf pb;
        bf_protobuf_init_growable(&pb);
        char *text = malloc(sizes[i] + 1);
        memset(text, 'x', sizes[i]);
        text[sizes[i]] = 0;
        size_t head = 1 + (sizes[i] < 128 ? 1 : sizes[i] < 16384 ? 2 : 3);
        size_t body = head + sizes[i];
        size_t length_bytes = body < 128 ? 1 : body < 16384 ? 2 : 3;

        size_t message = bf_protobuf_begin(&pb, 1);
        bf_protobuf_string(&pb, 2, text);
        bf_protobuf_end(&pb, message);
        bf_protobuf_varint(&pb, 4, 7);
        assert_false(pb.failed);
        assert_int_equal(pb.size, 1 + length_bytes + body + 2);
        assert_int_equal(pb.data[0], 0x0a);
        assert_int_equal(pb.data[1 + length_bytes], 0x12);
        assert_memory_equal(pb.data + 1 + length_bytes + head, text, sizes[i]);
        assert_int_equal(pb.data[pb.size - 2], 0x20);
        assert_int_equal(pb.data[pb.size - 1], 7);
        size_t length = 0;
        for (size_t b = 0; b < length_bytes; b++)
            length |= (size_t)(pb.data[1 + b] & 0x7f) << (7 * b);
        assert_int_equal(length, body);
        free(text);
        bf_protobuf_finish(&pb);
    }
}

/* A message that doesn't fit fails as a whole wherever the end lies, and writes past no end. */
TEST(bounds)
{
    uint8_t memory[256];
    for (size_t capacity = 0; capacity <= 200; capacity++) {
        struct bf_protobuf pb;
        memset(memory, 0xee, sizeof(memory));
        bf_protobuf_init(&pb, memory, capacity);
        size_t message = bf_protobuf_begin(&pb, 1);
        for (int i = 0; i < 15; i++)
            bf_protobuf_fixed64(&pb, 47, 1);
        bf_protobuf_end(&pb, message);
        /* 15 fields of 10 bytes, a tag, and a length of two bytes */
        assert_true(pb.failed == (capacity < 153));
        for (size_t i = capacity; i < sizeof(memory); i++)
            assert_int_equal(memory[i], 0xee);
        bf_protobuf_rewind(&pb, 0);
        assert_false(pb.failed);
    }
}

static struct bf_interning interning;

static struct bf_perfetto_sequence sequence(uint32_t id)
{
    return (struct bf_perfetto_sequence){.id = id, .interning = &interning};
}

TEST(clocks)
{
    uint8_t memory[256];
    struct bf_protobuf buffer;
    struct bf_protobuf *pb = &buffer;
    struct bf_perfetto_sequence first = sequence(1), second = sequence(2);
    bf_protobuf_init(pb, memory, sizeof(memory));
    bf_perfetto_write_clocks(
        pb, &first,
        &(struct bf_perfetto_clocks){.realtime_ns = 300, .monotonic_ns = 5, .boottime_ns = 6});
    EXPECT(0x0a, 0x34,                                     /* Trace.packet */
           0x40, 0x05,                                     /* timestamp 5 */
           0xd0, 0x03, 0x03,                               /* timestamp_clock_id 3 */
           0x50, 0x01,                                     /* trusted_packet_sequence_id 1 */
           0x68, 0x01,                                     /* sequence_flags 1 */
           0xd0, 0x02, 0x01,                               /* previous_packet_dropped */
           0xb8, 0x05, 0x01,                               /* first_packet_on_sequence */
           0xda, 0x03, 0x03, 0xd0, 0x03, 0x40,             /* trace_packet_defaults: clock 64 */
           0x32, 0x1d,                                     /* clock_snapshot */
           0x0a, 0x05, 0x08, 0x01, 0x10, 0xac, 0x02,       /* REALTIME 300 */
           0x0a, 0x04, 0x08, 0x03, 0x10, 0x05,             /* MONOTONIC 5 */
           0x0a, 0x04, 0x08, 0x06, 0x10, 0x06,             /* BOOTTIME 6 */
           0x0a, 0x06, 0x08, 0x40, 0x10, 0x05, 0x18, 0x01, /* clock 64 is incremental, from 5 */
           0x10, 0x03);                                    /* primary_trace_clock */
    assert_true(first.incremental);
    assert_int_equal(first.last_ns, 5);
    bf_perfetto_write_sequence(pb, &second);
    EXPECT(0x0a, 0x10, 0x50, 0x02, 0x68, 0x01, 0xd0, 0x02, 0x01, 0xb8, 0x05, 0x01, /* as above */
           0xda, 0x03, 0x03, 0xd0, 0x03, 0x03); /* trace_packet_defaults: MONOTONIC */
}

TEST(tracks)
{
    uint8_t memory[256];
    struct bf_protobuf buffer;
    struct bf_protobuf *pb = &buffer;
    struct bf_perfetto_sequence first = sequence(1);
    bf_protobuf_init(pb, memory, sizeof(memory));
    bf_perfetto_write_track(
        pb, &first,
        &(struct bf_perfetto_track){.uuid = 7, .name = "p", .process = true, .pid = 42});
    EXPECT(0x0a, 0x15,                  /* Trace.packet */
           0x50, 0x01,                  /* trusted_packet_sequence_id 1 */
           0xe2, 0x03, 0x10,            /* track_descriptor */
           0x08, 0x07,                  /* uuid */
           0x12, 0x01, 'p',             /* name */
           0x1a, 0x05,                  /* process */
           0x08, 0x2a, 0x32, 0x01, 'p', /* pid, process_name */
           0x58, 0x03, 0x60, 0x00);     /* child_ordering, sibling_order_rank */
    bf_perfetto_write_track(
        pb, &first,
        &(struct bf_perfetto_track){
            .uuid = 8, .parent = 7, .name = "c", .rank = -1, .counter = true, .unit = "u"});
    EXPECT(0x0a, 0x1e,                  /* Trace.packet */
           0x50, 0x01,                  /* trusted_packet_sequence_id 1 */
           0xe2, 0x03, 0x19,            /* track_descriptor */
           0x08, 0x08,                  /* uuid */
           0x28, 0x07,                  /* parent_uuid */
           0x12, 0x01, 'c',             /* name */
           0x42, 0x03, 0x32, 0x01, 'u', /* counter: unit_name */
           0x58, 0x03,                  /* child_ordering */
           0x60, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01);
}

TEST(events)
{
    uint8_t memory[256];
    struct bf_protobuf buffer;
    struct bf_protobuf *pb = &buffer;
    bf_protobuf_init(pb, memory, sizeof(memory));
    memset(&interning, 0, sizeof(interning));
    const uint64_t out = 1;
    const uint64_t in = 2;
    const struct bf_perfetto_annotation about[] = {
        {.name = BF_STRING_PACKET, .kind = BF_PERFETTO_UINT, .number = 300},
        {.name = BF_STRING_HANDLE, .kind = BF_PERFETTO_POINTER, .number = 1},
        {.name = BF_STRING_KIND, .kind = BF_PERFETTO_INTERNED, .number = BF_STRING_WAIT},
        {.name = BF_STRING_DEVICE, .kind = BF_PERFETTO_STRING, .text = "t"},
    };
    struct bf_perfetto_event event = {.time_ns = 1000,
                                      .track = 9,
                                      .type = BF_PERFETTO_BEGIN,
                                      .category = BF_STRING_HELD,
                                      .name = BF_STRING_WAIT,
                                      .flow_count = 1,
                                      .flows = &out,
                                      .terminating_flow_count = 1,
                                      .terminating_flows = &in,
                                      .annotation_count = 1,
                                      .annotations = about};
    struct bf_perfetto_sequence first = sequence(1), second = sequence(2);
    bf_perfetto_write_event(pb, &second, &event);
    EXPECT(0x0a, 0x4e,       /* Trace.packet */
           0x40, 0xe8, 0x07, /* timestamp 1000 */
           0x50, 0x02,       /* trusted_packet_sequence_id 2 */
           0x68, 0x02,       /* sequence_flags: it needs incremental state */
           0x62, 0x20,       /* interned_data */
           0x0a, 0x08, 0x08, BF_STRING_HELD, 0x12, 4, 'h', 'e', 'l', 'd', /* event_categories */
           0x12, 0x08, 0x08, BF_STRING_WAIT, 0x12, 4, 'w', 'a', 'i', 't', /* event_names */
           0x1a, 0x0a, 0x08, BF_STRING_PACKET, 0x12, 6, 'p', 'a', 'c', 'k', 'e', 't', 0x5a,
           0x23,                                                  /* track_event */
           0x48, 0x01,                                            /* TYPE_SLICE_BEGIN */
           0x58, 0x09,                                            /* track_uuid */
           0x18, BF_STRING_HELD,                                  /* category_iids */
           0x50, BF_STRING_WAIT,                                  /* name_iid */
           0xf9, 0x02, 1, 0, 0, 0, 0, 0, 0, 0,                    /* flow_ids */
           0x81, 0x03, 2, 0, 0, 0, 0, 0, 0, 0,                    /* terminating_flow_ids */
           0x22, 0x05, 0x08, BF_STRING_PACKET, 0x18, 0xac, 0x02); /* uint_value 300 */
    /* The strings are known now, except those of the annotations that are new. */
    event.flow_count = event.terminating_flow_count = 0;
    event.annotation_count = 4;
    bf_perfetto_write_event(pb, &second, &event);
    bf_protobuf_rewind(pb, 0);
    bf_perfetto_write_event(pb, &second, &event);
    EXPECT(0x0a, 0x2c, 0x40, 0xe8, 0x07, 0x50, 0x02, 0x68, 0x02, 0x5a, 0x23, 0x48, 0x01, 0x58, 0x09,
           0x18, BF_STRING_HELD, 0x50, BF_STRING_WAIT,                   /* as above */
           0x22, 0x05, 0x08, BF_STRING_PACKET, 0x18, 0xac, 0x02,         /* debug_annotations */
           0x22, 0x04, 0x08, BF_STRING_HANDLE, 0x38, 0x01,               /* pointer_value */
           0x22, 0x05, 0x08, BF_STRING_KIND, 0x88, 0x01, BF_STRING_WAIT, /* string_value_iid */
           0x22, 0x05, 0x08, BF_STRING_DEVICE, 0x32, 0x01, 't');         /* string_value */

    event = (struct bf_perfetto_event){
        .time_ns = 1, .track = 9, .type = BF_PERFETTO_COUNTER, .counter = 3};
    bf_perfetto_write_event(pb, &first, &event);
    EXPECT(0x0a, 0x0d, 0x40, 0x01, 0x50, 0x01, 0x5a, 0x07, 0x48, 0x04, 0x58, 0x09, 0xf0, 0x01,
           0x03); /* counter_value */
}

/* An incremental clock: distances, which are never negative. */
TEST(distances)
{
    uint8_t memory[256];
    struct bf_protobuf buffer;
    struct bf_protobuf *pb = &buffer;
    bf_protobuf_init(pb, memory, sizeof(memory));
    struct bf_perfetto_sequence now = sequence(1);
    now.incremental = true;
    now.last_ns = 1000;
    static const uint64_t times[] = {1003, 1003, 900, 1130};
    static const uint8_t expected[] = {3, 0, 0, 127};
    for (int i = 0; i < 4; i++) {
        bf_perfetto_write_event(
            pb, &now,
            &(struct bf_perfetto_event){.time_ns = times[i], .track = 9, .type = BF_PERFETTO_END});
        EXPECT(0x0a, 0x0a, 0x40, expected[i], 0x50, 0x01, 0x5a, 0x04, 0x48, 0x02, 0x58, 0x09);
    }
}

/* A program's names: few places, numbers for ever. */
TEST(names)
{
    memset(&interning, 0, sizeof(interning));
    char text[200];
    uint64_t first = bf_interning_number(&interning, "first");
    assert_true(first >= BF_STRING_OWN);
    assert_int_equal(bf_interning_number(&interning, "first"), first);
    assert_int_equal(bf_interning_number(&interning, ""), 0);
    assert_int_equal(bf_interning_number(&interning, NULL), 0);
    assert_true(bf_interning_announce(&interning, first, BF_STRING_NAME, 0));
    assert_false(bf_interning_announce(&interning, first, BF_STRING_NAME, 0));
    assert_true(bf_interning_announce(&interning, first, BF_STRING_NAME, 1));
    assert_true(bf_interning_announce(&interning, first, BF_STRING_TEXT, 0));
    assert_true(bf_interning_announce(&interning, BF_STRING_WAIT, BF_STRING_NAME, 0));
    assert_false(bf_interning_announce(&interning, 0, BF_STRING_NAME, 0));
    uint64_t kept = bf_interning_number(&interning, "kept");
    bool seen[1 << 16] = {false};
    for (int i = 0; i < 20000; i++) {
        snprintf(text, sizeof(text), "name %d", i);
        uint64_t number = bf_interning_number(&interning, text);
        assert_true(number >= BF_STRING_OWN);
        assert_string_equal(bf_interning_text(&interning, number), text);
        if (number < sizeof(seen)) {
            assert_false(seen[number]);
            seen[number] = true;
        }
        assert_int_equal(bf_interning_number(&interning, "kept"), kept); /* in use: not forgotten */
    }
    assert_null(bf_interning_text(&interning, first));
    assert_false(bf_interning_announce(&interning, first, BF_STRING_CATEGORY, 0));
    assert_int_not_equal(bf_interning_number(&interning, "first"), first);
    memset(text, 'x', sizeof(text) - 1);
    text[sizeof(text) - 1] = 0;
    memcpy(text + 126, "\xc3\xa9", 2);
    assert_int_equal(strlen(bf_interning_text(&interning, bf_interning_number(&interning, text))),
                     126);
    for (uint32_t i = 1; i < BF_STRING_OWN; i++)
        assert_non_null(bf_interning_text(&interning, i));
}
