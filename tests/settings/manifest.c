/* SPDX-License-Identifier: MIT */
/* The manifests declare the settings for vkconfig: same keys in the same order, same words, types,
 * defaults and values as the table. With just enough of a JSON reader to say so. */
#include "settings_helper.h"

#include <ctype.h>

enum json_kind { JSON_NULL, JSON_BOOL, JSON_NUMBER, JSON_STRING, JSON_ARRAY, JSON_OBJECT };

struct json {
    enum json_kind kind;
    char *name;         /* within an object */
    char *text;         /* string, or a number or truth value as it was written */
    struct json *first; /* array, object */
    struct json *next;  /* neighbour */
};

static void json_free(struct json *json)
{
    while (json) {
        struct json *next = json->next;
        json_free(json->first);
        free(json->name);
        free(json->text);
        free(json);
        json = next;
    }
}

static void json_skip(const char **at)
{
    while (isspace((unsigned char)**at))
        (*at)++;
}

static void json_expect(const char **at, char c)
{
    json_skip(at);
    if (**at != c)
        fail_msg("no '%c' at '%.40s'", c, *at);
    (*at)++;
}

static char *json_string(const char **at)
{
    json_expect(at, '"');
    const char *end = *at;
    while (*end && *end != '"') {
        assert_true(*end != '\\'); /* our manifests do without */
        end++;
    }
    char *text = strndup(*at, (size_t)(end - *at));
    *at = end;
    json_expect(at, '"');
    return text;
}

static struct json *json_read(const char **at)
{
    struct json *json = calloc(1, sizeof(*json));
    json_skip(at);
    if (**at == '{' || **at == '[') {
        bool object = **at == '{';
        json->kind = object ? JSON_OBJECT : JSON_ARRAY;
        struct json **last = &json->first;
        (*at)++;
        for (json_skip(at); **at != '}' && **at != ']'; json_skip(at)) {
            if (last != &json->first)
                json_expect(at, ',');
            char *name = NULL;
            if (object) {
                name = json_string(at);
                json_expect(at, ':');
            }
            *last = json_read(at);
            (*last)->name = name;
            last = &(*last)->next;
        }
        json_expect(at, object ? '}' : ']');
    } else if (**at == '"') {
        json->kind = JSON_STRING;
        json->text = json_string(at);
    } else {
        size_t length = strspn(*at, "-+.0123456789abcdefghijklmnopqrstuvwxyz");
        assert_true(length > 0);
        json->text = strndup(*at, length);
        json->kind = isalpha((unsigned char)**at) ? JSON_BOOL : JSON_NUMBER;
        *at += length;
    }
    return json;
}

static struct json *json_load(const char *path)
{
    FILE *file = fopen(path, "r");
    if (!file)
        fail_msg("no manifest %s", path);
    char text[32768];
    size_t length = fread(text, 1, sizeof(text) - 1, file);
    assert_true(length < sizeof(text) - 1);
    text[length] = '\0';
    fclose(file);
    const char *at = text;
    struct json *json = json_read(&at);
    json_skip(&at);
    assert_int_equal(*at, '\0');
    return json;
}

static const struct json *json_member(const struct json *object, const char *name)
{
    assert_int_equal(object->kind, JSON_OBJECT);
    for (const struct json *member = object->first; member; member = member->next)
        if (strcmp(member->name, name) == 0)
            return member;
    return NULL;
}

static const char *json_text(const struct json *object, const char *name)
{
    const struct json *member = json_member(object, name);
    if (!member)
        fail_msg("no member '%s'", name);
    return member->text;
}

static void variable_of(const char *key, char variable[64])
{
    snprintf(variable, 64, "VK_BELFRY_MULTI_ENGINE_%s", key);
    for (char *c = variable; *c; c++)
        *c = (char)toupper((unsigned char)*c);
}

