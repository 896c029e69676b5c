/* SPDX-License-Identifier: MIT */
/* Busy time and overlap against a count of every nanosecond, and the table that shows them. */
#include "support/test.h"

#include "trace/overlap.h"
#include "trace/summary.h"
#include "trace/trace.h"

/* Engine of each queue in these tests. */
static const uint32_t engine_of[] = {0, 0, 1, 2};
#define QUEUES  4
#define ENGINES 3

static struct bf_overlap *overlap_make(void)
{
    struct bf_overlap *o = calloc(1, sizeof(*o));
    for (uint32_t e = 0; e < ENGINES; e++)
        assert_true(bf_overlap_add_engine(o));
    for (uint32_t q = 0; q < QUEUES; q++)
        assert_true(bf_overlap_add_queue(o, engine_of[q]));
    return o;
}

static void overlap_free(struct bf_overlap *o)
{
    bf_overlap_finish(o);
    free(o);
}

TEST(by_hand)
{
    struct bf_overlap *o = overlap_make();
    bf_overlap_add(o, 0, 100, 200);
    bf_overlap_add(o, 0, 150, 250); /* its own queue: busy once */
    bf_overlap_add(o, 1, 240, 260); /* same engine */
    bf_overlap_add(o, 2, 190, 210); /* another engine */
    bf_overlap_add(o, 3, 300, 400);
    bf_overlap_add(o, 3, 500, 500); /* empty */
    bf_overlap_add(o, 9, 0, 1000);  /* nobody's */
    bf_overlap_settle(o);
    assert_int_equal(o->queues[0].busy, 150);
    assert_int_equal(o->queues[1].busy, 20);
    assert_int_equal(o->queues[2].busy, 20);
    assert_int_equal(o->queues[3].busy, 100);
    assert_int_equal(o->engines[0].busy, 160);
    assert_int_equal(o->engines[1].busy, 20);
    assert_int_equal(o->any, 260);
    assert_int_equal(o->several_queues, 30);
    assert_int_equal(o->several_engines, 20);
    bf_overlap_settle(o);
    assert_int_equal(o->any, 260);
    overlap_free(o);
}

/* Random intervals, out of order by less than the sweep lags behind, against a plain count. */
TEST(against_counting)
{
    enum { SPAN = 30000, COUNT = 4000 };
    uint8_t *busy = calloc(SPAN + 2000, 1); /* a bit per queue */
    struct bf_overlap *o = overlap_make();
    uint64_t random = 12345;
    for (int i = 0; i < COUNT; i++) {
        random = random * 6364136223846793005u + 1442695040888963407u;
        uint64_t begin = (uint64_t)i * SPAN / COUNT + (random >> 33) % 700;
        uint64_t end = begin + (random >> 43) % ((random >> 60) ? 20 : 900);
        uint32_t queue = (random >> 40) % QUEUES;
        bf_overlap_add(o, queue, begin, end);
        for (uint64_t t = begin; t < end; t++)
            busy[t] |= (uint8_t)(1 << queue);
    }
    bf_overlap_settle(o);
    assert_int_equal(o->late, 0);
    uint64_t queues[QUEUES] = {0}, engines[ENGINES] = {0};
    uint64_t any = 0, several_queues = 0, several_engines = 0;
    for (size_t t = 0; t < SPAN + 2000; t++) {
        uint32_t active = 0;
        for (uint32_t q = 0; q < QUEUES; q++) {
            queues[q] += busy[t] >> q & 1;
            active |= (busy[t] >> q & 1u) << engine_of[q];
        }
        for (uint32_t e = 0; e < ENGINES; e++)
            engines[e] += active >> e & 1;
        any += busy[t] != 0;
        several_queues += __builtin_popcount(busy[t]) > 1;
        several_engines += __builtin_popcount(active) > 1;
    }
    for (uint32_t q = 0; q < QUEUES; q++)
        assert_int_equal(o->queues[q].busy, queues[q]);
    for (uint32_t e = 0; e < ENGINES; e++)
        assert_int_equal(o->engines[e].busy, engines[e]);
    assert_int_equal(o->any, any);
    assert_int_equal(o->several_queues, several_queues);
    assert_int_equal(o->several_engines, several_engines);
    assert_true(several_engines > 0 && several_engines < several_queues);
    overlap_free(o);
    free(busy);
}

