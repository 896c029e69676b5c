/* SPDX-License-Identifier: MIT */
/* What a bystander has seen (bystander.c), as 'bystander_seen' in its library. */
#ifndef BELFRY_TEST_LAYER_BYSTANDER_H
#define BELFRY_TEST_LAYER_BYSTANDER_H

#include <stdint.h>

#include <vulkan/vulkan.h>

#define BYSTANDER_QUEUES 64

struct bystander {
    uint32_t instances, devices; /* calls of vkCreateInstance and vkCreateDevice */
    uint32_t queue_count;        /* of the last device: what the program above it asked for */
    VkQueue queues[BYSTANDER_QUEUES];
    uint32_t submits;      /* either form */
    uint32_t bad_queues;   /* handles that were no queue, or not one of those */
    uint32_t unset_queues; /* handles without the device's dispatch pointer */
};

#endif
