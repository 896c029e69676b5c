/* SPDX-License-Identifier: MIT */
/* What the files of a check's resources share: test_resource.c,
 * test_resource_sets.c and test_resource_samples.c. */
#ifndef BELFRY_SPECIALIZE_TEST_RESOURCE_SETS_H
#define BELFRY_SPECIALIZE_TEST_RESOURCE_SETS_H

#include "specialize/check/test_resource.h"

/* 'array' is the address of a pointer: it gets room for one more than 'count'. */
bool bf_test_resources_grow(void *array, uint32_t count, uint32_t *room, size_t size);

/* Whether shaders may read it, and the seed is of the half on which any numbers lie there [DU-6] */
bool bf_test_resources_any(const struct bf_inputs *inputs, const struct bf_test_image_info *info);
/* One from 0 to 1, or a quarter. */
float bf_test_resources_unit(const struct bf_inputs *inputs, uint64_t stream, bool any);

/* The least power of two that is no less. */
uint64_t bf_test_resources_even(uint64_t least);

#define BF_TEST_REGIONS 32 /* of an image: aspects times levels */

/* Copies of all of an image, between it and a buffer where it lies at its offset; 'sizes' in bytes,
 * 'texels' what they consist of. Returns how many. Those of an image with several samples are where
 * they are read to, sample by sample; there are none unless it is written. */
uint32_t bf_test_resources_list_regions(const struct bf_test_image *image,
                                        VkBufferImageCopy regions[BF_TEST_REGIONS],
                                        VkDeviceSize sizes[BF_TEST_REGIONS],
                                        struct bf_texel texels[BF_TEST_REGIONS]);

/* The resources have been built. */
VkResult bf_test_resources_build_sets(struct bf_test_resources *resources);
/* Inline uniform blocks; no set is in use. */
void bf_test_resources_fill_blocks(struct bf_test_resources *resources,
                                   const struct bf_inputs *inputs);

#endif
