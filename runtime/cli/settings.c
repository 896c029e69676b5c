/* SPDX-License-Identifier: MIT */
/* 'belfry settings': prints every setting, its current value, and where that comes from. */
#include "settings/settings.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"

/* Prints 'text' in lines of at most 'width' columns, each indented by 'indent'. */
static void paragraph_print(const char *text, int indent, int width)
{
    int column = 0;
    while (*text) {
        int length = (int)strcspn(text, " ");
        if (column && column + 1 + length > width) {
            printf("\n");
            column = 0;
        }
        column += printf("%*s%.*s", column ? 1 : indent, "", length, text);
        text += length + (text[length] == ' ');
    }
    printf("\n");
}

static int settings_main(int argc, char **argv)
{
    if (argc > 1) {
        return cli_usage("settings", "it takes no arguments, not '%s'", argv[1]);
    }

    struct bf_settings settings;
    bool implicit_layer = bf_settings_is_implicit(NULL, environ);
    if (bf_settings_load(NULL, environ, bf_settings_is_privileged(), implicit_layer, false,
                         &settings) != VK_SUCCESS) {
        cli_warn("out of memory");
        return CLI_FAILED;
    }

    static const char *const sources[] = {
        [BF_SETTING_DEFAULT] = "default",
        [BF_SETTING_API] = "program",
        [BF_SETTING_FILE] = "file",
        [BF_SETTING_ENVIRONMENT] = "environment",
    };
    const struct bf_setting_row *rows;
    uint32_t count = bf_settings_rows(&rows);
    for (uint32_t i = 0; i < count; i++) {
        char value[4096];
        bf_settings_value(&settings, i, value, sizeof(value));
        const char *origin = bf_settings_origin(&settings, i);
        enum bf_setting_source source = bf_settings_source(&settings, i);
        bool switched = implicit_layer && i == BF_KEY_QUEUES && source == BF_SETTING_DEFAULT;
        printf("%s = %s\n", rows[i].key, *value ? value : "(none)");
        printf("    from: %s%s%s%s\n", sources[source], *origin ? " " : "", origin,
               switched ? " with BELFRY=1" : "");
        printf("    values: %s; default: %s\n", rows[i].values,
               *rows[i].default_value ? rows[i].default_value : "(none)");
        paragraph_print(rows[i].description, 4, 88);
        printf("\n");
    }
    printf(
        "Set KEY with VK_BELFRY_MULTI_ENGINE_<KEY> (or VK_MULTI_ENGINE_<KEY>) in the environment,\n"
        "with 'belfry_multi_engine.<key> = value' in vk_layer_settings.txt, from the program by\n"
        "VK_EXT_layer_settings, or with 'belfry run --set <key>=<value>'.\n");
    bf_settings_finish(&settings);
    return CLI_DONE;
}

const struct cli_command cli_settings = {
    .name = "settings",
    .arguments = "",
    .summary = "lists every setting, its value, and where that came from",
    .details =
        "Lists every setting with its value for a program started from here, where the value\n"
        "came from, what else it could be, and its default. From the strongest to the weakest:\n\n"
        "  environment  VK_BELFRY_MULTI_ENGINE_<KEY>, else VK_MULTI_ENGINE_<KEY>\n"
        "  file         belfry_multi_engine.<key> = value, in the first vk_layer_settings.txt of\n"
        "               $XDG_DATA_HOME/vulkan/settings.d (else ~/.local/share/vulkan/settings.d),\n"
        "               $VK_LAYER_SETTINGS_PATH (a file or a folder), the working directory\n"
        "  program      VK_EXT_layer_settings; not known here\n"
        "  default\n\n"
        "Exits with 0.\n",
    .main = settings_main,
};