/* What comes too late counts from where the sweep stands, and is said. */
TEST(too_late)
{
    struct bf_overlap *o = overlap_make();
    for (uint64_t i = 0; i < BF_OVERLAP_PENDING + 100; i++)
        bf_overlap_add(o, 0, 1000 + 10 * i, 1005 + 10 * i);
    bf_overlap_add(o, 1, 10, 1000 + 10 * 100 + 1);
    bf_overlap_settle(o);
    assert_int_equal(o->late, 1);
    assert_int_equal(o->late_ns, 1990);
    assert_int_equal(o->queues[0].busy, 5 * (BF_OVERLAP_PENDING + 100));
    assert_int_equal(o->queues[1].busy, 1);
    overlap_free(o);
}

#define MS 1000000u

static void packet(struct bf_trace *trace, uint32_t queue, bool held, uint64_t handed_over_ns,
                   uint64_t begin_ns, uint64_t end_ns)
{
    struct bf_trace_packet p;
    bf_trace_packet_queued(trace, &p, queue, BF_TRACE_EXECUTE, 1);
    p.timed = true;
    if (held)
        bf_trace_packet_held(trace, &p, (struct bf_trace_sync){0xabc, 42});
    bf_trace_packet_handed_over(trace, &p, 0, NULL, 0, NULL);
    p.handed_over_ns = handed_over_ns;
    bf_trace_packet_executed(trace, &p, begin_ns, end_ns);
}

/* The line that begins with 'start' (after blanks) holds 'expected', counting runs of blanks as
 * one. */
static void line_has(const char *text, const char *start, const char *expected)
{
    for (const char *line = text; *line;) {
        size_t length = strcspn(line, "\n");
        char flat[256] = "";
        size_t n = 0;
        for (size_t i = 0; i < length && n < sizeof(flat) - 1; i++)
            if (line[i] != ' ' || (n > 0 && flat[n - 1] != ' '))
                flat[n++] = line[i];
        flat[n] = 0;
        if (strncmp(flat, start, strlen(start)) == 0 && strstr(flat, expected))
            return;
        line += length + (line[length] == '\n');
    }
    fail_msg("no line '%s … %s' in\n%s", start, expected, text);
}

TEST(table)
{
    const struct bf_trace_info info = {
        .program = "synthetic", .device = "Paper GPU", .driver = "pencil 1.0"};
    struct bf_trace *trace;
    assert_success(bf_trace_create(&info, &trace));
    uint32_t graphics = bf_trace_add_engine(trace, "graphics 0");
    uint32_t copy = bf_trace_add_engine(trace, "copy 0");
    uint32_t direct = bf_trace_add_queue(trace, graphics, "direct");
    uint32_t compute = bf_trace_add_queue(trace, graphics, "compute");
    uint32_t upload = bf_trace_add_queue(trace, copy, "upload");
    bf_trace_name_queue(trace, upload, "Streaming \xc3\xa9");
    bf_trace_name_semaphore(trace, 0xabc, "frame done");
    bf_trace_mark_uncalibrated(trace);
    /* direct   ▇▇▇▇▇▇▇▇▇▇          10 ms from 100 on
     * compute            ▇▇▇▇▇     5 ms from 110 on, handed over at 104
     * upload         ▇▇▇▇▇▇▇▇▇▇    10 ms from 104 on */
    uint64_t base = (uint64_t)1 << 40;
    packet(trace, direct, false, base + 99 * MS, base + 100 * MS, base + 110 * MS);
    packet(trace, upload, true, base + 104 * MS, base + 104 * MS, base + 114 * MS);
    packet(trace, compute, false, base + 104 * MS, base + 110 * MS, base + 115 * MS);
    struct bf_trace_packet p;
    bf_trace_packet_queued(trace, &p, direct, BF_TRACE_PRESENT, 0);
    bf_trace_packet_handed_over(trace, &p, 0, NULL, 0, NULL);
    bf_trace_packet_queued(trace, &p, upload, BF_TRACE_EXECUTE, 0);
    bf_trace_packet_dropped(trace, &p);
    bf_trace_host_signal(trace, (struct bf_trace_sync){0xabc, 50});

    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    bf_trace_print_summary(trace, out);
    fclose(out);
    if (getenv("BELFRY_TEST_SHOW"))
        fputs(text, stdout);
    line_has(text, "Belfry: synthetic", "on Paper GPU (pencil 1.0)");
    line_has(text, "", "4 submissions, 1 presents, 1 host signals, 1 dropped");
    line_has(text, "GPU times are uncalibrated", "");
    line_has(text, "graphics 0", " 2 2 2 15.00 ms ");
    line_has(text, "copy 0", " 1 1 1 10.00 ms ");
    line_has(text, "direct", "graphics 0 1 0 - 10.00 ms");
    line_has(text, "compute", "graphics 0 1 0 - 5.00 ms");
    line_has(text, "Streaming \xc3\xa9 (upload)", "copy 0 2 1 ");
    line_has(text, "queues with work in flight", "10.00 ms 62.5 %");
    line_has(text, "queues executing", "10.00 ms 66.7 %");
    line_has(text, "engines executing", "10.00 ms 66.7 %");
    line_has(text, "held: 1 submissions",
             "packet 2 of Streaming \xc3\xa9 (upload), on frame done = 42");
    free(text);
    bf_trace_destroy(trace);
}

