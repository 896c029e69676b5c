/* SPDX-License-Identifier: MIT */
/*
 * Recordings: which resources a command buffer, or a call of bfQueueUses, uses.
 *
 * A recording belongs to one thread until it is closed. Then it becomes a block, which never
 * changes and is shared by all its executions.
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
    BF_ACCESS_WRITE_SOME, /* some of the bytes: an inexact range (access/region.h) */
    BF_ACCESS_READ_SOME,
    BF_ACCESS_USE_COUNT,
};

/* Creates a recording, which bf_access_queue_execute finds by the command buffer. NULL: the check
 * is off, or has just ended. */
struct bf_access_recording *bf_access_recording_create(struct bf_access *access,
                                                       VkCommandBuffer command_buffer);
/* NULL is allowed in these three. Executions of the command buffer keep what was recorded. */
void bf_access_recording_destroy(struct bf_access_recording *recording);
void bf_access_recording_reset(struct bf_access_recording *recording);
void bf_access_recording_close(struct bf_access_recording *recording);

/* 'size' may be VK_WHOLE_SIZE. 'what' is the command, and outlives the recording. */
void bf_access_record_bytes(struct bf_access_recording *recording, VkBuffer buffer,
                            VkDeviceSize offset, VkDeviceSize size, enum bf_access_use use,
                            const char *what);
/* 'count' times 'size' bytes, 'stride' apart. */
void bf_access_record_steps(struct bf_access_recording *recording, VkBuffer buffer,
                            VkDeviceSize offset, VkDeviceSize size, VkDeviceSize stride,
                            uint64_t count, enum bf_access_use use, const char *what);
void bf_access_record_area(struct bf_access_recording *recording, VkImage image,
                           const struct bf_access_area *area, enum bf_access_use use,
                           const char *what);

/* The area must be in the state 'before', and is in 'after' then. Before UNKNOWN: not checked.
 * After UNKNOWN: not known from then on. */
void bf_access_record_transition(struct bf_access_recording *recording, VkImage image,
                                 const struct bf_access_area *area, BfResourceState before,
                                 BfResourceState after, const char *what);

/* Adds all uses of a secondary command buffer. */
void bf_access_record_secondary(struct bf_access_recording *recording, VkCommandBuffer secondary);

/* The command buffer waits for something that the model doesn't have: its uses are left out until
 * it is reset. */
void bf_access_record_blind(struct bf_access_recording *recording);

/* The description of the image. False: it was never added. */
bool bf_access_image_get(struct bf_access *access, VkImage image,
                         struct bf_access_image_info *info);

/* ------------------------------------------------------------------- For the model's own use -- */

/* The uses of one resource, by kind. Exact ranges are sorted, and adjacent ones are joined. */
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

/* A block is one allocation. */
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

/* The block of a closed recording, with a reference; NULL: the command buffer has none. */
struct bf_access_block *bf_access_block_of(struct bf_access *access,
                                           VkCommandBuffer command_buffer);

/* Makes a block of the uses of bfQueueUses. NULL: out of memory. The lock isn't held. */
struct bf_access_block *bf_access_block_from_uses(struct bf_access *access, uint32_t count,
                                                  const BfResourceUse *uses);

#endif
