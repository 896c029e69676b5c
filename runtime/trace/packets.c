/* SPDX-License-Identifier: MIT */
/* What packets do, on their queue's software and hardware tracks, and the arrows between them. */
#include <inttypes.h>
#include <string.h>

#include "trace/probes.h"
#include "trace/state.h"

/* --- Lanes ------------------------------------------------------------------------------------*/

/* Slices of one track must nest, and the packets of a queue overlap without nesting. So each packet
 * takes the lowest lane that is free for as long as its slice lasts. Presents have lanes of their
 * own. */
static uint32_t software_lane_take(struct bf_trace_queue *queue, enum bf_trace_packet_kind kind)
{
    if (kind == BF_TRACE_PRESENT) {
        uint32_t lane = (uint32_t)__builtin_ctzll(~queue->presents_taken);
        if (lane >= BF_TRACE_PRESENT_LANES)
            return BF_TRACE_NO_LANE;
        queue->presents_taken |= 1ull << lane;
        return lane;
    }
    for (uint32_t word = 0; word < BF_TRACE_SOFTWARE_LANES / 64; word++) {
        if (queue->taken[word] == UINT64_MAX)
            continue;
        uint32_t bit = (uint32_t)__builtin_ctzll(~queue->taken[word]);
        queue->taken[word] |= 1ull << bit;
        return 64 * word + bit;
    }
    return BF_TRACE_NO_LANE;
}

static void software_lane_free(struct bf_trace_queue *queue, const struct bf_trace_packet *packet)
{
    if (packet->kind == BF_TRACE_PRESENT)
        queue->presents_taken &= ~(1ull << packet->lane);
    else
        queue->taken[packet->lane / 64] &= ~(1ull << packet->lane % 64);
}

/* The track of the packet's slice until it is handed over. */
static uint64_t software_track(struct bf_trace *t, const struct bf_trace_packet *packet)
{
    return packet->kind == BF_TRACE_PRESENT
               ? bf_trace_present_track(t, packet->queue, packet->lane)
               : bf_trace_software_track(t, packet->queue, packet->lane);
}

/* The track of what happens to it then, if it has no slice on the hardware track. */
static uint64_t instant_track(struct bf_trace *t, const struct bf_trace_packet *packet)
{
    if (packet->kind == BF_TRACE_PRESENT)
        return bf_trace_present_track(t, packet->queue,
                                      packet->lane == BF_TRACE_NO_LANE ? 0 : packet->lane);
    return bf_trace_hardware_track(t, packet->queue, 0);
}

/* An engine runs its packets one after the other, so nearly always the first lane is free. If even
 * the last lane is in use, *begin moves to the time at which it becomes free. */
static uint32_t hardware_lane_take(struct bf_trace_queue *queue, uint64_t *begin, uint64_t *end)
{
    uint32_t lane = 0;
    while (lane < BF_TRACE_HARDWARE_LANES - 1 && queue->lane_end[lane] > *begin)
        lane++;
    if (queue->lane_end[lane] > *begin)
        *begin = queue->lane_end[lane];
    if (*end < *begin)
        *end = *begin;
    queue->lane_end[lane] = *end;
    return lane;
}

/* --- What is said about them ------------------------------------------------------------------*/

/* As text: the name, or else the handle, and the value. */
#define OBSTACLE_SIZE (BF_TRACE_NAME + 24)
static void obstacle_label(struct bf_trace *t, struct bf_trace_sync sync, char label[OBSTACLE_SIZE])
{
    const char *name = bf_trace_semaphore_name(t, sync.semaphore);
    if (name)
        snprintf(label, OBSTACLE_SIZE, "%s = %" PRIu64, name, sync.value);
    else if (sync.semaphore)
        snprintf(label, OBSTACLE_SIZE, "semaphore 0x%" PRIx64 " = %" PRIu64, sync.semaphore,
                 sync.value);
    else
        snprintf(label, OBSTACLE_SIZE, "%s",
                 bf_interning_text(&t->interning, bf_trace_obstacle_word(sync)));
}

