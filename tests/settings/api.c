/* SPDX-License-Identifier: MIT */
/* VK_EXT_layer_settings. The structs are written down a second time, as the extension has them, so
 * that a slip in the layer's own copy shows. */
#include "settings_helper.h"

typedef struct LayerSetting {
    const char *pLayerName;
    const char *pSettingName;
    int32_t type;
    uint32_t valueCount;
    const void *pValues;
} LayerSetting;

typedef struct LayerSettingsCreateInfo {
    VkStructureType sType;
    const void *pNext;
    uint32_t settingCount;
    const LayerSetting *pSettings;
} LayerSettingsCreateInfo;

enum { BOOL32, INT32, INT64, UINT32, UINT64, FLOAT32, FLOAT64, STRING };

#define INFO(array)                                                                                \
    {                                                                                              \
        .sType = (VkStructureType)1000496000, .settingCount = sizeof(array) / sizeof((array)[0]),  \
        .pSettings = (array)                                                                       \
    }

static struct loaded load_api(const void *next)
{
    VkInstanceCreateInfo info = {VK_TYPE(INSTANCE_CREATE_INFO), .pNext = next};
    return load_as(&info, NULL, false, false);
}

TEST(all_types)
{
    static const VkBool32 b = VK_TRUE;
    static const int32_t i32 = 11;
    static const int64_t i64 = 12;
    static const uint32_t u32 = 13;
    static const uint64_t u64 = 14;
    static const float f32 = 15;
    static const double f64 = 17;
    static const char *text = "18";
    static const struct {
        int type;
        const void *value;
        uint32_t expected;
    } cases[] = {{INT32, &i32, 11},   {INT64, &i64, 12},   {UINT32, &u32, 13}, {UINT64, &u64, 14},
                 {FLOAT32, &f32, 15}, {FLOAT64, &f64, 17}, {STRING, &text, 18}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        LayerSetting settings[] = {
            {BF_LAYER_NAME, "queues_per_family", cases[i].type, 1, cases[i].value},
            {BF_LAYER_NAME, "summary", BOOL32, 1, &b},
        };
        LayerSettingsCreateInfo info = INFO(settings);
        struct loaded l = load_api(&info);
        assert_string_equal(l.messages, "");
        assert_int_equal(l.settings.queues_per_family, cases[i].expected);
        assert_true(l.settings.summary);
        assert_int_equal(bf_settings_source(&l.settings, BF_KEY_SUMMARY), BF_SETTING_API);
        loaded_finish(&l);
    }
}

TEST(strings)
{
    const char *queues = "native", *trace = "/tmp/t", *summary = "true", *empty = "";
    LayerSetting settings[] = {
        {BF_LAYER_NAME, "queues", STRING, 1, &queues},
        {BF_LAYER_NAME, "trace", STRING, 1, &trace},
        {BF_LAYER_NAME, "summary", STRING, 1, &summary},
        {BF_LAYER_NAME, "messages", STRING, 1, &empty},
    };
    LayerSettingsCreateInfo info = INFO(settings);
    VkInstanceCreateInfo create = {.pNext = &info};
    /* A program's own path counts with raised privileges too: nobody else wrote it. */
    struct loaded l = load_as(&create, NULL, true, false);
    assert_string_equal(l.messages, "");
    assert_int_equal(l.settings.queues, BF_QUEUES_NATIVE);
    assert_string_equal(l.settings.trace, "/tmp/t");
    assert_true(l.settings.summary);
    assert_int_equal(l.settings.messages, BF_MESSAGE_WARNING);
    loaded_finish(&l);
}

TEST(first_reference_counts)
{
    const char *info_level = "info", *none = "none";
    LayerSetting first[] = {{BF_LAYER_NAME, "messages", STRING, 1, &info_level},
                            {BF_LAYER_NAME, "messages", STRING, 1, &none}};
    LayerSetting second[] = {{BF_LAYER_NAME, "messages", STRING, 1, &none}};
    LayerSettingsCreateInfo later = INFO(second);
    VkApplicationInfo between = {VK_TYPE(APPLICATION_INFO), .pNext = &later};
    LayerSettingsCreateInfo info = INFO(first);
    info.pNext = &between;
    struct loaded l = load_api(&info);
    assert_int_equal(l.settings.messages, BF_MESSAGE_INFO);
    loaded_finish(&l);
}

