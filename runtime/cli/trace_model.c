/* SPDX-License-Identifier: MIT */
/* Builds engines, queues, packets and arrows from the events of a trace. */
#include "cli/trace_model.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/trace_settle.h"
#include "cli/trace_tracks.h"
#include "base/map.h"

/* Times beyond this are wrong; it leaves room for sums. */
#define TIME_MAX (UINT64_MAX / 4)

/* How many executions may be out of order in a file. */
#define BUSY_PENDING 16384

struct trace_model *trace_model_create(void)
{
    struct trace_model *m = calloc(1, sizeof(*m));
    if (!m)
        return NULL;
    m->busy.pending_most = BUSY_PENDING;
    m->track_capacity = 1024;
    m->tracks = calloc(m->track_capacity, sizeof(*m->tracks));
    if (!m->tracks) {
        free(m);
        return NULL;
    }
    return m;
}

void trace_model_destroy(struct trace_model *m)
{
    if (!m)
        return;
    bf_overlap_finish(&m->busy);
    free(m->tracks);
    free(m);
}

/* --- Packets ----------------------------------------------------------------------------------*/

uint64_t trace_window_begin(const struct trace_model *m)
{
    return m->next_serial > TRACE_WINDOW ? m->next_serial - TRACE_WINDOW : 0;
}

struct trace_packet *trace_packet_at(struct trace_model *m, uint64_t serial)
{
    if (serial >= m->next_serial || serial < trace_window_begin(m))
        return NULL;
    return &m->window[serial % TRACE_WINDOW];
}

static const struct {
    const char *name;
    enum trace_packet_kind kind;
} kinds[] = {
    {"execute", TRACE_PACKET_EXECUTE}, {"bind sparse", TRACE_PACKET_BIND_SPARSE},
    {"present", TRACE_PACKET_PRESENT}, {"signal", TRACE_PACKET_SIGNAL},
    {"wait", TRACE_PACKET_WAIT},
};

const char *trace_kind_name(enum trace_packet_kind kind)
{
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
        if (kinds[i].kind == kind)
            return kinds[i].name;
    return "packet";
}

/* The kind by its own annotation, or by the name: "execute", in older traces "execute 12". */
static enum trace_packet_kind item_packet_kind(const struct trace_item *item)
{
    const struct trace_annotation *a = trace_item_annotation(item, "kind");
    struct trace_span name = a && a->is_text ? a->text : item->name;
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        size_t size = strlen(kinds[i].name);
        if (trace_span_starts_with(name, kinds[i].name) &&
            (name.size == size || name.at[size] == ' '))
            return kinds[i].kind;
    }
    return TRACE_PACKET_OTHER;
}

/* The packet's number: an annotation, else what the name ends with. False: it has none. */
static bool id_of(const struct trace_item *item, uint64_t *id)
{
    const struct trace_annotation *a = trace_item_annotation(item, "packet");
    if (a && !a->is_text) {
        *id = a->number;
        return *id != 0;
    }
    size_t digits = 0;
    while (digits < item->name.size && digits < 19 &&
           item->name.at[item->name.size - 1 - digits] >= '0' &&
           item->name.at[item->name.size - 1 - digits] <= '9')
        digits++;
    if (digits == 0 || digits == item->name.size ||
        item->name.at[item->name.size - 1 - digits] != ' ')
        return false;
    *id = 0;
    for (size_t i = item->name.size - digits; i < item->name.size; i++)
        *id = 10 * *id + (uint64_t)(item->name.at[i] - '0');
    return *id != 0;
}

/* Packets of a process have smaller numbers. */
#define PROCESS_SHIFT 40

static uint64_t process_key(uint32_t process, uint64_t id)
{
    return id ^ (uint64_t)process << PROCESS_SHIFT;
}

static struct trace_packet *packet_find(struct trace_model *m, uint64_t key)
{
    uint64_t at = m->buckets[bf_map_hash(key) % TRACE_WINDOW];
    while (at) {
        struct trace_packet *p = trace_packet_at(m, at - 1);
        if (!p || p->serial != at - 1)
            return NULL;
        if (p->key == key)
            return p;
        if (p->older >= at)
            return NULL;
        at = p->older;
    }
    return NULL;
}

