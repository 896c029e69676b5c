/* SPDX-License-Identifier: MIT */
/*
 * A check that is under way, and what its dry runs share with it. Internal to the checks.
 */
#ifndef BELFRY_SPECIALIZE_CHECK_STATE_H
#define BELFRY_SPECIALIZE_CHECK_STATE_H

#include <stdbool.h>
#include <stdint.h>

#include <vulkan/vulkan.h>

#include "gpu/memory.h"
#include "specialize/check/check.h"
#include "specialize/check/checker.h"
#include "specialize/check/draw.h"
#include "specialize/check/seeds.h"
#include "specialize/check/test_resource.h"
#include "specialize/dry_run/dry_run.h"

#define BF_CHECK_TRIES 3 /* of a run that seems long; the shortest counts */

enum { BF_CHECK_UPLOAD, BF_CHECK_WORK, BF_CHECK_DOWNLOAD, BF_CHECK_COMMANDS };

/* Where a dry run tells. */
struct bf_told {
    struct bf_buffer buffer; /* a struct bf_dry_run_result */
    VkDescriptorPool pool;
    VkDescriptorSet set; /* VK_NULL_HANDLE: this is no dry run */
};

struct bf_check {
    struct bf_checker *checker;
    struct bf_check_info *info;
    struct bf_lane *lane;
    struct bf_test_resources resources;
    struct bf_draw draw;
    VkCommandBuffer commands[BF_CHECK_COMMANDS];
    uint8_t *expected; /* what the general pipeline left behind */
    struct bf_told told;
    uint64_t seeds;      /* bit i: number i is run */
    uint64_t more_seeds; /* bit i: number BF_CHECK_SEEDS + i */
    uint32_t groups[3];  /* of dispatches, of this seed */
    bool second;         /* of draws, of this seed */
    bool narrow;         /* of dry runs, of this seed [CK-25] */
    uint64_t spent_ns;   /* by dry runs */
    uint32_t push[BF_CHECK_PUSH_BYTES / 4];
    uint32_t seed;            /* the one it is at */
    uint32_t turn;            /* in it: 0 and 1 the general pipeline, then the forms */
    bool wrote;               /* on some seed */
    bool small;               /* images are of the least size */
    bool again;               /* with those, the dry run is to begin anew */
    enum bf_seed_shape shape; /* of the resources that there are */
    bool over;
    bool *decided;                           /* of each form: its reason stands */
    uint32_t points[BF_DRY_RUN_POINTS / 32]; /* that dry runs which told of nothing have come to */
};

/* check.c. Nothing passes any more, and why. */
void bf_check_refuse(struct bf_check *check, enum bf_reason reason, const char *why);
void bf_check_give_up(struct bf_check *check, const char *why);

/* Makes what a run needs, of the seed's shape. VK_ERROR_FEATURE_NOT_PRESENT: it can't be had, and
 * check->resources.why. */
VkResult bf_check_prepare(struct bf_check *check);
/* The same if the next inputs need images of other sizes. */
VkResult bf_check_reshape(struct bf_check *check);
void bf_check_drop_resources(struct bf_check *check);
void bf_check_free(struct bf_check *check);

VkResult bf_check_make_inputs(struct bf_check *check);
/* Runs the pipeline on them. *took_ns: the work itself. */
VkResult bf_check_execute(struct bf_check *check, VkPipeline pipeline, uint64_t *took_ns);
/* The general pipeline has run. [CK-17] */
void bf_check_note_reach(struct bf_check *check);

/* check_dry_run.c */
void bf_told_finish(struct bf_gpu *gpu, struct bf_told *told);

#endif
