/* SPDX-License-Identifier: MIT */
/* Shaders rebuilt for the values that a program really uses, through the layer: a program that
 * knows nothing of it but the modes of background processing; with sets, or (described.h) a
 * descriptor buffer. */
#include "described.h"
#include "support/infos.h"
#include "support/cache.h"
#include "support/capture.h"

#include <belfry/background.h>

#include "shaders/general.comp.h"
#include "shaders/long.comp.h"
#include "shaders/sine.comp.h"

#define WORDS 4096

struct push {
    uint32_t rounds, mode, toggles, seed;
};

struct program {
    struct fixture f;
    struct described described;
    uint32_t family;
    VkQueue queue;
    VkBuffer buffer;
    VkDeviceMemory memory;
    uint32_t *words;
    VkDescriptorSetLayout set_layout;
    VkPipelineLayout layout;
    VkPipeline pipeline;
    VkDescriptorPool descriptors;
    VkDescriptorSet set;
    VkFence fence;
    VkCommandBuffer commands;
};

/* ----------------------------------------------------------------------------------- Program -- */

#define PIPELINE(p_, shader_)                                                                      \
    described_compute(&(p_)->described, (p_)->f.device, (p_)->layout, shader_, sizeof(shader_))

static struct program *program_open(void)
{
    static struct program program;
    struct program *p = &program;
    *p = (struct program){0};
    described_fixture_open(&p->f, &p->described);
    VkDevice device = p->f.device;
    p->family = fixture_family(&p->f, VK_QUEUE_COMPUTE_BIT);
    p->queue = p->f.queues[p->family][0];
    const VkDescriptorType type = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER;
    p->buffer =
        vulkan_buffer_of(p->f.physical, device, WORDS * 4,
                         VK_BUFFER_USAGE_STORAGE_BUFFER_BIT |
                             (p->described.is ? VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT : 0),
                         &p->memory, (void **)&p->words);
    p->set_layout = described_layout(&p->described, device);
    p->layout =
        vulkan_layout(device, p->set_layout, VK_SHADER_STAGE_COMPUTE_BIT, sizeof(struct push));
    p->pipeline = PIPELINE(p, general_comp);
    if (p->described.is) {
        described_write(&p->described, &p->f, p->set_layout, p->buffer);
    } else {
        p->set = vulkan_set(device, p->set_layout, 1, &type, &p->descriptors);
        vulkan_set_buffer(device, p->set, p->buffer);
    }
    p->fence = vulkan_fence(device, false);
    p->commands = vulkan_commands(device, p->f.pools[p->family], VK_COMMAND_BUFFER_LEVEL_PRIMARY);
    await_background(p->f.bf);
    return p;
}

/* What Belfry said at the end; there until the next program ends. */
static const char *program_close(struct program *p)
{
    VkDevice device = p->f.device;
    vkDestroyFence(device, p->fence, NULL);
    vkDestroyDescriptorPool(device, p->descriptors, NULL);
    described_close(&p->described, device);
    vulkan_destroy(device, p->pipeline, p->layout);
    vkDestroyDescriptorSetLayout(device, p->set_layout, NULL);
    vulkan_destroy(device, p->buffer, p->memory);
    static char *report;
    struct capture capture;
    capture_start(&capture);
    fixture_close(&p->f);
    free(report);
    report = capture_stop(&capture);
    fputs(report, stderr);
    return report;
}

static void descriptors_bind(const struct program *p)
{
    if (p->described.is)
        described_bind(&p->described, p->commands, p->layout);
    else
        vkCmdBindDescriptorSets(p->commands, VK_PIPELINE_BIND_POINT_COMPUTE, p->layout, 0, 1,
                                &p->set, 0, NULL);
}

