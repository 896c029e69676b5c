/* SPDX-License-Identifier: MIT */
/* The words in which a standstill is reported. */
#include "standstill/text.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

struct writer {
    const struct bf_graph *graph;
    char *text;
    size_t length;
};

__attribute__((format(printf, 2, 3))) static void put(struct writer *w, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int printed = vsnprintf(w->text + w->length, BF_CASE_TEXT - w->length, format, arguments);
    va_end(arguments);
    if (printed > 0)
        w->length += (size_t)printed;
    if (w->length >= BF_CASE_TEXT)
        w->length = BF_CASE_TEXT - 1;
}

static void put_age(struct writer *w, uint64_t ns)
{
    put(w, "%.1f s", (double)(ns / 100000000u) / 10);
}

static void put_content(struct writer *w, const struct bf_graph_queue *queue)
{
    if (queue->content[0])
        put(w, ", with %s,", queue->content);
}

static void put_packet(struct writer *w, const struct bf_graph_queue *queue)
{
    if (queue->on_gpu && !queue->packet)
        put(w, "a submission on %s", queue->name);
    else if (!queue->waits)
        put(w, "packet %" PRIu64 " of %s", queue->packet, queue->name);
    else if (queue->packet)
        put(w, "%s, behind its packet %" PRIu64 ",", queue->name, queue->packet);
    else
        put(w, "%s", queue->name);
    put_content(w, queue);
}

static void put_wanted(struct writer *w, const struct bf_graph_queue *queue)
{
    const struct bf_graph_object *object = &w->graph->objects[queue->object];
    if (object->kind == BF_GRAPH_BINARY)
        put(w, " waits for %s to be signalled", object->name);
    else if (object->kind == BF_GRAPH_BINARY_USED)
        put(w, " is to signal %s, whose last signal nobody has waited for yet,", object->name);
    else
        put(w, " waits%s for %s to reach %" PRIu64 " (has %" PRIu64 ")",
            queue->on_gpu ? " on the GPU" : "", object->name, queue->value, object->value);
}

/* "packet 3 of compute queue 1:0 waits for semaphore 'frame' to reach 7 (has 5)" */
static void put_wait(struct writer *w, uint32_t index)
{
    put_packet(w, &w->graph->queues[index]);
    put_wanted(w, &w->graph->queues[index]);
}

/* "packet 4 of 3D queue 0:1 would signal" */
static void put_signaller(struct writer *w, const struct bf_graph_signal *signal)
{
    if (signal->packet)
        put(w, "packet %" PRIu64 " of ", signal->packet);
    put(w, "%s would signal", w->graph->queues[signal->queue].name);
}

/* Who may still do what no queue has been given. */
static void put_nobody(struct writer *w, const struct bf_graph_object *object)
{
    put(w, ": nobody has submitted such a %s",
        object->kind == BF_GRAPH_BINARY_USED ? "wait" : "signal");
    if (object->kind == BF_GRAPH_FENCE || object->kind == BF_GRAPH_TIMELINE)
        put(w, object->outside ? "; the host may, or somebody outside of the device"
                               : "; the host may still signal it");
    else if (object->outside)
        put(w, "; somebody outside of the device may");
}

static void put_behind(struct writer *w, uint32_t count)
{
    if (count)
        put(w, "; %" PRIu32 " more queue%s wait%s for it", count, count > 1 ? "s" : "",
            count > 1 ? "" : "s");
}

static void put_missing(struct writer *w, const struct bf_case *found)
{
    put_wait(w, found->queue);
    put(w, " for ");
    put_age(w, found->age_ns);
    put_nobody(w, &w->graph->objects[w->graph->queues[found->queue].object]);
    put_behind(w, found->behind);
}

