/* SPDX-License-Identifier: MIT */
/* A GPU that takes time, on a clock of its own: what tests of measurements (specialize/ab_timing.h)
 * have below them. Command buffers are written down and run when the test says so, one submission
 * after the other, as a driver like lavapipe does it: a timestamp is written only when the GPU next
 * waits for itself, at a barrier or at the end of a submission, so a stamp without a barrier behind
 * it is late.
 *
 * Whatever Vulkan forbids ends the process, and so does a result that is read while it may be
 * written, or that was never written since it was reset. */
#ifndef BELFRY_TEST_AB_TIMING_GPU_H
#define BELFRY_TEST_AB_TIMING_GPU_H

#include "recording_fake.h"
#include "specialize/ab_timing.h"

#define GPU_OPERATIONS  512
#define GPU_SUBMISSIONS 64

enum gpu_kind { GPU_RESET, GPU_STAMP, GPU_BARRIER, GPU_WORK, GPU_EXECUTE, GPU_PASS, GPU_PASS_END };

struct gpu_buffer;

struct gpu_operation {
    enum gpu_kind kind;
    VkQueryPool pool;
    uint32_t query;
    uint64_t ns;                 /* of work, and … */
    struct bf_ab_use use;        /* … what it is, as far as measurements go; 'work' 0: nothing */
    struct gpu_buffer *executed; /* and which life of it */
    uint64_t life;
};

/* A VkCommandBuffer. */
struct gpu_buffer {
    struct fake_buffer fake; /* the handle points to it */
    bool secondary, within;  /* 'within': a pass goes on in it */
    uint64_t life;           /* counts how often it was begun */
    bool in_pass;
    uint32_t count;
    struct gpu_operation operations[GPU_OPERATIONS];
    uint32_t pending; /* submissions that haven't run */
};

/* Loads vk with all that measuring calls, and fake_table. All queries are forgotten. */
void gpu_table(struct VolkDeviceTable *vk);

static inline VkCommandBuffer gpu_handle(struct gpu_buffer *buffer)
{
    return fake_buffer_handle(&buffer->fake);
}

/* The program, behind what the layer has told the runtime. */
void gpu_begin(struct gpu_buffer *buffer, bool within);
void gpu_work(struct gpu_buffer *buffer, uint64_t ns, const struct bf_ab_use *use);
void gpu_pass(struct gpu_buffer *buffer, bool begins);
void gpu_execute(struct gpu_buffer *buffer, struct gpu_buffer *executed);

/* It will run: until then nothing of it may be begun or read. */
void gpu_submit(struct gpu_buffer *buffer);
void gpu_run(struct gpu_buffer *buffer);
void gpu_drop(struct gpu_buffer *buffer); /* the call has failed */

/* What the driver is like: how many query pools there are, whether there are more to be had, what
 * the clock says, and from which bit on results have these bits instead. */
uint32_t gpu_pools(void);
void gpu_deny_pools(bool deny);
void gpu_set_clock(uint64_t ns);
void gpu_mask_results(uint64_t high, uint32_t bits);

/* What was between a sample's two stamps when it was last run: the time of it, and what work, as
 * draws of a pass count: all of one use, or 'candidate' BF_AB_NONE. */
struct gpu_truth {
    uint64_t ns;
    uint32_t works;    /* of those with a use */
    uint32_t executed; /* command buffers that have some of these */
    struct bf_ab_use use;
    const struct gpu_buffer *by;
    uint64_t life; /* of that */
};
const struct gpu_truth *gpu_truth_of(const struct bf_ab_sample *sample);

#endif
