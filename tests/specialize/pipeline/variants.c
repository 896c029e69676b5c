/* SPDX-License-Identifier: MIT */
/* The life of variants beside that of their pipeline: publishing, withdrawing, sweeping. */
#include "fake.h"

#include "shaders/paint.comp.h"

struct scene {
    VkDescriptorSetLayout sets;
    VkPipelineLayout layout;
    VkPipeline pipeline;
    struct bf_pipeline *record;
    struct bf_pipeline_copy *copy; /* retained */
};

static VkPipeline make_pipeline(const struct scene *s)
{
    VkShaderModule module = fake_module(paint_comp, sizeof(paint_comp));
    const VkComputePipelineCreateInfo info = info_compute(module, s->layout, NULL);
    VkPipeline pipeline = fake_compute(&info);
    fake_destroy_module(module);
    return pipeline;
}

static void scene_open(struct scene *s)
{
    fake_open();
    s->sets = fake_set_layout(VK_NULL_HANDLE, NULL);
    s->layout = fake_layout(s->sets, 12, NULL);
    s->pipeline = make_pipeline(s);
    s->record = bf_pipelines_find(&fake.pipelines, s->pipeline);
    s->copy = s->record->copy;
    bf_pipeline_copy_retain(s->copy);
}

static void scene_close(struct scene *s)
{
    bf_pipeline_copy_release(s->copy);
    if (s->pipeline)
        fake_destroy_pipeline(s->pipeline);
    DONE(PIPELINE_LAYOUT, s->layout);
    DONE(DESCRIPTOR_SET_LAYOUT, s->sets);
    fake_close();
}

#define SCENE_TEST(name_) TEST_AROUND(name_, struct scene, s, scene_open, scene_close)

static struct bf_variant *build(const struct bf_pipeline_copy *copy)
{
    struct bf_variant *v = calloc(1, sizeof(*v));
    assert_non_null(v);
    assert_int_equal(bf_pipeline_copy_build(copy, NULL, NULL, VK_NULL_HANDLE, &v->handle),
                     VK_SUCCESS);
    return v;
}

static void discard(struct bf_variant *v)
{
    fake.vk.vkDestroyPipeline(VK_NULL_HANDLE, v->handle, NULL);
    free(v);
}

static uint32_t published(const struct bf_pipeline *p)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < BF_MAX_VARIANTS; i++)
        count += atomic_load(&p->variants[i]) != NULL;
    return count;
}

SCENE_TEST(a_few_may_be_published)
{
    struct bf_variant *variants[BF_MAX_VARIANTS];
    for (uint32_t i = 0; i < BF_MAX_VARIANTS; i++) {
        variants[i] = build(s->copy);
        assert_int_equal(bf_pipeline_publish(s->copy, variants[i]), BF_REASON_NONE);
        assert_int_equal(published(s->record), i + 1);
    }
    struct bf_variant *more = build(s->copy);
    assert_int_equal(bf_pipeline_publish(s->copy, more), BF_REASON_BUDGET);
    bf_pipeline_withdraw(&fake.pipelines, s->record, variants[1]);
    bf_pipeline_withdraw(&fake.pipelines, s->record, variants[1]); /* twice is once */
    assert_int_equal(published(s->record), BF_MAX_VARIANTS - 1);
    assert_int_equal(bf_pipeline_publish(s->copy, more), BF_REASON_NONE);
    assert_int_equal(fake_alive(VK_OBJECT_TYPE_PIPELINE), 1 + BF_MAX_VARIANTS + 1);
    assert_int_equal(bf_pipelines_sweep(&fake.pipelines), 0);
    assert_int_equal(fake_alive(VK_OBJECT_TYPE_PIPELINE), 1 + BF_MAX_VARIANTS);
}

