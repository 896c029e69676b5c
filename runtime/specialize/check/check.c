/* SPDX-License-Identifier: MIT */
/* The check of a variant: runs the general pipeline and the forms on generated inputs, and
 * compares every byte that they write. */
#include "specialize/check/check_state.h"

#include <stdlib.h>
#include <string.h>

#include "gpu/commands.h"
#include "gpu/gpu.h"
#include "specialize/check/inputs.h"
#include "specialize/check/run_extent.h"
#include "specialize/dry_run/needed.h"

/* ----------------------------------------------------------------------------------- A check -- */

/* From number 'seed' on. BF_SEEDS_END: there is none. */
static uint32_t next_seed(const struct bf_check *check, uint32_t seed)
{
    while (seed < BF_CHECK_SEEDS && !(check->seeds >> seed & 1))
        seed++;
    while (seed >= BF_CHECK_SEEDS && seed < BF_SEEDS_END &&
           !(check->more_seeds >> (seed - BF_CHECK_SEEDS) & 1))
        seed++;
    return seed;
}

static uint32_t first_seed(const struct bf_check *check)
{
    return next_seed(check, 0);
}

static void check_decide(struct bf_check *check, enum bf_reason reason)
{
    for (uint32_t i = 0; i < check->info->form_count; i++) {
        if (!check->decided[i])
            check->info->forms[i].reason = reason;
        check->decided[i] = true;
    }
    check->over = true;
}

void bf_check_refuse(struct bf_check *check, enum bf_reason reason, const char *why)
{
    check->info->why = why;
    check->info->refused = reason;
    check_decide(check, reason);
}

void bf_check_give_up(struct bf_check *check, const char *why)
{
    bf_check_refuse(check, BF_REASON_UNCHECKABLE, why);
}

/* Passes errors on, with a reason for the forms. */
static VkResult check_fail(struct bf_check *check, VkResult result)
{
    if (result != VK_SUCCESS)
        check_decide(check, result == VK_ERROR_DEVICE_LOST ? BF_REASON_LOST : BF_REASON_MEMORY);
    return result;
}

void bf_check_drop_resources(struct bf_check *check)
{
    struct bf_gpu *gpu = check->checker->place.gpu;
    if (check->commands[0])
        gpu->vk.vkFreeCommandBuffers(gpu->handle, check->lane->pool, BF_CHECK_COMMANDS,
                                     check->commands);
    check->commands[0] = VK_NULL_HANDLE;
    bf_draw_finish(&check->draw);
    bf_test_resources_finish(&check->resources);
    free(check->expected);
    check->expected = NULL;
}

void bf_check_free(struct bf_check *check)
{
    bf_check_drop_resources(check);
    bf_told_finish(check->checker->place.gpu, &check->told);
    free(check->decided);
    free(check);
}

static VkResult begin_commands(struct bf_check *check, uint32_t which, bool once)
{
    struct bf_gpu *gpu = check->checker->place.gpu;
    const VkCommandBufferBeginInfo info = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
        .flags = once ? VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT : 0,
    };
    VkResult result = gpu->vk.vkBeginCommandBuffer(check->commands[which], &info);
    if (result == VK_SUCCESS)
        bf_lane_record_first(check->checker, check->commands[which]);
    return result;
}

/* What comes next sees what they have written. */
static VkResult end_commands(struct bf_check *check, uint32_t which)
{
    struct bf_gpu *gpu = check->checker->place.gpu;
    bf_commands_put_barrier(gpu, check->commands[which], VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT,
                            VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT);
    return gpu->vk.vkEndCommandBuffer(check->commands[which]);
}

/* It serves all runs. */
static VkResult record_download(struct bf_check *check)
{
    VkResult result = begin_commands(check, BF_CHECK_DOWNLOAD, false);
    if (result != VK_SUCCESS)
        return result;
    bf_test_resources_record_download(&check->resources, check->commands[BF_CHECK_DOWNLOAD]);
    return end_commands(check, BF_CHECK_DOWNLOAD);
}

/* Other formats only where they matter. */
static enum bf_seed_shape shape_of(const struct bf_check *check, uint32_t seed)
{
    const struct bf_check_info *info = check->info;
    const uint32_t sources = info->plan ? info->plan->sources : info->sources;
    const enum bf_seed_shape shape = bf_seed_of(seed)->shape;
    return shape == BF_SHAPE_OTHER && !(sources & BF_NEEDED_TEXELS) ? BF_SHAPE_PLAIN : shape;
}