static enum bf_string kind_word(enum bf_trace_packet_kind kind)
{
    return (enum bf_string)((int)BF_STRING_EXECUTE + (int)kind);
}

/* The caption, or the kind if the caption's string has been forgotten. */
static uint64_t caption_of(const struct bf_trace *t, const struct bf_trace_packet *packet)
{
    return bf_interning_text(&t->interning, packet->caption) ? packet->caption
                                                             : kind_word(packet->kind);
}

static uint32_t packet_annotate(const struct bf_trace_packet *packet, uint64_t caption,
                                struct bf_perfetto_annotation a[2])
{
    uint32_t n = 0;
    a[n++] = (struct bf_perfetto_annotation){
        .name = BF_STRING_PACKET, .kind = BF_PERFETTO_UINT, .number = packet->id};
    if (caption != kind_word(packet->kind))
        a[n++] = (struct bf_perfetto_annotation){.name = BF_STRING_KIND,
                                                 .kind = BF_PERFETTO_INTERNED,
                                                 .number = kind_word(packet->kind)};
    return n;
}

/* Appends to a text of BF_TRACE_NAME bytes; what doesn't fit is cut. */
static void caption_append(char *text, const char *more)
{
    size_t length = strlen(text);
    bf_name_copy(text + length, BF_TRACE_NAME - length, more);
}

/* "name, name"; with 'labels' "name [labels], [labels]". 0: there are neither names nor labels. */
static uint64_t buffers_describe(struct bf_trace *t, const struct bf_trace_contents *contents,
                                 bool labels)
{
    char text[BF_TRACE_NAME] = "";
    if (!contents->infos && !contents->buffers)
        return 0;
    for (uint32_t i = 0; i < contents->count && t->buffers.live; i++) {
        VkCommandBuffer handle =
            contents->infos ? contents->infos[i].commandBuffer : contents->buffers[i];
        const struct bf_trace_buffer *buffer = bf_map_find(&t->buffers, (uintptr_t)handle);
        if (!buffer || !(buffer->name[0] || (labels && buffer->labels[0])))
            continue;
        if (text[0])
            caption_append(text, ", ");
        caption_append(text, buffer->name);
        if (labels && buffer->labels[0]) {
            caption_append(text, buffer->name[0] ? " [" : "[");
            caption_append(text, buffer->labels);
            caption_append(text, "]");
        }
    }
    return bf_interning_number(&t->interning, text);
}

/* False: there was no memory when its queue was added, or the program never queued it (it is the
 * scheduler's own). */
static bool packet_is_known(const struct bf_trace *t, const struct bf_trace_packet *packet)
{
    return packet->id != 0 && packet->queue < t->queue_count;
}

/* --- The software queue -----------------------------------------------------------------------*/

/* Interned: the label, and the command buffers with theirs; the packet's caption is made of
 * these. */
static void packet_describe(struct bf_trace *t, struct bf_trace_packet *packet,
                            const struct bf_trace_contents *contents, uint64_t *label,
                            uint64_t *buffers)
{
    *label = bf_interning_number(&t->interning, contents->label);
    *buffers = buffers_describe(t, contents, true);
    uint64_t names = *buffers ? buffers_describe(t, contents, false) : 0;
    packet->caption = names ? names : *buffers ? *buffers : *label;
}

