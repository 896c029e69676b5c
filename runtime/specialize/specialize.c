#include "specialize/specialize.h"

#include <stdlib.h>

struct bf_specializer {
    struct bf_specializer_info info;
};

VkResult bf_specializer_create(const struct bf_specializer_info *info,
                               struct bf_specializer **specializer)
{
    struct bf_specializer *s = calloc(1, sizeof(*s));
    if (!s)
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    s->info = *info;
    *specializer = s;
    return VK_SUCCESS;
}

void bf_specializer_destroy(struct bf_specializer *specializer)
{
    free(specializer);
}

struct bf_pipelines *bf_specializer_pipelines(struct bf_specializer *specializer)
{
    (void)specializer;
    return NULL;
}
