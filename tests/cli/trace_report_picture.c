/* SPDX-License-Identifier: MIT */
/* The picture: well-formed XML with the names, numbers and colours that it should have. */
#include "support/test.h"

#include <ctype.h>

#include "trace_report_make.h"

#define T(us) (1000000000ull + (us)*1000ull)

/* --- A small reader of XML ---------------------------------------------------------------------*/

/* The end of text up to 'stop'; entities are those that XML itself has. */
static const char *text_end(const char *at, char stop)
{
    for (; *at && *at != stop; at++) {
        assert_true((unsigned char)*at >= 0x20 || *at == '\n');
        assert_true(*at != '<' || stop == '<');
        if (*at == '&')
            assert_true(!strncmp(at, "&amp;", 5) || !strncmp(at, "&lt;", 4) ||
                        !strncmp(at, "&gt;", 4) || !strncmp(at, "&quot;", 6));
    }
    return at;
}

static size_t name_size(const char *at)
{
    size_t size = 0;
    while (isalnum((unsigned char)at[size]) || at[size] == '-' || at[size] == ':')
        size++;
    assert_true(size > 0);
    return size;
}

/* One element inside another, each begun once and ended once. Returns how many there are. */
static size_t xml_check(const char *at)
{
    struct {
        const char *name;
        size_t size;
    } open[32];
    size_t depth = 0;
    size_t count = 0;
    do {
        at = text_end(at, '<');
        assert_int_equal(*at++, '<');
        if (*at == '/') {
            size_t size = name_size(++at);
            assert_true(depth > 0);
            depth--;
            assert_int_equal(size, open[depth].size);
            assert_memory_equal(at, open[depth].name, size);
            at += size;
            assert_int_equal(*at++, '>');
            continue;
        }
        count++;
        assert_true(depth < 32);
        open[depth].name = at;
        open[depth].size = name_size(at);
        at += open[depth++].size;
        const char *attributes[16];
        size_t sizes[16];
        size_t attribute_count = 0;
        while (*at == ' ') {
            size_t size = name_size(++at);
            for (size_t i = 0; i < attribute_count; i++)
                assert_false(sizes[i] == size && memcmp(attributes[i], at, size) == 0);
            assert_true(attribute_count < 16);
            attributes[attribute_count] = at;
            sizes[attribute_count++] = size;
            at += size;
            assert_memory_equal(at, "=\"", 2);
            at = text_end(at + 2, '"');
            assert_int_equal(*at++, '"');
        }
        if (*at == '/') {
            depth--;
            at++;
        }
        assert_int_equal(*at++, '>');
    } while (depth > 0);
    while (*at == '\n')
        at++;
    assert_int_equal(*at, 0);
    return count;
}

/* --- Pictures ---------------------------------------------------------------------------------*/

static void run(struct made *m, uint64_t frames, uint64_t per_frame)
{
    made_begin(m, true);
    uint64_t host = made_host(m);
    struct made_queue g =
        made_queue(m, made_track(m, MADE_PROCESS, "engine <0>", false), "drawing (3D queue 0:0)");
    struct made_queue c = made_queue(m, made_track(m, MADE_PROCESS, "engine 1", false),
                                     "waves & \"ripples\" of a very long name indeed");
    uint64_t id = 0;
    for (uint64_t f = 0; f < frames; f++) {
        uint64_t t = T(1000 * f);
        made_host_signal(m, host, t + 2000, "go", f, 100 + f);
        made_event(
            m, &(struct made_event){
                   .time_ns = t + 3000,
                   .track = g.fences[0],
                   .type = 1,
                   .name = "wait waves",
                   .notes = {{"packet", NULL, ++id}, {"fence", "waves", 0}, {"value", NULL, f}}});
        made_packet(m, &c,
                    &(struct made_packet){.id = ++id,
                                          .kind = "execute",
                                          .caption = "simulate",
                                          .queued_ns = t + 1000,
                                          .held_ns = t + 1100,
                                          .handed_over_ns = t + 90000,
                                          .fence = "go",
                                          .value = f});
        made_run(m, &c, id, t + 100000, t + 400000, 100 + f, 0);
        made_event(
            m, &(struct made_event){
                   .time_ns = t + 4000,
                   .track = c.fences[0],
                   .type = 1,
                   .name = "signal waves",
                   .notes = {{"packet", NULL, ++id}, {"fence", "waves", 0}, {"value", NULL, f}}});
        made_event(m, &(struct made_event){.time_ns = t + 405000,
                                           .track = c.fences[0],
                                           .type = 2,
                                           .flow = 5000 + f,
                                           .late = true});
        made_event(m, &(struct made_event){.time_ns = t + 410000,
                                           .track = g.fences[0],
                                           .type = 2,
                                           .terminating = 5000 + f,
                                           .late = true});
        for (uint64_t i = 0; i < per_frame; i++) {
            uint64_t step = 500000 / per_frame;
            made_packet(m, &g,
                        &(struct made_packet){.id = ++id,
                                              .kind = "execute",
                                              .queued_ns = t + 5000 + i,
                                              .handed_over_ns = t + 6000 + i});
            made_run(m, &g, id, t + 420000 + i * step, t + 420000 + (i + 1) * step - 1, 0,
                     i + 1 == per_frame ? 7000 + f : 0);
        }
        made_instant(m, &g, ++id, "present", t + 430000, 0, 0);
        made_unblocked(m, &g, id, t + 930000, 7000 + f);
    }
}