TEST(other_layers)
{
    const char *value = "nonsense";
    LayerSetting settings[] = {
        {"VK_LAYER_KHRONOS_validation", "messages", STRING, 1, &value},
        {"VK_LAYER_KHRONOS_validation", "unknown", STRING, 1, &value},
        {NULL, "messages", STRING, 1, &value},
        {BF_LAYER_NAME, NULL, STRING, 1, &value},
    };
    LayerSettingsCreateInfo info = INFO(settings);
    struct loaded l = load_api(&info);
    assert_string_equal(l.messages, "");
    loaded_finish(&l);

    LayerSettingsCreateInfo empty = {.sType = (VkStructureType)1000496000, .settingCount = 3};
    l = load_api(&empty);
    assert_string_equal(l.messages, "");
    loaded_finish(&l);
}

TEST(mistakes)
{
    static const VkBool32 yes[] = {VK_TRUE, VK_FALSE};
    static const double half = 15.5;
    static const int64_t lots = INT64_MAX, negative = -3;
    static const uint64_t more = UINT64_MAX;
    static const char *null = NULL, *word = "nativ";
    static const struct {
        LayerSetting setting;
        const char *says;
    } cases[] = {
        {{BF_LAYER_NAME, "quues", BOOL32, 1, yes}, "'queues'"},
        {{BF_LAYER_NAME, "queues", BOOL32, 1, yes}, "'true'"},
        {{BF_LAYER_NAME, "queues", STRING, 1, &word}, "'native'"},
        {{BF_LAYER_NAME, "queues", STRING, 1, &null}, "without a value"},
        {{BF_LAYER_NAME, "queues", STRING, 1, NULL}, "without a value"},
        {{BF_LAYER_NAME, "queues", STRING, 0, &word}, "without a value"},
        {{BF_LAYER_NAME, "queues", 8, 1, &word}, "type 8"},
        {{BF_LAYER_NAME, "queues", -1, 1, &word}, "type -1"},
        {{BF_LAYER_NAME, "queues_per_family", FLOAT64, 1, &half}, "'15'"},
        {{BF_LAYER_NAME, "queues_per_family", INT64, 1, &lots}, "(0 to 64)"},
        {{BF_LAYER_NAME, "queues_per_family", UINT64, 1, &more}, "(0 to 64)"},
        {{BF_LAYER_NAME, "queues_per_family", INT64, 1, &negative}, "(0 to 64)"},
        {{BF_LAYER_NAME, "developer_mode", BOOL32, 1, yes}, "for the user to set"},
        {{BF_LAYER_NAME, "messages", BOOL32, 2, yes}, "2"},
    };
    for (size_t i = 0; i + 1 < sizeof(cases) / sizeof(cases[0]); i++) {
        LayerSettingsCreateInfo info = {.sType = (VkStructureType)1000496000,
                                        .settingCount = 1,
                                        .pSettings = &cases[i].setting};
        struct loaded l = load_api(&info);
        assert_one_line(&l, "VkLayerSettingsCreateInfoEXT", cases[i].says, NULL);
        assert_int_equal(l.settings.queues, BF_QUEUES_APPEND);
        assert_int_equal(l.settings.queues_per_family, 0);
        assert_false(l.settings.developer_mode);
        loaded_finish(&l);
    }

    LayerSetting two[] = {{BF_LAYER_NAME, "summary", BOOL32, 2, yes}};
    LayerSettingsCreateInfo info = INFO(two);
    struct loaded l = load_api(&info);
    assert_one_line(&l, "'summary'", "not 2", "first counts");
    assert_true(l.settings.summary);
    loaded_finish(&l);
}