static void software_slice_begin(struct bf_trace *t, struct bf_trace_packet *packet,
                                 const struct bf_trace_contents *contents)
{
    struct bf_trace_queue *queue = &t->queues[packet->queue];
    uint64_t label, buffers;
    packet_describe(t, packet, contents, &label, &buffers);
    packet->lane = software_lane_take(queue, packet->kind);
    bool boxed = packet->lane != BF_TRACE_NO_LANE;
    if (!boxed && packet->kind == BF_TRACE_PRESENT) {
        t->lost += 2;
        return;
    }
    uint64_t caption = caption_of(t, packet);
    struct bf_perfetto_annotation about[5];
    uint32_t n = packet_annotate(packet, caption, about);
    if (packet->kind == BF_TRACE_EXECUTE)
        about[n++] = (struct bf_perfetto_annotation){.name = BF_STRING_COMMAND_BUFFERS,
                                                     .kind = BF_PERFETTO_UINT,
                                                     .number = packet->command_buffers};
    if (buffers)
        about[n++] = (struct bf_perfetto_annotation){
            .name = BF_STRING_BUFFERS, .kind = BF_PERFETTO_INTERNED, .number = buffers};
    if (label)
        about[n++] = (struct bf_perfetto_annotation){
            .name = BF_STRING_LABEL, .kind = BF_PERFETTO_INTERNED, .number = label};
    /* Where there is no lane for it, an instant says that it was queued. */
    uint64_t track =
        boxed ? software_track(t, packet) : bf_trace_software_track(t, packet->queue, 0);
    bool drawn = bf_trace_event(
        t, &t->now,
        &(struct bf_perfetto_event){.time_ns = packet->queued_ns,
                                    .track = track,
                                    .type = boxed ? BF_PERFETTO_BEGIN : BF_PERFETTO_INSTANT,
                                    .category = BF_STRING_QUEUED,
                                    .name = caption,
                                    .annotation_count = n,
                                    .annotations = about});
    if (!drawn && boxed) {
        software_lane_free(queue, packet);
        packet->lane = BF_TRACE_NO_LANE;
    }
}

void bf_trace_packet_queued_with(struct bf_trace *t, struct bf_trace_packet *packet, uint32_t queue,
                                 enum bf_trace_packet_kind kind,
                                 const struct bf_trace_contents *contents)
{
    if (!t) {
        BF_PROBE4(packet_queued, queue, UINT64_C(0), (uint32_t)kind, contents->count);
        return;
    }
    bf_lock_acquire(&t->output->lock);
    uint64_t now = bf_now_ns();
    *packet = (struct bf_trace_packet){.id = ++t->last_packet,
                                       .queue = queue,
                                       .kind = kind,
                                       .command_buffers = contents->count,
                                       .lane = BF_TRACE_NO_LANE,
                                       .queued_ns = now};
    BF_PROBE4(packet_queued, queue, packet->id, (uint32_t)kind, contents->count);
    if (packet_is_known(t, packet)) {
        t->summary.queues[queue].queued += kind != BF_TRACE_SIGNAL && kind != BF_TRACE_WAIT;
        t->summary.queues[queue].presents += kind == BF_TRACE_PRESENT;
        bf_trace_extend_for(t, queue, now);
        if (t->drawing)
            software_slice_begin(t, packet, contents);
    }
    bf_trace_leave(t);
}

void bf_trace_packet_divided(struct bf_trace *t, struct bf_trace_packet *part,
                             const struct bf_trace_contents *first, struct bf_trace_packet *rest,
                             const struct bf_trace_contents *left)
{
    *part = *rest;
    if (!t)
        return;
    bf_lock_acquire(&t->output->lock);
    part->command_buffers = first->count;
    *rest = (struct bf_trace_packet){.id = ++t->last_packet,
                                     .queue = part->queue,
                                     .kind = part->kind,
                                     .command_buffers = left->count,
                                     .lane = BF_TRACE_NO_LANE,
                                     .fences = part->fences,
                                     .queued_ns = bf_now_ns()};
    BF_PROBE4(packet_queued, rest->queue, rest->id, (uint32_t)rest->kind, left->count);
    if (packet_is_known(t, rest)) {
        uint64_t label, buffers;
        bf_trace_extend_for(t, rest->queue, rest->queued_ns);
        bf_trace_fences_divided(t, part, rest);
        if (t->drawing) {
            packet_describe(t, part, first, &label, &buffers);
            software_slice_begin(t, rest, left);
        }
    }
    bf_trace_leave(t);
}

