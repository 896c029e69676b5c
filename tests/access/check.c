/* SPDX-License-Identifier: MIT */
/* The check without a device: its reports kept, and programs told to it call by call. */
#include "check.h"

#include "base/message.h"

static void keep(void *context, const struct bf_access_report *report)
{
    struct check *check = context;
    if (check->count < CHECK_REPORTS) {
        struct check_report *r = &check->reports[check->count];
        r->fault = report->fault;
        r->overlap = report->overlap;
        r->packet_earlier = report->earlier.packet;
        r->packet_later = report->later.packet;
        r->write_earlier = report->earlier.write;
        r->write_later = report->later.write;
        snprintf(r->resource, sizeof(r->resource), "%s", report->resource);
        snprintf(r->earlier, sizeof(r->earlier), "%s", report->earlier.queue);
        snprintf(r->later, sizeof(r->later), "%s", report->later.queue);
        snprintf(r->line, sizeof(r->line), "%s", report->line);
    }
    check->count++;
}

void check_open(struct check *check)
{
    memset(check, 0, sizeof(*check));
    bf_message_set_level(BF_MESSAGE_NONE);
    const struct bf_access_info info = {.layer = true, .report = keep, .context = check};
    assert_success(bf_access_create(&info, &check->access));
}

void check_close(struct check *check)
{
    bf_access_destroy(check->access);
    check->access = NULL;
}

void check_use(struct bf_access_queue *queue, uint32_t n, uint64_t begin, uint64_t end, bool write)
{
    const BfResourceUse use = {
        .buffer = CHECK_BUFFER(n), .offset = begin, .size = end - begin, .write = write};
    assert_success(bf_access_queue_uses(queue, 1, &use));
    bf_access_queue_execute(queue, 0, NULL);
}

void check_state(struct bf_access_queue *queue, uint32_t n, BfResourceState state, bool write)
{
    const BfResourceUse use = {.image = CHECK_IMAGE(n), .write = write, .state = state};
    assert_success(bf_access_queue_uses(queue, 1, &use));
    bf_access_queue_execute(queue, 0, NULL);
}

int world_open(void **state)
{
    static struct world world;
    struct world *w = &world;
    check_open(&w->check);
    w->access = w->check.access;
    w->graphics = bf_access_queue_add(w->access, "graphics", BF_ACCESS_COMPUTE_3D);
    w->compute = bf_access_queue_add(w->access, "compute", BF_ACCESS_COMPUTE_3D);
    w->copy = bf_access_queue_add(w->access, "copy", BF_ACCESS_COPY);
    w->copy2 = bf_access_queue_add(w->access, "copy 2", BF_ACCESS_COPY);
    w->a = bf_access_fence_add(w->access, 0);
    w->b = bf_access_fence_add(w->access, 0);
    *state = w;
    return 0;
}

int world_close(void **state)
{
    struct world *w = *state;
    check_close(&w->check);
    return 0;
}

static void run_call(struct world *w, const char *who, const char *what, const char *to,
                     uint64_t value)
{
    struct bf_access_queue *queue = strcmp(who, "graphics") == 0  ? w->graphics
                                    : strcmp(who, "compute") == 0 ? w->compute
                                    : strcmp(who, "copy") == 0    ? w->copy
                                                                  : NULL;
    struct bf_access_fence *fence = to[0] == 'a' ? w->a : to[0] == 'b' ? w->b : NULL;
    uint32_t buffer = to[0] ? (uint32_t)(to[0] - '0') : 1;
    bool writes = strcmp(what, "writes") == 0;
    assert_true(queue || strcmp(who, "cpu") == 0);
    if (strcmp(what, "signals") == 0)
        queue ? bf_access_queue_signal(queue, fence, value) : bf_access_fence_signal(fence, value);
    else if (strcmp(what, "waits") == 0)
        queue ? bf_access_queue_wait(queue, fence, value) : bf_access_fence_reached(fence, value);
    else if (!queue && strcmp(what, "reads") == 0)
        bf_access_fence_read(fence, value);
    else if (strcmp(what, "idles") == 0)
        bf_access_queue_idle(queue);
    else if (writes || strcmp(what, "reads") == 0)
        check_use(queue, buffer, 0, 64, writes);
    else
        fail_msg("no call: %s %s %s", who, what, to);
}

void check_calls(struct world *w, const char *program)
{
    for (const char *call = program; call; call = strchr(call, ',')) {
        char who[16] = "", what[16] = "", to[16] = "";
        unsigned long long value = 0;
        call += *call == ',';
        assert_true(sscanf(call, " %15[a-z] %15[a-z] %15[a-z0-9] %llu", who, what, to, &value) >=
                    2);
        run_call(w, who, what, to, value);
    }
}

void expect_reports(struct world *w, uint32_t count)
{
    if (w->check.count > count)
        print_message("%s\n", w->check.reports[0].line);
    assert_int_equal(w->check.count, count);
}
