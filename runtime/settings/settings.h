/*
 * What a user can set, as one plain struct. The runtime reads this struct and nothing else: the
 * edge (the layer, the command line) fills it once, through bf_settings_load, and passes it in.
 */
#ifndef BELFRY_SETTINGS_SETTINGS_H
#define BELFRY_SETTINGS_SETTINGS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include <vulkan/vulkan.h>

#include "os/export.h"

enum bf_queues_mode {
    BF_QUEUES_NATIVE, /* the real families alone, with their real counts */
    BF_QUEUES_APPEND, /* enlarged counts and appended families */
};

enum bf_log_level {
    BF_LOG_NONE,
    BF_LOG_ERROR,
    BF_LOG_WARNING,
    BF_LOG_INFO,
};

struct bf_settings {
    enum bf_queues_mode queues;
    uint32_t queues_per_family; /* with 'append': queues a program sees per family, at least the
                                   real count; 1 to 64 */
    char *trace;                /* path of the Perfetto trace, or NULL; owned */
    bool summary;               /* print a summary to stderr when a device is destroyed */
    enum bf_log_level log;      /* messages on stderr */
    bool serialize_submits;     /* triage: one lock over all vkQueueSubmit calls of a device */
};

/* Where a value came from, in the order of precedence that the Vulkan layer settings define. */
enum bf_setting_source {
    BF_SETTING_DEFAULT,
    BF_SETTING_API,         /* VK_EXT_layer_settings in VkInstanceCreateInfo */
    BF_SETTING_FILE,        /* vk_layer_settings.txt */
    BF_SETTING_ENVIRONMENT, /* VK_BELFRY_MULTI_ENGINE_*, and the shorter forms */
};

/* The edge's access to the environment; a test passes its own. */
typedef const char *(*bf_getenv_fn)(const char *name);

/*
 * Fills 'settings' with defaults, then with what VK_EXT_layer_settings in 'create_info' (may be
 * NULL), the settings file and the environment say. Unknown keys and bad values cost one line each
 * on 'messages' with the nearest valid one, and never fail. With 'privileged' set (the process runs
 * with raised privileges) output paths that come from environment or file are ignored, with a line.
 * Errors: VK_ERROR_OUT_OF_HOST_MEMORY. Thread-safety: safe.
 */
BF_SHARED VkResult bf_settings_load(const VkInstanceCreateInfo *create_info, bf_getenv_fn env,
                                    bool privileged, bool implicit_layer, FILE *messages,
                                    struct bf_settings *settings);
BF_SHARED void bf_settings_finish(struct bf_settings *settings);

/* The table 'belfry settings' prints and the manifest declares. */
struct bf_setting_row {
    const char *key;
    const char *label;
    const char *description;
    const char *value_type; /* "ENUM", "INT", "BOOL", "SAVE_FILE" */
    const char *values;     /* allowed ones, for people: "native, append" */
    const char *default_value;
};
BF_SHARED uint32_t bf_settings_rows(const struct bf_setting_row **rows);
BF_SHARED const char *bf_settings_value(const struct bf_settings *settings, uint32_t row,
                                        char *buffer, size_t size);
BF_SHARED enum bf_setting_source bf_settings_source(const struct bf_settings *settings,
                                                    uint32_t row);

#endif
