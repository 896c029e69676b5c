/* SPDX-License-Identifier: MIT */
/* The check of a variant: runs the general pipeline and the forms on generated inputs, and
 * compares every byte that they write. */
#include "specialize/check/check.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "gpu/commands.h"
#include "gpu/gpu.h"
#include "gpu/made.h"
#include "gpu/memory.h"
#include "specialize/check/draw.h"
#include "specialize/dry_run/dry_run.h"
#include "specialize/dry_run/needed.h"
#include "specialize/check/test_resource.h"
#include "specialize/check/inputs.h"
#include "specialize/check/run_extent.h"
#include "specialize/check/seeds.h"

#define PATIENCE_NS      UINT64_C(10000000000)
#define LIMIT_NS         UINT64_C(200000000)
#define DOUBLE_NS        UINT64_C(1000000)  /* a dry run that takes less is doubled */
#define DOUBLE_CPU_NS    UINT64_C(20000000) /* on a CPU: there nobody's frame waits for it */
#define TRIES            3                  /* of a run that seems long; the shortest counts */
#define SUM_LIMITS       19                 /* all dry runs, in limits of one */
#define MOST_INVOCATIONS BF_RUN_INVOCATIONS
#define LEAST_AREA       16 /* both ways, of dry runs that draw */

/* ------------------------------------------------------------------------------- The checker -- */

enum { COMPUTE, DIRECT, LANES };

/* A queue and what it takes to use it. */
struct lane {
    struct bf_check_queue queue;
    VkCommandPool pool;
};

struct bf_checker {
    struct bf_test_place place;
    uint64_t patience_ns, limit_ns, double_ns;
    bool cpu; /* the device is one */
    struct lane lanes[LANES];
    VkFence fence;
    bool hung;                /* a submission has not ended: nothing more is checked */
    struct bf_check *forlorn; /* its resources may be in use still */
};

static VkResult open_lane(struct bf_checker *checker, uint32_t index)
{
    struct lane *lane = &checker->lanes[index];
    struct bf_gpu *gpu = checker->place.gpu;
    if (!lane->queue.handle)
        return VK_ERROR_FEATURE_NOT_PRESENT;
    const VkCommandPoolCreateInfo pool = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
        .flags = VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT,
        .queueFamilyIndex = lane->queue.family,
    };
    return lane->pool ? VK_SUCCESS
                      : BF_MADE(gpu->vk.vkCreateCommandPool(gpu->handle, &pool, NULL, &lane->pool),
                                &lane->pool);
}

VkResult bf_checker_create(const struct bf_checker_info *info, struct bf_checker **out)
{
    struct bf_checker *checker = calloc(1, sizeof(*checker));
    if (!checker)
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    struct bf_gpu *gpu = info->gpu;
    checker->place = (struct bf_test_place){
        .gpu = gpu,
        .physical = info->physical,
        .formats = (PFN_vkGetPhysicalDeviceFormatProperties)info->get_instance_proc_addr(
            info->instance, "vkGetPhysicalDeviceFormatProperties"),
        .image_formats = (PFN_vkGetPhysicalDeviceImageFormatProperties)info->get_instance_proc_addr(
            info->instance, "vkGetPhysicalDeviceImageFormatProperties"),
        .properties = (PFN_vkGetPhysicalDeviceProperties2)info->get_instance_proc_addr(
            info->instance, "vkGetPhysicalDeviceProperties2"),
        .robust = info->robust,
        .robust_enabled = info->robust_enabled,
    };
    checker->patience_ns = info->patience_ns ? info->patience_ns : PATIENCE_NS;
    checker->limit_ns = info->limit_ns ? info->limit_ns : LIMIT_NS;
    checker->lanes[COMPUTE].queue = info->compute;
    checker->lanes[DIRECT].queue = info->direct;
    const VkFenceCreateInfo fence = {.sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO};
    VkResult result = VK_ERROR_FEATURE_NOT_PRESENT;
    const PFN_vkGetPhysicalDeviceProperties describe =
        (PFN_vkGetPhysicalDeviceProperties)info->get_instance_proc_addr(
            info->instance, "vkGetPhysicalDeviceProperties");
    if (checker->place.formats && checker->place.image_formats && describe) {
        VkPhysicalDeviceProperties properties;
        describe(info->physical, &properties);
        checker->cpu = properties.deviceType == VK_PHYSICAL_DEVICE_TYPE_CPU;
        checker->double_ns = info->double_ns ? info->double_ns
                             : checker->cpu  ? DOUBLE_CPU_NS
                                             : DOUBLE_NS;
        result = BF_MADE(gpu->vk.vkCreateFence(gpu->handle, &fence, NULL, &checker->fence),
                         &checker->fence);
    }
    if (result == VK_SUCCESS)
        result = open_lane(checker, COMPUTE);
    if (result != VK_SUCCESS) {
        bf_checker_destroy(checker);
        return result;
    }
    *out = checker;
    return VK_SUCCESS;
}

