#include "settings/table.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* The manifests in json/ declare the same; tests/unit/settings_manifest.c compares. */
static const struct bf_setting_row table[BF_KEY_COUNT] = {
    [BF_KEY_QUEUES] =
        {
            .key = "queues",
            .label = "Queues",
            .description = "What a program sees: native, the GPU's own queue families alone; "
                           "append, more queues per family, and a compute and a copy family where "
                           "the GPU has none of its own.",
            .kind = BF_VALUE_ENUM,
            .value_type = "ENUM",
            .values = "native, append",
            .default_value = "append",
            .names = {[BF_QUEUES_NATIVE] = "native", [BF_QUEUES_APPEND] = "append"},
        },
    [BF_KEY_QUEUES_PER_FAMILY] =
        {
            .key = "queues_per_family",
            .label = "Queues per family",
            .description = "With queues=append: how many queues a program sees in each family, "
                           "where the GPU has fewer.",
            .kind = BF_VALUE_INT,
            .value_type = "INT",
            .values = "1 to 64",
            .default_value = "16",
            .minimum = 1,
            .maximum = 64,
        },
    [BF_KEY_TRACE] =
        {
            .key = "trace",
            .label = "Trace file",
            .description = "Write a timeline of every queue to this file, for ui.perfetto.dev. An "
                           "existing file is kept: the new one gets a number.",
            .kind = BF_VALUE_PATH,
            .value_type = "SAVE_FILE",
            .values = "a path",
            .default_value = "",
        },
    [BF_KEY_SUMMARY] =
        {
            .key = "summary",
            .label = "Summary",
            .description = "When a device is destroyed, print to stderr what its queues and "
                           "engines did.",
            .kind = BF_VALUE_BOOL,
            .value_type = "BOOL",
            .values = "true, false",
            .default_value = "false",
        },
    [BF_KEY_MESSAGES] =
        {
            .key = "messages",
            .label = "Messages",
            .description = "Which messages of the layer go to stderr.",
            .kind = BF_VALUE_ENUM,
            .value_type = "ENUM",
            .values = "none, error, warning, info",
            .default_value = "warning",
            .names = {[BF_MESSAGE_NONE] = "none",
                      [BF_MESSAGE_ERROR] = "error",
                      [BF_MESSAGE_WARNING] = "warning",
                      [BF_MESSAGE_INFO] = "info"},
        },
    [BF_KEY_SERIALIZE_SUBMITS] =
        {
            .key = "serialize_submits",
            .label = "One submission at a time",
            .description = "To narrow down a fault: at most one thread of a device is inside the "
                           "driver's vkQueueSubmit at any time. Slow.",
            .kind = BF_VALUE_BOOL,
            .value_type = "BOOL",
            .values = "true, false",
            .default_value = "false",
        },
    [BF_KEY_REALTIME] =
        {
            .key = "realtime",
            .label = "Realtime queues",
            .description = "Ask the driver for a compute queue of global priority REALTIME besides "
                           "the program's own, for queues created with that priority. Drivers "
                           "grant it to privileged users; where they don't, the device is made "
                           "without.",
            .kind = BF_VALUE_BOOL,
            .value_type = "BOOL",
            .values = "true, false",
            .default_value = "false",
        },
    [BF_KEY_CHECK] =
        {
            .key = "check",
            .label = "Check",
            .description = "Check the program: access, D3D12's rules for resources that several "
                           "queues use, one line on stderr for each fault. Slow.",
            .kind = BF_VALUE_ENUM,
            .value_type = "ENUM",
            .values = "none, access",
            .default_value = "none",
            .names = {[BF_CHECK_NONE] = "none", [BF_CHECK_ACCESS] = "access"},
        },
    [BF_KEY_NATIVE_FENCES] =
        {
            .key = "native_fences",
            .label = "Native fences",
            .description = "Programs may create fences whose values the GPU itself writes.",
            .kind = BF_VALUE_BOOL,
            .value_type = "BOOL",
            .values = "true, false",
            .default_value = "true",
        },
    [BF_KEY_LOG] =
        {
            .key = "log",
            .label = "Fence logs",
            .description = "How fence operations are logged once a trace or a reader asks for it: "
                           "timed, with the GPU's timestamps; untimed, without, which costs the "
                           "GPU nothing; off, not at all.",
            .kind = BF_VALUE_ENUM,
            .value_type = "ENUM",
            .values = "timed, untimed, off",
            .default_value = "timed",
            .names = {[BF_FENCE_LOG_TIMED] = "timed",
                      [BF_FENCE_LOG_UNTIMED] = "untimed",
                      [BF_FENCE_LOG_OFF] = "off"},
        },
    [BF_KEY_BACKGROUND_TASKS] =
        {
            .key = "background_tasks",
            .label = "Background tasks",
            .description = "How many pieces of background work a process runs at a time, in time "
                           "that would be idle.",
            .kind = BF_VALUE_INT,
            .value_type = "INT",
            .values = "1 to 16",
            .default_value = "2",
            .minimum = 1,
            .maximum = 16,
        },
    [BF_KEY_DEVELOPER_MODE] =
        {
            .key = "developer_mode",
            .label = "Developer mode",
            .description = "Programs may switch background work off, and have it done at normal "
                           "priority: for stable measurements, not for users.",
            .kind = BF_VALUE_BOOL,
            .value_type = "BOOL",
            .values = "true, false",
            .default_value = "false",
        },
    [BF_KEY_SPECIALIZE] =
        {
            .key = "specialize",
            .label = "Specialize shaders",
            .description = "Rebuild shaders in the background for the push constants that a "
                           "program really uses: exact, where every bit of what they write was "
                           "checked to be the same; relaxed, within a small error; off, not at "
                           "all.",
            .kind = BF_VALUE_ENUM,
            .value_type = "ENUM",
            .values = "off, exact, relaxed",
            .default_value = "off",
            .names = {[BF_SPECIALIZE_OFF] = "off",
                      [BF_SPECIALIZE_EXACT] = "exact",
                      [BF_SPECIALIZE_RELAXED] = "relaxed"},
        },
    [BF_KEY_SPECIALIZE_MEMORY] =
        {
            .key = "specialize_memory",
            .label = "Memory for shaders",
            .description = "With specialize: how many MiB rebuilt shaders, and what is kept to "
                           "rebuild them, may take for a device, as far as can be told.",
            .kind = BF_VALUE_INT,
            .value_type = "INT",
            .values = "1 to 65536",
            .default_value = "256",
            .minimum = 1,
            .maximum = 65536,
        },
    [BF_KEY_ISOLATE] =
        {
            .key = "isolate",
            .label = "Isolate builds",
            .description = "With specialize: process, shaders are rebuilt in a process of Belfry's "
                           "own first, so that a driver's crash or hang costs the program "
                           "nothing; none, in the program's own process alone.",
            .kind = BF_VALUE_ENUM,
            .value_type = "ENUM",
            .values = "none, process",
            .default_value = "none",
            .names = {[BF_ISOLATE_NONE] = "none", [BF_ISOLATE_PROCESS] = "process"},
        },
    [BF_KEY_REPORT] =
        {
            .key = "report",
            .label = "Report",
            .description = "When a device is destroyed, print to stderr which shaders were "
                           "rebuilt, which were kept, which not, and why.",
            .kind = BF_VALUE_BOOL,
            .value_type = "BOOL",
            .values = "true, false",
            .default_value = "false",
        },
    [BF_KEY_CACHE] =
        {
            .key = "cache",
            .label = "Cache folder",
            .description = "Where what was learnt about shaders is kept from run to run. Empty: "
                           "'belfry' in the user's cache folder.",
            .kind = BF_VALUE_PATH,
            .value_type = "SAVE_FOLDER",
            .values = "a path",
            .default_value = "",
        },
};

