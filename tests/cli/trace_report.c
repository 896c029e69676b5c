/* SPDX-License-Identifier: MIT */
/* What the report says of timelines whose times were chosen by hand, number by number. */
#include <fcntl.h>

#include "../trace/trace_helper.h"
#include "trace_report_make.h"

#define T(us) (1000000000ull + (us)*1000ull)

/* Three engines. Twice: compute, whose signal graphics waits for, whose signal a present waits for.
 * Beside them a copy that is held until the CPU signals. */
static void two_frames(struct made *m, bool interned)
{
    made_begin(m, interned);
    uint64_t host = made_host(m);
    uint64_t engines[] = {made_track(m, MADE_PROCESS, "engine G", false),
                          made_track(m, MADE_PROCESS, "engine C", false),
                          made_track(m, MADE_PROCESS, "engine X", false)};
    struct made_queue g = made_queue(m, engines[0], "graphics (3D queue 0:0)");
    struct made_queue c = made_queue(m, engines[1], "compute");
    struct made_queue x = made_queue(m, engines[2], "copy");
#define PACKET(queue, ...) made_packet(m, &queue, &(struct made_packet){__VA_ARGS__})
    PACKET(x, 9, "execute", .queued_ns = T(80), .handed_over_ns = T(90), .command_buffers = 1);
    PACKET(c, 10, "execute", .queued_ns = T(100), .handed_over_ns = T(110));
    PACKET(g, 11, "execute", .queued_ns = T(120), .handed_over_ns = T(130));
    made_instant(m, &g, 12, "present", T(145), 0, 0);
    PACKET(x, 20, "execute", .queued_ns = T(600), .handed_over_ns = T(702), .held_ns = T(605),
           .fence = "upload", .value = 7);
    made_host_signal(m, host, T(700), "upload", 7, 909);
    PACKET(c, 23, "execute", .queued_ns = T(950), .handed_over_ns = T(960));
    PACKET(g, 24, "execute", .queued_ns = T(970), .handed_over_ns = T(980));
    made_instant(m, &g, 25, "present", T(990), 0, 0);
    made_run(m, &x, 9, T(300), T(600), 0, 0);
    made_run(m, &c, 10, T(150), T(400), 0, 901);
    made_run(m, &g, 11, T(410), T(900), 901, 902);
    made_unblocked(m, &g, 12, T(900), 902);
    made_run(m, &x, 20, T(710), T(800), 909, 0);
    made_run(m, &c, 23, T(1000), T(1500), 0, 903);
    made_run(m, &g, 24, T(1520), T(1900), 903, 904);
    made_unblocked(m, &g, 25, T(1900), 904);
}

/* Of a whole file. */
static struct trace_load *load_file(const char *path)
{
    int fd = open(path, O_RDONLY);
    assert_true(fd >= 0);
    struct trace_load *load = trace_load_create();
    trace_load_run(load, path, fd, 0);
    close(fd);
    assert_true(load->usable);
    return load;
}

static const struct trace_wait_row *row_of(const struct trace_load *load, const char *queue,
                                           const char *cause, const char *fence)
{
    const struct trace_model *m = load->report.model;
    for (uint32_t i = 0; i < m->wait_count; i++)
        if (strcmp(m->queues[m->waits[i].queue].name, queue) == 0 &&
            strcmp(trace_cause_name(m, m->waits[i].cause), cause) == 0 &&
            strcmp(trace_name(m, m->waits[i].fence), fence) == 0)
            return &m->waits[i];
    return NULL;
}

TEST(busy_and_overlap)
{
    struct made made;
    two_frames(&made, false);
    struct trace_load *load = made_load(&made, 0);
    assert_true(load->usable && load->intact);
    assert_string_equal(load->message, "");
    const struct trace_model *m = load->report.model;
    assert_int_equal(m->engine_count, 3);
    assert_int_equal(m->queue_count, 3);
    assert_string_equal(m->engines[0].name, "engine G");
    assert_string_equal(m->program, "made <by> hand & 'so'");
    assert_string_equal(m->device, "Paper GPU");
    static const uint64_t busy[] = {870000, 750000, 390000};
    static const uint64_t shared[] = {280000, 100000, 380000};
    for (int i = 0; i < 3; i++) {
        assert_int_equal(m->busy.engines[i].busy, busy[i]);
        assert_int_equal(m->busy.queues[i].busy, busy[i]);
        assert_int_equal(m->busy.engines[i].shared, shared[i]);
        assert_int_equal(m->engines[i].timed, 2);
        assert_int_equal(m->engines[i].packets, 2);
    }
    assert_int_equal(m->busy.any, 1630000);
    assert_int_equal(m->busy.several_engines, 380000);
    assert_int_equal(m->first_ns, T(80));
    assert_int_equal(m->last_ns, T(1900));
    assert_int_equal(m->queues[0].presents.count, 2);
    assert_int_equal(m->queues[0].submissions, 2);
    assert_int_equal(m->queues[0].executed, 2);
    assert_int_equal(m->host_signals, 1);
    trace_load_destroy(load);
    made_finish(&made);
}

