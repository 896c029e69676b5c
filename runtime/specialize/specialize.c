/* SPDX-License-Identifier: MIT */
/* A device's specialiser: creation and destruction, and its part as the 'driver' of background
 * processing (modes, commit, discard). */
#include "specialize/specialize.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "background/public.h"
#include "device/device.h"
#include "base/message.h"
#include "specialize/variant_state.h"
#include "specialize/isolate/isolate.h"

static void prepare(void *context)
{
    struct bf_specializer *s = context;
    bf_isolate_prepare(s->isolate);
}

static void frozen_set(struct bf_specializer *s, bool frozen)
{
    bf_lock_acquire(&s->lock);
    atomic_store(&s->frozen, frozen);
    bf_lock_release(&s->lock);
}

static void on_mode(void *context, const BfBackgroundModeInfo *info)
{
    struct bf_specializer *s = context;
    const bool freezes = info->mode == BF_BACKGROUND_PROCESSING_MODE_DISABLE_PROFILING_BY_SYSTEM;
    const bool begins = freezes && !atomic_load(&s->frozen);
    atomic_fetch_add(&s->modes, 1);
    bf_submissions_settle(&s->submissions);
    if (!freezes)
        frozen_set(s, false);
    bf_specializer_collect(s); /* what has ended before a freeze begins is published */
    if (begins)
        atomic_store(&s->last_taken, 0);
    atomic_store(&s->recorder.intrusive,
                 info->mode == BF_BACKGROUND_PROCESSING_MODE_ALLOW_INTRUSIVE_MEASUREMENTS);
    bf_verdicts_queue(s);
    switch (info->action) {
    case BF_MEASUREMENTS_ACTION_COMMIT_RESULTS:
    case BF_MEASUREMENTS_ACTION_COMMIT_RESULTS_HIGH_PRIORITY:
        bf_variant_states_commit(s);
        /* Under the lock, so that a job which is just being held is seen by who looks again. */
        bf_lock_acquire(&s->lock);
        atomic_store(&s->last_taken, atomic_load(&s->last_number));
        atomic_store(&s->commits_held, true);
        bf_lock_release(&s->lock);
        break;
    case BF_MEASUREMENTS_ACTION_DISCARD_PREVIOUS:
        bf_variant_states_discard(s);
        break;
    default:
        break;
    }
    if (freezes)
        frozen_set(s, true);
}

static BfMeasurementsState further(void *context)
{
    struct bf_specializer *s = context;
    bf_submissions_settle(&s->submissions);
    bf_specializer_collect(s);
    return bf_variant_states_measurements(s);
}

/* The archive's folder for this device and driver. False: out of memory. */
static bool find_folder(struct bf_specializer *s)
{
    char folder[4096];
    if (!s->info.folder || !*s->info.folder ||
        !bf_archive_folder(folder, sizeof(folder), s->info.folder, &s->info.driver))
        return true;
    s->archive_folder = strdup(folder);
    return s->archive_folder != NULL;
}

static bool bar_of_driver_is_up(void *specializer)
{
    return bf_driver_bar_is_up(&((struct bf_specializer *)specializer)->bar);
}

static void bar_of_driver_put_up(void *specializer)
{
    struct bf_specializer *s = specializer;
    atomic_store(&s->bar_told, true);
    bf_driver_bar_put_up(&s->bar);
}

static VkResult isolate_create(struct bf_specializer *s)
{
    struct bf_isolate_info info = *s->info.isolate;
    info.bar = (struct bf_isolate_bar){s, bar_of_driver_is_up, bar_of_driver_put_up};
    return bf_isolate_create(&info, &s->isolate);
}

bool bf_specializer_remembers(struct bf_specializer *s)
{
    bf_lock_acquire(&s->archive_lock);
    if (!s->archive)
        s->archive = bf_archive_open(&(struct bf_archive_info){.folder = s->archive_folder});
    bool open = s->archive != NULL;
    bf_lock_release(&s->archive_lock);
    return open;
}