static void put_circle(struct writer *w, const struct bf_case *found)
{
    const struct bf_graph *graph = w->graph;
    put(w, found->certain ? "a deadlock, which nothing can end," : "a circle");
    for (uint32_t i = 0; i < found->unless_count; i++) {
        const struct bf_graph_signal *wait = &graph->waits[found->unless[i]];
        bool last = i + 1 == found->unless_count && !found->does_more;
        put(w, "%s %s to %" PRIu64,
            i == 0 ? ", unless the host signals"
            : last ? " and"
                   : ",",
            graph->objects[wait->object].name, wait->value);
    }
    if (found->unless_count)
        put(w, "%s,", found->does_more ? " and does more" : "");
    else if (found->outside)
        put(w, ", unless somebody outside of the device signals,");
    put(w, " for ");
    put_age(w, found->age_ns);
    for (uint32_t i = 0; i < found->member_count; i++) {
        put(w, "%s ", i ? ";" : ":");
        put_wait(w, found->members[i].queue);
        put(w, ", which ");
        put_signaller(w, &graph->signals[found->members[i].signal]);
    }
    if (found->more_members)
        put(w, "; and so on, over %" PRIu32 " more", found->more_members);
    put_behind(w, found->behind);
}

static void put_submission(struct writer *w, const struct bf_graph_engine *e)
{
    if (e->packet)
        put(w, "packet %" PRIu64 " of %s", e->packet, e->queue);
    else
        put(w, "a submission on %s that is too old to be known", e->name);
}

static void put_unless_outside(struct writer *w, const struct bf_graph_engine *e)
{
    if (e->outside[0])
        put(w, ", unless it waits for %s to be signalled", e->outside);
    if (e->outside[0] && e->outside_value)
        put(w, " to %" PRIu64, e->outside_value);
}

static void put_busy(struct writer *w, const struct bf_case *found)
{
    const struct bf_graph_engine *e = &w->graph->engines[found->engine];
    put(w, "the GPU has been busy with ");
    put_submission(w, e);
    put(w, " for ");
    put_age(w, found->age_ns);
    put_unless_outside(w, e);
    if (e->content[0])
        put(w, ": %s", e->content);
    uint32_t windowed = 0;
    for (uint32_t i = 0; i < w->graph->queue_count; i++)
        windowed += w->graph->queues[i].windowed && w->graph->queues[i].engine == found->engine;
    if (windowed)
        put(w, "; its priority window holds %" PRIu32 " queue%s", windowed,
            windowed == 1 ? "" : "s");
}

static void put_outside(struct writer *w, const struct bf_case *found)
{
    const struct bf_graph_queue *queue = &w->graph->queues[found->queue];
    put_packet(w, queue);
    put(w, " has waited on the GPU for ");
    put_age(w, found->age_ns);
    put(w,
        ": %s is to reach %" PRIu64 " (has %" PRIu64
        "), by the host or by somebody outside of the device",
        w->graph->objects[queue->object].name, queue->value,
        w->graph->objects[queue->object].value);
    put_behind(w, found->behind);
}

static void put_thread(struct writer *w, const struct bf_graph_call *call)
{
    put(w, "thread %" PRIu32, call->thread);
    if (call->thread_name[0])
        put(w, " '%s'", call->thread_name);
}

/* "for semaphore 'frame' to reach 7 (has 3): nobody has submitted such a signal" */
static void put_host_wait(struct writer *w, const struct bf_graph_call *call)
{
    const struct bf_graph_object *object =
        call->object == BF_GRAPH_NONE ? NULL : &w->graph->objects[call->object];
    put(w, " for %s", object ? object->name : call->fence);
    if (object)
        put(w, " to reach %" PRIu64 " (has %" PRIu64 ")", call->value, object->value);
    if (call->more)
        put(w, call->any ? " or one of %" PRIu32 " more" : " and %" PRIu32 " more", call->more);
    if (object)
        put_nobody(w, object);
    else
        put(w, ": no submission is left that would signal it, unless an image is being acquired");
}

static void put_call(struct writer *w, const struct bf_case *found)
{
    const struct bf_graph_call *call = &w->graph->calls[found->call];
    const bool awaits =
        call->object == BF_GRAPH_NONE
            ? call->fence[0] != '\0'
            : w->graph->objects[call->object].value < call->value; /* else it is on its way back */
    put_thread(w, call);
    put(w, awaits ? " has waited for " : " has been in the driver for ");
    put_age(w, found->age_ns);
    put(w, ", in %s", call->name);
    if (awaits) {
        put(w, ",");
        put_host_wait(w, call);
    } else if (call->engine + 1 < w->graph->engine_count) {
        put(w, " on %s", w->graph->engines[call->engine].name);
    }
}

