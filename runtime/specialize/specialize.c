#include "specialize/specialize.h"

#include <stdlib.h>

#include "device/device.h"
#include "specialize/pipeline.h"

struct bf_specializer {
    struct bf_specializer_info info;
    struct bf_pipelines pipelines;
};

VkResult bf_specializer_create(const struct bf_specializer_info *info,
                               struct bf_specializer **specializer)
{
    struct bf_specializer *s = calloc(1, sizeof(*s));
    if (!s)
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    s->info = *info;
    bf_pipelines_init(&s->pipelines, info->device->handle, &info->device->vk,
                      info->mode == BF_SPECIALIZE_RELAXED);
    *specializer = s;
    return VK_SUCCESS;
}

void bf_specializer_destroy(struct bf_specializer *specializer)
{
    if (specializer)
        bf_pipelines_finish(&specializer->pipelines);
    free(specializer);
}

struct bf_pipelines *bf_specializer_pipelines(struct bf_specializer *specializer)
{
    return &specializer->pipelines;
}
