/* SPDX-License-Identifier: MIT */
/*
 * Images of several samples, which no copy reaches: they are filled in tiles, by clears of an
 * attachment, and each sample is read by a compute shader. Between test_resource.c and
 * test_resource_samples.c.
 *
 *  DS-1  Every sample of what is written is read, as its bits: colors through a view of unsigned
 *        integers, whatever they are; depths as floats.
 *  DS-2  The tiles of an image are of different values, and other ones for each seed.
 *
 * Thread-safety: as that of the test resources.
 */
#ifndef BELFRY_SPECIALIZE_TEST_RESOURCE_SAMPLES_H
#define BELFRY_SPECIALIZE_TEST_RESOURCE_SAMPLES_H

#include "specialize/check/test_resource.h"

/* What one sample is where it is read to: whole words. False: it can't be read. */
bool bf_samples_texel(VkFormat format, VkImageAspectFlagBits aspect, struct bf_texel *texel);

/* Of such an image, where its color is read: the format of the view. The image's flags must allow
 * for it. */
VkFormat bf_samples_alias(VkFormat format);
/* Can the samples of an image be read that has so many? VK_ERROR_FORMAT_NOT_SUPPORTED: they can't.
 * Else VK_SUCCESS, and errors as of the driver. */
VkResult bf_samples_can_read(const struct bf_test_place *place, VkFormat format,
                             VkSampleCountFlagBits samples);

/*
 * What it takes to fill and to read all such images; they are there, and 'result' is. Errors:
 * VK_ERROR_OUT_OF_HOST_MEMORY and those of the driver.
 */
VkResult bf_samples_build(struct bf_test_resources *resources);
void bf_samples_finish(struct bf_test_resources *resources);

/* From whatever layout to GENERAL. */
void bf_samples_record_fill(const struct bf_test_resources *resources, VkCommandBuffer commands,
                            uint32_t image, const struct bf_inputs *inputs);
/* In GENERAL; barriers are the caller's. */
void bf_samples_record_read(const struct bf_test_resources *resources, VkCommandBuffer commands,
                            const struct bf_test_image *image);

#endif
