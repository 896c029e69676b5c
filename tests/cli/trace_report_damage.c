/* SPDX-License-Identifier: MIT */
/* Files that are cut, damaged, foreign or made up: a clear line, and never a crash. With an
 * argument, a number: so many times as many of them. */

#include "../trace/trace_helper.h"
#include "trace_report_make.h"

#define T(us) (1000000000ull + (us)*1000ull)

/* Something of everything. */
static void everything(struct made *m, bool interned)
{
    made_begin(m, interned);
    uint64_t host = made_host(m);
    struct made_queue q[2];
    for (int i = 0; i < 2; i++)
        q[i] = made_queue(m, made_track(m, MADE_PROCESS, i ? "engine 1" : "engine 0", false),
                          i ? "compute (compute queue 1:0)" : "graphics");
    for (uint64_t i = 0; i < 12; i++) {
        uint64_t t = T(100 * i + 10);
        const struct made_packet packet = {.id = 4 * i + 1,
                                           .kind = "execute",
                                           .caption = i % 2 ? "shadows" : NULL,
                                           .command_buffers = 1,
                                           .queued_ns = t,
                                           .handed_over_ns = t + 9000,
                                           .held_ns = i % 3 ? 0 : t + 100,
                                           .fence = "fence <&>",
                                           .value = i};
        made_packet(m, &q[i % 2], &packet);
        made_host_signal(m, host, t + 5000, "fence <&>", i, 100 + i);
        made_event(
            m, &(struct made_event){
                   .time_ns = t,
                   .track = q[i % 2].fences[i % 4],
                   .type = 1,
                   .name = i % 2 ? "wait x" : "signal x",
                   .notes = {{"packet", NULL, 4 * i + 2}, {"fence", "x", 0}, {"value", NULL, i}}});
        made_run(m, &q[i % 2], 4 * i + 1, t + 10000, t + 50000, 100 + i, 200 + i);
        made_event(m, &(struct made_event){.time_ns = t + 50000,
                                           .track = q[i % 2].fences[i % 4],
                                           .type = 2,
                                           .flow = i % 2 ? 0 : 300 + i,
                                           .terminating = i % 2 ? 299 + i : 0,
                                           .late = true});
        made_instant(m, &q[0], 4 * i + 3, "present", t + 20000, 0, 0);
        made_unblocked(m, &q[0], 4 * i + 3, t + 50000, 200 + i);
    }
}

/* Everything that can be shown is. */
static void show_all(struct trace_load *load)
{
    if (load->usable) {
        free(load_text(load));
        free(load_json(load));
        if (load->report.has_frame)
            free(load_svg(load));
    } else {
        assert_true(load->message[0]);
    }
    trace_load_destroy(load);
}

TEST(cut_anywhere)
{
    for (int interned = 0; interned < 2; interned++) {
        struct made m;
        everything(&m, interned);
        size_t begin = 0; /* of the packet that a cut falls into */
        size_t next = 0;
        for (size_t size = 1; size < m.pb.size; size += 29) {
            while (next <= size) {
                begin = next;
                const uint8_t *at = m.pb.data + next + 1;
                size_t body = at[0] & 0x7f;
                if (at[0] & 0x80)
                    body |= (size_t)at[1] << 7;
                next += 2 + (at[0] >> 7) + body;
            }
            struct trace_load *load = bytes_load(m.pb.data, size, 0);
            char expected[96];
            snprintf(expected, sizeof(expected), "is cut short: its last packet begins at byte %zu",
                     begin);
            if (size > begin) {
                assert_non_null(strstr(load->message, expected));
                assert_true(load->report.cut);
            }
            assert_true(load->intact);
            show_all(load);
        }
        made_finish(&m);
    }
}

static int effort = 1;
static uint64_t dice_state;
static uint32_t dice(uint32_t sides)
{
    dice_state = dice_state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(dice_state >> 33) % sides;
}

TEST(random_bytes)
{
    enum { SIZE = 4096 };
    uint8_t bytes[SIZE];
    for (int round = 0; round < 100 * effort; round++) {
        dice_state = (uint64_t)round + 1;
        uint32_t size = 1 + dice(SIZE);
        for (uint32_t i = 0; i < size; i++)
            bytes[i] = (uint8_t)dice(round % 2 ? 256 : 80);
        bytes[0] = 10;
        show_all(bytes_load(bytes, size, (uint64_t)dice(3)));
    }
}

