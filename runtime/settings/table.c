/* SPDX-License-Identifier: MIT */
/* The settings' rows: defaults, and how values are read and printed. */
#include "settings/table.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/nearest.h"

/* The member's place in the struct; no compiler takes one of another size. */
#define OFFSET(member, type)                                                                       \
    (offsetof(struct bf_settings, member) +                                                        \
     0 * sizeof(char[sizeof(((struct bf_settings *)0)->member) == sizeof(type) ? 1 : -1]))

static const struct bf_setting_row table[BF_KEY_COUNT] = {
#include "settings/generated/rows.inc"
};

/* All spellings of booleans; those at even indices are true. */
static const char *const bool_names[] = {"true", "false", "1", "0", "on", "off", "yes", "no"};
#define BOOL_NAME_COUNT (sizeof(bool_names) / sizeof(bool_names[0]))

void bf_settings_message(bool quiet, const char *format, ...)
{
    if (quiet) {
        return;
    }

    char line[512];
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(line, sizeof(line), format, arguments);
    va_end(arguments);
    if (length < 0) {
        return;
    }
    for (char *c = line; *c; c++) {
        if (iscntrl((unsigned char)*c)) {
            *c = '?';
        }
    }
    bf_message(BF_MESSAGE_WARNING, "%s%s", line, (size_t)length < sizeof(line) ? "" : "...");
}

static size_t name_find(const char *text, const char *const *names, size_t count)
{
    for (size_t i = 0; i < count && names[i]; i++) {
        if (strcasecmp(text, names[i]) == 0) {
            return i;
        }
    }
    return SIZE_MAX;
}

static void nearest_name(char nearest[16], const char *text, const char *const *names, size_t count)
{
    const char *name = bf_nearest(text, strlen(text), names, count);
    snprintf(nearest, 16, "%s", name ? name : "");
}

/* Reads an enum, a number or a truth value. If it is none that the row allows, returns false, with
 * one that is near in 'nearest', or "". */
static bool value_parse(const struct bf_setting_row *row, const char *text, uint32_t *value,
                        char nearest[16])
{
    size_t name_count = sizeof(row->names) / sizeof(row->names[0]);
    switch (row->kind) {
    case BF_VALUE_ENUM: {
        size_t found = name_find(text, row->names, name_count);
        if (found == SIZE_MAX) {
            nearest_name(nearest, text, row->names, name_count);
            return false;
        }
        *value = (uint32_t)found;
        return true;
    }
    case BF_VALUE_BOOL: {
        size_t found = name_find(text, bool_names, BOOL_NAME_COUNT);
        if (found == SIZE_MAX) {
            nearest_name(nearest, text, bool_names, BOOL_NAME_COUNT);
            return false;
        }
        *value = found % 2 == 0;
        return true;
    }
    case BF_VALUE_INT: {
        bool hexadecimal = text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
        char *end;
        errno = 0;
        long long number = strtoll(text, &end, hexadecimal ? 16 : 10);
        if (end == text) {
            *nearest = '\0';
            return false;
        }
        bool whole = *end == '\0';
        bool inside = number >= row->minimum && number <= row->maximum;
        if (!whole || !inside || errno) {
            *nearest = '\0';
            if (inside && !errno)
                snprintf(nearest, 16, "%lld", number);
            return false;
        }
        *value = (uint32_t)number;
        return true;
    }
    case BF_VALUE_PATH:
        break;
    }
    return true;
}

static bool value_check(const struct bf_setting_row *row, const char *text, const char *origin,
                        bool quiet, uint32_t *value)
{
    char nearest[16];
    if (value_parse(row, text, value, nearest)) {
        return true;
    }
    bf_settings_message(quiet, "%s: '%.80s' is not a value of '%s' (%s)%s%s%s", origin, text,
                        row->key, row->values, *nearest ? "; did you mean '" : "", nearest,
                        *nearest ? "'?" : "");
    return false;
}

uint32_t bf_table_find(const char *key, size_t length)
{
    for (uint32_t i = 0; i < BF_KEY_COUNT; i++) {
        if (strlen(table[i].key) == length && memcmp(table[i].key, key, length) == 0) {
            return i;
        }
    }
    return BF_KEY_COUNT;
}

const char *bf_table_variable(const char *prefix, uint32_t row, char buffer[BF_ENV_NAME_LENGTH])
{
    size_t prefix_length =
        (size_t)snprintf(buffer, BF_ENV_NAME_LENGTH, "%s%s", prefix, table[row].key) -
        strlen(table[row].key);
    for (char *c = buffer + prefix_length; *c; c++) {
        *c = (char)toupper((unsigned char)*c);
    }
    return buffer;
}

void bf_table_unknown(bool quiet, const char *name, size_t length, const char *origin,
                      enum bf_key_spelling spelling)
{
    if (length > 80) {
        length = 80;
    }

