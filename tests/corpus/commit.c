/* SPDX-License-Identifier: MIT */
/* Asks Belfry, where it is there, to finish its background work now. */
#include "commit.h"

#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <string.h>

#include "report.h"

static int library_is_belfry(struct dl_phdr_info *info, size_t size, void *found)
{
    const char *name = info->dlpi_name ? strrchr(info->dlpi_name, '/') : NULL;
    (void)size;
    if (!name || strncmp(name, "/libbelfry.so", 13))
        return 0;
    snprintf(found, 4096, "%s", info->dlpi_name);
    return 1;
}

bool commit_open(struct commit *commit, VkDevice device)
{
    char path[4096];
    *commit = (struct commit){0};
    if (!dl_iterate_phdr(library_is_belfry, path))
        return true;
    commit->library = dlopen(path, RTLD_NOW | RTLD_NOLOAD);
    if (!commit->library) {
        sample_complain("%s: %s", path, dlerror());
        return false;
    }
#define COMMIT_FIND(name_)                                                                         \
    *(void **)&commit->name_ = dlsym(commit->library, "bf" #name_);                                \
    if (!commit->name_) {                                                                          \
        sample_complain("%s has no bf%s", path, #name_);                                           \
        commit_close(commit);                                                                      \
        return false;                                                                              \
    }
    COMMIT_FUNCTIONS(COMMIT_FIND)
#undef COMMIT_FIND

    VkResult result = commit->GetDevice(device, &commit->device);
    if (result == VK_ERROR_FEATURE_NOT_PRESENT) { /* passed through: as if it weren't there */
        commit_close(commit);
        return true;
    }
    if (sample_check(result, "bfGetDevice") < 0 ||
        sample_check(commit->CreateEvent(0, &commit->event), "bfCreateEvent") < 0) {
        commit_close(commit);
        return false;
    }
    return true;
}

void commit_close(struct commit *commit)
{
    if (commit->event)
        commit->DestroyEvent(commit->event);
    if (commit->library)
        dlclose(commit->library);
    *commit = (struct commit){0};
}

bool commit_results(struct commit *commit, bool freeze, bool *more)
{
    VkBool32 desired = VK_FALSE;
    *more = false;
    if (!commit->device)
        return true;
    if (sample_check(commit->SetBackgroundProcessingMode(
                         commit->device,
                         freeze ? BF_BACKGROUND_PROCESSING_MODE_DISABLE_PROFILING_BY_SYSTEM
                                : BF_BACKGROUND_PROCESSING_MODE_ALLOWED,
                         BF_MEASUREMENTS_ACTION_COMMIT_RESULTS_HIGH_PRIORITY, commit->event,
                         &desired),
                     "bfSetBackgroundProcessingMode") < 0 ||
        sample_check(commit->WaitForEvents(1, &commit->event, VK_FALSE, UINT64_MAX, NULL),
                     "bfWaitForEvents") < 0)
        return false;
    *more = desired;
    return true;
}