/* What the runtime itself writes, as bytes of the caller's. */
static uint8_t *runtimes_own(size_t *size)
{
    char folder[64];
    folder_make(folder);
    char path[128];
    snprintf(path, sizeof(path), "%s", in_folder(folder, "run.pftrace"));
    struct bf_trace *trace = trace_open(path);
    uint32_t queues[2];
    for (int i = 0; i < 2; i++)
        queues[i] =
            bf_trace_add_queue(trace, bf_trace_add_engine(trace, i ? "engine 1" : "engine 0"),
                               i ? "compute" : "graphics");
    bf_trace_name_semaphore(trace, 0x50, "frame");
    for (uint64_t i = 1; i < 30; i++) {
        struct bf_trace_packet first = queued(trace, queues[0]);
        struct bf_trace_packet second = queued(trace, queues[1]);
        struct bf_trace_packet present;
        bf_trace_packet_held(trace, &second, SYNC(0x50, i));
        handed_over(trace, &first, NOTHING, SYNC(0x50, i));
        handed_over(trace, &second, SYNC(0x50, i), SYNC(0x60, i));
        bf_trace_packet_queued(trace, &present, queues[0], BF_TRACE_PRESENT, 0);
        handed_over(trace, &present, SYNC(0x60, i), NOTHING);
        uint64_t t = second.handed_over_ns;
        bf_trace_packet_executed(trace, &first, t, t + 1000);
        bf_trace_packet_executed(trace, &second, t + 1000, t + 3000);
        bf_trace_host_signal(trace, SYNC(0x70, i));
    }
    bf_trace_destroy(trace);
    struct decoded d = decode_file(path);
    uint8_t *bytes = d.bytes;
    *size = d.size;
    d.bytes = NULL;
    decoded_free(&d);
    unlink(path);
    rmdir(folder);
    return bytes;
}

/* A few bytes of a good trace changed, taken out, put in or moved. */
static void mutate(const uint8_t *good, size_t good_size, uint64_t seed)
{
    uint8_t *bytes = malloc(good_size);
    assert_non_null(bytes);
    for (int round = 0; round < 120 * effort; round++) {
        dice_state = 1000003u * (uint64_t)round + seed;
        size_t size = good_size;
        memcpy(bytes, good, size);
        for (uint32_t change = 1 + dice(6); change > 0; change--) {
            uint32_t at = dice((uint32_t)size - 8);
            switch (dice(5)) {
            case 0:
                bytes[at] = (uint8_t)dice(256);
                break;
            case 1:
                bytes[at] ^= (uint8_t)(1u << dice(8));
                break;
            case 2:
                memmove(bytes + at, bytes + at + 1, size - at - 1);
                size--;
                break;
            case 3:
                memset(bytes + at, 0xff, 1 + dice(8));
                break;
            default:
                memmove(bytes + at, bytes + dice((uint32_t)size - 8), dice(8));
            }
        }
        show_all(bytes_load(bytes, size, (uint64_t)dice(4)));
    }
    free(bytes);
}

TEST(mutated_traces)
{
    for (int interned = 0; interned < 2; interned++) {
        struct made m;
        everything(&m, interned);
        mutate(m.pb.data, m.pb.size, (uint64_t)interned + 7);
        made_finish(&m);
    }
    size_t size;
    uint8_t *bytes = runtimes_own(&size);
    struct trace_load *load = bytes_load(bytes, size, 0);
    assert_true(load->usable && load->intact);
    assert_int_equal(load->report.frames.count, 29);
    show_all(load);
    mutate(bytes, size, 9);
    free(bytes);
}

static void said(const void *bytes, size_t size, const char *expected)
{
    struct trace_load *load = bytes_load(bytes, size, 0);
    assert_false(load->usable);
    assert_non_null(strstr(load->message, expected));
    assert_null(strchr(load->message, '\n'));
    trace_load_destroy(load);
}

TEST(what_is_no_trace)
{
    said("", 0, "'made.pftrace' is empty");
    said("\x89PNG\r\n", 6, "is no Perfetto trace");
    said("\n", 1, "is cut short: its last packet begins at byte 0; nothing of Belfry's");
    said("\n\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01", 12, "is no Perfetto trace");
    said("\n\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01zzz", 14, "is cut short");
    said("\n\x02\x50\x01", 4, "is a Perfetto trace, but not one of Belfry's");
    said("\n\x02\x50\x01zzz", 7, "is damaged: what begins at byte 4 is no packet; nothing of");
    said("\n\x02\x00\x01", 4, "is damaged at byte 0, and no trace of Belfry's");
    /* Somebody else's tracks and events. */
    struct made m = {0};
    bf_protobuf_init_growable(&m.pb);
    uint64_t process = made_track(&m, 0, "browser", true);
    struct made_queue q = made_queue(&m, made_track(&m, process, "thread", false), "queue");
    made_run(&m, &q, 1, T(1), T(2), 0, 0);
    said(m.pb.data, m.pb.size, "is a Perfetto trace, but not one of Belfry's");
    made_finish(&m);
}