static void kind_set(struct trace_model *m, struct trace_packet *p, enum trace_packet_kind kind)
{
    p->kind = kind;
    if (kind == TRACE_PACKET_EXECUTE || kind == TRACE_PACKET_BIND_SPARSE)
        p->ordinal = ++m->queues[p->queue].ordinals;
    else if (kind == TRACE_PACKET_PRESENT)
        p->ordinal = ++m->present_count;
}

/* The packet of an event on a queue's track; it is added if it is new. NULL: the event names none,
 * or one that has left the window. */
static struct trace_packet *packet_of(struct trace_model *m, const struct trace_track *track,
                                      const struct trace_item *item)
{
    uint64_t id;
    if (!id_of(item, &id))
        return NULL;
    uint64_t key = process_key(trace_process_of(m, track), id);
    struct trace_packet *p = packet_find(m, key);
    if (p)
        return p;
    struct trace_queue *queue = &m->queues[track->index];
    if (id <= queue->retired_id) {
        m->lost.late_packets++;
        return NULL;
    }
    uint64_t serial = m->next_serial;
    if (serial - m->retired >= TRACE_WINDOW / 2)
        trace_settle_oldest(m);
    uint64_t *bucket = &m->buckets[bf_map_hash(key) % TRACE_WINDOW];
    p = &m->window[serial % TRACE_WINDOW];
    m->next_serial++;
    *p = (struct trace_packet){
        .serial = serial,
        .id = id,
        .key = key,
        .process = queue->process,
        .older = *bucket,
        .queue = track->index,
        .previous = queue->last,
        .fence = {.name = TRACE_NONE},
        .waited = {.name = TRACE_NONE},
        .why = TRACE_NONE,
        .longest = {.on = {.name = TRACE_NONE}},
    };
    *bucket = serial + 1;
    queue->last = serial;
    kind_set(m, p, item_packet_kind(item));
    const struct trace_annotation *a = trace_item_annotation(item, "command buffers");
    if (a && !a->is_text)
        p->command_buffers = a->number < 1000000 ? (uint32_t)a->number : 1000000;
    return p;
}

/* Takes over what any event of a packet may contain besides its time. */
static void packet_tell(struct trace_model *m, struct trace_packet *p,
                        const struct trace_item *item)
{
    /* The packet may have been added as the packet of a fence operation. */
    enum trace_packet_kind kind = item_packet_kind(item);
    if (kind != TRACE_PACKET_OTHER && kind != p->kind && p->ordinal == 0)
        kind_set(m, p, kind);
    if (p->fence.name == TRACE_NONE &&
        (p->kind == TRACE_PACKET_SIGNAL || p->kind == TRACE_PACKET_WAIT))
        p->fence = trace_fence_of(m, item);
    /* Where the kind has an annotation of its own, the slice's name is the program's name for the
     * work. */
    if (!p->caption[0] && trace_item_annotation(item, "kind"))
        trace_span_copy(item->name, p->caption, sizeof(p->caption));
}

/* --- Arrows -----------------------------------------------------------------------------------*/

static void flows_out(struct trace_model *m, const struct trace_item *item, uint64_t serial,
                      uint32_t queue, bool given, bool late, struct trace_fence fence)
{
    for (uint32_t i = 0; i < item->flow_count; i++) {
        uint64_t id = item->flows[i];
        if (!id)
            continue;
        struct trace_flow *flow = &m->flows[id % TRACE_FLOW_COUNT];
        if (flow->id == id && serial == TRACE_NO_SERIAL && queue != TRACE_CAUSE_CPU)
            continue; /* an instant that repeats what a slice says */
        *flow = (struct trace_flow){id, serial, item->time_ns, queue, given, late, fence};
    }
}

static void flows_in(struct trace_model *m, const struct trace_item *item, struct trace_packet *p)
{
    for (uint32_t i = 0; i < item->terminating_count; i++) {
        if (p->in_count < TRACE_PACKET_INS)
            p->in[p->in_count++] = item->terminating[i];
        else
            m->lost.ins++;
    }
    m->lost.ins += item->passed_over;
}

/* An instant at the end of a slice, from which another arrow leaves: finds the slice. */
static uint64_t marked_packet(struct trace_model *m, uint32_t queue, uint64_t time_ns)
{
    uint64_t serial = m->queues[queue].last;
    for (int step = 0; step < 4096; step++) {
        const struct trace_packet *p = trace_packet_at(m, serial);
        if (!p)
            break;
        if (p->end_ns ? p->begin_ns <= time_ns && time_ns <= p->end_ns
                      : p->instant && p->handed_over_ns == time_ns)
            return serial;
        serial = p->previous;
    }
    return TRACE_NO_SERIAL;
}

