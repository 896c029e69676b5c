/*
 * What a command buffer's commands have bound and pushed so far, and so which pipeline a draw or a
 * dispatch may be recorded with.
 *
 *  RC-1  A variant is picked only if every byte that is constant in it is known, was pushed in this
 *        command buffer since it was begun, under a layout with the same push-constant ranges as the
 *        pipeline's, and equals the variant's, compared as bytes.
 *  RC-2  Push constants are unknown at begin, after vkCmdExecuteCommands, after generated commands,
 *        and where a push comes through a layout with other ranges than the one before.
 *  RC-3  The program's own bind goes down as it comes; a variant is bound behind it, right before
 *        the draw or dispatch, and the general pipeline is bound again before the next one that the
 *        variant isn't for.
 *  RC-4  A command buffer that records a variant holds a reference to it until it is begun again,
 *        reset or freed (VA-1).
 *  RC-5  A use counts once for each submission that has finished, as the program itself knows it
 *        (specialize/submission.h), never before.
 *
 * Proven by tests/specialize: random streams of commands against a model of Vulkan's rules, with
 * variants made for wrong values.
 */
#ifndef BELFRY_SPECIALIZE_RECORDING_H
#define BELFRY_SPECIALIZE_RECORDING_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include <vulkan/vulkan.h>

#include "os/export.h"
#include "specialize/pipeline.h"
#include "specialize/tally.h"

struct bf_specializer;
struct bf_trial;

#define BF_PUSH_BYTES 256

/* Why nothing is picked for the rest of a recording, as bits. */
enum bf_recording_block {
    BF_RECORDING_QUERY = 1,     /* a pipeline-statistics or performance query is active */
    BF_RECORDING_FEEDBACK = 2,  /* transform feedback is active: nothing may be bound */
    BF_RECORDING_MEMORY = 4,    /* no memory for what a variant needs */
    BF_RECORDING_PROTECTED = 8, /* a protected command buffer */
};

/* One of the two bind points that count. */
struct bf_bound {
    struct bf_pipeline *pipeline; /* the program's; NULL: none, or one that isn't specialised */
    struct bf_variant *variant;   /* bound below in its stead; NULL: the general one is */
};

/* A command buffer. Externally synchronised, as it is; RC-5's part is under the submissions' lock. */
struct bf_recording {
    struct bf_specializer *specializer;
    const struct VolkDeviceTable *vk;
    VkCommandBuffer handle;
    VkCommandBufferLevel level;
    bool one_time;   /* begun with ONE_TIME_SUBMIT */
    uint32_t blocks; /* enum bf_recording_block */

    uint32_t push_id; /* whose ranges the bytes were pushed under; 0: none is known */
    uint64_t known[BF_PUSH_BYTES / 64];
    _Alignas(8) uint8_t bytes[BF_PUSH_BYTES];
    struct bf_bound bound[2]; /* VK_PIPELINE_BIND_POINT_GRAPHICS, _COMPUTE */

    uint32_t variant_count, variant_room; /* RC-4 */
    struct bf_variant **variants;
    struct bf_tally_notes notes;
    uint32_t secondary_count; /* executed by it; more than fit are not counted */
    struct bf_recording *secondaries[16];

    uint32_t pending;       /* submissions that are not known to have finished */
    struct bf_trial *trial; /* measurements recorded in it (specialize/trial.h); NULL: none */
};

BF_SHARED struct bf_recording *bf_recording_create(struct bf_specializer *specializer,
                                                   VkCommandBuffer handle,
                                                   VkCommandBufferLevel level);
/* It is freed; no submission of it is pending, as Vulkan asks. */
BF_SHARED void bf_recording_destroy(struct bf_recording *recording);
/* vkBeginCommandBuffer and every kind of reset: all its submissions have finished. */
BF_SHARED void bf_recording_reset(struct bf_recording *recording);

/* The layer's hooks call these; what they leave out goes to the driver through the layer. */
BF_SHARED void bf_recording_push(struct bf_recording *recording, uint32_t push_id, uint32_t offset,
                                 uint32_t size, const void *bytes);
BF_SHARED void bf_recording_forget_push(struct bf_recording *recording);
/* vkCmdExecuteCommands, generated commands, shader objects: nothing is known to be bound. */
BF_SHARED void bf_recording_forget_bound(struct bf_recording *recording);

/*
 * Before each draw or dispatch: binds what it is to be recorded with, if that is not what is bound
 * (RC-1, RC-3), and notes the use. 'direct' is false where the work's size is on the GPU.
 */
BF_SHARED void bf_recording_use(struct bf_recording *recording, VkPipelineBindPoint point);

#endif