TEST_AROUND(waits_and_who_ended_them, struct made, made, two_frames, made_finish, false)
{
    struct trace_load *load = made_load(made, 0);
    /* Packet 11 could have begun when it was queued, packet 24 too, after 11 was done. */
    const struct trace_wait_row *row = row_of(load, "graphics (3D queue 0:0)", "compute", "");
    assert_non_null(row);
    assert_int_equal(row->count, 2);
    assert_int_equal(row->lost_ns, 280000 + 530000);
    assert_int_equal(row->longest_ns, 530000);
    assert_int_equal(row->longest_id, 24);
    assert_int_equal(row->longest_released_ns, T(1500));
    /* The copy: released by the CPU, when all before it was done. */
    row = row_of(load, "copy", "the CPU", "upload");
    assert_non_null(row);
    assert_int_equal(row->count, 1);
    assert_int_equal(row->lost_ns, 100000);
    /* What presents waited for is told of presents. */
    assert_int_equal(load->report.model->wait_count, 2);
    const struct trace_wait_row *rows[TRACE_WAITS_MAX];
    assert_int_equal(trace_waits_sort(load->report.model, rows), 2);
    assert_true(rows[0]->lost_ns > rows[1]->lost_ns);
    trace_load_destroy(load);
}

TEST_AROUND(holds, struct made, made, two_frames, made_finish, false)
{
    struct trace_load *load = made_load(made, 0);
    const struct trace_queue *copy = &load->report.model->queues[2];
    assert_string_equal(copy->name, "copy");
    assert_int_equal(copy->held, 1);
    assert_int_equal(copy->held_ns, 97000);
    assert_int_equal(copy->held_longest_ns, 97000);
    assert_int_equal(copy->held_longest_id, 20);
    char label[TRACE_FENCE_SIZE];
    assert_string_equal(trace_fence_label(load->report.model, copy->held_longest.on, label),
                        "upload = 7");
    assert_int_equal(load->report.model->queues[0].held, 0);
    trace_load_destroy(load);
}

struct expected_hop {
    enum trace_hop_kind kind;
    enum trace_link link;
    uint64_t packet;
    uint64_t begin_us;
    uint64_t end_us;
};

static void path_is(const struct trace_load *load, const struct expected_hop *hops, uint32_t count)
{
    assert_true(load->report.has_frame);
    const struct trace_path *path = load->report.path;
    assert_int_equal(path->count, count);
    assert_false(path->cut);
    for (uint32_t i = 0; i < count; i++) {
        const struct trace_hop *hop = &path->hops[i];
        assert_int_equal(hop->kind, hops[i].kind);
        assert_int_equal(hop->link, hops[i].link);
        assert_int_equal(trace_packet_at(load->report.detail, hop->packet)->id, hops[i].packet);
        assert_int_equal(hop->begin_ns, T(hops[i].begin_us));
        assert_int_equal(hop->end_ns, T(hops[i].end_us));
    }
}

TEST_AROUND(critical_path_of_a_frame, struct made, made, two_frames, made_finish, false)
{
    struct trace_load *load = made_load(made, 2);
    assert_true(load->report.frames.by_present);
    assert_int_equal(load->report.frames.count, 2);
    assert_int_equal(load->report.frame.begin_ns, T(900));
    assert_int_equal(load->report.frame.end_ns, T(1900));
    static const struct expected_hop hops[] = {
        {TRACE_HOP_EXECUTION, TRACE_LINK_SIGNAL, 24, 1520, 1900},
        {TRACE_HOP_START, TRACE_LINK_SIGNAL, 24, 1500, 1520},
        {TRACE_HOP_EXECUTION, TRACE_LINK_CPU, 23, 1000, 1500},
        {TRACE_HOP_START, TRACE_LINK_CPU, 23, 960, 1000},
        {TRACE_HOP_QUEUED, TRACE_LINK_CPU, 23, 950, 960},
        {TRACE_HOP_CPU, TRACE_LINK_CPU, 23, 900, 950},
    };
    path_is(load, hops, sizeof(hops) / sizeof(hops[0]));
    char *text = load_text(load);
    assert_non_null(strstr(text, "38.0 %    380.0 µs  execute 24 of graphics (3D queue 0:0) runs"));
    assert_non_null(
        strstr(text, "GPU work 88.0 %, starting 6.0 %, software queue 1.0 %, CPU 5.0 %"));
    free(text);
    trace_load_destroy(load);
}

/* A packet that is held starts after the CPU's signal, and the path ends there. */
MADE_TEST(critical_path_to_the_cpus_signal)
{
    uint64_t host = made_host(m);
    struct made_queue q = made_queue(m, made_track(m, MADE_PROCESS, "engine", false), "queue");
    PACKET(q, 1, "execute", .queued_ns = T(10), .handed_over_ns = T(20));
    PACKET(q, 2, "execute", .queued_ns = T(30), .handed_over_ns = T(205), .held_ns = T(31),
           .fence = "go", .value = 1);
    made_host_signal(m, host, T(200), "go", 1, 77);
    made_run(m, &q, 1, T(50), T(100), 0, 0);
    made_run(m, &q, 2, T(210), T(300), 77, 0);
    struct trace_load *load = made_load(m, 2);
    static const struct expected_hop hops[] = {
        {TRACE_HOP_EXECUTION, TRACE_LINK_CPU, 2, 210, 300},
        {TRACE_HOP_START, TRACE_LINK_CPU, 2, 205, 210},
        {TRACE_HOP_START, TRACE_LINK_CPU_SIGNAL, 2, 200, 205},
        {TRACE_HOP_CPU, TRACE_LINK_CPU_SIGNAL, 2, 100, 200},
    };
    path_is(load, hops, sizeof(hops) / sizeof(hops[0]));
    char *text = load_text(load);
    assert_non_null(strstr(text, "the CPU, until it signals go = 1"));
    free(text);
    trace_load_destroy(load);
}

