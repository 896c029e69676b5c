/* The specialiser of a device: where it is made, and which commands it sees. */
#include "specialize.h"

#include <stdlib.h>
#include <string.h>

#include "os/log.h"

struct command {
    const char *name;
    PFN_vkVoidFunction function;
};

#define COMMAND(name, stand_in) {#name, (PFN_vkVoidFunction)layer_specialize_##stand_in},
static const struct command commands[] = {
    LAYER_SPECIALIZE_PIPELINE_COMMANDS(COMMAND) LAYER_SPECIALIZE_RECORDING_COMMANDS(COMMAND)
        LAYER_SPECIALIZE_FINISHED_COMMANDS(COMMAND){NULL, NULL}};

PFN_vkVoidFunction layer_specialize_find(const char *name)
{
    for (const struct command *c = commands; c->name; c++) {
        if (strcmp(c->name, name) == 0)
            return c->function;
    }
    return NULL;
}

void layer_specialize_create(struct layer_device *d)
{
    const struct bf_settings *settings = &d->instance->settings;
    if (settings->specialize == BF_SPECIALIZE_OFF)
        return;
    if (d->access) {
        bf_log(BF_LOG_WARNING, "specialize is off: the check 'access' looks at the same commands");
        return;
    }
    struct bf_specializer_info info = {
        .device = d->runtime,
        .mode = settings->specialize,
        .isolate = settings->isolate == BF_ISOLATE_PROCESS,
        .folder = settings->cache ? settings->cache : settings->user_cache,
        .report = settings->report,
        .driver_version = d->physical->driver_version,
        .physical = d->physical->handle,
        .get_instance_proc_addr = d->instance->next,
        .instance = d->instance->handle,
        .api_version = d->physical->api_version,
    };
    memcpy(info.driver_uuid, d->physical->cache_uuid, sizeof(info.driver_uuid));
    if (bf_specializer_create(&info, &d->specializer) != VK_SUCCESS)
        d->specializer = NULL; /* it has said why; the program goes on without */
    else
        layer_specialize_pipelines_create(d);
}

void layer_specialize_destroy(struct layer_device *d)
{
    bf_specializer_destroy(d->specializer);
    d->specializer = NULL;
}
