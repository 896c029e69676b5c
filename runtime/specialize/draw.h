/*
 * A draw with a pipeline that is checked: attachments, vertices and the dynamic state it asks for.
 *
 * Thread-safety: one thread at a time.
 */
#ifndef BELFRY_SPECIALIZE_DRAW_H
#define BELFRY_SPECIALIZE_DRAW_H

#include "specialize/dummy.h"

#define BF_DRAW_ATTACHMENTS 32
#define BF_DRAW_BINDINGS    32

struct bf_draw {
    struct bf_dummies *dummies;
    const struct bf_check_subject *subject;
    const VkPipelineRenderingCreateInfo *rendering; /* NULL: a render pass */
    uint32_t attachment_count;
    uint32_t attachments[BF_DRAW_ATTACHMENTS]; /* images; UINT32_MAX: none here */
    uint32_t buffers[BF_DRAW_BINDINGS];        /* of vertices, by the order of bindings */
    uint32_t layers;                           /* of attachments */
    VkRenderPass pass;                         /* compatible with the program's */
    VkFramebuffer framebuffer;
};

/* Notes in 'dummies' what it needs. Errors as theirs. */
VkResult bf_draw_plan(struct bf_draw *draw, struct bf_dummies *dummies,
                      const struct bf_check_subject *subject);
/* Once they are built. */
VkResult bf_draw_build(struct bf_draw *draw);
/* A zeroed one is allowed. */
void bf_draw_finish(struct bf_draw *draw);

/* Pipeline, sets and push constants are bound by 'bind', before anything depends on them. */
void bf_draw_record(const struct bf_draw *draw, VkCommandBuffer commands, uint32_t vertices,
                    uint32_t instances, uint32_t seed);

#endif
