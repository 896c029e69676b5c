/* SPDX-License-Identifier: MIT */
/* What 'belfry top' shows, in lines. */
#include "cli/top.h"

#include <inttypes.h>
#include <string.h>
#include <time.h>

#define NAME 36 /* columns */

static const struct bf_live_view *view_before(const struct top_device *device,
                                              const struct top_device *before, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (before[i].inode == device->inode && before[i].answer == TOP_ANSWERED &&
            before[i].view.now_ns < device->view.now_ns)
            return &before[i].view;
    }
    return NULL;
}

/* "60", or "-" where nothing is known of before, or it has been set back. */
static const char *rate(char text[24], uint64_t now, const uint64_t *then, uint64_t passed_ns)
{
    if (!then || now < *then || !passed_ns)
        return "-";
    double each = (double)(now - *then) * 1e9 / (double)passed_ns;
    snprintf(text, 24, "%.0f", each < 1e15 ? each : 1e15);
    return text;
}

static void top_more_write(FILE *to, uint64_t shown, uint64_t all, const char *what)
{
    if (all > shown)
        fprintf(to, "    and %" PRIu64 " more%s\n", all - shown, what);
}

static void engines_write(FILE *to, const struct bf_live_view *v, const struct bf_live_view *then)
{
    char text[24];
    fprintf(to, "  %-*s %12s %7s  %s\n", NAME + 2, "engines", "submissions", "/s", "left");
    for (uint64_t i = 0; i < v->engine_count; i++) {
        const struct bf_live_engine *e = &v->engines[i];
        const uint64_t *accepted =
            then && i < then->engine_count ? &then->engines[i].accepted : NULL;
        fprintf(to, "    %-*s %12" PRIu64 " %7s  %" PRIu64 "\n", NAME, e->name, e->accepted,
                rate(text, e->accepted, accepted, then ? v->now_ns - then->now_ns : 0),
                e->accepted - e->completed);
        if (e->work[0])
            fprintf(to, "      at %s\n", e->work);
        if (e->call[0])
            fprintf(to, "      %s\n", e->call);
    }
    top_more_write(to, v->engine_count, v->engines_all, "");
}

static void queues_write(FILE *to, const struct bf_live_view *v, const struct bf_live_view *then)
{
    char text[24];
    fprintf(to, "  %-*s %12s %7s  %s\n", NAME + 2, "queues", "packets", "/s", "held");
    for (uint64_t i = 0; i < v->queue_count; i++) {
        const struct bf_live_queue *q = &v->queues[i];
        const uint64_t *packets = NULL;
        for (uint64_t k = 0; then && k < then->queue_count; k++) {
            if (then->queues[k].key == q->key)
                packets = &then->queues[k].packets;
        }
        fprintf(to, "    %-*s %12" PRIu64 " %7s  %" PRIu64 "\n", NAME, q->name, q->packets,
                rate(text, q->packets, packets, then ? v->now_ns - then->now_ns : 0), q->held);
        if (q->wait[0])
            fprintf(to, "      %s\n", q->wait);
    }
    top_more_write(to, v->queue_count, v->queues_all, "");
}

static void fences_write(FILE *to, const struct bf_live_view *v, const struct bf_live_view *then)
{
    char text[24];
    uint64_t shown = 0;
    fprintf(to, "  %-*s %12s %7s  %s\n", NAME + 2, "fences", "value", "/s", "wanted");
    for (uint64_t i = 0; i < v->fence_count; i++) {
        const struct bf_live_fence *f = &v->fences[i];
        const uint64_t *value = NULL;
        for (uint64_t k = 0; then && k < then->fence_count; k++) {
            if (then->fences[k].key == f->key)
                value = &then->fences[k].value;
        }
        bool waited = f->wanted != UINT64_MAX;
        if (then && !waited && value && *value == f->value)
            continue;
        shown++;
        fprintf(to, "    %-*s %12" PRIu64 " %7s", NAME, f->name, f->value,
                rate(text, f->value, value, then ? v->now_ns - then->now_ns : 0));
        if (waited)
            fprintf(to, "  %" PRIu64, f->wanted);
        fprintf(to, "\n");
    }
    top_more_write(to, shown, v->fences_all,
                   then ? ", which stand, and for which nobody waits" : "");
}

static void device_write(FILE *to, const struct top_process *process,
                         const struct top_device *device, const struct bf_live_view *then)
{
    const struct bf_live_view *v = &device->view;
    if (device->answer == TOP_OTHER_VERSION) {
        fprintf(to, "  its Belfry is of another version (page %" PRIu32 ", not %u)\n",
                device->version, BF_LIVE_VERSION);
    } else if (device->answer == TOP_DAMAGED) {
        fprintf(to, "  its page is damaged\n");
    } else if (device->answer == TOP_SILENT) {
        char state = top_process_state(process);
        fprintf(to, "  no answer: %s\n",
                state == 'T' || state == 't' ? "the program is stopped, by a signal or a debugger"
                                             : "the program's watchdog doesn't come to it");
    } else {
        if (v->lost)
            fprintf(to, "  the device is lost\n");
        if (!v->seen)
            fprintf(to, "  its queues can't be looked at now\n");
        if (v->case_count)
            fprintf(to, "  stands still\n");
        for (uint64_t i = 0; i < v->case_count; i++)
            fprintf(to, "    %s\n", v->cases[i]);
        engines_write(to, v, then);
        queues_write(to, v, then);
        fences_write(to, v, then);
    }
}

static void pool_write(FILE *to, const struct bf_live_pool *pool)
{
    fprintf(to,
            "background pool: %" PRIu64 " of %" PRIu64 " threads at work, %" PRIu64
            " of the boost; %" PRIu64 " item%s wait%s, %" PRIu64 " came so far\n",
            pool->running, pool->limit, pool->boosted, pool->waiting, pool->waiting == 1 ? "" : "s",
            pool->waiting == 1 ? "s" : "", pool->accepted);
}

void top_write(FILE *to, const struct top_process *process, const struct top_device *devices,
               size_t count, const struct top_device *before, size_t before_count)
{
    char clock[16] = "";
    time_t now = time(NULL);
    struct tm local;
    const struct bf_live_pool *pool = NULL;
    if (localtime_r(&now, &local))
        strftime(clock, sizeof(clock), "%H:%M:%S", &local);
    fprintf(to, "%d %s, %s\n", (int)process->id, process->name, clock);
    for (size_t i = 0; i < count; i++) {
        if (count > 1)
            fprintf(to, "device %zu\n", i + 1);
        device_write(to, process, &devices[i], view_before(&devices[i], before, before_count));
        if (devices[i].answer == TOP_ANSWERED && devices[i].view.pool.known && !pool)
            pool = &devices[i].view.pool;
    }
    if (count == 0)
        fprintf(to, "it has no device with a watchdog at this moment\n");
    if (pool)
        pool_write(to, pool);
}
