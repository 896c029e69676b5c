/* SPDX-License-Identifier: MIT */
/* Defaults, the environment, precedence, spelling mistakes, privileges, implicit loading. */
#include "settings_helper.h"

#include <sys/stat.h>

TEST(defaults)
{
    struct loaded l = load(NULL);
    assert_int_equal(l.settings.queues, BF_QUEUES_APPEND);
    assert_int_equal(l.settings.queues_per_family, 0);
    assert_null(l.settings.trace);
    assert_false(l.settings.summary);
    assert_int_equal(l.settings.messages, BF_MESSAGE_WARNING);
    assert_false(l.settings.serialize_submits);
    assert_false(l.settings.realtime);
    assert_int_equal(l.settings.check, BF_CHECK_NONE);
    assert_int_equal(l.settings.background_tasks, 2);
    assert_false(l.settings.developer_mode);
    assert_int_equal(l.settings.specialize, BF_SPECIALIZE_AUTO);
    assert_int_equal(l.settings.specialize_memory, 256);
    assert_false(l.settings.report);
    assert_null(l.settings.cache);
    assert_string_equal(l.messages, "");
    for (uint32_t i = 0; i < BF_KEY_COUNT; i++) {
        assert_int_equal(bf_settings_source(&l.settings, i), BF_SETTING_DEFAULT);
        assert_string_equal(bf_settings_origin(&l.settings, i), "");
    }
    loaded_finish(&l);

    l = load_as(NULL, NULL, false, true);
    assert_int_equal(l.settings.queues, BF_QUEUES_NATIVE);
    loaded_finish(&l);
}

TEST(table_agrees_with_defaults)
{
    const struct bf_setting_row *rows;
    uint32_t count = bf_settings_rows(&rows);
    assert_int_equal(count, BF_KEY_COUNT);
    struct loaded l = load(NULL);
    for (uint32_t i = 0; i < count; i++) {
        char value[256];
        assert_string_equal(bf_settings_value(&l.settings, i, value, sizeof(value)),
                            rows[i].default_value);
        assert_true(strlen(rows[i].key) && strlen(rows[i].label) && strlen(rows[i].description));
        assert_true(strlen(rows[i].value_type) && strlen(rows[i].values));
        if (rows[i].kind != BF_VALUE_PATH)
            assert_true(bf_setting_check(rows[i].key, rows[i].default_value, "test", true));
    }
    loaded_finish(&l);
}

TEST(environment_sets_everything)
{
    struct loaded l = load(ENVIRONMENT(
        "VK_BELFRY_MULTI_ENGINE_QUEUES=native", "VK_BELFRY_MULTI_ENGINE_QUEUES_PER_FAMILY=0x20",
        "VK_BELFRY_MULTI_ENGINE_TRACE=/tmp/a b#c", "VK_BELFRY_MULTI_ENGINE_SUMMARY=on",
        "VK_BELFRY_MULTI_ENGINE_MESSAGES=Info", "VK_BELFRY_MULTI_ENGINE_SERIALIZE_SUBMITS=1",
        "VK_BELFRY_MULTI_ENGINE_REALTIME=on", "VK_BELFRY_MULTI_ENGINE_CHECK=access",
        "VK_BELFRY_MULTI_ENGINE_BACKGROUND_TASKS=3", "VK_BELFRY_MULTI_ENGINE_DEVELOPER_MODE=on",
        "VK_BELFRY_MULTI_ENGINE_SPECIALIZE=exact", "VK_BELFRY_MULTI_ENGINE_SPECIALIZE_MEMORY=64",
        "VK_BELFRY_MULTI_ENGINE_REPORT=on", "VK_BELFRY_MULTI_ENGINE_CACHE=/tmp/c d"));
    assert_string_equal(l.messages, "");
    assert_int_equal(l.settings.queues, BF_QUEUES_NATIVE);
    assert_int_equal(l.settings.queues_per_family, 32);
    assert_string_equal(l.settings.trace, "/tmp/a b#c");
    assert_true(l.settings.summary);
    assert_int_equal(l.settings.messages, BF_MESSAGE_INFO);
    assert_true(l.settings.serialize_submits);
    assert_true(l.settings.realtime);
    assert_int_equal(l.settings.check, BF_CHECK_ACCESS);
    assert_int_equal(l.settings.background_tasks, 3);
    assert_true(l.settings.developer_mode);
    assert_int_equal(l.settings.specialize, BF_SPECIALIZE_EXACT);
    assert_int_equal(l.settings.specialize_memory, 64);
    assert_true(l.settings.report);
    assert_string_equal(l.settings.cache, "/tmp/c d");
    assert_string_equal(bf_settings_origin(&l.settings, BF_KEY_TRACE),
                        "VK_BELFRY_MULTI_ENGINE_TRACE");
    char value[4];
    assert_string_equal(bf_settings_value(&l.settings, BF_KEY_TRACE, value, sizeof(value)), "/tm");
    loaded_finish(&l);
}