/* An arrow from a signal that came when the packet was over has released nothing. */
MADE_TEST(a_signal_that_comes_afterwards_releases_nothing)
{
    struct made_queue q = made_queue(m, made_track(m, MADE_PROCESS, "engine", false), "queue");
    struct made_queue late = made_queue(m, made_track(m, MADE_PROCESS, "engine", false), "late");
    PACKET(late, 1, "execute", .queued_ns = T(0), .handed_over_ns = T(1));
    PACKET(q, 2, "execute", .queued_ns = T(10), .handed_over_ns = T(20));
    made_run(m, &late, 1, T(5), T(1000000), 0, 41);
    made_run(m, &q, 2, T(30), T(100), 41, 0);
    struct trace_load *load = made_load(m, 0);
    char *text = load_text(load);
    assert_non_null(strstr(text, "waits: none"));
    free(text);
    trace_load_destroy(load);
}

static void assert_characters(char *text)
{
    char *copy = malloc(strlen(text) + 1);
    trace_span_copy((struct trace_span){(const uint8_t *)text, strlen(text)}, copy,
                    strlen(text) + 1);
    for (size_t i = 0; text[i]; i++)
        assert_true(copy[i] == text[i] || (uint8_t)text[i] < ' ');
    free(copy);
    free(text);
}

/* Names that are too long for a line are cut between characters. */
MADE_TEST(names_are_cut_between_characters)
{
    char name[2 * TRACE_NAME_SIZE] = "";
    for (int shift = 0; shift < 3; shift++) {
        memset(name, 'x', 3);
        name[shift] = 0;
        while (strlen(name) + 4 < sizeof(name))
            strcat(name, "\u5f71");
        struct made_queue q = made_queue(m, made_track(m, MADE_PROCESS, "engine", false), name);
        for (uint64_t i = 1; i < 6; i++) {
            uint64_t id = 100000 + 10 * (uint64_t)shift + i, t = 1000 * (uint64_t)shift + 100 * i;
            PACKET(q, id, i < 5 ? "execute" : "present", .caption = name, .queued_ns = T(t),
                   .handed_over_ns = T(t + 50));
            if (i < 5)
                made_run(m, &q, id, T(t + 52), T(t + 60 + i), 0, 0);
            else
                made_instant(m, &q, id, "present", T(t + 50), 0, 0);
        }
    }
    struct trace_load *load = made_load(m, 0);
    assert_true(load->report.has_frame);
    assert_characters(load_text(load));
    assert_characters(load_json(load));
    assert_characters(load_svg(load));
    trace_load_destroy(load);
}

/* Presents wait for a semaphore, or for what was submitted before them; one call at most in so far
 * as that ends while it lasts. */
MADE_TEST(presents_and_what_they_waited_for)
{
    struct made_queue q = made_queue(m, made_track(m, MADE_PROCESS, "engine", false), "queue");
    static const struct {
        uint64_t work_end, called, returned;
        bool semaphore;
    } frames[] = {{300, 200, 500, true}, {1300, 1200, 1900, false}, {2100, 2200, 2250, false}};
    for (uint64_t f = 0; f < 3; f++) {
        PACKET(q, 2 * f + 1, "execute", .queued_ns = T(1000 * f + 10),
               .handed_over_ns = T(1000 * f + 20));
        PACKET(q, 2 * f + 2, "present", .queued_ns = T(frames[f].called),
               .handed_over_ns = T(frames[f].returned));
        made_instant(m, &q, 2 * f + 2, "present", T(frames[f].returned), 0, 0);
        made_run(m, &q, 2 * f + 1, T(1000 * f + 40), T(frames[f].work_end), 0,
                 frames[f].semaphore ? 31 + f : 0);
        if (frames[f].semaphore)
            made_unblocked(m, &q, 2 * f + 2, T(frames[f].work_end), 31 + f);
    }
    struct trace_load *load = made_load(m, 2);
    const struct trace_presents *presents = &load->report.model->queues[0].presents;
    assert_int_equal(presents->count, 3);
    assert_int_equal(presents->called_ns, 1000 * (300 + 700 + 50));
    assert_int_equal(presents->waiting_ns, 1000 * (100 + 100));
    assert_int_equal(presents->longest_ns, 700000);
    assert_int_equal(presents->longest_id, 4);
    assert_int_equal(presents->cause, 0);
    assert_int_equal(load->report.model->wait_count, 0);
    static const struct expected_hop hops[] = {
        {TRACE_HOP_PRESENT, TRACE_LINK_SIGNAL, 4, 1300, 1900},
        {TRACE_HOP_EXECUTION, TRACE_LINK_CPU, 3, 1040, 1300},
        {TRACE_HOP_START, TRACE_LINK_CPU, 3, 1020, 1040},
        {TRACE_HOP_QUEUED, TRACE_LINK_CPU, 3, 1010, 1020},
        {TRACE_HOP_CPU, TRACE_LINK_CPU, 3, 500, 1010},
    };
    path_is(load, hops, sizeof(hops) / sizeof(hops[0]));
    char *text = load_text(load);
    assert_non_null(strstr(text, "700.0 µs  4       queue\n"));
    assert_non_null(strstr(text, "presenting 42.9 %"));
    assert_non_null(strstr(text, "waits: none"));
    free(text);
    trace_load_destroy(load);
}

