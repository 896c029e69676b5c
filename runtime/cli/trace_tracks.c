/* SPDX-License-Identifier: MIT */
/* Assigns a trace's tracks to processes, engines and queues, and names fences. */
#include "cli/trace_tracks.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"

#define SEVERAL ", several devices"

/* --- Names ------------------------------------------------------------------------------------*/

static uint64_t text_hash(const char *text)
{
    uint64_t hash = 0xCBF29CE484222325u;
    for (; *text; text++)
        hash = (hash ^ (uint8_t)*text) * 0x100000001B3u;
    return bf_map_hash(hash);
}

/* Which of a process's objects has the name; several may have the same. 0: it is just a text. */
static uint64_t object_key(uint32_t process, uint64_t number)
{
    return (uint64_t)(process + 1) << 40 ^ number;
}

/* An object may get another name. */
static uint32_t name_add(struct trace_model *m, const char *text, uint64_t object, bool numbered)
{
    if (!*text)
        return TRACE_NONE;
    uint32_t slots = 2 * TRACE_NAMES_MAX;
    for (uint64_t i = bf_map_hash(object) + (numbered ? 0 : text_hash(text));; i++) {
        uint32_t *slot = &m->name_index[i % slots];
        uint32_t name = *slot ? *slot - 1 : m->name_count;
        bool same = *slot && m->name_objects[name] == object &&
                    (numbered || strcmp(m->names[name], text) == 0);
        if (*slot && !same)
            continue;
        if (!same && m->name_count >= (numbered ? TRACE_OBJECTS_MAX : TRACE_NAMES_MAX)) {
            m->lost.names++;
            return TRACE_NONE;
        }
        snprintf(m->names[name], TRACE_NAME_SIZE, "%s", text);
        m->name_objects[name] = object;
        if (!same)
            *slot = ++m->name_count;
        return name;
    }
}

uint32_t trace_name_of(struct trace_model *m, struct trace_span span)
{
    char text[TRACE_NAME_SIZE];
    trace_span_copy(span, text, sizeof(text));
    return name_add(m, text, 0, false);
}

const char *trace_name(const struct trace_model *m, uint32_t name)
{
    return name < m->name_count ? m->names[name] : "";
}

const char *trace_fence_label(const struct trace_model *m, struct trace_fence fence,
                              char label[TRACE_FENCE_SIZE])
{
    label[0] = 0;
    if (fence.name == TRACE_NONE)
        return label;
    if (fence.valued)
        snprintf(label, TRACE_FENCE_SIZE, "%s = %" PRIu64, trace_name(m, fence.name), fence.value);
    else
        snprintf(label, TRACE_FENCE_SIZE, "%s", trace_name(m, fence.name));
    return label;
}

const char *trace_hold_label(const struct trace_model *m, const struct trace_hold *hold,
                             char label[TRACE_FENCE_SIZE])
{
    if (hold->on_predecessor)
        return "the packet before it";
    if (hold->obstacle_plus)
        return trace_name(m, hold->obstacle_plus - 1);
    return *trace_fence_label(m, hold->on, label) ? label : "an unnamed fence";
}

/* By the number that the trace gives it. Older traces don't, and after too many of them there is no
 * more room: then by its name, which others may have. */
static uint32_t name_of_fence(struct trace_model *m, const struct trace_item *item,
                              const char *text)
{
    const struct trace_track *track = trace_track_find(m, item->track);
    const struct trace_annotation *a = trace_item_annotation(item, "object");
    uint32_t process = track ? trace_process_of(m, track) : 0;
    uint64_t number = a && !a->is_text ? a->number : 0;
    uint32_t name = number ? name_add(m, text, object_key(process, number), true) : TRACE_NONE;
    return name != TRACE_NONE ? name : name_add(m, text, object_key(process, 0), false);
}

struct trace_fence trace_fence_of(struct trace_model *m, const struct trace_item *item)
{
    struct trace_fence fence = {.name = TRACE_NONE};
    const struct trace_annotation *a = trace_item_annotation(item, "fence");
    if (!a)
        a = trace_item_annotation(item, "semaphore");
    if (!a)
        return fence;
    char text[TRACE_NAME_SIZE];
    if (a->is_text)
        trace_span_copy(a->text, text, sizeof(text));
    else
        snprintf(text, sizeof(text), "semaphore 0x%" PRIx64, a->number);
    fence.name = name_of_fence(m, item, text);
    a = trace_item_annotation(item, "value");
    fence.valued = a && !a->is_text;
    fence.value = fence.valued ? a->number : 0;
    return fence;
}

/* --- Tracks -----------------------------------------------------------------------------------*/

static struct trace_track *track_slot(struct trace_track *tracks, uint32_t capacity, uint64_t uuid)
{
    for (uint64_t i = bf_map_hash(uuid);; i++) {
        struct trace_track *track = &tracks[i & (capacity - 1)];
        if (track->uuid == uuid || track->uuid == 0)
            return track;
    }
}