/* A frame: a command buffer with so many dispatches. */
static void frame_record(struct program *p, uint32_t count, const struct push *pushes)
{
    const VkCommandBufferBeginInfo begin = info_begin(VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT);
    assert_success(vkBeginCommandBuffer(p->commands, &begin));
    descriptors_bind(p);
    for (uint32_t i = 0; i < count; i++) {
        vkCmdBindPipeline(p->commands, VK_PIPELINE_BIND_POINT_COMPUTE, p->pipeline);
        vkCmdPushConstants(p->commands, p->layout, VK_SHADER_STAGE_COMPUTE_BIT, 0,
                           sizeof(pushes[i]), &pushes[i]);
        vkCmdDispatch(p->commands, WORDS / 64, 1, 1);
        const VkMemoryBarrier barrier = info_barrier(
            VK_ACCESS_SHADER_WRITE_BIT, VK_ACCESS_SHADER_WRITE_BIT | VK_ACCESS_HOST_READ_BIT);
        vkCmdPipelineBarrier(p->commands, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT,
                             VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT | VK_PIPELINE_STAGE_HOST_BIT, 0,
                             1, &barrier, 0, NULL, 0, NULL);
    }
    assert_success(vkEndCommandBuffer(p->commands));
}

/* Submitted and waited for. */
static void frame(struct program *p, uint32_t count, const struct push *pushes)
{
    frame_record(p, count, pushes);
    vulkan_run(p->f.device, p->queue, p->commands, p->fence);
}

/* What the shader computes. */
static uint32_t expected(const struct push *push, uint32_t i)
{
    uint32_t x = i + push->seed;
    for (uint32_t r = 0; r < push->rounds; r++) {
        switch (push->mode) {
        case 0:
            x = x * 1664525u + 1013904223u;
            break;
        case 1:
            x ^= x << 13;
            x ^= x >> 17;
            x ^= x << 5;
            break;
        case 2:
            x = (x << 7 | x >> 25) + r;
            break;
        default:
            x += 1;
            break;
        }
        for (uint32_t k = 0; (push->toggles & 1) && k < 16; k++)
            x = (x ^ k) * 31;
        for (uint32_t k = 0; (push->toggles & 2) && k < 16; k++)
            x = x / (k + 3) + 7;
        for (uint32_t k = 0; (push->toggles & 4) && k < 16; k++)
            x = x % (k + 1013) + x;
    }
    return x;
}

static void assert_words(const struct program *p, const struct push *push)
{
    for (uint32_t i = 0; i < WORDS; i += 97)
        assert_int_equal(p->words[i], expected(push, i));
}

/* Everything that was seen is built, and over. */
static void commit(struct program *p, BfBackgroundProcessingMode mode)
{
    BfEvent event = make_event(&p->f);
    assert_success(bfSetBackgroundProcessingMode(
        p->f.bf, mode, BF_MEASUREMENTS_ACTION_COMMIT_RESULTS_HIGH_PRIORITY, event, NULL));
    await_event(event);
}

/* The number behind 'what' in the line of the report that names a variant and this word. */
static unsigned long number_in(const char *report, const char *word, const char *what)
{
    for (const char *line = report; line; line = strchr(line, '\n')) {
        line += *line == '\n';
        size_t length = strcspn(line, "\n");
        char *copy = strndup(line, length);
        const char *found = strstr(copy, word) ? strstr(copy, what) : NULL;
        unsigned long number = found ? strtoul(found + strlen(what), NULL, 10) : 0;
        free(copy);
        if (found)
            return number;
    }
    return 0;
}

static uint32_t count_in(const char *report, const char *word)
{
    uint32_t count = 0;
    for (const char *at = report; (at = strstr(at, word)); at++)
        count++;
    return count;
}

/* ------------------------------------------------------------------------------------- Tests -- */

/* Frames until there is nothing to measure any more. */
static void measure(struct program *p, const struct push *push, BfBackgroundProcessingMode mode)
{
    VkBool32 further = VK_TRUE;
    for (int i = 0; i < 2000 && further; i++) {
        frame(p, 1, push);
        if (i % 50 == 49)
            assert_success(bfSetBackgroundProcessingMode(
                p->f.bf, mode, BF_MEASUREMENTS_ACTION_KEEP_ALL, NULL, &further));
    }
}

static const struct push hot = {.rounds = 8, .mode = 1, .toggles = 0, .seed = 5};