/* --- Events -----------------------------------------------------------------------------------*/

static void hold_end(struct trace_model *m, struct trace_track *track, uint64_t time_ns)
{
    struct trace_hold hold = track->hold;
    track->hold.begin = 0;
    struct trace_packet *p = trace_packet_at(m, track->serial);
    if (!p || time_ns < hold.begin)
        return;
    hold.end = time_ns;
    uint64_t ns = hold.end - hold.begin;
    p->held_ns += ns;
    p->held_until_ns = hold.end;
    if (ns >= p->held_longest_ns) {
        p->held_longest_ns = ns;
        p->longest = hold;
    }
    for (uint32_t i = 0; i < p->hold_count; i++)
        if (p->holds[i].begin == hold.begin)
            p->holds[i] = hold;
}

static struct trace_hold hold_make(struct trace_model *m, const struct trace_item *item)
{
    struct trace_hold hold = {.begin = item->time_ns, .on = trace_fence_of(m, item)};
    const struct trace_annotation *a = trace_item_annotation(item, "waits for");
    hold.on_predecessor = a && (!a->is_text || trace_span_is(a->text, "the packet before it"));
    if (a && !hold.on_predecessor) /* no room for one more name: TRACE_NONE + 1 is 0 */
        hold.obstacle_plus = trace_name_of(m, a->text) + 1;
    return hold;
}

static void software_event(struct trace_model *m, struct trace_track *track,
                           const struct trace_item *item)
{
    struct trace_packet *p;
    if (item->type == TRACE_EVENT_INSTANT) {
        p = packet_of(m, track, item);
        if (p) {
            p->queued_ns = item->time_ns;
            p->laneless = true;
            packet_tell(m, p, item);
        }
    } else if (item->type == TRACE_EVENT_BEGIN && track->depth++ == 0) {
        p = packet_of(m, track, item);
        track->serial = p ? p->serial : TRACE_NO_SERIAL;
        track->packet = p ? p->id : 0;
        track->since_ns = item->time_ns;
        if (p) {
            p->queued_ns = item->time_ns;
            packet_tell(m, p, item);
        }
    } else if (item->type == TRACE_EVENT_BEGIN) {
        p = trace_packet_at(m, track->serial);
        if (track->depth != 2 || !p || !trace_span_is(item->name, "held"))
            return;
        track->hold = hold_make(m, item);
        if (p->hold_count < TRACE_PACKET_HOLD)
            p->holds[p->hold_count++] = track->hold;
        if (p->longest.begin == 0)
            p->longest = track->hold;
        if (p->kind == TRACE_PACKET_WAIT && p->fence.name == TRACE_NONE)
            p->fence = track->hold.on;
    } else if (item->type == TRACE_EVENT_END && track->depth > 0) {
        track->depth--;
        if (track->depth == 1 && track->hold.begin)
            hold_end(m, track, item->time_ns);
        p = track->depth == 0 ? trace_packet_at(m, track->serial) : NULL;
        if (p && item->time_ns >= p->queued_ns)
            p->handed_over_ns = item->time_ns;
    }
}

static void hardware_end(struct trace_model *m, struct trace_track *track, uint64_t time_ns)
{
    struct trace_packet *p = trace_packet_at(m, track->serial);
    if (!p || !p->begin_ns || p->end_ns)
        return;
    p->end_ns = time_ns > p->begin_ns ? time_ns : p->begin_ns;
    bf_overlap_add(&m->busy, track->index, p->begin_ns, p->end_ns);
}

