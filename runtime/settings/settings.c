/* SPDX-License-Identifier: MIT */
/* Fills the settings from their sources, the weakest first. */
#include "settings/settings.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "belfry/belfry.h"
#include "settings/sources.h"
#include "settings/table.h"

/* After what the program says, with that result: the stronger sources, which overwrite it. */
static VkResult settings_load_outside(const struct bf_settings_load *load, bool implicit_layer,
                                      VkResult result)
{
    if (result == VK_SUCCESS) {
        result = bf_source_file(load);
    }
    if (result == VK_SUCCESS) {
        result = bf_source_environment(load);
    }
    if (result == VK_SUCCESS && !load->privileged) {
        result = bf_source_user_cache(load);
    }
    if (result != VK_SUCCESS) {
        bf_settings_finish(load->settings);
        bf_table_defaults(load->settings, implicit_layer);
    }
    return result;
}

VkResult bf_settings_load(const VkInstanceCreateInfo *create_info, char *const *environment,
                          bool privileged, bool implicit_layer, bool quiet,
                          struct bf_settings *settings)
{
    struct bf_settings_load load = {
        .settings = settings,
        .environment = environment,
        .quiet = quiet,
        .privileged = privileged,
    };
    bf_table_defaults(settings, implicit_layer);
    return settings_load_outside(&load, implicit_layer, bf_source_api(&load, create_info));
}

VkResult bf_settings_load_attached(uint32_t count, const BfSetting *own, char *const *environment,
                                   bool privileged, bool quiet, struct bf_settings *settings)
{
    struct bf_settings_load load = {
        .settings = settings,
        .environment = environment,
        .quiet = quiet,
        .privileged = privileged,
        .attached = true,
    };
    bf_table_defaults(settings, false);
    return settings_load_outside(&load, false, bf_source_attached(&load, count, own));
}

void bf_settings_finish(struct bf_settings *settings)
{
    if (!settings) {
        return;
    }
    free(settings->trace);
    settings->trace = NULL;
    free(settings->cache);
    settings->cache = NULL;
    free(settings->user_cache);
    settings->user_cache = NULL;
    for (uint32_t i = 0; i < BF_KEY_COUNT; i++) {
        free(settings->origins[i]);
        settings->origins[i] = NULL;
    }
}

enum bf_setting_source bf_settings_source(const struct bf_settings *settings, uint32_t row)
{
    return row < BF_KEY_COUNT ? settings->sources[row] : BF_SETTING_DEFAULT;
}

const char *bf_settings_origin(const struct bf_settings *settings, uint32_t row)
{
    return row < BF_KEY_COUNT && settings->origins[row] ? settings->origins[row] : "";
}

bool bf_settings_is_privileged(void)
{
    /* AT_SECURE also covers file capabilities; the ids, a process that changed them itself. */
    return getauxval(AT_SECURE) != 0 || geteuid() != getuid() || getegid() != getgid();
}

/* Whether a list of names or patterns has one that means the layer. */
static bool list_names_layer(const char *list, char separator, bool patterns)
{
    while (list && *list) {
        const char *end = strchrnul(list, separator);
        char item[128];
        size_t length = (size_t)(end - list);
        if (length < sizeof(item)) {
            memcpy(item, list, length);
            item[length] = '\0';
            bool named = patterns ? fnmatch(item, BF_LAYER_NAME, FNM_CASEFOLD) == 0
                                  : strcmp(item, BF_LAYER_NAME) == 0;
            if (named) {
                return true;
            }
        }
        list = *end ? end + 1 : end;
    }
    return false;
}

bool bf_settings_is_implicit(const VkInstanceCreateInfo *create_info, char *const *environment)
{
    const char *switched_on = bf_environment_get(environment, "BELFRY");
    if (!switched_on || strcmp(switched_on, "1") != 0) {
        return false;
    }
    for (uint32_t i = 0; create_info && i < create_info->enabledLayerCount; i++) {
        if (strcmp(create_info->ppEnabledLayerNames[i], BF_LAYER_NAME) == 0) {
            return false;
        }
    }
    const char *layers = bf_environment_get(environment, "VK_INSTANCE_LAYERS");
    const char *enable = bf_environment_get(environment, "VK_LOADER_LAYERS_ENABLE");
    return !list_names_layer(layers, ':', false) && !list_names_layer(enable, ',', true);
}
