/* SPDX-License-Identifier: MIT */
/*
 * AsyncPipelinedComputeGraphics of the D3D12 document 'Multi-engine synchronization', in Belfry's
 * own API.
 *
 * A compute queue makes waves, a graphics queue draws the newest that are known to be there when a
 * frame is queued: each goes at a pace of its own, held by events to CpuLatency frames ahead of the
 * GPU. The loop is async_pipelined_compute_graphics() below. Taken literally, the document's would
 * not do what its text says. These are the differences:
 *
 *  - It draws compute frame min(1, completed), which is never another than the first one. max is
 *    meant: the newest one, and the first while there is none.
 *  - Its text asks for ComputeGraphicsLatency+1 buffers; its code takes indices modulo
 *    ComputeGraphicsLatency. Here there is one more buffer, so that the compute queue may be one
 *    more frame ahead: frame N waits until graphics is done with frame
 *    N-(ComputeGraphicsLatency+1), which had the same buffer.
 *  - When a frame is queued, frames up to CpuLatency before it may still be under way, and it comes
 *    on top: command buffers are reused after CpuLatency+1 frames, not CpuLatency.
 *  - It registers both events in each round, also one that is registered and hasn't fired. When the
 *    fence gets there, each registration sets the event; if a wait has consumed the first setting
 *    by then, the rest lets another frame go too early. Here an event is registered again only when
 *    it was consumed.
 */
#include <string.h>

#include "pipeline.h"
#include "show.h"
#include "view.h"
#include "water.h"

enum {
    CPU_LATENCY = 3,
    COMPUTE_GRAPHICS_LATENCY = 2,
    BUFFERS = COMPUTE_GRAPHICS_LATENCY + 1,
    COMMANDS = CPU_LATENCY + 1,
};

/* The compute half and the graphics half: indices of their fences and events. */
enum stage { COMPUTE, GRAPHICS };

struct async {
    struct sample_show show;
    struct water water;
    struct view view;

    BfFence fences[2];        /* the last frame of each stage */
    BfFence graphics_compute; /* the newest compute frame that graphics no longer needs */
    BfEvent events[2];        /* the stage may queue another frame */
    uint64_t frames[2];       /* frames queued so far */
    uint32_t remove_at;       /* compute frame with which the device is removed; 0: none */
    VkCommandPool pools[2];
    VkCommandBuffer commands[2][COMMANDS];
};

/* The buffer that holds compute frame `frame`; frames count from 1. */
static uint32_t buffer_index(uint64_t frame)
{
    return (uint32_t)((frame - 1) % BUFFERS);
}

static VkResult compute_frame(struct async *async, uint64_t frame)
{
    struct sample_show *show = &async->show;
    VkCommandBuffer commands = async->commands[COMPUTE][frame % COMMANDS];

    PASS(sample_commands_begin(commands));
    water_record(&async->water, &show->device, commands, frame, buffer_index(frame));
    PASS(sample_commands_end(commands));

    if (frame > BUFFERS)
        TRY(bfQueueWait(show->compute, async->graphics_compute, frame - BUFFERS));
    TRY(bfQueueExecute(show->compute, 1, &commands));
    TRY(bfQueueSignal(show->compute, async->fences[COMPUTE], frame));
    if (frame == async->remove_at)
        TRY(bfRemoveDevice(show->belfry));
    return VK_SUCCESS;
}

/* Draws graphics frame `frame` from compute frame `from`, which is complete or the first one.
 * VK_NOT_READY: the user has closed the window. */
static VkResult graphics_frame(struct async *async, uint64_t frame, uint64_t from)
{
    struct sample_show *show = &async->show;
    VkCommandBuffer commands = async->commands[GRAPHICS][frame % COMMANDS];
    struct sample_target target;

    VkResult result = sample_show_begin(show, &target);
    if (result != VK_SUCCESS)
        return result;
    PASS(sample_commands_begin(commands));
    view_record(&async->view, &show->device, commands, frame, buffer_index(from), &target,
                show->extent);
    PASS(sample_commands_end(commands));

    /* The signal goes before the new work: all work queued until now reads compute frame `from` or
     * older ones. When that work is done, no frame older than `from` is needed any more. */
    TRY(bfQueueSignal(show->direct, async->graphics_compute, from - 1));
    TRY(bfQueueExecute(show->direct, 1, &commands));
    TRY(bfQueueSignal(show->direct, async->fences[GRAPHICS], frame));
    return sample_show_end(show, &target);
}

/* Registers the stage's event to be set when the stage may queue another frame. */
static VkResult stage_arm(struct async *async, enum stage stage)
{
    if (async->frames[stage] > CPU_LATENCY)
        TRY(bfSetEventOnFenceCompletion(async->fences[stage], async->frames[stage] - CPU_LATENCY,
                                        async->events[stage]));
    else
        TRY(bfSetEvent(async->events[stage]));
    return VK_SUCCESS;
}

/* Runs until compute frame `last` is complete and all graphics frames but the last are queued; the
 * compute queue stops there. */
