/* SPDX-License-Identifier: MIT */
/*
 * A queue for user-mode submission, with its ring and its doorbell: all that a program needs to
 * submit work by stores to memory (belfry/user_mode_submission.h).
 */
#ifndef SAMPLE_RING_H
#define SAMPLE_RING_H

#include <belfry/user_mode_submission.h>

struct sample_ring {
    BfCommandQueue queue;
    BfFence progress; /* the queue's: has value n once the entry with n is complete */
    BfRing ring;
    BfCreateDoorbell doorbell;
    BfRingWriter writer;
    uint64_t last; /* the progress value of the last entry */
};

/* The first submission connects the doorbell. `ring` must be destroyed in any case. */
VkResult sample_ring_create(BfDevice device, BfCommandListType type, uint32_t entries,
                            struct sample_ring *ring);
VkResult sample_ring_connect(const struct sample_ring *ring);

/* What has been written must be complete. Accepts a zeroed one. */
void sample_ring_destroy(struct sample_ring *ring);

/* Writes an entry, whose progress value becomes `last`, without ringing. Where the ring is full, it
 * lets other threads run until there is room, or the queue has been ended. */
VkResult sample_ring_append(struct sample_ring *ring, const BfRingEntry *entry);

/* Writes an entry with the command buffer of that number, and the next progress value, and rings.
 * */
VkResult sample_ring_execute(struct sample_ring *ring, uint32_t command_buffer);

/* Until the last entry is complete. */
VkResult sample_ring_wait(const struct sample_ring *ring);

#endif
