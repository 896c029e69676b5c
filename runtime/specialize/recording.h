/* SPDX-License-Identifier: MIT */
/*
 * What a command buffer's commands have bound and pushed so far, and so which pipeline a draw or a
 * dispatch may be recorded with.
 *
 *  RC-1  A variant is picked only if every byte that is constant in it is known, was pushed in this
 *        command buffer since it was begun, under a layout with the same push-constant ranges as
 *        the pipeline's, and equals the variant's, compared as bytes.
 *  RC-2  Push constants are unknown at begin, after vkCmdExecuteCommands, after generated commands,
 *        and where a push comes through a layout with other ranges than the one before.
 *  RC-3  The program's own bind goes to the driver as it comes; a variant is bound behind it, right
 *        before the draw or dispatch. The general pipeline is bound again before the next draw or
 *        dispatch that the variant isn't for, and before any command that uses the bound pipeline
 *        as the program's own.
 *  RC-4  A command buffer that records a variant holds a reference to it until it is begun again,
 *        reset or freed (VA-1). If that command fails the reference stays: the command buffer may
 *        still contain the variant.
 *  RC-5  A use counts once for each submission that has finished, as the program itself knows it
 *        (specialize/submission.h), never before. What a secondary command buffer noted counts for
 *        each primary that executes it, as often as it does.
 *  RC-6  While a variant has no verdict, one lot, drawn at random, decides for all uses of a
 *        command buffer whether they get the variant or the general pipeline. Secondary command
 *        buffers within passes share their lots with those that are begun at about the same time,
 *        so that a pass made of several has one lot (TR-3). Where intrusive measurements are
 *        allowed each dispatch has a lot of its own. Where nothing can be measured no lot is drawn,
 *        and the uses get the variant.
 *  RC-7  Of a compute pipeline a variant is picked only for a dispatch that has, along no axis,
 *        more workgroups than what it was checked for, and whose numbers begin with 0: for none
 *        whose size the GPU alone knows.
 *
 *  RC-8  Of a graphics pipeline whose results may depend on where a fragment lies, a variant is
 *        picked only in a pass whose render area reaches, along both axes, no further than what it
 *        was checked for: in none whose render area isn't known, as in a secondary command buffer.
 *
 *  RC-9  Where results may depend on what is read of images, a variant is picked only while, to the
 *        bindings that it reads, nothing was ever written but images and texel buffers of such
 *        formats as it was checked for, by class (specialize/pipeline/format_classes.h).
 *
 * Nothing here takes a lock. Memory is allocated for the table of variants that a command buffer
 * has recorded and, once, for its notes.
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
struct bf_pipeline_times;
struct bf_time_account;

#define BF_PUSH_BYTES 256

/* Reasons for which no variant is picked, as bits. */
enum bf_recording_block {
    BF_RECORDING_QUERY = 1,     /* a pipeline-statistics or performance query is active */
    BF_RECORDING_FEEDBACK = 2,  /* transform feedback is active: no pipeline may be bound */
    BF_RECORDING_PROTECTED = 4, /* a protected command buffer; never reset */
};

/* So many successive submissions share a lot (RC-6). Passes whose secondary command buffers are
 * begun around a submission then rarely mix two lots. */
#define BF_RECORDING_SHARED 8

/* What the command buffers of a device share; outlives them. */
struct bf_recorder {
    const struct VolkDeviceTable *vk;
    struct bf_pipelines *pipelines;
    struct bf_submissions *submissions;
    _Atomic bool noting;  /* uses are noted; false: nothing is counted */
    _Atomic bool stopped; /* no variant is picked from now on */
    /* Intrusive measurements are allowed: every use is noted, each dispatch has a lot of its own,
     * and more samples are taken in a recording. */
    _Atomic bool intrusive;
    _Atomic uint64_t created;
    struct bf_ab_timer *timer; /* variants without a verdict are measured; NULL: they aren't */
    _Atomic uint32_t passes;   /* variants of graphics pipelines under A/B timing */
    const struct bf_background *background; /* SP-3 */
    struct bf_pipeline_times *times;        /* NULL, but with the setting 'report' (GT-1) */
};

/* A variant that a command buffer refers to. */
struct bf_picked {
    struct bf_variant *variant; /* NULL: a free place in the hash table */
    uint64_t count; /* draws and dispatches that haven't been added to the variant's own count */
};

/* A bind point: graphics or compute. */
struct bf_bound {
    VkPipeline handle;            /* the program's; NULL: unknown */
    struct bf_pipeline *pipeline; /* NULL: it isn't specialised */
    /* bound in the driver in its place; NULL: the general one is bound */
    struct bf_variant *variant;
    struct bf_picked *picked; /* the variant's entry */
};

/* A command buffer. Externally synchronised, as the command buffer is; the fields for RC-5 are
 * under the submissions' lock. */
