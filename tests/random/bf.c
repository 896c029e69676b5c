/* SPDX-License-Identifier: MIT */
/* Finding Belfry's library. */
#include "bf.h"

#include <dlfcn.h>
#include <link.h>
#include "../support/std.h"

struct place {
    char path[4096];
};

static int library_is_belfry(struct dl_phdr_info *info, size_t size, void *found)
{
    struct place *place = found;
    (void)size;
    const char *name = info->dlpi_name ? strrchr(info->dlpi_name, '/') : NULL;
    if (!name || strncmp(name, "/libbelfry.so", 13))
        return 0;
    snprintf(place->path, sizeof(place->path), "%s", info->dlpi_name);
    return 1;
}

bool bf_api_load(struct bf_api *bf, bool own)
{
    struct place place = {""};
    *bf = (struct bf_api){0};
    if (own) {
        const char *build = getenv("BELFRY_TEST_BUILD");
        snprintf(place.path, sizeof(place.path), "%s/lib/libbelfry.so", build ? build : ".");
    } else if (!dl_iterate_phdr(library_is_belfry, &place)) {
        return true;
    }
    bf->library = dlopen(place.path, RTLD_NOW | (own ? 0 : RTLD_NOLOAD));
    if (!bf->library) {
        fprintf(stderr, "belfry-random: cannot open %s: %s\n", place.path, dlerror());
        return false;
    }
#define BF_FIND(name)                                                                              \
    *(void **)&bf->name = dlsym(bf->library, "bf" #name);                                          \
    if (!bf->name) {                                                                               \
        fprintf(stderr, "belfry-random: %s has no bf%s\n", place.path, #name);                     \
        bf_api_unload(bf);                                                                         \
        return false;                                                                              \
    }
    BF_FUNCTIONS(BF_FIND)
#undef BF_FIND
    return true;
}

void bf_api_unload(struct bf_api *bf)
{
    if (bf->library)
        dlclose(bf->library);
    *bf = (struct bf_api){0};
}