/* A handle goes when no command buffer has it; whoever comes late keeps the general one. */
SCENE_TEST(what_is_recorded_stays)
{
    struct bf_variant *v = build(s->copy);
    const VkPipeline handle = v->handle;
    assert_int_equal(bf_pipeline_publish(s->copy, v), BF_REASON_NONE);
    assert_true(bf_variant_acquire(v));
    assert_true(bf_variant_acquire(v));
    bf_pipeline_withdraw(&fake.pipelines, s->record, v);
    assert_false(bf_variant_acquire(v));
    assert_int_equal(bf_pipelines_sweep(&fake.pipelines), 1);
    bf_variant_release(v);
    assert_int_equal(bf_pipelines_sweep(&fake.pipelines), 1);
    assert_true(fake_object(VK_OBJECT_TYPE_PIPELINE, (uint64_t)handle));
    bf_variant_release(v);
    assert_int_equal(bf_pipelines_sweep(&fake.pipelines), 0);
    assert_false(fake_object(VK_OBJECT_TYPE_PIPELINE, (uint64_t)handle));
    /* The struct is there as long as the pipeline: a late comer looks at it. */
    assert_false(bf_variant_acquire(v));
    bf_pipeline_withdraw(&fake.pipelines, s->record, v);
    assert_int_equal(bf_pipelines_sweep(&fake.pipelines), 0);
}

/* A command buffer may outlive the pipeline that it was recorded with. */
SCENE_TEST(a_pipeline_goes_before_its_command_buffers)
{
    struct bf_variant *recorded = build(s->copy), *free_one = build(s->copy),
                      *ended = build(s->copy);
    const VkPipeline handle = recorded->handle, free_handle = free_one->handle;
    assert_int_equal(bf_pipeline_publish(s->copy, recorded), BF_REASON_NONE);
    assert_int_equal(bf_pipeline_publish(s->copy, free_one), BF_REASON_NONE);
    assert_int_equal(bf_pipeline_publish(s->copy, ended), BF_REASON_NONE);
    assert_true(bf_variant_acquire(recorded));
    assert_true(bf_variant_acquire(ended));
    bf_pipeline_withdraw(&fake.pipelines, s->record, ended);
    fake_destroy_pipeline(s->pipeline);
    s->pipeline = VK_NULL_HANDLE;
    assert_true(fake_object(VK_OBJECT_TYPE_PIPELINE, (uint64_t)handle));
    assert_false(fake_object(VK_OBJECT_TYPE_PIPELINE, (uint64_t)free_handle));
    assert_int_equal(bf_pipelines_sweep(&fake.pipelines), 2);
    bf_variant_release(ended);
    assert_int_equal(bf_pipelines_sweep(&fake.pipelines), 1);
    bf_variant_release(recorded);
    assert_int_equal(bf_pipelines_sweep(&fake.pipelines), 0);
    assert_int_equal(fake_alive(VK_OBJECT_TYPE_PIPELINE), 0);
}

TEST(the_end_ends_them_all)
{
    struct scene s;
    scene_open(&s);
    for (int i = 0; i < 3; i++) {
        struct bf_variant *v = build(s.copy);
        assert_int_equal(bf_pipeline_publish(s.copy, v), BF_REASON_NONE);
        if (i == 1)
            bf_pipeline_withdraw(&fake.pipelines, s.record, v);
        if (i == 2)
            assert_true(bf_variant_acquire(v)); /* by a command buffer that is never used again */
    }
    bf_pipeline_copy_release(s.copy);
    bf_pipelines_finish(&fake.pipelines);
    assert_int_equal(fake_alive(VK_OBJECT_TYPE_PIPELINE), 1); /* the program's own */
}

SCENE_TEST(one_sweep_is_for_many)
{
    enum { MANY = 100 };
    for (int i = 0; i < MANY; i++) {
        struct bf_variant *v = build(s->copy);
        assert_int_equal(bf_pipeline_publish(s->copy, v), BF_REASON_NONE);
        bf_pipeline_withdraw(&fake.pipelines, s->record, v);
    }
    assert_int_equal(fake_alive(VK_OBJECT_TYPE_PIPELINE), 1 + MANY);
    assert_int_equal(bf_pipelines_sweep(&fake.pipelines), 0);
    assert_int_equal(fake_alive(VK_OBJECT_TYPE_PIPELINE), 1);
}