struct bf_recording {
    struct bf_recorder *recorder;
    const struct VolkDeviceTable *vk;
    VkCommandBuffer handle;
    VkCommandBufferLevel level;
    uint32_t blocks;          /* enum bf_recording_block */
    uint32_t queries;         /* active queries that block */
    struct bf_bound bound[2]; /* VK_PIPELINE_BIND_POINT_GRAPHICS, _COMPUTE */

    VkPipelineLayout layout; /* the layout of the last push, and */
    uint32_t layout_id; /* the number of its push-constant ranges, so that it is looked up once */
    uint32_t push_id;   /* the ranges under which 'bytes' were pushed; 0: unknown */
    uint64_t known;     /* bit i: all bytes of word i were pushed */
    _Alignas(8) uint8_t bytes[BF_PUSH_BYTES];

    uint32_t picked_count, picked_capacity; /* RC-4; the capacity is 0 or a power of two */
    struct bf_picked *picked;               /* a hash table by variant */
    struct bf_histogram_notes *notes;       /* NULL: nothing was ever noted */
    bool noted;                             /* the notes hold uses of this recording */

    _Atomic uint32_t pending;    /* submissions that may not have finished; submissions' lock */
    struct bf_ab_timing *timing; /* samples recorded in it (specialize/ab_timing.h); NULL: none */
    bool lot_drawn;              /* a lot was drawn (RC-6, bf_recording_measure) */
    bool measurable;             /* and it may contain samples of its own */
    bool draws_without_lot; /* it has draws with a variant under A/B timing that no lot decided */
    /* the lot: true: record the variants; false: record the general pipelines beside them */
    bool lot_is_variant;
    uint64_t number; /* of the lot; where it is measurable no other recording has the same */
    struct bf_time_account *account; /* for the report (specialize/pipeline_time.h); NULL: none */
    uint32_t timestamp_bits;         /* of the queues that it is for; set by who creates it */
    bool intrusive;                  /* such measurements were allowed when its lot was drawn */

    /* passes that were begun while some variant was timed, in this recording and in the one
     * before */
    uint32_t passes;
    uint32_t passes_before;

    /* Numbers of executed secondary command buffers with samples; the capacity is 0 or a power
     * of two. */
    uint32_t inner_count, inner_capacity;
    uint64_t *inner;
    /* submission.c's, under the submissions' lock (TR-1). */
    struct bf_recording *next_listed; /* secondary ones with samples, by number */
    bool listed;     /* it is on that list; its owner may read this without the lock */
    uint64_t latest; /* the call that submitted it last; 0: none whose samples are to be read */
    uint32_t latest_epoch;

    /* How far the render area reaches; UINT32_MAX: not known. The third is 1, or UINT32_MAX. */
    uint32_t area[3];

    struct bf_recording *next, **link; /* in a list of the owner's: its command pool's */
};

/* NULL: out of memory. 'blocks' stay for good: 0 or BF_RECORDING_PROTECTED. */
struct bf_recording *bf_recording_create(struct bf_recorder *recorder, VkCommandBuffer handle,
                                         VkCommandBufferLevel level, uint32_t blocks);
/* The command buffer is freed; no submission of it is pending, as Vulkan asks. NULL is allowed. */
void bf_recording_destroy(struct bf_recording *recording);
/* After a successful vkBeginCommandBuffer, or any kind of reset: all its submissions have
 * finished. */
void bf_recording_reset(struct bf_recording *recording);
/* Before vkEndCommandBuffer. */
void bf_recording_end(struct bf_recording *recording);

/* After bf_recording_reset, where the command buffer is begun with these flags: draws its lot
 * (RC-6). Its dispatches and passes may be measured unless it may be submitted while it runs. */
void bf_recording_measure(struct bf_recording *recording, VkCommandBufferUsageFlags flags);

/* It has samples, of A/B timing or the report's, which are read when a submission has finished. */
bool bf_recording_has_samples(const struct bf_recording *recording);

/* The out-of-line parts of the functions below. */
void bf_recording_account_use(struct bf_recording *recording, VkPipelineBindPoint point);
void bf_recording_account_pass(struct bf_recording *recording);
void bf_recording_account_end(struct bf_recording *recording);
void bf_recording_measured(struct bf_recording *recording);
void bf_recording_choose(struct bf_recording *recording, struct bf_bound *bound,
                         VkPipelineBindPoint point, const uint32_t *groups);
void bf_recording_push_odd(struct bf_recording *recording, uint32_t offset, uint32_t size,
                           const void *bytes);

/* The layer calls these, each before the command goes to the driver. */

/* vkCmdBindPipeline. 'pipeline' is the record of 'handle', or NULL. */
static inline void bf_recording_bind(struct bf_recording *recording, VkPipelineBindPoint point,
                                     VkPipeline handle, struct bf_pipeline *pipeline)
{
    struct bf_bound *b = &recording->bound[point];
    bool watched = pipeline && atomic_load_explicit(&pipeline->watched, memory_order_acquire);
    b->handle = handle;
    b->pipeline = watched ? pipeline : NULL;
    b->variant = NULL;
}

