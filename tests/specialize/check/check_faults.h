/* SPDX-License-Identifier: MIT */
/* Checks on the test driver, which runs no shaders, of pipelines that use all there is. */
#ifndef BELFRY_TEST_SPECIALIZE_CHECK_FAULTS_H
#define BELFRY_TEST_SPECIALIZE_CHECK_FAULTS_H

#include "check_world.h"

#define FAULT_BINDINGS 10 /* the last one where it draws */

struct faulty {
    VkGraphicsPipelineCreateInfo graphics; /* as far as a check looks at it */
    VkPipelineVertexInputStateCreateInfo vertices;
    VkAttachmentDescription2 attachments[2];
    VkAttachmentReference2 color, depth, input;
    VkSubpassDescription2 subpass;
    VkRenderPassCreateInfo2 pass;
};

/* One that draws, or computes. */
void faulty_init(struct world *w, struct faulty *f, bool draws);

#endif
