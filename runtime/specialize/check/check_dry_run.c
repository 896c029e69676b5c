/* SPDX-License-Identifier: MIT */
/* A check's dry runs: from little to as much as is compared, and on what inputs that may be. */
#include "specialize/check/check_state.h"

#include <string.h>

#include "gpu/gpu.h"
#include "gpu/made.h"
#include "gpu/memory.h"
#include "specialize/check/run_extent.h"
#include "specialize/check/seeds.h"
#include "specialize/dry_run/dry_run.h"
#include "specialize/dry_run/needed.h"

#define SUM_LIMITS       19 /* all dry runs, in limits of one */
#define MOST_INVOCATIONS BF_RUN_INVOCATIONS
#define LEAST_AREA       16 /* both ways, of dry runs that draw */

void bf_told_finish(struct bf_gpu *gpu, struct bf_told *told)
{
    gpu->vk.vkDestroyDescriptorPool(gpu->handle, told->pool, NULL);
    bf_buffer_destroy(gpu, &told->buffer);
}

/* What is left of it after an error, bf_told_finish destroys. */
static VkResult told_make(struct bf_gpu *gpu, VkDescriptorSetLayout layout, struct bf_told *told)
{
    const VkDescriptorPoolSize size = {VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 1};
    const VkDescriptorPoolCreateInfo pool = {
        .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO,
        .maxSets = 1,
        .poolSizeCount = 1,
        .pPoolSizes = &size,
    };
    VkResult result =
        bf_buffer_create(gpu, sizeof(struct bf_dry_run_result), BF_BUFFER_HOST, &told->buffer);
    if (result == VK_SUCCESS)
        result = BF_MADE(gpu->vk.vkCreateDescriptorPool(gpu->handle, &pool, NULL, &told->pool),
                         &told->pool);
    const VkDescriptorSetAllocateInfo allocate = {
        .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO,
        .descriptorPool = told->pool,
        .descriptorSetCount = 1,
        .pSetLayouts = &layout,
    };
    if (result == VK_SUCCESS)
        result = gpu->vk.vkAllocateDescriptorSets(gpu->handle, &allocate, &told->set);
    if (result != VK_SUCCESS) {
        told->set = VK_NULL_HANDLE;
        return result;
    }
    const VkDescriptorBufferInfo buffer = {told->buffer.handle, 0, VK_WHOLE_SIZE};
    const VkWriteDescriptorSet write = {
        .sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET,
        .dstSet = told->set,
        .descriptorCount = 1,
        .descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
        .pBufferInfo = &buffer,
    };
    gpu->vk.vkUpdateDescriptorSets(gpu->handle, 1, &write, 0, NULL);
    return VK_SUCCESS;
}

static bool is_large(const struct bf_check *check)
{
    const uint32_t *extent = check->resources.extent;
    return extent[0] > BF_TEST_EXTENT || extent[1] > BF_TEST_EXTENT || extent[2] > 1;
}

/* What takes long is checked on images of the least size. */
static VkResult begin_again(struct bf_check *check)
{
    bf_check_drop_resources(check);
    check->again = check->wrote = false;
    memset(check->info->reach, 0, sizeof(check->info->reach));
    check->spent_ns = 0;
    check->small = true;
    check->turn = 0;
    VkResult result = bf_check_prepare(check);
    if (result != VK_ERROR_FEATURE_NOT_PRESENT)
        return result;
    bf_check_give_up(check, check->resources.why);
    return VK_SUCCESS;
}

/* Nothing ran; everything that ran ended by itself and stayed inside; or not. */
enum outcome { QUIET, FINE, TOLD };

/* Towards so many workgroups: twice as many along the axis that lacks most. False: there are as
 * many. */
static bool groups_double(uint32_t groups[3], const uint32_t wanted[3])
{
    uint32_t axis = 0;
    for (uint32_t i = 1; i < 3; i++) {
        if ((uint64_t)wanted[i] * groups[axis] > (uint64_t)wanted[axis] * groups[i])
            axis = i;
    }
    if (groups[axis] >= wanted[axis])
        return false;
    groups[axis] = wanted[axis] / 2 < groups[axis] ? wanted[axis] : groups[axis] * 2;
    return true;
}