/* An engine that can't be timed isn't idle: nobody knows. */
TEST(untimed)
{
    struct bf_trace *trace;
    const struct bf_trace_info info = {.program = "p", .device = "d", .driver = ""};
    assert_success(bf_trace_create(&info, &trace));
    uint32_t queue = bf_trace_add_queue(trace, bf_trace_add_engine(trace, "copy"), "upload");
    struct bf_trace_packet p;
    bf_trace_packet_queued(trace, &p, queue, BF_TRACE_EXECUTE, 1);
    bf_trace_packet_handed_over(trace, &p, 0, NULL, 0, NULL);
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    bf_trace_print_summary(trace, out);
    fclose(out);
    line_has(text, "Belfry: p on d", "");
    line_has(text, "copy", "1 1 0 unknown -");
    line_has(text, "upload", "unknown");
    line_has(text, "held: none", "");
    free(text);
    bf_trace_destroy(trace);
}

/* Of a run that began at 1000 ms, was busy for a second, and had its last event at 3000 ms, the
 * summary is printed at 9000 ms, with those figures of its queue. */
static void span_is(const struct bf_summary_queue *figures, const char *span, const char *of_time)
{
    struct bf_summary *s = calloc(1, sizeof(*s));
    const struct bf_trace_packet packet = {.queue = 0, .handed_over_ns = UINT64_C(1000) * MS};
    const struct bf_summary_head head = {
        .program = "p", .device = "d", .name = "", .driver = "", .now_ns = UINT64_C(9000) * MS};
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    assert_true(s && bf_summary_add_engine(s, "graphics"));
    assert_true(bf_summary_add_queue(s, 0, "direct", false));
    s->queues[0].handed_over = figures->handed_over;
    s->queues[0].empty = figures->empty;
    s->queues[0].held_now = figures->held_now;
    bf_summary_extend(s, UINT64_C(1000) * MS);
    if (figures->timed)
        bf_summary_executed(s, &packet, UINT64_C(1000) * MS, UINT64_C(2000) * MS);
    bf_summary_extend(s, UINT64_C(3000) * MS);
    bf_summary_print(s, &head, out);
    fclose(out);
    line_has(text, span, " 0 submissions");
    line_has(text, "graphics", of_time);
    free(text);
    bf_summary_finish(s);
    free(s);
}

/* T-11 */
TEST(span)
{
    span_is(&(struct bf_summary_queue){.handed_over = 1, .timed = 1}, "2.00 s,", " 50.0 %");
    span_is(&(struct bf_summary_queue){.handed_over = 1, .timed = 1, .held_now = 1}, "8.00 s,",
            " 12.5 %"); /* held */
    span_is(&(struct bf_summary_queue){.handed_over = 2, .timed = 1}, "8.00 s,",
            " 12.5 %"); /* under way */
    span_is(&(struct bf_summary_queue){.handed_over = 2, .timed = 1, .empty = 1}, "2.00 s,",
            " 50.0 %");
    span_is(&(struct bf_summary_queue){.handed_over = 1}, "2.00 s,", " -"); /* nobody knows */
}