    /* The prefix may be another's, or wrong itself: only the key is compared. */
    const char *key = name;
    static const char *const prefixes[] = {
        BF_FILE_PREFIX, "belfry.", BF_ENV_PREFIX, BF_ENV_SHORT, BF_ENV_VENDOR,
    };
    for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]) && key == name; i++) {
        size_t prefix = strlen(prefixes[i]);
        key += length >= prefix && strncasecmp(name, prefixes[i], prefix) == 0 ? prefix : 0;
    }
    const char *keys[BF_KEY_COUNT];
    for (uint32_t i = 0; i < BF_KEY_COUNT; i++)
        keys[i] = table[i].key;
    const char *nearest = bf_nearest(key, length - (size_t)(key - name), keys, BF_KEY_COUNT);
    char spelled[BF_ENV_NAME_LENGTH] = "";
    if (nearest && spelling == BF_SPELLING_ENVIRONMENT)
        bf_table_variable(BF_ENV_PREFIX, bf_table_find(nearest, strlen(nearest)), spelled);
    else if (nearest)
        snprintf(spelled, sizeof(spelled), "%s%s",
                 spelling == BF_SPELLING_FILE ? BF_FILE_PREFIX : "", nearest);
    bf_settings_message(quiet, "%s: there is no setting '%.*s'%s%s%s", origin, (int)length, name,
                        nearest ? "; did you mean '" : "", spelled, nearest ? "'?" : "");
}

/* Enums and numbers have four bytes. */
static void value_store(struct bf_settings *settings, uint32_t row, uint32_t value)
{
    char *member = (char *)settings + table[row].offset;
    if (table[row].kind == BF_VALUE_BOOL)
        *(bool *)member = value;
    else if (table[row].kind != BF_VALUE_PATH)
        memcpy(member, &value, sizeof(value));
}

void bf_table_defaults(struct bf_settings *settings, bool implicit_layer)
{
    *settings = (struct bf_settings){0};
    for (uint32_t i = 0; i < BF_KEY_COUNT; i++) {
        uint32_t value = 0;
        char nearest[16];
        value_parse(&table[i], table[i].default_value, &value, nearest);
        value_store(settings, i, value);
    }
    /* An implicit layer is in every program of the user: it must not change which queue families
     * they see. */
    if (implicit_layer) {
        settings->queues = BF_QUEUES_NATIVE;
    }
}

static char *text_copy(const char *text)
{
    size_t size = strlen(text) + 1;
    char *copy = malloc(size);
    if (copy) {
        memcpy(copy, text, size);
    }
    return copy;
}

VkResult bf_table_assign(const struct bf_settings_load *load, uint32_t row,
                         const struct bf_setting_input *input)
{
    const struct bf_setting_row *entry = &table[row];
    struct bf_settings *settings = load->settings;
    bool outside = input->source == BF_SETTING_FILE || input->source == BF_SETTING_ENVIRONMENT;
    if (entry->kind == BF_VALUE_PATH && outside && load->privileged) {
        /* Otherwise any user could make a set-user-id program write files to places where the user
         * may not. */
        bf_settings_message(load->quiet,
                            "%s: '%s' is ignored: the program runs with raised privileges",
                            input->origin, entry->key);
        return VK_SUCCESS;
    }

    uint32_t value = 0;
    if (!value_check(entry, input->text, input->origin, load->quiet, &value)) {
        return VK_SUCCESS;
    }
    if (row == BF_KEY_DEVELOPER_MODE && input->source == BF_SETTING_API) {
        /* Otherwise a program could ship with what only developers may have. */
        bf_settings_message(load->quiet,
                            "%s: '%s' is ignored: it is for the user to set, not for the program",
                            input->origin, entry->key);
        return VK_SUCCESS;
    }

    if (entry->layer_alone && load->attached && input->source == BF_SETTING_API) {
        bf_settings_message(load->quiet, "%s: '%s' is ignored: it is for the layer alone",
                            input->origin, entry->key);
        return VK_SUCCESS;
    }

    char *origin = text_copy(input->origin);
    if (!origin) {
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    if (entry->kind == BF_VALUE_PATH) {
        char *path = text_copy(input->text);
        if (!path) {
            goto fail_path;
        }
        char **slot = (char **)((char *)settings + entry->offset);
        free(*slot);
        *slot = path;
    } else {
        value_store(settings, row, value);
    }
    free(settings->origins[row]);
    settings->origins[row] = origin;
    settings->sources[row] = input->source;
    return VK_SUCCESS;

fail_path:
    free(origin);
    return VK_ERROR_OUT_OF_HOST_MEMORY;
}

bool bf_setting_check(const char *key, const char *value, const char *origin, bool quiet)
{
    uint32_t row = bf_table_find(key, strlen(key));
    if (row == BF_KEY_COUNT) {
        bf_table_unknown(quiet, key, strlen(key), origin, BF_SPELLING_KEY);
        return false;
    }
    uint32_t ignored;
    return value_check(&table[row], value, origin, quiet, &ignored);
}

uint32_t bf_settings_rows(const struct bf_setting_row **rows)
{
    *rows = table;
    return BF_KEY_COUNT;
}

const char *bf_settings_value(const struct bf_settings *settings, uint32_t row, char *buffer,
                              size_t size)
{
    const struct bf_setting_row *entry = &table[row];
    const char *member = (const char *)settings + entry->offset, *text = "";
    uint32_t value = 0;
    switch (entry->kind) {
    case BF_VALUE_ENUM:
        memcpy(&value, member, sizeof(value));
        text = entry->names[value];
        break;
    case BF_VALUE_INT:
        memcpy(&value, member, sizeof(value));
        snprintf(buffer, size, "%u", value);
        return buffer;
    case BF_VALUE_BOOL:
        text = bool_names[!*(const bool *)member];
        break;
    case BF_VALUE_PATH:
        text = *(char *const *)member ? *(char *const *)member : "";
        break;
    }
    snprintf(buffer, size, "%s", text);
    return buffer;
}