/* *took_ns: of the work. */
static VkResult dry_run_once(struct bf_check *check, enum outcome *outcome, uint64_t *took_ns)
{
    struct bf_dry_run_result *told = check->told.buffer.mapped;
    *told = (struct bf_dry_run_result){0};
    VkResult result = bf_check_execute(check, check->info->general, took_ns);
    const bool draws = check->info->interface->graphics != NULL;
    const bool ran = draws ? told->fragments != 0 : told->invocations != 0;
    *outcome = told->flags ? TOLD : ran ? FINE : QUIET;
    return result;
}

/* On a busy machine a run may only seem to take longer than it may: then *took_ns is the
 * shortest's. */
static VkResult dry_run(struct bf_check *check, uint64_t longest_ns, enum outcome *outcome,
                        uint64_t *took_ns)
{
    uint64_t next_ns = 0;
    VkResult result = dry_run_once(check, outcome, took_ns);
    for (uint32_t i = 1;
         result == VK_SUCCESS && *outcome != TOLD && *took_ns >= longest_ns && i < BF_CHECK_TRIES;
         i++) {
        result = dry_run_once(check, outcome, &next_ns);
        *took_ns = next_ns < *took_ns ? next_ns : *took_ns;
    }
    check->spent_ns += *took_ns;
    return result;
}

/* CK-7: time has not kept it from being thorough. */
static bool runs_enough(const struct bf_check *check, const uint32_t wanted[3])
{
    const uint32_t *groups = check->groups;
    return memcmp(groups, wanted, sizeof(check->groups)) == 0 ||
           bf_run_invocations(check->info->interface) * groups[0] * groups[1] * groups[2] >=
               MOST_INVOCATIONS;
}

static uint64_t pixels_of(const struct bf_check *check, uint32_t area)
{
    const uint32_t *extent = check->resources.extent;
    return (uint64_t)(area < extent[0] ? area : extent[0]) * (area < extent[1] ? area : extent[1]);
}

static uint32_t whole_area(const struct bf_check *check)
{
    const uint32_t *extent = check->resources.extent;
    return extent[0] > extent[1] ? extent[0] : extent[1];
}

/* How many times as long as what has been drawn to it may take to draw to the next area, which is
 * found; 0: there is no saying, since hardly anything was drawn, but it is hardly larger. */
static uint64_t area_next(const struct bf_check *check, uint64_t took_ns, uint32_t *next)
{
    const struct bf_dry_run_result *told = check->told.buffer.mapped;
    const uint32_t area = check->draw.area, whole = whole_area(check);
    const uint64_t pixels = pixels_of(check, area);
    const bool few = told->fragments < pixels / 4;
    const uint64_t seen = told->fragments < pixels ? told->fragments : pixels;
    if (few)
        *next = area + LEAST_AREA < whole ? area + LEAST_AREA : whole;
    else
        *next = area < whole / 4 ? area * 4 : whole;
    if (few && (!seen || took_ns <= check->checker->double_ns / 64)) /* what a submission takes */
        return 0;
    return (pixels_of(check, *next) - pixels + seen - 1) / seen + 1;
}

/* Draws to a part of what there is to draw to, and then to up to sixteen times as much, as long as
 * that, by what the part took, takes no longer than it may. *took_ns: at last; or what the next
 * would take, and the area is not the whole. */
static VkResult dry_run_draws(struct bf_check *check, uint64_t longest_ns, enum outcome *outcome,
                              uint64_t *took_ns)
{
    const uint64_t double_ns = check->checker->double_ns;
    const uint64_t most_ns = longest_ns > 16 * double_ns ? longest_ns : 16 * double_ns;
    const uint32_t whole = whole_area(check);
    for (;;) {
        uint32_t next;
        VkResult result =
            dry_run(check, check->draw.area < whole ? most_ns / 16 : longest_ns, outcome, took_ns);
        if (result != VK_SUCCESS || *outcome == TOLD || check->draw.area == whole)
            return result;
        const uint64_t times = area_next(check, *took_ns, &next);
        if (times && *took_ns > most_ns / times) {
            *took_ns *= times;
            return result;
        }
        check->draw.area = next;
    }
}