void bf_trace_packet_queued(struct bf_trace *t, struct bf_trace_packet *packet, uint32_t queue,
                            enum bf_trace_packet_kind kind, uint32_t command_buffers)
{
    /* Their number is all that is known of them. */
    const struct bf_trace_contents contents = {.count = command_buffers};
    bf_trace_packet_queued_with(t, packet, queue, kind, &contents);
}

static void software_slice_end(struct bf_trace *t, const struct bf_trace_packet *packet,
                               uint64_t now)
{
    bf_trace_event(t, &t->now,
                   &(struct bf_perfetto_event){.time_ns = now,
                                               .track = software_track(t, packet),
                                               .type = BF_PERFETTO_END});
}

/* The obstacle is gone, or another has taken its place. */
static void held_end(struct bf_trace *t, struct bf_trace_packet *packet, uint64_t now)
{
    char label[OBSTACLE_SIZE];
    obstacle_label(t, packet->held_on, label);
    if (packet->held_drawn)
        software_slice_end(t, packet, now);
    packet->held_drawn = false;
    bf_summary_held(&t->summary, packet, now - packet->obstacle_since_ns, label);
}

void bf_trace_packet_held(struct bf_trace *t, struct bf_trace_packet *packet,
                          struct bf_trace_sync obstacle)
{
    if (!t)
        /* without a trace, packets have no numbers, and it isn't known what they were held for */
        return;
    bf_lock_acquire(&t->output->lock);
    uint64_t now = bf_now_ns();
    bool first = packet->held_since_ns == 0;
    bool same = !first && packet->held_on.semaphore == obstacle.semaphore &&
                packet->held_on.value == obstacle.value;
    if (packet_is_known(t, packet) && !same) {
        BF_PROBE4(packet_held, packet->queue, packet->id, obstacle.semaphore, obstacle.value);
        if (first) {
            packet->held_since_ns = now;
            bf_summary_hold_begin(&t->summary, packet->queue, now);
            bf_trace_hardware_track(t, packet->queue, 0); /* describes the engine's counters */
            bf_trace_count_for(t, packet->queue, BF_TRACK_HELD, 1, now);
        } else {
            held_end(t, packet, now);
        }
        packet->obstacle_since_ns = now;
        packet->held_on = obstacle;
        if (packet->lane != BF_TRACE_NO_LANE) {
            struct bf_perfetto_annotation about[4];
            uint32_t n = bf_trace_sync_annotate(t, BF_STRING_SEMAPHORE, obstacle, about);
            packet->held_drawn = bf_trace_event(
                t, &t->now,
                &(struct bf_perfetto_event){.time_ns = now,
                                            .track = bf_trace_queue_track(
                                                t, packet->queue, BF_TRACK_SOFTWARE + packet->lane),
                                            .type = BF_PERFETTO_BEGIN,
                                            .category = BF_STRING_HELD,
                                            .name = BF_STRING_HELD,
                                            .annotation_count = n,
                                            .annotations = about});
        }
    }
    bf_trace_leave(t);
}

/* Ends a packet's time in its software queue. */
static void software_leave(struct bf_trace *t, struct bf_trace_packet *packet, uint64_t now)
{
    struct bf_trace_queue *queue = &t->queues[packet->queue];
    if (packet->held_since_ns) {
        held_end(t, packet, now);
        bf_summary_hold_end(&t->summary, packet->queue, now);
        bf_trace_count_for(t, packet->queue, BF_TRACK_HELD, -1, now);
    }
    if (packet->lane != BF_TRACE_NO_LANE) {
        software_slice_end(t, packet, now);
        software_lane_free(queue, packet);
    }
    bf_trace_extend_for(t, packet->queue, now);
}

/* --- Arrows -----------------------------------------------------------------------------------*/

/*
 * Draws the arrow from a signal to a wait of 'consumer'. It has the flow number that the signal's
 * source carries in any case, or, where another wait has taken that one, a new number: this is
 * added to the source's slice if that is still to be drawn, else an instant at the slice's end
 * carries it.
 *
 * The consumer draws the arrow's end itself, on its slice or at its hand-over. But an untimed
 * consumer is drawn at its hand-over, before its timed source has run: then the arrow ends at an
 * instant at the time when the source's end unblocks it.
 */