SCENE_TEST(what_is_pinned_is_general)
{
    struct bf_variant *v = build(s->copy), *late = build(s->copy);
    assert_int_equal(bf_pipeline_publish(s->copy, v), BF_REASON_NONE);
    bf_pipelines_pin(&fake.pipelines, s->pipeline);
    bf_pipelines_pin(&fake.pipelines, VK_NULL_HANDLE);
    assert_true(s->record->pinned);
    assert_int_equal(published(s->record), 0);
    assert_false(bf_variant_acquire(v));
    assert_int_equal(bf_pipeline_publish(s->copy, late), BF_REASON_PINNED);
    discard(late);
}

/* ---- Visits ---- */

static void note_visit(struct bf_pipeline *pipeline, void *context)
{
    *(struct bf_pipeline **)context = pipeline;
}

static uint32_t gone;

static void note_gone(void *context, struct bf_pipeline *pipeline)
{
    assert_ptr_equal(context, &gone);
    /* No lock is held, and nothing is published any more. */
    struct bf_variant variant = {0};
    assert_int_equal(bf_pipeline_publish(pipeline->copy, &variant), BF_REASON_GONE);
    assert_int_equal(bf_pipelines_sweep(&fake.pipelines), 0);
    free(pipeline->policy);
    gone++;
}

SCENE_TEST(a_record_is_visited_until_it_is_gone)
{
    fake.pipelines.on_gone = note_gone;
    fake.pipelines.context = &gone;
    gone = 0;
    struct bf_variant *v = build(s->copy);
    s->record->policy = malloc(1);
    assert_int_equal(bf_pipeline_publish(s->copy, v), BF_REASON_NONE);
    struct bf_pipeline *seen = NULL;
    const uint64_t id = s->record->id;
    assert_true(bf_pipelines_visit(&fake.pipelines, id, note_visit, &seen));
    assert_ptr_equal(seen, s->record);
    seen = NULL;
    assert_true(bf_pipeline_copy_visit(s->copy, note_visit, &seen));
    assert_ptr_equal(seen, s->record);
    assert_false(bf_pipelines_visit(&fake.pipelines, id + 1, note_visit, &seen));
    fake_destroy_pipeline(s->pipeline);
    assert_int_equal(gone, 1);
    seen = NULL;
    assert_false(bf_pipelines_visit(&fake.pipelines, id, note_visit, &seen));
    assert_false(bf_pipeline_copy_visit(s->copy, note_visit, &seen));
    assert_null(seen);
    fake_destroy_pipeline(VK_NULL_HANDLE);
    s->pipeline = make_pipeline(s);
    assert_true(bf_pipelines_find(&fake.pipelines, s->pipeline)->id > id);
    fake.pipelines.on_gone = NULL;
}

SCENE_TEST(names_are_cut_off)
{
    bf_pipelines_name(&fake.pipelines, s->pipeline, "blur");
    assert_string_equal(s->record->name, "blur");
    char text[200];
    memset(text, 'x', sizeof(text));
    text[sizeof(text) - 1] = 0;
    bf_pipelines_name(&fake.pipelines, s->pipeline, text);
    assert_int_equal(strlen(s->record->name), sizeof(s->record->name) - 1);
    bf_pipelines_name(&fake.pipelines, s->pipeline, NULL);
    assert_string_equal(s->record->name, "");
    bf_pipelines_name(&fake.pipelines, VK_NULL_HANDLE, "none");
}

/* ---- Several threads ---- */

enum { ROUNDS = 300, THREADS = 3 };

struct pool {
    struct scene *scene;
    pthread_barrier_t barrier;
    struct bf_pipeline_copy *_Atomic copy; /* of this round's pipeline */
    _Atomic(struct bf_pipeline *) record;
    _Atomic uint32_t made, refused;
};