/* The primitive that is there, if one of the two is [CK-24]. */
static VkResult dry_run_either(struct bf_check *check, uint64_t longest_ns, enum outcome *outcome,
                               uint64_t *took_ns)
{
    const uint32_t least = check->draw.area;
    VkResult result = dry_run_draws(check, longest_ns, outcome, took_ns);
    if (result != VK_SUCCESS || *outcome != QUIET)
        return result;
    check->second = !check->second;
    check->draw.area = least;
    return dry_run_draws(check, longest_ns, outcome, took_ns);
}

/* One set of inputs. What the least run takes, once the driver has compiled, decides how large
 * images are, and what each takes, whether the next has more workgroups. */
static VkResult dry_run_step(struct bf_check *check, struct bf_check_plan *plan,
                             enum outcome *outcome)
{
    const bool first = check->seed == 0, draws = check->info->interface->graphics != NULL;
    const uint64_t limit_ns = check->checker->limit_ns, double_ns = check->checker->double_ns;
    uint64_t took_ns = 0;
    VkResult result = bf_check_make_inputs(check);
    const uint32_t wanted[3] = {check->groups[0], check->groups[1], check->groups[2]};
    for (uint32_t i = 0; i < 3; i++)
        check->groups[i] = 1;
    if (draws)
        check->draw.area = bf_draw_narrows(&check->draw) && LEAST_AREA < whole_area(check)
                               ? LEAST_AREA
                               : whole_area(check);
    if (result == VK_SUCCESS && first) /* this one compiles, too */
        result = dry_run_once(check, outcome, &took_ns);
    if (result == VK_SUCCESS && draws)
        result = dry_run_either(check, limit_ns / 8, outcome, &took_ns);
    else if (result == VK_SUCCESS)
        result =
            dry_run(check, limit_ns / 8 < double_ns ? limit_ns / 8 : double_ns, outcome, &took_ns);
    const bool whole = !draws || *outcome == TOLD || check->draw.area == whole_area(check);
    if (result == VK_SUCCESS && first)
        check->again = took_ns > limit_ns / 8 && is_large(check);
    if (result == VK_SUCCESS && !check->again && whole && first && took_ns > limit_ns)
        bf_check_refuse(check, BF_REASON_TOO_SLOW, "its dry run takes too long");
    while (result == VK_SUCCESS && !check->over && !check->again && !draws && *outcome != TOLD &&
           took_ns < double_ns && groups_double(check->groups, wanted))
        result = dry_run(check, double_ns, outcome, &took_ns);
    memcpy(plan->groups[check->seed], check->groups, sizeof(check->groups));
    plan->second[check->seed] = check->second;
    if (result == VK_TIMEOUT)
        bf_check_give_up(check, "its dry run did not end in time");
    else if (result == VK_SUCCESS && !check->over && !check->again && !draws && *outcome == FINE &&
             !runs_enough(check, wanted))
        bf_check_give_up(check, "its dry run takes too long for enough workgroups");
    else if (result == VK_SUCCESS && !check->over && !check->again && !whole)
        bf_check_give_up(check, "its dry run takes too long for all that it draws");
    else if (result == VK_SUCCESS && !check->over && !check->again &&
             check->spent_ns > SUM_LIMITS * limit_ns)
        bf_check_give_up(check, "its dry runs take too long together");
    return result == VK_TIMEOUT ? VK_SUCCESS : result;
}

/* The number of the first that is needed and was not come to; BF_DRY_RUN_POINTS: none. */
static uint32_t first_dark(const struct bf_check *check)
{
    const uint32_t *needed = check->info->needed;
    for (uint32_t i = 0; needed && i < BF_DRY_RUN_POINTS; i++) {
        if (needed[i / 32] & ~check->points[i / 32] & UINT32_C(1) << i % 32)
            return i;
    }
    return BF_DRY_RUN_POINTS;
}