static void arrow_add(struct bf_trace *t, struct bf_trace_sync wait,
                      const struct bf_trace_packet *consumer, struct bf_flow_packet *record)
{
    struct bf_flow_signal *signal = bf_flow_signal_find(t->flow, wait);
    if (!signal)
        return; /* satisfied long ago, or by a signal that Belfry doesn't know */
    struct bf_flow_packet *source = bf_flow_packet_find(t->flow, signal->packet);
    if (signal->packet && !source)
        return;
    bool drawn = !source || source->drawn;
    uint64_t value = bf_trace_value_of(t, wait.semaphore);
    if (!drawn && value >= wait.value && value < signal->sync.value)
        return; /* satisfied by the value before this signal's */
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
        bf_trace_arrow_end(t, source ? source->time_ns : signal->time_ns,
                           source ? source->track : bf_trace_host_track(t), BF_STRING_SIGNAL,
                           source ? source->id : 0, &flow, NULL);
    if (!drawn && (!own || ends_later))
        source->out[source->out_count++] = (struct bf_flow_out){
            .flow = flow,
            .consumer = ends_later ? consumer->id : 0,
            .consumer_track = ends_later ? instant_track(t, consumer) : 0,
        };
    if (!ends_later)
        record->in[record->in_count++] = flow;
}

/* The flow numbers that a packet's instant on its hardware track carries: those of its signals, and
 * those added for further waits. */
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

/* --- The hardware queue -----------------------------------------------------------------------*/

static void instant_write(struct bf_trace *t, const struct bf_trace_packet *packet,
                          struct bf_flow_packet *record, struct bf_perfetto_sequence *sequence,
                          uint64_t time_ns, const struct bf_trace_sync *wait)
{
    uint64_t flows[BF_FLOW_OWN + BF_FLOW_ENDS];
    uint64_t caption = caption_of(t, packet);
    struct bf_perfetto_annotation about[7];
    uint32_t n = packet_annotate(packet, caption, about);
    if (packet->untimed)
        about[n++] = (struct bf_perfetto_annotation){
            .name = BF_STRING_UNTIMED,
            .kind = BF_PERFETTO_INTERNED,
            .number = BF_STRING_UNTIMED + (uint64_t)packet->untimed,
        };
    if (wait)
        n += bf_trace_sync_annotate(t, BF_STRING_SEMAPHORE, *wait, about + n);
    uint64_t track = instant_track(t, packet);
    bf_trace_event(t, sequence,
                   &(struct bf_perfetto_event){.time_ns = time_ns,
                                               .track = track,
                                               .type = BF_PERFETTO_INSTANT,
                                               .category = BF_STRING_HANDED_OVER,
                                               .name = caption,
                                               .flow_count = flows_from(record, flows),
                                               .flows = flows,
                                               .terminating_flow_count = record->in_count,
                                               .terminating_flows = record->in,
                                               .annotation_count = n,
                                               .annotations = about});
    record->drawn = true;
    record->track = track;
    record->time_ns = time_ns;
}

static void arrows_take(struct bf_trace *t, const struct bf_trace_packet *packet,
                        uint32_t wait_count, const struct bf_trace_sync *waits,
                        uint32_t signal_count, const struct bf_trace_sync *signals, uint64_t now)
{
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
        instant_write(t, packet, record, &t->now, now,
                      packet->kind == BF_TRACE_PRESENT && wait_count ? &waits[0] : NULL);
}