VkResult bf_check_prepare(struct bf_check *check)
{
    const struct bf_pipeline_interface *interface = check->info->interface;
    struct bf_checker *checker = check->checker;
    struct bf_test_resources *resources = &check->resources;
    bf_test_resources_init(resources, &checker->place);
    bf_run_extent(check->info, check->shape, check->small, resources->extent);
    bf_run_sizes(check->shape, &resources->sizes);
    resources->others = check->shape == BF_SHAPE_OTHER;
    if (interface->addresses)
        return bf_test_resources_refuse(resources, "it goes through addresses of buffers");
    resources->graphics = interface->graphics != NULL;
    VkResult result = VK_SUCCESS;
    if (interface->graphics)
        result = bf_draw_plan(&check->draw, resources, interface);
    if (result == VK_SUCCESS)
        result = bf_test_resources_add_layout(resources, interface->layout);
    if (result != VK_SUCCESS)
        return result;
    uint32_t index = resources->graphics ? BF_LANE_DIRECT : BF_LANE_COMPUTE;
    check->lane = &checker->lanes[index];
    result = bf_lane_open(checker, index);
    if (result == VK_ERROR_FEATURE_NOT_PRESENT ||
        (result == VK_SUCCESS && resources->several &&
         !(check->lane->queue.flags & VK_QUEUE_COMPUTE_BIT)))
        return bf_test_resources_refuse(resources, "no engine for it");
    if (result == VK_SUCCESS)
        result = bf_test_resources_build(resources);
    if (result == VK_SUCCESS && interface->graphics)
        result = bf_draw_build(&check->draw);
    if (result == VK_SUCCESS)
        result = bf_commands_allocate(checker->place.gpu, check->lane->pool, BF_CHECK_COMMANDS,
                                      check->commands);
    if (result != VK_SUCCESS) {
        check->commands[0] = VK_NULL_HANDLE;
        return result;
    }
    check->expected = malloc(bf_test_resources_result_size(resources));
    return check->expected ? record_download(check) : VK_ERROR_OUT_OF_HOST_MEMORY;
}

VkResult bf_check_begin(struct bf_checker *checker, struct bf_check_info *info,
                        struct bf_check **out)
{
    struct bf_check *check = calloc(1, sizeof(*check));
    if (check) {
        check->decided = calloc(info->form_count + 1, sizeof(bool));
        if (!check->decided) {
            free(check);
            check = NULL;
        }
    }
    info->why = NULL;
    info->refused = BF_REASON_NONE;
    for (uint32_t i = 0; i < info->form_count; i++) {
        info->forms[i].reason = check ? BF_REASON_NONE : BF_REASON_MEMORY;
        info->forms[i].first_use_ns = info->forms[i].steady_ns = 0;
        info->general_ns = 0;
    }
    if (!check)
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    check->checker = checker;
    check->info = info;
    check->lane = &checker->lanes[BF_LANE_COMPUTE];
    VkResult result = VK_SUCCESS;
    check->seeds = info->plan         ? info->plan->seeds
                   : info->form_count ? BF_BARE_SEEDS
                                      : BF_ALL_SEEDS; /* a dry run has no forms */
    check->more_seeds = info->plan ? info->plan->more_seeds : 0;
    check->small = info->plan && info->plan->small;
    check->seed = first_seed(check);
    check->shape = check->seed < BF_SEEDS_END ? shape_of(check, check->seed) : BF_SHAPE_PLAIN;
    memset(info->reach, 0, sizeof(info->reach));
    if (checker->hang)
        bf_check_give_up(check, "an earlier check has not ended");
    else if (check->seed == BF_SEEDS_END)
        bf_check_give_up(check, "there is nothing to run it on");
    else
        result = bf_check_prepare(check);
    if (result == VK_ERROR_FEATURE_NOT_PRESENT) {
        bf_check_give_up(check, check->resources.why);
        result = VK_SUCCESS;
    }
    if (result != VK_SUCCESS) {
        check_fail(check, result);
        bf_check_free(check);
        return result;
    }
    *out = check;
    return VK_SUCCESS;
}

void bf_check_end(struct bf_check *check)
{
    struct bf_checker *checker = check->checker;
    check_decide(check, BF_REASON_CANCELLED);
    if (checker->hang && !checker->forlorn && check->commands[0])
        checker->forlorn = check; /* CK-5 */
    else
        bf_check_free(check);
}

