/*
 * The envelope that a trusted descriptor is (SH-19): a socket with one message, in which lie the
 * fence's plain descriptor, the area, and the carriers as the driver's opaque descriptors.
 */
#ifndef BELFRY_FENCE_SHARED_ENVELOPE_H
#define BELFRY_FENCE_SHARED_ENVELOPE_H

#include <stdbool.h>

#include "fence/shared_message.h"

struct bf_device;
struct bf_fence;

/* What a descriptor turned out to be. */
struct bf_envelope {
    int plain; /* the plain descriptor: the one that was given, or one from the envelope */
    bool is_one;
    bool matches; /* it has carriers, of this device and driver */
    struct bf_message inside;
};

/* Looks into a descriptor. Without 'trusted' nothing is taken out but the plain one.
 * Errors: VK_ERROR_INVALID_EXTERNAL_HANDLE (an envelope, but a bad one; one line),
 * VK_ERROR_TOO_MANY_OBJECTS, VK_ERROR_OUT_OF_HOST_MEMORY. */
VkResult bf_envelope_open(const struct bf_device *device, int fd, bool trusted,
                          struct bf_envelope *envelope);
/* Closes what is left in it. */
void bf_envelope_close(struct bf_envelope *envelope);

/* The fence, opened from the envelope's plain descriptor and not yet the program's, gets the
 * carriers. Errors: those of vkCreateSemaphore and vkImportSemaphoreFdKHR, and of bf_area_join. */
VkResult bf_envelope_take_carriers(struct bf_fence *fence, int fd, struct bf_envelope *envelope);

/* A descriptor of the fence's envelope, the caller's; the owner's is made with the first.
 * Errors: VK_ERROR_FEATURE_NOT_PRESENT (none is the owner's, nor was it opened from one; one line),
 * VK_ERROR_TOO_MANY_OBJECTS, those of vkCreateSemaphore and vkGetSemaphoreFdKHR. */
VkResult bf_envelope_export(struct bf_fence *fence, int *fd);

#endif