/* Builds, for a pipeline that may go at any time. */
static void *builder(void *context)
{
    struct pool *c = context;
    for (int i = 0; i < ROUNDS; i++) {
        pthread_barrier_wait(&c->barrier);
        struct bf_pipeline_copy *copy = c->copy;
        struct bf_variant *v = build(copy);
        if (bf_pipeline_publish(copy, v) == BF_REASON_NONE) {
            c->made++;
        } else {
            discard(v);
            c->refused++;
        }
        bf_pipelines_sweep(&fake.pipelines);
        bf_pipeline_copy_release(copy);
        pthread_barrier_wait(&c->barrier);
    }
    return NULL;
}

static void withdraw_all(struct bf_pipeline *pipeline, void *context)
{
    for (uint32_t i = 0; i < BF_MAX_VARIANTS; i++) {
        struct bf_variant *v = atomic_load(&pipeline->variants[i]);
        if (v)
            bf_pipeline_withdraw(&fake.pipelines, pipeline, v);
    }
}

/* Publishing, withdrawing, sweeping, recording and the end of the pipeline, all at once. */
SCENE_TEST(pipelines_go_during_builds)
{
    fake.quiet = true;
    struct pool c = {.scene = s};
    pthread_barrier_init(&c.barrier, NULL, THREADS + 1);
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, builder, &c), 0);
    for (int i = 0; i < ROUNDS; i++) {
        VkPipeline pipeline = make_pipeline(s);
        struct bf_pipeline *p = bf_pipelines_find(&fake.pipelines, pipeline);
        for (int j = 0; j < THREADS; j++)
            bf_pipeline_copy_retain(p->copy);
        c.copy = p->copy;
        struct bf_pipeline_copy *copy = p->copy;
        bf_pipeline_copy_retain(copy);
        pthread_barrier_wait(&c.barrier);
        struct bf_variant *recorded[BF_MAX_VARIANTS];
        uint32_t count = 0;
        for (uint32_t j = 0; j < BF_MAX_VARIANTS; j++) {
            struct bf_variant *v = atomic_load(&p->variants[j]);
            if (v && bf_variant_acquire(v))
                recorded[count++] = v;
        }
        if (i % 3 == 0)
            bf_pipeline_copy_visit(copy, withdraw_all, NULL);
        fake_destroy_pipeline(pipeline);
        while (count > 0)
            bf_variant_release(recorded[--count]);
        bf_pipeline_copy_release(copy);
        pthread_barrier_wait(&c.barrier);
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    pthread_barrier_destroy(&c.barrier);
    print_message("%u published, %u too late\n", c.made, c.refused);
    assert_int_equal(c.made + c.refused, ROUNDS * THREADS);
    assert_int_equal(bf_pipelines_sweep(&fake.pipelines), 0);
    assert_int_equal(fake_alive(VK_OBJECT_TYPE_PIPELINE), 1);
}

/* Sets of a layout that all threads have; 'own' tells the threads' handles apart. */
static void fill_sets(VkDescriptorSetLayout sets, uint64_t own, int round)
{
    const VkImageView view = (VkImageView)(0x10000 + 16 * own);
    const VkImageViewCreateInfo view_info = {.format = VK_FORMAT_R8_UINT + round % 3};
    const VkDescriptorPool pool = (VkDescriptorPool)(0x20000 + 16 * own);
    const VkDescriptorSet set = (VkDescriptorSet)(0x30000 + 16 * own);
    const VkDescriptorSetAllocateInfo info = {VK_TYPE(DESCRIPTOR_SET_ALLOCATE_INFO),
                                              .descriptorPool = pool, .descriptorSetCount = 1,
                                              .pSetLayouts = &sets};
    const VkDescriptorImageInfo image = {VK_NULL_HANDLE, view, VK_IMAGE_LAYOUT_GENERAL};
    const VkDescriptorBufferInfo buffer = {(VkBuffer)(uint64_t)0x40000, 0, 4 + (uint64_t)round};
    const VkWriteDescriptorSet writes[] = {
        info_write(set, 4, VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER, &image, NULL),
        info_write(set, 0, VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, NULL, &buffer)};
    bf_descriptor_shapes_view_made(&fake.pipelines, view, &view_info);
    bf_descriptor_shapes_sets_made(&fake.pipelines, &info, &set);
    bf_descriptor_shapes_update(&fake.pipelines, 2, writes, 0, NULL);
    bf_descriptor_shapes_pool_gone(&fake.pipelines, pool);
    bf_descriptor_shapes_view_gone(&fake.pipelines, view);
}