void bf_trace_packet_handed_over(struct bf_trace *t, struct bf_trace_packet *packet,
                                 uint32_t wait_count, const struct bf_trace_sync *waits,
                                 uint32_t signal_count, const struct bf_trace_sync *signals)
{
    if (!t)
        return;
    bf_lock_acquire(&t->output->lock);
    uint64_t now = bf_now_ns();
    packet->handed_over_ns = now;
    if (packet_is_known(t, packet)) {
        BF_PROBE4(packet_handed_over, packet->queue, packet->id, (uint32_t)packet->kind,
                  packet->held_since_ns ? now - packet->held_since_ns : 0);
        if (packet->kind == BF_TRACE_PRESENT)
            BF_PROBE2(present, packet->queue, packet->id);
        /* What a present waited for is told inside of its slice. */
        bool present = packet->kind == BF_TRACE_PRESENT;
        if (present && t->drawing)
            arrows_take(t, packet, wait_count, waits, signal_count, signals, now);
        software_leave(t, packet, now);
        struct bf_trace_queue *queue = &t->queues[packet->queue];
        t->summary.queues[packet->queue].handed_over +=
            packet->kind == BF_TRACE_EXECUTE || packet->kind == BF_TRACE_BIND_SPARSE;
        t->summary.queues[packet->queue].empty += packet->untimed == BF_TRACE_UNTIMED_EMPTY;
        if (packet->timed) {
            bf_trace_hardware_track(t, packet->queue, 0);
            bf_trace_count_for(t, packet->queue, BF_TRACK_IN_FLIGHT, 1, now);
        }
        /* Of a signal or wait that has a box, only the box is drawn. */
        bool boxed =
            packet->fences && (packet->kind == BF_TRACE_SIGNAL || packet->kind == BF_TRACE_WAIT);
        if (t->drawing && !boxed && !present)
            arrows_take(t, packet, wait_count, waits, signal_count, signals, now);
        if (packet->fences)
            bf_trace_fences_handed_over(t, packet, now);
        queue->timed_handed_over += packet->timed;
        queue->unseen = !packet->timed && (queue->unseen || bf_trace_packet_works(packet));
    }
    bf_trace_leave(t);
}

void bf_trace_packet_dropped(struct bf_trace *t, struct bf_trace_packet *packet)
{
    if (!t)
        return;
    bf_lock_acquire(&t->output->lock);
    uint64_t now = bf_now_ns();
    if (packet_is_known(t, packet)) {
        BF_PROBE2(packet_dropped, packet->queue, packet->id);
        software_leave(t, packet, now);
        t->summary.queues[packet->queue].dropped++;
        struct bf_perfetto_annotation about[2];
        uint32_t n = packet_annotate(packet, BF_STRING_DROPPED, about);
        bf_trace_event(
            t, &t->now,
            &(struct bf_perfetto_event){.time_ns = now,
                                        .track = bf_trace_hardware_track(t, packet->queue, 0),
                                        .type = BF_PERFETTO_INSTANT,
                                        .category = BF_STRING_DROPPED,
                                        .name = BF_STRING_DROPPED,
                                        .annotation_count = n,
                                        .annotations = about});
        if (packet->fences)
            bf_trace_fences_dropped(t, packet, now);
    }
    bf_output_flush(t->output); /* the device may have been lost, and the program may end next */
    bf_trace_leave(t);
}

