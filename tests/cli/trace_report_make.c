/* SPDX-License-Identifier: MIT */
/* Timelines made by hand, for the tests of `belfry trace`. */
#include "support/test.h"
#include "trace_report_make.h"

#include <sys/mman.h>

enum { NAMES, NOTES }; /* tables of words: InternedData 2 and 3 */

/* The number of a word, said with the packet at hand if it is new. */
static uint64_t word(struct made *m, int table, const char *text)
{
    for (uint32_t i = 0; i < m->word_count[table]; i++)
        if (strcmp(m->words[table][i], text) == 0)
            return i + 1;
    assert_in_range(m->word_count[table], 0, MADE_WORDS - 1);
    m->words[table][m->word_count[table]++] = text;
    m->said[table]++;
    return m->word_count[table];
}

/* Words belong to a sequence: a packet on the second one writes them out. */
static void name_write(struct made *m, bool late, uint32_t field_iid, uint32_t field, int table,
                       const char *text)
{
    if (m->interned && !late)
        bf_protobuf_varint(&m->pb, field_iid, word(m, table, text));
    else
        bf_protobuf_string(&m->pb, field, text);
}

static void words_write(struct made *m)
{
    if (!m->said[NAMES] && !m->said[NOTES])
        return;
    size_t data = bf_protobuf_begin(&m->pb, 12);
    for (int table = NAMES; table <= NOTES; table++) {
        for (uint32_t i = m->word_count[table] - m->said[table]; i < m->word_count[table]; i++) {
            size_t entry = bf_protobuf_begin(&m->pb, table == NAMES ? 2 : 3);
            bf_protobuf_varint(&m->pb, 1, i + 1);
            bf_protobuf_string(&m->pb, 2, m->words[table][i]);
            bf_protobuf_end(&m->pb, entry);
        }
        m->said[table] = 0;
    }
    bf_protobuf_end(&m->pb, data);
}

static void clock_write(struct made *m, uint32_t id, uint64_t time_ns, bool steps)
{
    size_t clock = bf_protobuf_begin(&m->pb, 1);
    bf_protobuf_varint(&m->pb, 1, id);
    bf_protobuf_varint(&m->pb, 2, time_ns);
    if (steps)
        bf_protobuf_varint(&m->pb, 3, 1);
    bf_protobuf_end(&m->pb, clock);
}

uint64_t made_track(struct made *m, uint64_t parent, const char *name, bool process)
{
    size_t packet = bf_protobuf_begin(&m->pb, 1);
    bf_protobuf_varint(&m->pb, 10, 1);
    size_t track = bf_protobuf_begin(&m->pb, 60);
    bf_protobuf_varint(&m->pb, 1, ++m->last_track);
    if (parent)
        bf_protobuf_varint(&m->pb, 5, parent);
    bf_protobuf_string(&m->pb, 2, name);
    if (process) {
        size_t body = bf_protobuf_begin(&m->pb, 3);
        bf_protobuf_varint(&m->pb, 1, 1234);
        bf_protobuf_end(&m->pb, body);
    }
    bf_protobuf_end(&m->pb, track);
    bf_protobuf_end(&m->pb, packet);
    return m->last_track;
}

void made_begin(struct made *m, bool interned)
{
    *m = (struct made){.interned = interned, .clock_ns = 7000};
    bf_protobuf_init_growable(&m->pb);
    size_t packet = bf_protobuf_begin(&m->pb, 1);
    bf_protobuf_varint(&m->pb, 8, 1);
    bf_protobuf_varint(&m->pb, 58, 3);
    bf_protobuf_varint(&m->pb, 10, 1);
    bf_protobuf_varint(&m->pb, 13, 1);
    size_t snapshot = bf_protobuf_begin(&m->pb, 6);
    clock_write(m, 1, 1000000, false);
    clock_write(m, 3, 5000, false); /* CLOCK_MONOTONIC, when the stepping clock shows 7000 */
    if (interned)
        clock_write(m, 64, 7000, true);
    bf_protobuf_end(&m->pb, snapshot);
    if (interned) {
        size_t defaults = bf_protobuf_begin(&m->pb, 59);
        bf_protobuf_varint(&m->pb, 58, 64);
        bf_protobuf_end(&m->pb, defaults);
    }
    bf_protobuf_end(&m->pb, packet);
    assert_int_equal(made_track(m, 0, "made <by> hand & 'so'", true), MADE_PROCESS);
    made_event(m, &(struct made_event){.time_ns = 5000,
                                       .track = MADE_PROCESS,
                                       .type = 3,
                                       .name = "Belfry: tracing begins",
                                       .notes = {{.name = "device", .text = "Paper GPU"},
                                                 {.name = "driver", .text = "pencil"}}});
}