/* Whether these inputs have come to any that is needed and was not come to before. [CK-22] */
static bool points_gather(struct bf_check *check)
{
    const struct bf_dry_run_result *told = check->told.buffer.mapped;
    const uint32_t *needed = check->info->needed, *beyond = check->info->beyond;
    bool any = false;
    for (uint32_t i = 0; i < BF_DRY_RUN_POINTS / 32; i++) {
        if (beyond && beyond[i] & told->points[i])
            bf_check_give_up(check, "its dry run comes to what is out of reach");
        any |= needed && needed[i] & told->points[i] & ~check->points[i];
        check->points[i] |= told->points[i];
    }
    return any;
}

/* ------------------------------------------------------------------------------ What is left -- */

/* Kinds of inputs that there have to be some of. [CK-26] */
enum kind { TINY, HUGE_ONES, OF_SIZES, OVERFLOWING, UNDERFLOWING, IMAGES, ALIKE, KINDS };

static const char *const lacks[KINDS] = {
    [TINY] = "on no tiny floats does it end, and stay inside what it indexes",
    [HUGE_ONES] = "on no huge floats does it end, and stay inside what it indexes",
    [OF_SIZES] = "on no floats of many sizes does it end, and stay inside what it indexes",
    [OVERFLOWING] = "on no floats that only just overflow does it end, and stay inside",
    [UNDERFLOWING] = "on no floats that only just underflow does it end, and stay inside",
    [IMAGES] = "on images of no other size does it end, and stay inside",
    [ALIKE] = "on too few values of what all read alike does it end, and stay inside",
};

static enum kind kind_of(uint32_t number)
{
    const struct bf_seed *seed = bf_seed_of(number);
    const bool usual = number < BF_FIRST_ANY_SEED;
    if (number >= BF_FIRST_UNIFORM_SEED)
        return ALIKE;
    if (usual && seed->shape >= BF_SHAPE_LEAST && seed->shape <= BF_SHAPE_TALL)
        return IMAGES;
    switch (seed->style) {
    case BF_INPUTS_TINY:
        return usual ? TINY : KINDS;
    case BF_INPUTS_HUGE:
        return usual ? HUGE_ONES : KINDS;
    case BF_INPUTS_WIDE:
    case BF_INPUTS_NUMBERS:
        return usual ? OF_SIZES : KINDS;
    case BF_INPUTS_HIGH_BRINK:
        return OVERFLOWING;
    case BF_INPUTS_LOW_BRINK:
        return UNDERFLOWING;
    default:
        return KINDS;
    }
}

/* Of each kind how many inputs there are, and on how many a dry run has told. */
struct left {
    uint32_t fine[KINDS], told[KINDS];
};

static void left_note(struct left *left, uint32_t seed, enum outcome outcome)
{
    const enum kind kind = kind_of(seed);
    if (kind == KINDS)
        return;
    left->fine[kind] += outcome == FINE;
    left->told[kind] += outcome == TOLD;
}

/* The first that lacks; KINDS: none. */
static enum kind left_lacks(const struct left *left)
{
    enum kind kind = 0;
    for (; kind < KINDS; kind++) {
        const uint32_t fine = left->fine[kind], told = left->told[kind];
        if (told && fine < (kind == ALIKE ? (fine + told + 3) / 4 : 1))
            break;
    }
    return kind;
}

/* Whether images of integers may be of other formats. */
static bool reads_other_integers(const struct bf_check_info *info)
{
    const struct bf_check_layout *layout = info->interface->layout;
    bool any = false;
    for (uint32_t i = 0; i < layout->set_count; i++) {
        for (uint32_t k = 0; k < layout->sets[i].binding_count; k++) {
            const struct bf_check_binding *b = &layout->sets[i].bindings[k];
            any |= b->used && b->classes && b->number != BF_TEXEL_SFLOAT;
        }
    }
    return any;
}

/* Whether inputs are left with images of other formats. [CK-19] */
static bool others_left(const struct bf_check_info *info, const struct bf_check_plan *plan)
{
    const bool integers = reads_other_integers(info);
    bool any = false;
    for (uint32_t i = 0; i < BF_CHECK_SEEDS; i++)
        any |= bf_seeds[i].shape == BF_SHAPE_OTHER && (plan->seeds >> i & 1) &&
               !(integers && plan->narrow[i]);
    return any;
}