TEST(cache_folder_is_the_users)
{
    struct loaded l = load(ENVIRONMENT("XDG_CACHE_HOME=/c d", "HOME=/home/a"));
    assert_string_equal(l.settings.user_cache, "/c d/belfry");
    loaded_finish(&l);
    l = load(ENVIRONMENT("XDG_CACHE_HOME=relative", "HOME=/home/a"));
    assert_string_equal(l.settings.user_cache, "/home/a/.cache/belfry");
    loaded_finish(&l);
    l = load(ENVIRONMENT("HOME=relative"));
    assert_null(l.settings.user_cache);
    loaded_finish(&l);
    l = load_as(NULL, ENVIRONMENT("HOME=/home/a"), true, false);
    assert_null(l.settings.user_cache);
    loaded_finish(&l);
}

TEST(wrong_value_hides_no_other)
{
    struct loaded l = load(ENVIRONMENT("VK_MULTI_ENGINE_QUEUES_PER_FAMILY=3",
                                       "VK_BELFRY_MULTI_ENGINE_QUEUES_PER_FAMILY=many"));
    assert_one_line(&l, "VK_BELFRY_MULTI_ENGINE_QUEUES_PER_FAMILY", "'many'", NULL);
    assert_int_equal(l.settings.queues_per_family, 3);
    assert_string_equal(bf_settings_origin(&l.settings, BF_KEY_QUEUES_PER_FAMILY),
                        "VK_MULTI_ENGINE_QUEUES_PER_FAMILY");
    loaded_finish(&l);
}

TEST(longer_variable_wins)
{
    struct loaded l = load(ENVIRONMENT("VK_MULTI_ENGINE_QUEUES_PER_FAMILY=3",
                                       "VK_BELFRY_MULTI_ENGINE_QUEUES_PER_FAMILY=4"));
    assert_int_equal(l.settings.queues_per_family, 4);
    loaded_finish(&l);

    l = load(ENVIRONMENT("VK_MULTI_ENGINE_QUEUES_PER_FAMILY=3",
                         "VK_BELFRY_MULTI_ENGINE_QUEUES_PER_FAMILY="));
    assert_int_equal(l.settings.queues_per_family, 3);
    assert_string_equal(bf_settings_origin(&l.settings, BF_KEY_QUEUES_PER_FAMILY),
                        "VK_MULTI_ENGINE_QUEUES_PER_FAMILY");
    loaded_finish(&l);

    /* Too generic to be ours. */
    l = load(ENVIRONMENT("VK_TRACE=/tmp/x", "VK_QUEUES=nonsense"));
    assert_null(l.settings.trace);
    assert_string_equal(l.messages, "");
    loaded_finish(&l);
}

TEST(precedence)
{
    char folder[] = "/tmp/belfry_settings_XXXXXX";
    assert_non_null(mkdtemp(folder));
    char path[64], variable[128];
    snprintf(path, sizeof(path), "%s/s.txt", folder);
    snprintf(variable, sizeof(variable), "VK_LAYER_SETTINGS_PATH=%s", path);
    FILE *file = fopen(path, "w");
    fputs("belfry_multi_engine.queues_per_family = 2\nbelfry_multi_engine.messages = none\n", file);
    fclose(file);

    struct {
        VkStructureType type;
        const void *next;
        uint32_t count;
        const void *settings;
    } api = {.type = (VkStructureType)1000496000, .count = 3};
    uint32_t one = 1;
    const char *error = "error";
    VkBool32 yes = VK_TRUE;
    struct {
        const char *layer, *key;
        int type;
        uint32_t count;
        const void *values;
    } values[] = {{BF_LAYER_NAME, "queues_per_family", 3, 1, &one},
                  {BF_LAYER_NAME, "messages", 7, 1, &error},
                  {BF_LAYER_NAME, "summary", 0, 1, &yes}};
    api.settings = values;
    VkInstanceCreateInfo info = {VK_TYPE(INSTANCE_CREATE_INFO), .pNext = &api};

    struct loaded l =
        load_as(&info, ENVIRONMENT(variable, "VK_MULTI_ENGINE_QUEUES_PER_FAMILY=3"), false, false);
    assert_string_equal(l.messages, "");
    assert_int_equal(l.settings.queues_per_family, 3);
    assert_int_equal(bf_settings_source(&l.settings, BF_KEY_QUEUES_PER_FAMILY),
                     BF_SETTING_ENVIRONMENT);
    assert_int_equal(l.settings.messages, BF_MESSAGE_NONE);
    assert_int_equal(bf_settings_source(&l.settings, BF_KEY_MESSAGES), BF_SETTING_FILE);
    assert_true(l.settings.summary);
    assert_int_equal(bf_settings_source(&l.settings, BF_KEY_SUMMARY), BF_SETTING_API);
    assert_int_equal(bf_settings_source(&l.settings, BF_KEY_QUEUES), BF_SETTING_DEFAULT);
    loaded_finish(&l);

    /* What is unusable in a strong source leaves the weaker one standing. */
    l = load_as(&info, ENVIRONMENT(variable, "VK_MULTI_ENGINE_MESSAGES=loud"), false, false);
    assert_one_line(&l, "VK_MULTI_ENGINE_MESSAGES", "'loud'", NULL);
    assert_int_equal(l.settings.messages, BF_MESSAGE_NONE);
    loaded_finish(&l);

    unlink(path);
    rmdir(folder);
}

