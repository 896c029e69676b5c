/* SPDX-License-Identifier: MIT */
/* Labels of queues: the lists of open labels, and the driver's calls that change from one to
 * another. */
#include "scheduler/label.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "scheduler/driver.h"
#include "scheduler/scheduler.h"

struct bf_label {
    struct bf_label *outer; /* a reference */
    _Atomic uint32_t references;
    uint32_t depth; /* 1: there is none around it */
    VkDebugUtilsLabelEXT info;
    char name[];
};

/* A label inserted behind a packet (N-2). */
struct bf_label_insert {
    struct bf_label_insert *next;
    struct bf_label *labels; /* open around it; a reference */
    VkDebugUtilsLabelEXT info;
    char name[];
};

static VKAPI_ATTR void VKAPI_CALL label_call_ignored(VkQueue queue,
                                                     const VkDebugUtilsLabelEXT *label)
{
    (void)queue, (void)label;
}

static VKAPI_ATTR void VKAPI_CALL label_end_ignored(VkQueue queue)
{
    (void)queue;
}

struct bf_label_calls bf_label_calls_of(VkDevice device, PFN_vkGetDeviceProcAddr get_proc_addr)
{
    const struct bf_label_calls found = {
        .begin = (PFN_vkQueueBeginDebugUtilsLabelEXT)get_proc_addr(
            device, "vkQueueBeginDebugUtilsLabelEXT"),
        .end =
            (PFN_vkQueueEndDebugUtilsLabelEXT)get_proc_addr(device, "vkQueueEndDebugUtilsLabelEXT"),
        .insert = (PFN_vkQueueInsertDebugUtilsLabelEXT)get_proc_addr(
            device, "vkQueueInsertDebugUtilsLabelEXT"),
    };
    /* A program may use labels without the extension: they are still in traces and logs. */
    return (struct bf_label_calls){
        .begin = found.begin ? found.begin : label_call_ignored,
        .end = found.end ? found.end : label_end_ignored,
        .insert = found.insert ? found.insert : label_call_ignored,
    };
}

static struct bf_label *label_reference(struct bf_label *label)
{
    if (label)
        atomic_fetch_add_explicit(&label->references, 1, memory_order_relaxed);
    return label;
}

void bf_label_release(struct bf_label *label)
{
    while (label && atomic_fetch_sub(&label->references, 1) == 1) {
        struct bf_label *outer = label->outer;
        free(label);
        label = outer;
    }
}

/* No struct can be chained to a label, so none is copied. */
static void label_copy_info(const VkDebugUtilsLabelEXT *from, VkDebugUtilsLabelEXT *to, char *name)
{
    *to = *from;
    to->pNext = NULL;
    to->pLabelName = strcpy(name, from->pLabelName);
}

static uint32_t label_depth(const struct bf_label *label)
{
    return label ? label->depth : 0;
}

static struct bf_label *label_at_depth(struct bf_label *label, uint32_t wanted)
{
    while (label_depth(label) > wanted)
        label = label->outer;
    return label;
}

/* The innermost label that is in both lists, or NULL. */
static struct bf_label *label_common_outer(struct bf_label *a, struct bf_label *b)
{
    a = label_at_depth(a, label_depth(b));
    b = label_at_depth(b, label_depth(a));
    while (a != b) {
        a = a->outer;
        b = b->outer;
    }
    return a;
}

void bf_label_switch(struct bf_engine *engine, struct bf_label *labels)
{
    const struct bf_label_calls *calls = &engine->scheduler->label_calls;
    uint32_t shared = label_depth(label_common_outer(engine->labels, labels));
    if (!bf_driver_await_presents(engine)) /* */
        return;
    for (uint32_t d = label_depth(engine->labels); d > shared; d--)
        calls->end(engine->base.handle);
    for (uint32_t d = shared + 1; d <= label_depth(labels); d++)
        calls->begin(engine->base.handle, &label_at_depth(labels, d)->info);
    struct bf_label *before = engine->labels;
    engine->labels = label_reference(labels);
    bf_label_release(before);
}

/* Sets the queue's labels and takes over the reference. The engine's lock is held. */
static void queue_set_labels(struct bf_queue *queue, struct bf_label *labels)
{
    bf_lock_acquire(&queue->lock);
    queue->labels = labels;
    bf_lock_release(&queue->lock);
}

/* N-3: may the call go to the driver at once? The engine's lock is held. */
static bool queue_labels_are_live(struct bf_queue *queue)
{
    return !bf_queue_has_backlog(queue) && queue->engine->labels == queue->labels;
}

