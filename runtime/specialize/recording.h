/*
 * What a command buffer's commands have bound and pushed so far, and so which pipeline a draw or a
 * dispatch may be recorded with.
 *
 *  RC-1  A variant is picked only if every byte that is constant in it is known, was pushed in this
 *        command buffer since it was begun, under a layout with the same push-constant ranges as the
 *        pipeline's, and equals the variant's, compared as bytes.
 *  RC-2  Push constants are unknown at begin, after vkCmdExecuteCommands, after generated commands,
 *        and where a push comes through a layout with other ranges than the one before.
 *  RC-3  The program's own bind goes down as it comes; a variant is bound behind it, right before
 *        the draw or dispatch, and the general pipeline is bound again before the next one that the
 *        variant isn't for, and before any command that takes what is bound for the program's own.
 *  RC-4  A command buffer that records a variant holds a reference to it until it is begun again,
 *        reset or freed (VA-1), but for a command that failed: then it may still hold commands.
 *  RC-5  A use counts once for each submission that has finished, as the program itself knows it
 *        (specialize/submission.h), never before. What a secondary command buffer noted counts for
 *        each primary that executes it, as often as it does.
 *  RC-6  While a variant has no verdict, one throw of a coin decides for all uses of a command buffer
 *        whether they get it. Secondary command buffers within passes share their throws with those
 *        that are begun at about the same time, so that a pass that consists of several has one
 *        (TR-3). Where nothing can be measured nothing is thrown, and they get it.
 *
 * Nothing here takes a lock, and nothing is allocated but room for the variants that a command
 * buffer has recorded and, once, for its notes.
 *
 * Proven by tests/specialize: random streams of commands against a model of Vulkan's rules, with
 * variants made for wrong values.
 */
#ifndef BELFRY_SPECIALIZE_RECORDING_H
#define BELFRY_SPECIALIZE_RECORDING_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include <vulkan/vulkan.h>

#include "specialize/pipeline/pipeline.h"
#include "specialize/histogram.h"

struct bf_background;
struct bf_submissions;
struct bf_ab_timing;
struct bf_ab_timer;

#define BF_PUSH_BYTES 256

/* Why nothing is picked, as bits. */
enum bf_recording_block {
    BF_RECORDING_QUERY = 1,     /* a pipeline-statistics or performance query is active */
    BF_RECORDING_FEEDBACK = 2,  /* transform feedback is active: nothing may be bound */
    BF_RECORDING_PROTECTED = 4, /* a protected command buffer; for good */
};

/* So many submissions, one behind the other, share a throw (RC-6): of those passes whose secondary
 * command buffers aren't all begun between the same two submissions few fall between two throws. */
#define BF_RECORDING_SHARED 8

/* What the command buffers of a device have in common; outlives them. */
struct bf_recorder {
    const struct VolkDeviceTable *vk;
    struct bf_pipelines *pipelines;
    struct bf_submissions *submissions;
    _Atomic bool noting;  /* uses are noted; else nothing is counted */
    _Atomic bool stopped; /* nothing is picked from now on */
    _Atomic uint64_t created;
    struct bf_ab_timer *timer; /* variants without a verdict are measured; NULL: they aren't */
    _Atomic uint32_t passes;   /* variants of graphics pipelines on trial */
    const struct bf_background *background; /* SP-3 */
};

/* A variant that a command buffer refers to. */
struct bf_picked {
    struct bf_variant *variant; /* NULL: free */
    uint64_t count;             /* draws and dispatches not yet added to the variant's own */
};

/* One of the two bind points that count. */
struct bf_bound {
    VkPipeline handle;            /* the program's; NULL: none is known */
    struct bf_pipeline *pipeline; /* NULL: it isn't specialised */
    struct bf_variant *variant;   /* bound below in its stead; NULL: the general one is */
    struct bf_picked *picked;     /* the variant's */
};

/* A command buffer. Externally synchronised, as it is; RC-5's part is under the submissions' lock. */
struct bf_recording {
    struct bf_recorder *recorder;
    const struct VolkDeviceTable *vk;
    VkCommandBuffer handle;
    VkCommandBufferLevel level;
    uint32_t blocks;          /* enum bf_recording_block */
    uint32_t queries;         /* active ones that block */
    struct bf_bound bound[2]; /* VK_PIPELINE_BIND_POINT_GRAPHICS, _COMPUTE */

