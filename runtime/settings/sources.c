/* SPDX-License-Identifier: MIT */
/* The sources of settings: VK_EXT_layer_settings, BfAttachInfo::pSettings, the settings file, the
 * environment. */
#include "settings/sources.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "belfry/belfry.h"

#define FILE_NAME    "vk_layer_settings.txt"
#define FILE_MAXIMUM (1024 * 1024) /* bytes; a larger one isn't a settings file */

const char *bf_environment_get(char *const *environment, const char *name)
{
    size_t length = strlen(name);
    for (; environment && *environment; environment++) {
        if (strncmp(*environment, name, length) == 0 && (*environment)[length] == '=') {
            const char *value = *environment + length + 1;
            return *value ? value : NULL;
        }
    }
    return NULL;
}

/* Like asprintf, but through malloc, so that tests can make it fail. */
__attribute__((format(printf, 1, 2))) static char *text_format(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(NULL, 0, format, arguments);
    va_end(arguments);
    if (length < 0) {
        return NULL;
    }
    char *text = malloc((size_t)length + 1);
    if (text) {
        va_start(arguments, format);
        vsnprintf(text, (size_t)length + 1, format, arguments);
        va_end(arguments);
    }
    return text;
}

/*
 * VK_EXT_layer_settings
 */

/* Converts a value of any type to text, so that one parser checks all of them. */
static bool api_value_text(const struct bf_api_setting *setting, char buffer[32], const char **text)
{
    *text = buffer;
    switch (setting->type) {
    case BF_API_BOOL32:
        snprintf(buffer, 32, "%s", *(const VkBool32 *)setting->values ? "true" : "false");
        return true;
    case BF_API_INT32:
        snprintf(buffer, 32, "%" PRId32, *(const int32_t *)setting->values);
        return true;
    case BF_API_INT64:
        snprintf(buffer, 32, "%" PRId64, *(const int64_t *)setting->values);
        return true;
    case BF_API_UINT32:
        snprintf(buffer, 32, "%" PRIu32, *(const uint32_t *)setting->values);
        return true;
    case BF_API_UINT64:
        snprintf(buffer, 32, "%" PRIu64, *(const uint64_t *)setting->values);
        return true;
    case BF_API_FLOAT32:
        snprintf(buffer, 32, "%g", (double)*(const float *)setting->values);
        return true;
    case BF_API_FLOAT64:
        snprintf(buffer, 32, "%g", *(const double *)setting->values);
        return true;
    case BF_API_STRING:
        *text = *(const char *const *)setting->values;
        return *text != NULL;
    }
    return false;
}

static VkResult api_assign(const struct bf_settings_load *load, uint32_t row,
                           const struct bf_api_setting *setting)
{
    static const char origin[] = "VkLayerSettingsCreateInfoEXT";
    char buffer[32];
    const char *text = NULL;
    if (setting->value_count == 0 || !setting->values || !api_value_text(setting, buffer, &text)) {
        bf_settings_message(load->quiet,
                            "%s: setting '%s' comes without a value that can be "
                            "read (type %d, %" PRIu32 " values)",
                            origin, setting->key, (int)setting->type, setting->value_count);
        return VK_SUCCESS;
    }
    if (setting->value_count > 1) {
        bf_settings_message(load->quiet,
                            "%s: setting '%s' takes one value, not %" PRIu32 ": the first counts",
                            origin, setting->key, setting->value_count);
    }
    if (!*text) {
        return VK_SUCCESS;
    }
    struct bf_setting_input input = {.source = BF_SETTING_API, .text = text, .origin = origin};
    return bf_table_assign(load, row, &input);
}

VkResult bf_source_api(const struct bf_settings_load *load, const VkInstanceCreateInfo *create_info)
{
    /* "the value of the first reference of the layer setting is used", says the extension. */
    bool seen[BF_KEY_COUNT] = {false};
    const VkBaseInStructure *next = create_info ? create_info->pNext : NULL;
    for (; next; next = next->pNext) {
        if (next->sType != BF_STRUCTURE_TYPE_LAYER_SETTINGS) {
            continue;
        }
        const struct bf_api_settings_info *info = (const void *)next;
        for (uint32_t i = 0; info->settings && i < info->setting_count; i++) {
            const struct bf_api_setting *setting = &info->settings[i];
            if (!setting->layer || !setting->key || strcmp(setting->layer, BF_LAYER_NAME) != 0) {
                continue;
            }
            uint32_t row = bf_table_find(setting->key, strlen(setting->key));
            if (row == BF_KEY_COUNT) {
                bf_table_unknown(load->quiet, setting->key, strlen(setting->key),
                                 "VkLayerSettingsCreateInfoEXT", BF_SPELLING_KEY);
                continue;
            }
            if (seen[row]) {
                continue;
            }
            seen[row] = true;
            VkResult result = api_assign(load, row, setting);
            if (result != VK_SUCCESS) {
                return result;
            }
        }
    }
    return VK_SUCCESS;
}

/*
 * BfAttachInfo::pSettings
 */

