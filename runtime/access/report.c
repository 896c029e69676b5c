/* SPDX-License-Identifier: MIT */
/* Writes the lines that report faults. */
#include "access/model.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/message.h"

static const char *const state_names[] = {
    [BF_RESOURCE_STATE_UNKNOWN] = "an unknown state",
    [BF_RESOURCE_STATE_COMMON] = "COMMON",
    [BF_RESOURCE_STATE_COPY_SOURCE] = "COPY_SOURCE",
    [BF_RESOURCE_STATE_COPY_DEST] = "COPY_DEST",
    [BF_RESOURCE_STATE_OTHER] = "a state of 3D and compute queues",
};

static const char *const class_names[] = {
    [BF_ACCESS_COMPUTE_3D] = "compute/3D",
    [BF_ACCESS_COPY] = "copy",
    [BF_ACCESS_NO_CLASS] = "neither class",
};

/* Makes room for one more. */
static bool said_grow(struct bf_access *access, struct bf_access_resource *resource)
{
    if (resource->said_count < resource->said_room)
        return true;
    uint32_t room = resource->said_room ? 2 * resource->said_room : 4;
    struct bf_access_said *grown = realloc(resource->said, room * sizeof(*grown));
    if (!grown) {
        access->clocks.failed = true;
        return false;
    }
    resource->said = grown;
    resource->said_room = room;
    return true;
}

/* A fault is reported once for each resource, pair of queues and rule, and the number of lines is
 * limited. */
static bool is_new(struct bf_access *access, const struct bf_access_finding *finding)
{
    struct bf_access_resource *resource = finding->resource;
    uint32_t a = finding->earlier.queue, b = finding->later.queue;
    for (uint32_t i = 0; i < resource->said_count; i++) {
        const struct bf_access_said *said = &resource->said[i];
        if (said->fault == finding->fault && ((said->queues[0] == a && said->queues[1] == b) ||
                                              (said->queues[0] == b && said->queues[1] == a)))
            return false;
    }
    if (access->reports == BF_ACCESS_MAX_LINES) {
        access->unsaid++;
        return false;
    }
    if (!said_grow(access, resource))
        return false;
    resource->said[resource->said_count++] = (struct bf_access_said){{a, b}, finding->fault};
    access->reports++;
    return true;
}

static const char *queue_name_of(struct bf_access *access, uint32_t id)
{
    struct bf_access_queue *queue = bf_model_queue_find(access, id);
    return queue ? queue->name : "(destroyed)";
}

static const char *report_resource_name(const struct bf_access_resource *resource, char buffer[96])
{
    const char *type = resource->image ? "image" : "buffer";
    if (resource->name[0])
        snprintf(buffer, 96, "%s '%s'", type, resource->name);
    else
        snprintf(buffer, 96, "%s 0x%llx", type, (unsigned long long)resource->handle);
    return buffer;
}

static void put_state(const struct bf_access_finding *f, const struct bf_access_report *r,
                      const char *resource, char *line, size_t size)
{
    snprintf(line, size,
             "access: %s: queue '%s' (%s) uses it in %s in packet %llu (%s), and queue '%s' (%s) "
             "had it in %s in packet %llu: a state of one type class is none of the other, and it "
             "did not go through COMMON in between",
             resource, r->later.queue, class_names[r->later.type_class],
             state_names[r->later.state], (unsigned long long)r->later.packet, f->later.what,
             r->earlier.queue, class_names[r->earlier.type_class], state_names[r->earlier.state],
             (unsigned long long)r->earlier.packet);
}

static void put_race(const struct bf_access_finding *f, const struct bf_access_report *r,
                     const char *resource, char *line, size_t size)
{
    char earlier[128], later[128];
    bf_access_region_text(f->resource->image, f->earlier.region, earlier, sizeof(earlier));
    bf_access_region_text(f->resource->image, f->later.region, later, sizeof(later));
    unsigned long long packet_earlier = r->earlier.packet, packet_later = r->later.packet;
    snprintf(
        line, size,
        "access: %s: queue '%s' %s %s in packet %llu (%s) while queue '%s' may %s %s in packet "
        "%llu (%s)%s: no signal of queue '%s' after packet %llu is waited for by queue '%s' "
        "before packet %llu, nor the other way round",
        resource, r->later.queue, r->later.write ? "writes" : "reads", later, packet_later,
        f->later.what, r->earlier.queue, r->earlier.write ? "write" : "read", earlier,
        packet_earlier, f->earlier.what,
        r->overlap ? "" : ", other bytes, but only one queue may write to a resource at a time",
        r->earlier.queue, packet_earlier, r->later.queue, packet_later);
}

void bf_access_say(struct bf_access *access, const struct bf_access_finding *f)
{
    /* After a lack of memory the clocks are meaningless. */
    if (access->clocks.failed || !is_new(access, f))
        return;
    char resource[96], line[960];
    struct bf_access_report report = {
        .fault = f->fault,
        .resource = report_resource_name(f->resource, resource),
        .overlap = f->overlap,
        .earlier = {queue_name_of(access, f->earlier.queue), f->earlier.type_class,
                    f->earlier.packet, f->earlier.write, f->earlier.state},
        .later = {queue_name_of(access, f->later.queue), f->later.type_class, f->later.packet,
                  f->later.write, f->later.state},
        .line = line,
    };
    if (f->fault == BF_ACCESS_STATE)
        put_state(f, &report, resource, line, sizeof(line));
    else
        put_race(f, &report, resource, line, sizeof(line));
    if (access->info.report)
        access->info.report(access->info.context, &report);
    else
        bf_message(BF_MESSAGE_ERROR, "%s", line);
}
