/* SPDX-License-Identifier: MIT */
/* Traces that end in a standstill: what the report says first, and what the picture shows. */
#include "support/test.h"

#include "trace_report_make.h"

#define T(us) (1000000000ull + (us)*1000ull)

enum { FIRST, SECOND };

struct scene {
    struct made m;
    struct made_queue q[2];
};

static void scene_begin(struct scene *s)
{
    static const char *const names[] = {"first", "second"};
    made_begin(&s->m, true);
    for (int i = 0; i < 2; i++)
        s->q[i] = made_queue(&s->m, made_track(&s->m, MADE_PROCESS, "engine", false), names[i]);
}

/* An execution that is queued at that time and held at once; 'on' NULL: it is handed over. */
static void packet(struct scene *s, int queue, uint64_t id, uint64_t us, const char *on,
                   uint64_t value)
{
    made_packet(&s->m, &s->q[queue],
                &(struct made_packet){.id = id,
                                      .kind = "execute",
                                      .lane = (uint32_t)id % 4,
                                      .queued_ns = T(us),
                                      .held_ns = on ? T(us) : 0,
                                      .fence = on,
                                      .value = value,
                                      .handed_over_ns = on ? 0 : T(us)});
}

static void operation(struct scene *s, int queue, const char *name, uint64_t id, uint64_t value,
                      uint64_t us, uint64_t end_us, const char *by)
{
    made_operation(&s->m, &s->q[queue], (uint32_t)id % 4, name, id, strchr(name, ' ') + 1, value,
                   T(us), end_us ? T(end_us) : 0, by);
}

/* What the report, the JSON and the picture have to say. */
static void scene_end(struct scene *s, const char *const texts[], size_t count)
{
    struct trace_load *load = made_load(&s->m, 0);
    assert_true(load->usable);
    char *shown[] = {load_text(load), load_json(load), load_svg(load)};
    for (size_t i = 0; i < count; i++)
        if (!strstr(shown[0], texts[i]) && !strstr(shown[1], texts[i]) &&
            !strstr(shown[2], texts[i]))
            fail_msg("no '%s' in:\n%s\n%s", texts[i], shown[0], shown[1]);
    for (int i = 0; i < 3; i++)
        free(shown[i]);
    trace_load_destroy(load);
    made_finish(&s->m);
}

#define SCENE(name_, ...)                                                                          \
    static void name_##_make(struct scene *s);                                                     \
    TEST(name_)                                                                                    \
    {                                                                                              \
        static const char *const texts[] = {__VA_ARGS__};                                          \
        struct scene s;                                                                            \
        scene_begin(&s);                                                                           \
        name_##_make(&s);                                                                          \
        scene_end(&s, texts, sizeof(texts) / sizeof(texts[0]));                                    \
    }                                                                                              \
    static void name_##_make(struct scene *s)

/* The host forgot a signal, a second queue waits for the first: the cause comes first. */
SCENE(missing_signal,
      "without an end when the trace ends:\n"
      "    first: execute 2 has been held for 8.00 s: it waits for frame to reach 7 (has 3): no "
      "queue was given such a signal; the CPU, or another process, might; 1 more behind it\n"
      "    second: execute 1 has been held for 8.00 s: it waits for other to reach 1 (no signal of "
      "it is in the trace), which packet 2 of first would signal\n",
      "\n  8.00 s, 3 submissions", "\"ended\": true",
      "first       frame       nobody yet          1      8.00 s",
      "longest held on first: 8.00 s, to the end of the trace, packet 2, on frame = 7",
      "\"state\": \"held\", \"since_ns\": 1000001000, \"lasted_ns\": 7999999000, \"behind\": 1",
      "\"fence\": \"frame\", \"value\": 7, \"has\": 3}", "without an end for 8.00 s",
      ">2 held on frame = 7, no end<", ">frame = 7, no end<")
{
    made_host_signal(&s->m, made_host(&s->m), T(0), "frame", 3, 0);
    packet(s, SECOND, 1, 0, "other", 1);
    operation(s, SECOND, "wait other", 1, 1, 0, 0, NULL);
    packet(s, FIRST, 2, 1, "frame", 7);
    operation(s, FIRST, "wait frame", 2, 7, 1, 0, NULL);
    made_operation(&s->m, &s->q[FIRST], 3, "signal other", 2, "other", 1, T(1), 0, NULL);
    packet(s, FIRST, 3, 2, "frame", 8);
    made_end(&s->m, T(8000000));
}

