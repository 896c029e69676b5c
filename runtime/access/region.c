/* SPDX-License-Identifier: MIT */
/* Parts of resources (bytes, subresources, texels), and whether two of them overlap. */
#include "access/region.h"

#include <stdio.h>
#include <string.h>

static bool spans_meet(const uint32_t a[2], const uint32_t b[2])
{
    return a[0] < b[1] && b[0] < a[1] && a[0] < a[1] && b[0] < b[1];
}

static bool span_covers(const uint32_t a[2], const uint32_t b[2])
{
    return a[0] <= b[0] && b[1] <= a[1];
}

static bool areas_meet(const struct bf_access_area *a, const struct bf_access_area *b)
{
    if (!(a->aspects & b->aspects) || !spans_meet(a->mips, b->mips) ||
        !spans_meet(a->layers, b->layers))
        return false;
    for (int i = 0; i < 3; i++) {
        if (a->low[i] >= b->high[i] || b->low[i] >= a->high[i] || a->low[i] >= a->high[i] ||
            b->low[i] >= b->high[i])
            return false;
    }
    return true;
}

static bool area_covers(const struct bf_access_area *a, const struct bf_access_area *b)
{
    if ((b->aspects & ~a->aspects) || !span_covers(a->mips, b->mips) ||
        !span_covers(a->layers, b->layers))
        return false;
    for (int i = 0; i < 3; i++) {
        if (a->low[i] > b->low[i] || b->high[i] > a->high[i])
            return false;
    }
    return true;
}

static bool bytes_meet(const struct bf_access_region *a, const struct bf_access_region *b)
{
    return a->bytes.begin < b->bytes.end && b->bytes.begin < a->bytes.end &&
           a->bytes.begin < a->bytes.end && b->bytes.begin < b->bytes.end;
}

bool bf_access_region_covers(bool image, const struct bf_access_region *a,
                             const struct bf_access_region *b)
{
    if (image)
        return area_covers(&a->area, &b->area);
    return a->bytes.begin <= b->bytes.begin && b->bytes.end <= a->bytes.end;
}

bool bf_access_region_meets(bool image, const struct bf_access_region *a,
                            const struct bf_access_region *b)
{
    if (!(image ? areas_meet(&a->area, &b->area) : bytes_meet(a, b)))
        return false;
    if (a->some && b->some)
        return false;
    return a->some   ? bf_access_region_covers(image, b, a)
           : b->some ? bf_access_region_covers(image, a, b)
                     : true;
}

int bf_access_region_compare(bool image, const struct bf_access_region *a,
                             const struct bf_access_region *b)
{
    if (image)
        return memcmp(&a->area, &b->area, sizeof(a->area));
    if (a->bytes.begin != b->bytes.begin)
        return a->bytes.begin < b->bytes.begin ? -1 : 1;
    if (a->bytes.end != b->bytes.end)
        return a->bytes.end < b->bytes.end ? -1 : 1;
    return 0;
}

/* "layer 3", "layers 3 to 5", "layers from 3". */
static int put_span(char *buffer, size_t size, const char *separator, const char *name,
                    const uint32_t span[2])
{
    if (span[1] == UINT32_MAX)
        return snprintf(buffer, size, "%s%ss from %u", separator, name, span[0]);
    if (span[1] - span[0] == 1)
        return snprintf(buffer, size, "%s%s %u", separator, name, span[0]);
    return snprintf(buffer, size, "%s%ss %u to %u", separator, name, span[0], span[1] - 1);
}

const char *bf_access_region_text(bool image, const struct bf_access_region *region, char *buffer,
                                  size_t size)
{
    const char *some = region->some ? "some of " : "";
    if (!image) {
        unsigned long long begin = region->bytes.begin, end = region->bytes.end;
        if (region->bytes.end == UINT64_MAX)
            snprintf(buffer, size, "%sbytes from %llu", some, begin);
        else
            snprintf(buffer, size, "%sbytes %llu to %llu", some, begin, end - 1);
        return buffer;
    }
    const struct bf_access_area *a = &region->area;
    bool whole = a->mips[0] == 0 && a->mips[1] == UINT32_MAX && a->layers[0] == 0 &&
                 a->layers[1] == UINT32_MAX;
    bool boxed = a->high[0] != UINT32_MAX || a->high[1] != UINT32_MAX,
         deep = a->low[2] != 0 || a->high[2] != UINT32_MAX;
    if (whole && !boxed && !deep) {
        snprintf(buffer, size, "%sall of it", some);
        return buffer;
    }
    int used = snprintf(buffer, size, "%s", some);
    used += put_span(buffer + used, size - (size_t)used, "", "mip level", a->mips);
    if ((size_t)used < size)
        used += put_span(buffer + used, size - (size_t)used, ", ", "layer", a->layers);
    if (boxed && (size_t)used < size)
        used += snprintf(buffer + used, size - (size_t)used, ", texels (%u, %u) to (%u, %u)",
                         a->low[0], a->low[1], a->high[0] - 1, a->high[1] - 1);
    if (deep && (size_t)used < size)
        put_span(buffer + used, size - (size_t)used, ", ", "slice",
                 (const uint32_t[2]){a->low[2], a->high[2]});
    return buffer;
}
