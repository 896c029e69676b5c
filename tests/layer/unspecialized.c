/* SPDX-License-Identifier: MIT */
/* A layer that was built without the specialiser says so in one line to who asks for it, and goes
 * on without: no command of a device's is then handed out that specialises. */
#include "fake.h"

static char last[1024];

static void VKAPI_CALL drv_dispatch(VkCommandBuffer buffer, uint32_t x, uint32_t y, uint32_t z)
{
}

/* Makes a device under the setting (NULL: unset), and returns how many lines that took. */
static uint32_t open_with(const char *setting)
{
    static const uint32_t counts[FAKE_FAMILIES] = {1};
    if (setting)
        setenv("VK_BELFRY_MULTI_ENGINE_SPECIALIZE", setting, 1);
    lines_begin();
    fake_open(&(struct fake_driver){.layer = "libbelfry_test_layer_without.so"}, counts);
    uint32_t lines = lines_end(last, sizeof(last));
    unsetenv("VK_BELFRY_MULTI_ENGINE_SPECIALIZE");
    return lines;
}

TEST(who_asks_for_it_gets_one_line)
{
    static const char *const modes[] = {"exact"};
    for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); i++) {
        assert_int_equal(open_with(modes[i]), 1);
        assert_non_null(
            strstr(last, "specialize is off: this build of Belfry was made without it"));
        /* To these a specialiser alone listens. */
        FAKE_OVERRIDE(vkCmdDispatch, drv_dispatch);
        assert_ptr_equal(fake_command("vkCmdDispatch"), drv_dispatch);
        fake_close();
    }
}

TEST(nobody_else_hears_of_it)
{
    assert_int_equal(open_with("off"), 0);
    fake_close();
    assert_int_equal(open_with(NULL), 0);
    fake_close();
}
