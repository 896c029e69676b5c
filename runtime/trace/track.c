/* SPDX-License-Identifier: MIT */
/* Describes the tracks of a trace, and writes events to them. */
#include <inttypes.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "trace/state.h"

/* How many track numbers each engine and queue has. Numbers beyond the last one's still differ from
 * those of other traces. */
#define TRACKS_EACH 1024

_Static_assert((int)BF_TRACK_QUEUE_END <= TRACKS_EACH,
               "a queue's tracks have numbers of their own");

uint64_t bf_trace_track(const struct bf_trace *t, enum bf_trace_track track)
{
    return t->base + (uint64_t)track;
}

uint64_t bf_trace_engine_track(const struct bf_trace *t, uint32_t engine, enum bf_trace_track track)
{
    return t->base + (1 + 2 * (uint64_t)engine) * TRACKS_EACH + (uint64_t)track;
}

uint64_t bf_trace_queue_track(const struct bf_trace *t, uint32_t queue, uint32_t track)
{
    return t->base + (2 + 2 * (uint64_t)queue) * TRACKS_EACH + track;
}

/* --- Writing ----------------------------------------------------------------------------------*/

/* Writes how many events were left out, as soon as there is room again. */
static void lost_tell(struct bf_trace *t, uint64_t now)
{
    if (t->lost == t->lost_told || !bf_trace_room(t, false))
        return;
    const struct bf_perfetto_annotation about = {
        .name = BF_STRING_COUNT, .kind = BF_PERFETTO_UINT, .number = t->lost - t->lost_told};
    size_t begin = t->output->pb.size;
    bf_perfetto_write_event(&t->output->pb, &t->now,
                            &(struct bf_perfetto_event){
                                .time_ns = now,
                                .track = bf_trace_track(t, BF_TRACK_PROCESS),
                                .type = BF_PERFETTO_INSTANT,
                                .category = BF_STRING_LOST,
                                .name = BF_STRING_LOST_EVENTS,
                                .annotation_count = 1,
                                .annotations = &about,
                            });
    bf_output_wrote(t->output, begin, true, now);
    t->lost_told = t->lost;
}

bool bf_trace_event(struct bf_trace *t, struct bf_perfetto_sequence *sequence,
                    const struct bf_perfetto_event *event)
{
    if (!t->drawing)
        return false;
    uint64_t now = sequence == &t->now ? event->time_ns : bf_now_ns();
    if (t->lost != t->lost_told)
        lost_tell(t, now);
    if (!bf_trace_room(t, event->type == BF_PERFETTO_END)) {
        t->lost += event->type == BF_PERFETTO_BEGIN ? 2 : 1; /* its end is left out, too */
        return false;
    }
    if (event->type == BF_PERFETTO_BEGIN) {
        t->open++;
        t->output->open++;
    } else if (event->type == BF_PERFETTO_END) {
        t->open--;
        t->output->open--;
    }
    size_t begin = t->output->pb.size;
    bf_perfetto_write_event(&t->output->pb, sequence, event);
    bf_output_wrote(t->output, begin, true, now);
    return true;
}

void bf_trace_counter(struct bf_trace *t, uint32_t engine, enum bf_trace_track counter,
                      int64_t value, uint64_t now)
{
    bf_trace_event(t, &t->now,
                   &(struct bf_perfetto_event){.time_ns = now,
                                               .track = bf_trace_engine_track(t, engine, counter),
                                               .type = BF_PERFETTO_COUNTER,
                                               .counter = value});
}

void bf_trace_count_for(struct bf_trace *t, uint32_t index, enum bf_trace_track counter, int64_t by,
                        uint64_t now)
{
    const struct bf_trace_queue *queue = &t->queues[index];
    struct bf_trace_engine *engine = &t->engines[queue->engine];
    int64_t *value = counter == BF_TRACK_HELD        ? &engine->held
                     : counter == BF_TRACK_IN_FLIGHT ? &engine->in_flight
                                                     : &engine->signals_pending;
    if (queue->own)
        return;
    *value += by;
    bf_trace_counter(t, queue->engine, counter, *value, now);
}