TEST(bad_values)
{
    static const struct {
        const char *variable, *nearest;
        bool near;
    } cases[] = {
        {"VK_BELFRY_MULTI_ENGINE_QUEUES=apend", "'append'", true},
        {"VK_BELFRY_MULTI_ENGINE_QUEUES=nativ ", "'native'", true},
        {"VK_BELFRY_MULTI_ENGINE_QUEUES=\n", "(native, append)", false},
        {"VK_BELFRY_MULTI_ENGINE_QUEUES=many", "(native, append)", false},
        {"VK_BELFRY_MULTI_ENGINE_SUMMARY=ture", "'true'", true},
        {"VK_BELFRY_MULTI_ENGINE_SUMMARY=flase", "'false'", true},
        {"VK_BELFRY_MULTI_ENGINE_SUMMARY=2", "(true, false)", false},
        {"VK_BELFRY_MULTI_ENGINE_MESSAGES=warn", "'warning'", true},
        {"VK_BELFRY_MULTI_ENGINE_QUEUES_PER_FAMILY=-1", "(0 to 64)", false},
        {"VK_BELFRY_MULTI_ENGINE_QUEUES_PER_FAMILY=65", "(0 to 64)", false},
        {"VK_BELFRY_MULTI_ENGINE_QUEUES_PER_FAMILY=99999999999999999999999", "(0 to 64)", false},
        {"VK_BELFRY_MULTI_ENGINE_QUEUES_PER_FAMILY=8 queues", "'8'", true},
        {"VK_BELFRY_MULTI_ENGINE_QUEUES_PER_FAMILY=many", "(0 to 64)", false},
        {"VK_BELFRY_MULTI_ENGINE_QUEUES_PER_FAMILY=0x", "'0'", true},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct loaded l = load(ENVIRONMENT((char *)cases[i].variable));
        char name[64];
        snprintf(name, sizeof(name), "%.*s", (int)strcspn(cases[i].variable, "="),
                 cases[i].variable);
        assert_one_line(&l, name, cases[i].nearest, NULL);
        assert_int_equal(strstr(l.messages, "did you mean") != NULL, cases[i].near);
        assert_int_equal(l.settings.queues, BF_QUEUES_APPEND);
        assert_int_equal(l.settings.queues_per_family, 0);
        assert_int_equal(l.settings.messages, BF_MESSAGE_WARNING);
        assert_false(l.settings.summary);
        loaded_finish(&l);
    }

    /* Of any length and content: still one line. */
    static char huge[100000];
    int start = snprintf(huge, sizeof(huge), "VK_BELFRY_MULTI_ENGINE_MESSAGES=");
    memset(huge + start, '\n', sizeof(huge) - 1 - (size_t)start);
    struct loaded l = load(ENVIRONMENT(huge));
    assert_one_line(&l, "VK_BELFRY_MULTI_ENGINE_MESSAGES", "(none, error, warning, info)", NULL);
    loaded_finish(&l);
}

