/* SPDX-License-Identifier: MIT */
#include "check.h"

#include <stdio.h>
#include <string.h>

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
    assert_int_equal(bf_access_create(&info, &check->access), VK_SUCCESS);
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
    assert_int_equal(bf_access_queue_uses(queue, 1, &use), VK_SUCCESS);
    bf_access_queue_execute(queue, 0, NULL);
}

void check_state(struct bf_access_queue *queue, uint32_t n, BfResourceState state, bool write)
{
    const BfResourceUse use = {.image = CHECK_IMAGE(n), .write = write, .state = state};
    assert_int_equal(bf_access_queue_uses(queue, 1, &use), VK_SUCCESS);
    bf_access_queue_execute(queue, 0, NULL);
}
