/* SPDX-License-Identifier: MIT */
/*
 * A draw with a pipeline that is checked: attachments, vertices and the dynamic state it asks for.
 *
 *  DR-1  Attachments hold made-up texels before, are loaded and stored, and are read back: whatever
 *        the program's render pass does with them, since one that is only compatible is used. Input
 *        attachments are those of its subpass.
 *  DR-2  All state that the pipeline leaves to commands is set.
 *
 * Thread-safety: one thread at a time.
 */
#ifndef BELFRY_SPECIALIZE_DRAW_H
#define BELFRY_SPECIALIZE_DRAW_H

#include "specialize/check/test_resource.h"

#define BF_DRAW_ATTACHMENTS 32 /* at most */
#define BF_DRAW_BINDINGS    32 /* of vertex buffers, at most */

struct bf_draw {
    struct bf_test_resources *resources;
    const struct bf_pipeline_interface *interface;
    const VkPipelineRenderingCreateInfo *rendering; /* NULL: a render pass, or nothing */
    uint32_t layers;                                /* of attachments */
    uint32_t view_mask;
    /* Images; UINT32_MAX: none here. Of a render pass its attachments, else the color
     * attachments. */
    uint32_t attachment_count;
    uint32_t attachments[BF_DRAW_ATTACHMENTS];
    uint32_t depth;                     /* without a render pass */
    uint32_t buffers[BF_DRAW_BINDINGS]; /* of vertices, in the order of the state's bindings */
    uint32_t strides[BF_DRAW_BINDINGS];
    bool feedback;     /* it may read what it writes, as an input attachment */
    uint32_t area;     /* both ways, if the scissor is dynamic: no more is drawn to; 0: to all */
    VkRenderPass pass; /* compatible with the program's */
    VkFramebuffer framebuffer;
};

/* Plans the resources that the draw needs. Errors: those of planning resources. */
VkResult bf_draw_plan(struct bf_draw *draw, struct bf_test_resources *resources,
                      const struct bf_pipeline_interface *interface);
/* Once they are built. */
VkResult bf_draw_build(struct bf_draw *draw);
/* A zeroed one is allowed. */
void bf_draw_finish(struct bf_draw *draw);

/* Whether vertex buffers have something of each instance. 'graphics' NULL: nothing is drawn. */
bool bf_draw_has_instances(const VkGraphicsPipelineCreateInfo *graphics);

/* Whether 'area' says anything. */
bool bf_draw_narrows(const struct bf_draw *draw);

/* Pipeline, sets and push constants are bound already. Draws one instance, that one unless buffers
 * have something of each, of one primitive, or of two that a vertex shader makes up [CK-24];
 * 'second': another one. The least 'seed' draws over what is there, others leave it to tests of
 * depth where the pipeline leaves that to commands. */
void bf_draw_record(const struct bf_draw *draw, VkCommandBuffer commands, uint32_t seed,
                    uint32_t instance, bool second);

#endif
