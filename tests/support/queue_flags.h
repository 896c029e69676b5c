/* SPDX-License-Identifier: MIT */
/* What a queue family can do, in a letter each: tables of families fit into lines. */
#ifndef BELFRY_TESTS_SUPPORT_QUEUE_FLAGS_H
#define BELFRY_TESTS_SUPPORT_QUEUE_FLAGS_H

#include <vulkan/vulkan_core.h>

#define G VK_QUEUE_GRAPHICS_BIT
#define C VK_QUEUE_COMPUTE_BIT
#define T VK_QUEUE_TRANSFER_BIT
#define S VK_QUEUE_SPARSE_BINDING_BIT

#endif
