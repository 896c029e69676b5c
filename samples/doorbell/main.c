/* SPDX-License-Identifier: MIT */
/*
 * User-mode submission: four threads submit 2,400 dispatches per frame, each in a command buffer of
 * its own, by stores to rings and doorbells; none of them calls the driver. A graphics queue draws
 * what they fill in, tile by tile.
 *
 * What a thread does is in tile_submit() below: the steps of Microsoft's 'User-mode work
 * submission' written out, where a program would call bfSubmitToRing. A thread's first entry of a
 * frame waits for the draw of the one before, which still reads the tiles; the draw waits for the
 * progress fences of all rings.
 */
#include <pthread.h>

#include "field.h"
#include "pipeline.h"
#include "ring.h"
#include "show.h"

#define ENTRIES 1024u

struct worker {
    struct doorbell *sample;
    pthread_t thread;
    bool runs;
    struct sample_ring ring;
    uint32_t numbers[FIELD_AHEAD * FIELD_DISPATCHES]; /* of the command buffers, in the ring */
    uint32_t drawn;                                   /* of the fence */
    struct counters counters;
    VkResult result;
};

struct doorbell {
    struct sample_show show;
    bool uncounted; /* --no-counters */
    struct field field;
    struct worker workers[FIELD_THREADS];
    pthread_barrier_t begin, end; /* of a frame's submissions */
    uint64_t frame;               /* written between frames; 0: the threads end */
    BfFence drawn;                /* the last frame that has been drawn */
    VkCommandPool pool;
    VkCommandBuffer commands[FIELD_AHEAD];
};

/* --- a thread --- */

/* [UMS 9] A new progress value, the entry, the last queued value, the write pointer, the doorbell;
 * then what its status asks for. */
static VkResult tile_submit(struct worker *worker, const BfRingEntry *entry)
{
    const BfRingWriter *w = &worker->ring.writer;
    VkResult result = sample_check(sample_ring_append(&worker->ring, entry), "appending to a ring");
    ++worker->counters.entries;
    const uint64_t write = w->pControl->write;
    while (result == VK_SUCCESS) {
        __atomic_store_n(w->pDoorbell, write, __ATOMIC_RELEASE);
        __atomic_signal_fence(__ATOMIC_SEQ_CST);
        ++worker->counters.rings;
        switch (__atomic_load_n(w->pStatus, __ATOMIC_ACQUIRE)) {
        case BF_DOORBELL_STATUS_CONNECTED:
            return VK_SUCCESS;
        case BF_DOORBELL_STATUS_CONNECTED_NOTIFY:
            ++worker->counters.notifies;
            return sample_check(
                bfNotifyWorkSubmission(&(BfNotifyWorkSubmission){.hDoorbell = w->hDoorbell}),
                "bfNotifyWorkSubmission");
        default: /* taken away: connect and ring again; on ABORT connecting says why */
            ++worker->counters.reconnects;
            result = sample_check(sample_ring_connect(&worker->ring), "bfConnectDoorbell");
        }
    }
    return result;
}

static VkResult tiles_submit(struct worker *worker, uint64_t frame)
{
    const uint32_t first = (uint32_t)(frame % FIELD_AHEAD) * FIELD_DISPATCHES;
    for (uint32_t i = 0; i < FIELD_DISPATCHES; ++i) {
        const BfRingEntry entry = {
            .progressValue = worker->ring.last + 1,
            .commandBuffer = worker->numbers[first + i],
            .waitFence = i == 0 ? worker->drawn : BF_RING_NONE,
            .waitValue = frame - 1,
            .signalFence = BF_RING_NONE,
        };
        PASS(tile_submit(worker, &entry));
    }
    return VK_SUCCESS;
}

static void *worker_run(void *data)
{
    struct worker *worker = data;
    struct doorbell *d = worker->sample;
    for (;;) {
        pthread_barrier_wait(&d->begin);
        if (!d->frame)
            return NULL;
        if (worker->result >= 0)
            worker->result = tiles_submit(worker, d->frame);
        pthread_barrier_wait(&d->end);
    }
}

/* --- frames --- */

static VkResult counters_sum(const struct doorbell *d, struct counters *sum)
{
    BfDeviceCounters device = {.sType = BF_STRUCTURE_TYPE_DEVICE_COUNTERS};
    *sum = (struct counters){0};
    for (uint32_t i = 0; i < FIELD_THREADS; ++i) {
        const struct counters *c = &d->workers[i].counters;
        sum->entries += c->entries;
        sum->rings += c->rings;
        sum->notifies += c->notifies;
        sum->reconnects += c->reconnects;
    }
    TRY(bfGetDeviceCounters(d->show.belfry, &device));
    sum->batches = device.driverCalls;
    return VK_SUCCESS;
}

/* VK_NOT_READY: the user has closed the window. */
static VkResult frame_run(struct doorbell *d, uint64_t frame)
{
    struct sample_show *show = &d->show;
    VkCommandBuffer commands = d->commands[frame % FIELD_AHEAD];
    struct counters counters;
    struct sample_target target;

    if (frame > FIELD_AHEAD)
        PASS(sample_fence_await(d->drawn, frame - FIELD_AHEAD));
    field_begin(&d->field, frame);
    d->frame = frame;
    pthread_barrier_wait(&d->begin);
    pthread_barrier_wait(&d->end);
    for (uint32_t i = 0; i < FIELD_THREADS; ++i)
        PASS(d->workers[i].result);
    PASS(counters_sum(d, &counters));
    field_count(&d->field, frame, &counters);

    VkResult result = sample_show_begin(show, &target);
    if (result != VK_SUCCESS)
        return result;
    PASS(sample_commands_begin(commands));
    field_draw(&d->field, &show->device, commands, frame, &target, show->extent, !d->uncounted);
    PASS(sample_commands_end(commands));
    for (uint32_t i = 0; i < FIELD_THREADS; ++i)
        TRY(bfQueueWait(show->direct, d->workers[i].ring.progress, d->workers[i].ring.last));
    TRY(bfQueueExecute(show->direct, 1, &commands));
    TRY(bfQueueSignal(show->direct, d->drawn, frame));
    return sample_show_end(show, &target);
}