/* One bad packet costs that packet, and says where it was; one bad length the rest. */
TEST_AROUND(damage_in_the_middle, struct made, m, everything, made_finish, false)
{
    uint8_t *bytes = malloc(m->pb.size + 4);
    assert_non_null(bytes);
    size_t half = 0;
    while (half < m->pb.size / 2)
        half += m->pb.data[half + 1] & 0x80
                    ? 3 + ((m->pb.data[half + 1] & 0x7fu) | (size_t)m->pb.data[half + 2] << 7)
                    : 2u + m->pb.data[half + 1];
    memcpy(bytes, m->pb.data, half);
    memcpy(bytes + half, "\n\x02\x0e\x0e", 4); /* a field of a type that there isn't */
    memcpy(bytes + half + 4, m->pb.data + half, m->pb.size - half);
    struct trace_load *load = bytes_load(bytes, m->pb.size + 4, 0);
    char expected[96];
    snprintf(expected, sizeof(expected), "is damaged: 1 packets left out, the first at byte %zu",
             half);
    assert_non_null(strstr(load->message, expected));
    assert_true(load->usable);
    assert_false(load->intact);
    assert_int_equal(load->report.model->queues[0].presents.count, 12);
    show_all(load);
    bytes[half] = 'x';
    load = bytes_load(bytes, m->pb.size + 4, 0);
    snprintf(expected, sizeof(expected), "is damaged: what begins at byte %zu is no packet", half);
    assert_non_null(strstr(load->message, expected));
    assert_true(load->usable);
    assert_false(load->intact);
    assert_in_range(load->report.model->queues[0].presents.count, 4, 8);
    show_all(load);
    free(bytes);
}

TEST_AROUND(large_packets_are_stepped_over, struct made, m, everything, made_finish, true)
{
    size_t at = m->pb.size;
    uint8_t *large = calloc(1, TRACE_READER_BUFFER + 1);
    assert_non_null(large);
    bf_protobuf_bytes(&m->pb, 1, large, TRACE_READER_BUFFER + 1);
    free(large);
    made_host_signal(m, 2, T(5000), "after", 1, 0);
    struct trace_load *load = made_load(m, 0);
    assert_true(load->usable && load->intact);
    assert_int_equal(load->report.oversized, 1);
    assert_int_equal(load->report.oversized_first, at);
    assert_int_equal(load->report.model->host_signals, 13);
    show_all(load);
}

/* More of everything than there is room for. */
TEST_AROUND(tables_that_are_full, struct made, m, made_begin, made_finish, false)
{
    char name[32];
    uint64_t engine = 0;
    for (int i = 0; i < TRACE_ENGINES_MAX + 5; i++) {
        engine = made_track(m, MADE_PROCESS, "engine", false);
        made_queue(m, engine, "queue");
    }
    engine = MADE_PROCESS + 1;
    struct made_queue q = {0};
    for (int i = 0; i < TRACE_QUEUES_MAX; i++) {
        struct made_queue one = made_queue(m, engine, "queue");
        q = i ? q : one;
    }
    for (uint64_t i = 0; i < TRACE_NAMES_MAX + 10; i++) {
        snprintf(name, sizeof(name), "fence %llu", (unsigned long long)i);
        made_packet(m, &q,
                    &(struct made_packet){.id = i + 1,
                                          .kind = "execute",
                                          .queued_ns = T(i),
                                          .held_ns = T(i) + 1,
                                          .handed_over_ns = T(i) + 2,
                                          .fence = name});
    }
    for (uint32_t i = 0; i < TRACE_TRACKS_MAX; i++)
        made_track(m, engine, "another", false);
    struct trace_load *load = made_load(m, 0);
    assert_true(load->usable);
    const struct trace_model *model = load->report.model;
    assert_int_equal(model->engine_count, TRACE_ENGINES_MAX);
    assert_int_equal(model->queue_count, TRACE_QUEUES_MAX);
    assert_int_equal(model->track_count, TRACE_TRACKS_MAX);
    assert_int_equal(model->name_count, TRACE_NAMES_MAX);
    assert_true(model->lost.names >= 10);
    assert_true(model->lost.tracks > 0);
    char *text = load_text(load);
    assert_non_null(strstr(text, "tracks beyond those that there is room for"));
    assert_non_null(strstr(text, "mentions of names beyond those that there is room for"));
    free(text);
    show_all(load);
}

/* Waits in a ring, and a packet that waits for itself. */
TEST_AROUND(rings_of_waits, struct made, m, made_begin, made_finish, false)
{
    struct made_queue q[2];
    for (int i = 0; i < 2; i++)
        q[i] = made_queue(m, made_track(m, MADE_PROCESS, "engine", false), "queue");
    for (uint64_t i = 0; i < 2000; i++) {
        made_instant(m, &q[i % 2], i + 1, "wait", T(i + 1), 1000 + (i + 1) % 2000, 1000 + i);
        made_instant(m, &q[i % 2], 10000 + i, "present", T(i + 1), 5000 + i, 5000 + i);
    }
    struct trace_load *load = made_load(m, 0);
    assert_true(load->usable);
    show_all(load);
}

int main(int argc, char **argv)
{
    if (argc == 2)
        effort = atoi(argv[1]);
    return test_run(NULL);
}