void bf_label_begin(struct bf_queue *queue, const VkDebugUtilsLabelEXT *info)
{
    struct bf_engine *engine = queue->engine;
    if (!bf_engine_enter(engine))
        return;
    struct bf_label *label =
        queue->labels_lost ? NULL : malloc(sizeof(*label) + strlen(info->pLabelName) + 1);
    if (!label) {
        queue->labels_lost++; /* labels inside it are left out as well, with their ends */
    } else {
        label->outer = queue->labels; /* and its reference */
        label->references = 1;
        label->depth = label_depth(queue->labels) + 1;
        label_copy_info(info, &label->info, label->name);
        bool live = queue_labels_are_live(queue);
        queue_set_labels(queue, label);
        if (live)
            bf_label_switch(engine, label);
    }
    bf_engine_leave(engine, 0);
}

void bf_label_end(struct bf_queue *queue)
{
    struct bf_engine *engine = queue->engine;
    if (!bf_engine_enter(engine))
        return;
    struct bf_label *label = queue->labels;
    if (queue->labels_lost) {
        queue->labels_lost--;
    } else if (label) {
        bool live = queue_labels_are_live(queue);
        queue_set_labels(queue, label_reference(label->outer));
        if (live)
            bf_label_switch(engine, queue->labels);
        bf_label_release(label);
    }
    bf_engine_leave(engine, 0);
}

/* Inserts behind the last packet of the queue's list: under the engine's lock a backlog has one. */
static void queue_append_insert(struct bf_queue *queue, struct bf_label_insert *insert)
{
    bf_lock_acquire(&queue->lock);
    struct bf_label_insert **link = &queue->tail->inserts;
    while (*link)
        link = &(*link)->next;
    *link = insert;
    bf_lock_release(&queue->lock);
}

static void label_insert_free(struct bf_label_insert *insert)
{
    bf_label_release(insert->labels);
    free(insert);
}

void bf_label_insert(struct bf_queue *queue, const VkDebugUtilsLabelEXT *info)
{
    struct bf_engine *engine = queue->engine;
    if (!bf_engine_enter(engine))
        return;
    if (!bf_queue_has_backlog(queue)) {
        bf_label_enter(engine, queue->labels);
        if (bf_driver_await_presents(engine))
            engine->scheduler->label_calls.insert(engine->base.handle, info);
    } else {
        struct bf_label_insert *insert = malloc(sizeof(*insert) + strlen(info->pLabelName) + 1);
        if (insert) {
            insert->next = NULL;
            insert->labels = label_reference(queue->labels);
            label_copy_info(info, &insert->info, insert->name);
            queue_append_insert(queue, insert);
        }
    }
    bf_engine_leave(engine, 0);
}

void bf_label_attach_to(struct bf_packet *first, struct bf_label *labels)
{
    for (struct bf_packet *p = first; p; p = p->next)
        p->labels = label_reference(labels);
}

void bf_label_pass(struct bf_engine *engine, struct bf_queue *queue, struct bf_packet *packet)
{
    for (struct bf_label_insert *i = packet->inserts; i; i = i->next) {
        bf_label_enter(engine, i->labels);
        engine->scheduler->label_calls.insert(engine->base.handle, &i->info);
    }
    /* N-4. The open labels are the packet's or its last insert's, so they are of this queue. */
    bf_lock_acquire(&queue->lock);
    struct bf_label *next = queue->head ? queue->head->labels : queue->labels;
    bf_lock_release(&queue->lock);
    bf_label_enter(engine, label_common_outer(engine->labels, next));
}

void bf_label_drop_from(struct bf_packet *packet)
{
    while (packet->inserts) {
        struct bf_label_insert *next = packet->inserts->next;
        label_insert_free(packet->inserts);
        packet->inserts = next;
    }
    bf_label_release(packet->labels);
    packet->labels = NULL;
}

const char *bf_label_write_path(struct bf_label *labels, char *text, size_t size)
{
    size_t length = 0;
    for (uint32_t d = 1; d <= label_depth(labels) && length < size; d++)
        length += (size_t)snprintf(text + length, size - length, "%s%s", d > 1 ? " > " : "",
                                   label_at_depth(labels, d)->name);
    return length ? text : NULL;
}

const char *bf_label_path(struct bf_queue *queue, char *text, size_t size)
{
    bf_lock_acquire(&queue->lock);
    const char *path = bf_label_write_path(queue->labels, text, size);
    bf_lock_release(&queue->lock);
    return path;
}