VkResult bf_specializer_create(const struct bf_specializer_info *info,
                               struct bf_specializer **specializer)
{
    struct bf_specializer *s = calloc(1, sizeof(*s));
    if (!s)
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    s->info = *info;
    s->process = getpid();
    atomic_store(&s->modes, 1);
    struct bf_gpu *gpu = bf_device_gpu(info->device);
    bf_pipelines_init(&s->pipelines, gpu->handle, &gpu->vk);
    s->pipelines.budget.most = info->memory / 2;
    s->pipelines.on_made = bf_variant_states_pipeline_made;
    s->pipelines.on_copied = bf_analysis_add;
    s->pipelines.on_gone = bf_variant_states_pipeline_destroyed;
    s->pipelines.context = s;
    bf_ab_timer_init(&s->timer, gpu->handle, &gpu->vk, gpu->timestamp_period_ns);
    VkResult result = bf_submissions_init(&s->submissions, &s->pipelines);
    if (result != VK_SUCCESS)
        goto fail_submissions;
    s->submissions.context = s;
    s->submissions.used = bf_variant_states_pipeline_used;
    s->submissions.measured = bf_variant_states_measured;
    s->submissions.background = gpu->background;
    s->recorder.vk = &gpu->vk;
    s->recorder.pipelines = &s->pipelines;
    s->recorder.submissions = &s->submissions;
    s->recorder.timer = &s->timer;
    s->recorder.background = gpu->background;
    atomic_store(&s->recorder.noting, true);
    bf_specialize_report_create(s);
    result = VK_ERROR_OUT_OF_HOST_MEMORY;
    if (!bf_driver_bar_init(&s->bar, info->folder, &info->driver))
        goto fail_bar;
    if (!find_folder(s))
        goto fail_folder;
    const BfBackgroundDriver driver = {
        .sType = BF_STRUCTURE_TYPE_BACKGROUND_DRIVER,
        .pContext = s,
        .pfnPrepare = prepare,
        .pfnOnMode = on_mode,
        .pfnFurtherMeasurementsDesired = further,
    };
    result = isolate_create(s);
    if (result != VK_SUCCESS)
        goto fail_isolate;
    result = bf_background_add_driver(gpu->background, &driver);
    if (result != VK_SUCCESS)
        goto fail_driver;
    s->info.isolate = NULL;
    s->info.folder = NULL;
    s->info.driver = (struct bf_archive_driver){0};
    *specializer = s;
    return VK_SUCCESS;

fail_driver:
    bf_isolate_destroy(s->isolate);
fail_isolate:
    free(s->archive_folder);
fail_folder:
    bf_driver_bar_finish(&s->bar);
fail_bar:
    bf_submissions_finish(&s->submissions);
fail_submissions:
    bf_ab_timer_finish(&s->timer);
    bf_pipelines_finish(&s->pipelines);
    bf_specialize_report_free(s);
    free(s);
    if (result != VK_ERROR_INITIALIZATION_FAILED) /* bf_isolate_create has said why */
        bf_message(BF_MESSAGE_WARNING, "specialize is off for this device: error %d", result);
    return result;
}

void bf_specializer_destroy(struct bf_specializer *s)
{
    if (!s)
        return;
    atomic_store(&s->stopping, true);
    bf_isolate_stop(s->isolate);
    bf_background_end(bf_device_gpu(s->info.device)); /* BG-8: no item is left */
    bf_verdicts_queue(s);
    while (atomic_load(&s->done) || atomic_load(&s->held))
        bf_variant_states_collect(s);
    bf_analysis_finish(s);
    bf_pipelines_finish(&s->pipelines);
    bf_map_finish(&s->states_by_id, NULL, NULL);
    if (s->info.report)
        bf_specialize_report_print(s, stderr);
    bf_isolate_destroy(s->isolate);
    bf_specialize_report_free(s);
    bf_submissions_finish(&s->submissions);
    bf_ab_timer_finish(&s->timer);
    bf_archive_close(s->archive);
    while (s->measured) {
        struct bf_measured *next = s->measured->next;
        free(s->measured);
        s->measured = next;
    }
    free(s->archive_folder);
    bf_driver_bar_finish(&s->bar);
    free(s);
}

bool bf_specializer_abandon(struct bf_specializer *s)
{
    if (s->process == getpid())
        return false;
    bf_isolate_abandon(s->isolate);
    bf_archive_abandon(s->archive);
    return true;
}

void bf_specializer_collect(struct bf_specializer *s)
{
    bf_analysis_queue(s);
    bf_analysis_collect(s);
    bf_variant_states_collect(s);
}

struct bf_pipelines *bf_specializer_pipelines(struct bf_specializer *s)
{
    return &s->pipelines;
}

struct bf_recorder *bf_specializer_recorder(struct bf_specializer *s)
{
    return &s->recorder;
}
