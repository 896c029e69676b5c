/* SPDX-License-Identifier: MIT */
/* A program's storage buffer in a descriptor buffer, in place of a set: what a program does of whom
 * BELFRY_THROUGH_DESCRIPTOR_BUFFERS in the environment asks it. All fail the test when something is
 * amiss. */
#ifndef BELFRY_TEST_SPECIALIZE_DESCRIBED_H
#define BELFRY_TEST_SPECIALIZE_DESCRIBED_H

#include "support/fixture.h"

struct described {
    bool is; /* else the program has sets, and nothing else here */
    VkBuffer buffer;
    VkDeviceMemory memory;
    VkDeviceAddress address;
};

/* fixture_open, with descriptor buffers if they are asked for; without these the program is
 * skipped. */
void described_fixture_open(struct fixture *f, struct described *d);
VkDescriptorSetLayout described_layout(const struct described *d, VkDevice device);
/* Puts it where the layout's only binding is. */
void described_write(struct described *d, const struct fixture *f, VkDescriptorSetLayout layout,
                     VkBuffer storage);
void described_bind(const struct described *d, VkCommandBuffer commands, VkPipelineLayout layout);
/* A compute pipeline with that layout. */
VkPipeline described_compute(const struct described *d, VkDevice device, VkPipelineLayout layout,
                             const uint32_t *words, size_t size);
void described_close(struct described *d, VkDevice device);

#endif
