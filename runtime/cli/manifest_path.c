/* SPDX-License-Identifier: MIT */
/* Finds the layer's manifest in the tree that this program lies in. */
#include "cli/cli.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

char *cli_manifest(void)
{
    char program[PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", program, sizeof(program) - 1);
    if (length < 0) {
        cli_warn("can't find out where this program lies: /proc/self/exe: %s", strerror(errno));
        return NULL;
    }
    program[length] = '\0';
    *strrchr(program, '/') = '\0';

    /* The build tree has the manifest beside the libraries, an installed tree where the loader
     * looks for it. */
    static const char *const folders[] = {"../lib", BELFRY_MANIFESTS_FROM_BIN};
    char *tried[2] = {NULL, NULL};
    char *found = NULL;
    for (size_t i = 0; i < 2 && !found; i++) {
        tried[i] = cli_format("%s/%s/" CLI_MANIFEST, program, folders[i]);
        found = realpath(tried[i], NULL);
    }
    if (!found) {
        cli_warn("the layer's manifest is missing: neither %s nor %s exists", tried[0], tried[1]);
    }
    for (size_t i = 0; i < 2; i++) {
        free(tried[i]);
    }
    return found;
}
