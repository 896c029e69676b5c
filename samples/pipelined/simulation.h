/* SPDX-License-Identifier: MIT */
/*
 * The compute half: simulates particles in a flow. There are as many versions of them as the
 * pipeline of the two queues needs.
 */
#ifndef PIPELINED_SIMULATION_H
#define PIPELINED_SIMULATION_H

#include "device.h"
#include "memory.h"

#define SIMULATION_PARTICLE_BYTES 32

/* The time step is fixed. After two minutes everything repeats, because the precision of a float
 * falls as its seconds grow. As in simulate.comp. */
#define SIMULATION_STEP   (1.0f / 60.0f) /* in seconds */
#define SIMULATION_PERIOD 7200u          /* in frames */

struct simulation {
    uint32_t particles;
    uint32_t versions;
    uint32_t seed;
    struct sample_buffer data; /* all versions of all particles, read by both queues */
    VkDescriptorSetLayout set_layout;
    VkDescriptorPool pool;
    VkDescriptorSet set; /* binding 0: the data, for compute and vertex shaders */
    VkPipelineLayout layout;
    VkPipeline pipeline;
};

/* Errors have been reported. `simulation` must be zeroed. */
VkResult simulation_create(struct simulation *simulation, const struct sample_device *device,
                           uint32_t particles, uint32_t versions, uint32_t seed);
void simulation_destroy(struct simulation *simulation, const struct sample_device *device);

/* The index of the first particle of frame `frame`'s version. */
uint32_t simulation_version(const struct simulation *simulation, uint64_t frame);

/* Records the computation of frame `frame` (from 1) from the one before, for the compute queue. */
void simulation_record(const struct simulation *simulation, const struct sample_device *device,
                       VkCommandBuffer commands, uint64_t frame);

#endif
