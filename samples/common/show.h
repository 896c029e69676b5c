/* SPDX-License-Identifier: MIT */
/*
 * What the samples in Belfry's own API share: the command line, a device with D3D12's three kinds
 * of queues on it, and where frames are shown: a window, or without one a canvas that ends as a
 * PNG.
 *
 * Where the layer is loaded it has the device already; else the sample attaches it. Nothing else
 * differs between the two ways in.
 */
#ifndef SAMPLE_SHOW_H
#define SAMPLE_SHOW_H

#include <belfry/belfry.h>

#include "device.h"
#include "memory.h"
#include "options.h"
#include "report.h"
#include "window.h"

/* Leaves a function that returns VkResult when a call fails, having said which one. */
#define TRY(call)                                                                                  \
    do {                                                                                           \
        VkResult try_result = sample_check((call), #call);                                         \
        if (try_result < 0)                                                                        \
            return try_result;                                                                     \
    } while (0)

/* The same for functions of the samples, which have said so themselves. */
#define PASS(call)                                                                                 \
    do {                                                                                           \
        VkResult pass_result = (call);                                                             \
        if (pass_result < 0)                                                                       \
            return pass_result;                                                                    \
    } while (0)

/* Images of a window that may be under way at once. */
#define SAMPLE_SHOW_AHEAD 3

struct sample_show {
    const char *name;

    /* The command line. */
    uint32_t frames; /* 0: no end was given */
    uint32_t size[2];
    const char *out;
    uint32_t seed;
    bool headless;
    const char *gpu;

    struct sample_device device;
    BfDevice belfry;
    bool attached; /* by us, not by the layer */
    BfQueue direct, compute, copy;

    VkFormat format; /* of what is drawn to */
    VkExtent2D extent;
    uint64_t shown; /* frames that were begun */

    struct sample_image canvas; /* without a window */
    VkImageView canvas_view;

    bool windowed;
    struct sample_window window;
    /* A window's images come and go by binary semaphores, which are none of a BfQueue's business.
     * Submissions to the VkQueue turn them into fences and back. */
    VkSemaphore display_semaphore, drawn_semaphore; /* timelines: frame N is N in both */
    BfFence display;                                /* frame N may be drawn */
    BfFence drawn;                                  /* frame N may be shown */
    VkSemaphore acquired[SAMPLE_SHOW_AHEAD];
};

/* Where one frame is drawn to. */
struct sample_target {
    VkImage image;
    VkImageView view;
    enum sample_use after; /* what it is to be made ready for */
    uint32_t backbuffer;
};

/* Takes the program's arguments, those of `extra` too, and opens it all. `show` has its defaults in
 * size, seed and frames (frames without a window; 0: none). Returns SAMPLE_OPTIONS_GO_ON or an exit
 * code, having complained; sample_show_close is to be called in any case. */
int sample_show_arguments(struct sample_show *show, const char *name, const char *purpose,
                          const struct sample_option *extra, size_t extra_count, int argc,
                          char **argv);
int sample_show_open(struct sample_show *show);

/* Waits until the queues are idle, and destroys what open made. */
void sample_show_close(struct sample_show *show);

/* False once the window is closed by the user; always true without one. */
bool sample_show_goes_on(struct sample_show *show);

/* The next frame: from here on the direct queue waits until its target may be drawn to.
 * VK_NOT_READY when the window is closed meanwhile. `extent` may change here, with the direct
 * queue idle. */
VkResult sample_show_begin(struct sample_show *show, struct sample_target *target);

/* The direct queue has been given everything that draws the frame. */
VkResult sample_show_end(struct sample_show *show, const struct sample_target *target);

/* Waits until everything of the three queues has ended: there must be nothing that waits for what
 * is yet to come. A fence that is destroyed is waited for by nobody. */
VkResult sample_show_idle(struct sample_show *show);

/* Writes the canvas to --out, where that was given, once all is drawn. Returns an exit code, having
 * complained. */
int sample_show_save(struct sample_show *show);

/* One line on stdout: the device, its queues, then `format`. Returns an exit code. */
__attribute__((format(printf, 2, 3))) int sample_show_tell(const struct sample_show *show,
                                                           const char *format, ...);

VkResult sample_fence_create(const struct sample_show *show, BfFence *fence);
VkResult sample_fence_await(BfFence fence, uint64_t value);
double sample_seconds(void);

#endif