TEST_WITH(one_frame_and_a_commit_make_a_variant, cache_setup, cache_teardown)
{
    struct program *p = program_open();
    frame(p, 1, &hot);
    assert_words(p, &hot);
    commit(p, BF_BACKGROUND_PROCESSING_MODE_ALLOWED);
    for (int i = 0; i < 8; i++) {
        memset(p->words, 0, WORDS * 4);
        frame(p, 1, &hot);
        assert_words(p, &hot);
    }
    /* Whatever it wasn't built for keeps the general one. */
    for (uint32_t i = 0; i < 4; i++) {
        struct push other = hot;
        *(&other.rounds + i) += 1;
        frame(p, 1, &other);
        assert_words(p, &other);
    }
    const char *report = program_close(p);
    assert_int_equal(count_in(report, " unjudged "), 1);
    assert_true(number_in(report, " unjudged ", "picked=") > 0);
}

/* Programs that know Belfry submit to its own queues. */
TEST_WITH(what_command_queues_execute_is_counted, cache_setup, cache_teardown)
{
    struct program *p = program_open();
    BfCommandQueue queue = make_queue(&p->f, BF_COMMAND_LIST_TYPE_DIRECT);
    if (bfGetCommandQueueFamilyIndex(queue) != p->family) {
        program_close(p);
        skip();
    }
    frame_record(p, 1, &hot);
    assert_success(bfQueueExecute(queue, 1, &p->commands));
    assert_success(bfQueueWaitIdle(queue));
    assert_words(p, &hot);
    commit(p, BF_BACKGROUND_PROCESSING_MODE_DISABLE_PROFILING_BY_SYSTEM);
    for (int i = 0; i < 4; i++) {
        memset(p->words, 0, WORDS * 4);
        frame_record(p, 1, &hot);
        assert_success(bfQueueExecute(queue, 1, &p->commands));
        assert_success(bfQueueWaitIdle(queue));
        assert_words(p, &hot);
    }
    assert_int_equal(number_in(program_close(p), " unjudged ", "picked="), 4);
}

TEST_WITH(values_that_always_change_build_nothing, cache_setup, cache_teardown)
{
    struct program *p = program_open();
    for (uint32_t i = 0; i < 64; i++) {
        const struct push push = {.rounds = i, .mode = i * 7, .toggles = i * 3, .seed = i};
        frame(p, 1, &push);
        assert_words(p, &push);
    }
    commit(p, BF_BACKGROUND_PROCESSING_MODE_ALLOWED);
    assert_int_equal(count_in(program_close(p), "build="), 0);
}

TEST_WITH(two_tuples_at_half_each_get_two_variants, cache_setup, cache_teardown)
{
    struct program *p = program_open();
    struct push both[2] = {hot, hot};
    both[1].mode = 2;
    for (int i = 0; i < 8; i++)
        frame(p, 2, both);
    commit(p, BF_BACKGROUND_PROCESSING_MODE_ALLOWED);
    for (int i = 0; i < 8; i++) {
        frame(p, 2, both);
        assert_words(p, &both[1]);
        frame(p, 1, both);
        assert_words(p, &both[0]);
    }
    assert_int_equal(count_in(program_close(p), " unjudged "), 2);
}

TEST_WITH(nothing_adapts_while_profiling_is_off, cache_setup, cache_teardown)
{
    struct program *p = program_open();
    assert_success(bfSetBackgroundProcessingMode(
        p->f.bf, BF_BACKGROUND_PROCESSING_MODE_DISABLE_PROFILING_BY_SYSTEM,
        BF_MEASUREMENTS_ACTION_KEEP_ALL, NULL, NULL));
    for (int i = 0; i < 16; i++)
        frame(p, 1, &hot);
    commit(p, BF_BACKGROUND_PROCESSING_MODE_ALLOWED);
    assert_int_equal(count_in(program_close(p), "build="), 0);
}

/* PIX's flow: one replay, then a commit that switches profiling off: published without a
 * verdict. */