    VkPipelineLayout layout; /* that was pushed through last, and … */
    uint32_t layout_id;      /* … the number of its ranges: for whoever looks them up */
    uint32_t push_id;        /* whose ranges the bytes were pushed under; 0: none is known */
    uint64_t known;          /* bit i: all bytes of word i were pushed */
    _Alignas(8) uint8_t bytes[BF_PUSH_BYTES];

    uint32_t picked_count, picked_capacity; /* RC-4; room is 0 or a power of two */
    struct bf_picked *picked;               /* a hash table */
    struct bf_histogram_notes *notes;       /* NULL: nothing was ever noted */
    bool noted;                             /* the notes hold some of this recording */

    _Atomic uint32_t pending; /* submissions not known to have finished; submissions' lock */
    struct bf_ab_timing
        *timing;     /* measurements recorded in it (specialize/ab_timing.h); NULL: none */
    bool thrown;     /* RC-6: bf_recording_measure */
    bool measurable; /* and it may have measurements of its own */
    bool unthrown;   /* it has draws with a variant on trial that nothing was thrown for */
    bool tries;      /* what was thrown: variants on trial; else the general ones beside them */
    uint64_t number; /* of the throw; where it is measurable, no other recording has it */
    uint32_t timestamp_bits; /* of the queues that it is for; its maker's to set */

    uint32_t passes; /* that were begun, while some were measured; and in its last recording */
    uint32_t passes_before;

    /* Numbers of secondary ones with measurements that it executes; room is 0 or a power of two. */
    uint32_t inner_count, inner_capacity;
    uint64_t *inner;
    /* submission.c's, under the submissions' lock (TR-1). */
    struct bf_recording *next_listed; /* secondary ones with measurements, by number */
    bool listed;                      /* its owner may look */
    uint64_t latest; /* call that submitted it last; 0: none whose measurements are to be read */
    uint32_t latest_epoch;

    struct bf_recording *next, **link; /* of a list of the owner's: its command pool's */
};

/* NULL: out of memory. 'blocks' are there for good: 0 or BF_RECORDING_PROTECTED. */
struct bf_recording *bf_recording_create(struct bf_recorder *recorder, VkCommandBuffer handle,
                                         VkCommandBufferLevel level, uint32_t blocks);
/* It is freed; no submission of it is pending, as Vulkan asks. NULL is allowed. */
void bf_recording_destroy(struct bf_recording *recording);
/* vkBeginCommandBuffer and every kind of reset, once they have succeeded: all its submissions have
 * finished. */
void bf_recording_reset(struct bf_recording *recording);
/* vkEndCommandBuffer, before it is called. */
void bf_recording_end(struct bf_recording *recording);

/* After bf_recording_reset, where it is begun, with these flags: it throws its coin (RC-6), and its
 * dispatches and passes may be measured unless it may be submitted while it runs. */
void bf_recording_measure(struct bf_recording *recording, VkCommandBufferUsageFlags flags);

/* Slower halves of what follows. */
void bf_recording_measured(struct bf_recording *recording);
void bf_recording_choose(struct bf_recording *recording, struct bf_bound *bound,
                         VkPipelineBindPoint point, const uint32_t *groups);
void bf_recording_push_odd(struct bf_recording *recording, uint32_t offset, uint32_t size,
                           const void *bytes);

/* The layer's hooks call these, each before its command goes down. */

/* vkCmdBindPipeline. 'pipeline' is what is known of 'handle', or NULL. */
static inline void bf_recording_bind(struct bf_recording *recording, VkPipelineBindPoint point,
                                     VkPipeline handle, struct bf_pipeline *pipeline)
{
    struct bf_bound *b = &recording->bound[point];
    bool watched = pipeline && pipeline->excluded == BF_REASON_NONE && pipeline->watch.count;
    b->handle = handle;
    b->pipeline = watched ? pipeline : NULL;
    b->variant = NULL;
}

/* True: it's the very pipeline that the program bound there last, and nothing need be looked up.
 * (It lives: a command buffer whose pipeline was destroyed can't be recorded any further.) */
