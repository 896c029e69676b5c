/* SPDX-License-Identifier: MIT */
/* Runs that are traced. */
#include "support/traced.h"

#include <unistd.h>

void traced_prepare(struct traced *t)
{
    snprintf(t->folder, sizeof(t->folder), "/tmp/belfry-traced-XXXXXX");
    assert_non_null(mkdtemp(t->folder));
    snprintf(t->path, sizeof(t->path), "%s/trace", t->folder);
}

void traced_open(struct traced *t, struct fixture *f)
{
    char setting[96];
    traced_prepare(t);
    snprintf(setting, sizeof(setting), "VK_BELFRY_MULTI_ENGINE_TRACE=%s", t->path);
    fixture_open(f, SETTINGS(setting));
}

bool traced_has(const struct traced *t, const char *text)
{
    static char bytes[1 << 18];
    FILE *file = fopen(t->path, "rb");
    assert_non_null(file);
    size_t size = fread(bytes, 1, sizeof(bytes), file);
    fclose(file);
    return memmem(bytes, size, text, strlen(text)) != NULL;
}

void traced_remove(const struct traced *t)
{
    assert_int_equal(unlink(t->path), 0);
    assert_int_equal(rmdir(t->folder), 0);
}
