/* SPDX-License-Identifier: MIT */
/* A shader that computes with texels: its variant, which is the same with those of 8 bits, is for
 * no others before these have been compared, too. [RC-9, CK-19] */
#include "support/fixture.h"
#include "support/infos.h"
#include "support/cache.h"
#include "support/capture.h"

#include <belfry/background.h>

#include "shaders/texel.comp.h"

#define TEXELS 64

struct push {
    float factor;
    uint32_t other;
};

struct texture {
    VkImage image;
    VkDeviceMemory memory;
    VkImageView view;
    VkDescriptorPool pool;
    VkDescriptorSet set;
};

struct program {
    struct fixture f;
    uint32_t family;
    VkQueue queue;
    VkFence fence;
    VkDescriptorSetLayout set_layouts[2]; /* alike */
    VkPipelineLayout layout;
    VkPipeline pipeline, plain; /* the same, and nothing is ever built for the latter */
    VkCommandBuffer commands;
    VkBuffer buffer, texels;
    VkDeviceMemory memory, texel_memory;
    uint32_t *words, *texel_words;
    struct texture narrow, wide; /* of 8 and of 32 bits */
    uint32_t expected[TEXELS];
};

static const VkDescriptorType types[] = {VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
                                         VK_DESCRIPTOR_TYPE_SAMPLED_IMAGE};

static void set_layout(VkCommandBuffer commands, VkImage image, VkImageLayout from,
                       VkImageLayout to)
{
    const VkImageMemoryBarrier barrier = {
        VK_TYPE(IMAGE_MEMORY_BARRIER),
        .srcAccessMask = VK_ACCESS_MEMORY_WRITE_BIT,
        .dstAccessMask = VK_ACCESS_MEMORY_READ_BIT | VK_ACCESS_MEMORY_WRITE_BIT,
        .oldLayout = from,
        .newLayout = to,
        .srcQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
        .dstQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
        .image = image,
        .subresourceRange = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, 1}};
    vkCmdPipelineBarrier(commands, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT,
                         VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, 0, 0, NULL, 0, NULL, 1, &barrier);
}

/* With a set of its own. */
static void make_texture(struct program *p, VkFormat format, VkDescriptorSetLayout layout,
                         struct texture *t)
{
    VkDevice device = p->f.device;
    t->image = vulkan_image(p->f.physical, device, format, TEXELS, VK_SAMPLE_COUNT_1_BIT,
                            VK_IMAGE_USAGE_SAMPLED_BIT | VK_IMAGE_USAGE_TRANSFER_DST_BIT,
                            &t->memory, &t->view);
    t->set = vulkan_set(device, layout, 2, types, &t->pool);
    vulkan_set_buffer(device, t->set, p->buffer);
    const VkDescriptorImageInfo bound = {.imageView = t->view,
                                         .imageLayout = VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL};
    const VkWriteDescriptorSet write =
        info_write(t->set, 1, VK_DESCRIPTOR_TYPE_SAMPLED_IMAGE, &bound, NULL);
    vkUpdateDescriptorSets(device, 1, &write, 0, NULL);
    for (uint32_t i = 0; i < TEXELS; i++) {
        if (format == VK_FORMAT_R8_UINT)
            ((uint8_t *)p->texel_words)[i] = (uint8_t)(i + 3);
        else
            p->texel_words[i] = 100003 + 7 * i;
    }
    const VkCommandBufferBeginInfo begin = info_begin(VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT);
    const VkBufferImageCopy region = {.imageSubresource = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 0, 1},
                                      .imageExtent = {TEXELS, 1, 1}};
    assert_success(vkBeginCommandBuffer(p->commands, &begin));
    set_layout(p->commands, t->image, VK_IMAGE_LAYOUT_UNDEFINED,
               VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL);
    vkCmdCopyBufferToImage(p->commands, p->texels, t->image, VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL,
                           1, &region);
    set_layout(p->commands, t->image, VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL,
               VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL);
    assert_success(vkEndCommandBuffer(p->commands));
    vulkan_run(device, p->queue, p->commands, p->fence);
}

static void drop_texture(struct program *p, struct texture *t)
{
    vkDestroyDescriptorPool(p->f.device, t->pool, NULL);
    vkDestroyImageView(p->f.device, t->view, NULL);
    vulkan_destroy(p->f.device, t->image, t->memory);
}

static VkPipeline make_pipeline(struct program *p)
{
    VkPipeline pipeline;
    assert_success(
        vulkan_compute(p->f.device, p->layout, texel_comp, sizeof(texel_comp), &pipeline));
    return pipeline;
}

static void program_open(struct program *p)
{
    *p = (struct program){0};
    fixture_open(&p->f, &fixture_plain);
    VkDevice device = p->f.device;
    p->family = fixture_family(&p->f, VK_QUEUE_COMPUTE_BIT);
    p->queue = p->f.queues[p->family][0];
    p->fence = vulkan_fence(device, false);
    p->commands = vulkan_commands(device, p->f.pools[p->family], VK_COMMAND_BUFFER_LEVEL_PRIMARY);
    p->buffer =
        vulkan_buffer_of(p->f.physical, device, TEXELS * 4, VK_BUFFER_USAGE_STORAGE_BUFFER_BIT,
                         &p->memory, (void **)&p->words);
    p->texels =
        vulkan_buffer_of(p->f.physical, device, TEXELS * 4, VK_BUFFER_USAGE_TRANSFER_SRC_BIT,
                         &p->texel_memory, (void **)&p->texel_words);
    for (int i = 0; i < 2; i++)
        p->set_layouts[i] = vulkan_set_layout(device, 2, types, VK_SHADER_STAGE_COMPUTE_BIT);
    p->layout =
        vulkan_layout(device, p->set_layouts[0], VK_SHADER_STAGE_COMPUTE_BIT, sizeof(struct push));
    p->pipeline = make_pipeline(p);
    make_texture(p, VK_FORMAT_R8_UINT, p->set_layouts[0], &p->narrow);
    await_background(p->f.bf);
}