static void hardware_instant(struct trace_model *m, struct trace_track *track,
                             const struct trace_item *item)
{
    struct trace_packet *p = NULL;
    /* An instant of a packet whose name is "signal" has an annotation with its kind. */
    bool caption = trace_item_annotation(item, "kind") != NULL;
    /* So may a command buffer be called, whose packet says why it has no times. */
    bool dropped = !trace_item_annotation(item, "without GPU times") && !item->flow_count &&
                   !item->terminating_count;
    if (dropped &&
        (trace_span_is(item->name, "dropped") || trace_span_starts_with(item->name, "dropped: "))) {
        p = packet_of(m, track, item);
        if (p) {
            p->dropped = true;
            p->dropped_ns = item->time_ns;
        }
    } else if (!caption && (trace_span_is(item->name, "unblocked") ||
                            trace_span_starts_with(item->name, "unblocked: "))) {
        p = packet_of(m, track, item);
        if (p) {
            p->unblocked_ns = item->time_ns;
            flows_in(m, item, p);
        }
    } else {
        /* An instant named "signal" alone is where another arrow leaves; its packet number is that
         * of the target. */
        bool mark = !caption && trace_span_is(item->name, "signal");
        p = mark ? NULL : packet_of(m, track, item);
        if (p) {
            packet_tell(m, p, item);
            p->instant = true;
            const struct trace_annotation *why = trace_item_annotation(item, "without GPU times");
            if (why && why->is_text)
                p->why = trace_name_of(m, why->text);
            if (!p->handed_over_ns)
                p->handed_over_ns = item->time_ns;
            flows_in(m, item, p);
        }
        uint64_t serial = p ? p->serial : TRACE_NO_SERIAL;
        if (!p && item->flow_count)
            serial = marked_packet(m, track->index, item->time_ns);
        flows_out(m, item, serial, track->index, false, false,
                  p ? p->fence : (struct trace_fence){.name = TRACE_NONE});
    }
}

static void hardware_event(struct trace_model *m, struct trace_track *track,
                           const struct trace_item *item)
{
    if (item->type == TRACE_EVENT_INSTANT) {
        hardware_instant(m, track, item);
    } else if (item->type == TRACE_EVENT_BEGIN && track->depth++ == 0) {
        struct trace_packet *p = packet_of(m, track, item);
        track->serial = p ? p->serial : TRACE_NO_SERIAL;
        if (p && !p->begin_ns) {
            packet_tell(m, p, item);
            p->begin_ns = item->time_ns;
            flows_in(m, item, p);
            flows_out(m, item, p->serial, track->index, false, false, p->fence);
        }
    } else if (item->type == TRACE_EVENT_END && track->depth > 0 && --track->depth == 0) {
        hardware_end(m, track, item->time_ns);
    }
}

struct trace_operation *trace_operation_at(struct trace_model *m, uint64_t number_plus)
{
    if (number_plus == 0 || number_plus + TRACE_OPERATIONS <= m->operation_count)
        return NULL;
    return &m->operations[(number_plus - 1) % TRACE_OPERATIONS];
}

static void value_take(struct trace_model *m, const struct trace_operation *o)
{
    if (o->fence.name == TRACE_NONE || !o->fence.valued)
        return;
    struct trace_value *value = &m->values[o->fence.name];
    if (o->done_ns >= value->at_ns)
        *value = (struct trace_value){o->done_ns, o->fence.value};
}

/* A signal has been executed, or a wait is over. */
static void operation_end(struct trace_model *m, struct trace_track *track,
                          const struct trace_item *item)
{
    struct trace_operation *o = trace_operation_at(m, track->operation);
    track->operation = 0;
    if (!o)
        return;
    const struct trace_annotation *a = trace_item_annotation(item, "ended by");
    struct trace_span by = a && a->is_text ? a->text : (struct trace_span){NULL, 0};
    if (trace_span_is(by, "dropped"))
        return;
    o->done_ns = item->time_ns;
    o->late = trace_item_annotation(item, "at most") || trace_span_is(by, "entry without time") ||
              trace_span_is(by, "lost entry");
    m->lost.late_ends += o->late;
    struct trace_packet *p = trace_packet_at(m, o->serial);
    if (!o->wait) {
        value_take(m, o);
        if (p && !o->late && o->done_ns > p->signalled_ns)
            p->signalled_ns = o->done_ns;
        flows_out(m, item, o->serial, o->queue, !o->late, o->late, o->fence);
    } else if (p) {
        if (o->done_ns >= p->unblocked_ns) {
            p->waited = o->fence;
            p->released = trace_span_is(by, "fence destroyed");
        }
        uint64_t *over_ns = o->late ? &p->late_ns : &p->unblocked_ns;
        if (o->done_ns > *over_ns)
            *over_ns = o->done_ns;
        flows_in(m, item, p);
    }
}

