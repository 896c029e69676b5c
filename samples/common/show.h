/* SPDX-License-Identifier: MIT */
/*
 * What the samples of Belfry's own API share: the command line, a device with D3D12's three kinds
 * of queues, and where frames are shown: a window, or without one a canvas that is written as a
 * PNG.
 *
 * If the layer is loaded, the device is already Belfry's; if not, the sample attaches it. The two
 * ways differ in nothing else.
 */
#ifndef SAMPLE_SHOW_H
#define SAMPLE_SHOW_H

#include <belfry/belfry.h>

#include "device.h"
#include "memory.h"
#include "options.h"
#include "report.h"
#include "window.h"

/* Returns from a function that returns VkResult if the call fails, and reports which call it
 * was. */
#define TRY(call)                                                                                  \
    do {                                                                                           \
        VkResult try_result = sample_check((call), #call);                                         \
        if (try_result < 0)                                                                        \
            return try_result;                                                                     \
    } while (0)

/* The same for functions of the samples, which have reported the error themselves. */
#define PASS(call)                                                                                 \
    do {                                                                                           \
        VkResult pass_result = (call);                                                             \
        if (pass_result < 0)                                                                       \
            return pass_result;                                                                    \
    } while (0)

/* The number of a window's images that may be in use at once. */
#define SAMPLE_SHOW_AHEAD 3

struct sample_show {
    const char *name;

    /* The command line. */
    uint32_t frames; /* 0: no limit was given */
    uint32_t size[2];
    const char *out;
    uint32_t seed;
    bool headless;
    const char *gpu;

    BfCommandQueuePriority
        priority; /* of the direct queue; the caller sets it, before it is opened */

    struct sample_device device;
    BfDevice belfry;
    bool attached; /* by the sample; false: by the layer */
    BfCommandQueue direct, compute, copy;

    VkFormat format; /* of the window's images, or of the canvas */
    VkExtent2D extent;
    uint64_t shown; /* frames that were begun */

    struct sample_image canvas; /* used without a window */
    VkImageView canvas_view;

    bool windowed;
    struct sample_window window;
    /* Acquiring and presenting use binary semaphores, which a BfCommandQueue doesn't know.
     * Submissions to the VkQueue convert between these and timelines, which the fences below
     * import. */
    VkSemaphore display_semaphore, drawn_semaphore; /* timelines: frame N is value N */
    BfFence display;                                /* frame N may be drawn */
    BfFence drawn;                                  /* frame N may be shown */
    VkSemaphore acquired[SAMPLE_SHOW_AHEAD];
};

/* What one frame is drawn to. */
struct sample_target {
    VkImage image;
    VkImageView view;
    enum sample_use after; /* the use that it must be ready for at the end */
    uint32_t backbuffer;
};

/* Parses the arguments, also those in `extra`, and opens window or canvas, device and queues. The
 * caller sets the defaults of size, seed and frames in `show` (frames without a window; 0: none).
 * Returns SAMPLE_OPTIONS_GO_ON or an exit code; errors have been reported. sample_show_close must
 * be called in any case. */
int sample_show_arguments(struct sample_show *show, const char *name, const char *purpose,
                          const struct sample_option *extra, size_t extra_count, int argc,
                          char **argv);
int sample_show_open(struct sample_show *show);

/* Waits until the queues are idle, and destroys everything. */
void sample_show_close(struct sample_show *show);

/* The same, but for the window, in which sample_show_open may show another device. */
void sample_show_close_device(struct sample_show *show);

/* False when the user has closed the window; without a window always true. */
bool sample_show_goes_on(struct sample_show *show);

/* Begins the next frame: makes the direct queue wait until the frame's target may be drawn to.
 * VK_NOT_READY: the user has closed the window. `extent` may change in this call; the direct queue
 * is then idle. */
VkResult sample_show_begin(struct sample_show *show, struct sample_target *target);

/* Ends the frame, when everything that draws it has been submitted to the direct queue. */
VkResult sample_show_end(struct sample_show *show, const struct sample_target *target);

/* Waits until the three queues are idle. None of them may be waiting for a signal that hasn't been
 * submitted. (A destroyed fence no longer blocks a queue.) */
VkResult sample_show_idle(struct sample_show *show);

/* When all is drawn, writes the canvas to the file of --out, if that was given. Returns an exit
 * code; errors have been reported. */
int sample_show_save(struct sample_show *show);

/* Prints a line on stdout: the device, its queues, then `format`. Returns an exit code. */
__attribute__((format(printf, 2, 3))) int sample_show_tell(const struct sample_show *show,
                                                           const char *format, ...);

VkResult sample_fence_create(const struct sample_show *show, BfFence *fence);
VkResult sample_fence_await(BfFence fence, uint64_t value);
double sample_seconds(void);

#endif