VkResult bf_source_attached(const struct bf_settings_load *load, uint32_t count,
                            const BfSetting *settings)
{
    static const char origin[] = "BfAttachInfo::pSettings";
    bool seen[BF_KEY_COUNT] = {false};
    for (uint32_t i = 0; i < count; i++) {
        const char *key = settings[i].pKey, *text = settings[i].pValue;
        uint32_t row = bf_table_find(key, strlen(key));
        if (row == BF_KEY_COUNT) {
            bf_table_unknown(load->quiet, key, strlen(key), origin, BF_SPELLING_KEY);
            continue;
        }
        if (seen[row])
            continue;
        seen[row] = true;
        if (!*text)
            continue;
        struct bf_setting_input input = {.source = BF_SETTING_API, .text = text, .origin = origin};
        VkResult result = bf_table_assign(load, row, &input);
        if (result != VK_SUCCESS)
            return result;
    }
    return VK_SUCCESS;
}

/*
 * vk_layer_settings.txt
 */

static bool path_is_regular(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 && S_ISREG(status.st_mode);
}

/* The file to read, in the order of Khronos' layer settings library; VK_SUCCESS with NULL if there
 * is none to try. */
static VkResult file_find(const struct bf_settings_load *load, char **path)
{
    *path = NULL;
    const char *data = bf_environment_get(load->environment, "XDG_DATA_HOME");
    const char *home = bf_environment_get(load->environment, "HOME");
    if (data || home) {
        *path = text_format("%s%s/vulkan/settings.d/" FILE_NAME, data ? data : home,
                            data ? "" : "/.local/share");
        if (!*path) {
            return VK_ERROR_OUT_OF_HOST_MEMORY;
        }
        if (path_is_regular(*path)) {
            return VK_SUCCESS;
        }
        free(*path);
        *path = NULL;
    }

    const char *named = bf_environment_get(load->environment, "VK_LAYER_SETTINGS_PATH");
    if (named) {
        struct stat status;
        if (stat(named, &status) == 0) {
            *path = text_format("%s%s", named, S_ISDIR(status.st_mode) ? "/" FILE_NAME : "");
            return *path ? VK_SUCCESS : VK_ERROR_OUT_OF_HOST_MEMORY;
        }
        bf_settings_message(load->quiet, "VK_LAYER_SETTINGS_PATH: '%.300s': %s", named,
                            strerror(errno));
    }

    if (path_is_regular(FILE_NAME)) {
        *path = text_format("%s", FILE_NAME);
        return *path ? VK_SUCCESS : VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    return VK_SUCCESS;
}

/* Reads the whole file. What can't be read costs a line and leaves '*text' NULL. */
static VkResult settings_file_read(const struct bf_settings_load *load, const char *path,
                                   char **text, size_t *length)
{
    VkResult result = VK_SUCCESS;
    *text = NULL;
    *length = 0;

    /* O_NONBLOCK: a named pipe would otherwise block every Vulkan program. */
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (file < 0) {
        goto fail_errno;
    }
    struct stat status;
    if (fstat(file, &status) != 0) {
        goto fail_errno;
    }
    if (!S_ISREG(status.st_mode)) {
        bf_settings_message(load->quiet, "settings file '%.300s' is no regular file: ignored",
                            path);
        goto close;
    }
    if (status.st_size > FILE_MAXIMUM) {
        bf_settings_message(load->quiet, "settings file '%.300s' is over 1 MiB: ignored", path);
        goto close;
    }

    size_t size = (size_t)status.st_size;
    char *buffer = malloc(size + 1);
    if (!buffer) {
        result = VK_ERROR_OUT_OF_HOST_MEMORY;
        goto close;
    }
    size_t filled = 0;
    while (filled < size) {
        ssize_t count = read(file, buffer + filled, size - filled);
        if (count < 0 && errno == EINTR) {
            continue;
        }
        if (count < 0) {
            free(buffer);
            goto fail_errno;
        }
        if (count == 0) {
            break; /* the file has become shorter meanwhile */
        }
        filled += (size_t)count;
    }
    *text = buffer;
    *length = filled;

close:
    close(file);
    return result;

fail_errno:
    bf_settings_message(load->quiet, "settings file '%.300s': %s", path, strerror(errno));
    if (file >= 0) {
        close(file);
    }
    return VK_SUCCESS;
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n' || c == '\f' || c == '\v' || c == '\0';
}

/* Removes blanks from both ends of 'length' bytes at '*text'. */
static size_t text_trim(char **text, size_t length)
{
    while (length > 0 && is_blank((*text)[0])) {
        (*text)++;
        length--;
    }
    while (length > 0 && is_blank((*text)[length - 1])) {
        length--;
    }
    return length;
}

/* Reads one line, without its end. The byte behind it may be overwritten. */
static VkResult file_line(const struct bf_settings_load *load, const char *path, uint32_t number,
                          char *line, size_t length)
{
    char *comment = memchr(line, '#', length);
    if (comment) {
        length = (size_t)(comment - line);
    }
    char *equals = memchr(line, '=', length);
    if (!equals) {
        return VK_SUCCESS;
    }
    char *key = line;
    size_t key_length = text_trim(&key, (size_t)(equals - line));
    char *value = equals + 1;
    size_t value_length = text_trim(&value, length - (size_t)(value - line));

    /* All other keys belong to other layers, which share the file. */
    const char vendor[] = "belfry";
    if (key_length < strlen(vendor) || strncasecmp(key, vendor, strlen(vendor)) != 0) {
        return VK_SUCCESS;
    }

    char *origin = text_format("%s:%" PRIu32, path, number);
    if (!origin) {
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    size_t prefix = strlen(BF_FILE_PREFIX);
    uint32_t row = BF_KEY_COUNT;
    if (key_length > prefix && memcmp(key, BF_FILE_PREFIX, prefix) == 0) {
        row = bf_table_find(key + prefix, key_length - prefix);
    }
    VkResult result = VK_SUCCESS;
    if (row == BF_KEY_COUNT) {
        bf_table_unknown(load->quiet, key, key_length, origin, BF_SPELLING_FILE);
    } else if (value_length > 0) {
        value[value_length] = '\0';
        struct bf_setting_input input = {
            .source = BF_SETTING_FILE, .text = value, .origin = origin};
        result = bf_table_assign(load, row, &input);
    }
    free(origin);
    return result;
}

VkResult bf_source_file(const struct bf_settings_load *load)
{
    char *path;
    char *text = NULL;
    size_t length;
    VkResult result = file_find(load, &path);
    if (result != VK_SUCCESS || !path) {
        return result;
    }
    result = settings_file_read(load, path, &text, &length);
    if (result != VK_SUCCESS || !text) {
        goto free_path;
    }

    size_t start = 0;
    if (length >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0) {
        start = 3; /* byte order mark */
    }
    for (uint32_t number = 1; start < length && result == VK_SUCCESS; number++) {
        char *end = memchr(text + start, '\n', length - start);
        size_t line_length = end ? (size_t)(end - text) - start : length - start;
        result = file_line(load, path, number, text + start, line_length);
        start += line_length + 1;
    }
    free(text);

free_path:
    free(path);
    return result;
}

/*
 * Environment
 */

/* Reports variables whose names begin like Belfry's and are no settings. */
static void environment_unknown(const struct bf_settings_load *load)
{
    for (char *const *entry = load->environment; entry && *entry; entry++) {
        const char *equals = strchr(*entry, '=');
        size_t length = equals ? (size_t)(equals - *entry) : 0;
        bool vendor = strncmp(*entry, BF_ENV_VENDOR, strlen(BF_ENV_VENDOR)) == 0;
        bool shorter = strncmp(*entry, BF_ENV_SHORT, strlen(BF_ENV_SHORT)) == 0;
        if (!length || !equals[1] || (!vendor && !shorter)) {
            continue;
        }
        bool known = false;
        for (uint32_t row = 0; row < BF_KEY_COUNT && !known; row++) {
            char name[BF_ENV_NAME_LENGTH];
            bf_table_variable(vendor ? BF_ENV_PREFIX : BF_ENV_SHORT, row, name);
            known = strlen(name) == length && memcmp(*entry, name, length) == 0;
        }
        if (!known) {
            bf_table_unknown(load->quiet, *entry, length, "environment", BF_SPELLING_ENVIRONMENT);
        }
    }
}

/* '*taken': there is such a variable, and its value is right. */
static VkResult environment_assign(const struct bf_settings_load *load, const char *prefix,
                                   uint32_t row, bool *taken)
{
    char name[BF_ENV_NAME_LENGTH];
    const char *value = bf_environment_get(load->environment, bf_table_variable(prefix, row, name));
    if (!value) {
        return VK_SUCCESS;
    }
    struct bf_setting_input input = {
        .source = BF_SETTING_ENVIRONMENT, .text = value, .origin = name};
    VkResult result = bf_table_assign(load, row, &input);
    *taken = load->settings->sources[row] == BF_SETTING_ENVIRONMENT;
    return result;
}

VkResult bf_source_environment(const struct bf_settings_load *load)
{
    environment_unknown(load);
    for (uint32_t row = 0; row < BF_KEY_COUNT; row++) {
        bool taken = false;
        VkResult result = environment_assign(load, BF_ENV_PREFIX, row, &taken);
        if (result == VK_SUCCESS && !taken) {
            result = environment_assign(load, BF_ENV_SHORT, row, &taken);
        }
        if (result != VK_SUCCESS) {
            return result;
        }
    }
    return VK_SUCCESS;
}

VkResult bf_source_user_cache(const struct bf_settings_load *load)
{
    const char *cache = bf_environment_get(load->environment, "XDG_CACHE_HOME");
    const char *home = bf_environment_get(load->environment, "HOME");
    const char *base = cache && *cache == '/' ? cache : home && *home == '/' ? home : NULL;
    if (!base) {
        return VK_SUCCESS;
    }
    const char *below = base == home ? "/.cache/belfry" : "/belfry";
    size_t size = strlen(base) + strlen(below) + 1;
    load->settings->user_cache = malloc(size);
    if (!load->settings->user_cache) {
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    snprintf(load->settings->user_cache, size, "%s%s", base, below);
    return VK_SUCCESS;
}
