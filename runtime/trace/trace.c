#include "trace/trace.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "os/clock.h"
#include "os/lock.h"
#include "os/log.h"
#include "os/map.h"
#include "trace/file.h"
#include "trace/flow.h"
#include "trace/perfetto.h"
#include "trace/protobuf.h"
#include "trace/summary.h"

#define BUFFER_SIZE     (64 * 1024)
#define PACKET_SIZE_MAX 2048 /* no packet of ours is longer: names and arrows are bounded */
#define FLUSH_NS        100000000u
#define NAME_SIZE       128

#define SOFTWARE_LANES 256
#define HARDWARE_LANES 8
#define LANE_NONE      UINT32_MAX

/* Times on the first sequence only grow; what is drawn in arrears goes to the second. */
enum {
    SEQUENCE_NOW = 1,
    SEQUENCE_LATE = 2,
};

/* What a track's number is made from. */
enum track_kind {
    TRACK_PROCESS,
    TRACK_HOST,
    TRACK_ENGINE,
    TRACK_HELD_COUNTER,
    TRACK_FLIGHT_COUNTER,
    TRACK_QUEUE,
    TRACK_SOFTWARE,
    TRACK_HARDWARE,
    TRACK_FLOW, /* no track: where the arrows' numbers begin */
};

struct engine {
    char name[NAME_SIZE];
    bool described;
    int64_t held;
    int64_t in_flight;
};

struct queue {
    char name[NAME_SIZE];       /* as it was added */
    char debug_name[NAME_SIZE]; /* as the program calls it, or "" */
    uint32_t engine;
    bool described;
    uint32_t software_lanes; /* described */
    uint32_t hardware_lanes;
    uint64_t taken[SOFTWARE_LANES / 64];
    uint64_t lane_end[HARDWARE_LANES];
};

struct bf_trace {
    struct bf_lock lock;
    char program[NAME_SIZE];
    char device[256]; /* VK_MAX_PHYSICAL_DEVICE_NAME_SIZE */
    char driver[256];
    uint64_t base; /* makes the numbers of tracks and arrows unlike those of other traces */

    bool writing;
    bool complained;
    int error; /* on which the file was given up */
    struct bf_trace_file file;
    struct bf_protobuf pb;
    uint64_t pending_since_ns; /* 0: nothing is pending */

    struct engine *engines;
    struct queue *queues;
    uint32_t engine_count;
    uint32_t queue_count;
    uint64_t last_packet;
    bool host_described;
    struct bf_map names; /* semaphore → char *, owned */
    struct bf_flow *flow;
    struct bf_summary summary;
    uint8_t buffer[BUFFER_SIZE];
};

/* --- Writing ----------------------------------------------------------------------------------*/

static void flush_locked(struct bf_trace *t)
{
    if (t->pb.size && t->writing) {
        t->error = bf_trace_file_write(&t->file, t->pb.data, t->pb.size);
        if (t->error)
            t->writing = false;
    }
    bf_protobuf_rewind(&t->pb, 0);
    t->pending_since_ns = 0;
}

/* Ends every public function: flushes when it is time, and complains outside the lock. */
static void leave(struct bf_trace *t, uint64_t now, bool flush)
{
    if (t->pb.size) {
        if (!t->pending_since_ns)
            t->pending_since_ns = now;
        if (flush || now - t->pending_since_ns >= FLUSH_NS)
            flush_locked(t);
    }
    bool complain = t->error && !t->complained;
    int error = t->error;
    t->complained |= complain;
    bf_lock_release(&t->lock);
    if (complain)
        bf_log(BF_LOG_ERROR, "trace: can't write to '%s': %s; the timeline ends here", t->file.path,
               strerror(error));
}

/* Makes room for one packet; returns where it begins. */
static size_t packet_begin(struct bf_trace *t)
{
    if (BUFFER_SIZE - t->pb.size < PACKET_SIZE_MAX)
        flush_locked(t);
    return t->pb.size;
}

static void packet_end(struct bf_trace *t, size_t begin)
{
    if (t->pb.failed)
        bf_protobuf_rewind(&t->pb, begin);
}

static void event_write(struct bf_trace *t, uint32_t sequence,
                        const struct bf_perfetto_event *event)
{
    if (!t->writing)
        return;
    size_t begin = packet_begin(t);
    bf_perfetto_write_event(&t->pb, sequence, event);
    packet_end(t, begin);
}

static void track_write(struct bf_trace *t, const struct bf_perfetto_track *track)
{
    if (!t->writing)
        return;
    size_t begin = packet_begin(t);
    bf_perfetto_write_track(&t->pb, SEQUENCE_NOW, track);
    packet_end(t, begin);
}