TEST_WITH(a_commit_that_ends_profiling_publishes_unjudged, cache_setup, cache_teardown)
{
    struct program *p = program_open();
    frame(p, 1, &hot);
    commit(p, BF_BACKGROUND_PROCESSING_MODE_DISABLE_PROFILING_BY_SYSTEM);
    for (int i = 0; i < 8; i++) {
        frame(p, 1, &hot);
        assert_words(p, &hot);
    }
    assert_int_equal(number_in(program_close(p), " unjudged ", "picked="), 8);
}

static void mode_set(struct program *p, BfBackgroundProcessingMode mode)
{
    assert_success(
        bfSetBackgroundProcessingMode(p->f.bf, mode, BF_MEASUREMENTS_ACTION_KEEP_ALL, NULL, NULL));
}

/* As many frames as a verdict would take at most: it never comes, and all of them are alike. [CV-4]
 * */
TEST_WITH(ab_timing_stands_still_in_a_freeze, cache_setup, cache_teardown)
{
    struct program *p = program_open();
    frame(p, 1, &hot);
    commit(p, BF_BACKGROUND_PROCESSING_MODE_ALLOWED);
    mode_set(p, BF_BACKGROUND_PROCESSING_MODE_DISABLE_PROFILING_BY_SYSTEM);
    for (int i = 0; i < 450; i++) /* 200 pairs are always enough */
        frame(p, 1, &hot);
    assert_int_equal(number_in(program_close(p), " unjudged ", "picked="), 450);
}

/* Each dispatch has a lot of its own where intrusive measurements are allowed: a few frames are
 * enough for a verdict, which would take 60 at least. */
TEST_WITH(intrusive_measurements_take_few_frames, cache_setup, cache_teardown)
{
    struct push pushes[64];
    for (uint32_t i = 0; i < 64; i++)
        pushes[i] = hot;
    struct program *p = program_open();
    frame(p, 1, &hot);
    commit(p, BF_BACKGROUND_PROCESSING_MODE_ALLOWED);
    mode_set(p, BF_BACKGROUND_PROCESSING_MODE_ALLOW_INTRUSIVE_MEASUREMENTS);
    for (int i = 0; i < 20; i++)
        frame(p, 64, pushes);
    assert_words(p, &hot);
    const char *report = program_close(p);
    assert_int_equal(count_in(report, " kept faster ") + count_in(report, " rejected slower ") +
                         count_in(report, " rejected no-gain "),
                     1);
}

TEST_WITH(discarded_measurements_are_void, cache_setup, cache_teardown)
{
    struct program *p = program_open();
    frame(p, 1, &hot);
    assert_success(bfSetBackgroundProcessingMode(p->f.bf, BF_BACKGROUND_PROCESSING_MODE_ALLOWED,
                                                 BF_MEASUREMENTS_ACTION_DISCARD_PREVIOUS, NULL,
                                                 NULL));
    commit(p, BF_BACKGROUND_PROCESSING_MODE_ALLOWED);
    assert_int_equal(count_in(program_close(p), "build="), 0);
}

/* A verdict, by measurements in the program's own frames; and a second run that begins with it. */
static void learn(BfBackgroundProcessingMode mode)
{
    const struct push slow = {.rounds = 64, .mode = 1, .toggles = 0, .seed = 5};
    struct program *p = program_open();
    frame(p, 1, &slow);
    commit(p, mode);
    measure(p, &slow, mode);
    const char *report = program_close(p);
    bool kept = count_in(report, " kept faster ") == 1;
    bool lost = count_in(report, " rejected ") == 1;
    assert_true(kept || lost); /* what it is is the machine's to say; that there is one isn't */

    p = program_open();
    frame(p, 1, &slow); /* not enough to choose by: but it is in use again */
    commit(p, BF_BACKGROUND_PROCESSING_MODE_DISABLE_PROFILING_BY_SYSTEM);
    for (int i = 0; i < 8; i++) {
        frame(p, 1, &slow);
        assert_words(p, &slow);
    }
    report = program_close(p);
    if (kept) {
        assert_int_equal(count_in(report, "remembered"), 1);
        assert_int_equal(number_in(report, "remembered", "picked="), 8);
    } else {
        assert_int_equal(number_in(report, " rejected ", "build="), 0); /* ns */
    }
}