static void put_taken(struct writer *w, const struct bf_case *found)
{
    put_packet(w, &w->graph->queues[found->queue]);
    put(w, " could have gone to the driver for ");
    put_age(w, found->age_ns);
    put(w, ", but a thread keeps %s to itself (bfLockVkQueue)",
        w->graph->engines[found->engine].name);
    put_behind(w, found->behind);
}

static void put_suspended(struct writer *w, const struct bf_case *found)
{
    put_packet(w, &w->graph->queues[found->queue]);
    put(w, " has been held for ");
    put_age(w, found->age_ns);
    put(w, ": the queue is suspended (bfSuspendCommandQueue)");
    put_behind(w, found->behind);
}

void bf_case_write(const struct bf_graph *graph, const struct bf_case *found,
                   char text[BF_CASE_TEXT])
{
    static void (*const writers[])(struct writer *, const struct bf_case *) = {
        [BF_CASE_CIRCLE] = put_circle,       [BF_CASE_MISSING] = put_missing,
        [BF_CASE_BUSY] = put_busy,           [BF_CASE_OUTSIDE] = put_outside,
        [BF_CASE_CALL] = put_call,           [BF_CASE_TAKEN] = put_taken,
        [BF_CASE_SUSPENDED] = put_suspended,
    };
    struct writer w = {graph, text, 0};
    text[0] = '\0';
    put(&w, "standstill: ");
    writers[found->kind](&w, found);
}

/* The signal in a queue that would satisfy the wait: of several the least, or NONE. */
static uint32_t signal_find(const struct bf_graph *graph, const struct bf_graph_queue *queue)
{
    uint32_t found = BF_GRAPH_NONE;
    bool counts = graph->objects[queue->object].kind >= BF_GRAPH_BINARY;
    for (uint32_t i = 0; i < graph->signal_count; i++) {
        const struct bf_graph_signal *signal = &graph->signals[i];
        if (signal->object == queue->object &&
            (counts ? signal->value <= queue->value : signal->value >= queue->value) &&
            (found == BF_GRAPH_NONE || signal->value < graph->signals[found].value))
            found = i;
    }
    return found;
}

void bf_wait_write(const struct bf_graph *graph, uint32_t index, char text[BF_CASE_TEXT])
{
    const struct bf_graph_queue *queue = &graph->queues[index];
    struct writer w = {graph, text, 0};
    text[0] = '\0';
    if (queue->state == BF_GRAPH_EMPTY)
        return;
    if (!queue->waits)
        put(&w, "packet %" PRIu64, queue->packet);
    else if (queue->packet)
        put(&w, "after packet %" PRIu64 " it", queue->packet);
    else
        put(&w, "it");
    put_content(&w, queue);
    if (queue->state == BF_GRAPH_HELD)
        put_wanted(&w, queue);
    else
        put(&w, queue->suspended  ? " is held, since the queue is suspended,"
                : queue->windowed ? " is held by a priority window"
                                  : " waits for its turn");
    put(&w, " for ");
    put_age(&w, queue->age_ns);
    if (queue->state != BF_GRAPH_HELD)
        return;
    uint32_t signal = signal_find(graph, queue);
    put(&w, signal == BF_GRAPH_NONE ? "" : ", which ");
    if (signal == BF_GRAPH_NONE)
        put_nobody(&w, &graph->objects[queue->object]);
    else
        put_signaller(&w, &graph->signals[signal]);
}

void bf_submission_write(const struct bf_graph_engine *engine, char text[BF_CASE_TEXT])
{
    struct writer w = {NULL, text, 0};
    text[0] = '\0';
    if (!engine->busy)
        return;
    put_submission(&w, engine);
    put(&w, " for ");
    put_age(&w, engine->busy_ns);
    put_unless_outside(&w, engine);
    if (engine->content[0])
        put(&w, ": %s", engine->content);
}

void bf_call_write(const struct bf_graph *graph, uint32_t engine, char text[BF_CASE_TEXT])
{
    const struct bf_graph_call *longest = NULL;
    struct writer w = {NULL, text, 0};
    text[0] = '\0';
    for (uint32_t i = 0; i < graph->call_count; i++) {
        const struct bf_graph_call *call = &graph->calls[i];
        if (call->engine == engine && (!longest || call->ns > longest->ns))
            longest = call;
    }
    if (!longest)
        return;
    put_thread(&w, longest);
    put(&w, " in %s for ", longest->name);
    put_age(&w, longest->ns);
}
