/* SPDX-License-Identifier: MIT */
/* Creates and destroys traces; names of devices, queues, semaphores and command buffers. */
#include "trace/trace.h"

#include <errno.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "trace/state.h"

/* Track numbers of this form take seven bytes each, and differ from those of other traces, in case
 * files are joined. */
#define BASE_MASK 0xFFFFFF000000u

static uint64_t bits_scramble(uint64_t x)
{
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9u;
    x = (x ^ x >> 27) * 0x94D049BB133111EBu;
    return x ^ x >> 31;
}

/* Says until when the trace tells: what hasn't ended by then may never have. The lock is held. */
static void trace_end(struct bf_trace *t)
{
    bf_trace_fences_end(t);
    bf_trace_event(t, &t->now,
                   &(struct bf_perfetto_event){.time_ns = bf_now_ns(),
                                               .track = bf_trace_track(t, BF_TRACK_PROCESS),
                                               .type = BF_PERFETTO_INSTANT,
                                               .category = BF_STRING_BELFRY,
                                               .name = BF_STRING_TRACING_ENDS});
}

static void member_end(struct bf_output_member *member)
{
    trace_end((struct bf_trace *)((char *)member - offsetof(struct bf_trace, member)));
}

VkResult bf_trace_create(const struct bf_trace_info *info, struct bf_trace **trace)
{
    *trace = NULL;
    struct bf_trace *t = calloc(1, sizeof(*t));
    if (!t)
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    t->first_unsettled = UINT32_MAX;
    bf_name_copy(t->program, sizeof(t->program), info->program ? info->program : "");
    bf_name_copy(t->device, sizeof(t->device), info->device ? info->device : "");
    bf_name_copy(t->driver, sizeof(t->driver), info->driver ? info->driver : "");
    struct timespec time;
    clock_gettime(CLOCK_REALTIME, &time);
    uint64_t seed = (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
    uint64_t random = bits_scramble(seed ^ (uint64_t)getpid() << 32 ^ (uintptr_t)t);
    t->base = (random & BASE_MASK) | (BASE_MASK & -BASE_MASK);
    t->flow = bf_flow_create(bits_scramble(random));
    if (!t->flow) {
        free(t);
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    int error = bf_output_join(info->path, &t->output, &t->number);
    if (error) {
        bf_flow_destroy(t->flow);
        free(t);
        return error == ENOMEM || error == EAGAIN ? VK_ERROR_OUT_OF_HOST_MEMORY
                                                  : VK_ERROR_INITIALIZATION_FAILED;
    }
    t->now = (struct bf_perfetto_sequence){.id = 2 * t->number - 1, .interning = &t->interning};
    t->late = (struct bf_perfetto_sequence){.id = 2 * t->number, .interning = &t->interning};
    if (info->path) {
        t->drawing = true;
        bf_lock_acquire(&t->output->lock);
        bf_trace_room(t, false);
        bf_trace_leave(t);
        if (t->number == 1)
            bf_output_drain(t->output); /* so that even the shortest run leaves a trace */
    }
    t->member.end = member_end;
    bf_output_enrol(t->output, &t->member);
    *trace = t;
    return VK_SUCCESS;
}

static void value_free(void *value, void *context)
{
    (void)context;
    free(value);
}

void bf_trace_destroy(struct bf_trace *t)
{
    if (!t)
        return;
    bf_lock_acquire(&t->output->lock);
    trace_end(t);
    bf_trace_leave(t);
    bf_output_part(t->output, &t->member, t->open);
    bf_map_finish(&t->semaphores, value_free, NULL);
    bf_map_finish(&t->buffers, value_free, NULL);
    bf_summary_finish(&t->summary);
    bf_flow_destroy(t->flow);
    for (uint32_t i = 0; i < t->queue_count; i++)
        free(t->queues[i].fences);
    free(t->engines);
    free(t->queues);
    free(t);
}

void bf_trace_tell_at_end(struct bf_trace *t, void (*tell)(void *context), void *context)
{
    if (t)
        bf_output_tell(&t->member, tell, context);
}

void bf_trace_flush(struct bf_trace *t)
{
    if (!t)
        return;
    bf_lock_acquire(&t->output->lock);
    bf_output_flush(t->output);
    bf_trace_leave(t);
}

void bf_trace_drain(struct bf_trace *t)
{
    if (t)
        bf_output_drain(t->output);
}

const char *bf_trace_path(const struct bf_trace *t)
{
    return t ? t->output->file.path : NULL;
}

void bf_trace_count(struct bf_trace *t, struct bf_trace_counts *counts)
{
    *counts = (struct bf_trace_counts){0};
    if (!t)
        return;
    bf_lock_acquire(&t->output->lock);
    counts->events = t->output->events - t->output->lost;
    counts->lost = t->lost + t->output->lost;
    counts->bytes = t->output->bytes;
    bf_trace_leave(t);
}

/* Distinguishes engines and queues of devices that share a file. */
static void own_name(const struct bf_trace *t, const char *name, char own[BF_TRACE_NAME])
{
    if (t->number > 1)
        snprintf(own, BF_TRACE_NAME, "%.96s, device %" PRIu32, name, t->number);
    else
        bf_name_copy(own, BF_TRACE_NAME, name);
}

uint32_t bf_trace_add_engine(struct bf_trace *t, const char *name)
{
    if (!t)
        return UINT32_MAX;
    char own[BF_TRACE_NAME];
    own_name(t, name, own);
    bf_lock_acquire(&t->output->lock);
    uint32_t index = UINT32_MAX;
    struct bf_trace_engine *engines = realloc(t->engines, (t->engine_count + 1) * sizeof(*engines));
    if (engines) {
        t->engines = engines;
        if (bf_summary_add_engine(&t->summary, own)) {
            index = t->engine_count++;
            engines[index] = (struct bf_trace_engine){0};
            memcpy(engines[index].name, own, BF_TRACE_NAME);
        }
    }
    bf_trace_leave(t);
    return index;
}

/* Is there nothing of it that may still be told of? */
static bool queue_is_over(const struct bf_trace_queue *queue)
{
    uint64_t taken = queue->presents_taken;
    for (uint32_t i = 0; i < BF_TRACE_SOFTWARE_LANES / 64; i++)
        taken |= queue->taken[i];
    for (int kind = 0; kind < BF_FENCE_KINDS && queue->fences; kind++)
        taken |= queue->fences->lists[kind].end - queue->fences->lists[kind].begin;
    return !taken && queue->timed_handed_over == queue->timed_executed;
}

/* The place of a queue that was destroyed, for one of the same engine; or queue_count. */
static uint32_t queue_reuse(struct bf_trace *t, uint32_t engine, const char *name)
{
    uint32_t index = 0;
    while (index < t->queue_count &&
           !(t->queues[index].ended && t->queues[index].engine == engine &&
             t->summary.queues[index].held_now == 0 && queue_is_over(&t->queues[index])))
        index++;
    if (index == t->queue_count)
        return index;
    struct bf_trace_queue *queue = &t->queues[index];
    queue->ended = false;
    queue->described = false;
    queue->debug_name[0] = 0;
    snprintf(queue->name, sizeof(queue->name), "%.96s, the last of %" PRIu32, name,
             ++queue->former + 1);
    bf_summary_name_queue(&t->summary, index, queue->name);
    return index;
}

void bf_trace_end_queue(struct bf_trace *t, uint32_t index)
{
    if (!t)
        return;
    bf_lock_acquire(&t->output->lock);
    if (index < t->queue_count)
        t->queues[index].ended = !t->queues[index].own;
    bf_trace_leave(t);
}

/* The lock is held. */
static uint32_t trace_queue_add(struct bf_trace *t, uint32_t engine, const char *name, bool own)
{
    uint32_t former = own ? t->queue_count : queue_reuse(t, engine, name);
    if (former < t->queue_count)
        return former;
    struct bf_trace_queue *queues = realloc(t->queues, (t->queue_count + 1) * sizeof(*queues));
    if (!queues)
        return UINT32_MAX;
    t->queues = queues;
    if (engine >= t->engine_count || !bf_summary_add_queue(&t->summary, engine, name, own))
        return UINT32_MAX;
    uint32_t index = t->queue_count++;
    queues[index] = (struct bf_trace_queue){.engine = engine, .own = own};
    bf_name_copy(queues[index].name, BF_TRACE_NAME, name);
    return index;
}

uint32_t bf_trace_add_queue(struct bf_trace *t, uint32_t engine, const char *name)
{
    if (!t)
        return UINT32_MAX;
    char own[BF_TRACE_NAME];
    own_name(t, name, own);
    bf_lock_acquire(&t->output->lock);
    uint32_t index = trace_queue_add(t, engine, own, false);
    bf_trace_leave(t);
    return index;
}

uint32_t bf_trace_own_queue(struct bf_trace *t, uint32_t engine)
{
    if (!t || engine == UINT32_MAX)
        return UINT32_MAX;
    bf_lock_acquire(&t->output->lock);
    uint32_t index = 0;
    while (index < t->queue_count && !(t->queues[index].own && t->queues[index].engine == engine))
        index++;
    if (index == t->queue_count)
        index = trace_queue_add(t, engine, t->engines[engine].name, true);
    bf_trace_leave(t);
    return index;
}

void bf_trace_name_device(struct bf_trace *t, const char *name)
{
    if (!t)
        return;
    bf_lock_acquire(&t->output->lock);
    bf_name_copy(t->name, sizeof(t->name), name ? name : "");
    if (t->begun)
        bf_trace_process_describe(t);
    bf_trace_leave(t);
}

void bf_trace_name_queue(struct bf_trace *t, uint32_t index, const char *name)
{
    if (!t)
        return;
    bf_lock_acquire(&t->output->lock);
    if (index < t->queue_count) {
        struct bf_trace_queue *queue = &t->queues[index];
        bf_name_copy(queue->debug_name, BF_TRACE_NAME, name ? name : "");
        char label[BF_TRACE_QUEUE_LABEL];
        bf_trace_queue_label(queue, label);
        bf_summary_name_queue(&t->summary, index, label);
        bf_trace_queue_describe_anew(t, index);
    }
    bf_trace_leave(t);
}

struct bf_trace_semaphore *bf_trace_semaphore_of(struct bf_trace *t, uint64_t semaphore)
{
    struct bf_trace_semaphore *known = bf_map_find(&t->semaphores, semaphore);
    if (known)
        return known;
    known = calloc(1, sizeof(*known));
    if (known && !bf_map_insert(&t->semaphores, semaphore, known)) {
        free(known);
        known = NULL;
    }
    if (known)
        known->number = ++t->last_semaphore;
    return known;
}

void bf_trace_name_semaphore(struct bf_trace *t, uint64_t semaphore, const char *name)
{
    if (!t || !semaphore)
        return;
    bf_lock_acquire(&t->output->lock);
    struct bf_trace_semaphore *known = bf_trace_semaphore_of(t, semaphore);
    if (known)
        bf_name_copy(known->name, BF_TRACE_NAME, name ? name : "");
    bf_trace_leave(t);
}

void bf_trace_value_take(struct bf_trace *t, struct bf_trace_sync sync, uint64_t time_ns)
{
    struct bf_trace_semaphore *known = bf_trace_semaphore_of(t, sync.semaphore);
    if (!known || time_ns < known->value_ns)
        return;
    known->value = sync.value;
    known->value_ns = time_ns;
}

uint64_t bf_trace_value_of(struct bf_trace *t, uint64_t semaphore)
{
    const struct bf_trace_semaphore *known = bf_map_find(&t->semaphores, semaphore);
    return known ? known->value : 0;
}

void bf_trace_add_semaphore(struct bf_trace *t, uint64_t semaphore, uint64_t value)
{
    if (!t || !semaphore)
        return;
    bf_lock_acquire(&t->output->lock);
    struct bf_trace_semaphore *known = bf_trace_semaphore_of(t, semaphore);
    if (known)
        *known = (struct bf_trace_semaphore){
            .number = ++t->last_semaphore, .value = value, .value_ns = bf_now_ns()};
    bf_trace_leave(t);
}

void bf_trace_semaphore_value(struct bf_trace *t, uint64_t semaphore, uint64_t value)
{
    if (!t || !semaphore)
        return;
    bf_lock_acquire(&t->output->lock);
    bf_trace_value_take(t, (struct bf_trace_sync){semaphore, value}, bf_now_ns());
    bf_trace_leave(t);
}

void bf_trace_forget_semaphore(struct bf_trace *t, uint64_t semaphore)
{
    if (!t || !semaphore)
        return;
    bf_lock_acquire(&t->output->lock);
    bf_trace_fences_destroyed(t, semaphore);
    bf_flow_forget(t->flow, semaphore);
    bf_flow_forget(t->flow, bf_trace_fence_key(semaphore));
    struct bf_trace_semaphore *old = bf_map_remove(&t->semaphores, semaphore);
    bf_trace_leave(t);
    free(old);
}

/* --- Command buffers --------------------------------------------------------------------------*/

/* The entry of a command buffer; where 'wanted' is set, a new one if there is none. NULL: there is
 * none, or no memory. The lock is held, unless 'wanted' is false and the result is only compared
 * with NULL: Vulkan's rules let only one thread at a time create or destroy the handle. */
static struct bf_trace_buffer *buffer_of(struct bf_trace *t, VkCommandBuffer handle, bool wanted)
{
    uint64_t key = (uintptr_t)handle;
    struct bf_trace_buffer *buffer = bf_map_find(&t->buffers, key);
    if (buffer || !wanted)
        return buffer;
    buffer = calloc(1, sizeof(*buffer));
    if (buffer && !bf_map_insert(&t->buffers, key, buffer)) {
        free(buffer);
        buffer = NULL;
    }
    return buffer;
}

void bf_trace_name_command_buffer(struct bf_trace *t, VkCommandBuffer handle, const char *name)
{
    if (!t || !handle)
        return;
    bf_lock_acquire(&t->output->lock);
    struct bf_trace_buffer *buffer = buffer_of(t, handle, name && name[0]);
    if (buffer)
        bf_name_copy(buffer->name, BF_TRACE_NAME, name ? name : "");
    bf_trace_leave(t);
}

void bf_trace_command_buffer_begun(struct bf_trace *t, VkCommandBuffer handle)
{
    /* Threads that record command buffers without a name don't take the lock. */
    if (!t || !buffer_of(t, handle, false))
        return;
    bf_lock_acquire(&t->output->lock);
    struct bf_trace_buffer *buffer = buffer_of(t, handle, false);
    if (buffer)
        buffer->labels[0] = 0;
    bf_trace_leave(t);
}

void bf_trace_command_buffer_label(struct bf_trace *t, VkCommandBuffer handle, const char *label)
{
    if (!t || !label || !label[0])
        return;
    bf_lock_acquire(&t->output->lock);
    struct bf_trace_buffer *buffer = buffer_of(t, handle, true);
    if (buffer) {
        size_t length = strlen(buffer->labels);
        if (length && length + 3 < BF_TRACE_NAME) {
            memcpy(buffer->labels + length, ", ", 3);
            length += 2;
        }
        bf_name_copy(buffer->labels + length, BF_TRACE_NAME - length, label);
    }
    bf_trace_leave(t);
}

void bf_trace_forget_command_buffer(struct bf_trace *t, VkCommandBuffer handle)
{
    if (!t || !handle || !buffer_of(t, handle, false))
        return;
    bf_lock_acquire(&t->output->lock);
    struct bf_trace_buffer *buffer = bf_map_remove(&t->buffers, (uintptr_t)handle);
    bf_trace_leave(t);
    free(buffer);
}

/* --- The rest ---------------------------------------------------------------------------------*/

void bf_trace_mark_uncalibrated(struct bf_trace *t)
{
    if (!t)
        return;
    bf_lock_acquire(&t->output->lock);
    if (!t->summary.uncalibrated) {
        t->summary.uncalibrated = true;
        bf_trace_event(t, &t->now,
                       &(struct bf_perfetto_event){.time_ns = bf_now_ns(),
                                                   .track = bf_trace_track(t, BF_TRACK_PROCESS),
                                                   .type = BF_PERFETTO_INSTANT,
                                                   .category = BF_STRING_BELFRY,
                                                   .name = BF_STRING_UNCALIBRATED});
    }
    bf_trace_leave(t);
}

/* Of the watchdog's; it is in the file soon. */
static void trace_tell(struct bf_trace *t, enum bf_string name,
                       const struct bf_perfetto_annotation *about)
{
    bf_lock_acquire(&t->output->lock);
    bf_trace_event(t, &t->now,
                   &(struct bf_perfetto_event){.time_ns = bf_now_ns(),
                                               .track = bf_trace_track(t, BF_TRACK_PROCESS),
                                               .type = BF_PERFETTO_INSTANT,
                                               .category = BF_STRING_BELFRY,
                                               .name = name,
                                               .annotation_count = 1,
                                               .annotations = about});
    bf_output_flush(t->output);
    bf_trace_leave(t);
}

static void trace_tell_line(struct bf_trace *t, enum bf_string name, const char *line)
{
    char text[1024];
    if (!t)
        return;
    bf_name_copy(text, sizeof(text), line);
    trace_tell(t, name,
               &(struct bf_perfetto_annotation){
                   .name = BF_STRING_LINE, .kind = BF_PERFETTO_STRING, .text = text});
}

void bf_trace_standstill(struct bf_trace *t, const char *line)
{
    trace_tell_line(t, BF_STRING_STANDSTILL, line);
}

void bf_trace_device_lost(struct bf_trace *t, const char *line)
{
    trace_tell_line(t, BF_STRING_DEVICE_LOST, line);
}

void bf_trace_stopped(struct bf_trace *t, uint64_t at_least_ns)
{
    if (t)
        trace_tell(t, BF_STRING_STOPPED,
                   &(struct bf_perfetto_annotation){.name = BF_STRING_AT_LEAST_NS,
                                                    .kind = BF_PERFETTO_UINT,
                                                    .number = at_least_ns});
}

void bf_trace_preempted(struct bf_trace *t, uint32_t engine, uint64_t request, uint64_t latency_ns)
{
    if (!t)
        return;
    bf_lock_acquire(&t->output->lock);
    const struct bf_perfetto_annotation about[] = {
        {.name = BF_STRING_ENGINE, .kind = BF_PERFETTO_STRING, .text = t->engines[engine].name},
        {.name = BF_STRING_REQUEST, .kind = BF_PERFETTO_UINT, .number = request},
        {.name = BF_STRING_LATENCY, .kind = BF_PERFETTO_UINT, .number = latency_ns},
    };
    bf_trace_event(t, &t->now,
                   &(struct bf_perfetto_event){.time_ns = bf_now_ns(),
                                               .track = bf_trace_track(t, BF_TRACK_PROCESS),
                                               .type = BF_PERFETTO_INSTANT,
                                               .category = BF_STRING_BELFRY,
                                               .name = BF_STRING_PREEMPTED,
                                               .annotation_count = 3,
                                               .annotations = about});
    bf_trace_leave(t);
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
    bf_output_drain(t->output);
    bf_lock_acquire(&t->output->lock);
    const struct bf_summary_head head = {
        .program = t->program,
        .name = t->name,
        .device = t->device,
        .driver = t->driver,
        .path = t->output->file.path,
        .bytes = t->output->bytes,
        .error = t->output->error,
        .lost_arrows = t->flow->lost,
        .lost_events = t->lost + t->output->lost,
        .now_ns = bf_now_ns(),
    };
    bf_summary_print(&t->summary, &head, memory);
    bf_trace_leave(t);
    if (fclose(memory) == 0)
        fwrite(text, 1, size, out);
    free(text);
}
