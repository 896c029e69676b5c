/* SPDX-License-Identifier: MIT */
/* Loads settings from a given environment, and keeps the warnings that the message callback gets.
 */
#ifndef BELFRY_TESTS_SETTINGS_HELPER_H
#define BELFRY_TESTS_SETTINGS_HELPER_H

#include "support/test.h"

#include "belfry/belfry.h"
#include "settings/settings.h"

struct loaded {
    struct bf_settings settings;
    char *messages;
    size_t length;
};

/* The variables of an environment: ENVIRONMENT("A=1", "B=2"). */
#define ENVIRONMENT(...) ((char *const[]){__VA_ARGS__, NULL})

static inline void message_keep(BfMessageSeverity severity, const char *text, void *stream)
{
    fprintf(stream, severity == BF_MESSAGE_SEVERITY_WARNING ? "%s\n" : "no warning: %s\n", text);
}

/* From here on messages are kept, as the program's callback hears them, until the returned stream
 * is given to messages_end. */
static inline FILE *messages_begin(struct loaded *loaded)
{
    FILE *stream = open_memstream(&loaded->messages, &loaded->length);
    assert_non_null(stream);
    assert_int_equal(bfSetMessageCallback(message_keep, stream), VK_SUCCESS);
    return stream;
}

static inline void messages_end(FILE *stream)
{
    assert_int_equal(bfSetMessageCallback(NULL, NULL), VK_SUCCESS);
    fclose(stream);
}

static inline struct loaded load_as(const VkInstanceCreateInfo *create_info,
                                    char *const *environment, bool privileged, bool implicit_layer)
{
    struct loaded loaded = {.messages = NULL};
    FILE *stream = messages_begin(&loaded);
    VkResult result = bf_settings_load(create_info, environment, privileged, implicit_layer, false,
                                       &loaded.settings);
    messages_end(stream);
    assert_int_equal(result, VK_SUCCESS);
    return loaded;
}

static inline struct loaded load_attached(uint32_t count, const BfSetting *own,
                                          char *const *environment, bool privileged)
{
    struct loaded loaded = {.messages = NULL};
    FILE *stream = messages_begin(&loaded);
    VkResult result =
        bf_settings_load_attached(count, own, environment, privileged, false, &loaded.settings);
    messages_end(stream);
    assert_int_equal(result, VK_SUCCESS);
    return loaded;
}

static inline struct loaded load(char *const *environment)
{
    return load_as(NULL, environment, false, false);
}

static inline void loaded_finish(struct loaded *loaded)
{
    bf_settings_finish(&loaded->settings);
    free(loaded->messages);
}

static inline unsigned line_count(const char *text)
{
    unsigned lines = 0;
    for (; *text; text++)
        lines += *text == '\n';
    return lines;
}

/* Exactly one message, which says all of up to three things. */
static inline void assert_one_line(const struct loaded *loaded, const char *a, const char *b,
                                   const char *c)
{
    const char *wanted[] = {a, b, c};
    if (line_count(loaded->messages) != 1)
        fail_msg("not one line but '%s'", loaded->messages);
    for (unsigned i = 0; i < 3; i++)
        if (wanted[i] && !strstr(loaded->messages, wanted[i]))
            fail_msg("no '%s' in '%s'", wanted[i], loaded->messages);
}

#endif