static void free_check(struct bf_check *check);

void bf_checker_destroy(struct bf_checker *checker)
{
    if (!checker)
        return;
    struct bf_gpu *gpu = checker->place.gpu;
    for (uint32_t i = 0; checker->forlorn && i < LANES; i++) {
        if (checker->lanes[i].queue.handle)
            gpu->vk.vkQueueWaitIdle(checker->lanes[i].queue.handle);
    }
    if (checker->forlorn)
        free_check(checker->forlorn);
    for (uint32_t i = 0; i < LANES; i++) {
        if (checker->lanes[i].pool)
            gpu->vk.vkDestroyCommandPool(gpu->handle, checker->lanes[i].pool, NULL);
    }
    if (checker->fence)
        gpu->vk.vkDestroyFence(gpu->handle, checker->fence, NULL);
    free(checker);
}

bool bf_checker_hangs(const struct bf_checker *checker)
{
    return checker->hung;
}

/* ----------------------------------------------------------------------------------- A check -- */

enum { UPLOAD, WORK, DOWNLOAD, COMMANDS };

/* Where a dry run tells. */
struct told {
    struct bf_buffer buffer; /* a struct bf_dry_run_result */
    VkDescriptorPool pool;
    VkDescriptorSet set; /* VK_NULL_HANDLE: this is no dry run */
};