/* All spellings of a truth value; even ones are true. */
static const char *const bool_names[] = {"true", "false", "1", "0", "on", "off", "yes", "no"};
#define BOOL_NAME_COUNT (sizeof(bool_names) / sizeof(bool_names[0]))

void bf_settings_message(FILE *messages, const char *format, ...)
{
    if (!messages) {
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
    fprintf(messages, "belfry: %s%s\n", line, (size_t)length < sizeof(line) ? "" : "...");
}

/* How many letters must be added, taken away or changed to get from one to the other, without
 * regard to case. Only the first 63 letters count, which bounds the memory. */
static uint32_t edit_distance(const char *a, size_t a_length, const char *b)
{
    enum { MAXIMUM = 63 };
    uint32_t row[MAXIMUM + 1];
    size_t b_length = strnlen(b, MAXIMUM);
    if (a_length > MAXIMUM) {
        a_length = MAXIMUM;
    }

    for (size_t j = 0; j <= b_length; j++) {
        row[j] = (uint32_t)j;
    }
    for (size_t i = 1; i <= a_length; i++) {
        uint32_t diagonal = row[0];
        row[0] = (uint32_t)i;
        for (size_t j = 1; j <= b_length; j++) {
            bool same = tolower((unsigned char)a[i - 1]) == tolower((unsigned char)b[j - 1]);
            uint32_t best = diagonal + !same;
            diagonal = row[j];
            if (row[j] + 1 < best) {
                best = row[j] + 1;
            }
            if (row[j - 1] + 1 < best) {
                best = row[j - 1] + 1;
            }
            row[j] = best;
        }
    }
    return row[b_length];
}

static const char *name_nearest(const char *text, const char *const *names, size_t count)
{
    const char *nearest = NULL;
    uint32_t least = UINT32_MAX;
    for (size_t i = 0; i < count && names[i]; i++) {
        uint32_t distance = edit_distance(text, strlen(text), names[i]);
        if (distance < least) {
            least = distance;
            nearest = names[i];
        }
    }
    return nearest;
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

/* Reads an enum, a number or a truth value. If it is none that the row allows, returns false, with
 * the nearest one that is in 'nearest'. */
static bool value_parse(const struct bf_setting_row *row, const char *text, uint32_t *value,
                        char nearest[16])
{
    size_t name_count = sizeof(row->names) / sizeof(row->names[0]);
    switch (row->kind) {
    case BF_VALUE_ENUM: {
        size_t found = name_find(text, row->names, name_count);
        if (found == SIZE_MAX) {
            snprintf(nearest, 16, "%s", name_nearest(text, row->names, name_count));
            return false;
        }
        *value = (uint32_t)found;
        return true;
    }
    case BF_VALUE_BOOL: {
        size_t found = name_find(text, bool_names, BOOL_NAME_COUNT);
        if (found == SIZE_MAX) {
            snprintf(nearest, 16, "%s", name_nearest(text, bool_names, BOOL_NAME_COUNT));
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
            snprintf(nearest, 16, "%s", row->default_value);
            return false;
        }
        bool whole = *end == '\0';
        bool inside = number >= row->minimum && number <= row->maximum;
        if (!whole || !inside || errno) {
            number = number < row->minimum ? row->minimum : number;
            number = number > row->maximum ? row->maximum : number;
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
                        FILE *messages, uint32_t *value)
{
    char nearest[16];
    if (value_parse(row, text, value, nearest)) {
        return true;
    }
    bf_settings_message(messages, "%s: '%.80s' is not a value of '%s' (%s); did you mean '%s'?",
                        origin, text, row->key, row->values, nearest);
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

void bf_table_unknown(FILE *messages, const char *name, size_t length, const char *origin,
                      enum bf_key_spelling spelling)
{
    if (length > 80) {
        length = 80;
    }

    char nearest[BF_ENV_NAME_LENGTH] = "";
    uint32_t least = UINT32_MAX;
    for (uint32_t i = 0; i < BF_KEY_COUNT; i++) {
        char spelled[BF_ENV_NAME_LENGTH];
        switch (spelling) {
        case BF_SPELLING_KEY:
            snprintf(spelled, sizeof(spelled), "%s", table[i].key);
            break;
        case BF_SPELLING_FILE:
            snprintf(spelled, sizeof(spelled), BF_FILE_PREFIX "%s", table[i].key);
            break;
        case BF_SPELLING_ENVIRONMENT:
            bf_table_variable(BF_ENV_PREFIX, i, spelled);
            break;
        }
        uint32_t distance = edit_distance(name, length, spelled);
        if (distance < least) {
            least = distance;
            memcpy(nearest, spelled, sizeof(nearest));
        }
    }
    bf_settings_message(messages, "%s: there is no setting '%.*s'; did you mean '%s'?", origin,
                        (int)length, name, nearest);
}

static void value_store(struct bf_settings *settings, uint32_t row, uint32_t value)
{
    switch ((enum bf_setting_key)row) {
    case BF_KEY_QUEUES:
        settings->queues = (enum bf_queues_mode)value;
        break;
    case BF_KEY_QUEUES_PER_FAMILY:
        settings->queues_per_family = value;
        break;
    case BF_KEY_SUMMARY:
        settings->summary = value;
        break;
    case BF_KEY_MESSAGES:
        settings->messages = (enum bf_message_level)value;
        break;
    case BF_KEY_SERIALIZE_SUBMITS:
        settings->serialize_submits = value;
        break;
    case BF_KEY_REALTIME:
        settings->realtime = value;
        break;
    case BF_KEY_CHECK:
        settings->check = (enum bf_check_mode)value;
        break;
    case BF_KEY_NATIVE_FENCES:
        settings->native_fences = value;
        break;
    case BF_KEY_LOG:
        settings->fence_log = (enum bf_fence_log_mode)value;
        break;
    case BF_KEY_BACKGROUND_TASKS:
        settings->background_tasks = value;
        break;
    case BF_KEY_DEVELOPER_MODE:
        settings->developer_mode = value;
        break;
    case BF_KEY_SPECIALIZE:
        settings->specialize = (enum bf_specialize_mode)value;
        break;
    case BF_KEY_SPECIALIZE_MEMORY:
        settings->specialize_memory = value;
        break;
    case BF_KEY_ISOLATE:
        settings->isolate = (enum bf_isolate_mode)value;
        break;
    case BF_KEY_REPORT:
        settings->report = value;
        break;
    case BF_KEY_TRACE:
    case BF_KEY_CACHE:
    case BF_KEY_COUNT:
        break;
    }
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
    /* Every program of a user gets an implicit layer: it must not change what they see. */
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
        /* Else any user could have a set-user-id program write files where the user may not. */
        bf_settings_message(load->messages,
                            "%s: '%s' is ignored: the program runs with raised privileges",
                            input->origin, entry->key);
        return VK_SUCCESS;
    }

    uint32_t value = 0;
    if (!value_check(entry, input->text, input->origin, load->messages, &value)) {
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
        char **slot = row == BF_KEY_CACHE ? &settings->cache : &settings->trace;
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

bool bf_setting_check(const char *key, const char *value, const char *origin, FILE *messages)
{
    uint32_t row = bf_table_find(key, strlen(key));
    if (row == BF_KEY_COUNT) {
        bf_table_unknown(messages, key, strlen(key), origin, BF_SPELLING_KEY);
        return false;
    }
    uint32_t ignored;
    return value_check(&table[row], value, origin, messages, &ignored);
}

uint32_t bf_settings_rows(const struct bf_setting_row **rows)
{
    *rows = table;
    return BF_KEY_COUNT;
}

const char *bf_settings_value(const struct bf_settings *settings, uint32_t row, char *buffer,
                              size_t size)
{
    const char *text = "";
    switch ((enum bf_setting_key)row) {
    case BF_KEY_QUEUES:
        text = table[row].names[settings->queues];
        break;
    case BF_KEY_QUEUES_PER_FAMILY:
        snprintf(buffer, size, "%u", settings->queues_per_family);
        return buffer;
    case BF_KEY_TRACE:
        text = settings->trace ? settings->trace : "";
        break;
    case BF_KEY_SUMMARY:
        text = bool_names[!settings->summary];
        break;
    case BF_KEY_MESSAGES:
        text = table[row].names[settings->messages];
        break;
    case BF_KEY_SERIALIZE_SUBMITS:
        text = bool_names[!settings->serialize_submits];
        break;
    case BF_KEY_REALTIME:
        text = bool_names[!settings->realtime];
        break;
    case BF_KEY_CHECK:
        text = table[row].names[settings->check];
        break;
    case BF_KEY_NATIVE_FENCES:
        text = bool_names[!settings->native_fences];
        break;
    case BF_KEY_LOG:
        text = table[row].names[settings->fence_log];
        break;
    case BF_KEY_BACKGROUND_TASKS:
        snprintf(buffer, size, "%u", settings->background_tasks);
        return buffer;
    case BF_KEY_DEVELOPER_MODE:
        text = bool_names[!settings->developer_mode];
        break;
    case BF_KEY_SPECIALIZE:
        text = table[row].names[settings->specialize];
        break;
    case BF_KEY_SPECIALIZE_MEMORY:
        snprintf(buffer, size, "%u", settings->specialize_memory);
        return buffer;
    case BF_KEY_ISOLATE:
        text = table[row].names[settings->isolate];
        break;
    case BF_KEY_REPORT:
        text = bool_names[!settings->report];
        break;
    case BF_KEY_CACHE:
        text = settings->cache ? settings->cache : "";
        break;
    case BF_KEY_COUNT:
        break;
    }
    snprintf(buffer, size, "%s", text);
    return buffer;
}