static inline bool bf_recording_bind_again(struct bf_recording *recording,
                                           VkPipelineBindPoint point, VkPipeline handle)
{
    struct bf_bound *b = &recording->bound[point];
    if (b->handle != handle)
        return false;
    b->variant = NULL;
    return true;
}

/* All push constants are unknown. */
static inline void bf_recording_forget_push(struct bf_recording *recording)
{
    recording->push_id = 0;
    recording->known = 0;
}

/* vkCmdPushConstants. 'push_id' says which ranges the layout has; 0: that isn't known. */
static inline void bf_recording_push(struct bf_recording *recording, uint32_t push_id,
                                     uint32_t offset, uint32_t size, const void *bytes)
{
    if (recording->push_id != push_id) {
        recording->push_id = push_id;
        recording->known = 0;
    }
    if (!push_id)
        return;
    if ((offset | size) % 4 || size == 0 || offset >= BF_PUSH_BYTES ||
        size > BF_PUSH_BYTES - offset) {
        bf_recording_push_odd(recording, offset, size, bytes);
        return;
    }
    uint8_t *to = recording->bytes + offset;
    switch (size) { /* the usual ones need no call */
    case 4:
        memcpy(to, bytes, 4);
        break;
    case 8:
        memcpy(to, bytes, 8);
        break;
    case 16:
        memcpy(to, bytes, 16);
        break;
    case 32:
        memcpy(to, bytes, 32);
        break;
    default:
        memcpy(to, bytes, size);
    }
    recording->known |= UINT64_MAX >> (64 - size / 4) << offset / 4;
}

/* vkCmdExecuteCommands, shader objects: what is bound isn't known, and nothing of it is ours. */
static inline void bf_recording_forget_bound(struct bf_recording *recording,
                                             VkPipelineBindPoint point)
{
    recording->bound[point] = (struct bf_bound){0};
}

/* vkCmdExecuteCommands: 'executed' (NULL: it isn't known) happens once more in 'recording', whose
 * state is unknown now. */
void bf_recording_execute(struct bf_recording *recording, const struct bf_recording *executed);

/* Before a command that takes the bound pipeline for the program's: the general one is bound. */
void bf_recording_restore(struct bf_recording *recording, VkPipelineBindPoint point);

/*
 * Before each draw or dispatch: binds what it is to be recorded with, if that is not what is bound
 * (RC-1, RC-3), and notes the use.
 */
static inline void bf_recording_use(struct bf_recording *recording, VkPipelineBindPoint point)
{
    struct bf_bound *b = &recording->bound[point];
    if (b->pipeline)
        bf_recording_choose(recording, b, point, NULL);
}

/* The same before a dispatch of so many workgroups, which may be measured: then it is followed by
 * bf_recording_dispatched. */
static inline void bf_recording_dispatch(struct bf_recording *recording, const uint32_t groups[3])
{
    struct bf_bound *b = &recording->bound[VK_PIPELINE_BIND_POINT_COMPUTE];
    if (b->pipeline)
        bf_recording_choose(recording, b, VK_PIPELINE_BIND_POINT_COMPUTE, groups);
}

void bf_recording_measure_pass(struct bf_recording *recording);

/* Before a render pass begins that ends in the same command buffer, wherever its draws are; and
 * behind its end. */
static inline void bf_recording_pass_begins(struct bf_recording *recording)
{
    if (recording->measurable &&
        atomic_load_explicit(&recording->recorder->passes, memory_order_relaxed))
        bf_recording_measure_pass(recording);
}

static inline void bf_recording_pass_ended(struct bf_recording *recording)
{
    if (recording->timing)
        bf_recording_measured(recording);
}

static inline void bf_recording_dispatched(struct bf_recording *recording)
{
    if (recording->timing)
        bf_recording_measured(recording);
}

/* A query that tells pipelines apart begins or ends. */
static inline void bf_recording_query(struct bf_recording *recording, bool begins)
{
    if (begins)
        recording->queries++;
    else if (recording->queries)
        recording->queries--;
    recording->blocks = (recording->blocks & ~(uint32_t)BF_RECORDING_QUERY) |
                        (recording->queries ? BF_RECORDING_QUERY : 0);
}

/* Transform feedback begins or ends. It begins with the general pipeline, and nothing else. */
void bf_recording_feedback(struct bf_recording *recording, bool begins);

#endif
