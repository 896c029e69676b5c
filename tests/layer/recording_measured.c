/* SPDX-License-Identifier: MIT */
/* The specialiser's hooks, and what is measured: which passes have times taken around them, and
 * which command buffers throw a coin (specialize/ab_timing.h, recording.h). */
#include "recording_world.h"

#include "specialize/ab_timing.h"

static struct bf_ab_timer timer;

static void open_trials(void)
{
    recording_open();
    timer = (struct bf_ab_timer){
        .device = fake.device, .vk = recording.specializer.recorder.vk, .period_ns = 1};
    recording.specializer.recorder.timer = &timer;
    recording.specializer.recorder.passes = 1;
    for (int i = 0; i < 2; i++)
        atomic_store(&recording.variants[i]->ab_timed, true);
    recording.stamps = 0;
}

static void close_trials(void)
{
    void *blocks = timer.blocks; /* one: it is only memory here */
    recording_close();
    free(blocks);
}

/* How many stamps a pass gets that is begun so, and ended. */
static uint32_t stamps_of_rendering(VkCommandBuffer buffer, VkRenderingFlags flags)
{
    const VkRenderingInfo info = {VK_TYPE(RENDERING_INFO), .flags = flags};
    recording.stamps = 0;
    FAKE_CALL(vkCmdBeginRendering, buffer, &info);
    assert_true(recording.stamps <= 1);
    FAKE_CALL(vkCmdEndRendering, buffer);
    return recording.stamps;
}

static uint32_t stamps_of_pass(VkCommandBuffer buffer, VkSubpassContents contents)
{
    const VkRenderPassBeginInfo info = {VK_TYPE(RENDER_PASS_BEGIN_INFO)};
    const VkSubpassBeginInfo subpass = {VK_TYPE(SUBPASS_BEGIN_INFO), .contents = contents};
    const VkSubpassEndInfo end = {VK_TYPE(SUBPASS_END_INFO)};
    recording.stamps = 0;
    FAKE_CALL(vkCmdBeginRenderPass, buffer, &info, contents);
    assert_true(recording.stamps <= 1);
    FAKE_CALL(vkCmdEndRenderPass, buffer);
    uint32_t first = recording.stamps;
    recording.stamps = 0;
    FAKE_CALL(vkCmdBeginRenderPass2, buffer, &info, &subpass);
    FAKE_CALL(vkCmdEndRenderPass2, buffer, &end);
    assert_int_equal(recording.stamps, first);
    return first;
}

TEST(test_passes)
{
    open_trials();
    VkCommandBuffer buffer = recording_allocate(recording.pool, VK_COMMAND_BUFFER_LEVEL_PRIMARY);
    recording_begin(buffer, 0);
    assert_int_equal(stamps_of_pass(buffer, VK_SUBPASS_CONTENTS_INLINE), 2);
    assert_int_equal(stamps_of_pass(buffer, VK_SUBPASS_CONTENTS_SECONDARY_COMMAND_BUFFERS), 2);
    recording_begin(buffer, 0);
    assert_int_equal(stamps_of_rendering(buffer, 0), 2);
    assert_int_equal(
        stamps_of_rendering(buffer, VK_RENDERING_CONTENTS_SECONDARY_COMMAND_BUFFERS_BIT), 2);
    assert_int_equal(stamps_of_rendering(buffer, VK_RENDERING_SUSPENDING_BIT), 0);
    assert_int_equal(stamps_of_rendering(buffer, VK_RENDERING_RESUMING_BIT), 0);
    atomic_store(&recording.specializer.recorder.passes, 0);
    assert_int_equal(stamps_of_rendering(buffer, 0), 0);
    atomic_store(&recording.specializer.recorder.passes, 1);
    recording_begin_with(buffer, 0, VK_COMMAND_BUFFER_USAGE_SIMULTANEOUS_USE_BIT);
    assert_int_equal(stamps_of_rendering(buffer, 0), 0);
    close_trials();
}

/* How often of 200 a secondary command buffer that is begun so gets the variant. */
static uint32_t picks_of(VkCommandBufferUsageFlags flags, VkPipelineBindPoint point)
{
    VkCommandBuffer secondary =
        recording_allocate(recording.pool, VK_COMMAND_BUFFER_LEVEL_SECONDARY);
    VkQueue queue = recording_queue();
    uint32_t picks = 0;
    recording.stamps = 0;
    for (int i = 0; i < 200; i++) {
        recording_begin_with(secondary, 0, flags);
        recording_bind(secondary, point);
        recording_push(secondary, recording_right);
        VkPipeline got =
            point == GRAPHICS ? recording_draw(secondary) : recording_dispatch(secondary);
        picks += got == VARIANT(point);
        for (int k = 0; k < BF_RECORDING_SHARED; k++)
            assert_success(FAKE_CALL(vkQueueSubmit2, queue, 0, NULL, VK_NULL_HANDLE));
    }
    FAKE_CALL(vkFreeCommandBuffers, fake.device, recording.pool, 1, &secondary);
    return picks;
}

/* Coins are thrown as they were begun, and dispatches measured in them. */
TEST(test_secondaries_on_trial)
{
    const VkCommandBufferUsageFlags within = VK_COMMAND_BUFFER_USAGE_RENDER_PASS_CONTINUE_BIT,
                                    repeats = VK_COMMAND_BUFFER_USAGE_SIMULTANEOUS_USE_BIT;
    open_trials();
    uint32_t half = picks_of(0, COMPUTE);
    assert_in_range(half, 60, 140);
    assert_int_equal(recording.stamps, 400);
    half = picks_of(within, GRAPHICS);
    assert_in_range(half, 60, 140);
    half = picks_of(within | repeats, GRAPHICS);
    assert_in_range(half, 60, 140);
    assert_int_equal(recording.stamps, 0);
    assert_int_equal(picks_of(repeats, COMPUTE), 200);
    assert_int_equal(recording.stamps, 0);
    close_trials();
}
