/* SPDX-License-Identifier: MIT */
/*
 * Regions: which part of a resource is used, bytes of a buffer or an area of an image.
 *
 * A region may be inexact: *some* bytes in it are used, but it isn't known which (the vertices that
 * an indexed draw reads). Then it is certain to overlap only with a region that covers all of it.
 */
#ifndef BELFRY_ACCESS_REGION_H
#define BELFRY_ACCESS_REGION_H

#include <stdbool.h>
#include <stdint.h>

#include <vulkan/vulkan.h>

/* Half-open ranges. Where there is more than one mip level, the box covers everything. */
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

/* Is it certain that they overlap? */
bool bf_access_region_meets(bool image, const struct bf_access_region *a,
                            const struct bf_access_region *b);

/* Does 'a' contain all of 'b'? */
bool bf_access_region_covers(bool image, const struct bf_access_region *a,
                             const struct bf_access_region *b);

/* For qsort: by begin and end; of images any order in which equal areas are adjacent. */
int bf_access_region_compare(bool image, const struct bf_access_region *a,
                             const struct bf_access_region *b);

/* Writes "bytes 16 to 31", for instance. Returns 'buffer'. */
const char *bf_access_region_text(bool image, const struct bf_access_region *region, char *buffer,
                                  size_t size);

#endif