struct bf_check {
    struct bf_checker *checker;
    struct bf_check_info *info;
    struct lane *lane;
    struct bf_test_resources resources;
    struct bf_draw draw;
    VkCommandBuffer commands[COMMANDS];
    uint8_t *expected; /* what the general pipeline left behind */
    struct told told;
    uint64_t seeds;      /* bit i: number i is run */
    uint64_t more_seeds; /* bit i: number BF_CHECK_SEEDS + i */
    uint32_t groups[3];  /* of dispatches, of this seed */
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

static void check_refuse(struct bf_check *check, enum bf_reason reason, const char *why)
{
    check->info->why = why;
    check->info->refused = reason;
    check_decide(check, reason);
}

static void give_up(struct bf_check *check, const char *why)
{
    check_refuse(check, BF_REASON_UNCHECKABLE, why);
}

/* Passes errors on, with a reason for the forms. */
static VkResult check_fail(struct bf_check *check, VkResult result)
{
    if (result != VK_SUCCESS)
        check_decide(check, result == VK_ERROR_DEVICE_LOST ? BF_REASON_LOST : BF_REASON_MEMORY);
    return result;
}

static void drop_resources(struct bf_check *check)
{
    struct bf_gpu *gpu = check->checker->place.gpu;
    if (check->commands[0])
        gpu->vk.vkFreeCommandBuffers(gpu->handle, check->lane->pool, COMMANDS, check->commands);
    check->commands[0] = VK_NULL_HANDLE;
    bf_draw_finish(&check->draw);
    bf_test_resources_finish(&check->resources);
    free(check->expected);
    check->expected = NULL;
}

static void told_finish(struct bf_gpu *gpu, struct told *told)
{
    gpu->vk.vkDestroyDescriptorPool(gpu->handle, told->pool, NULL);
    bf_buffer_destroy(gpu, &told->buffer);
}

static void free_check(struct bf_check *check)
{
    drop_resources(check);
    told_finish(check->checker->place.gpu, &check->told);
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
    return gpu->vk.vkBeginCommandBuffer(check->commands[which], &info);
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
    VkResult result = begin_commands(check, DOWNLOAD, false);
    if (result != VK_SUCCESS)
        return result;
    bf_test_resources_record_download(&check->resources, check->commands[DOWNLOAD]);
    return end_commands(check, DOWNLOAD);
}

/* Other formats only where they matter. */
static enum bf_seed_shape shape_of(const struct bf_check *check, uint32_t seed)
{
    const struct bf_check_info *info = check->info;
    const uint32_t sources = info->plan ? info->plan->sources : info->sources;
    const enum bf_seed_shape shape = bf_seed_of(seed)->shape;
    return shape == BF_SHAPE_OTHER && !(sources & BF_NEEDED_TEXELS) ? BF_SHAPE_PLAIN : shape;
}

static VkResult check_prepare(struct bf_check *check)
{
    const struct bf_pipeline_interface *interface = check->info->interface;
    struct bf_checker *checker = check->checker;
    struct bf_test_resources *resources = &check->resources;
    bf_test_resources_init(resources, &checker->place);
    bf_run_extent(check->info, check->shape, check->small, resources->extent);
    bf_run_read_extent(check->shape, resources);
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
    uint32_t index = resources->graphics ? DIRECT : COMPUTE;
    check->lane = &checker->lanes[index];
    result = open_lane(checker, index);
    if (result == VK_ERROR_FEATURE_NOT_PRESENT ||
        (result == VK_SUCCESS && resources->several &&
         !(check->lane->queue.flags & VK_QUEUE_COMPUTE_BIT)))
        return bf_test_resources_refuse(resources, "no engine for it");
    if (result == VK_SUCCESS)
        result = bf_test_resources_build(resources);
    if (result == VK_SUCCESS && interface->graphics)
        result = bf_draw_build(&check->draw);
    if (result == VK_SUCCESS)
        result =
            bf_commands_allocate(checker->place.gpu, check->lane->pool, COMMANDS, check->commands);
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
    check->lane = &checker->lanes[COMPUTE];
    VkResult result = VK_SUCCESS;
    check->seeds = info->plan         ? info->plan->seeds
                   : info->form_count ? BF_BARE_SEEDS
                                      : BF_ALL_SEEDS; /* a dry run has no forms */
    check->more_seeds = info->plan ? info->plan->more_seeds : 0;
    check->small = info->plan && info->plan->small;
    check->seed = first_seed(check);
    check->shape = check->seed < BF_SEEDS_END ? shape_of(check, check->seed) : BF_SHAPE_PLAIN;
    memset(info->reach, 0, sizeof(info->reach));
    if (checker->hung)
        give_up(check, "an earlier check has not ended");
    else if (check->seed == BF_SEEDS_END)
        give_up(check, "there is nothing to run it on");
    else
        result = check_prepare(check);
    if (result == VK_ERROR_FEATURE_NOT_PRESENT) {
        give_up(check, check->resources.why);
        result = VK_SUCCESS;
    }
    if (result != VK_SUCCESS) {
        check_fail(check, result);
        free_check(check);
        return result;
    }
    *out = check;
    return VK_SUCCESS;
}

void bf_check_end(struct bf_check *check)
{
    struct bf_checker *checker = check->checker;
    check_decide(check, BF_REASON_CANCELLED);
    if (checker->hung && !checker->forlorn && check->commands[0])
        checker->forlorn = check; /* CK-5 */
    else
        free_check(check);
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
    VkCommandBuffer commands = check->commands[WORK];
    VkPipelineBindPoint point =
        interface->graphics ? VK_PIPELINE_BIND_POINT_GRAPHICS : VK_PIPELINE_BIND_POINT_COMPUTE;
    VkResult result = begin_commands(check, WORK, true);
    if (result != VK_SUCCESS)
        return result;
    gpu->vk.vkCmdBindPipeline(commands, point, pipeline);
    bf_test_resources_bind(&check->resources, commands, point);
    push_constants(check, commands);
    if (check->told.set)
        gpu->vk.vkCmdBindDescriptorSets(commands, point, layout->handle, layout->set_count, 1,
                                        &check->told.set, 0, NULL);
    if (interface->graphics) {
        bf_draw_record(&check->draw, commands, check->seed, seed->instance);
    } else {
        gpu->vk.vkCmdDispatch(commands, check->groups[0], check->groups[1], check->groups[2]);
    }
    if (check->told.set)
        bf_commands_put_barrier(gpu, commands, VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT,
                                VK_PIPELINE_STAGE_2_HOST_BIT);
    return end_commands(check, WORK);
}

/* Submits and waits. VK_TIMEOUT: it has not ended, and may never. */
static VkResult check_execute(struct bf_check *check, uint32_t which)
{
    struct bf_checker *checker = check->checker;
    struct bf_gpu *gpu = checker->place.gpu;
    const VkSubmitInfo info = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
                               .commandBufferCount = 1,
                               .pCommandBuffers = &check->commands[which]};
    VkResult result = gpu->vk.vkResetFences(gpu->handle, 1, &checker->fence);
    if (result == VK_SUCCESS)
        result = gpu->vk.vkQueueSubmit(check->lane->queue.handle, 1, &info, checker->fence);
    if (result != VK_SUCCESS)
        return result;
    result =
        gpu->vk.vkWaitForFences(gpu->handle, 1, &checker->fence, VK_TRUE, checker->patience_ns);
    if (result != VK_SUCCESS && result != VK_ERROR_DEVICE_LOST && result != VK_TIMEOUT)
        result = gpu->vk.vkQueueWaitIdle(check->lane->queue.handle); /* no memory to wait with */
    checker->hung |= result != VK_SUCCESS && result != VK_ERROR_DEVICE_LOST;
    return result;
}