static VkResult async_pipelined_compute_graphics(struct async *async, uint64_t last)
{
    struct sample_show *show = &async->show;
    bool armed[2] = {true, true}; /* the events are created set */

    /* The graphics queue waits for the first compute frame. It waits for no other. */
    TRY(bfQueueWait(show->direct, async->fences[COMPUTE], 1));

    while (sample_show_goes_on(show)) {
        uint64_t completed = bfGetFenceCompletedValue(async->fences[COMPUTE]);
        if (completed >= last && async->frames[GRAPHICS] + 1 >= last)
            break;

        for (enum stage i = COMPUTE; i <= GRAPHICS; ++i) {
            if (!armed[i] && (i == GRAPHICS || async->frames[i] < last)) {
                PASS(stage_arm(async, i));
                armed[i] = true;
            }
        }
        uint32_t stage;
        TRY(bfWaitForEvents(2, async->events, VK_FALSE, UINT64_MAX, &stage));
        armed[stage] = false;
        uint64_t frame = ++async->frames[stage];

        switch (stage) {
        case COMPUTE:
            PASS(compute_frame(async, frame));
            break;
        case GRAPHICS:
            completed = bfGetFenceCompletedValue(async->fences[COMPUTE]);
            if (completed == UINT64_MAX)
                return sample_check(VK_ERROR_DEVICE_LOST, "bfGetFenceCompletedValue");
            VkResult result = graphics_frame(async, frame, completed > 1 ? completed : 1);
            if (result != VK_SUCCESS)
                return result;
            break;
        }
    }
    return VK_SUCCESS;
}

static VkResult objects_create(struct async *async)
{
    struct sample_show *show = &async->show;
    const struct sample_device *device = &show->device;
    const BfCommandQueue queues[2] = {show->compute, show->direct};

    for (enum stage i = COMPUTE; i <= GRAPHICS; ++i) {
        PASS(sample_fence_create(show, &async->fences[i]));
        TRY(bfCreateEvent(BF_EVENT_INITIALLY_SET_BIT, &async->events[i]));
        PASS(sample_command_buffers(device, bfGetCommandQueueFamilyIndex(queues[i]), COMMANDS,
                                    i == COMPUTE ? "waves" : "draw", &async->pools[i],
                                    async->commands[i]));
    }
    PASS(sample_fence_create(show, &async->graphics_compute));
    PASS(water_create(&async->water, device, BUFFERS, show->seed));
    return view_create(&async->view, device, &async->water, show->format);
}

static void objects_destroy(struct async *async)
{
    struct sample_show *show = &async->show;
    const struct sample_device *device = &show->device;

    /* The fences are destroyed first, so that no queue waits for a frame that will never come. */
    bfDestroyFence(async->graphics_compute);
    for (enum stage i = COMPUTE; i <= GRAPHICS; ++i) {
        bfDestroyFence(async->fences[i]);
        bfDestroyEvent(async->events[i]);
    }
    (void)sample_show_idle(show);
    view_destroy(&async->view, device);
    water_destroy(&async->water, device);
    for (enum stage i = COMPUTE; i <= GRAPHICS; ++i)
        vkDestroyCommandPool(device->handle, async->pools[i], NULL);
}

static int async_run(struct async *async)
{
    struct sample_show *show = &async->show;
    uint64_t last = show->frames ? show->frames : UINT64_MAX;
    double start = sample_seconds();

    if (async_pipelined_compute_graphics(async, last) < 0)
        return SAMPLE_EXIT_FAILED;
    /* How fast the queues are decides which waves a frame has shown. The last frame, however,
     * always shows the last compute frame from the last camera position. It is not drawn if the
     * window was closed: compute frames may then still wait for graphics frames. */
    bool whole = bfGetFenceCompletedValue(async->fences[COMPUTE]) == last;
    if (whole && (sample_show_idle(show) < 0 || graphics_frame(async, last, last) < 0 ||
                  sample_show_idle(show) < 0))
        return SAMPLE_EXIT_FAILED;
    double seconds = sample_seconds() - start;

    int exit_code = sample_show_save(show);
    if (exit_code != SAMPLE_EXIT_DONE)
        return exit_code;
    return sample_show_tell(show, "%llu frames of waves, %llu frames of %ux%u drawn, in %.2f s.",
                            (unsigned long long)async->frames[COMPUTE],
                            (unsigned long long)show->shown, show->extent.width,
                            show->extent.height, seconds);
}

/* With one device, from its creation to its end. *lost: it was lost meanwhile. */
static int async_with_device(struct async *async, bool *lost)
{
    struct sample_show *show = &async->show;
    BfDeviceRemovedReason reason = BF_DEVICE_REMOVED_REASON_NONE;

    int exit_code = sample_show_open(show);
    if (exit_code == SAMPLE_OPTIONS_GO_ON) {
        exit_code = objects_create(async) < 0 ? SAMPLE_EXIT_FAILED : async_run(async);
        *lost = bfGetDeviceRemovedReason(show->belfry, &reason) == VK_ERROR_DEVICE_LOST;
        if (*lost)
            sample_complain("the device is lost, for reason %d", reason);
        objects_destroy(async);
    }
    sample_show_close(show);
    return exit_code;
}

int main(int argc, char **argv)
{
    static struct async async = {.show = {.size = {1280, 720}, .seed = 16, .frames = 60}}, again;
    struct sample_option remove[] = {
        {"--remove-at", "N",
         "remove the device with compute frame N; the sample goes on with a new one",
         SAMPLE_OPTION_NUMBER, &async.remove_at, 1, UINT32_MAX}};

    int exit_code = sample_show_arguments(
        &async.show, "async",
        "A compute queue makes waves, a graphics queue draws the newest: each at its own pace.",
        remove, 1, argc, argv);
    if (exit_code != SAMPLE_OPTIONS_GO_ON)
        return exit_code;
    /* A device that is lost, be it by that option or by a GPU's fault, takes along all that was
     * made of it. One more is made from the start; a GPU that loses that, too, won't get through
     * it. */
    again = async;
    again.remove_at = 0;
    bool lost = false;
    exit_code = async_with_device(&async, &lost);
    return lost ? async_with_device(&again, &lost) : exit_code;
}