TEST_WITH(what_was_learnt_is_there_at_the_next_start, cache_setup, cache_teardown)
{
    learn(BF_BACKGROUND_PROCESSING_MODE_ALLOWED);
}

/* Also where nothing may be done in the background from the verdict to the end. [CV-6] */
TEST_WITH(what_was_learnt_without_background_work_is_too, cache_setup, cache_teardown)
{
    learn(BF_BACKGROUND_PROCESSING_MODE_DISABLE_BACKGROUND_WORK);
}

/* Nor is a verdict there that was discarded: the variant is built anew, and has none. Also where
 * nothing may be done in the background from then to the end. [CV-5] */
TEST_WITH(discarded_verdicts_are_forgotten, cache_setup, cache_teardown)
{
    const struct push slow = {.rounds = 64, .mode = 1, .toggles = 0, .seed = 5};
    struct program *p = program_open();
    frame(p, 1, &slow);
    commit(p, BF_BACKGROUND_PROCESSING_MODE_ALLOWED);
    measure(p, &slow, BF_BACKGROUND_PROCESSING_MODE_ALLOWED);
    await_background(p->f.bf); /* the verdict is stored */
    assert_success(bfSetBackgroundProcessingMode(
        p->f.bf, BF_BACKGROUND_PROCESSING_MODE_DISABLE_BACKGROUND_WORK,
        BF_MEASUREMENTS_ACTION_DISCARD_PREVIOUS, NULL, NULL));
    program_close(p);

    p = program_open();
    frame(p, 1, &slow);
    commit(p, BF_BACKGROUND_PROCESSING_MODE_DISABLE_PROFILING_BY_SYSTEM);
    for (int i = 0; i < 8; i++)
        frame(p, 1, &slow);
    const char *report = program_close(p);
    assert_int_equal(count_in(report, "remembered"), 0);
    assert_int_equal(number_in(report, " unjudged ", "picked="), 8);
}

/* Shaders are left alone where the setting says so: so does the device, nothing is counted, and
 * nothing is left in the folder of what is remembered. */
TEST_WITH(it_can_be_off, cache_setup, cache_teardown)
{
    setenv("VK_BELFRY_MULTI_ENGINE_SPECIALIZE", "off", 1);
    struct program *p = program_open();
    BfBackgroundProcessingProperties properties = {BF_TYPE(BACKGROUND_PROCESSING_PROPERTIES)};
    assert_success(bfGetBackgroundProcessingProperties(p->f.bf, &properties));
    assert_false(properties.backgroundProcessingSupported);
    const struct push slow = {.rounds = 64, .mode = 1, .toggles = 0, .seed = 5};
    frame(p, 1, &slow);
    assert_words(p, &slow);
    assert_int_equal(count_in(program_close(p), "belfry: specialize:"), 0);
    assert_int_equal(rmdir(cache_folder), 0);
}

/* By itself, and as 'auto', it is on where a check can be trusted, but not in a trace, which shows
 * the program as it is. */
TEST_WITH(auto_is_on_but_not_in_a_trace, cache_setup, cache_teardown)
{
    char trace[128];
    snprintf(trace, sizeof(trace), "%s/trace", cache_folder);
    for (uint32_t how = 0; how < 4; how++) {
        const bool traced = how & 1;
        if (how & 2)
            setenv("VK_BELFRY_MULTI_ENGINE_SPECIALIZE", "auto", 1);
        else
            unsetenv("VK_BELFRY_MULTI_ENGINE_SPECIALIZE");
        if (traced)
            setenv("VK_BELFRY_MULTI_ENGINE_TRACE", trace, 1);
        struct capture capture;
        capture_start(&capture);
        struct program *p = program_open();
        char *opened = capture_stop(&capture);
        frame(p, 1, &hot);
        commit(p, BF_BACKGROUND_PROCESSING_MODE_DISABLE_PROFILING_BY_SYSTEM);
        for (int i = 0; i < 4; i++)
            frame(p, 1, &hot);
        unsetenv("VK_BELFRY_MULTI_ENGINE_TRACE");
        VkPhysicalDeviceFeatures features;
        vkGetPhysicalDeviceFeatures(p->f.physical, &features);
        const bool on = features.robustBufferAccess && !traced;
        assert_int_equal(count_in(opened, "specialize=auto is off for this device"), !on);
        free(opened);
        const char *report = program_close(p);
        assert_int_equal(count_in(report, "belfry: specialize:") > 0, on);
        assert_int_equal(number_in(report, " unjudged ", "picked="), on ? 4 : 0);
    }
}