TEST(unknown_names)
{
    static const struct {
        const char *variable, *nearest;
    } cases[] = {
        {"VK_BELFRY_MULTI_ENGINE_QUEUE=native", "'VK_BELFRY_MULTI_ENGINE_QUEUES'"},
        {"VK_BELFRY_MULTI_ENGINE_queues=native", "'VK_BELFRY_MULTI_ENGINE_QUEUES'"},
        {"VK_BELFRY_MULTI_ENGINE_=native", "'VK_BELFRY_MULTI_ENGINE_'\n"},
        {"VK_BELFRY_WEATHER=native", "'VK_BELFRY_WEATHER'\n"},
        {"VK_BELFRY_SUMMARY=true", "'VK_BELFRY_MULTI_ENGINE_SUMMARY'"},
        {"VK_MULTI_ENGINE_SERIALISE_SUBMITS=1", "'VK_BELFRY_MULTI_ENGINE_SERIALIZE_SUBMITS'"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct loaded l = load(ENVIRONMENT("HOME=", (char *)cases[i].variable, "NOEQUALS"));
        assert_one_line(&l, "there is no setting", cases[i].nearest, NULL);
        loaded_finish(&l);
    }
    struct loaded l = load(ENVIRONMENT("VK_BELFRY", "VK_BELFRY_MULTI_ENGINE_NONE=", "BELFRY=2"));
    assert_string_equal(l.messages, "");
    loaded_finish(&l);

    /* Nobody listening is fine. */
    struct bf_settings settings;
    char *const *environment = ENVIRONMENT("VK_BELFRY_X=1", "VK_BELFRY_MULTI_ENGINE_MESSAGES=x");
    assert_int_equal(bf_settings_load(NULL, environment, false, false, true, &settings),
                     VK_SUCCESS);
    bf_settings_finish(&settings);
    bf_settings_finish(&settings);
    bf_settings_finish(NULL);
}

TEST(check_names_the_place)
{
    struct loaded l = {.messages = NULL};
    FILE *stream = messages_begin(&l);
    assert_false(bf_setting_check("trase", "/tmp/x", "--set", false));
    messages_end(stream);
    assert_one_line(&l, "--set", "'trase'", "'trace'");
    free(l.messages);
    assert_true(bf_setting_check("trace", "/tmp/x", "--set", true));
    assert_true(bf_setting_check("messages", "none", "--set", true));
    assert_false(bf_setting_check("messages", "nothing", "--set", true));
}

TEST(raised_privileges)
{
    char *const *environment =
        ENVIRONMENT("VK_BELFRY_MULTI_ENGINE_TRACE=/etc/passwd", "VK_MULTI_ENGINE_SUMMARY=true");
    struct loaded l = load_as(NULL, environment, true, false);
    assert_one_line(&l, "VK_BELFRY_MULTI_ENGINE_TRACE", "'trace' is ignored", "privileges");
    assert_null(l.settings.trace);
    assert_int_equal(bf_settings_source(&l.settings, BF_KEY_TRACE), BF_SETTING_DEFAULT);
    assert_true(l.settings.summary);
    loaded_finish(&l);

    assert_false(bf_settings_is_privileged());
}

TEST(implicit_or_asked_for)
{
    const char *ours[] = {"VK_LAYER_A", BF_LAYER_NAME}, *others[] = {"VK_LAYER_A"};
    VkInstanceCreateInfo with = {.enabledLayerCount = 2, .ppEnabledLayerNames = ours};
    VkInstanceCreateInfo without = {.enabledLayerCount = 1, .ppEnabledLayerNames = others};
    static const struct {
        char *variable;
        bool implicit_layer;
    } cases[] = {
        {"VK_INSTANCE_LAYERS=VK_LAYER_A", true},
        {"VK_INSTANCE_LAYERS=VK_LAYER_A:" BF_LAYER_NAME ":VK_LAYER_B", false},
        {"VK_INSTANCE_LAYERS=" BF_LAYER_NAME "2", true},
        {"VK_INSTANCE_LAYERS=*", true},
        {"VK_LOADER_LAYERS_ENABLE=VK_LAYER_A,VK_LAYER_C*", true},
        {"VK_LOADER_LAYERS_ENABLE=VK_LAYER_A," BF_LAYER_NAME, false},
        {"VK_LOADER_LAYERS_ENABLE=VK_LAYER_A,*belfry*", false},
        {"VK_LOADER_LAYERS_ENABLE=vk_layer_belf*,", false},
        {"VK_LOADER_LAYERS_ENABLE=*multi_engine", false},
        {"VK_LOADER_LAYERS_ENABLE=", true},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char *const *environment = ENVIRONMENT("BELFRY=1", cases[i].variable);
        assert_int_equal(bf_settings_is_implicit(NULL, environment), cases[i].implicit_layer);
        assert_int_equal(bf_settings_is_implicit(&without, environment), cases[i].implicit_layer);
        assert_false(bf_settings_is_implicit(&with, environment));
        assert_false(bf_settings_is_implicit(NULL, ENVIRONMENT(cases[i].variable)));
    }
    /* The manifest's value is 1, and the loader compares it. */
    assert_false(bf_settings_is_implicit(NULL, ENVIRONMENT("BELFRY=yes")));
    assert_false(bf_settings_is_implicit(NULL, NULL));
}
