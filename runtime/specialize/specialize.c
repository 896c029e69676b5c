#include "specialize/specialize.h"

#include <stdlib.h>

#include "device/device.h"
#include "specialize/pipeline.h"
#include "specialize/recording.h"
#include "specialize/submission.h"

struct bf_specializer {
    struct bf_specializer_info info;
    struct bf_pipelines pipelines;
    struct bf_submissions submissions;
    struct bf_recorder recorder;
};

VkResult bf_specializer_create(const struct bf_specializer_info *info,
                               struct bf_specializer **specializer)
{
    struct bf_specializer *s = calloc(1, sizeof(*s));
    if (!s)
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    s->info = *info;
    VkResult result = bf_submissions_init(&s->submissions, &s->pipelines);
    if (result != VK_SUCCESS) {
        free(s);
        return result;
    }
    s->recorder.vk = &info->device->vk;
    s->recorder.pipelines = &s->pipelines;
    s->recorder.submissions = &s->submissions;
    atomic_store(&s->recorder.noting, true);
    bf_pipelines_init(&s->pipelines, info->device->handle, &info->device->vk,
                      info->mode == BF_SPECIALIZE_RELAXED);
    *specializer = s;
    return VK_SUCCESS;
}

void bf_specializer_destroy(struct bf_specializer *specializer)
{
    if (!specializer)
        return;
    bf_submissions_finish(&specializer->submissions);
    bf_pipelines_finish(&specializer->pipelines);
    free(specializer);
}

struct bf_pipelines *bf_specializer_pipelines(struct bf_specializer *specializer)
{
    return &specializer->pipelines;
}

struct bf_recorder *bf_specializer_recorder(struct bf_specializer *specializer)
{
    return &specializer->recorder;
}