static struct trace_operation *operation_add(struct trace_model *m, const struct trace_item *item,
                                             bool wait, uint32_t queue)
{
    struct trace_operation *o = &m->operations[m->operation_count++ % TRACE_OPERATIONS];
    if (queue < m->queue_count)
        m->queues[queue].fence_boxes++;
    *o = (struct trace_operation){
        .wait = wait,
        .queue = queue,
        .serial = TRACE_NO_SERIAL,
        .queued_ns = item->time_ns,
        .fence = trace_fence_of(m, item),
    };
    if (!wait && o->fence.name != TRACE_NONE) {
        o->older = m->signals[o->fence.name];
        m->signals[o->fence.name] = m->operation_count;
    }
    return o;
}

static void operation_begin(struct trace_model *m, struct trace_track *track,
                            const struct trace_item *item)
{
    track->operation = 0;
    bool wait = trace_span_starts_with(item->name, "wait");
    if (!wait && !trace_span_starts_with(item->name, "signal"))
        return;
    struct trace_operation *o = operation_add(m, item, wait, track->index);
    track->operation = m->operation_count;
    track->waits = wait;
    track->hold = (struct trace_hold){.begin = item->time_ns, .on = o->fence};
    if (!id_of(item, &track->packet))
        track->packet = 0;
    struct trace_packet *p = NULL;
    if (trace_item_annotation(item, "packet"))
        p = packet_of(m, track, item);
    if (!p)
        return;
    o->serial = p->serial;
    p->has_operation = true;
    if (!p->queued_ns)
        p->queued_ns = item->time_ns;
    if (p->kind == (wait ? TRACE_PACKET_WAIT : TRACE_PACKET_SIGNAL))
        p->fence = o->fence;
}

/* Handles the box of a fence operation, from queued to done. Events inside it are skipped. */
static void operation_event(struct trace_model *m, struct trace_track *track,
                            const struct trace_item *item)
{
    if (item->type ==
        TRACE_EVENT_INSTANT) { /* its begin isn't in the trace, or there was no lane */
        const struct trace_track open = *track;
        operation_begin(m, track, item);
        operation_end(m, track, item);
        *track = open;
    } else if (item->type == TRACE_EVENT_BEGIN && track->depth++ == 0) {
        operation_begin(m, track, item);
    } else if (item->type == TRACE_EVENT_END && track->depth > 0 && --track->depth == 0) {
        operation_end(m, track, item);
    }
}

static void time_range_extend(struct trace_model *m, uint64_t time_ns)
{
    if (!m->first_ns || time_ns < m->first_ns)
        m->first_ns = time_ns;
    if (time_ns > m->last_ns)
        m->last_ns = time_ns;
}

/* Each device's watchdog tells of it when it wakes up. */
static void stop_take(struct trace_model *m, uint64_t end_ns, uint64_t at_least_ns)
{
    bool same = m->stop_end_ns && end_ns - at_least_ns < m->stop_end_ns;
    if (!same)
        m->stop_ns = 0;
    if (at_least_ns > m->stop_ns) {
        m->stopped_ns += at_least_ns - m->stop_ns;
        m->stop_ns = at_least_ns;
    }
    if (!same || end_ns > m->stop_end_ns)
        m->stop_end_ns = end_ns;
}

static void process_event(struct trace_model *m, struct trace_track *track,
                          const struct trace_item *item)
{
    if (trace_span_is(item->name, "Belfry: tracing begins")) {
        if (track->belfry)
            return;
        track->belfry = true;
        track->index = m->process_count++;
        if (track->index > 0)
            return;
        snprintf(m->program, sizeof(m->program), "%s", track->name);
        const struct trace_annotation *a = trace_item_annotation(item, "device");
        if (a && a->is_text)
            trace_span_copy(a->text, m->device, sizeof(m->device));
        a = trace_item_annotation(item, "driver");
        if (a && a->is_text)
            trace_span_copy(a->text, m->driver, sizeof(m->driver));
    } else if (trace_span_is(item->name, "Belfry: tracing ends")) {
        m->ended++;
        trace_process_end(m, track, item->time_ns);
        if (m->first_ns && item->time_ns > m->last_ns)
            m->last_ns = item->time_ns;
    } else if (trace_span_is(item->name, "standstill") ||
               trace_span_is(item->name, "device lost")) {
        const struct trace_annotation *a = trace_item_annotation(item, "line");
        if (trace_span_is(item->name, "device lost"))
            trace_process_lose(m, track, item->time_ns);
        if (!a || !a->is_text)
            return;
        trace_span_copy(a->text, m->told, sizeof(m->told));
        m->told_count++;
        m->told_ns = item->time_ns;
        time_range_extend(m, item->time_ns);
    } else if (trace_span_is(item->name, "stopped")) {
        const struct trace_annotation *a = trace_item_annotation(item, "at least ns");
        if (a && !a->is_text && a->number <= item->time_ns)
            stop_take(m, item->time_ns, a->number);
    } else if (trace_span_is(item->name, "GPU times are uncalibrated")) {
        m->uncalibrated = true;
    }
}

