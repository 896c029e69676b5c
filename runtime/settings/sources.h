/* SPDX-License-Identifier: MIT */
/*
 * The sources of values. Each function passes the values it finds to bf_table_assign, and
 * reports what it can't use. Private to runtime/settings.
 *
 * Errors of all: VK_ERROR_OUT_OF_HOST_MEMORY; the values found so far stay assigned.
 */
#ifndef BELFRY_SETTINGS_SOURCES_H
#define BELFRY_SETTINGS_SOURCES_H

#include "settings/table.h"

/*
 * VK_EXT_layer_settings, declared here because it is newer than the headers we build against. The
 * memory layout is the extension's; of its value types only the pointer and the count matter.
 */
#define BF_STRUCTURE_TYPE_LAYER_SETTINGS ((VkStructureType)1000496000)

enum bf_api_type {
    BF_API_BOOL32 = 0,
    BF_API_INT32 = 1,
    BF_API_INT64 = 2,
    BF_API_UINT32 = 3,
    BF_API_UINT64 = 4,
    BF_API_FLOAT32 = 5,
    BF_API_FLOAT64 = 6,
    BF_API_STRING = 7,
};

struct bf_api_setting {
    const char *layer;
    const char *key;
    enum bf_api_type type;
    uint32_t value_count;
    const void *values;
};

struct bf_api_settings_info {
    VkStructureType type;
    const void *next;
    uint32_t setting_count;
    const struct bf_api_setting *settings;
};

VkResult bf_source_api(const struct bf_settings_load *load,
                       const VkInstanceCreateInfo *create_info);
VkResult bf_source_attached(const struct bf_settings_load *load, uint32_t count,
                            const BfSetting *settings);
VkResult bf_source_file(const struct bf_settings_load *load);
VkResult bf_source_environment(const struct bf_settings_load *load);
/* 'belfry' in $XDG_CACHE_HOME, else in $HOME/.cache; neither counts unless it is an absolute
 * path. */
VkResult bf_source_user_cache(const struct bf_settings_load *load);

/* As getenv, but in 'environment' (may be NULL); NULL if 'name' isn't there or is empty. */
const char *bf_environment_get(char *const *environment, const char *name);

#endif