/* On a CPU that is busy with others, work of little priority mostly waits: that isn't the work's
 * time. */
static uint64_t time_taken(const struct bf_checker *checker, uint64_t waited_ns,
                           uint64_t computed_ns)
{
    return checker->cpu && computed_ns < waited_ns ? computed_ns : waited_ns;
}

/* The time that the work itself took. */
static VkResult check_run(struct bf_check *check, VkPipeline pipeline, uint64_t *took_ns)
{
    VkResult result = record_work(check, pipeline);
    if (result == VK_SUCCESS)
        result = check_execute(check, UPLOAD);
    if (result != VK_SUCCESS)
        return result;
    uint64_t begin = bf_now_ns(), computed = bf_process_ns();
    result = check_execute(check, WORK);
    *took_ns = time_taken(check->checker, bf_now_ns() - begin, bf_process_ns() - computed);
    if (result != VK_SUCCESS || check->told.set) /* a dry run's results are nobody's */
        return result;
    return check_execute(check, DOWNLOAD);
}

/* ----------------------------------------------------------------------------------- Verdict -- */

static VkResult make_inputs(struct bf_check *check)
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
    uint32_t limit = reaches ? 2 : !interface->loops ? 256 : seed->rounds ? seed->rounds : 16;
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
        .free = seed->push >= BF_FREE_PUSH,
        .any = seed->push == BF_ANY_PUSH,
        .other = check->seed >= BF_FIRST_UNIFORM_SEED,
        .pushed = seed->push == BF_HUGE_PUSH      ? BF_INPUTS_PUSH_HUGE
                  : seed->push == BF_TINY_PUSH    ? BF_INPUTS_PUSH_TINY
                  : seed->push == BF_SPECIAL_PUSH ? BF_INPUTS_PUSH_SPECIAL
                  : seed->push == BF_BRINK_PUSH   ? BF_INPUTS_PUSH_BRINK
                                                  : BF_INPUTS_PUSH_NEAR,
        .stratum = stratum,
        .magnitude = seed->magnitude,
        .rounds = seed->rounds != 0,
        .unfloating = interface->loops || tame || indexes,
        .named = check->info->named,
        .named_count = names ? check->info->named_count : 0,
    };
    bf_test_resources_fill(&check->resources, &inputs);
    if (check->info->plan)
        memcpy(check->groups, check->info->plan->groups[check->seed], sizeof(check->groups));
    else
        bf_run_groups(check->info, seed, check->groups);
    memcpy(check->push, check->info->push, sizeof(check->push));
    if (seed->push != BF_PUSHED && !tame)
        bf_inputs_push(&inputs, check->info->fixed, check->push, BF_CHECK_PUSH_BYTES / 4);
    VkResult result = begin_commands(check, UPLOAD, false);
    if (result != VK_SUCCESS)
        return result;
    bf_test_resources_record_upload(&check->resources, check->commands[UPLOAD], &inputs);
    result = end_commands(check, UPLOAD);
    if (result != VK_SUCCESS || !check->resources.several)
        return result;
    result = check_execute(check, UPLOAD);
    if (result == VK_SUCCESS)
        result = check_execute(check, DOWNLOAD);
    if (result == VK_SUCCESS)
        bf_test_resources_learn(&check->resources);
    return result;
}

