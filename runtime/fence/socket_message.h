/* SPDX-License-Identifier: MIT */
/*
 * A message with descriptors that stays in a socket: everybody peeks at it, and nobody removes it
 * (fence/shared.h).
 */
#ifndef BELFRY_FENCE_SOCKET_MESSAGE_H
#define BELFRY_FENCE_SOCKET_MESSAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <vulkan/vulkan.h>

#define BF_MESSAGE_DESCRIPTORS 16

/* Sends it from the other end. The descriptors stay the caller's. Errors:
 * VK_ERROR_TOO_MANY_OBJECTS, VK_ERROR_OUT_OF_HOST_MEMORY. */
VkResult bf_message_put(int to, const void *message, size_t size, const int *fds, uint32_t count);

struct bf_message {
    size_t size;    /* of what there is; it is no more than was asked for, or 'cut' */
    uint32_t count; /* descriptors, which are the caller's */
    int fds[BF_MESSAGE_DESCRIPTORS];
    bool cut;     /* it is longer */
    bool fds_cut; /* not all descriptors have come */
};

/* Peeks at the message in a socket, for at most so many bytes and descriptors. Never blocks,
 * whatever 'fd' is. Errors: VK_ERROR_INVALID_EXTERNAL_HANDLE (there is no message),
 * VK_ERROR_OUT_OF_HOST_MEMORY. */
VkResult bf_message_peek(int fd, void *message, size_t size, uint32_t count,
                         struct bf_message *got);

/* Closes its descriptors from the one of that number on. */
void bf_message_drop(struct bf_message *message, uint32_t first);

/* The error that a failed call on descriptors stands for. */
VkResult bf_message_error(void);

#endif