void made_finish(struct made *m)
{
    bf_protobuf_finish(&m->pb);
}

uint64_t made_host(struct made *m)
{
    return made_track(m, MADE_PROCESS, "host signals", false);
}

struct made_queue made_queue(struct made *m, uint64_t engine, const char *name)
{
    struct made_queue q = {.track = made_track(m, engine, name, false)};
    for (int i = 0; i < 4; i++)
        q.software[i] = made_track(m, q.track, "software queue", false);
    q.hardware = made_track(m, q.track, "hardware queue", false);
    if (m->interned)
        q.presents = made_track(m, q.track, "presents", false);
    for (int i = 0; i < 4; i++)
        q.fences[i] = made_track(m, q.track, "fence operations", false);
    return q;
}

void made_event(struct made *m, const struct made_event *e)
{
    size_t packet = bf_protobuf_begin(&m->pb, 1);
    uint64_t own_ns = e->time_ns + 2000; /* on the stepping clock */
    if (m->interned && !e->late && own_ns >= m->clock_ns) {
        bf_protobuf_varint(&m->pb, 8, own_ns - m->clock_ns);
        m->clock_ns = own_ns;
    } else {
        bf_protobuf_varint(&m->pb, 8, e->time_ns);
        bf_protobuf_varint(&m->pb, 58, 3);
    }
    bf_protobuf_varint(&m->pb, 10, e->late ? 2 : 1);
    size_t body = bf_protobuf_begin(&m->pb, 11);
    bf_protobuf_varint(&m->pb, 9, e->type);
    bf_protobuf_varint(&m->pb, 11, e->track);
    if (e->name)
        name_write(m, e->late, 10, 23, NAMES, e->name);
    if (e->flow)
        bf_protobuf_fixed64(&m->pb, 47, e->flow);
    if (e->terminating)
        bf_protobuf_fixed64(&m->pb, 48, e->terminating);
    for (int i = 0; i < 5 && e->notes[i].name; i++) {
        size_t note = bf_protobuf_begin(&m->pb, 4);
        name_write(m, e->late, 1, 10, NOTES, e->notes[i].name);
        if (e->notes[i].text)
            bf_protobuf_string(&m->pb, 6, e->notes[i].text);
        else
            bf_protobuf_varint(&m->pb, 3, e->notes[i].number);
        bf_protobuf_end(&m->pb, note);
    }
    bf_protobuf_end(&m->pb, body);
    words_write(m);
    bf_protobuf_end(&m->pb, packet);
    assert_false(m->pb.failed);
}

/* Older traces call a packet "execute 12", newer ones "execute", or by its caption. */
static const char *packet_name(const struct made *m, const char *kind, const char *caption,
                               uint64_t id, char name[64])
{
    if (m->interned)
        return caption ? caption : kind;
    snprintf(name, 64, "%s %llu", kind, (unsigned long long)id);
    return name;
}

void made_packet(struct made *m, const struct made_queue *q, const struct made_packet *p)
{
    char name[64];
    bool present = q->presents && strcmp(p->kind, "present") == 0;
    uint64_t track = present ? q->presents : q->software[p->lane];
    struct made_event begin = {
        .time_ns = p->queued_ns,
        .track = track,
        .type = 1,
        .name = packet_name(m, p->kind, p->caption, p->id, name),
        .notes = {{.name = "packet", .number = p->id},
                  {.name = "command buffers", .number = p->command_buffers}}};
    if (m->interned && p->caption)
        begin.notes[2] = (struct made_note){.name = "kind", .text = p->kind};
    made_event(m, &begin);
    if (p->held_ns) {
        struct made_event held = {.time_ns = p->held_ns, .track = track, .type = 1, .name = "held"};
        if (p->waits_for) {
            held.notes[0] = (struct made_note){.name = "waits for", .text = p->waits_for};
        } else {
            held.notes[0] = (struct made_note){.name = "semaphore", .text = p->fence};
            held.notes[1] = (struct made_note){.name = "value", .number = p->value};
        }
        made_event(m, &held);
        if (p->handed_over_ns)
            made_event(
                m, &(struct made_event){.time_ns = p->handed_over_ns, .track = track, .type = 2});
    }
    if (p->handed_over_ns)
        made_event(m,
                   &(struct made_event){.time_ns = p->handed_over_ns, .track = track, .type = 2});
}