/* A present whose queue has only passed on a signal waited for the queue that did the work. */
MADE_TEST(present_of_another_queues_work)
{
    uint64_t engine = made_track(m, MADE_PROCESS, "engine", false);
    struct made_queue work = made_queue(m, engine, "work"), show = made_queue(m, engine, "show");
    PACKET(work, 1, "execute", .queued_ns = T(10), .handed_over_ns = T(20), .command_buffers = 1);
    PACKET(show, 2, "execute", .queued_ns = T(30), .handed_over_ns = T(40));
    made_event(m, &(struct made_event){
                      .time_ns = T(40),
                      .track = show.hardware,
                      .type = 3,
                      .name = "execute",
                      .flow = 42,
                      .notes = {{.name = "packet", .number = 2},
                                {.name = "without GPU times", .text = "no command buffers"}}});
    PACKET(show, 3, "present", .queued_ns = T(50), .handed_over_ns = T(900));
    made_instant(m, &show, 3, "present", T(900), 42, 0);
    made_run(m, &work, 1, T(25), T(800), 0, 41);
    made_unblocked(m, &show, 2, T(800), 41);
    struct trace_load *load = made_load(m, 0);
    const struct trace_queue *queue = &load->report.model->queues[1];
    assert_string_equal(queue->name, "show");
    assert_int_equal(queue->presents.waiting_ns, 750000);
    assert_int_equal(queue->presents.cause, 0);
    assert_int_equal(queue->empty, 1);
    char *text = load_text(load);
    assert_null(strstr(text, "unknown"));
    free(text);
    trace_load_destroy(load);
}

/* A submission without GPU times has a reason, and isn't missed if there is nothing to time. */
MADE_TEST(untimed_and_why)
{
    struct made_queue q = made_queue(m, made_track(m, MADE_PROCESS, "engine", false), "queue");
    static const char *const why[] = {"no command buffers", "no command buffers",
                                      "it has performance queries", NULL};
    for (uint64_t i = 0; i < 4; i++) {
        PACKET(q, i + 1, "execute", .queued_ns = T(10 * i + 1), .handed_over_ns = T(10 * i + 2));
        made_event(m, &(struct made_event){.time_ns = T(10 * i + 2),
                                           .track = q.hardware,
                                           .type = 3,
                                           .name = "execute",
                                           .notes = {{.name = "packet", .number = i + 1},
                                                     {.name = why[i] ? "without GPU times" : NULL,
                                                      .text = why[i]}}});
    }
    struct trace_load *load = made_load(m, 0);
    char *text = load_text(load), *json = load_json(load);
    assert_non_null(strstr(text, "without command buffers: 2; "));
    assert_non_null(
        strstr(text, "    1 submission without GPU times: it has performance queries\n"));
    assert_non_null(strstr(text, "    1 submission without GPU times\n"));
    assert_null(strstr(text, "times: no command"));
    assert_non_null(strstr(json, "{\"count\": 2, \"why\": \"no command buffers\"}"));
    free(text);
    free(json);
    trace_load_destroy(load);
}

/* The call of a present takes until the GPU is done: the GPU is what the frame waited for. */
MADE_TEST(critical_path_through_a_present)
{
    struct made_queue q = made_queue(m, made_track(m, MADE_PROCESS, "engine", false), "queue");
    for (uint64_t f = 0; f < 2; f++) {
        uint64_t t = 1000 * f;
        PACKET(q, 2 * f + 1, "execute", .queued_ns = T(t + 10), .handed_over_ns = T(t + 20));
        PACKET(q, 2 * f + 2, "present", .queued_ns = T(t + 30), .handed_over_ns = T(t + 500));
        made_instant(m, &q, 2 * f + 2, "present", T(t + 500), 0, 0);
        made_run(m, &q, 2 * f + 1, T(t + 40), T(t + 400), 0, 31 + f);
        made_unblocked(m, &q, 2 * f + 2, T(t + 400), 31 + f);
    }
    struct trace_load *load = made_load(m, 2);
    static const struct expected_hop hops[] = {
        {TRACE_HOP_PRESENT, TRACE_LINK_SIGNAL, 4, 1400, 1500},
        {TRACE_HOP_EXECUTION, TRACE_LINK_CPU, 3, 1040, 1400},
        {TRACE_HOP_START, TRACE_LINK_CPU, 3, 1020, 1040},
        {TRACE_HOP_QUEUED, TRACE_LINK_CPU, 3, 1010, 1020},
        {TRACE_HOP_CPU, TRACE_LINK_CPU, 3, 500, 1010},
    };
    path_is(load, hops, sizeof(hops) / sizeof(hops[0]));
    char *text = load_text(load);
    assert_non_null(
        strstr(text, "present 4 of queue is in the driver, which waited for execute 3 of queue"));
    free(text);
    trace_load_destroy(load);
}

