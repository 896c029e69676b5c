/* SPDX-License-Identifier: MIT */
/* A Vulkan device that does nothing by itself: it accepts submissions, and finishes the first one
 * of an engine when it is told to, if its semaphores allow. One thread, no time, always the same.
 *
 * What it checks of the submissions it is given (the first objection is kept):
 *
 *  MG-1  Waits come after their signals: the value waited for is one that an accepted submission
 *        signals, or the semaphore has it already (Rule M).
 *  MG-2  A timeline semaphore's signals grow.
 *  MG-3  No batch without a command buffer, no call without one of the program's, none of them
 *        twice.
 *  MG-4  The executions of one queue of the program are accepted in their order.
 *  MG-5  Nothing waits for the GPU on the calling thread, and no fence is given to it.
 *
 * And it works out what Vulkan orders before each execution: the order of submission orders
 * nothing; a full barrier orders all that was submitted to its engine before it before all after
 * it; a semaphore wait orders what its signal comes after before the batch and all after it. */
#ifndef BELFRY_MODEL_GPU_H
#define BELFRY_MODEL_GPU_H

#include "program.h"
#include "support/fake_entries.h"

enum {
    GPU_SEMAPHORES = 16,
    GPU_SIGNALS = 64, /* of one semaphore, in one run */
    GPU_LINKS = 8,    /* waits, and signals, of one batch */
    GPU_BATCHES = 64, /* of one engine, in one run */
    GPU_FAMILY = 0,
};

struct gpu;

struct gpu_semaphore {
    bool live;
    uint64_t value;    /* its counter */
    uint64_t accepted; /* the highest value that something accepted signals */
    uint64_t base;     /* 'accepted' when the run began */
    int signal_count;
    struct {
        uint64_t value;
        op_set after; /* executions that are complete then */
    } signals[GPU_SIGNALS];
};

struct gpu_link {
    struct gpu_semaphore *semaphore;
    uint64_t value;
};

struct gpu_batch {
    op_set executes;
    int wait_count, signal_count;
    struct gpu_link waits[GPU_LINKS], signals[GPU_LINKS];
};

struct gpu_engine {
    struct gpu *gpu;
    int first, end; /* of those not yet finished */
    struct gpu_batch batches[GPU_BATCHES];
    op_set submitted; /* executions, and all that is complete before them */
    op_set before;    /* what is complete before anything that is yet to come */
};

/* What command buffers are, besides what the fake entry points know: own[GPU_EXECUTE] is 1 + the
 * program's operation, 0 in Belfry's own; own[GPU_BARRIER] is 1 where there is a full barrier. */
enum { GPU_EXECUTE, GPU_BARRIER };

struct gpu {
    int engine_count;
    struct gpu_engine engines[MODEL_ENGINES];
    struct gpu_semaphore semaphores[GPU_SEMAPHORES];
    struct fake_object program_buffers[MODEL_OPS];

    /* Of the run. */
    const struct program *program;
    op_set accepted, finished;
    /* By execution: what Vulkan orders before it, what was finished when it was accepted. */
    op_set before[MODEL_OPS], finished_before[MODEL_OPS];
    int engine_of[MODEL_OPS]; /* by execution */
    uint64_t history;         /* of all that the counters have answered */
    uint64_t queries;         /* their number */
    char objection[200];      /* "": none */

    /* Called before a counter is read: engines may finish something first. May be NULL. */
    void (*before_query)(void *context);
    /* Called by a submission: true has the driver run out of memory. May be NULL. */
    bool (*refuses)(void *context);
    void *context;
};

void gpu_init(struct gpu *gpu, int engine_count);

/* Forgets the run before, which has left nothing unfinished. */
void gpu_begin(struct gpu *gpu, const struct program *program);

/* What a program attaches to Belfry. */
VkInstance gpu_instance(struct gpu *gpu);
VkPhysicalDevice gpu_physical_device(struct gpu *gpu);
VkDevice gpu_device(struct gpu *gpu);
VkQueue gpu_queue(struct gpu *gpu, int engine);
VkCommandBuffer gpu_command_buffer(struct gpu *gpu, int execute);
VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL gpu_instance_proc_addr(VkInstance instance,
                                                                const char *name);
VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL gpu_device_proc_addr(VkDevice device, const char *name);

/* The first execution of what the engine would finish next, or -1. */
int gpu_next(const struct gpu *gpu, int engine);

/* Finishes it, and returns its executions. */
op_set gpu_finish(struct gpu *gpu, int engine);

/* Objects that are still there, for the checks after detaching. */
int gpu_object_count(const struct gpu *gpu);

#endif