/* Copies whose shaders wait to be analysed (P-6). */
static struct {
    struct bf_lock lock;
    uint32_t count;
    struct bf_pipeline_copy *copies[THREADS * ROUNDS];
} waiting;

static void note_copied(void *context, struct bf_pipeline_copy *copy)
{
    bf_lock_acquire(&waiting.lock);
    waiting.copies[waiting.count++] = copy;
    bf_lock_release(&waiting.lock);
}

/* Any of them, the program's other threads' too. False: there is none. */
static bool analyse_one(void)
{
    struct bf_pipeline_analysis analysis;
    bf_lock_acquire(&waiting.lock);
    struct bf_pipeline_copy *copy = waiting.count ? waiting.copies[--waiting.count] : NULL;
    bf_lock_release(&waiting.lock);
    if (!copy)
        return false;
    bf_pipeline_copy_analyse(copy, &analysis);
    assert_int_equal(analysis.reason, BF_REASON_NONE);
    bf_pipeline_copy_settle(copy, &analysis);
    bf_pipeline_copy_release(copy);
    return true;
}

struct programmer {
    VkDescriptorSetLayout shared;
    uint64_t own;
};

/* The program makes and destroys everything from several threads, each its own and all of the same
 * words. */
static void *programmer(void *context)
{
    const struct programmer *p = context;
    for (int i = 0; i < ROUNDS; i++) {
        fill_sets(p->shared, p->own, i);
        VkSampler sampler = fake_sampler((float)(i % 3), NULL);
        VkDescriptorSetLayout sets = fake_set_layout(sampler, NULL);
        VkPipelineLayout layout = fake_layout(sets, 4 + 4 * (uint32_t)(i % 4), NULL);
        VkShaderModule module = fake_module(paint_comp, sizeof(paint_comp));
        const VkComputePipelineCreateInfo info = info_compute(module, layout, NULL);
        VkPipeline pipeline = fake_compute(&info);
        fake_destroy_module(module);
        DONE(SAMPLER, sampler);
        DONE(PIPELINE_LAYOUT, layout);
        DONE(DESCRIPTOR_SET_LAYOUT, sets);
        if (i % 4)
            analyse_one();
        fake_destroy_pipeline(pipeline);
    }
    return NULL;
}

static void run_threads(bool later)
{
    fake_open();
    fake.quiet = true;
    fake.pipelines.on_copied = later ? note_copied : NULL;
    pthread_t threads[THREADS];
    struct programmer programmers[THREADS];
    VkDescriptorSetLayout shared = fake_set_layout(VK_NULL_HANDLE, NULL);
    for (int i = 0; i < THREADS; i++) {
        programmers[i] = (struct programmer){shared, (uint64_t)i};
        assert_int_equal(pthread_create(&threads[i], NULL, programmer, &programmers[i]), 0);
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    const struct bf_descriptor_shape *seen =
        &bf_retained_binding(bf_retained_set_layout_find(&fake.pipelines, shared), 4)->shape;
    assert_non_null(atomic_load(&seen->view));
    assert_int_equal(analyse_one(), later); /* of pipelines that are gone */
    while (analyse_one())
        continue;
    fake_close();
}

TEST(programs_have_threads)
{
    run_threads(false);
    run_threads(true);
}