/* True: the program binds the same pipeline again, and nothing need be looked up. (The pipeline
 * lives: a command buffer whose pipeline was destroyed can't be recorded any further.) */
static inline bool bf_recording_bind_again(struct bf_recording *recording,
                                           VkPipelineBindPoint point, VkPipeline handle)
{
    struct bf_bound *b = &recording->bound[point];
    if (b->handle != handle)
        return false;
    b->variant = NULL;
    return true;
}

/* All push constants become unknown. */
static inline void bf_recording_forget_push(struct bf_recording *recording)
{
    recording->push_id = 0;
    recording->known = 0;
}

/* vkCmdPushConstants. 'push_id' is the number of the layout's ranges; 0: unknown. */
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
    switch (size) { /* the usual sizes need no call */
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

/* vkCmdExecuteCommands, shader objects: what is bound is unknown, and is no variant. */
static inline void bf_recording_forget_bound(struct bf_recording *recording,
                                             VkPipelineBindPoint point)
{
    recording->bound[point] = (struct bf_bound){0};
}

/* vkCmdExecuteCommands: 'executed' (NULL: unknown) is executed by 'recording', whose bindings
 * and push constants are unknown from now on. */
void bf_recording_execute(struct bf_recording *recording, const struct bf_recording *executed);

/* Before a command that uses the bound pipeline as the program's: the general pipeline is bound. */
void bf_recording_restore(struct bf_recording *recording, VkPipelineBindPoint point);

/* Before each draw, and each dispatch that has no variant (RC-7): binds the pipeline or variant
 * that it is to be recorded with, if that isn't bound (RC-1, RC-3), and notes the use.
 * bf_recording_dispatched follows a dispatch. */
static inline void bf_recording_use(struct bf_recording *recording, VkPipelineBindPoint point)
{
    struct bf_bound *b = &recording->bound[point];
    if (b->pipeline)
        bf_recording_choose(recording, b, point, NULL);
    if (recording->account)
        bf_recording_account_use(recording, point);
}

/* The same before a dispatch of so many workgroups, from 0 on, which may be measured:
 * bf_recording_dispatched follows it. */
static inline void bf_recording_dispatch(struct bf_recording *recording, const uint32_t groups[3])
{
    struct bf_bound *b = &recording->bound[VK_PIPELINE_BIND_POINT_COMPUTE];
    if (b->pipeline)
        bf_recording_choose(recording, b, VK_PIPELINE_BIND_POINT_COMPUTE, groups);
    if (recording->account)
        bf_recording_account_use(recording, VK_PIPELINE_BIND_POINT_COMPUTE);
}

/* Before a render pass, or a part of one, begins in this command buffer. NULL: it isn't known how
 * far it reaches. */
static inline void bf_recording_area(struct bf_recording *recording, const VkRect2D *area)
{
    for (int i = 0; i < 3; i++)
        recording->area[i] = UINT32_MAX;
    if (!area || area->offset.x < 0 || area->offset.y < 0)
        return;
    recording->area[0] = (uint32_t)area->offset.x + area->extent.width;
    recording->area[1] = (uint32_t)area->offset.y + area->extent.height;
    recording->area[2] = 1;
}

void bf_recording_measure_pass(struct bf_recording *recording);

/* Before a render pass begins that ends in the same command buffer, wherever its draws are; and
 * behind its end. */
static inline void bf_recording_pass_begins(struct bf_recording *recording)
{
    if (recording->measurable &&
        atomic_load_explicit(&recording->recorder->passes, memory_order_relaxed))
        bf_recording_measure_pass(recording);
    if (recording->account)
        bf_recording_account_pass(recording);
}

static inline void bf_recording_pass_ended(struct bf_recording *recording)
{
    if (recording->timing)
        bf_recording_measured(recording);
    if (recording->account)
        bf_recording_account_end(recording);
}

static inline void bf_recording_dispatched(struct bf_recording *recording)
{
    if (recording->timing)
        bf_recording_measured(recording);
    if (recording->account)
        bf_recording_account_end(recording);
}

/* A query whose results depend on which pipeline is bound begins or ends. */
static inline void bf_recording_query(struct bf_recording *recording, bool begins)
{
    if (begins)
        recording->queries++;
    else if (recording->queries)
        recording->queries--;
    recording->blocks = (recording->blocks & ~(uint32_t)BF_RECORDING_QUERY) |
                        (recording->queries ? BF_RECORDING_QUERY : 0);
}

/* Transform feedback begins or ends. It begins with the general pipeline, and no other is bound
 * while it is active. */
void bf_recording_feedback(struct bf_recording *recording, bool begins);

#endif