/* --- Tracks -----------------------------------------------------------------------------------*/

static uint64_t scramble(uint64_t x)
{
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9u;
    x = (x ^ x >> 27) * 0x94D049BB133111EBu;
    return x ^ x >> 31;
}

/* Scrambling is one-to-one and takes only 0 to 0, so no two tracks share a number. */
static uint64_t track_of(const struct bf_trace *t, enum track_kind kind, uint32_t index,
                         uint32_t lane)
{
    uint64_t number = scramble(t->base + ((uint64_t)kind << 56 | (uint64_t)index << 16 | lane));
    return number ? number : 1;
}

static void engine_describe(struct bf_trace *t, uint32_t index)
{
    struct engine *engine = &t->engines[index];
    if (engine->described)
        return;
    engine->described = true;
    uint64_t uuid = track_of(t, TRACK_ENGINE, index, 0);
    track_write(t, &(struct bf_perfetto_track){.uuid = uuid,
                                               .parent = track_of(t, TRACK_PROCESS, 0, 0),
                                               .name = engine->name,
                                               .rank = 1 + (int32_t)index});
    track_write(t, &(struct bf_perfetto_track){.uuid = track_of(t, TRACK_FLIGHT_COUNTER, index, 0),
                                               .parent = uuid,
                                               .name = "packets in flight",
                                               .rank = 0,
                                               .counter = true,
                                               .unit = "packets"});
    track_write(t, &(struct bf_perfetto_track){.uuid = track_of(t, TRACK_HELD_COUNTER, index, 0),
                                               .parent = uuid,
                                               .name = "packets held",
                                               .rank = 1,
                                               .counter = true,
                                               .unit = "packets"});
}

/* "what the program calls it (what we call it)", or the latter alone. */
static void queue_label(const struct queue *queue, char label[2 * NAME_SIZE + 4])
{
    if (queue->debug_name[0])
        snprintf(label, 2 * NAME_SIZE + 4, "%s (%s)", queue->debug_name, queue->name);
    else
        snprintf(label, 2 * NAME_SIZE + 4, "%s", queue->name);
}

static void queue_track_write(struct bf_trace *t, uint32_t index)
{
    struct queue *queue = &t->queues[index];
    char label[2 * NAME_SIZE + 4];
    queue_label(queue, label);
    track_write(t,
                &(struct bf_perfetto_track){.uuid = track_of(t, TRACK_QUEUE, index, 0),
                                            .parent = track_of(t, TRACK_ENGINE, queue->engine, 0),
                                            .name = label,
                                            .rank = 2 + (int32_t)index});
}

/* Described when first used, so that most names are known by then: readers may keep the first. */
static void queue_describe(struct bf_trace *t, uint32_t index)
{
    if (t->queues[index].described)
        return;
    t->queues[index].described = true;
    engine_describe(t, t->queues[index].engine);
    queue_track_write(t, index);
}

static uint64_t software_track(struct bf_trace *t, uint32_t index, uint32_t lane)
{
    struct queue *queue = &t->queues[index];
    queue_describe(t, index);
    for (; queue->software_lanes <= lane; queue->software_lanes++)
        track_write(t, &(struct bf_perfetto_track){
                           .uuid = track_of(t, TRACK_SOFTWARE, index, queue->software_lanes),
                           .parent = track_of(t, TRACK_QUEUE, index, 0),
                           .name = "software queue",
                           .rank = 0});
    return track_of(t, TRACK_SOFTWARE, index, lane);
}

static uint64_t hardware_track(struct bf_trace *t, uint32_t index, uint32_t lane)
{
    struct queue *queue = &t->queues[index];
    queue_describe(t, index);
    for (; queue->hardware_lanes <= lane; queue->hardware_lanes++)
        track_write(t, &(struct bf_perfetto_track){
                           .uuid = track_of(t, TRACK_HARDWARE, index, queue->hardware_lanes),
                           .parent = track_of(t, TRACK_QUEUE, index, 0),
                           .name = "hardware queue",
                           .rank = 1});
    return track_of(t, TRACK_HARDWARE, index, lane);
}

static uint64_t host_track(struct bf_trace *t)
{
    uint64_t uuid = track_of(t, TRACK_HOST, 0, 0);
    if (!t->host_described) {
        t->host_described = true;
        track_write(t, &(struct bf_perfetto_track){.uuid = uuid,
                                                   .parent = track_of(t, TRACK_PROCESS, 0, 0),
                                                   .name = "host signals",
                                                   .rank = 0});
    }
    return uuid;
}

