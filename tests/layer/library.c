/* SPDX-License-Identifier: MIT */
/* A layer beside a libbelfry that it can't use (LI-1): programs run as they would without it, and
 * one line says why. */
#include "support/world.h"

#include "belfry/belfry.h"
#include "support/lines.h"

static char last[1024];

/* What a program does, on the families that the driver really has. */
static void run(struct device *w)
{
    static const uint32_t counts[] = {1, WORLD_END};
    world_open(w, "SHAPE=q1", counts);
    assert_int_equal(w->family_count, 1);
    VkFence fence = vulkan_fence(w->device, false);
    VkCommandBuffer commands = device_store(w, 0, 3, 0x5eed);
    assert_submitted(w->queues[0][0], .commands = commands, .fence = fence);
    assert_success(vkWaitForFences(w->device, 1, &fence, VK_TRUE, UINT64_MAX));
    assert_int_equal(w->words[3], 0x5eed);
    vkDestroyFence(w->device, fence, NULL);
}

TEST(everything_passes_through_and_one_line_says_so)
{
    bool lacks_function = strstr(getenv("VK_LAYER_PATH"), "without") != NULL;
    struct device first, second;
    lines_begin();
    run(&first);
    assert_int_equal(lines_end(last, sizeof(last)), 1);
    assert_non_null(strstr(last, "libbelfry beside the layer is of another build"));
    assert_non_null(strstr(last, lacks_function ? "no bf_layer_interface" : "no interface "));
    /* Once in a process, however many instances there are. */
    lines_begin();
    run(&second);
    world_close(&second);
    assert_int_equal(lines_end(last, sizeof(last)), 0);
    world_close(&first);
}

TEST_AROUND(it_answers_for_itself_and_asks_the_next_for_the_rest, struct device, w, run,
            world_close)
{
    uint32_t count = 1;
    assert_success(vkEnumerateDeviceExtensionProperties(w->physical, BF_LAYER_NAME, &count, NULL));
    assert_int_equal(count, 0);
    assert_success(vkEnumerateDeviceExtensionProperties(w->physical, NULL, &count, NULL));
    assert_true(count > 0);
    assert_ptr_equal(vkGetDeviceProcAddr(w->device, "vkNoSuchCommand"), NULL);
}
