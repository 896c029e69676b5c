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

/* One element by itself: where the whole registry follows, a sanitizer's strstr measures it each
 * time. */
static void read_command(struct registry *registry, const char *at, bool aliases)
{
    const char *tag_end = strchr(at, '>');
    if (!tag_end)
        return;
    if (tag_end[-1] != '/') {
        if (!aliases)
            read_definition(registry, tag_end, at + strlen(at));
        return;
    }
    size_t name_length = 0, alias_length = 0;
    const char *name = between(at, tag_end, "name=\"", '"', &name_length);
    const char *alias = between(at, tag_end, "alias=\"", '"', &alias_length);
    if (!aliases || !name || !alias || find(registry, name, name_length))
        return;
    const struct registry_command *original = find(registry, alias, alias_length);
    if (!original)
        return;
    struct registry_command copy = *original;
    struct registry_command *command = append(registry, name, name_length);
    command->takes_queue = copy.takes_queue;
    command->takes_device = copy.takes_device;
    command->has_result = copy.has_result;
}

static void read_commands(struct registry *registry, FILE *file, bool aliases)
{
    char *line = NULL, element[16384];
    size_t capacity = 0, length = 0;
    rewind(file);
    for (ssize_t got; (got = getline(&line, &capacity, file)) >= 0;) {
        const char *start = length > 0 ? line : strstr(line, "<command");
        if (!start || (length == 0 && start[8] != ' ' && start[8] != '>')) /* <commands> */
            continue;
        size_t more = (size_t)(line + got - start);
        if (length + more >= sizeof(element))
            abort();
        memcpy(element + length, start, more + 1);
        length += more;
        const char *tag_end = strchr(element, '>');
        if (!strstr(start, "</command>") && !(tag_end && tag_end[-1] == '/'))
            continue;
        read_command(registry, element, aliases);
        length = 0;
    }
    free(line);
}

bool registry_read(struct registry *registry)
{
    *registry = (struct registry){0};
    FILE *file = fopen(PATH, "r");
    if (!file)
        return false;
    read_commands(registry, file, false);
    read_commands(registry, file, true);
    fclose(file);
    return registry->count > 0;
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
