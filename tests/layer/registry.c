/* SPDX-License-Identifier: MIT */
/* Reads the commands of Vulkan's registry. */
#include "registry.h"

#include "../support/std.h"

#define PATH "/usr/share/vulkan/registry/vk.xml"

static struct registry_command *append(struct registry *registry, const char *name, size_t length)
{
    struct registry_command *grown =
        realloc(registry->commands, (registry->count + 1) * sizeof(*grown));
    if (!grown || length >= sizeof(grown->name))
        abort();
    registry->commands = grown;
    struct registry_command *command = &grown[registry->count++];
    *command = (struct registry_command){0};
    memcpy(command->name, name, length);
    return command;
}

static struct registry_command *find(const struct registry *registry, const char *name,
                                     size_t length)
{
    for (uint32_t i = 0; i < registry->count; i++)
        if (strncmp(registry->commands[i].name, name, length) == 0 &&
            registry->commands[i].name[length] == '\0')
            return &registry->commands[i];
    return NULL;
}

/* The text between 'before' and 'after' from 'at' on, if it comes before 'end'. */
static const char *between(const char *at, const char *end, const char *before, char after,
                           size_t *length)
{
    const char *start = strstr(at, before);
    if (!start || start >= end)
        return NULL;
    start += strlen(before);
    const char *stop = strchr(start, after);
    if (!stop)
        return NULL;
    *length = (size_t)(stop - start);
    return start;
}

static bool is(const char *text, size_t length, const char *word)
{
    return text && length == strlen(word) && memcmp(text, word, length) == 0;
}

static void read_definition(struct registry *registry, const char *at, const char *end)
{
    size_t length;
    const char *name = between(at, end, "<name>", '<', &length);
    if (!name)
        return;
    struct registry_command *command = append(registry, name, length);
    const char *returned = between(at, end, "<type>", '<', &length);
    command->has_result = is(returned, length, "VkResult") || is(returned, length, "VkBool32");
    const char *param = strstr(name, "<param");
    bool first = true;
    while (param && param < end) {
        const char *type = between(param, end, "<type>", '<', &length);
        command->takes_queue |= is(type, length, "VkQueue");
        if (first)
            command->takes_device = is(type, length, "VkQueue") || is(type, length, "VkDevice") ||
                                    is(type, length, "VkCommandBuffer");
        first = false;
        param = strstr(param + 1, "<param");
    }
}

static void read_commands(struct registry *registry, const char *text, bool aliases)
{
    for (const char *at = text; (at = strstr(at, "<command")) != NULL; at++) {
        if (at[8] != ' ' && at[8] != '>')
            continue; /* <commands> */
        const char *tag_end = strchr(at, '>');
        if (!tag_end)
            return;
        if (tag_end[-1] != '/') {
            const char *end = strstr(tag_end, "</command>");
            if (end && !aliases)
                read_definition(registry, tag_end, end);
            continue;
        }
        size_t name_length = 0, alias_length = 0;
        const char *name = between(at, tag_end, "name=\"", '"', &name_length);
        const char *alias = between(at, tag_end, "alias=\"", '"', &alias_length);
        if (!aliases || !name || !alias || find(registry, name, name_length))
            continue;
        const struct registry_command *original = find(registry, alias, alias_length);
        if (!original)
            continue;
        struct registry_command copy = *original;
        struct registry_command *command = append(registry, name, name_length);
        command->takes_queue = copy.takes_queue;
        command->takes_device = copy.takes_device;
        command->has_result = copy.has_result;
    }
}

bool registry_read(struct registry *registry)
{
    *registry = (struct registry){0};
    FILE *file = fopen(PATH, "r");
    if (!file)
        return false;
    char *text = NULL;
    size_t size = 0;
    bool read = fseek(file, 0, SEEK_END) == 0 && (size = (size_t)ftell(file)) > 0;
    rewind(file);
    text = read ? malloc(size + 1) : NULL;
    read = text && fread(text, 1, size, file) == size;
    fclose(file);
    if (read) {
        text[size] = '\0';
        read_commands(registry, text, false);
        read_commands(registry, text, true);
    }
    free(text);
    return read;
}

const struct registry_command *registry_find(const struct registry *registry, const char *name)
{
    return find(registry, name, strlen(name));
}

void registry_free(struct registry *registry)
{
    free(registry->commands);
    *registry = (struct registry){0};
}

bool registry_is_suffixed(const char *name)
{
    size_t length = strlen(name);
    return length > 3 &&
           (strcmp(name + length - 3, "KHR") == 0 || strcmp(name + length - 3, "EXT") == 0);
}