void made_run(struct made *m, const struct made_queue *q, uint64_t id, uint64_t begin_ns,
              uint64_t end_ns, uint64_t in, uint64_t out)
{
    char name[64];
    made_event(m, &(struct made_event){.time_ns = begin_ns,
                                       .track = q->hardware,
                                       .type = 1,
                                       .name = packet_name(m, "execute", NULL, id, name),
                                       .flow = out,
                                       .terminating = in,
                                       .notes = {{.name = "packet", .number = id}},
                                       .late = true});
    made_event(
        m, &(struct made_event){.time_ns = end_ns, .track = q->hardware, .type = 2, .late = true});
}

void made_instant(struct made *m, const struct made_queue *q, uint64_t id, const char *kind,
                  uint64_t time_ns, uint64_t in, uint64_t out)
{
    char name[64];
    bool present = q->presents && strcmp(kind, "present") == 0;
    made_event(m, &(struct made_event){.time_ns = time_ns,
                                       .track = present ? q->presents : q->hardware,
                                       .type = 3,
                                       .name = packet_name(m, kind, NULL, id, name),
                                       .flow = out,
                                       .terminating = in,
                                       .notes = {{.name = "packet", .number = id}}});
}

void made_unblocked(struct made *m, const struct made_queue *q, uint64_t id, uint64_t time_ns,
                    uint64_t in)
{
    char name[64];
    struct made_event event = {.time_ns = time_ns,
                               .track = q->hardware,
                               .type = 3,
                               .name = "unblocked",
                               .terminating = in,
                               .late = true};
    if (m->interned) {
        event.notes[0] = (struct made_note){.name = "packet", .number = id};
    } else {
        snprintf(name, sizeof(name), "unblocked: packet %llu", (unsigned long long)id);
        event.name = name;
    }
    made_event(m, &event);
}

void made_operation(struct made *m, const struct made_queue *q, uint32_t lane, const char *name,
                    uint64_t id, const char *fence, uint64_t value, uint64_t begin_ns,
                    uint64_t end_ns, const char *by)
{
    made_event(m,
               &(struct made_event){
                   .time_ns = begin_ns,
                   .track = q->fences[lane],
                   .type = 1,
                   .name = name,
                   .notes = {{"packet", NULL, id}, {"fence", fence, 0}, {"value", NULL, value}}});
    if (end_ns)
        made_event(m, &(struct made_event){.time_ns = end_ns,
                                           .track = q->fences[lane],
                                           .type = 2,
                                           .notes = {{by ? "ended by" : NULL, by, 0}},
                                           .late = true});
}

void made_end(struct made *m, uint64_t time_ns)
{
    made_event(m, &(struct made_event){.time_ns = time_ns,
                                       .track = MADE_PROCESS,
                                       .type = 3,
                                       .name = "Belfry: tracing ends",
                                       .late = true});
}

void made_host_signal(struct made *m, uint64_t track, uint64_t time_ns, const char *fence,
                      uint64_t value, uint64_t out)
{
    made_event(m, &(struct made_event){.time_ns = time_ns,
                                       .track = track,
                                       .type = 3,
                                       .name = "host signal",
                                       .flow = out,
                                       .notes = {{.name = "semaphore", .text = fence},
                                                 {.name = "value", .number = value}}});
}

struct trace_load *bytes_load(const uint8_t *bytes, size_t size, uint64_t frame)
{
    int fd = memfd_create("trace", MFD_CLOEXEC);
    assert_true(fd >= 0);
    for (size_t done = 0; done < size;) {
        ssize_t step = write(fd, bytes + done, size - done);
        assert_true(step > 0);
        done += (size_t)step;
    }
    assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
    struct trace_load *load = trace_load_create();
    assert_non_null(load);
    trace_load_run(load, "made.pftrace", fd, frame);
    close(fd);
    return load;
}

struct trace_load *made_load(const struct made *m, uint64_t frame)
{
    return bytes_load(m->pb.data, m->pb.size, frame);
}

static char *printed(const struct trace_load *load,
                     void (*print)(const struct trace_report *, FILE *))
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    assert_non_null(out);
    assert_true(load->usable);
    print(&load->report, out);
    assert_int_equal(fclose(out), 0);
    return text;
}

char *load_text(const struct trace_load *load)
{
    return printed(load, trace_report_print);
}

char *load_json(const struct trace_load *load)
{
    return printed(load, trace_report_json);
}

static void svg_print(const struct trace_report *report, FILE *out)
{
    assert_true(trace_report_svg(report, out));
}

char *load_svg(const struct trace_load *load)
{
    return printed(load, svg_print);
}