/* -------------------------------------------------------------------------------------- Runs -- */

/* By bytes, since each may belong to other stages. */
static void push_constants(struct bf_check *check, VkCommandBuffer commands)
{
    struct bf_gpu *gpu = check->checker->place.gpu;
    const struct bf_check_layout *layout = check->info->interface->layout;
    VkShaderStageFlags stages[BF_CHECK_PUSH_BYTES / 4] = {0};
    for (uint32_t i = 0; i < layout->range_count; i++) {
        const VkPushConstantRange *range = &layout->ranges[i];
        for (uint32_t k = 0; k < BF_CHECK_PUSH_BYTES / 4; k++) {
            if (k * 4 >= range->offset && k * 4 < (uint64_t)range->offset + range->size)
                stages[k] |= range->stageFlags;
        }
    }
    for (uint32_t first = 0, end; first < BF_CHECK_PUSH_BYTES / 4; first = end) {
        for (end = first + 1; end < BF_CHECK_PUSH_BYTES / 4 && stages[end] == stages[first];)
            end++;
        if (stages[first])
            gpu->vk.vkCmdPushConstants(commands, layout->handle, stages[first], first * 4,
                                       (end - first) * 4, &check->push[first]);
    }
}

static VkResult record_work(struct bf_check *check, VkPipeline pipeline)
{
    struct bf_gpu *gpu = check->checker->place.gpu;
    const struct bf_pipeline_interface *interface = check->info->interface;
    const struct bf_check_layout *layout = interface->layout;
    const struct bf_seed *seed = bf_seed_of(check->seed);
    VkCommandBuffer commands = check->commands[BF_CHECK_WORK];
    VkPipelineBindPoint point =
        interface->graphics ? VK_PIPELINE_BIND_POINT_GRAPHICS : VK_PIPELINE_BIND_POINT_COMPUTE;
    VkResult result = begin_commands(check, BF_CHECK_WORK, true);
    if (result != VK_SUCCESS)
        return result;
    bf_lane_record_begin(check->checker, check->lane, commands);
    gpu->vk.vkCmdBindPipeline(commands, point, pipeline);
    bf_test_resources_bind(&check->resources, commands, point);
    push_constants(check, commands);
    if (check->told.set)
        gpu->vk.vkCmdBindDescriptorSets(commands, point, layout->handle, layout->set_count, 1,
                                        &check->told.set, 0, NULL);
    if (interface->graphics) {
        bf_draw_record(&check->draw, commands, check->seed, seed->instance, check->second);
    } else {
        gpu->vk.vkCmdDispatch(commands, check->groups[0], check->groups[1], check->groups[2]);
    }
    bf_lane_record_end(check->checker, check->lane, commands);
    if (check->told.set)
        bf_commands_put_barrier(gpu, commands, VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT,
                                VK_PIPELINE_STAGE_2_HOST_BIT);
    return end_commands(check, BF_CHECK_WORK);
}

static VkResult commands_execute(struct bf_check *check, uint32_t which)
{
    return bf_lane_execute(check->checker, check->lane, check->commands[which]);
}

VkResult bf_check_execute(struct bf_check *check, VkPipeline pipeline, uint64_t *took_ns)
{
    VkResult result = record_work(check, pipeline);
    if (result == VK_SUCCESS)
        result = commands_execute(check, BF_CHECK_UPLOAD);
    if (result != VK_SUCCESS)
        return result;
    result =
        bf_lane_execute_timed(check->checker, check->lane, check->commands[BF_CHECK_WORK], took_ns);
    if (result != VK_SUCCESS || check->told.set) /* a dry run's results are nobody's */
        return result;
    return commands_execute(check, BF_CHECK_DOWNLOAD);
}

/* ----------------------------------------------------------------------------------- Verdict -- */