/* The path goes along the engine where another queue's packet kept it busy, and along the queue. */
MADE_TEST(critical_path_along_the_engine)
{
    uint64_t engine = made_track(m, MADE_PROCESS, "engine", false);
    struct made_queue a = made_queue(m, engine, "a");
    struct made_queue b = made_queue(m, engine, "b");
    PACKET(a, 1, "execute", .queued_ns = T(10), .handed_over_ns = T(11));
    PACKET(b, 2, "execute", .queued_ns = T(12), .handed_over_ns = T(13));
    PACKET(a, 3, "execute", .queued_ns = T(14), .handed_over_ns = T(15), .lane = 1);
    /* Handed over just when the packet before it ended: that is the more telling. */
    PACKET(a, 4, "execute", .queued_ns = T(16), .handed_over_ns = T(300), .lane = 2);
    made_run(m, &a, 1, T(20), T(100), 0, 0);
    made_run(m, &b, 2, T(100), T(150), 0, 0);
    made_run(m, &a, 3, T(150), T(300), 0, 0);
    made_run(m, &a, 4, T(301), T(400), 0, 0);
    /* The frames are those of 'a', which was busy longest: 1, 3 and 4 end one each. */
    struct trace_load *load = made_load(m, 2);
    assert_false(load->report.frames.by_present);
    assert_int_equal(load->report.frames.count, 3);
    static const struct expected_hop second[] = {
        {TRACE_HOP_EXECUTION, TRACE_LINK_ENGINE, 3, 150, 300},
        {TRACE_HOP_EXECUTION, TRACE_LINK_ENGINE, 2, 100, 150},
    };
    assert_int_equal(load->report.frame.begin_ns, T(100));
    path_is(load, second, 2);
    trace_load_destroy(load);
    load = made_load(m, 3);
    static const struct expected_hop third[] = {
        {TRACE_HOP_EXECUTION, TRACE_LINK_QUEUE, 4, 301, 400},
        {TRACE_HOP_START, TRACE_LINK_QUEUE, 4, 300, 301},
    };
    path_is(load, third, 2);
    trace_load_destroy(load);
}

/* Fence operations as boxes of their own, as the GPU's log tells them. */
MADE_TEST(fence_operations)
{
    struct made_queue g = made_queue(m, made_track(m, MADE_PROCESS, "e 0", false), "graphics");
    struct made_queue c = made_queue(m, made_track(m, MADE_PROCESS, "e 1", false), "compute");
    const struct made_note wait[] = {
        {"packet", NULL, 30}, {"fence", "frame", 0}, {"value", NULL, 5}};
    made_event(m, &(struct made_event){.time_ns = T(100),
                                       .track = g.fences[0],
                                       .type = 1,
                                       .name = "wait frame",
                                       .notes = {wait[0], wait[1], wait[2]}});
    PACKET(c, 31, "execute", "simulate", .queued_ns = T(105), .handed_over_ns = T(106));
    PACKET(g, 33, "execute", "draw", .queued_ns = T(110), .handed_over_ns = T(112));
    made_event(m, &(struct made_event){.time_ns = T(120),
                                       .track = c.fences[1],
                                       .type = 1,
                                       .name = "signal frame",
                                       .notes = {{"packet", NULL, 32}, wait[1], wait[2]}});
    made_run(m, &c, 31, T(200), T(450), 0, 0);
    made_event(m,
               &(struct made_event){
                   .time_ns = T(455), .track = c.fences[1], .type = 2, .flow = 50, .late = true});
    made_event(m, &(struct made_event){.time_ns = T(300), /* the GPU came to it: passed over */
                                       .track = g.fences[0],
                                       .type = 1,
                                       .name = "blocked",
                                       .late = true});
    made_event(
        m, &(struct made_event){.time_ns = T(480), .track = g.fences[0], .type = 2, .late = true});
    made_event(
        m,
        &(struct made_event){
            .time_ns = T(480), .track = g.fences[0], .type = 2, .terminating = 50, .late = true});
    made_run(m, &g, 33, T(490), T(600), 0, 0);
    made_event(m, &(struct made_event){.time_ns = T(610),
                                       .track = c.fences[0],
                                       .type = 3,
                                       .name = "lost log entries",
                                       .notes = {{"count", NULL, 12}},
                                       .late = true});
    struct trace_load *load = made_load(m, 0);
    const struct trace_wait_row *row = row_of(load, "graphics", "compute", "frame");
    assert_non_null(row);
    assert_int_equal(row->count, 1);
    assert_int_equal(row->lost_ns, 380000);
    assert_int_equal(row->longest_id, 30);
    const struct trace_model *model = load->report.model;
    assert_int_equal(model->operation_count, 2);
    assert_true(model->operations[0].wait);
    assert_int_equal(model->operations[0].queued_ns, T(100));
    assert_int_equal(model->operations[0].done_ns, T(480));
    assert_false(model->operations[1].wait);
    assert_int_equal(model->operations[1].done_ns, T(455));
    assert_int_equal(model->lost.log_entries, 12);
    assert_int_equal(model->queues[0].fence_packets, 1);
    char *text = load_text(load);
    assert_non_null(strstr(text, "12 fence log entries overwritten unread"));
    assert_non_null(strstr(text, "execute 31 'simulate' of compute runs"));
    free(text);
    trace_load_destroy(load);
}

/* Where the trace has no arrow, the signal that must have ended the wait is found by its fence: the
 * first that is high enough, of those since the wait was queued. */
