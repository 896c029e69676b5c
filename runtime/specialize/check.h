/*
 * The check of a rebuilt pipeline against the general one: both are run on generated inputs, and
 * every bit of what they write is compared. That is evidence, not proof: the documentation says
 * 'checked'. It also warms what it runs: a driver that compiles at first use has compiled then.
 *
 *  CK-1  A form passes only if it ran, wrote something on some of the inputs, and every byte of every
 *        output equals the general pipeline's, for every seed.
 *  CK-2  Nothing of the program's is touched: resources, sets and command buffers are the checker's
 *        own, of the formats that the program's had last.
 *  CK-3  The checker's work goes through a queue of its own, of the lowest priority, on an engine
 *        that no queue of the program uses where there is one; else in slices.
 *
 * Proven by tests/specialize.
 */
#ifndef BELFRY_SPECIALIZE_CHECK_H
#define BELFRY_SPECIALIZE_CHECK_H

#include <stdbool.h>
#include <stdint.h>

#include <vulkan/vulkan.h>

#include "specialize/pipeline.h"
#include "specialize/reason.h"

struct bf_device;
struct bf_checker;

struct bf_check_form {
    VkPipeline handle;
    enum bf_reason reason; /* out: BF_REASON_NONE, _INEXACT, _UNCHECKABLE, _FAILED, _LOST */
    uint64_t first_use_ns; /* out: the first run, in CPU time until it was over */
    uint64_t steady_ns;    /* out: the least of the later runs */
};

struct bf_check_info {
    const struct bf_pipeline_copy *copy;
    const uint8_t *push; /* BF_PUSH_BYTES, the values that the forms were built for */
    uint8_t mask; /* of the watched words: these stay as they are, others are generated too */
    const struct bf_watch *watch;
    VkPipeline general; /* made by the caller from the copy, as the program's was; a build's own */
    uint32_t form_count;
    struct bf_check_form *forms;
    bool compare;    /* false: run (and so warm) only: the mode 'relaxed', with 'tolerance' */
    float tolerance; /* of floats, relative; 'relaxed' */
    bool (*cancelled)(void *context); /* asked between runs */
    void *context;
};

/* Errors: VK_ERROR_OUT_OF_HOST_MEMORY, VK_ERROR_OUT_OF_DEVICE_MEMORY, VK_ERROR_DEVICE_LOST. */
VkResult bf_checker_create(struct bf_device *device, struct bf_checker **checker);
void bf_checker_destroy(struct bf_checker *checker);
/* For one thread at a time per checker; blocks until the runs are over. */
VkResult bf_check_run(struct bf_checker *checker, struct bf_check_info *info);

#endif
