/* SPDX-License-Identifier: MIT */
/*
 * The work of the three queues: walkers that leave marks in a field (the background), points that
 * the CPU asks for (the urgent task), and the draw that shows both.
 *
 * A step of the background is FIELD_PACKETS executions of one command buffer, and a copy of the
 * field, which a frame may show while walkers go on.
 */
#ifndef PRIORITY_FIELD_H
#define PRIORITY_FIELD_H

#include "curves.h"
#include "descriptors.h"
#include "memory.h"
#include "show.h"

#define FIELD_WIDTH   960u
#define FIELD_HEIGHT  540u
#define FIELD_WALKERS 4096u
#define FIELD_PACKETS 16u /* of a step */
#define FIELD_COPIES  4u
#define FIELD_SPARKS  48u /* that are shown */

struct field_spark {
    float place[2];
    float age, size;
};

struct field {
    float constants[4];
    uint32_t steps; /* that each walker goes in a packet */
    struct sample_buffer walkers, marks, answer, copies[FIELD_COPIES], sparks, panel;
    struct sample_sets work_sets, draw_sets;
    VkDescriptorSet work_set, draw_set[FIELD_COPIES];
    VkPipelineLayout work_layout, draw_layout;
    VkPipeline walk, ask, draw, spark;
    VkCommandPool pool, work_pool;
    VkCommandBuffer frame, ask_commands;
    VkCommandBuffer packet, copy[FIELD_COPIES]; /* may be pending several times */
};

/* `field` must be zeroed. `family`: of the queues for background and task. `steps` are what a
 * walker goes in a packet. */
VkResult field_create(struct field *field, const struct sample_show *show, uint32_t family,
                      uint32_t steps);
void field_destroy(struct field *field, const struct sample_device *device);

/* Records the packet anew, with other steps: it isn't pending. */
VkResult field_steps(struct field *field, uint32_t steps);

/* Records what answers ask number `number` (from 1), and reads the answer once it has been
 * executed. */
VkResult field_ask(struct field *field, uint32_t number);
void field_answer(const struct field *field, float place[2]);

/* Records frame `frame` (from 1): it shows the copy with that index, to which `packets` have
 * contributed, and the sparks that have been written to `sparks.mapped`; and the curves, if there
 * are any. */
VkResult field_draw(struct field *field, const struct sample_show *show, uint64_t frame,
                    const struct sample_target *target, uint32_t copy, uint64_t packets,
                    uint32_t sparks, const struct curves *curves);

#endif