MADE_TEST(waits_without_an_arrow)
{
    uint64_t host = made_host(m);
    struct made_queue g = made_queue(m, made_track(m, MADE_PROCESS, "e 0", false), "graphics");
    struct made_queue c = made_queue(m, made_track(m, MADE_PROCESS, "e 1", false), "compute");
    made_host_signal(m, host, T(90), "frame", 3, 0); /* too low */
    PACKET(g, 1, "wait", .queued_ns = T(100), .handed_over_ns = T(402), .held_ns = T(101),
           .fence = "frame", .value = 5);
    PACKET(g, 2, "execute", .queued_ns = T(105), .handed_over_ns = T(403), .lane = 1);
    static const struct {
        uint64_t value;
        uint64_t done_us;
    } signals[] = {{4, 200}, {6, 400}, {7, 401}, {8, 900}};
    for (uint64_t i = 0; i < 4; i++) {
        made_event(m, &(struct made_event){.time_ns = T(110 + i),
                                           .track = c.fences[i],
                                           .type = 1,
                                           .name = "signal frame",
                                           .notes = {{"packet", NULL, 10 + i},
                                                     {"fence", "frame", 0},
                                                     {"value", NULL, signals[i].value}}});
        made_event(m, &(struct made_event){.time_ns = T(signals[i].done_us),
                                           .track = c.fences[i],
                                           .type = 2,
                                           .late = true});
    }
    made_run(m, &g, 2, T(410), T(500), 0, 0);
    struct trace_load *load = made_load(m, 0);
    const struct trace_wait_row *row = row_of(load, "graphics", "compute", "frame");
    assert_non_null(row);
    assert_int_equal(row->count, 1);
    assert_int_equal(row->lost_ns, 300000);
    struct trace_cause cause;
    assert_true(
        trace_packet_cause(load->report.model, trace_packet_at(load->report.model, 0), &cause));
    assert_int_equal(cause.fence.value, 6);
    assert_int_equal(cause.packet->id, 11);
    trace_load_destroy(load);
}

/* An end that was found only when the log was read is no end: the packet before the signal
 * tells. */
MADE_TEST(ends_found_late)
{
    struct made_queue g = made_queue(m, made_track(m, MADE_PROCESS, "e 0", false), "graphics");
    struct made_queue c = made_queue(m, made_track(m, MADE_PROCESS, "e 1", false), "compute");
    PACKET(c, 1, "execute", .queued_ns = T(10), .handed_over_ns = T(11));
    PACKET(c, 2, "signal", .queued_ns = T(12), .handed_over_ns = T(13), .lane = 1);
    PACKET(g, 3, "wait", .queued_ns = T(14), .handed_over_ns = T(15));
    PACKET(g, 4, "execute", .queued_ns = T(16), .handed_over_ns = T(17), .lane = 1);
    const struct made_queue *queues[] = {&c, &g};
    for (uint64_t i = 0; i < 2; i++) {
        uint64_t track = queues[i]->fences[0];
        made_event(m,
                   &(struct made_event){
                       .time_ns = T(12 + 2 * i),
                       .track = track,
                       .type = 1,
                       .name = i ? "wait x" : "signal x",
                       .notes = {{"packet", NULL, 2 + i}, {"fence", "x", 0}, {"value", NULL, 1}}});
        made_event(m, &(struct made_event){.time_ns = T(900),
                                           .track = track,
                                           .type = 2,
                                           .flow = i ? 0 : 5,
                                           .terminating = i ? 5 : 0,
                                           .notes = {{"ended by", "entry without time", 0}},
                                           .late = true});
    }
    made_run(m, &c, 1, T(20), T(300), 0, 0);
    made_run(m, &g, 4, T(305), T(400), 0, 0);
    struct trace_load *load = made_load(m, 1);
    const struct trace_wait_row *row = row_of(load, "graphics", "compute", "x");
    assert_non_null(row);
    assert_int_equal(row->lost_ns, 286000);
    struct trace_model *model = load->report.model;
    for (int i = 0; i < 2; i++)
        assert_int_equal(trace_operation_done(model, &model->operations[i]), T(300));
    assert_int_equal(model->lost.late_ends, 2);
    char *text = load_text(load);
    assert_non_null(strstr(text, "2 ends of fence operations known only from"));
    free(text);
    trace_load_destroy(load);
}

/* In a trace with others', even if their tracks have the names of ours. */
TEST_AROUND(among_others_tracks, struct made, made, two_frames, made_finish, true)
{
    uint64_t process = made_track(made, 0, "browser", true);
    struct made_queue q = made_queue(made, made_track(made, process, "thread", false), "tab");
    made_run(made, &q, 1, T(1), T(5000), 0, 0);
    struct trace_load *load = made_load(made, 0);
    assert_true(load->usable && load->intact);
    assert_int_equal(load->report.model->engine_count, 3);
    assert_int_equal(load->report.model->queue_count, 3);
    assert_int_equal(load->report.model->last_ns, T(1900));
    trace_load_destroy(load);
}

/* Of several signals that a packet waits for, the last releases it. */
TEST(the_last_of_several_signals)
{
    for (int turned = 0; turned < 2; turned++) {
        struct made m_;
        struct made *m = &m_;
        made_begin(m, false);
        struct made_queue q[3];
        static const char *const names[] = {"first", "second", "waits"};
        for (int i = 0; i < 3; i++)
            q[i] = made_queue(m, made_track(m, MADE_PROCESS, names[i], false), names[i]);
        for (uint64_t i = 0; i < 3; i++)
            PACKET(q[i], i + 1, "execute", .queued_ns = T(i + 1), .handed_over_ns = T(i + 11));
        made_run(m, &q[0], 1, T(20), T(100), 0, 51);
        made_run(m, &q[1], 2, T(20), T(200), 0, 52);
        made_unblocked(m, &q[2], 3, T(200), turned ? 51 : 52);
        made_run(m, &q[2], 3, T(210), T(900), turned ? 52 : 51, 0);
        struct trace_load *load = made_load(m, 0);
        assert_int_equal(load->report.model->wait_count, 1);
        const struct trace_wait_row *row = row_of(load, "waits", "second", "");
        assert_non_null(row);
        assert_int_equal(row->lost_ns, 197000);
        trace_load_destroy(load);
        made_finish(m);
    }
}