/* Slices of one track must nest, and those of a queue overlap without nesting: each takes the
 * lowest lane that is free for its whole life. */
static uint32_t software_lane_take(struct queue *queue)
{
    for (uint32_t word = 0; word < SOFTWARE_LANES / 64; word++) {
        if (queue->taken[word] == UINT64_MAX)
            continue;
        uint32_t bit = (uint32_t)__builtin_ctzll(~queue->taken[word]);
        queue->taken[word] |= 1ull << bit;
        return 64 * word + bit;
    }
    return LANE_NONE;
}

static void software_lane_free(struct queue *queue, uint32_t lane)
{
    queue->taken[lane / 64] &= ~(1ull << lane % 64);
}

/* An engine runs its packets one after the other, so the first lane nearly always does. When even
 * the last one is taken, *begin moves to where it is free. */
static uint32_t hardware_lane_take(struct queue *queue, uint64_t *begin, uint64_t *end)
{
    uint32_t lane = 0;
    while (lane < HARDWARE_LANES - 1 && queue->lane_end[lane] > *begin)
        lane++;
    if (queue->lane_end[lane] > *begin)
        *begin = queue->lane_end[lane];
    if (*end < *begin)
        *end = *begin;
    queue->lane_end[lane] = *end;
    return lane;
}

/* --- Names ------------------------------------------------------------------------------------*/

static const char *semaphore_name(struct bf_trace *t, uint64_t semaphore)
{
    return semaphore ? bf_map_find(&t->names, semaphore) : NULL;
}

/* For people: the name, else the handle, and the value. */
#define OBSTACLE_SIZE (NAME_SIZE + 24)
static void obstacle_label(struct bf_trace *t, struct bf_trace_sync sync, char label[OBSTACLE_SIZE])
{
    const char *name = semaphore_name(t, sync.semaphore);
    if (name)
        snprintf(label, OBSTACLE_SIZE, "%s = %" PRIu64, name, sync.value);
    else if (sync.semaphore)
        snprintf(label, OBSTACLE_SIZE, "semaphore 0x%" PRIx64 " = %" PRIu64, sync.semaphore,
                 sync.value);
    else
        snprintf(label, OBSTACLE_SIZE, "the packet before it");
}

static uint32_t sync_annotate(struct bf_trace *t, struct bf_trace_sync sync,
                              struct bf_perfetto_annotation a[3])
{
    uint32_t n = 0;
    if (!sync.semaphore) {
        a[n++] = (struct bf_perfetto_annotation){
            .name = "waits for", .kind = BF_PERFETTO_STRING, .text = "the packet before it"};
        return n;
    }
    const char *name = semaphore_name(t, sync.semaphore);
    if (name)
        a[n++] = (struct bf_perfetto_annotation){
            .name = "semaphore", .kind = BF_PERFETTO_STRING, .text = name};
    a[n++] = (struct bf_perfetto_annotation){.name = name ? "handle" : "semaphore",
                                             .kind = BF_PERFETTO_POINTER,
                                             .number = sync.semaphore};
    a[n++] = (struct bf_perfetto_annotation){
        .name = "value", .kind = BF_PERFETTO_UINT, .number = sync.value};
    return n;
}

static const char *const kind_names[] = {
    [BF_TRACE_EXECUTE] = "execute", [BF_TRACE_BIND_SPARSE] = "bind sparse",
    [BF_TRACE_PRESENT] = "present", [BF_TRACE_SIGNAL] = "signal",
    [BF_TRACE_WAIT] = "wait",
};

static void packet_label(const struct bf_trace_packet *packet, char label[40])
{
    snprintf(label, 40, "%s %" PRIu64, kind_names[packet->kind], packet->id);
}

static uint32_t packet_annotate(const struct bf_trace_packet *packet,
                                struct bf_perfetto_annotation a[2])
{
    a[0] = (struct bf_perfetto_annotation){
        .name = "packet", .kind = BF_PERFETTO_UINT, .number = packet->id};
    a[1] = (struct bf_perfetto_annotation){
        .name = "command buffers", .kind = BF_PERFETTO_UINT, .number = packet->command_buffers};
    return packet->kind == BF_TRACE_EXECUTE ? 2 : 1;
}

/* --- Life -------------------------------------------------------------------------------------*/

