/* SPDX-License-Identifier: MIT */
/* The report as JSON: all times are whole nanoseconds, those of packets from the trace's clock. */
#include "cli/trace_report.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static void text_print(const char *text, FILE *out)
{
    putc('"', out);
    for (; *text; text++) {
        if (*text == '"' || *text == '\\')
            fprintf(out, "\\%c", *text);
        else if ((uint8_t)*text < 0x20)
            fprintf(out, "\\u%04x", (unsigned)*text);
        else
            putc(*text, out);
    }
    putc('"', out);
}

static void member_text(const char *name, const char *text, FILE *out)
{
    fprintf(out, "\"%s\": ", name);
    text_print(text, out);
}

static void engines_json(const struct trace_model *m, FILE *out)
{
    fprintf(out, "  \"engines\": [");
    for (uint32_t e = 0; e < m->engine_count; e++) {
        fprintf(out, "%s\n    {", e ? "," : "");
        member_text("name", m->engines[e].name, out);
        fprintf(out,
                ", \"handed_over\": %" PRIu64 ", \"timed\": %" PRIu64 ", \"busy_ns\": %" PRIu64
                ", \"with_another_ns\": %" PRIu64 "}",
                m->engines[e].packets, m->engines[e].timed, m->busy.engines[e].busy,
                m->busy.engines[e].shared);
    }
    fprintf(out, "\n  ],\n");
}

/* ... or what else something waits for: 1 + name, or 0. */
static void fence_print(const struct trace_model *m, struct trace_fence fence,
                        uint32_t obstacle_plus, FILE *out)
{
    if (obstacle_plus) {
        fprintf(out, "\"fence\": null, ");
        member_text("obstacle", trace_name(m, obstacle_plus - 1), out);
        return;
    }
    member_text("fence", trace_name(m, fence.name), out);
    if (fence.valued)
        fprintf(out, ", \"value\": %" PRIu64, fence.value);
}

static void queues_json(const struct trace_model *m, FILE *out)
{
    fprintf(out, "  \"queues\": [");
    for (uint32_t q = 0; q < m->queue_count; q++) {
        const struct trace_queue *queue = &m->queues[q];
        fprintf(out, "%s\n    {", q ? "," : "");
        member_text("name", queue->name, out);
        fprintf(out, ", ");
        member_text("engine", m->engines[queue->engine].name, out);
        fprintf(out,
                ", \"submissions\": %" PRIu64 ", \"executed\": %" PRIu64 ", \"untimed\": %" PRIu64
                ",\n     \"presents\": {\"count\": %" PRIu64 ", \"called_ns\": %" PRIu64
                ", \"waiting_ns\": %" PRIu64 ", \"longest_ns\": %" PRIu64
                ", \"longest_packet\": %" PRIu64 "},\n     \"fence_operations\": %" PRIu64
                ", \"dropped\": %" PRIu64 ", \"unfinished\": %" PRIu64 ", \"busy_ns\": %" PRIu64
                ",\n     \"held\": {\"count\": %" PRIu64 ", \"total_ns\": %" PRIu64
                ", \"longest_ns\": %" PRIu64,
                queue->submissions, queue->executed, queue->untimed, queue->presents.count,
                queue->presents.called_ns, queue->presents.waiting_ns, queue->presents.longest_ns,
                queue->presents.longest_id, trace_queue_fence_operations(queue), queue->dropped,
                queue->unfinished, m->busy.queues[q].busy, queue->held, queue->held_ns,
                queue->held_longest_ns);
        if (queue->held) {
            fprintf(out, ", \"packet\": %" PRIu64 ", ", queue->held_longest_id);
            const struct trace_hold *longest = &queue->held_longest;
            if (longest->on_predecessor)
                fprintf(out, "\"fence\": null");
            else
                fence_print(m, longest->on, longest->obstacle_plus, out);
        }
        fprintf(out, "}}");
    }
    fprintf(out, "\n  ],\n");
}

static void untimed_json(const struct trace_model *m, FILE *out)
{
    fprintf(out, "  \"untimed\": [");
    for (uint32_t i = 0; i < m->untimed_count; i++) {
        fprintf(out, "%s{\"count\": %" PRIu64 ", ", i ? ", " : "", m->untimed[i].count);
        member_text("why", trace_name(m, m->untimed[i].why), out);
        fprintf(out, "}");
    }
    fprintf(out, "],\n");
}

static void waits_json(const struct trace_model *m, FILE *out)
{
    const struct trace_wait_row **rows = malloc(sizeof(rows[0]) * (m->wait_count + 1));
    uint32_t count = rows ? trace_waits_sort(m, rows) : 0;
    fprintf(out, "  \"waits\": [");
    for (uint32_t i = 0; i < count; i++) {
        fprintf(out, "%s\n    {", i ? "," : "");
        member_text("queue", m->queues[rows[i]->queue].name, out);
        fprintf(out, ", ");
        member_text("fence", trace_name(m, rows[i]->fence), out);
        fprintf(out, ", ");
        member_text("released_by", trace_cause_name(m, rows[i]->cause), out);
        fprintf(out,
                ", \"count\": %" PRIu64 ", \"lost_ns\": %" PRIu64 ", \"longest_ns\": %" PRIu64
                ", \"longest_packet\": %" PRIu64 ", \"at_most\": %s}",
                rows[i]->count, rows[i]->lost_ns, rows[i]->longest_ns, rows[i]->longest_id,
                rows[i]->at_most ? "true" : "false");
    }
    fprintf(out, "\n  ],\n");
    free(rows);
}