VkResult bf_check_make_inputs(struct bf_check *check)
{
    const struct bf_pipeline_interface *interface = check->info->interface;
    const struct bf_test_resources *resources = &check->resources;
    const struct bf_seed *seed = bf_seed_of(check->seed);
    const bool vast = seed->style >= BF_INPUTS_TINY;
    /* What reaches out of bounds may crash, or hit what isn't ours. Of a shader's own arrays a dry
     * run tells, which goes before some of these. [CK-11] */
    const bool told =
        check->seed >= BF_FIRST_DRY_SEED && (check->seed % 2 || seed->push == BF_ANY_PUSH);
    const bool reaches = !check->checker->place.robust || (interface->fragile && !told);
    const bool tame = reaches && (!check->checker->place.robust || !vast);
    const bool indexes = resources->least_count != UINT32_MAX;
    const uint32_t stratum = seed->push == BF_ANY_PUSH ? check->seed - BF_FIRST_ANY_SEED : 0;
    const bool names = check->seed >= BF_FIRST_NAMED_SEED && seed->style == BF_INPUTS_EDGES;
    const bool narrow = check->info->plan ? check->info->plan->narrow[check->seed] : check->narrow;
    uint32_t limit = reaches ? 2 : !interface->loops ? 256 : seed->rounds ? seed->rounds : 16;
    if (narrow)
        limit = 2;
    if (reaches && resources->least_elements < limit)
        limit = resources->least_elements;
    if (resources->least_count < limit)
        limit = resources->least_count;
    const struct bf_inputs inputs = {
        .seed = bf_seed_stream(check->seed),
        .style = seed->style,
        .limit = limit ? limit : 1,
        /* A dry run goes before the last ones: where they lead astray they aren't run. Half may. */
        .wild = !tame &&
                ((!interface->loops && !indexes) || (seed->push == BF_ANY_PUSH && stratum % 2)),
        .timid = tame,
        .narrow = narrow,
        .free = seed->push >= BF_FREE_PUSH,
        .any = seed->push == BF_ANY_PUSH,
        .other = check->seed >= BF_FIRST_UNIFORM_SEED,
        .pushed = seed->push == BF_HUGE_PUSH      ? BF_INPUTS_PUSH_HUGE
                  : seed->push == BF_TINY_PUSH    ? BF_INPUTS_PUSH_TINY
                  : seed->push == BF_SPECIAL_PUSH ? BF_INPUTS_PUSH_SPECIAL
                  : seed->push == BF_BRINK_PUSH   ? BF_INPUTS_PUSH_BRINK
                  : seed->push == BF_SIZED_PUSH   ? BF_INPUTS_PUSH_SIZED
                                                  : BF_INPUTS_PUSH_NEAR,
        .stratum = stratum,
        .magnitude = seed->magnitude,
        .rounds = seed->rounds != 0,
        .unfloating = interface->loops || tame || indexes,
        .dry = check->info->plan || check->told.set,
        .named = check->info->named,
        .named_count = names ? check->info->named_count : 0,
    };
    bf_test_resources_fill(&check->resources, &inputs);
    check->second = check->info->plan
                        ? check->info->plan->second[check->seed]
                        : check->seed / 2 % 2; /* whether it is odd says other things */
    if (check->info->plan)
        memcpy(check->groups, check->info->plan->groups[check->seed], sizeof(check->groups));
    else
        bf_run_groups(check->info, seed, check->groups);
    memcpy(check->push, check->info->push, sizeof(check->push));
    if (seed->push != BF_PUSHED && !tame)
        bf_inputs_push(&inputs, check->info->fixed, check->push, BF_CHECK_PUSH_BYTES / 4);
    VkResult result = begin_commands(check, BF_CHECK_UPLOAD, false);
    if (result != VK_SUCCESS)
        return result;
    bf_test_resources_record_upload(&check->resources, check->commands[BF_CHECK_UPLOAD], &inputs);
    result = end_commands(check, BF_CHECK_UPLOAD);
    if (result != VK_SUCCESS || !check->resources.several)
        return result;
    result = commands_execute(check, BF_CHECK_UPLOAD);
    if (result == VK_SUCCESS)
        result = commands_execute(check, BF_CHECK_DOWNLOAD);
    if (result == VK_SUCCESS)
        bf_test_resources_learn(&check->resources);
    return result;
}

/* What comes next may need images of other sizes. */
VkResult bf_check_reshape(struct bf_check *check)
{
    const enum bf_seed_shape shape = shape_of(check, check->seed);
    if (shape == check->shape)
        return VK_SUCCESS;
    bf_check_drop_resources(check);
    check->shape = shape;
    return bf_check_prepare(check);
}

void bf_check_note_reach(struct bf_check *check)
{
    const uint32_t *to = check->info->interface->graphics ? check->resources.extent : check->groups;
    for (uint32_t i = 0; i < 3; i++) {
        if (to[i] > check->info->reach[i])
            check->info->reach[i] = to[i];
    }
}

static bool check_agrees(struct bf_check *check, const void *result)
{
    return memcmp(result, check->expected, bf_test_resources_result_size(&check->resources)) == 0;
}

