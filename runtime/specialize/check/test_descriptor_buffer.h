/* SPDX-License-Identifier: MIT */
/*
 * Descriptor buffers with a check's test resources, in place of sets, for pipelines made with
 * VK_PIPELINE_CREATE_DESCRIPTOR_BUFFER_BIT_EXT. One buffer holds the descriptors of all sets.
 *
 * Thread-safety: one thread at a time.
 *
 * Proven by tests/specialize/check/descriptor_buffer.c.
 */
#ifndef BELFRY_SPECIALIZE_TEST_DESCRIPTOR_BUFFER_H
#define BELFRY_SPECIALIZE_TEST_DESCRIPTOR_BUFFER_H

#include "specialize/check/test_resource.h"

/* Whether the layout's sets lie in descriptor buffers. */
bool bf_test_descriptor_buffer_wanted(const struct bf_check_layout *layout);

/* Before anything is built. Error: VK_ERROR_FEATURE_NOT_PRESENT, noted in 'why': the device has no
 * descriptor buffers, or the layout has sets that aren't for them. */
VkResult bf_test_descriptor_buffer_plan(struct bf_test_resources *resources,
                                        const struct bf_check_layout *layout);

/* Makes the buffer, without descriptors: 'sizes' says how large these are. Errors: those of
 * bf_buffer_create, and VK_ERROR_FEATURE_NOT_PRESENT: the sets are too large. */
VkResult bf_test_descriptor_buffer_make(struct bf_test_resources *resources,
                                        VkPhysicalDeviceDescriptorBufferPropertiesEXT *sizes);

/* Puts the descriptors of a binding, whose infos are filled in, into the buffer. Error:
 * VK_ERROR_FEATURE_NOT_PRESENT, noted in 'why'. */
VkResult bf_test_descriptor_buffer_write(struct bf_test_resources *resources,
                                         const VkPhysicalDeviceDescriptorBufferPropertiesEXT *sizes,
                                         const struct bf_test_write *write);
/* What an inline uniform block holds. */
void bf_test_descriptor_buffer_write_block(const struct bf_test_resources *resources,
                                           const struct bf_test_write *write);

/* The buffer, and where each set lies in it. */
void bf_test_descriptor_buffer_bind(struct bf_test_resources *resources, VkCommandBuffer commands,
                                    VkPipelineBindPoint point);

#endif