/* GPU times that come when their packet has left the window count as such, not as new packets. */
MADE_TEST(times_that_come_too_late)
{
    struct made_queue q = made_queue(m, made_track(m, MADE_PROCESS, "e", false), "queue");
    for (uint64_t i = 1; i <= 2 * TRACE_WINDOW; i++)
        PACKET(q, i, "execute", .queued_ns = T(10 * i), .handed_over_ns = T(10 * i + 1));
    made_run(m, &q, 1, T(12), T(13), 0, 0);
    made_run(m, &q, 2 * TRACE_WINDOW, T(20 * TRACE_WINDOW + 5), T(20 * TRACE_WINDOW + 9), 0, 0);
    struct trace_load *load = made_load(m, 0);
    const struct trace_model *model = load->report.model;
    assert_int_equal(model->queues[0].submissions, 2 * TRACE_WINDOW);
    assert_int_equal(model->queues[0].executed, 1);
    assert_int_equal(model->lost.late_packets, 1);
    char *text = load_text(load);
    assert_non_null(strstr(text, "1 event about packets that had left the window"));
    free(text);
    trace_load_destroy(load);
}

/* Names said once: the first ones stay known however many come after them. */
TEST(names_without_end)
{
    struct trace_decoder decoder = {0};
    struct trace_item *item = malloc(sizeof(*item));
    assert_non_null(item);
    char name[32];
    for (uint64_t said = 1; said <= 20000; said++) {
        /* The name of this round, and an event with the first or the latest name. */
        struct bf_protobuf pb;
        bf_protobuf_init_growable(&pb);
        bf_protobuf_varint(&pb, 10, 1);
        size_t event = bf_protobuf_begin(&pb, 11);
        bf_protobuf_varint(&pb, 9, 3);
        uint64_t used = said % 2 ? said : 1 + said % 7;
        bf_protobuf_varint(&pb, 10, used);
        bf_protobuf_end(&pb, event);
        size_t data = bf_protobuf_begin(&pb, 12);
        size_t entry = bf_protobuf_begin(&pb, 2);
        bf_protobuf_varint(&pb, 1, said);
        snprintf(name, sizeof(name), "name %llu", (unsigned long long)said);
        bf_protobuf_string(&pb, 2, name);
        bf_protobuf_end(&pb, entry);
        bf_protobuf_end(&pb, data);
        assert_true(trace_item_decode(&decoder, (struct trace_span){pb.data, pb.size}, item));
        if (used <= said) {
            snprintf(name, sizeof(name), "name %llu", (unsigned long long)used);
            assert_true(trace_span_is(item->name, name));
        }
        bf_protobuf_finish(&pb);
    }
    free(item);
    trace_decoder_finish(&decoder);
}

/* The same run in both ways of writing: the same report. */
TEST(both_formats_say_the_same)
{
    struct made made[2];
    char *json[2];
    for (int i = 0; i < 2; i++) {
        two_frames(&made[i], i == 1);
        struct trace_load *load = made_load(&made[i], 2);
        load->report.bytes = 0; /* how much it took is what differs */
        json[i] = load_json(load);
        trace_load_destroy(load);
    }
    assert_string_equal(json[0], json[1]);
    assert_int_not_equal(made[0].pb.size, made[1].pb.size);
    for (int i = 0; i < 2; i++) {
        free(json[i]);
        made_finish(&made[i]);
    }
}

/* Without presents a frame is as many submissions as it takes until they look alike again. */
TEST(frames_of_several_submissions)
{
    struct made m_;
    struct made *m = &m_;
    made_begin(m, false);
    struct made_queue q = made_queue(m, made_track(m, MADE_PROCESS, "e", false), "queue");
    static const uint32_t buffers[] = {4, 1, 1};
    for (uint64_t i = 0; i < 30; i++) {
        PACKET(q, i + 1, "execute", .queued_ns = T(100 * i + 1), .handed_over_ns = T(100 * i + 2),
               .command_buffers = buffers[i % 3]);
        made_run(m, &q, i + 1, T(100 * i + 10), T(100 * i + 90), 0, 0);
    }
    struct trace_load *load = made_load(m, 0);
    assert_int_equal(load->report.frames.period, 3);
    assert_int_equal(load->report.frames.count, 10);
    assert_int_equal(load->report.frame.number, 9); /* the last with a whole one after it */
    assert_int_equal(load->report.frame.begin_ns, T(2390));
    assert_int_equal(load->report.frame.end_ns, T(2690));
    trace_load_destroy(load);
    load = made_load(m, 11);
    assert_false(load->usable);
    assert_string_equal(load->message, "'made.pftrace' has 10 frames, not 11");
    trace_load_destroy(load);
    made_finish(m);
}

