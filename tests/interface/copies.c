/* SPDX-License-Identifier: MIT */
/* A program that is linked with libbelfry 9.9.9, under a layer that brings the one beside it: each
 * keeps to its own, and bfGetDevice says why it finds nothing. */
#include "support/world.h"

#include "belfry/belfry.h"
#include "support/lines.h"

static const uint32_t counts[] = {1, 1, WORLD_END};

/* First: the library stays loaded once the layer has brought it. */
TEST(nobody_is_told_of_a_copy_that_is_not_there)
{
    BfDevice device;
    int nothing;
    lines_begin();
    assert_int_equal(bfGetDevice((VkDevice)(void *)&nothing, &device),
                     VK_ERROR_FEATURE_NOT_PRESENT);
    assert_int_equal(lines_end(NULL, 0), 0);
}

TEST(the_layer_uses_the_library_beside_it)
{
    struct device w;
    lines_begin();
    world_open(&w, "SHAPE=q1", counts);
    assert_int_equal(lines_end(NULL, 0), 0);
    assert_int_equal(w.family_count, 3); /* two are the layer's */
    VkFence fence = vulkan_fence(w.device, false);
    VkCommandBuffer commands = device_store(&w, 1, 3, 0x5eed);
    assert_submitted(w.queues[1][0], .commands = commands, .fence = fence);
    assert_success(vkWaitForFences(w.device, 1, &fence, VK_TRUE, UINT64_MAX));
    assert_int_equal(w.words[3], 0x5eed);
    vkDestroyFence(w.device, fence, NULL);
    world_close(&w);
}

TEST(who_asks_the_other_is_told_both_versions)
{
    char last[1024];
    struct device w;
    BfDevice device = (BfDevice)&w;
    assert_int_equal(bfGetVersion(), (9u << 22) | (9u << 12) | 9u);
    world_open(&w, "SHAPE=q1", counts);
    lines_begin();
    assert_int_equal(bfGetDevice(w.device, &device), VK_ERROR_FEATURE_NOT_PRESENT);
    assert_int_equal(lines_end(last, sizeof(last)), 1);
    assert_non_null(strstr(last, "bfGetDevice: "));
    assert_non_null(strstr(last, "libbelfry 9.9.9 ("));
    assert_non_null(strstr(last, "libbelfry 0.1.0 ("));
    world_close(&w);
}
