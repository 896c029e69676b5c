/* SPDX-License-Identifier: MIT */
/* Settings that a program passes to bfAttachDevice: they reach the device, below the
 * environment. */
#include "support/fixture.h"

#include <belfry/background.h>

#include "support/lines.h"

#define TASKS          "VK_BELFRY_MULTI_ENGINE_BACKGROUND_TASKS"
#define DEVELOPER_MODE "VK_BELFRY_MULTI_ENGINE_DEVELOPER_MODE"

static void open_without_attaching(struct fixture *f)
{
    fixture_open_instance(f, &fixture_plain);
    assert_success(fixture_open_device(f, &fixture_plain));
}

static VkResult attach_with(struct fixture *f, uint32_t count, const BfSetting *settings)
{
    BfAttachQueue queues[DEVICE_FAMILIES * FIXTURE_QUEUES];
    BfAttachInfo info = fixture_attach_info(f, queues);
    info.settingCount = count;
    info.pSettings = settings;
    return bfAttachDevice(&info, &f->bf);
}

static BfBackgroundProcessingProperties properties_of(BfDevice device)
{
    BfBackgroundProcessingProperties properties = {BF_TYPE(BACKGROUND_PROCESSING_PROPERTIES)};
    assert_success(bfGetBackgroundProcessingProperties(device, &properties));
    return properties;
}

TEST(they_reach_the_device_and_no_other)
{
    static const BfSetting own[] = {{"background_tasks", "7"}, {"developer_mode", "on"}};
    struct fixture f;
    open_without_attaching(&f);
    lines_begin();
    assert_success(attach_with(&f, 2, own));
    char line[512];
    assert_int_equal(lines_end(line, sizeof(line)), 1);
    assert_non_null(strstr(line, "'developer_mode' is ignored"));
    assert_int_equal(properties_of(f.bf).backgroundTasks, 7);
    assert_false(properties_of(f.bf).developerMode); /* it isn't the program's to set */
    bfDetachDevice(f.bf);
    assert_success(attach_with(&f, 0, NULL));
    assert_int_equal(properties_of(f.bf).backgroundTasks, 2);
    assert_false(properties_of(f.bf).developerMode);
    fixture_close(&f);
}

TEST(the_environment_overrides_them)
{
    static const BfSetting own[] = {{"background_tasks", "7"}};
    struct fixture f;
    open_without_attaching(&f);
    setenv(TASKS, "5", 1);
    setenv(DEVELOPER_MODE, "on", 1);
    VkResult result = attach_with(&f, 1, own);
    unsetenv(DEVELOPER_MODE);
    unsetenv(TASKS);
    assert_success(result);
    assert_int_equal(properties_of(f.bf).backgroundTasks, 5);
    assert_true(properties_of(f.bf).developerMode);
    fixture_close(&f);
}

TEST(native_fences_can_be_switched_off)
{
    static const BfSetting off = {"native_fences", "off"};
    struct fixture f;
    open_without_attaching(&f);
    lines_begin();
    VkResult result = attach_with(&f, 1, &off);
    char line[512];
    assert_int_equal(lines_end(line, sizeof(line)), 1);
    assert_int_equal(result, VK_ERROR_FEATURE_NOT_PRESENT);
    assert_non_null(strstr(line, "native_fences"));
    assert_null(f.bf);
    f.no_native_fences = true;
    assert_success(attach_with(&f, 1, &off));
    fixture_close(&f);
}

TEST(what_is_no_setting_costs_a_line_and_what_is_no_text_is_refused)
{
    static const BfSetting unknown = {"background_task", "7"}, no_key = {NULL, "7"},
                           no_value = {"background_tasks", NULL};
    struct fixture f;
    open_without_attaching(&f);
    char line[512];
    const BfSetting *refused[] = {NULL, &no_key, &no_value};
    for (int i = 0; i < 3; i++) {
        lines_begin();
        VkResult result = attach_with(&f, 1, refused[i]);
        assert_int_equal(lines_end(line, sizeof(line)), 1);
        assert_int_equal(result, VK_ERROR_VALIDATION_FAILED_EXT);
        assert_non_null(strstr(line, "bfAttachDevice: pSettings"));
        assert_null(f.bf);
    }
    lines_begin();
    VkResult result = attach_with(&f, 1, &unknown);
    assert_int_equal(lines_end(line, sizeof(line)), 1);
    assert_success(result);
    assert_non_null(strstr(line, "'background_tasks'"));
    fixture_close(&f);
}