static uint64_t clock_read(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void head_write(struct bf_trace *t)
{
    struct bf_perfetto_clocks clocks = {
        .monotonic_ns = clock_read(CLOCK_MONOTONIC),
        .boottime_ns = clock_read(CLOCK_BOOTTIME),
        .realtime_ns = clock_read(CLOCK_REALTIME),
    };
    bf_perfetto_write_clocks(&t->pb, SEQUENCE_NOW, &clocks);
    bf_perfetto_write_sequence(&t->pb, SEQUENCE_LATE);
    uint64_t process = track_of(t, TRACK_PROCESS, 0, 0);
    track_write(t, &(struct bf_perfetto_track){
                       .uuid = process, .name = t->program, .process = true, .pid = getpid()});
    const struct bf_perfetto_annotation about[] = {
        {.name = "device", .kind = BF_PERFETTO_STRING, .text = t->device},
        {.name = "driver", .kind = BF_PERFETTO_STRING, .text = t->driver},
    };
    event_write(t, SEQUENCE_NOW,
                &(struct bf_perfetto_event){.time_ns = clocks.monotonic_ns,
                                            .track = process,
                                            .type = BF_PERFETTO_INSTANT,
                                            .name = "Belfry: tracing begins",
                                            .annotation_count = 2,
                                            .annotations = about});
}

VkResult bf_trace_create(const struct bf_trace_info *info, struct bf_trace **trace)
{
    *trace = NULL;
    struct bf_trace *t = calloc(1, sizeof(*t));
    if (!t)
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    t->file.fd = -1;
    bf_name_copy(t->program, sizeof(t->program), info->program ? info->program : "");
    bf_name_copy(t->device, sizeof(t->device), info->device ? info->device : "");
    bf_name_copy(t->driver, sizeof(t->driver), info->driver ? info->driver : "");
    t->base = scramble(clock_read(CLOCK_REALTIME) ^ (uint64_t)getpid() << 32 ^ (uintptr_t)t);
    t->flow = bf_flow_create(track_of(t, TRACK_FLOW, 0, 0));
    if (!t->flow) {
        free(t);
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    bf_protobuf_init(&t->pb, t->buffer, sizeof(t->buffer));
    if (info->path) {
        int error = bf_trace_file_open(&t->file, info->path);
        if (error) {
            bf_log(BF_LOG_ERROR, "trace: can't create '%s': %s", info->path, strerror(error));
            bf_trace_file_close(&t->file);
            bf_flow_destroy(t->flow);
            free(t);
            return VK_ERROR_INITIALIZATION_FAILED;
        }
        t->writing = true;
        bf_lock_acquire(&t->lock);
        head_write(t);
        leave(t, bf_now_ns(), true); /* so that even the emptiest run leaves a timeline */
    }
    *trace = t;
    return VK_SUCCESS;
}

static void name_free(void *value, void *context)
{
    (void)context;
    free(value);
}

void bf_trace_destroy(struct bf_trace *t)
{
    if (!t)
        return;
    bf_trace_flush(t);
    bf_trace_file_close(&t->file);
    bf_map_finish(&t->names, name_free, NULL);
    bf_summary_finish(&t->summary);
    bf_flow_destroy(t->flow);
    free(t->engines);
    free(t->queues);
    free(t);
}

void bf_trace_flush(struct bf_trace *t)
{
    if (!t)
        return;
    bf_lock_acquire(&t->lock);
    leave(t, t->pending_since_ns, true);
}

const char *bf_trace_path(const struct bf_trace *t)
{
    return t ? t->file.path : NULL;
}

uint32_t bf_trace_add_engine(struct bf_trace *t, const char *name)
{
    if (!t)
        return UINT32_MAX;
    bf_lock_acquire(&t->lock);
    uint32_t index = UINT32_MAX;
    struct engine *engines = realloc(t->engines, (t->engine_count + 1) * sizeof(*engines));
    if (engines) {
        t->engines = engines;
        if (bf_summary_add_engine(&t->summary, name)) {
            index = t->engine_count++;
            engines[index] = (struct engine){0};
            bf_name_copy(engines[index].name, NAME_SIZE, name);
        }
    }
    bf_lock_release(&t->lock);
    return index;
}

uint32_t bf_trace_add_queue(struct bf_trace *t, uint32_t engine, const char *name)
{
    if (!t)
        return UINT32_MAX;
    bf_lock_acquire(&t->lock);
    uint32_t index = UINT32_MAX;
    struct queue *queues = realloc(t->queues, (t->queue_count + 1) * sizeof(*queues));
    if (queues) {
        t->queues = queues;
        if (engine < t->engine_count && bf_summary_add_queue(&t->summary, engine, name)) {
            index = t->queue_count++;
            queues[index] = (struct queue){.engine = engine};
            bf_name_copy(queues[index].name, NAME_SIZE, name);
        }
    }
    bf_lock_release(&t->lock);
    return index;
}

void bf_trace_name_queue(struct bf_trace *t, uint32_t index, const char *name)
{
    if (!t)
        return;
    bf_lock_acquire(&t->lock);
    if (index < t->queue_count) {
        struct queue *queue = &t->queues[index];
        bf_name_copy(queue->debug_name, NAME_SIZE, name ? name : "");
        char label[2 * NAME_SIZE + 4];
        queue_label(queue, label);
        bf_summary_name_queue(&t->summary, index, label);
        if (queue->described)
            queue_track_write(t, index);
    }
    leave(t, bf_now_ns(), false);
}

void bf_trace_name_semaphore(struct bf_trace *t, uint64_t semaphore, const char *name)
{
    if (!t || !semaphore)
        return;
    char *copy = NULL;
    if (name && name[0]) {
        copy = malloc(NAME_SIZE);
        if (!copy)
            return; /* it keeps the name it had */
        bf_name_copy(copy, NAME_SIZE, name);
    }
    bf_lock_acquire(&t->lock);
    char *old = bf_map_remove(&t->names, semaphore);
    if (!copy)
        bf_flow_forget(t->flow, semaphore);
    else if (!bf_map_insert(&t->names, semaphore, copy)) {
        free(old);
        old = copy;
    }
    bf_lock_release(&t->lock);
    free(old);
}

void bf_trace_mark_uncalibrated(struct bf_trace *t)
{
    if (!t)
        return;
    bf_lock_acquire(&t->lock);
    uint64_t now = bf_now_ns();
    if (!t->summary.uncalibrated) {
        t->summary.uncalibrated = true;
        event_write(t, SEQUENCE_NOW,
                    &(struct bf_perfetto_event){.time_ns = now,
                                                .track = track_of(t, TRACK_PROCESS, 0, 0),
                                                .type = BF_PERFETTO_INSTANT,
                                                .name = "GPU times are uncalibrated"});
    }
    leave(t, now, false);
}

/* --- Packets ----------------------------------------------------------------------------------*/

static void counter_write(struct bf_trace *t, enum track_kind kind, uint32_t engine, int64_t value,
                          uint64_t now)
{
    event_write(t, SEQUENCE_NOW,
                &(struct bf_perfetto_event){.time_ns = now,
                                            .track = track_of(t, kind, engine, 0),
                                            .type = BF_PERFETTO_COUNTER,
                                            .counter = value});
}

/* False: memory ran out when its queue was added, or it was never queued: the scheduler's own. */
static bool is_known(const struct bf_trace *t, const struct bf_trace_packet *packet)
{
    return packet->id != 0 && packet->queue < t->queue_count;
}

void bf_trace_packet_queued(struct bf_trace *t, struct bf_trace_packet *packet, uint32_t queue,
                            enum bf_trace_packet_kind kind, uint32_t command_buffers)
{
    if (!t)
        return;
    bf_lock_acquire(&t->lock);
    uint64_t now = bf_now_ns();
    *packet = (struct bf_trace_packet){.id = ++t->last_packet,
                                       .queue = queue,
                                       .kind = kind,
                                       .command_buffers = command_buffers,
                                       .lane = LANE_NONE,
                                       .queued_ns = now};
    if (is_known(t, packet)) {
        t->summary.queues[queue].queued += kind != BF_TRACE_SIGNAL && kind != BF_TRACE_WAIT;
        t->summary.queues[queue].presents += kind == BF_TRACE_PRESENT;
        bf_summary_extend(&t->summary, now);
        /* A present is an instant: it is handed over in the call that queued it. */
        if (t->writing && kind != BF_TRACE_PRESENT)
            packet->lane = software_lane_take(&t->queues[queue]);
        if (packet->lane != LANE_NONE) {
            char label[40];
            packet_label(packet, label);
            struct bf_perfetto_annotation about[2];
            event_write(
                t, SEQUENCE_NOW,
                &(struct bf_perfetto_event){.time_ns = now,
                                            .track = software_track(t, queue, packet->lane),
                                            .type = BF_PERFETTO_BEGIN,
                                            .name = label,
                                            .annotation_count = packet_annotate(packet, about),
                                            .annotations = about});
        }
    }
    leave(t, now, false);
}

static void software_slice_end(struct bf_trace *t, const struct bf_trace_packet *packet,
                               uint64_t now)
{
    if (packet->lane != LANE_NONE)
        event_write(t, SEQUENCE_NOW,
                    &(struct bf_perfetto_event){
                        .time_ns = now,
                        .track = track_of(t, TRACK_SOFTWARE, packet->queue, packet->lane),
                        .type = BF_PERFETTO_END});
}

/* The obstacle is gone, or another has taken its place. */
static void held_end(struct bf_trace *t, const struct bf_trace_packet *packet, uint64_t now)
{
    char label[OBSTACLE_SIZE];
    obstacle_label(t, packet->held_on, label);
    software_slice_end(t, packet, now);
    bf_summary_held(&t->summary, packet, now - packet->obstacle_since_ns, label);
}

void bf_trace_packet_held(struct bf_trace *t, struct bf_trace_packet *packet,
                          struct bf_trace_sync obstacle)
{
    if (!t)
        return;
    bf_lock_acquire(&t->lock);
    uint64_t now = bf_now_ns();
    bool first = packet->held_since_ns == 0;
    bool same = !first && packet->held_on.semaphore == obstacle.semaphore &&
                packet->held_on.value == obstacle.value;
    if (is_known(t, packet) && !same) {
        if (first) {
            uint32_t index = t->queues[packet->queue].engine;
            packet->held_since_ns = now;
            t->summary.queues[packet->queue].held++;
            engine_describe(t, index);
            counter_write(t, TRACK_HELD_COUNTER, index, ++t->engines[index].held, now);
        } else {
            held_end(t, packet, now);
        }
        packet->obstacle_since_ns = now;
        packet->held_on = obstacle;
        if (packet->lane != LANE_NONE) {
            struct bf_perfetto_annotation about[3];
            event_write(t, SEQUENCE_NOW,
                        &(struct bf_perfetto_event){
                            .time_ns = now,
                            .track = track_of(t, TRACK_SOFTWARE, packet->queue, packet->lane),
                            .type = BF_PERFETTO_BEGIN,
                            .name = "held",
                            .annotation_count = sync_annotate(t, obstacle, about),
                            .annotations = about});
        }
    }
    /* Should it never be released, the timeline is where people look for the reason. */
    leave(t, now, !same);
}

/* Ends a packet's time in its software queue. */
static void software_leave(struct bf_trace *t, struct bf_trace_packet *packet, uint64_t now)
{
    struct queue *queue = &t->queues[packet->queue];
    if (packet->held_since_ns) {
        held_end(t, packet, now);
        counter_write(t, TRACK_HELD_COUNTER, queue->engine, --t->engines[queue->engine].held, now);
    }
    software_slice_end(t, packet, now);
    if (packet->lane != LANE_NONE)
        software_lane_free(queue, packet->lane);
    bf_summary_extend(&t->summary, now);
}

/* A point on a hardware track, drawn in arrears: where an arrow begins or ends. */
static void arrow_end_write(struct bf_trace *t, uint64_t time_ns, uint64_t track, const char *name,
                            const uint64_t *from, const uint64_t *to)
{
    event_write(t, SEQUENCE_LATE,
                &(struct bf_perfetto_event){.time_ns = time_ns,
                                            .track = track,
                                            .type = BF_PERFETTO_INSTANT,
                                            .name = name,
                                            .flow_count = from ? 1 : 0,
                                            .flows = from,
                                            .terminating_flow_count = to ? 1 : 0,
                                            .terminating_flows = to});
}

/*
 * The arrow from a signal to a wait of 'consumer'. Its number is the one that the signal's source
 * carries anyway, or, when another wait has that, a new one: added to the source's slice if that is
 * still to be drawn, else carried by a mark at the slice's end.
 *
 * The consumer terminates the arrow itself, on its slice or at its hand-over. But an untimed one is
 * drawn at its hand-over, before its timed source has run: then the arrow points to where the
 * source's end unblocks it.
 */
static void arrow_add(struct bf_trace *t, struct bf_trace_sync wait,
                      const struct bf_trace_packet *consumer, struct bf_flow_packet *record)
{
    struct bf_flow_signal *signal = bf_flow_signal_find(t->flow, wait);
    if (!signal)
        return; /* satisfied long ago, or signalled by nobody we know */
    struct bf_flow_packet *source = bf_flow_packet_find(t->flow, signal->packet);
    if (signal->packet && !source)
        return;
    bool drawn = !source || source->drawn;
    bool ends_later = !drawn && !consumer->timed;
    if (!ends_later && record->in_count == BF_FLOW_ENDS) {
        t->flow->lost++;
        return;
    }
    uint64_t flow = signal->flow;
    if (!drawn && (!flow || ends_later) && source->out_count == BF_FLOW_ENDS) {
        t->flow->lost++;
        return;
    }
    signal->flow = 0;
    bool own = flow != 0;
    if (!own)
        flow = t->flow->next_flow++;
    if (!own && drawn)
        arrow_end_write(t, source ? source->time_ns : signal->time_ns,
                        source ? source->track : host_track(t), "signal", &flow, NULL);
    if (!drawn && (!own || ends_later))
        source->out[source->out_count++] = (struct bf_flow_out){
            .flow = flow,
            .consumer = ends_later ? consumer->id : 0,
            .consumer_track = ends_later ? track_of(t, TRACK_HARDWARE, consumer->queue, 0) : 0,
        };
    if (!ends_later)
        record->in[record->in_count++] = flow;
}

/* Numbers that a packet's mark on its hardware track carries: its signals' own, then those added
 * for further waits. */
static uint32_t flows_from(const struct bf_flow_packet *record,
                           uint64_t flows[BF_FLOW_OWN + BF_FLOW_ENDS])
{
    uint32_t n = 0;
    for (; n < record->own_count; n++)
        flows[n] = record->first_flow + n;
    for (uint32_t i = 0; i < record->out_count; i++) {
        uint64_t flow = record->out[i].flow;
        if (flow - record->first_flow >= record->own_count)
            flows[n++] = flow;
    }
    return n;
}

static void instant_write(struct bf_trace *t, const struct bf_trace_packet *packet,
                          struct bf_flow_packet *record, uint32_t sequence, uint64_t time_ns)
{
    char label[40];
    packet_label(packet, label);
    uint64_t flows[BF_FLOW_OWN + BF_FLOW_ENDS];
    struct bf_perfetto_annotation about[2];
    uint64_t track = hardware_track(t, packet->queue, 0);
    event_write(t, sequence,
                &(struct bf_perfetto_event){.time_ns = time_ns,
                                            .track = track,
                                            .type = BF_PERFETTO_INSTANT,
                                            .name = label,
                                            .flow_count = flows_from(record, flows),
                                            .flows = flows,
                                            .terminating_flow_count = record->in_count,
                                            .terminating_flows = record->in,
                                            .annotation_count = packet_annotate(packet, about),
                                            .annotations = about});
    record->drawn = true;
    record->track = track;
    record->time_ns = time_ns;
}

void bf_trace_packet_handed_over(struct bf_trace *t, struct bf_trace_packet *packet,
                                 uint32_t wait_count, const struct bf_trace_sync *waits,
                                 uint32_t signal_count, const struct bf_trace_sync *signals)
{
    if (!t)
        return;
    bf_lock_acquire(&t->lock);
    uint64_t now = bf_now_ns();
    packet->handed_over_ns = now;
    if (is_known(t, packet)) {
        software_leave(t, packet, now);
        uint32_t engine = t->queues[packet->queue].engine;
        t->summary.queues[packet->queue].handed_over++;
        if (packet->timed) {
            engine_describe(t, engine);
            counter_write(t, TRACK_FLIGHT_COUNTER, engine, ++t->engines[engine].in_flight, now);
        }
        if (t->writing) {
            struct bf_flow_packet *record = bf_flow_packet_add(t->flow, packet->id);
            for (uint32_t i = 0; i < wait_count; i++)
                arrow_add(t, waits[i], packet, record);
            record->first_flow = t->flow->next_flow;
            record->own_count = signal_count < BF_FLOW_OWN ? signal_count : BF_FLOW_OWN;
            t->flow->next_flow += record->own_count;
            for (uint32_t i = 0; i < signal_count; i++) {
                struct bf_flow_signal *signal = bf_flow_signal_add(t->flow, signals[i]);
                signal->packet = packet->id;
                signal->flow = i < record->own_count ? record->first_flow + i : 0;
            }
            if (!packet->timed)
                instant_write(t, packet, record, SEQUENCE_NOW, now);
        }
    }
    leave(t, now, packet->kind == BF_TRACE_PRESENT);
}

void bf_trace_packet_dropped(struct bf_trace *t, struct bf_trace_packet *packet)
{
    if (!t)
        return;
    bf_lock_acquire(&t->lock);
    uint64_t now = bf_now_ns();
    if (is_known(t, packet)) {
        software_leave(t, packet, now);
        t->summary.queues[packet->queue].dropped++;
        char label[64] = "dropped: ";
        packet_label(packet, label + 9);
        event_write(t, SEQUENCE_NOW,
                    &(struct bf_perfetto_event){.time_ns = now,
                                                .track = hardware_track(t, packet->queue, 0),
                                                .type = BF_PERFETTO_INSTANT,
                                                .name = label});
    }
    leave(t, now, true);
}

static void hardware_slice_write(struct bf_trace *t, const struct bf_trace_packet *packet,
                                 uint64_t begin_ns, uint64_t end_ns)
{
    struct bf_flow_packet nothing = {0};
    struct bf_flow_packet *record = bf_flow_packet_find(t->flow, packet->id);
    if (!record)
        record = &nothing; /* so many packets ago that its arrows are forgotten */
    if (begin_ns == 0 && end_ns == 0) {
        instant_write(t, packet, record, SEQUENCE_LATE, packet->handed_over_ns);
        return;
    }
    uint32_t lane = hardware_lane_take(&t->queues[packet->queue], &begin_ns, &end_ns);
    uint64_t track = hardware_track(t, packet->queue, lane);
    char label[40];
    packet_label(packet, label);
    uint64_t flows[BF_FLOW_OWN + BF_FLOW_ENDS];
    struct bf_perfetto_annotation about[2];
    event_write(t, SEQUENCE_LATE,
                &(struct bf_perfetto_event){.time_ns = begin_ns,
                                            .track = track,
                                            .type = BF_PERFETTO_BEGIN,
                                            .name = label,
                                            .flow_count = flows_from(record, flows),
                                            .flows = flows,
                                            .terminating_flow_count = record->in_count,
                                            .terminating_flows = record->in,
                                            .annotation_count = packet_annotate(packet, about),
                                            .annotations = about});
    event_write(
        t, SEQUENCE_LATE,
        &(struct bf_perfetto_event){.time_ns = end_ns, .track = track, .type = BF_PERFETTO_END});
    for (uint32_t i = 0; i < record->out_count; i++) {
        const struct bf_flow_out *out = &record->out[i];
        if (!out->consumer)
            continue;
        snprintf(label, sizeof(label), "unblocked: packet %" PRIu64, out->consumer);
        arrow_end_write(t, end_ns, out->consumer_track, label, NULL, &out->flow);
    }
    record->drawn = true;
    record->track = track;
    /* One nanosecond inside, so that a mark there belongs to this slice and not to the next. */
    record->time_ns = end_ns > begin_ns ? end_ns - 1 : end_ns;
}

void bf_trace_packet_executed(struct bf_trace *t, const struct bf_trace_packet *packet,
                              uint64_t begin_ns, uint64_t end_ns)
{
    if (!t)
        return;
    bf_lock_acquire(&t->lock);
    uint64_t now = bf_now_ns();
    if (is_known(t, packet)) {
        if (end_ns < begin_ns)
            end_ns = begin_ns;
        uint32_t engine = t->queues[packet->queue].engine;
        if (packet->timed)
            counter_write(t, TRACK_FLIGHT_COUNTER, engine, --t->engines[engine].in_flight, now);
        if (end_ns)
            bf_summary_executed(&t->summary, packet, begin_ns, end_ns);
        if (t->writing)
            hardware_slice_write(t, packet, begin_ns, end_ns);
    }
    leave(t, now, false);
}

void bf_trace_host_signal(struct bf_trace *t, struct bf_trace_sync sync)
{
    if (!t)
        return;
    bf_lock_acquire(&t->lock);
    uint64_t now = bf_now_ns();
    t->summary.host_signals++;
    bf_summary_extend(&t->summary, now);
    if (t->writing) {
        struct bf_flow_signal *signal = bf_flow_signal_add(t->flow, sync);
        signal->flow = t->flow->next_flow++;
        signal->time_ns = now;
        struct bf_perfetto_annotation about[3];
        event_write(t, SEQUENCE_NOW,
                    &(struct bf_perfetto_event){.time_ns = now,
                                                .track = host_track(t),
                                                .type = BF_PERFETTO_INSTANT,
                                                .name = "host signal",
                                                .flow_count = 1,
                                                .flows = &signal->flow,
                                                .annotation_count = sync_annotate(t, sync, about),
                                                .annotations = about});
    }
    leave(t, now, false);
}

void bf_trace_print_summary(struct bf_trace *t, FILE *out)
{
    if (!t)
        return;
    char *text = NULL;
    size_t size = 0;
    FILE *memory = open_memstream(&text, &size);
    if (!memory)
        return;
    bf_lock_acquire(&t->lock);
    flush_locked(t);
    const struct bf_summary_head head = {
        .program = t->program,
        .device = t->device,
        .driver = t->driver,
        .path = t->file.path,
        .bytes = t->file.bytes,
        .error = t->error,
        .lost_arrows = t->flow->lost,
    };
    bf_summary_print(&t->summary, &head, memory);
    leave(t, bf_now_ns(), false);
    if (fclose(memory) == 0)
        fwrite(text, 1, size, out);
    free(text);
}