/* Whether it told of what integers alone may have led to. [CK-25] */
static bool integers_lead(const struct bf_check *check)
{
    const struct bf_dry_run_result *told = check->told.buffer.mapped;
    return !(told->flags & ~(uint32_t)(BF_DRY_RUN_BOUNDS | BF_DRY_RUN_UNDEFINED));
}

VkResult bf_check_dry_run(struct bf_checker *checker, struct bf_check_info *info,
                          VkDescriptorSetLayout layout, struct bf_check_plan *plan)
{
    struct bf_check *check;
    *plan = (struct bf_check_plan){0};
    VkResult result = bf_check_begin(checker, info, &check);
    if (result != VK_SUCCESS)
        return result;
    bool told = false; /* on some inputs */
    struct left left = {0};
    struct bf_check_plan found = {0};
    if (!check->over)
        result = told_make(checker->place.gpu, layout, &check->told);
    while (result == VK_SUCCESS && !check->over && check->seed < BF_SEEDS_END) {
        enum outcome outcome = QUIET;
        if (check->seed == BF_USUAL_SEEDS && !bf_seeds_small_dispatch(info))
            check->seed = BF_FIRST_ANY_SEED;
        if (check->seed >= BF_FIRST_ANY_SEED && check->seed < BF_CHECK_SEEDS &&
            first_dark(check) == BF_DRY_RUN_POINTS)
            check->seed = BF_CHECK_SEEDS;
        const bool for_dark = check->seed >= BF_FIRST_ANY_SEED && check->seed < BF_CHECK_SEEDS;
        if (!bf_seed_suits(info, check->seed)) {
            check->seed++;
            continue;
        }
        result = bf_check_reshape(check);
        if (result == VK_ERROR_FEATURE_NOT_PRESENT) { /* there are no such images */
            result = VK_SUCCESS;
            check->seed++;
            continue;
        }
        check->narrow = false;
        if (result == VK_SUCCESS)
            result = dry_run_step(check, &found, &outcome);
        if (result == VK_SUCCESS && outcome == TOLD && !check->over && !check->again && !for_dark &&
            integers_lead(check)) {
            check->narrow = true;
            result = dry_run_step(check, &found, &outcome);
        }
        if (result == VK_SUCCESS && check->again) {
            result = begin_again(check);
            continue;
        }
        found.narrow[check->seed] = check->narrow;
        left_note(&left, check->seed, outcome);
        told |= outcome == TOLD;
        bool wanted = outcome == FINE && (points_gather(check) || !for_dark);
        if (wanted)
            bf_check_note_reach(check);
        if (check->seed < BF_CHECK_SEEDS)
            found.seeds |= (uint64_t)wanted << check->seed;
        else
            found.more_seeds |= (uint64_t)wanted << (check->seed - BF_CHECK_SEEDS);
        check->seed++;
        found.small = check->small;
        found.sources = info->sources;
    }
    if (result == VK_SUCCESS && !check->over && !found.seeds && told)
        bf_check_refuse(check, BF_REASON_ENDLESS,
                        "on no inputs does it end, and stay inside what it indexes");
    else if (result == VK_SUCCESS && !check->over && !found.seeds)
        bf_check_give_up(check, "on no inputs does it run");
    if (result == VK_SUCCESS && !check->over && bf_seeds_read_others(info) &&
        !others_left(info, &found))
        bf_check_give_up(check, "it can't be run on images of other formats");
    info->dark = first_dark(check);
    if (result == VK_SUCCESS && !check->over && info->dark < BF_DRY_RUN_POINTS)
        bf_check_refuse(check, BF_REASON_UNCOVERED, "no inputs come to all that folding affects");
    if (result == VK_SUCCESS && !check->over && left_lacks(&left) < KINDS)
        bf_check_give_up(check, lacks[left_lacks(&left)]);
    if (result == VK_SUCCESS && !check->over)
        *plan = found;
    bf_check_end(check);
    return result;
}