/* What the driver has when its device is lost waits no longer; and so says the report. */
SCENE(lost,
      "    first: execute 1 was given to the driver 2.00 s before its device was lost, and has no "
      "end\n",
      "  Belfry said, 2.00 s after the beginning:\n    device lost\n",
      "\"state\": \"on the GPU\", \"since_ns\": 1000000000, \"lasted_ns\": 2000000000,")
{
    packet(s, FIRST, 1, 0, NULL, 0);
    made_event(&s->m, &(struct made_event){.time_ns = T(2000000),
                                           .track = MADE_PROCESS,
                                           .type = 3,
                                           .name = "device lost",
                                           .notes = {{"line", "device lost", 0}}});
    made_end(&s->m, T(8000000));
}

SCENE(
    circle,
    "    first: execute 1 has been held for 2.00 s: it waits for b to reach 1 (no signal of it is "
    "in the trace), which packet 2 of second would signal\n",
    "    a circle: first waits for second, which waits for first\n", "\"circle\": 1",
    "  Belfry said, 1.00 s after the beginning:\n    a circle, for 1.0 s\n",
    "\"line\": \"a circle, for 1.0 s\"}")
{
    for (int i = 0; i < 2; i++) {
        packet(s, i, (uint64_t)i + 1, (uint64_t)i, i ? "a" : "b", 1);
        operation(s, i, i ? "signal b" : "signal a", (uint64_t)i + 1, 1, (uint64_t)i, 0, NULL);
    }
    made_event(&s->m, &(struct made_event){.time_ns = T(1000000),
                                           .track = MADE_PROCESS,
                                           .type = 3,
                                           .name = "standstill",
                                           .notes = {{"line", "a circle, for 1.0 s", 0}}});
    made_end(&s->m, T(2000000));
}

/* Work that the GPU doesn't finish, a wait for it there, and a present that doesn't return. */
SCENE(
    with_the_driver,
    "    first: execute 1 was given to the driver 3.00 s before, and has no end\n"
    "    first: present 3 has been in the driver for 2.00 s\n"
    "    second: execute 2 has waited on the GPU for 3.00 s, for done to reach 4 (no signal of it "
    "is in the trace), which packet 1 of first would signal\n",
    ">execute 1, no end<", "second      done        nobody yet          1      3.00 s")
{
    packet(s, FIRST, 1, 0, NULL, 0);
    operation(s, FIRST, "signal done", 1, 4, 0, 0, NULL);
    packet(s, SECOND, 2, 1, NULL, 0);
    operation(s, SECOND, "wait done", 2, 4, 1, 0, NULL);
    made_instant(&s->m, &s->q[SECOND], 2, "execute", T(2), 0, 0);
    made_packet(&s->m, &s->q[FIRST],
                &(struct made_packet){.id = 3, .kind = "present", .queued_ns = T(1000000)});
    made_end(&s->m, T(3000000));
}

static void numbered(struct scene *s, int queue, const char *name, uint64_t object, uint64_t id,
                     uint64_t value, uint64_t end_us)
{
    uint64_t track = s->q[queue].fences[id % 4];
    made_event(&s->m, &(struct made_event){.time_ns = T(id),
                                           .track = track,
                                           .type = 1,
                                           .name = name,
                                           .notes = {{"packet", NULL, id},
                                                     {"fence", "timeline", 0},
                                                     {"value", NULL, value},
                                                     {"object", NULL, object}}});
    if (end_us)
        made_event(&s->m, &(struct made_event){
                              .time_ns = T(end_us), .track = track, .type = 2, .late = 1});
}