void bf_trace_extend_for(struct bf_trace *t, uint32_t queue, uint64_t now)
{
    if (!t->queues[queue].own)
        bf_summary_extend(&t->summary, now);
}

/* False: there was no room; to be tried again when the track is next used. */
static bool track_write(struct bf_trace *t, const struct bf_perfetto_track *track)
{
    if (!t->drawing)
        return true;
    if (!bf_trace_room(t, false))
        return false;
    size_t begin = t->output->pb.size;
    bf_perfetto_write_track(&t->output->pb, &t->now, track);
    bf_output_wrote(t->output, begin, false,
                    t->output->pending_since_ns ? t->output->pending_since_ns : bf_now_ns());
    return true;
}

/* --- Descriptions -----------------------------------------------------------------------------*/

static uint64_t clock_read(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

void bf_trace_process_describe(struct bf_trace *t)
{
    char label[2 * BF_TRACE_NAME + 4];
    if (t->name[0])
        snprintf(label, sizeof(label), "%s (%s)", t->program, t->name);
    else
        snprintf(label, sizeof(label), "%s", t->program);
    track_write(t, &(struct bf_perfetto_track){.uuid = bf_trace_track(t, BF_TRACK_PROCESS),
                                               .name = label,
                                               .process = true,
                                               .pid = getpid()});
}

static void head_write(struct bf_trace *t)
{
    const struct bf_perfetto_clocks clocks = {
        .monotonic_ns = clock_read(CLOCK_MONOTONIC),
        .boottime_ns = clock_read(CLOCK_BOOTTIME),
        .realtime_ns = clock_read(CLOCK_REALTIME),
    };
    size_t begin = t->output->pb.size;
    bf_perfetto_write_clocks(&t->output->pb, &t->now, &clocks);
    bf_perfetto_write_sequence(&t->output->pb, &t->late);
    bf_output_wrote(t->output, begin, false, clocks.monotonic_ns);
    uint64_t process = bf_trace_track(t, BF_TRACK_PROCESS);
    bf_trace_process_describe(t);
    const struct bf_perfetto_annotation about[] = {
        {.name = BF_STRING_DEVICE, .kind = BF_PERFETTO_STRING, .text = t->device},
        {.name = BF_STRING_DRIVER, .kind = BF_PERFETTO_STRING, .text = t->driver},
    };
    bf_trace_event(t, &t->now,
                   &(struct bf_perfetto_event){.time_ns = clocks.monotonic_ns,
                                               .track = process,
                                               .type = BF_PERFETTO_INSTANT,
                                               .category = BF_STRING_BELFRY,
                                               .name = BF_STRING_TRACING_BEGINS,
                                               .annotation_count = 2,
                                               .annotations = about});
}

bool bf_trace_room(struct bf_trace *t, bool end)
{
    if (!bf_output_room(t->output, end))
        return false;
    if (t->begun)
        return true;
    t->begun = true;
    head_write(t);
    return bf_output_room(t->output, end);
}

static void engine_describe(struct bf_trace *t, uint32_t index)
{
    static const struct {
        enum bf_trace_track track;
        const char *name;
        const char *unit;
    } counters[] = {
        {BF_TRACK_IN_FLIGHT, "packets in flight", "packets"},
        {BF_TRACK_HELD, "packets held", "packets"},
        {BF_TRACK_SIGNALS_PENDING, "signals pending", "signals"},
        {BF_TRACK_LOST_ENTRIES, "log entries lost", "entries"},
    };
    struct bf_trace_engine *engine = &t->engines[index];
    if (engine->described)
        return;
    uint64_t uuid = bf_trace_engine_track(t, index, BF_TRACK_ENGINE);
    bool done =
        track_write(t, &(struct bf_perfetto_track){.uuid = uuid,
                                                   .parent = bf_trace_track(t, BF_TRACK_PROCESS),
                                                   .name = engine->name,
                                                   .rank = 1 + (int32_t)index});
    for (int32_t i = 0; i < 4 && done; i++)
        done = track_write(t, &(struct bf_perfetto_track){
                                  .uuid = bf_trace_engine_track(t, index, counters[i].track),
                                  .parent = uuid,
                                  .name = counters[i].name,
                                  .rank = i,
                                  .counter = true,
                                  .unit = counters[i].unit});
    engine->described = done;
}

void bf_trace_queue_label(const struct bf_trace_queue *queue, char label[BF_TRACE_QUEUE_LABEL])
{
    if (queue->debug_name[0])
        snprintf(label, BF_TRACE_QUEUE_LABEL, "%s (%s)", queue->debug_name, queue->name);
    else
        snprintf(label, BF_TRACE_QUEUE_LABEL, "%s", queue->name);
}

static bool queue_track_write(struct bf_trace *t, uint32_t index)
{
    struct bf_trace_queue *queue = &t->queues[index];
    char label[BF_TRACE_QUEUE_LABEL];
    bf_trace_queue_label(queue, label);
    return track_write(
        t, &(struct bf_perfetto_track){
               .uuid = bf_trace_queue_track(t, index, BF_TRACK_QUEUE),
               .parent = queue->own ? bf_trace_track(t, BF_TRACK_OWN)
                                    : bf_trace_engine_track(t, queue->engine, BF_TRACK_ENGINE),
               .name = label,
               .rank = 4 + (int32_t)index});
}

/* Behind the engines, of which a device has fewer. */
#define OWN_RANK 1000000

static void own_describe(struct bf_trace *t)
{
    if (!t->own_described)
        t->own_described = track_write(
            t, &(struct bf_perfetto_track){.uuid = bf_trace_track(t, BF_TRACK_OWN),
                                           .parent = bf_trace_track(t, BF_TRACK_PROCESS),
                                           .name = "Belfry",
                                           .rank = OWN_RANK});
}

/* A queue is described when it is first used, since readers may keep the first name they find: by
 * then most names have been given. */
static void queue_describe(struct bf_trace *t, uint32_t index)
{
    struct bf_trace_queue *queue = &t->queues[index];
    if (queue->own)
        own_describe(t);
    else
        engine_describe(t, queue->engine);
    if (!queue->described && (queue->own ? t->own_described : t->engines[queue->engine].described))
        queue->described = queue_track_write(t, index);
}

uint64_t bf_trace_ring_track(struct bf_trace *t, uint32_t index)
{
    queue_describe(t, index);
    return bf_trace_queue_track(t, index, BF_TRACK_QUEUE);
}

void bf_trace_queue_describe_anew(struct bf_trace *t, uint32_t index)
{
    if (t->queues[index].described)
        queue_track_write(t, index);
}

static uint64_t lane_track(struct bf_trace *t, uint32_t index, uint32_t first, uint32_t lane,
                           uint32_t *described, const char *name, int32_t rank)
{
    queue_describe(t, index);
    while (*described <= lane &&
           track_write(t, &(struct bf_perfetto_track){
                              .uuid = bf_trace_queue_track(t, index, first + *described),
                              .parent = bf_trace_queue_track(t, index, BF_TRACK_QUEUE),
                              .name = name,
                              .rank = rank}))
        ++*described;
    return bf_trace_queue_track(t, index, first + lane);
}

uint64_t bf_trace_software_track(struct bf_trace *t, uint32_t queue, uint32_t lane)
{
    return lane_track(t, queue, BF_TRACK_SOFTWARE, lane, &t->queues[queue].software_lanes,
                      "software queue", 0);
}

uint64_t bf_trace_hardware_track(struct bf_trace *t, uint32_t queue, uint32_t lane)
{
    return lane_track(t, queue, BF_TRACK_HARDWARE, lane, &t->queues[queue].hardware_lanes,
                      "hardware queue", 1);
}

uint64_t bf_trace_present_track(struct bf_trace *t, uint32_t queue, uint32_t lane)
{
    return lane_track(t, queue, BF_TRACK_PRESENTS, lane, &t->queues[queue].present_lanes,
                      "presents", 3);
}

uint64_t bf_trace_fence_track(struct bf_trace *t, uint32_t queue, uint32_t lane)
{
    return lane_track(t, queue, BF_TRACK_FENCES, lane, &t->queues[queue].fence_lanes,
                      "fence operations", 2);
}

uint64_t bf_trace_host_track(struct bf_trace *t)
{
    uint64_t uuid = bf_trace_track(t, BF_TRACK_HOST);
    if (!t->host_described)
        t->host_described = track_write(
            t, &(struct bf_perfetto_track){.uuid = uuid,
                                           .parent = bf_trace_track(t, BF_TRACK_PROCESS),
                                           .name = "host signals",
                                           .rank = 0});
    return uuid;
}

uint64_t bf_trace_background_track(struct bf_trace *t, uint32_t lane)
{
    uint64_t uuid = bf_trace_track(t, BF_TRACK_BACKGROUND) + lane;
    uint32_t bit = 1u << lane;
    if (!(t->background_described & bit) &&
        track_write(t, &(struct bf_perfetto_track){.uuid = uuid,
                                                   .parent = bf_trace_track(t, BF_TRACK_PROCESS),
                                                   .name = "background processing",
                                                   .rank = 0}))
        t->background_described |= bit;
    return uuid;
}

/* --- What is said about events ----------------------------------------------------------------*/

/* NULL: it has none. */
static const char *name_of_known(const struct bf_trace_semaphore *known)
{
    return known && known->name[0] ? known->name : NULL;
}

const char *bf_trace_semaphore_name(struct bf_trace *t, uint64_t semaphore)
{
    return semaphore ? name_of_known(bf_map_find(&t->semaphores, semaphore)) : NULL;
}

enum bf_string bf_trace_obstacle_word(struct bf_trace_sync obstacle)
{
    return obstacle.value == BF_TRACE_SUSPENSION.value   ? BF_STRING_SUSPENSION
           : obstacle.value == BF_TRACE_PREEMPTION.value ? BF_STRING_PREEMPTION
           : obstacle.value == BF_TRACE_WINDOW.value     ? BF_STRING_WINDOW
                                                         : BF_STRING_BEFORE_IT;
}

uint32_t bf_trace_sync_annotate(struct bf_trace *t, enum bf_string what, struct bf_trace_sync sync,
                                struct bf_perfetto_annotation a[4])
{
    uint32_t n = 0;
    if (!sync.semaphore) {
        a[n++] = (struct bf_perfetto_annotation){.name = BF_STRING_WAITS_FOR,
                                                 .kind = BF_PERFETTO_INTERNED,
                                                 .number = bf_trace_obstacle_word(sync)};
        return n;
    }
    const struct bf_trace_semaphore *known = bf_trace_semaphore_of(t, sync.semaphore);
    const char *name = name_of_known(known);
    if (name)
        a[n++] =
            (struct bf_perfetto_annotation){.name = what,
                                            .kind = BF_PERFETTO_INTERNED,
                                            .number = bf_interning_number(&t->interning, name)};
    a[n++] = (struct bf_perfetto_annotation){.name = name ? BF_STRING_HANDLE : what,
                                             .kind = BF_PERFETTO_POINTER,
                                             .number = sync.semaphore};
    a[n++] = (struct bf_perfetto_annotation){
        .name = BF_STRING_VALUE, .kind = BF_PERFETTO_UINT, .number = sync.value};
    if (known)
        a[n++] = (struct bf_perfetto_annotation){
            .name = BF_STRING_OBJECT, .kind = BF_PERFETTO_UINT, .number = known->number};
    return n;
}

void bf_trace_arrow_end(struct bf_trace *t, uint64_t time_ns, uint64_t track, enum bf_string name,
                        uint64_t packet, const uint64_t *from, const uint64_t *to)
{
    const struct bf_perfetto_annotation about = {
        .name = BF_STRING_PACKET, .kind = BF_PERFETTO_UINT, .number = packet};
    bf_trace_event(t, &t->late,
                   &(struct bf_perfetto_event){.time_ns = time_ns,
                                               .track = track,
                                               .type = BF_PERFETTO_INSTANT,
                                               .category = BF_STRING_ARROW,
                                               .name = name,
                                               .flow_count = from ? 1 : 0,
                                               .flows = from,
                                               .terminating_flow_count = to ? 1 : 0,
                                               .terminating_flows = to,
                                               .annotation_count = packet ? 1 : 0,
                                               .annotations = &about});
}