/* Belfry's own work is counted, and nothing more. */
static void own_event(struct trace_model *m, struct trace_track *track,
                      const struct trace_item *item)
{
    if (strcmp(track->name, "fence operations") == 0)
        return;
    bool hardware = strcmp(track->name, "hardware queue") == 0;
    if (item->type == TRACE_EVENT_BEGIN && track->depth++ == 0) {
        track->hold.begin = item->time_ns;
        m->own_submissions += !hardware && item_packet_kind(item) == TRACE_PACKET_EXECUTE;
    } else if (item->type == TRACE_EVENT_END && track->depth > 0 && --track->depth == 0) {
        if (hardware && item->time_ns > track->hold.begin)
            m->own_ns += item->time_ns - track->hold.begin;
    }
}

/* Counts what the trace says is missing from it. */
static bool lost_take(struct trace_model *m, const struct trace_track *track,
                      const struct trace_item *item)
{
    bool entries =
        track->kind == TRACE_TRACK_FENCES && trace_span_is(item->name, "lost log entries");
    bool events = track->kind == TRACE_TRACK_PROCESS && trace_span_is(item->name, "lost events");
    if (item->type != TRACE_EVENT_INSTANT || (!entries && !events))
        return false;
    const struct trace_annotation *a = trace_item_annotation(item, "count");
    uint64_t count = a && !a->is_text && a->number <= UINT32_MAX ? a->number : 1;
    if (entries)
        m->lost.log_entries += count;
    else
        m->lost.events += count;
    return true;
}

/* User-mode submission. */
static void ring_event(struct trace_model *m, const struct trace_item *item)
{
    const struct trace_annotation *a = trace_item_annotation(item, "entries");
    if (item->type != TRACE_EVENT_INSTANT)
        return;
    if (trace_span_is(item->name, "ring read")) {
        m->rings.reads++;
        m->rings.entries += a && !a->is_text ? a->number : 0;
    }
    m->rings.connected += trace_span_is(item->name, "doorbell connected");
    m->rings.taken += trace_span_is(item->name, "doorbell taken away");
    m->rings.notified += trace_span_is(item->name, "doorbell notified");
}

static void model_add_event(struct trace_model *m, const struct trace_item *item)
{
    struct trace_track *track = trace_track_find(m, item->track);
    if (!track)
        return;
    if (item->time_ns == 0 || item->time_ns > TIME_MAX) {
        m->lost.times++;
        return;
    }
    if (lost_take(m, track, item))
        return;
    switch (track->kind) {
    case TRACE_TRACK_PROCESS:
        process_event(m, track, item);
        return;
    case TRACE_TRACK_OWN:
        own_event(m, track, item);
        return;
    case TRACE_TRACK_SOFTWARE:
        software_event(m, track, item);
        break;
    case TRACE_TRACK_HARDWARE:
        hardware_event(m, track, item);
        break;
    case TRACE_TRACK_PRESENTS:
        if (item->type == TRACE_EVENT_INSTANT)
            hardware_instant(m, track, item);
        else
            software_event(m, track, item);
        break;
    case TRACE_TRACK_FENCES:
        operation_event(m, track, item);
        break;
    case TRACE_TRACK_HOST:
        if (item->type != TRACE_EVENT_INSTANT)
            return;
        if (!trace_span_is(item->name, "host signal"))
            return;
        m->host_signals++;
        struct trace_operation *o = operation_add(m, item, false, TRACE_CAUSE_CPU);
        o->done_ns = item->time_ns;
        value_take(m, o);
        flows_out(m, item, TRACE_NO_SERIAL, TRACE_CAUSE_CPU, true, false, trace_fence_of(m, item));
        break;
    default:
        ring_event(m, item);
        return;
    }
    time_range_extend(m, item->time_ns);
}

void trace_model_add(struct trace_model *m, const struct trace_item *item)
{
    if (item->kind == TRACE_ITEM_TRACK)
        trace_track_take(m, item);
    else if (item->kind == TRACE_ITEM_EVENT)
        model_add_event(m, item);
}