/* Two semaphores of one name: what one has isn't what the other has, and a signal of the one isn't
 * for who waits for the other. */
SCENE(
    fences_of_one_name,
    "    first: execute 1 has waited on the GPU for 2.00 s, for timeline to reach 7 (no signal of "
    "it is in the trace): no queue was given such a signal",
    "    second: execute 3 has waited on the GPU for 2.00 s, for timeline to reach 900 (has 500), "
    "which packet 5 of second would signal")
{
    packet(s, FIRST, 1, 1, NULL, 0);
    numbered(s, FIRST, "wait timeline", 1, 1, 7, 0);
    packet(s, SECOND, 2, 2, NULL, 0);
    numbered(s, SECOND, "signal timeline", 2, 2, 500, 3);
    packet(s, SECOND, 3, 3, NULL, 0);
    numbered(s, SECOND, "wait timeline", 2, 3, 900, 0);
    numbered(s, SECOND, "signal timeline", 2, 5, 1000, 0);
    made_run(&s->m, &s->q[SECOND], 2, T(2), T(3), 0, 0);
    made_end(&s->m, T(2000000));
}

/* Three submissions with two waits each, which the driver has: two are behind the first. */
SCENE(behind_it_each_counts_once, "for x to reach 1 (no signal of it is in the trace)",
      "; 2 more behind it\n", "\"behind\": 2,")
{
    for (uint64_t i = 1; i <= 3; i++) {
        packet(s, FIRST, i, i, NULL, 0);
        for (uint64_t k = 0; k < 2; k++) {
            uint64_t track = made_track(&s->m, s->q[FIRST].track, "fence operations", false);
            made_event(&s->m, &(struct made_event){.time_ns = T(i),
                                                   .track = track,
                                                   .type = 1,
                                                   .name = "wait x",
                                                   .notes = {{"packet", NULL, i},
                                                             {"fence", "x", 0},
                                                             {"value", NULL, k + 1}}});
        }
    }
    made_end(&s->m, T(1000000));
}

/* Packets that there was no lane for: one has run, one hasn't an end either. */
SCENE(without_a_lane, "first: execute 1 has been held for 1.00 s: it waits for x to reach 1",
      "; 1 more behind it\n", "first       engine                3         1 ",
      "engine                1         1 ", "2 packets that the trace sees no end of")
{
    packet(s, FIRST, 1, 0, "x", 1);
    for (uint64_t i = 2; i <= 3; i++)
        made_event(&s->m, &(struct made_event){.time_ns = T(i),
                                               .track = s->q[FIRST].software[0],
                                               .type = 3,
                                               .name = "execute",
                                               .notes = {{"packet", NULL, i}}});
    made_run(&s->m, &s->q[FIRST], 2, T(10), T(20), 0, 0);
    made_end(&s->m, T(1001000));
}

static void dropped(struct scene *s, uint64_t id, const char *why)
{
    made_event(&s->m, &(struct made_event){.time_ns = T(1000),
                                           .track = s->q[FIRST].hardware,
                                           .type = 3,
                                           .name = "dropped",
                                           .notes = {{"packet", NULL, id},
                                                     {"kind", "execute", 0},
                                                     {why ? "without GPU times" : NULL, why, 0}}});
}

/* A packet that was dropped and whose beginning isn't in the file; and one that has run, with a
 * command buffer of such a name. */
SCENE(dropped_and_called_so, "    first: execute 7 was dropped\n\n", "\"lasted_ns\": 0,",
      "1.00 s, 2 submissions")
{
    packet(s, FIRST, 8, 1000, NULL, 0);
    dropped(s, 8, "no command buffers");
    dropped(s, 7, NULL);
    made_end(&s->m, T(1001000));
}

