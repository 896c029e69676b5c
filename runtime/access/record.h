/*
 * Recordings: what a command buffer, or a bfQueueUses, uses of which resource.
 *
 * While it is recorded a recording belongs to one thread. Closed, it becomes a block, which never
 * changes and is shared by all executions of it.
 *
 * Without memory the check ends (A-4, access/access.h). Thread-safety: the recording externally
 * synchronised.
 */
#ifndef BELFRY_ACCESS_RECORD_H
#define BELFRY_ACCESS_RECORD_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include <vulkan/vulkan.h>

#include "access/access.h"
#include "access/region.h"

struct bf_access_resource;
struct bf_access_recording;

enum bf_access_use {
    BF_ACCESS_WRITE,
    BF_ACCESS_READ,
    BF_ACCESS_WRITE_SOME, /* a frame: see access/region.h */
    BF_ACCESS_READ_SOME,
    BF_ACCESS_USE_COUNT,
};

/* The layer's: a recording that bf_access_queue_execute finds by the command buffer. NULL: the
 * check is off, or has just ended. */
BF_SHARED struct bf_access_recording *bf_access_recording_create(struct bf_access *access,
                                                                 VkCommandBuffer command_buffer);
/* NULL is allowed in these three. What was executed stays. */
BF_SHARED void bf_access_recording_destroy(struct bf_access_recording *recording);
BF_SHARED void bf_access_recording_reset(struct bf_access_recording *recording);
BF_SHARED void bf_access_recording_close(struct bf_access_recording *recording);

/* 'size' may be VK_WHOLE_SIZE. 'what' is the command, and outlives the recording. */
BF_SHARED void bf_access_record_bytes(struct bf_access_recording *recording, VkBuffer buffer,
                                      VkDeviceSize offset, VkDeviceSize size,
                                      enum bf_access_use use, const char *what);
/* 'count' times 'size' bytes, 'stride' apart. */
BF_SHARED void bf_access_record_steps(struct bf_access_recording *recording, VkBuffer buffer,
                                      VkDeviceSize offset, VkDeviceSize size, VkDeviceSize stride,
                                      uint64_t count, enum bf_access_use use, const char *what);
BF_SHARED void bf_access_record_area(struct bf_access_recording *recording, VkImage image,
                                     const struct bf_access_area *area, enum bf_access_use use,
                                     const char *what);

/* The area is in the state 'before' here, and is left in 'after'. Before UNKNOWN: not checked.
 * After UNKNOWN: not known from here on. */
BF_SHARED void bf_access_record_transition(struct bf_access_recording *recording, VkImage image,
                                           const struct bf_access_area *area,
                                           BfResourceState before, BfResourceState after,
                                           const char *what);

/* All that the secondary command buffer uses. */
BF_SHARED void bf_access_record_secondary(struct bf_access_recording *recording,
                                          VkCommandBuffer secondary);

/* It waits for something that the model can't follow: until it is reset its uses are left out. */
BF_SHARED void bf_access_record_blind(struct bf_access_recording *recording);

/* What the image was told to be. False: it was never told. */
BF_SHARED bool bf_access_image_get(struct bf_access *access, VkImage image,
                                   struct bf_access_image_info *info);

/* ------------------------------------------------------------------- For the model's own use -- */

/* The uses of one resource, by kind. Exact ones are sorted, and those that touch are one. */
struct bf_access_slice {
    struct bf_access_resource *resource;
    struct {
        const struct bf_access_region *regions;
        uint32_t count;
    } uses[BF_ACCESS_USE_COUNT];
};

struct bf_access_transition {
    struct bf_access_resource *resource; /* referenced */
    struct bf_access_area area;
    BfResourceState before, after;
    const char *what;
};

/* Its memory is one piece. */
struct bf_access_block {
    _Atomic uint32_t references;
    uint32_t slice_count, transition_count;
    struct bf_access_slice *slices;           /* their resources are referenced */
    struct bf_access_transition *transitions; /* in order */
};

void bf_access_block_reference(struct bf_access_block *block);
void bf_access_block_release(struct bf_access_block *block); /* NULL is allowed */

/* Frees all recordings that are left. */
void bf_access_recordings_finish(struct bf_access *access);

/* The block of a closed recording, with a reference; NULL: there is none. */
struct bf_access_block *bf_access_block_of(struct bf_access *access,
                                           VkCommandBuffer command_buffer);

/* A block of uses. NULL: out of memory. The lock isn't held. */
struct bf_access_block *bf_access_block_from_uses(struct bf_access *access, uint32_t count,
                                                  const BfResourceUse *uses);

#endif