/* Where it is on, a program that makes no pipeline that could be rebuilt leaves nothing in the
 * folder of what is remembered. */
TEST_WITH(it_leaves_no_file_without_need, cache_setup, cache_teardown)
{
    struct fixture f;
    fixture_open(&f, NULL);
    fixture_close(&f);
    assert_int_equal(rmdir(cache_folder), 0);

    struct program *p = program_open();
    BfBackgroundProcessingProperties properties = {BF_TYPE(BACKGROUND_PROCESSING_PROPERTIES)};
    assert_success(bfGetBackgroundProcessingProperties(p->f.bf, &properties));
    assert_true(properties.backgroundProcessingSupported);
    program_close(p);
    assert_int_equal(rmdir(cache_folder), -1);
    assert_int_equal(errno, ENOTEMPTY);
}

/* What creating pipelines leaves to the pool waits for background work to be allowed. */
TEST_WITH(shaders_are_analysed_once_background_work_is_allowed, cache_setup, cache_teardown)
{
    struct program *p = program_open();
    assert_success(bfSetBackgroundProcessingMode(
        p->f.bf, BF_BACKGROUND_PROCESSING_MODE_DISABLE_BACKGROUND_WORK,
        BF_MEASUREMENTS_ACTION_KEEP_ALL, NULL, NULL));
    vkDestroyPipeline(p->f.device, p->pipeline, NULL);
    p->pipeline = PIPELINE(p, general_comp);
    for (int i = 0; i < 3; i++) {
        frame(p, 1, &hot);
        await_background(p->f.bf);
    }
    const char *report = program_close(p);
    assert_int_equal(count_in(report, " unjudged "), 1);
}

static void event_signal(void *event)
{
    assert_success(bfSetEvent(event));
}

/* Few pipelines wake nobody when they are made, but are analysed once the program records. */
TEST_WITH(shaders_are_analysed_when_a_command_buffer_is_begun, cache_setup, cache_teardown)
{
    setenv("VK_BELFRY_MULTI_ENGINE_BACKGROUND_TASKS", "1", 1); /* one after the other */
    struct program *p = program_open();
    unsetenv("VK_BELFRY_MULTI_ENGINE_BACKGROUND_TASKS");
    frame(p, 1, &hot);
    vkDestroyPipeline(p->f.device, p->pipeline, NULL);
    p->pipeline = PIPELINE(p, general_comp);
    for (int i = 0; i < 2; i++) {
        BfEvent event = make_event(&p->f);
        frame(p, 1, &hot);
        assert_success(bfQueueProcessingWork(p->f.bf, event_signal, NULL, event));
        await_event(event);
    }
    assert_int_equal(count_in(program_close(p), "2 pipelines, 2 of them watched"), 1);
}

/* A build may be under way when its pipeline goes; another one comes to its place. */
TEST_WITH(a_pipeline_may_go_while_it_is_built, cache_setup, cache_teardown)
{
    struct program *p = program_open();
    for (int i = 0; i < 8; i++) {
        struct push push = hot;
        push.rounds += (uint32_t)i;
        frame(p, 1, &push);
        BfEvent event = make_event(&p->f);
        assert_success(bfSetBackgroundProcessingMode(
            p->f.bf, BF_BACKGROUND_PROCESSING_MODE_ALLOWED,
            BF_MEASUREMENTS_ACTION_COMMIT_RESULTS_HIGH_PRIORITY, event, NULL));
        vkDestroyPipeline(p->f.device, p->pipeline, NULL);
        p->pipeline = PIPELINE(p, general_comp);
        frame(p, 1, &push);
        assert_words(p, &push);
        await_event(event);
    }
    program_close(p);
}