struct trace_track *trace_track_find(struct trace_model *m, uint64_t uuid)
{
    if (!uuid)
        return NULL;
    struct trace_track *track = track_slot(m->tracks, m->track_capacity, uuid);
    return track->uuid ? track : NULL;
}

void trace_process_lose(struct trace_model *m, const struct trace_track *process, uint64_t time_ns)
{
    for (uint32_t i = 0; i < m->queue_count; i++) {
        if (m->queues[i].process == process->index && !m->queues[i].lost_ns)
            m->queues[i].lost_ns = time_ns;
    }
}

void trace_process_end(struct trace_model *m, struct trace_track *process, uint64_t time_ns)
{
    process->ended = m->tracks_to_sweep = true;
    for (uint32_t i = 0; i < m->engine_count; i++)
        m->engines[i].ended |= m->engines[i].process == process->index;
    for (uint32_t i = 0; i < m->queue_count; i++) {
        if (m->queues[i].process != process->index || m->queues[i].ended)
            continue;
        m->queues[i].ended = true;
        m->queues[i].ended_ns = time_ns;
    }
}

static const struct trace_track *process_find(struct trace_model *m,
                                              const struct trace_track *track)
{
    for (int step = 0; step < 8 && track; step++) {
        if (track->kind == TRACE_TRACK_PROCESS)
            return track;
        track = trace_track_find(m, track->parent);
    }
    return NULL;
}

/* Moves the tracks to a new table, but for those of traces that have ended, if they aren't wanted.
 * What is open there stays. */
static bool tracks_move(struct trace_model *m, uint32_t capacity, bool ended_wanted)
{
    struct trace_track *tracks = calloc(capacity, sizeof(*tracks));
    if (!tracks) {
        m->out_of_memory = true;
        return false;
    }
    m->track_count = 0;
    for (uint32_t i = 0; i < m->track_capacity; i++) {
        struct trace_track *track = &m->tracks[i];
        const struct trace_track *process = ended_wanted ? NULL : process_find(m, track);
        if (!track->uuid || (process && process->ended && !track->depth))
            continue;
        *track_slot(tracks, capacity, track->uuid) = *track;
        m->track_count++;
    }
    free(m->tracks);
    m->tracks = tracks;
    m->track_capacity = capacity;
    return true;
}

static struct trace_track *track_add(struct trace_model *m, uint64_t uuid)
{
    struct trace_track *track = trace_track_find(m, uuid);
    if (track)
        return track;
    if (m->track_count == TRACE_TRACKS_MAX && m->tracks_to_sweep && !m->tracks_unswept) {
        m->tracks_to_sweep = false;
        m->tracks_unswept = TRACE_TRACKS_MAX / 32;
        if (!tracks_move(m, m->track_capacity, false))
            return NULL;
    }
    if (m->track_count == TRACE_TRACKS_MAX) {
        m->tracks_unswept -= m->tracks_unswept > 0;
        m->lost.tracks++;
        return NULL;
    }
    if (2 * (m->track_count + 1) > m->track_capacity &&
        !tracks_move(m, 2 * m->track_capacity, true))
        return NULL;
    m->track_count++;
    track = track_slot(m->tracks, m->track_capacity, uuid);
    *track = (struct trace_track){.uuid = uuid, .serial = TRACE_NO_SERIAL};
    return track;
}

/* Is there so little room left that what has ended has to make some? */
static bool is_crowded(const struct trace_model *m)
{
    return 4 * m->engine_count > 3 * TRACE_ENGINES_MAX || 4 * m->queue_count > 3 * TRACE_QUEUES_MAX;
}

/* Without the number of the device, or that there are several. */
static size_t own_length(const char *name)
{
    const char *at = strstr(name, ", device ");
    if (!at)
        at = strstr(name, SEVERAL);
    return at ? (size_t)(at - name) : strlen(name);
}

static bool same_but_for_device(const char *a, const char *b)
{
    size_t length = own_length(a);
    return length == own_length(b) && memcmp(a, b, length) == 0;
}

static void name_for_several(char *name, size_t size)
{
    size_t length = own_length(name);
    if (length + sizeof(SEVERAL) <= size)
        memcpy(name + length, SEVERAL, sizeof(SEVERAL));
}

/* The engine of a device that has ended, in whose place this one comes; or engine_count. */
static uint32_t engine_row_reuse(struct trace_model *m, const char *name)
{
    uint32_t i = is_crowded(m) ? 0 : m->engine_count;
    while (i < m->engine_count &&
           !(m->engines[i].ended && same_but_for_device(m->engines[i].name, name)))
        i++;
    if (i < m->engine_count) {
        m->engines[i].ended = false;
        name_for_several(m->engines[i].name, sizeof(m->engines[i].name));
    }
    return i;
}