static char *picture(struct made *m, uint64_t frame)
{
    struct trace_load *load = made_load(m, frame);
    char *svg = load_svg(load);
    trace_load_destroy(load);
    return svg;
}

TEST_AROUND(has_names_and_numbers, struct made, m, run, made_finish, 5, 3)
{
    char *svg = picture(m, 3);
    assert_true(xml_check(svg) > 60);
    static const char *const texts[] = {
        "made &lt;by&gt; hand &amp; 'so'",
        "Paper GPU (pencil)",
        "engine &lt;0&gt;",
        "engine 1",
        ">drawing<",
        ">(3D queue 0:0)<",
        "waves &amp; &quot;ripples&quot;",
        ">frame 2 · 1.00 ms<",
        ">frame 3 · 1.00 ms<",
        ">frame 4 · 1.00 ms<",
        "frame 3 of 5: 1.00 ms",
        ">0.5 ms<",
        ">software<",
        ">hardware<",
        ">fences<",
        ">CPU<",
        ">critical path<",
        "waves = 2",
        "go = 2",
        "simulate",
        "prefers-color-scheme: dark",
        ">on the GPU<",
        ">signal to wait<",
    };
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
        if (!strstr(svg, texts[i]))
            fail_msg("no '%s' in the picture", texts[i]);
    /* Waits, signals, arrows from the one to the other and from the CPU, for three frames. */
    static const struct {
        const char *text;
        size_t count;
    } counts[] = {{"class=\"wait\"", 3 + 1},
                  {"class=\"arrow\"", 3 * 3 + 1},
                  {"class=\"held\"", 3 + 1},
                  {"class=\"critical\"", 4 + 1},
                  {"class=\"present\"", 4 + 1}};
    for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
        size_t found = 0;
        for (const char *at = svg; (at = strstr(at, counts[i].text)) != NULL; at++)
            found++;
        if (found != counts[i].count)
            fail_msg("%zu times %s, not %zu", found, counts[i].text, counts[i].count);
    }
    assert_null(strstr(svg, "href"));
    assert_null(strstr(svg, "<script"));
    assert_null(strstr(svg, "@import"));
    free(svg);
}

TEST_AROUND(first_and_last_frame, struct made, m, run, made_finish, 3, 2)
{
    for (uint64_t frame = 1; frame <= 3; frame++) {
        char *svg = picture(m, frame);
        xml_check(svg);
        char expected[64];
        snprintf(expected, sizeof(expected), "frame %llu of 3", (unsigned long long)frame);
        assert_non_null(strstr(svg, expected));
        free(svg);
    }
}

/* A submission that waits for a fence has an arrow for itself and one for the fence operation: one
 * is drawn. */
