/* SPDX-License-Identifier: MIT */
/*
 * The peer handle that a trusted descriptor is (SH-19): a socket with one message, in which lie the
 * fence's plain descriptor, the peer memory, and the peer timelines as the driver's opaque descriptors.
 */
#ifndef BELFRY_FENCE_PEER_HANDLE_H
#define BELFRY_FENCE_PEER_HANDLE_H

#include <stdbool.h>

#include "fence/socket_message.h"

struct bf_scheduler;
struct bf_fence;

/* What a descriptor turned out to be. */
struct bf_peer_handle {
    int plain; /* the plain descriptor: the one that was given, or one from the peer handle */
    bool is_one;
    bool matches; /* it has peer timelines, of this device and driver */
    struct bf_message inside;
};

/* Looks into a descriptor. Without 'trusted' nothing is taken out but the plain one.
 * Errors: VK_ERROR_INVALID_EXTERNAL_HANDLE (a peer handle, but a bad one; one line),
 * VK_ERROR_TOO_MANY_OBJECTS, VK_ERROR_OUT_OF_HOST_MEMORY. */
VkResult bf_peer_handle_open(const struct bf_scheduler *scheduler, int fd, bool trusted,
                             struct bf_peer_handle *peer_handle);
/* Closes what is left in it. */
void bf_peer_handle_close(struct bf_peer_handle *peer_handle);

/* The fence, opened from the peer handle's plain descriptor and not yet the program's, gets the
 * peer timelines. Errors: those of vkCreateSemaphore and vkImportSemaphoreFdKHR, and of bf_peer_memory_join. */
VkResult bf_peer_handle_import_timelines(struct bf_fence *fence, int fd,
                                         struct bf_peer_handle *peer_handle);

/* A descriptor of the fence's peer handle, the caller's; the owner's is made with the first.
 * Errors: VK_ERROR_FEATURE_NOT_PRESENT (none is the owner's, nor was it opened from one; one line),
 * VK_ERROR_TOO_MANY_OBJECTS, those of vkCreateSemaphore and vkGetSemaphoreFdKHR. */
VkResult bf_peer_handle_export(struct bf_fence *fence, int *fd);

#endif
