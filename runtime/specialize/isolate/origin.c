/* SPDX-License-Identifier: MIT */
/* Copies what an instance was made with. */
#include "specialize/isolate/origin.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* False: out of memory. NULL stays NULL. */
static bool copy_text(const char **to, const char *from)
{
    *to = from ? strdup(from) : NULL;
    return !from || *to;
}

static bool copy_environment(struct bf_isolate_origin *origin, char *const *from)
{
    size_t count = 0;
    while (from && from[count])
        count++;
    origin->environment = calloc(count + 1, sizeof(*origin->environment));
    bool copied = origin->environment != NULL;
    for (size_t i = 0; copied && i < count; i++)
        copied = (origin->environment[i] = strdup(from[i])) != NULL;
    return copied;
}

struct bf_isolate_origin *bf_isolate_origin_create(const VkInstanceCreateInfo *info,
                                                   char *const *environment)
{
    struct bf_isolate_origin *origin = calloc(1, sizeof(*origin));
    if (!origin)
        return NULL;
    const VkApplicationInfo *a = info->pApplicationInfo;
    bool copied = copy_environment(origin, environment);
    origin->flags = info->flags;
    if (a) {
        origin->application = (VkApplicationInfo){
            .sType = VK_STRUCTURE_TYPE_APPLICATION_INFO,
            .applicationVersion = a->applicationVersion,
            .engineVersion = a->engineVersion,
            .apiVersion = a->apiVersion,
        };
        copied = copied && copy_text(&origin->application.pApplicationName, a->pApplicationName) &&
                 copy_text(&origin->application.pEngineName, a->pEngineName);
    }
    origin->name = strdup(program_invocation_name);
    origin->extensions = calloc(info->enabledExtensionCount + 1, sizeof(*origin->extensions));
    copied = copied && origin->name && origin->extensions;
    for (uint32_t i = 0; copied && i < info->enabledExtensionCount; i++) {
        copied = copy_text(&origin->extensions[i], info->ppEnabledExtensionNames[i]);
        origin->extension_count++;
    }
    if (copied)
        return origin;
    bf_isolate_origin_destroy(origin);
    return NULL;
}

void bf_isolate_origin_destroy(struct bf_isolate_origin *origin)
{
    if (!origin)
        return;
    for (char **v = origin->environment; v && *v; v++)
        free(*v);
    for (uint32_t i = 0; i < origin->extension_count; i++)
        free((void *)(uintptr_t)origin->extensions[i]);
    free((void *)(uintptr_t)origin->application.pApplicationName);
    free((void *)(uintptr_t)origin->application.pEngineName);
    free(origin->extensions);
    free(origin->environment);
    free(origin->name);
    free(origin);
}