/* The general pipeline has run for the first or second time on these inputs. */
static void compare_general(struct bf_check *check, uint64_t took_ns)
{
    const void *result = bf_test_resources_result(&check->resources);
    bf_check_note_reach(check);
    if (check->turn == 0) {
        memcpy(check->expected, result, bf_test_resources_result_size(&check->resources));
        check->wrote |= bf_test_resources_changed(&check->resources, result);
        return;
    }
    const bool first = check->seed == first_seed(check);
    if (!first)
        check->info->general_ns += took_ns;
    if (memcmp(result, check->expected, bf_test_resources_result_size(&check->resources)) != 0)
        bf_check_give_up(check, "the general pipeline does not agree with itself");
    else if (first && took_ns > check->checker->limit_ns)
        bf_check_refuse(check, BF_REASON_TOO_SLOW, "the general pipeline takes too long");
}

static void compare_form(struct bf_check *check, uint32_t index, uint64_t took_ns)
{
    struct bf_check_form *form = &check->info->forms[index];
    if (form->first_use_ns == 0)
        form->first_use_ns = took_ns;
    else if (check->seed > first_seed(check))
        form->steady_ns += took_ns;
    if (!check_agrees(check, bf_test_resources_result(&check->resources))) {
        form->reason = BF_REASON_INEXACT;
        check->decided[index] = true;
    }
}

/* To the next turn that there is something to do in. */
static void move_on(struct bf_check *check)
{
    uint32_t left = 0;
    for (uint32_t i = 0; i < check->info->form_count; i++)
        left += !check->decided[i];
    if (left == 0)
        check->over = true;
    if (check->over)
        return;
    do {
        check->turn++;
    } while (check->turn >= 2 && check->turn < check->info->form_count + 2 &&
             check->decided[check->turn - 2]);
    if (check->turn < check->info->form_count + 2)
        return;
    check->turn = 0;
    check->seed = next_seed(check, check->seed + 1);
    if (check->seed < BF_SEEDS_END)
        return;
    if (!check->wrote)
        bf_check_give_up(check, "it wrote nothing");
    else
        check_decide(check, BF_REASON_NONE);
}

VkResult bf_check_step(struct bf_check *check, bool *done)
{
    struct bf_check_info *info = check->info;
    *done = check->over;
    if (check->over)
        return VK_SUCCESS;
    if (info->cancelled && info->cancelled(info->context)) {
        check_decide(check, BF_REASON_CANCELLED);
        *done = true;
        return VK_SUCCESS;
    }
    uint64_t took_ns = 0;
    uint32_t tries = 0;
    VkResult result = check->turn == 0 ? bf_check_reshape(check) : VK_SUCCESS;
    if (result == VK_ERROR_FEATURE_NOT_PRESENT) {
        bf_check_give_up(check, check->resources.why);
        *done = true;
        return VK_SUCCESS;
    }
    if (result == VK_SUCCESS && check->turn == 0)
        result = bf_check_make_inputs(check);
    const VkPipeline runs = check->turn < 2 ? info->general : info->forms[check->turn - 2].handle;
    const bool decides = check->turn == 1 && check->seed == first_seed(check);
    if (result == VK_SUCCESS)
        result = bf_check_execute(check, runs, &took_ns);
    while (result == VK_SUCCESS && decides && took_ns > check->checker->limit_ns &&
           ++tries < BF_CHECK_TRIES) {
        uint64_t next_ns = 0; /* it may only seem so, on a busy machine */
        result = bf_check_execute(check, runs, &next_ns);
        took_ns = next_ns < took_ns ? next_ns : took_ns;
    }
    if (result == VK_TIMEOUT) {
        bf_check_give_up(check, "a run did not end in time");
        *done = true;
        return VK_SUCCESS;
    }
    if (result != VK_SUCCESS) {
        *done = true;
        return check_fail(check, result);
    }
    if (check->turn < 2)
        compare_general(check, took_ns);
    else
        compare_form(check, check->turn - 2, took_ns);
    move_on(check);
    *done = check->over;
    return VK_SUCCESS;
}

VkResult bf_check_run(struct bf_checker *checker, struct bf_check_info *info)
{
    struct bf_check *check;
    VkResult result = bf_check_begin(checker, info, &check);
    if (result != VK_SUCCESS)
        return result;
    for (bool done = false; !done && result == VK_SUCCESS;)
        result = bf_check_step(check, &done);
    bf_check_end(check);
    return result;
}