static void hardware_slice_write(struct bf_trace *t, const struct bf_trace_packet *packet,
                                 uint64_t begin_ns, uint64_t end_ns)
{
    struct bf_flow_packet nothing = {0};
    struct bf_flow_packet *record = bf_flow_packet_find(t->flow, packet->id);
    if (!record)
        record = &nothing; /* too many packets ago: its arrows are forgotten */
    if (begin_ns == 0 && end_ns == 0) {
        struct bf_trace_packet untimed = *packet;
        untimed.untimed = BF_TRACE_UNTIMED_UNREAD;
        instant_write(t, &untimed, record, &t->late, packet->handed_over_ns, NULL);
        return;
    }
    uint32_t lane = hardware_lane_take(&t->queues[packet->queue], &begin_ns, &end_ns);
    uint64_t track = bf_trace_hardware_track(t, packet->queue, lane);
    uint64_t caption = caption_of(t, packet);
    uint64_t flows[BF_FLOW_OWN + BF_FLOW_ENDS];
    struct bf_perfetto_annotation about[2];
    uint32_t n = packet_annotate(packet, caption, about);
    bool drawn =
        bf_trace_event(t, &t->late,
                       &(struct bf_perfetto_event){.time_ns = begin_ns,
                                                   .track = track,
                                                   .type = BF_PERFETTO_BEGIN,
                                                   .category = BF_STRING_EXECUTED,
                                                   .name = caption,
                                                   .flow_count = flows_from(record, flows),
                                                   .flows = flows,
                                                   .terminating_flow_count = record->in_count,
                                                   .terminating_flows = record->in,
                                                   .annotation_count = n,
                                                   .annotations = about});
    if (drawn)
        bf_trace_event(t, &t->late,
                       &(struct bf_perfetto_event){
                           .time_ns = end_ns, .track = track, .type = BF_PERFETTO_END});
    for (uint32_t i = 0; i < record->out_count && drawn; i++) {
        const struct bf_flow_out *out = &record->out[i];
        if (out->consumer)
            bf_trace_arrow_end(t, end_ns, out->consumer_track, BF_STRING_UNBLOCKED, out->consumer,
                               NULL, &out->flow);
    }
    record->drawn = true;
    record->track = track;
    /* One nanosecond before the end, so that an instant there belongs to this slice and not to the
     * next. */
    record->time_ns = end_ns > begin_ns ? end_ns - 1 : end_ns;
}

void bf_trace_packet_executed(struct bf_trace *t, const struct bf_trace_packet *packet,
                              uint64_t begin_ns, uint64_t end_ns)
{
    if (!t)
        return;
    bf_lock_acquire(&t->output->lock);
    uint64_t now = bf_now_ns();
    if (packet_is_known(t, packet)) {
        if (end_ns < begin_ns)
            end_ns = begin_ns;
        BF_PROBE4(packet_executed, packet->queue, packet->id, begin_ns, end_ns);
        struct bf_trace_queue *queue = &t->queues[packet->queue];
        if (packet->timed)
            bf_trace_count_for(t, packet->queue, BF_TRACK_IN_FLIGHT, -1, now);
        if (end_ns)
            bf_summary_executed(&t->summary, packet, begin_ns, end_ns);
        if (t->drawing)
            hardware_slice_write(t, packet, begin_ns, end_ns);
        queue->timed_executed += packet->timed;
        bf_trace_fences_executed(t, packet, begin_ns, end_ns, now);
    }
    bf_trace_leave(t);
}

/* --- The host ---------------------------------------------------------------------------------*/

void bf_trace_host_signal(struct bf_trace *t, struct bf_trace_sync sync)
{
    BF_PROBE2(host_signal, sync.semaphore, sync.value);
    if (!t)
        return;
    bf_lock_acquire(&t->output->lock);
    uint64_t now = bf_now_ns();
    t->summary.host_signals++;
    bf_trace_value_take(t, sync, now);
    bf_summary_extend(&t->summary, now);
    if (t->drawing) {
        /* One flow number for the packets that wait for it, and one for the boxes of the waits. */
        const struct bf_trace_sync keys[2] = {sync,
                                              {bf_trace_fence_key(sync.semaphore), sync.value}};
        uint64_t flows[2];
        for (int i = 0; i < 2; i++) {
            struct bf_flow_signal *signal = bf_flow_signal_add(t->flow, keys[i]);
            flows[i] = signal->flow = t->flow->next_flow++;
            signal->time_ns = now;
        }
        struct bf_perfetto_annotation about[4];
        uint32_t n = bf_trace_sync_annotate(t, BF_STRING_SEMAPHORE, sync, about);
        bf_trace_event(t, &t->now,
                       &(struct bf_perfetto_event){.time_ns = now,
                                                   .track = bf_trace_host_track(t),
                                                   .type = BF_PERFETTO_INSTANT,
                                                   .category = BF_STRING_HOST,
                                                   .name = BF_STRING_HOST_SIGNAL,
                                                   .flow_count = 2,
                                                   .flows = flows,
                                                   .annotation_count = n,
                                                   .annotations = about});
    }
    bf_trace_leave(t);
}