/* A frame that has left the window is read for a second time. */
MADE_TEST(frame_long_ago)
{
    struct made_queue q = made_queue(m, made_track(m, MADE_PROCESS, "e", false), "queue");
    for (uint64_t i = 0; i < 3 * TRACE_WINDOW; i++) {
        PACKET(q, i + 1, "execute", .queued_ns = T(100 * i + 1), .handed_over_ns = T(100 * i + 2));
        made_run(m, &q, i + 1, T(100 * i + 10), T(100 * i + 90), 0, 0);
    }
    struct trace_load *load = made_load(m, 10);
    assert_true(load->usable);
    assert_ptr_not_equal(load->report.detail, load->report.model);
    assert_int_equal(load->report.frame.begin_ns, T(890));
    assert_int_equal(load->report.frame.end_ns, T(990));
    /* The sums are those of the whole file all the same. */
    assert_int_equal(load->report.model->queues[0].submissions, 3 * TRACE_WINDOW);
    assert_int_equal(load->report.model->busy.engines[0].busy, 3ull * TRACE_WINDOW * 80000);
    assert_int_equal(load->report.path->count, 4);
    trace_load_destroy(load);
}

/* What the runtime itself writes. */
TEST(the_runtimes_own_timeline)
{
    char folder[64];
    folder_make(folder);
    char path[128];
    snprintf(path, sizeof(path), "%s", in_folder(folder, "run.pftrace"));
    struct bf_trace *trace = trace_open(path);
    uint32_t engine = bf_trace_add_engine(trace, "graphics 0");
    uint32_t graphics = bf_trace_add_queue(trace, engine, "direct");
    uint32_t copy = bf_trace_add_queue(trace, bf_trace_add_engine(trace, "copy 0"), "copy");
    bf_trace_name_semaphore(trace, 0x50, "frame");
    struct bf_trace_packet late = queued(trace, graphics);
    bf_trace_packet_held(trace, &late, SYNC(0x50, 17));
    struct bf_trace_packet first = queued(trace, copy);
    handed_over(trace, &first, NOTHING, SYNC(0x50, 17));
    handed_over(trace, &late, SYNC(0x50, 17), NOTHING);
    uint64_t t = late.handed_over_ns;
    bf_trace_packet_executed(trace, &first, t + 10, t + 500);
    bf_trace_packet_executed(trace, &late, t + 510, t + 900);
    /* Belfry's own work is in no figure but its own. */
    struct bf_trace_packet own = queued(trace, bf_trace_own_queue(trace, engine));
    handed_over(trace, &own, NOTHING, NOTHING);
    bf_trace_packet_executed(trace, &own, t + 600, t + 60000000);
    bf_trace_mark_uncalibrated(trace);
    bf_trace_destroy(trace);

    struct trace_load *load = load_file(path);
    const struct trace_model *m = load->report.model;
    assert_string_equal(m->program, "synthetic");
    assert_int_equal(m->queue_count, 2);
    assert_string_equal(m->queues[0].name, "direct");
    assert_string_equal(m->engines[m->queues[0].engine].name, "graphics 0");
    assert_int_equal(m->busy.queues[0].busy, 390);
    assert_int_equal(m->busy.queues[1].busy, 490);
    assert_int_equal(m->queues[0].held, 1);
    assert_int_equal(m->queues[0].held_ns, late.handed_over_ns - late.held_since_ns);
    const struct trace_wait_row *row = row_of(load, "direct", "copy", "frame");
    assert_non_null(row);
    assert_int_equal(row->lost_ns, t + 500 - late.queued_ns);
    assert_int_equal(m->own_submissions, 1);
    assert_int_equal(m->own_ns, 60000000 - 600);
    assert_true(m->last_ns >= t + 900); /* when the trace ended */
    assert_true(m->uncalibrated);
    char *text = load_text(load);
    assert_non_null(strstr(text, "Belfry's own work, in no figure here: 1 submission, 60.00 ms"));
    assert_non_null(strstr(text, "GPU times are uncalibrated"));
    free(text);
    trace_load_destroy(load);
    unlink(path);
    rmdir(folder);
}

#define DEVICES 200

/* Devices that a process creates one after the other: the last one is there as the first one. */
TEST(devices_that_come_and_go)
{
    char folder[64];
    folder_make(folder);
    char path[128];
    snprintf(path, sizeof(path), "%s", in_folder(folder, "run.pftrace"));
    for (int i = 0; i < DEVICES; i++) {
        struct bf_trace *trace = trace_open(path);
        uint32_t queue = bf_trace_add_queue(trace, bf_trace_add_engine(trace, "engine"), "queue");
        struct bf_trace_packet p = queued(trace, queue);
        if (i == DEVICES - 1) {
            bf_trace_packet_held(trace, &p, SYNC(0x50, 17));
        } else {
            handed_over(trace, &p, NOTHING, NOTHING);
            bf_trace_packet_executed(trace, &p, p.handed_over_ns, p.handed_over_ns + 1000);
        }
        bf_trace_destroy(trace);
    }
    struct trace_load *load = load_file(path);
    const struct trace_model *m = load->report.model;
    uint64_t submissions = 0, executed = 0, nanoseconds = 0;
    for (uint32_t q = 0; q < m->queue_count; q++) {
        submissions += m->queues[q].submissions;
        executed += m->queues[q].executed;
        nanoseconds += m->busy.queues[q].busy;
    }
    assert_int_equal(submissions, DEVICES);
    assert_int_equal(executed, DEVICES - 1);
    assert_int_equal(nanoseconds, 1000 * (DEVICES - 1));
    char *text = load_text(load);
    assert_non_null(strstr(text, "several devices: execute 1 has been held for "));
    assert_null(strstr(text, "not all of the trace"));
    free(text);
    trace_load_destroy(load);
    unlink(path);
    rmdir(folder);
}
