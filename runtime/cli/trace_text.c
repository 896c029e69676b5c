/* SPDX-License-Identifier: MIT */
/* The words that the report, the JSON and the picture have in common. */
#include "cli/trace_report.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

const char *trace_cause_name(const struct trace_model *m, uint32_t cause)
{
    if (cause == TRACE_CAUSE_CPU)
        return "the CPU";
    if (cause == TRACE_CAUSE_SEVERAL)
        return "several queues";
    if (cause == TRACE_CAUSE_DESTROY)
        return "the fence's destruction";
    if (cause == TRACE_CAUSE_NOBODY)
        return "nobody yet";
    return cause < m->queue_count ? m->queues[cause].name : "unknown";
}

const char *trace_packet_label(const struct trace_packet *p, char label[TRACE_PACKET_SIZE])
{
    const char *kind = trace_kind_name(p->kind);
    const char *labels = strstr(p->caption, " [");
    int length = labels ? (int)(labels - p->caption) : (int)strlen(p->caption);
    if (length > 0)
        snprintf(label, TRACE_PACKET_SIZE, "%s %" PRIu64 " '%.*s'", kind, p->id, length,
                 p->caption);
    else
        snprintf(label, TRACE_PACKET_SIZE, "%s %" PRIu64, kind, p->id);
    return label;
}

/* The packet's queue and the packet. */
static void packet_where(const struct trace_model *m, const struct trace_packet *p, char *text,
                         size_t size)
{
    char label[TRACE_PACKET_SIZE];
    snprintf(text, size, "%s of %s", trace_packet_label(p, label), m->queues[p->queue].name);
}

const char *trace_hop_label(const struct trace_report *r, const struct trace_hop *hop,
                            char label[TRACE_HOP_SIZE])
{
    struct trace_model *m = r->detail;
    char packet[TRACE_LABEL_SIZE + TRACE_PACKET_SIZE] = "a packet";
    char after[TRACE_LABEL_SIZE + TRACE_PACKET_SIZE] = "";
    char fence[TRACE_FENCE_SIZE];
    struct trace_packet *p = trace_packet_at(m, hop->packet);
    if (p)
        packet_where(m, p, packet, sizeof(packet));
    p = trace_packet_at(m, hop->after);
    if (p)
        packet_where(m, p, after, sizeof(after));
    trace_text_cut(packet, 200);
    trace_text_cut(after, 200);
    trace_fence_label(m, hop->fence, fence);
    const char *of = *fence ? " of " : "";
    struct trace_packet *self = trace_packet_at(m, hop->packet);
    bool present = self && self->kind == TRACE_PACKET_PRESENT;
    const char *verb = present ? "returns" : "starts";
    switch (hop->kind) {
    case TRACE_HOP_EXECUTION:
        snprintf(label, TRACE_HOP_SIZE, "%.200s runs", packet);
        break;
    case TRACE_HOP_START:
        if (hop->link == TRACE_LINK_CPU)
            snprintf(label, TRACE_HOP_SIZE, "%.200s %s, after its hand-over", packet, verb);
        else if (hop->link == TRACE_LINK_CPU_SIGNAL)
            snprintf(label, TRACE_HOP_SIZE, "%.200s %s, after the CPU's signal%s%s", packet, verb,
                     of, fence);
        else
            snprintf(label, TRACE_HOP_SIZE, "%.200s %s, after %s%.200s%s%s", packet, verb,
                     hop->link == TRACE_LINK_SIGNAL && p && p->kind != TRACE_PACKET_SIGNAL
                         ? "the signal by "
                         : "",
                     after, *fence ? ": " : "", fence);
        break;
    case TRACE_HOP_PRESENT:
        snprintf(label, TRACE_HOP_SIZE, "%.200s is in the driver%s%.200s", packet,
                 *after ? ", which waited for " : "", after);
        break;
    case TRACE_HOP_QUEUED:
        if (hop->link == TRACE_LINK_QUEUE)
            snprintf(label, TRACE_HOP_SIZE, "%.200s is queued behind %.200s", packet, after);
        else
            snprintf(label, TRACE_HOP_SIZE, "%.200s is queued", packet);
        break;
    case TRACE_HOP_CPU:
        if (hop->link == TRACE_LINK_CPU_SIGNAL)
            snprintf(label, TRACE_HOP_SIZE, "the CPU, until it signals%s%s", *fence ? " " : "",
                     fence);
        else
            snprintf(label, TRACE_HOP_SIZE, "the CPU, until it queues %.200s", packet);
        break;
    case TRACE_HOP_UNKNOWN:
        snprintf(label, TRACE_HOP_SIZE, "before %.200s: not in the trace", packet);
        break;
    }
    return label;
}

static const char *text_plural(uint64_t n)
{
    return n == 1 ? "" : "s";
}

