/* SPDX-License-Identifier: MIT */
/*
 * The compute half: particles in a flow, in as many versions as the pipeline of the two queues
 * is deep.
 */
#ifndef PIPELINED_SIMULATION_H
#define PIPELINED_SIMULATION_H

#include "device.h"
#include "memory.h"

#define SIMULATION_PARTICLE_BYTES 32

/* Frames are a fixed step apart, whatever the clock says. After two minutes everything repeats:
 * a float cannot hold ever more seconds at the same precision. As in simulate.comp. */
#define SIMULATION_STEP   (1.0f / 60.0f) /* seconds */
#define SIMULATION_PERIOD 7200u          /* frames */

struct simulation {
    uint32_t particles;
    uint32_t versions;
    uint32_t seed;
    struct sample_buffer data; /* all versions of all particles, read by both queues */
    VkDescriptorSetLayout set_layout;
    VkDescriptorPool pool;
    VkDescriptorSet set; /* binding 0: the data; for compute and vertex shaders */
    VkPipelineLayout layout;
    VkPipeline pipeline;
};

/* Returns VkResult, having complained. `simulation` must be zeroed. */
VkResult simulation_create(struct simulation *simulation, const struct sample_device *device,
                           uint32_t particles, uint32_t versions, uint32_t seed);
void simulation_destroy(struct simulation *simulation, const struct sample_device *device);

/* The first particle of the version that frame `frame` is kept in. */
uint32_t simulation_version(const struct simulation *simulation, uint64_t frame);

/* Records the computing of frame `frame` (from 1) out of the one before, for the compute queue. */
void simulation_record(const struct simulation *simulation, const struct sample_device *device,
                       VkCommandBuffer commands, uint64_t frame);

#endif