TEST_AROUND(one_arrow_for_each_wait, struct made, m, made_begin, made_finish, true)
{
    struct made_queue q[2];
    for (int i = 0; i < 2; i++)
        q[i] = made_queue(m, made_track(m, MADE_PROCESS, "engine", false), "queue");
    for (uint64_t i = 0; i < 2; i++) {
        made_packet(m, &q[i],
                    &(struct made_packet){.id = i + 1,
                                          .kind = "execute",
                                          .queued_ns = T(10 + i),
                                          .handed_over_ns = T(20 + i)});
        made_event(m,
                   &(struct made_event){
                       .time_ns = T(10 + i),
                       .track = q[i].fences[0],
                       .type = 1,
                       .name = i ? "wait x" : "signal x",
                       .notes = {{"packet", NULL, i + 1}, {"fence", "x", 0}, {"value", NULL, 1}}});
    }
    made_run(m, &q[0], 1, T(30), T(100), 0, 61);
    made_event(
        m, &(struct made_event){
               .time_ns = T(101), .track = q[0].fences[0], .type = 2, .flow = 62, .late = true});
    made_event(m, &(struct made_event){.time_ns = T(102),
                                       .track = q[1].fences[0],
                                       .type = 2,
                                       .terminating = 62,
                                       .late = true});
    made_run(m, &q[1], 2, T(103), T(200), 61, 0);
    char *svg = picture(m, 0);
    size_t arrows = 0;
    for (const char *at = svg; (at = strstr(at, "class=\"arrow\"")) != NULL; at++)
        arrows++;
    assert_int_equal(arrows, 1 + 1); /* and the legend's */
    free(svg);
}

/* Presents have a lane of their own, where the call says for how long it waited, and for what: for
 * a signal, or for the work before it. */
TEST_AROUND(presents, struct made, m, made_begin, made_finish, true)
{
    struct made_queue q = made_queue(m, made_track(m, MADE_PROCESS, "engine", false), "queue");
    for (uint64_t i = 0; i < 3; i++) {
        uint64_t t = T(1000 * i), id = 2 * i + 1, arrow = i == 1 ? 50 + i : 0;
        made_packet(
            m, &q,
            &(struct made_packet){
                .id = id, .kind = "execute", .queued_ns = t + 1000, .handed_over_ns = t + 2000});
        made_packet(m, &q,
                    &(struct made_packet){.id = id + 1,
                                          .kind = "present",
                                          .queued_ns = t + 3000,
                                          .handed_over_ns = t + 900000});
        made_run(m, &q, id, t + 4000, t + 600000, 0, arrow);
        made_instant(m, &q, id + 1, "present", t + 900000, arrow, 0);
    }
    char *svg = picture(m, 2);
    xml_check(svg);
    static const char *const texts[] = {">presents<", ">4 waits for execute 3<",
                                        ("present 4 of queue: 897.0 µs in the call, of "
                                         "which 597.0 µs for execute 3"),
                                        "present 2 of queue: 897.0 µs in the call, of which"};
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
        if (!strstr(svg, texts[i]))
            fail_msg("no '%s' in the picture", texts[i]);
    assert_null(strstr(svg, "present 4 of queue: 897.0 µs in the software queue"));
    free(svg);
}

/* However much a frame holds, the picture stays one that can be opened. */
TEST_AROUND(crowded_frames, struct made, m, run, made_finish, 3, 4000)
{
    char *svg = picture(m, 2);
    xml_check(svg);
    assert_in_range(strlen(svg), 100000, 4000000);
    assert_non_null(strstr(svg, "boxes where more than"));
    free(svg);
}

/* Names that are no UTF-8, or that XML doesn't allow, become ones that it does. */
TEST(names_that_are_no_text)
{
    static const char *const names[] = {
        "\xff\xfe", "a\x01\x1f\x7f",    "\xed\xa0\x80", "\xef\xbf\xbf", "]]>",
        "<!--",     "\xf4\x90\x80\x80", "\xc3",         "\xc0\x80",     ""};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        struct made m;
        made_begin(&m, false);
        struct made_queue q =
            made_queue(&m, made_track(&m, MADE_PROCESS, names[i], false), names[i]);
        for (uint64_t k = 1; k < 4; k++) {
            made_packet(&m, &q,
                        &(struct made_packet){.id = k,
                                              .kind = "execute",
                                              .queued_ns = T(10 * k),
                                              .held_ns = T(10 * k) + 10,
                                              .handed_over_ns = T(10 * k) + 5000,
                                              .fence = names[i]});
            made_run(&m, &q, k, T(10 * k) + 5000, T(10 * k) + 9000, 0, 0);
        }
        char *svg = picture(&m, 0);
        xml_check(svg);
        for (const char *c = svg; *c; c++)
            assert_true((unsigned char)*c < 0xd0 || (unsigned char)*c == 0xe2); /* "…" */
        free(svg);
        made_finish(&m);
    }
}
