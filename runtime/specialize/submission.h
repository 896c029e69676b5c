/*
 * Which submissions have finished, as far as the program itself has seen: a use counts only then
 * (RC-5). Nothing is added to a submission and the GPU is asked nothing.
 *
 *  SU-1  A submission is taken for finished only on evidence that implies it: a command buffer of it
 *        is begun, reset or freed (which Vulkan allows only then); its fence, or a timeline value
 *        that it signals, or one of a later submission to the same queue, was seen reached by the
 *        program; or a wait for its queue or the device returned.
 *  SU-2  Each submission counts at most once. What doesn't fit the list of open ones is not counted.
 *
 * Proven by tests/specialize.
 */
#ifndef BELFRY_SPECIALIZE_SUBMISSION_H
#define BELFRY_SPECIALIZE_SUBMISSION_H

#include <stdbool.h>
#include <stdint.h>

#include <vulkan/vulkan.h>

#include "os/export.h"

struct bf_specializer;
struct bf_recording;

/* After the call that submitted them has succeeded; 'queue' is only a name. Command buffers that
 * aren't known are passed over. Thread-safety of all: safe. */
BF_SHARED void bf_submission_made(struct bf_specializer *specializer, const void *queue,
                                  uint32_t count, const VkSubmitInfo2 *infos, VkFence fence);
BF_SHARED void bf_submission_fence_seen(struct bf_specializer *specializer, uint32_t count,
                                        const VkFence *fences);
BF_SHARED void bf_submission_value_seen(struct bf_specializer *specializer, VkSemaphore semaphore,
                                        uint64_t value);
/* NULL: all queues. */
BF_SHARED void bf_submission_queue_idle(struct bf_specializer *specializer, const void *queue);

#endif