/* What Belfry said at the end; the caller frees it. */
static char *program_close(struct program *p)
{
    VkDevice device = p->f.device;
    drop_texture(p, &p->narrow);
    drop_texture(p, &p->wide);
    vulkan_destroy(device, p->fence, p->pipeline, p->plain, p->layout);
    for (int i = 0; i < 2; i++)
        vkDestroyDescriptorSetLayout(device, p->set_layouts[i], NULL);
    vulkan_destroy(device, p->buffer, p->memory, p->texels, p->texel_memory);
    struct capture capture;
    capture_start(&capture);
    fixture_close(&p->f);
    char *report = capture_stop(&capture);
    fputs(report, stderr);
    return report;
}

static void frame(struct program *p, VkPipeline pipeline, const struct texture *t)
{
    static const struct push push = {509.0f, 1};
    const VkCommandBufferBeginInfo begin = info_begin(VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT);
    memset(p->words, 0, TEXELS * 4);
    assert_success(vkBeginCommandBuffer(p->commands, &begin));
    vkCmdBindPipeline(p->commands, VK_PIPELINE_BIND_POINT_COMPUTE, pipeline);
    vkCmdBindDescriptorSets(p->commands, VK_PIPELINE_BIND_POINT_COMPUTE, p->layout, 0, 1, &t->set,
                            0, NULL);
    vkCmdPushConstants(p->commands, p->layout, VK_SHADER_STAGE_COMPUTE_BIT, 0, sizeof(push), &push);
    vkCmdDispatch(p->commands, 1, 1, 1);
    const VkMemoryBarrier barrier = info_barrier(
        VK_ACCESS_SHADER_WRITE_BIT, VK_ACCESS_SHADER_WRITE_BIT | VK_ACCESS_HOST_READ_BIT);
    vkCmdPipelineBarrier(p->commands, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT,
                         VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT | VK_PIPELINE_STAGE_HOST_BIT, 0, 1,
                         &barrier, 0, NULL, 0, NULL);
    assert_success(vkEndCommandBuffer(p->commands));
    vulkan_run(p->f.device, p->queue, p->commands, p->fence);
}

static void commit(struct program *p)
{
    BfEvent event = make_event(&p->f);
    assert_success(bfSetBackgroundProcessingMode(
        p->f.bf, BF_BACKGROUND_PROCESSING_MODE_DISABLE_PROFILING_BY_SYSTEM,
        BF_MEASUREMENTS_ACTION_COMMIT_RESULTS_HIGH_PRIORITY, event, NULL));
    await_event(event);
}

static unsigned long picked_in(const char *report)
{
    const char *line = strstr(report, " unjudged ");
    assert_non_null(line);
    const char *picked = strstr(line, "picked=");
    assert_non_null(picked);
    return strtoul(picked + 7, NULL, 10);
}

/* A texture of 8 bits, and then one of 32, in a freeze that a variant comes with which was compared
 * on the former. The set of the other is of another layout that is defined alike, or of the
 * same. */
static void both_draw(struct program *p, uint32_t other)
{
    program_open(p);
    frame(p, p->pipeline, &p->narrow);
    commit(p);
    for (int i = 0; i < 3; i++)
        frame(p, p->pipeline, &p->narrow);
    make_texture(p, VK_FORMAT_R32_UINT, p->set_layouts[other], &p->wide);
    p->plain = make_pipeline(p);
    frame(p, p->plain, &p->wide);
    memcpy(p->expected, p->words, sizeof(p->expected));
    for (int i = 0; i < 3; i++) {
        frame(p, p->pipeline, &p->wide);
        assert_memory_equal(p->words, p->expected, sizeof(p->expected));
    }
}

static void formats_check(uint32_t other)
{
    static struct program p;
    both_draw(&p, other);
    char *first = program_close(&p);
    assert_int_equal(picked_in(first), 3);
    free(first);
    both_draw(&p, other);
    /* That there are others is seen outside of the freeze. */
    assert_success(bfSetBackgroundProcessingMode(p.f.bf, BF_BACKGROUND_PROCESSING_MODE_ALLOWED,
                                                 BF_MEASUREMENTS_ACTION_KEEP_ALL, NULL, NULL));
    frame(&p, p.pipeline, &p.wide);
    commit(&p);
    for (int i = 0; i < 5; i++) {
        frame(&p, p.pipeline, &p.wide);
        assert_memory_equal(p.words, p.expected, sizeof(p.expected));
    }
    char *report = program_close(&p);
    assert_int_equal(picked_in(report), 5);
    free(report);
}

TEST_WITH(a_variant_is_for_no_other_formats_than_were_compared, cache_setup, cache_teardown)
{
    formats_check(0);
}

TEST_WITH(sets_of_layouts_that_are_alike_count, cache_setup, cache_teardown)
{
    formats_check(1);
}