const char *trace_gap_label(const struct trace_report *r, uint32_t n, char label[TRACE_GAP_SIZE])
{
    const struct trace_lost *lost = &r->model->lost;
    uint64_t unfinished = 0;
    for (uint32_t q = 0; q < r->model->queue_count; q++) {
        unfinished += r->model->queues[q].unfinished;
    }
    const struct {
        uint64_t count;
        const char *text; /* %s is for the plural */
    } counts[] = {
        {unfinished, "packet%s that the trace sees no end of"},
        {lost->events, "event%s that the trace says it lacks: it could not be written fast enough"},
        {lost->log_entries, "fence log entries overwritten unread%.0s"},
        {lost->late_ends, "end%s of fence operations known only from when the log was read"},
        {r->model->busy.late, "execution%s too late in the file to count in full"},
        {lost->late_packets, "event%s about packets that had left the window"},
        {lost->ins, "arrow%s or annotations beyond those that a packet has room for"},
        {lost->times, "event%s with no time, or an impossible one"},
        {lost->tracks, "track%s beyond those that there is room for"},
        {lost->names, "mention%s of names beyond those that there is room for"},
        {lost->waits, "wait%s beyond the pairs of queues and fences that there is room for"},
        {r->sequences_left_out, "packet%s of sequences beyond those that there is room for"},
    };
    if (r->cut && n-- == 0) {
        snprintf(label, TRACE_GAP_SIZE,
                 "the file is cut short: its last packet, at byte %" PRIu64 ", has %" PRIu64
                 " byte%s and no end",
                 r->broken_offset, r->broken_bytes, text_plural(r->broken_bytes));
        return label;
    }
    if (r->damaged && n-- == 0) {
        snprintf(label, TRACE_GAP_SIZE,
                 "the file is damaged: what begins at byte %" PRIu64
                 " is no packet; the rest is left out",
                 r->broken_offset);
        return label;
    }
    if (lost->damaged && n-- == 0) {
        snprintf(label, TRACE_GAP_SIZE,
                 "the file is damaged: %" PRIu64 " packet%s left out, the first at byte %" PRIu64,
                 lost->damaged, text_plural(lost->damaged), lost->damaged_first);
        return label;
    }
    if (r->oversized && n-- == 0) {
        snprintf(label, TRACE_GAP_SIZE,
                 "%" PRIu64 " packet%s larger than any of Belfry's left out, the first at byte"
                 " %" PRIu64,
                 r->oversized, text_plural(r->oversized), r->oversized_first);
        return label;
    }
    if (r->model->ended < r->model->process_count && !r->cut && !r->damaged && n-- == 0)
        return "the end: the program crashed, was killed or is still running, or the file's disk "
               "was "
               "full";
    if (r->model->stopped_ns && n-- == 0) {
        char cell[BF_CELL];
        snprintf(
            label, TRACE_GAP_SIZE,
            "the program was stopped, or didn't get to run, for %s at least: what was under way "
            "then took less, on a CPU also the GPU's work",
            bf_cell_duration(cell, r->model->stopped_ns));
        return label;
    }
    if (r->model->uncalibrated && n-- == 0)
        return "GPU times are uncalibrated: estimates, never too early";
    for (uint32_t i = 0; i < r->model->untimed_count; i++) {
        const struct trace_untimed *untimed = &r->model->untimed[i];
        const char *why = trace_name(r->model, untimed->why);
        if (strcmp(why, TRACE_NOTHING_TO_TIME) == 0 || n-- != 0)
            continue;
        snprintf(label, TRACE_GAP_SIZE, "%" PRIu64 " submission%s without GPU times%s%s",
                 untimed->count, text_plural(untimed->count), *why ? ": " : "", why);
        return label;
    }
    for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
        if (!counts[i].count || n-- != 0)
            continue;
        int used = snprintf(label, TRACE_GAP_SIZE, "%" PRIu64 " ", counts[i].count);
        const char *mark = strchr(counts[i].text, '%');
        bool letter = mark && mark[1] == 's';
        snprintf(label + used, (size_t)(TRACE_GAP_SIZE - used), "%.*s%s%s",
                 (int)(mark - counts[i].text), counts[i].text,
                 letter ? text_plural(counts[i].count) : "", mark + (letter ? 2 : 4));
        return label;
    }
    return NULL;
}

static int by_cost(const void *a, const void *b)
{
    const struct trace_wait_row *x = *(const struct trace_wait_row *const *)a;
    const struct trace_wait_row *y = *(const struct trace_wait_row *const *)b;
    if (x->at_most != y->at_most)
        return x->at_most ? 1 : -1;
    if (x->lost_ns != y->lost_ns)
        return x->lost_ns > y->lost_ns ? -1 : 1;
    if (x->count != y->count)
        return x->count > y->count ? -1 : 1;
    return x < y ? -1 : 1;
}

uint32_t trace_waits_sort(const struct trace_model *m, const struct trace_wait_row **rows)
{
    for (uint32_t i = 0; i < m->wait_count; i++)
        rows[i] = &m->waits[i];
    qsort(rows, m->wait_count, sizeof(rows[0]), by_cost);
    return m->wait_count;
}

const char *trace_frames_label(const struct trace_report *r, char label[TRACE_HOP_SIZE])
{
    const struct trace_frames *f = &r->frames;
    if (f->by_present)
        return "a frame ends when a present is done";
    if (f->queue >= r->model->queue_count)
        return "no frames: nothing was submitted";
    const char *name = r->model->queues[f->queue].name;
    if (f->period == 1)
        snprintf(label, TRACE_HOP_SIZE, "no presents: a frame ends with each submission of %s",
                 name);
    else
        snprintf(label, TRACE_HOP_SIZE,
                 "no presents: a frame ends after every %" PRIu32 " submissions of %s", f->period,
                 name);
    return label;
}