/* A frame of one dispatch of each pipeline. */
static void frame_of(struct program *p, uint32_t count, const VkPipeline *pipelines,
                     VkCommandBufferUsageFlags flags)
{
    const VkCommandBufferBeginInfo begin = info_begin(flags);
    assert_success(vkBeginCommandBuffer(p->commands, &begin));
    descriptors_bind(p);
    vkCmdPushConstants(p->commands, p->layout, VK_SHADER_STAGE_COMPUTE_BIT, 0, sizeof(hot), &hot);
    for (uint32_t i = 0; i < count; i++) {
        const VkMemoryBarrier barrier =
            info_barrier(VK_ACCESS_SHADER_WRITE_BIT, VK_ACCESS_SHADER_WRITE_BIT);
        vkCmdBindPipeline(p->commands, VK_PIPELINE_BIND_POINT_COMPUTE, pipelines[i]);
        vkCmdDispatch(p->commands, WORDS / 64, 1, 1);
        vkCmdPipelineBarrier(p->commands, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT,
                             VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, 0, 1, &barrier, 0, NULL, 0,
                             NULL);
    }
    assert_success(vkEndCommandBuffer(p->commands));
    vulkan_run(p->f.device, p->queue, p->commands, p->fence);
}

/* The share of GPU time, in percent, in the line of the report with these words. */
static double share_in(const char *report, const char *words)
{
    const char *line = strstr(report, words);
    double ms = -1, percent = -1;
    if (!line)
        fail_msg("the report has no '%s'", words);
    const char *time = strstr(line, ", about ");
    if (!time || time > strchr(line, '\n') ||
        sscanf(time, ", about %lf ms of GPU time, %lf %%", &ms, &percent) != 2)
        fail_msg("no time in: %.*s", (int)strcspn(line, "\n"), line);
    return ms > 0 ? percent : 0;
}

/* Each reason's line says how much GPU time it stands for. [GT-3] */
TEST_WITH(the_report_says_what_each_reason_is_worth, cache_setup, cache_teardown)
{
    VkPipeline pipelines[3] = {0};
    struct program *p = program_open();
    VkDevice device = p->f.device;
    pipelines[0] = p->pipeline;
    pipelines[1] = PIPELINE(p, long_comp);
    pipelines[2] = PIPELINE(p, sine_comp);
    await_background(p->f.bf);
    frame_of(p, 3, pipelines, VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT);
    commit(p, BF_BACKGROUND_PROCESSING_MODE_ALLOWED);
    for (int i = 0; i < 20; i++)
        frame_of(p, 3, pipelines, VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT);
    vkDestroyPipeline(device, pipelines[1], NULL);
    vkDestroyPipeline(device, pipelines[2], NULL);
    const char *report = program_close(p);
    const double more = share_in(report, "1 pipelines not watched: no-push-constants (");
    const double less = share_in(report, "1 pipelines not watched: no-fold (");
    const double watched = share_in(report, "1 variants unjudged: of 1 pipelines");
    assert_true(less > 0 && watched > 0);
    assert_true(more > less); /* by far: but a processor may be taken from the other, too */
    assert_true(more + less + watched > 98 && more + less + watched < 102);
}

/* What may be submitted while it runs isn't timed, and what was never submitted has no uses. */
TEST_WITH(the_report_says_where_it_does_not_know, cache_setup, cache_teardown)
{
    VkPipeline pipeline;
    struct program *p = program_open();
    pipeline = PIPELINE(p, long_comp);
    await_background(p->f.bf);
    frame_of(p, 1, &pipeline, VK_COMMAND_BUFFER_USAGE_SIMULTANEOUS_USE_BIT);
    vkDestroyPipeline(p->f.device, pipeline, NULL);
    const char *report = program_close(p);
    assert_non_null(strstr(report, "(it reads no push constants), GPU time not known\n"));
    assert_non_null(strstr(report, " no values were used often enough, no use counted\n"));
}
