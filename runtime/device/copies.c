/* SPDX-License-Identifier: MIT */
/* Finds other copies of libbelfry.so in the process, among the objects that the dynamic linker has
 * loaded. */
#include "device/copies.h"

#include <dlfcn.h>
#include <link.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/message.h"
#include "belfry/belfry.h"

#define NAME       "libbelfry.so"
#define COPIES     4 /* more than a process has */
#define PATH_BYTES 512

struct copies {
    const void *self; /* where the object that this code is part of begins */
    uint32_t count;
    char paths[COPIES][PATH_BYTES];
};

/* Only notes names: the dynamic linker's lock is held. */
static int copies_note(struct dl_phdr_info *info, size_t size, void *context)
{
    (void)size;
    struct copies *c = context;
    const char *base = strrchr(info->dlpi_name, '/');
    base = base ? base + 1 : info->dlpi_name;
    if (strncmp(base, NAME, strlen(NAME)) == 0 && (const void *)info->dlpi_addr != c->self &&
        c->count < COPIES && strlen(info->dlpi_name) < PATH_BYTES)
        strcpy(c->paths[c->count++], info->dlpi_name);
    return 0;
}

static void copy_tell(const char *call, const char *self, const char *path)
{
    void *other = dlopen(path, RTLD_LAZY | RTLD_NOLOAD);
    if (!other)
        return; /* it has been unloaded meanwhile */
    uint32_t (*get_version)(void) = (uint32_t(*)(void))dlsym(other, "bfGetVersion");
    uint32_t theirs = get_version ? get_version() : 0, ours = bfGetVersion();
    bf_message(
        BF_MESSAGE_ERROR,
        "%s: the device is not known to libbelfry %u.%u.%u (%s), which the program calls; there is "
        "libbelfry %u.%u.%u (%s), too, which may be the layer's",
        call, VK_API_VERSION_MAJOR(ours), VK_API_VERSION_MINOR(ours), VK_API_VERSION_PATCH(ours),
        self, VK_API_VERSION_MAJOR(theirs), VK_API_VERSION_MINOR(theirs),
        VK_API_VERSION_PATCH(theirs), path);
    dlclose(other);
}

void bf_copies_tell(const char *call)
{
    Dl_info self;
    if (!dladdr((const void *)(uintptr_t)bf_copies_tell, &self))
        return;
    struct copies copies = {.self = self.dli_fbase};
    dl_iterate_phdr(copies_note, &copies);
    for (uint32_t i = 0; i < copies.count; i++)
        copy_tell(call, self.dli_fname, copies.paths[i]);
}