/* What comes next may need images of other sizes. */
static VkResult check_reshape(struct bf_check *check)
{
    const enum bf_seed_shape shape = shape_of(check, check->seed);
    if (shape == check->shape)
        return VK_SUCCESS;
    drop_resources(check);
    check->shape = shape;
    return check_prepare(check);
}

/* The general pipeline has run. [CK-17] */
static void note_reach(struct bf_check *check)
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

static bool is_large(const struct bf_check *check)
{
    const uint32_t *extent = check->resources.extent;
    return extent[0] > BF_TEST_EXTENT || extent[1] > BF_TEST_EXTENT || extent[2] > 1;
}

/* The general pipeline has run for the first or second time on these inputs. */
static void compare_general(struct bf_check *check, uint64_t took_ns)
{
    const void *result = bf_test_resources_result(&check->resources);
    note_reach(check);
    if (check->turn == 0) {
        memcpy(check->expected, result, bf_test_resources_result_size(&check->resources));
        check->wrote |= bf_test_resources_changed(&check->resources, result);
        return;
    }
    const bool first = check->seed == first_seed(check);
    if (!first)
        check->info->general_ns += took_ns;
    if (memcmp(result, check->expected, bf_test_resources_result_size(&check->resources)) != 0)
        give_up(check, "the general pipeline does not agree with itself");
    else if (first && took_ns > check->checker->limit_ns)
        check_refuse(check, BF_REASON_TOO_SLOW, "the general pipeline takes too long");
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

/* What takes long is checked on images of the least size. */
static VkResult begin_again(struct bf_check *check)
{
    drop_resources(check);
    check->again = check->wrote = false;
    memset(check->info->reach, 0, sizeof(check->info->reach));
    check->spent_ns = 0;
    check->small = true;
    check->turn = 0;
    VkResult result = check_prepare(check);
    if (result != VK_ERROR_FEATURE_NOT_PRESENT)
        return result;
    give_up(check, check->resources.why);
    return VK_SUCCESS;
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
        give_up(check, "it wrote nothing");
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
    VkResult result = check->turn == 0 ? check_reshape(check) : VK_SUCCESS;
    if (result == VK_ERROR_FEATURE_NOT_PRESENT) {
        give_up(check, check->resources.why);
        *done = true;
        return VK_SUCCESS;
    }
    if (result == VK_SUCCESS && check->turn == 0)
        result = make_inputs(check);
    const VkPipeline runs = check->turn < 2 ? info->general : info->forms[check->turn - 2].handle;
    const bool decides = check->turn == 1 && check->seed == first_seed(check);
    if (result == VK_SUCCESS)
        result = check_run(check, runs, &took_ns);
    while (result == VK_SUCCESS && decides && took_ns > check->checker->limit_ns &&
           ++tries < TRIES) {
        uint64_t next_ns = 0; /* it may only seem so, on a busy machine */
        result = check_run(check, runs, &next_ns);
        took_ns = next_ns < took_ns ? next_ns : took_ns;
    }
    if (result == VK_TIMEOUT) {
        give_up(check, "a run did not end in time");
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

/* ---------------------------------------------------------------------------------- Dry runs -- */

/* What is left of it after an error, told_finish destroys. */
static VkResult told_make(struct bf_gpu *gpu, VkDescriptorSetLayout layout, struct told *told)
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
    VkResult result = check_run(check, check->info->general, took_ns);
    *outcome = told->flags ? TOLD : told->invocations ? FINE : QUIET;
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
         result == VK_SUCCESS && *outcome != TOLD && *took_ns >= longest_ns && i < TRIES; i++) {
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
        const uint32_t area = check->draw.area, next = area < whole / 4 ? area * 4 : whole;
        const uint64_t times = (pixels_of(check, next) - 1) / pixels_of(check, area) + 1;
        VkResult result =
            dry_run(check, area < whole ? most_ns / times : longest_ns, outcome, took_ns);
        if (result != VK_SUCCESS || *outcome == TOLD || area == whole)
            return result;
        if (*took_ns > most_ns / times) {
            *took_ns *= times;
            return result;
        }
        check->draw.area = next;
    }
}

/* One set of inputs. What the least run takes, once the driver has compiled, decides how large
 * images are, and what each takes, whether the next has more workgroups. */
static VkResult dry_run_step(struct bf_check *check, struct bf_check_plan *plan,
                             enum outcome *outcome)
{
    const bool first = check->seed == 0, draws = check->info->interface->graphics != NULL;
    const uint64_t limit_ns = check->checker->limit_ns, double_ns = check->checker->double_ns;
    uint64_t took_ns = 0;
    VkResult result = make_inputs(check);
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
        result = dry_run_draws(check, limit_ns / 8, outcome, &took_ns);
    else if (result == VK_SUCCESS)
        result =
            dry_run(check, limit_ns / 8 < double_ns ? limit_ns / 8 : double_ns, outcome, &took_ns);
    const bool whole = !draws || *outcome == TOLD || check->draw.area == whole_area(check);
    if (result == VK_SUCCESS && first)
        check->again = took_ns > limit_ns / 8 && is_large(check);
    if (result == VK_SUCCESS && !check->again && whole && first && took_ns > limit_ns)
        check_refuse(check, BF_REASON_TOO_SLOW, "its dry run takes too long");
    while (result == VK_SUCCESS && !check->over && !check->again && !draws && *outcome != TOLD &&
           took_ns < double_ns && groups_double(check->groups, wanted))
        result = dry_run(check, double_ns, outcome, &took_ns);
    memcpy(plan->groups[check->seed], check->groups, sizeof(check->groups));
    if (result == VK_TIMEOUT)
        give_up(check, "its dry run did not end in time");
    else if (result == VK_SUCCESS && !check->over && !check->again && !draws && *outcome == FINE &&
             !runs_enough(check, wanted))
        give_up(check, "its dry run takes too long for enough workgroups");
    else if (result == VK_SUCCESS && !check->over && !check->again && !whole)
        give_up(check, "its dry run takes too long for all that it draws");
    else if (result == VK_SUCCESS && !check->over && !check->again &&
             check->spent_ns > SUM_LIMITS * limit_ns)
        give_up(check, "its dry runs take too long together");
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
            give_up(check, "its dry run comes to what is out of reach");
        any |= needed && needed[i] & told->points[i] & ~check->points[i];
        check->points[i] |= told->points[i];
    }
    return any;
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
        result = check_reshape(check);
        if (result == VK_ERROR_FEATURE_NOT_PRESENT) { /* there are no such images */
            result = VK_SUCCESS;
            check->seed++;
            continue;
        }
        if (result == VK_SUCCESS)
            result = dry_run_step(check, &found, &outcome);
        if (result == VK_SUCCESS && check->again) {
            result = begin_again(check);
            continue;
        }
        told |= outcome == TOLD;
        bool wanted = outcome == FINE && (points_gather(check) || !for_dark);
        if (wanted)
            note_reach(check);
        if (check->seed < BF_CHECK_SEEDS)
            found.seeds |= (uint64_t)wanted << check->seed;
        else
            found.more_seeds |= (uint64_t)wanted << (check->seed - BF_CHECK_SEEDS);
        check->seed++;
        found.small = check->small;
        found.sources = info->sources;
    }
    if (result == VK_SUCCESS && !check->over && !found.seeds && told)
        check_refuse(check, BF_REASON_ENDLESS,
                     "on no inputs does it end, and stay inside what it indexes");
    else if (result == VK_SUCCESS && !check->over && !found.seeds)
        give_up(check, "on no inputs does it run");
    uint64_t others = 0;
    for (uint32_t i = 0; i < BF_CHECK_SEEDS; i++)
        others |= (uint64_t)(bf_seeds[i].shape == BF_SHAPE_OTHER) << i;
    if (result == VK_SUCCESS && !check->over && bf_seeds_read_others(info) &&
        !(found.seeds & others))
        give_up(check, "it can't be run on images of other formats");
    info->dark = first_dark(check);
    if (result == VK_SUCCESS && !check->over && info->dark < BF_DRY_RUN_POINTS)
        check_refuse(check, BF_REASON_UNCOVERED, "no inputs come to all that folding affects");
    if (result == VK_SUCCESS && !check->over)
        *plan = found;
    bf_check_end(check);
    return result;
}