static void stalls_json(const struct trace_report *r, FILE *out)
{
    const struct trace_model *m = r->model;
    fprintf(out, "  \"stalls\": [");
    for (uint32_t i = 0; i < r->stalls.count; i++) {
        const struct trace_stall *stall = &r->stalls.at[i];
        fprintf(out, "%s\n    {", i ? "," : "");
        member_text("queue", m->queues[stall->queue].name, out);
        fprintf(out, ", \"packet\": %" PRIu64 ", ", stall->id);
        member_text("state", trace_stall_state_name(stall->state), out);
        fprintf(out,
                ", \"since_ns\": %" PRIu64 ", \"lasted_ns\": %" PRIu64 ", \"behind\": %" PRIu64
                ", \"circle\": %" PRIu32 ", ",
                stall->since_ns, stall->until_ns - stall->since_ns, stall->behind, stall->circle);
        fence_print(m, stall->fence, stall->obstacle_plus, out);
        if (stall->fence.name != TRACE_NONE && m->values[stall->fence.name].at_ns)
            fprintf(out, ", \"has\": %" PRIu64, m->values[stall->fence.name].value);
        if (stall->by != TRACE_NONE) {
            fprintf(out, ", ");
            member_text("signaller", m->queues[stall->by].name, out);
            fprintf(out, ", \"signaller_packet\": %" PRIu64, stall->by_id);
        }
        fprintf(out, "}");
    }
    fprintf(out, "%s],\n", r->stalls.count ? "\n  " : "");
}

static void packet_print(struct trace_model *m, const char *name, uint64_t serial, FILE *out)
{
    const struct trace_packet *p = trace_packet_at(m, serial);
    if (!p)
        return;
    fprintf(out, ", \"%s\": {\"packet\": %" PRIu64 ", \"kind\": \"%s\", ", name, p->id,
            trace_kind_name(p->kind));
    member_text("queue", m->queues[p->queue].name, out);
    fprintf(out, "}");
}

static void frame_json(const struct trace_report *r, FILE *out)
{
    static const char *const kinds[] = {"execution", "start",   "queued",
                                        "cpu",       "present", "unknown"};
    static const char *const links[] = {"none", "queue", "signal", "cpu signal", "engine", "cpu"};
    char label[TRACE_HOP_SIZE];
    fprintf(out, "  \"frames\": {\"count\": %" PRIu64 ", ", r->frames.count);
    member_text("what", trace_frames_label(r, label), out);
    fprintf(out, "},\n");
    if (!r->has_frame) {
        fprintf(out, "  \"frame\": null,\n");
        return;
    }
    fprintf(out,
            "  \"frame\": {\"number\": %" PRIu64 ", \"begin_ns\": %" PRIu64 ", \"end_ns\": %" PRIu64
            ", \"critical_path_cut\": %s,\n    \"critical_path\": [",
            r->frame.number, r->frame.begin_ns, r->frame.end_ns, r->path->cut ? "true" : "false");
    for (uint32_t i = 0; i < r->path->count; i++) {
        const struct trace_hop *hop = &r->path->hops[i];
        fprintf(out,
                "%s\n      {\"kind\": \"%s\", \"after\": \"%s\", \"begin_ns\": %" PRIu64
                ", \"end_ns\": %" PRIu64 ", ",
                i ? "," : "", kinds[hop->kind], links[hop->link], hop->begin_ns, hop->end_ns);
        fence_print(r->detail, hop->fence, 0, out);
        packet_print(r->detail, "of", hop->packet, out);
        packet_print(r->detail, "started_after", hop->after, out);
        fprintf(out, "}");
    }
    fprintf(out, "\n    ]},\n");
}

void trace_report_json(const struct trace_report *r, FILE *out)
{
    const struct trace_model *m = r->model;
    fprintf(out, "{\n  ");
    char file[4096]; /* a path may be no UTF-8 */
    trace_span_copy((struct trace_span){(const uint8_t *)r->file, strlen(r->file)}, file,
                    sizeof(file));
    member_text("file", file, out);
    fprintf(out, ", \"bytes\": %" PRIu64 ",\n  ", r->bytes);
    member_text("program", m->program, out);
    fprintf(out, ", ");
    member_text("device", m->device, out);
    fprintf(out, ", ");
    member_text("driver", m->driver, out);
    fprintf(out,
            ",\n  \"begin_ns\": %" PRIu64 ", \"end_ns\": %" PRIu64 ", \"cpu_signals\": %" PRIu64
            ", \"calibrated\": %s, \"ended\": %s, \"stopped_ns\": %" PRIu64
            ",\n  \"any_engine_busy_ns\": %" PRIu64 ", \"several_engines_busy_ns\": %" PRIu64 ",\n",
            m->first_ns, m->last_ns, m->host_signals, m->uncalibrated ? "false" : "true",
            m->ended < m->process_count ? "false" : "true", m->stopped_ns, m->busy.any,
            m->busy.several_engines);
    fprintf(out, "  \"belfry\": {\"submissions\": %" PRIu64 ", \"busy_ns\": %" PRIu64 "},\n",
            m->own_submissions, m->own_ns);
    stalls_json(r, out);
    if (m->told_count) {
        fprintf(out, "  \"told\": {\"count\": %" PRIu64 ", \"at_ns\": %" PRIu64 ", ", m->told_count,
                m->told_ns);
        member_text("line", m->told, out);
        fprintf(out, "},\n");
    }
    engines_json(m, out);
    queues_json(m, out);
    untimed_json(m, out);
    waits_json(m, out);
    frame_json(r, out);
    fprintf(out, "  \"missing\": [");
    char label[TRACE_GAP_SIZE];
    const char *text;
    for (uint32_t n = 0; (text = trace_gap_label(r, n, label)) != NULL; n++) {
        fprintf(out, "%s\n    ", n ? "," : "");
        text_print(text, out);
    }
    fprintf(out, "%s]\n}\n", r->model && trace_gap_label(r, 0, label) ? "\n  " : "");
}