static void setting_agrees(const struct json *setting, const struct bf_setting_row *row)
{
    char variable[64];
    variable_of(row->key, variable);
    assert_string_equal(json_text(setting, "key"), row->key);
    assert_string_equal(json_text(setting, "env"), variable);
    assert_string_equal(json_text(setting, "label"), row->label);
    assert_string_equal(json_text(setting, "description"), row->description);
    assert_string_equal(json_text(setting, "type"), row->value_type);
    assert_string_equal(json_text(setting, "default"), row->default_value);

    enum json_kind kind = json_member(setting, "default")->kind;
    switch (row->kind) {
    case BF_VALUE_ENUM: {
        assert_string_equal(row->value_type, "ENUM");
        assert_int_equal(kind, JSON_STRING);
        const struct json *flag = json_member(setting, "flags")->first;
        for (uint32_t i = 0; i < 5 && row->names[i]; i++, flag = flag->next) {
            assert_non_null(flag);
            assert_string_equal(json_text(flag, "key"), row->names[i]);
            assert_true(strlen(json_text(flag, "label")) > 0);
            assert_true(strlen(json_text(flag, "description")) > 0);
            assert_non_null(strstr(row->values, row->names[i]));
        }
        assert_null(flag);
        break;
    }
    case BF_VALUE_INT: {
        assert_string_equal(row->value_type, "INT");
        assert_int_equal(kind, JSON_NUMBER);
        const struct json *range = json_member(setting, "range");
        assert_int_equal(strtoul(json_text(range, "min"), NULL, 10), row->minimum);
        assert_int_equal(strtoul(json_text(range, "max"), NULL, 10), row->maximum);
        break;
    }
    case BF_VALUE_BOOL:
        assert_string_equal(row->value_type, "BOOL");
        assert_int_equal(kind, JSON_BOOL);
        break;
    case BF_VALUE_PATH:
        assert_true(strcmp(row->value_type, "SAVE_FILE") == 0 ||
                    strcmp(row->value_type, "SAVE_FOLDER") == 0);
        assert_int_equal(kind, JSON_STRING);
        break;
    }
}

static void manifest_agrees(const char *name, bool implicit_layer)
{
    const char *build = getenv("BELFRY_TEST_BUILD");
    assert_non_null(build);
    char path[4096];
    snprintf(path, sizeof(path), "%s/%s", build, name);
    struct json *json = json_load(path);
    assert_string_equal(json_text(json, "file_format_version"), "1.2.1");
    const struct json *layer = json_member(json, "layer");
    assert_non_null(layer);
    assert_string_equal(json_text(layer, "name"), BF_LAYER_NAME);

    const struct json *enable = json_member(layer, "enable_environment");
    const struct json *disable = json_member(layer, "disable_environment");
    assert_int_equal(enable != NULL, implicit_layer);
    assert_int_equal(disable != NULL, implicit_layer);
    if (implicit_layer) {
        assert_string_equal(json_text(enable, "BELFRY"), "1");
        assert_string_equal(json_text(disable, "DISABLE_BELFRY"), "1");
    }
    const struct json *extensions = json_member(layer, "instance_extensions");
    assert_int_equal(extensions != NULL, !implicit_layer);
    if (extensions) {
        assert_string_equal(json_text(extensions->first, "name"), "VK_EXT_layer_settings");
        assert_string_equal(json_text(extensions->first, "spec_version"), "2");
    }

    const struct bf_setting_row *rows;
    uint32_t count = bf_settings_rows(&rows);
    const struct json *setting = json_member(json_member(layer, "features"), "settings")->first;
    for (uint32_t i = 0; i < count; i++, setting = setting->next) {
        assert_non_null(setting);
        setting_agrees(setting, &rows[i]);
    }
    assert_null(setting);
    json_free(json);
}

TEST(explicit_manifests)
{
    manifest_agrees("lib/VkLayer_belfry_multi_engine.json", false);
    manifest_agrees("install/explicit/VkLayer_belfry_multi_engine.json", false);
}

TEST(implicit_manifests)
{
    manifest_agrees("lib/implicit_layer.d/VkLayer_belfry_multi_engine.json", true);
    manifest_agrees("install/implicit/VkLayer_belfry_multi_engine.json", true);
}
