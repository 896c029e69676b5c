/* SPDX-License-Identifier: MIT */
/*
 * Memory behind a descriptor, whose size is fixed: nobody who has it, another process included, can
 * shrink it under a mapping, which would end whoever looks there by SIGBUS.
 */
#ifndef BELFRY_BASE_SEALED_MEMORY_H
#define BELFRY_BASE_SEALED_MEMORY_H

#include <fcntl.h>
#include <stddef.h>

#include <vulkan/vulkan.h>

#define BF_SEALS (F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL)

/* Creates zeroed memory of that name and size in bytes, as a descriptor of the caller's. Errors:
 * VK_ERROR_TOO_MANY_OBJECTS (descriptors), VK_ERROR_FEATURE_NOT_PRESENT (a kernel without memfds),
 * VK_ERROR_OUT_OF_HOST_MEMORY. Thread-safety: safe. */
VkResult bf_sealed_memory_create(const char *name, size_t size, int *fd);

/* The same with these seals, for a creator who adds the others once he has mapped it. */
VkResult bf_memory_create(const char *name, size_t size, int seals, int *fd);

/* What an errno of a call that makes a descriptor means. */
VkResult bf_descriptor_error(int error);

#endif
