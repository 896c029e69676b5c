/* SPDX-License-Identifier: MIT */
/* BELFRY_ICD_ORDER=worst: what runs ahead of what it was recorded behind, and what keeps it
 * back. */
#include "support/world.h"

#define ALL      VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT
#define TRANSFER VK_PIPELINE_STAGE_2_ALL_TRANSFER_BIT
#define COMPUTE  VK_PIPELINE_STAGE_2_COMPUTE_SHADER_BIT

static void barrier(VkCommandBuffer commands, VkPipelineStageFlags2 from, VkPipelineStageFlags2 to)
{
    const VkMemoryBarrier2 memory = {VK_TYPE(MEMORY_BARRIER_2), .srcStageMask = from,
                                     .srcAccessMask = VK_ACCESS_2_MEMORY_WRITE_BIT,
                                     .dstStageMask = to,
                                     .dstAccessMask = VK_ACCESS_2_MEMORY_WRITE_BIT};
    const VkDependencyInfo info = {VK_TYPE(DEPENDENCY_INFO), .memoryBarrierCount = 1,
                                   .pMemoryBarriers = &memory};
    vkCmdPipelineBarrier2(commands, &info);
}

/* One word is filled with 1 and then with 2, with up to two barriers between: which one stays. */
static const struct {
    VkPipelineStageFlags2 scopes[4];
    uint32_t stays;
} cases[] = {
    {{0}, 1},
    {{ALL, ALL}, 2},
    {{TRANSFER, TRANSFER}, 2},
    {{TRANSFER, COMPUTE}, 1},
    {{COMPUTE, TRANSFER}, 1},
    {{VK_PIPELINE_STAGE_2_BOTTOM_OF_PIPE_BIT, VK_PIPELINE_STAGE_2_TOP_OF_PIPE_BIT}, 2},
    {{VK_PIPELINE_STAGE_2_TOP_OF_PIPE_BIT, ALL}, 1},
    {{TRANSFER, COMPUTE, COMPUTE, TRANSFER}, 2}, /* a chain */
    {{TRANSFER, VK_PIPELINE_STAGE_2_HOST_BIT, COMPUTE, TRANSFER}, 1},
};

DEVICE_TEST(test_barriers_order, "ORDER=worst", WORLD_ALL)
{
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        VkCommandBuffer commands = device_begin(w, 0, 0);
        vkCmdFillBuffer(commands, w->buffer, 0, 4, 1);
        for (int k = 0; k < 4 && cases[i].scopes[k]; k += 2)
            barrier(commands, cases[i].scopes[k], cases[i].scopes[k + 1]);
        vkCmdFillBuffer(commands, w->buffer, 0, 4, 2);
        assert_success(vkEndCommandBuffer(commands));
        assert_submitted(w->queues[0][0], .commands = commands);
        assert_success(vkQueueWaitIdle(w->queues[0][0]));
        if (w->words[0] != cases[i].stays)
            fail_msg("case %zu: %u stays", i, w->words[0]);
    }
}