/* Three devices tell of one stop, and one of them of another. */
SCENE(a_stop_is_one_stop, "\"stopped_ns\": 3500000000,")
{
    static const uint64_t ends_ms[] = {5000, 5100, 5200, 6000},
                          at_least_ms[] = {2800, 3000, 2900, 500};
    packet(s, FIRST, 1, 0, NULL, 0);
    for (int i = 0; i < 4; i++)
        made_event(&s->m, &(struct made_event){
                              .time_ns = T(1000 * ends_ms[i]),
                              .track = MADE_PROCESS,
                              .type = 3,
                              .name = "stopped",
                              .notes = {{"at least ns", NULL, 1000000 * at_least_ms[i]}}});
    made_end(&s->m, T(7000000));
}

/* A queue that nobody resumes, and a packet that a priority window kept for a while. */
SCENE(
    held_by_no_fence,
    "    first: execute 1 has been held for 8.00 s: it waits for a resumption of its queue; 1 more "
    "behind it\n",
    "longest held on first: 8.00 s, to the end of the trace, packet 1, on a resumption of its "
    "queue",
    "longest held on second: 2.00 s, packet 3, on a priority window", "waits: none",
    "\"fence\": null, \"obstacle\": \"a resumption of its queue\"}",
    "\"fence\": null, \"obstacle\": \"a priority window\"}",
    ">1 held on a resumption of its queue, no end<")
{
    static const char *const words[] = {"a resumption of its queue", "the packet before it",
                                        "a priority window"};
    for (uint64_t i = 0; i < 3; i++)
        made_packet(&s->m, &s->q[i / 2],
                    &(struct made_packet){.id = i + 1,
                                          .kind = "execute",
                                          .lane = (uint32_t)i % 2,
                                          .queued_ns = T(i),
                                          .held_ns = T(i),
                                          .waits_for = words[i],
                                          .handed_over_ns = i == 2 ? T(2000002) : 0});
    made_run(&s->m, &s->q[SECOND], 3, T(2000003), T(2000010), 0, 0);
    made_end(&s->m, T(8000000));
}

/* Held until its device was destroyed; and a wait that ended with its fence. */
SCENE(
    let_go,
    "    first: execute 1 was dropped after 5.00 s in which it waited for x to reach 1 (no signal "
    "of it is in the trace)\n",
    "second      y           the fence's destruction         1     10.0", "held on x = 1, dropped",
    "\"ended\": false", "missing or inexact:\n    the end: the program crashed, was killed")
{
    packet(s, FIRST, 1, 0, "x", 1);
    packet(s, SECOND, 2, 1, NULL, 0);
    operation(s, SECOND, "wait y", 2, 4, 1, 11, "fence destroyed");
    made_run(&s->m, &s->q[SECOND], 2, T(12), T(20), 0, 0);
    for (int i = 0; i < 2; i++)
        made_event(&s->m, &(struct made_event){
                              .time_ns = T(5000000), .track = s->q[FIRST].software[1], .type = 2});
    made_event(&s->m, &(struct made_event){.time_ns = T(5000000),
                                           .track = s->q[FIRST].hardware,
                                           .type = 3,
                                           .name = "dropped",
                                           .notes = {{"packet", NULL, 1}}});
}

/* A program that was ended in its work: that work, and the frame before it in the picture. */
SCENE(under_way, "    first: execute 9 was given to the driver 60.0", ">frame 7 ", "frame 7 of 9")
{
    for (uint64_t i = 0; i < 9; i++) {
        packet(s, FIRST, i + 1, 100 * i, NULL, 0);
        if (i < 8)
            made_run(&s->m, &s->q[FIRST], i + 1, T(100 * i + 10), T(100 * i + 90), 0, 0);
    }
    made_end(&s->m, T(860));
}
