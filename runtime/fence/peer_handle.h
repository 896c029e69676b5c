/* SPDX-License-Identifier: MIT */
/*
 * Peer handles: the descriptors exported with BF_SHARE_TRUSTED_BIT (SH-19). Each is a socket with
 * one message that contains the fence's plain descriptor, the peer memory, and the peer timelines
 * as opaque descriptors of the driver.
 */
#ifndef BELFRY_FENCE_PEER_HANDLE_H
#define BELFRY_FENCE_PEER_HANDLE_H

#include <stdbool.h>

#include "fence/socket_message.h"

struct bf_scheduler;
struct bf_fence;

/* What a descriptor contains. */
struct bf_peer_handle {
    int plain; /* the plain descriptor: the given one, or that in the peer handle */
    bool is_one;
    bool matches; /* it has peer timelines, of this device and driver */
    struct bf_message inside;
};

/* Reads what a descriptor contains; without 'trusted', only the plain descriptor is taken out.
 * Errors: VK_ERROR_INVALID_EXTERNAL_HANDLE (a damaged peer handle; one line),
 * VK_ERROR_TOO_MANY_OBJECTS, VK_ERROR_OUT_OF_HOST_MEMORY. */
VkResult bf_peer_handle_open(const struct bf_scheduler *scheduler, int fd, bool trusted,
                             struct bf_peer_handle *peer_handle);
/* Closes the descriptors that are left in it. */
void bf_peer_handle_close(struct bf_peer_handle *peer_handle);

/* Imports the peer timelines for a fence that was opened from the peer handle's plain descriptor
 * and is not yet known to the program. Errors: those of vkCreateSemaphore and
 * vkImportSemaphoreFdKHR, and of bf_peer_memory_join. */
VkResult bf_peer_handle_import_timelines(struct bf_fence *fence, int fd,
                                         struct bf_peer_handle *peer_handle);

/* Exports a descriptor of the fence's peer handle, which is the caller's; the owner's handle is
 * created with the first. Errors: VK_ERROR_FEATURE_NOT_PRESENT (the object is not the owner's, and
 * was not opened from a peer handle; one line), VK_ERROR_TOO_MANY_OBJECTS, those of
 * vkCreateSemaphore and vkGetSemaphoreFdKHR. */
VkResult bf_peer_handle_export(struct bf_fence *fence, int *fd);

#endif
