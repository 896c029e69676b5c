/* SPDX-License-Identifier: MIT */
/*
 * The one table of settings: how a key is spelled, what it may hold, and where in bf_settings its
 * value goes. Private to runtime/settings.
 */
#ifndef BELFRY_SETTINGS_TABLE_H
#define BELFRY_SETTINGS_TABLE_H

#include "settings/settings.h"

#define BF_FILE_PREFIX "belfry_multi_engine."
#define BF_ENV_PREFIX  "VK_BELFRY_MULTI_ENGINE_"
#define BF_ENV_SHORT   "VK_MULTI_ENGINE_"
/* the prefix without the layer's own name, which people use by mistake */
#define BF_ENV_VENDOR      "VK_BELFRY_"
#define BF_ENV_NAME_LENGTH 64 /* longest name of a variable of ours, with its end */

/* One value, from a source to the struct. */
struct bf_setting_input {
    enum bf_setting_source source;
    const char *text;   /* trimmed, not empty */
    const char *origin; /* the name of its place in messages */
};

/* The parameters that all sources share. */
struct bf_settings_load {
    struct bf_settings *settings;
    char *const *environment;
    bool quiet; /* no warnings */
    bool privileged;
    bool attached; /* a program attaches its device: there is no layer */
};

/* How a source spells a key, so that a suggestion can be pasted where the mistake was. */
enum bf_key_spelling {
    BF_SPELLING_KEY,         /* queues */
    BF_SPELLING_FILE,        /* belfry_multi_engine.queues */
    BF_SPELLING_ENVIRONMENT, /* VK_BELFRY_MULTI_ENGINE_QUEUES */
};

/* The row of 'key' ('length' bytes), or BF_KEY_COUNT. */
uint32_t bf_table_find(const char *key, size_t length);

/* Writes defaults into 'settings', which owns nothing before. */
void bf_table_defaults(struct bf_settings *settings, bool implicit_layer);

/* Stores 'input' as the value of 'row'; a bad one costs a line and changes nothing.
 * Errors: VK_ERROR_OUT_OF_HOST_MEMORY, with nothing changed. */
VkResult bf_table_assign(const struct bf_settings_load *load, uint32_t row,
                         const struct bf_setting_input *input);

/* Reports that 'name' ('length' bytes) at 'origin' is no setting, and names one that is near. */
void bf_table_unknown(bool quiet, const char *name, size_t length, const char *origin,
                      enum bf_key_spelling spelling);

/* 'PREFIX' and the key in capitals. Returns 'buffer'. */
const char *bf_table_variable(const char *prefix, uint32_t row, char buffer[BF_ENV_NAME_LENGTH]);

/* A warning, unless 'quiet', in one line whatever the arguments contain: control characters become
 * question marks, so that a value can't forge a second line. */
__attribute__((format(printf, 2, 3))) void bf_settings_message(bool quiet, const char *format, ...);

#endif