/* --- objects --- */

static VkResult worker_create(struct doorbell *d, uint32_t i)
{
    struct worker *w = &d->workers[i];
    w->sample = d;
    for (uint32_t k = 0; k < FIELD_AHEAD * FIELD_DISPATCHES; ++k)
        TRY(bfRegisterCommandBuffer(w->ring.queue, d->field.dispatches[i][k], 0, &w->numbers[k]));
    TRY(bfRegisterFence(w->ring.queue, d->drawn, &w->drawn));
    if (pthread_create(&w->thread, NULL, worker_run, w))
        return sample_check(VK_ERROR_OUT_OF_HOST_MEMORY, "pthread_create");
    w->runs = true;
    return VK_SUCCESS;
}

static VkResult objects_create(struct doorbell *d)
{
    struct sample_show *show = &d->show;
    for (uint32_t i = 0; i < FIELD_THREADS; ++i)
        TRY(sample_ring_create(show->belfry, BF_COMMAND_LIST_TYPE_COMPUTE, ENTRIES,
                               &d->workers[i].ring));
    PASS(field_create(&d->field, &show->device,
                      bfGetCommandQueueFamilyIndex(d->workers[0].ring.queue), show->format,
                      show->seed));
    PASS(sample_fence_create(show, &d->drawn));
    PASS(sample_command_buffers(&show->device, bfGetCommandQueueFamilyIndex(show->direct),
                                FIELD_AHEAD, "draw", &d->pool, d->commands));
    PASS(sample_commands_begin(d->commands[0]));
    field_clear(&d->field, d->commands[0]);
    PASS(sample_commands_end(d->commands[0]));
    TRY(bfQueueExecute(show->direct, 1, d->commands));
    PASS(sample_show_idle(show));
    for (uint32_t i = 0; i < FIELD_THREADS; ++i)
        PASS(worker_create(d, i));
    return VK_SUCCESS;
}

static void objects_destroy(struct doorbell *d)
{
    struct sample_show *show = &d->show;
    bool all = true;
    for (uint32_t i = 0; i < FIELD_THREADS; ++i)
        all = all && d->workers[i].runs;
    d->frame = 0;
    if (all) /* else some wait at the barrier for ever, and end with the process */
        pthread_barrier_wait(&d->begin);
    for (uint32_t i = 0; i < FIELD_THREADS && all; ++i)
        pthread_join(d->workers[i].thread, NULL);
    bfDestroyFence(d->drawn); /* no ring waits for a draw that won't come */
    for (uint32_t i = 0; i < FIELD_THREADS; ++i) {
        (void)sample_ring_wait(&d->workers[i].ring);
        sample_ring_destroy(&d->workers[i].ring);
    }
    (void)sample_show_idle(show);
    field_destroy(&d->field, &show->device);
    vkDestroyCommandPool(show->device.handle, d->pool, NULL);
}

static int doorbell_run(struct doorbell *d)
{
    struct sample_show *show = &d->show;
    const uint64_t last = show->frames ? show->frames : UINT64_MAX;
    const double start = sample_seconds();
    struct counters counters;
    VkResult result = VK_SUCCESS;
    uint64_t frame = 0;

    while (frame < last && result == VK_SUCCESS && sample_show_goes_on(show))
        result = frame_run(d, ++frame);
    if (result < 0 || sample_show_idle(show) < 0 || counters_sum(d, &counters) < 0)
        return SAMPLE_EXIT_FAILED;
    const double seconds = sample_seconds() - start;
    int exit_code = sample_show_save(show);
    if (exit_code != SAMPLE_EXIT_DONE)
        return exit_code;
    return sample_show_tell(
        show,
        "%llu frames of %ux%u drawn, in %.2f s: %llu dispatches in entries of %u rings, doorbells "
        "rung "
        "%llu times, %llu batches to the driver, %llu notifies, %llu reconnects.",
        (unsigned long long)show->shown, show->extent.width, show->extent.height, seconds,
        (unsigned long long)counters.entries, FIELD_THREADS, (unsigned long long)counters.rings,
        (unsigned long long)counters.batches, (unsigned long long)counters.notifies,
        (unsigned long long)counters.reconnects);
}

int main(int argc, char **argv)
{
    static struct doorbell d = {.show = {.size = {1280, 720}, .seed = 4, .frames = 60}};
    const struct sample_option extra[] = {{"--no-counters", NULL,
                                           "don't show the counters, which differ from run to run",
                                           SAMPLE_OPTION_FLAG, &d.uncounted, 0, 0}};

    int exit_code = sample_show_arguments(&d.show, "doorbell",
                                          "Four threads submit 2,400 dispatches per frame by "
                                          "rings, without a call; a picture fills in.",
                                          extra, 1, argc, argv);
    if (exit_code != SAMPLE_OPTIONS_GO_ON)
        return exit_code;
    pthread_barrier_init(&d.begin, NULL, FIELD_THREADS + 1);
    pthread_barrier_init(&d.end, NULL, FIELD_THREADS + 1);
    exit_code = sample_show_open(&d.show);
    if (exit_code == SAMPLE_OPTIONS_GO_ON) {
        exit_code = objects_create(&d) < 0 ? SAMPLE_EXIT_FAILED : doorbell_run(&d);
        objects_destroy(&d);
    }
    sample_show_close(&d.show);
    return exit_code;
}
