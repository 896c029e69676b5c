/* SPDX-License-Identifier: MIT */
/* BfAttachInfo::pSettings: what a program that attaches its own device sets itself. */
#include "settings_helper.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

TEST(values_are_read_as_those_of_the_file)
{
    static const BfSetting own[] = {
        {"background_tasks", "0x0c"}, {"trace", "/tmp/a b"}, {"summary", "on"},
        {"messages", "Info"},         {"check", "access"},   {"cache", ""},
    };
    struct loaded l = load_attached(COUNT(own), own, NULL, false);
    assert_string_equal(l.messages, "");
    assert_int_equal(l.settings.background_tasks, 12);
    assert_string_equal(l.settings.trace, "/tmp/a b");
    assert_true(l.settings.summary);
    assert_int_equal(l.settings.messages, BF_MESSAGE_INFO);
    assert_int_equal(l.settings.check, BF_CHECK_ACCESS);
    assert_null(l.settings.cache); /* an empty value is none */
    assert_int_equal(bf_settings_source(&l.settings, BF_KEY_TRACE), BF_SETTING_API);
    assert_string_equal(bf_settings_origin(&l.settings, BF_KEY_TRACE), "BfAttachInfo::pSettings");
    assert_int_equal(bf_settings_source(&l.settings, BF_KEY_CACHE), BF_SETTING_DEFAULT);
    loaded_finish(&l);

    l = load_attached(0, NULL, NULL, false);
    assert_string_equal(l.messages, "");
    assert_int_equal(l.settings.queues, BF_QUEUES_APPEND);
    loaded_finish(&l);
}

TEST(mistakes_cost_one_line_each)
{
    static const struct {
        BfSetting setting;
        const char *says;
    } cases[] = {
        {{"quues", "native"}, "'queues'"},
        {{"", "native"}, "there is no setting ''"},
        {{"QUEUES", "native"}, "'queues'"},
        {{"queues", "nativ"}, "'native'"},
        {{"queues_per_family", "99"}, "(0 to 64)"},
        {{"developer_mode", "on"}, "for the user to set"},
        {{"belfry_multi_engine.queues", "native"}, "there is no setting"},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct loaded l = load_attached(1, &cases[i].setting, NULL, false);
        assert_one_line(&l, "BfAttachInfo::pSettings", cases[i].says, NULL);
        assert_int_equal(l.settings.queues, BF_QUEUES_APPEND);
        assert_int_equal(l.settings.queues_per_family, 0);
        assert_false(l.settings.developer_mode);
        loaded_finish(&l);
    }
}

/* What does nothing without the layer is refused, be it what it is anyway. */
TEST(what_is_for_the_layer_alone_is_refused)
{
    static const BfSetting own[] = {
        {"queues", "native"},       {"queues_per_family", "3"},
        {"realtime", "on"},         {"high_priority", "on"},
        {"queue_priorities", "on"}, {"spare_queues", "off"},
        {"specialize", "exact"},    {"synchronized_queues", "off"},
        {"specialize_memory", "7"}, {"report", "on"},
        {"cache", "/tmp/c"},        {"submit", "doorbell"},
    };
    struct loaded none = load_attached(0, NULL, NULL, false);
    for (size_t i = 0; i < COUNT(own); i++) {
        struct loaded l = load_attached(1, &own[i], NULL, false);
        assert_one_line(&l, "BfAttachInfo::pSettings", own[i].pKey, "for the layer alone");
        const struct bf_setting_row *rows;
        for (uint32_t row = 0; row < bf_settings_rows(&rows); row++) {
            char is[64], was[64];
            assert_string_equal(bf_settings_value(&l.settings, row, is, sizeof(is)),
                                bf_settings_value(&none.settings, row, was, sizeof(was)));
            assert_int_equal(bf_settings_source(&l.settings, row),
                             bf_settings_source(&none.settings, row));
        }
        loaded_finish(&l);
    }
    loaded_finish(&none);
}

TEST(of_a_key_that_comes_twice_the_first_counts)
{
    static const BfSetting own[] = {{"messages", "info"}, {"messages", "none"}};
    struct loaded l = load_attached(COUNT(own), own, NULL, false);
    assert_int_equal(l.settings.messages, BF_MESSAGE_INFO);
    loaded_finish(&l);
}

/* Environment, file, program, default: each overrides what comes behind it. */
TEST(precedence_is_that_of_the_layer)
{
    char folder[] = "/tmp/belfry_settings_XXXXXX", path[64], variable[128];
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof(path), "%s/s.txt", folder);
    snprintf(variable, sizeof(variable), "VK_LAYER_SETTINGS_PATH=%s", path);
    FILE *file = fopen(path, "w");
    fputs("belfry_multi_engine.doorbells = 2\nbelfry_multi_engine.messages = none\n", file);
    fclose(file);
    static const BfSetting own[] = {
        {"doorbells", "3"}, {"messages", "info"}, {"background_tasks", "5"}};
    struct loaded l = load_attached(
        COUNT(own), own, ENVIRONMENT(variable, "VK_BELFRY_MULTI_ENGINE_DOORBELLS=4"), false);
    assert_string_equal(l.messages, "");
    assert_int_equal(l.settings.doorbells, 4);
    assert_int_equal(bf_settings_source(&l.settings, BF_KEY_DOORBELLS), BF_SETTING_ENVIRONMENT);
    assert_int_equal(l.settings.messages, BF_MESSAGE_NONE);
    assert_int_equal(bf_settings_source(&l.settings, BF_KEY_MESSAGES), BF_SETTING_FILE);
    assert_int_equal(l.settings.background_tasks, 5);
    assert_int_equal(bf_settings_source(&l.settings, BF_KEY_BACKGROUND_TASKS), BF_SETTING_API);
    assert_int_equal(bf_settings_source(&l.settings, BF_KEY_SUMMARY), BF_SETTING_DEFAULT);
    loaded_finish(&l);
    unlink(path);
    rmdir(folder);
}

/* A program's own path counts with raised privileges too: nobody else wrote it. */
TEST(a_privileged_program_may_name_paths)
{
    static const BfSetting own[] = {{"trace", "/tmp/t"}};
    struct loaded l = load_attached(COUNT(own), own, NULL, true);
    assert_string_equal(l.messages, "");
    assert_string_equal(l.settings.trace, "/tmp/t");
    loaded_finish(&l);
}