static bool engine_make(struct trace_model *m, struct trace_track *track)
{
    if (track->kind == TRACE_TRACK_ENGINE)
        return true;
    struct trace_track *process = trace_track_find(m, track->parent);
    if (!process || process->kind != TRACE_TRACK_PROCESS || !process->belfry)
        return false;
    uint32_t index = engine_row_reuse(m, track->name);
    if (index == TRACE_ENGINES_MAX) {
        m->lost.tracks++;
        return false;
    }
    if (index == m->engine_count) {
        if (!bf_overlap_add_engine(&m->busy)) {
            m->out_of_memory = true;
            return false;
        }
        struct trace_engine *engine = &m->engines[m->engine_count++];
        snprintf(engine->name, sizeof(engine->name), "%s", track->name);
    }
    m->engines[index].process = process->index;
    track->kind = TRACE_TRACK_ENGINE;
    track->index = index;
    return true;
}

/* Likewise, of the same engine. */
static uint32_t queue_row_reuse(struct trace_model *m, uint32_t engine, const char *name)
{
    uint32_t i = is_crowded(m) ? 0 : m->queue_count;
    while (i < m->queue_count && !(m->queues[i].ended && m->queues[i].engine == engine &&
                                   same_but_for_device(m->queues[i].name, name)))
        i++;
    if (i < m->queue_count) {
        m->queues[i].ended = false;
        m->queues[i].ended_ns = m->queues[i].lost_ns = 0;
        m->queues[i].several = true;
        m->queues[i].retired_id = 0;
        name_for_several(m->queues[i].name, sizeof(m->queues[i].name));
    }
    return i;
}

/* Makes a track a queue, because a software or hardware track lies below it, and its parent an
 * engine. */
static bool queue_make(struct trace_model *m, struct trace_track *track)
{
    if (track->kind == TRACE_TRACK_QUEUE)
        return true;
    struct trace_track *engine = trace_track_find(m, track->parent);
    if (!engine || track->kind != TRACE_TRACK_OTHER ||
        (engine->kind != TRACE_TRACK_OTHER && engine->kind != TRACE_TRACK_ENGINE) ||
        !engine_make(m, engine))
        return false;
    uint32_t index = queue_row_reuse(m, engine->index, track->name);
    if (index == TRACE_QUEUES_MAX) {
        m->lost.tracks++;
        return false;
    }
    if (index == m->queue_count) {
        if (!bf_overlap_add_queue(&m->busy, engine->index)) {
            m->out_of_memory = true;
            return false;
        }
        struct trace_queue *queue = &m->queues[m->queue_count++];
        *queue = (struct trace_queue){.engine = engine->index, .last = TRACE_NO_SERIAL};
        snprintf(queue->name, sizeof(queue->name), "%s", track->name);
    }
    m->queues[index].process = m->engines[engine->index].process;
    track->kind = TRACE_TRACK_QUEUE;
    track->index = index;
    return true;
}

void trace_track_take(struct trace_model *m, const struct trace_item *item)
{
    if (!item->track || item->track == item->parent || item->counter)
        return;
    struct trace_track *track = track_add(m, item->track);
    if (!track)
        return;
    trace_span_copy(item->name, track->name, sizeof(track->name));
    /* Its name has arrived meanwhile. */
    if (track->kind == TRACE_TRACK_QUEUE && !m->queues[track->index].several)
        snprintf(m->queues[track->index].name, TRACE_LABEL_SIZE, "%s", track->name);
    if (track->kind != TRACE_TRACK_OTHER)
        return;
    track->parent = item->parent;
    if (item->process) {
        track->kind = TRACE_TRACK_PROCESS;
        return;
    }
    struct trace_track *parent = trace_track_find(m, track->parent);
    if (!parent)
        return;
    if (parent->kind == TRACE_TRACK_PROCESS && parent->belfry &&
        trace_span_is(item->name, "host signals")) {
        track->kind = TRACE_TRACK_HOST;
        track->index = parent->index;
        return;
    }
    if (parent->kind == TRACE_TRACK_OWN || (parent->kind == TRACE_TRACK_PROCESS && parent->belfry &&
                                            trace_span_is(item->name, "Belfry"))) {
        track->kind = TRACE_TRACK_OWN;
        return;
    }
    enum trace_track_kind kind =
        trace_span_is(item->name, "software queue")     ? TRACE_TRACK_SOFTWARE
        : trace_span_is(item->name, "hardware queue")   ? TRACE_TRACK_HARDWARE
        : trace_span_is(item->name, "presents")         ? TRACE_TRACK_PRESENTS
        : trace_span_is(item->name, "fence operations") ? TRACE_TRACK_FENCES
                                                        : TRACE_TRACK_OTHER;
    if (kind != TRACE_TRACK_OTHER && queue_make(m, parent)) {
        track->kind = kind;
        track->index = parent->index;
    }
}

uint32_t trace_process_of(struct trace_model *m, const struct trace_track *track)
{
    const struct trace_track *process = process_find(m, track);
    return process ? process->index : 0;
}
