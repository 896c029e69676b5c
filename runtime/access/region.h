/*
 * Regions: which part of a resource something uses. Bytes of a buffer, or an area of an image.
 *
 * A region may be known only as a frame: *some* bytes in it are used, which ones is not known (the
 * vertices that an indexed draw reads). Then it certainly meets only what covers all of it.
 */
#ifndef BELFRY_ACCESS_REGION_H
#define BELFRY_ACCESS_REGION_H

#include <stdbool.h>
#include <stdint.h>

#include <vulkan/vulkan.h>

#include "base/export.h"

/* Everything from the first to before the second. Where more than one mip level is meant, the box
 * is everything. */
struct bf_access_area {
    VkImageAspectFlags aspects;
    uint32_t mips[2], layers[2];
    uint32_t low[3], high[3]; /* texels */
};

struct bf_access_region {
    const char *what; /* the command or call that uses it; not owned */
    bool some;
    union {
        struct {
            uint64_t begin, end;
        } bytes;
        struct bf_access_area area;
    };
};

/* All of an image. */
static const struct bf_access_area bf_access_area_all = {
    .aspects = ~0u,
    .mips = {0, UINT32_MAX},
    .layers = {0, UINT32_MAX},
    .high = {UINT32_MAX, UINT32_MAX, UINT32_MAX},
};

/* Do they certainly have something in common? */
bool bf_access_region_meets(bool image, const struct bf_access_region *a,
                            const struct bf_access_region *b);

/* Is all of 'b' in 'a'? */
bool bf_access_region_covers(bool image, const struct bf_access_region *a,
                             const struct bf_access_region *b);

/* By begin and end, or any order that puts equal areas side by side. For qsort's sake. */
int bf_access_region_compare(bool image, const struct bf_access_region *a,
                             const struct bf_access_region *b);

/* "bytes 16 to 31". Returns 'buffer'. */
const char *bf_access_region_text(bool image, const struct bf_access_region *region, char *buffer,
                                  size_t size);

#endif
