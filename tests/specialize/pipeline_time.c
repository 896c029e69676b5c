/* SPDX-License-Identifier: MIT */
/* The GPU time of pipelines, for the report (specialize/pipeline_time.h), on a GPU whose time is
 * known: what is recorded for it, what it makes of that, and that A/B timing goes first. */
#include "support/test.h"

#include "ab_timing_gpu.h"
#include "specialize/pipeline_time.h"

#define COMPUTE  VK_PIPELINE_BIND_POINT_COMPUTE
#define GRAPHICS VK_PIPELINE_BIND_POINT_GRAPHICS

#define PIPELINES 3 /* two that aren't watched, and one with a variant under A/B timing */
#define TIMED     2
#define BUFFERS   3

static struct VolkDeviceTable vk;
static struct bf_ab_timer timer;
static struct bf_submissions submissions;
static struct bf_recorder recorder;
static struct fake_pipeline handles[PIPELINES];
static struct bf_pipeline pipelines[PIPELINES];
static struct gpu_buffer buffers[BUFFERS];
static struct bf_recording *recordings[BUFFERS];

static void read_samples(void *context, struct bf_recording *r)
{
    (void)context;
    bf_pipeline_times_read(recorder.times, &timer, r->account, r->timing);
}

static void make_recording(int i, VkCommandBufferLevel level)
{
    bf_recording_destroy(recordings[i]);
    recordings[i] = bf_recording_create(&recorder, gpu_handle(&buffers[i]), level, 0);
    assert_non_null(recordings[i]);
    recordings[i]->timestamp_bits = 64;
}

static void make_recordings(bool reports)
{
    recorder.times = reports ? bf_pipeline_times_create() : NULL;
    for (int i = 0; i < BUFFERS; i++) {
        make_recording(i, VK_COMMAND_BUFFER_LEVEL_PRIMARY);
        assert_int_equal(recordings[i]->account != NULL, reports);
    }
}

static int set_up(void **state)
{
    static const uint32_t words[BF_WATCHED] = {7};
    memset(&recorder, 0, sizeof(recorder));
    memset(buffers, 0, sizeof(buffers));
    memset(recordings, 0, sizeof(recordings));
    fake_none();
    gpu_table(&vk);
    assert_int_equal(bf_submissions_init(&submissions, NULL), VK_SUCCESS);
    bf_ab_timer_init(&timer, VK_NULL_HANDLE, &vk, 1);
    submissions.measured = read_samples;
    recorder.vk = &vk;
    recorder.submissions = &submissions;
    recorder.timer = &timer;
    for (int i = 0; i < PIPELINES; i++) {
        fake_pipeline_init(&handles[i], &pipelines[i], 1);
        if (i != TIMED)
            atomic_store(&pipelines[i].watched, 0);
    }
    struct bf_variant *variant = fake_variant(&pipelines[TIMED], 1, words);
    atomic_store(&variant->ab_timed, true);
    atomic_store(&pipelines[TIMED].variants[0], variant);
    make_recordings(true);
    return 0;
}

static int tear_down(void **state)
{
    for (int i = 0; i < BUFFERS; i++)
        bf_recording_destroy(recordings[i]);
    bf_submissions_finish(&submissions);
    bf_ab_timer_finish(&timer);
    bf_pipeline_times_free(recorder.times);
    fake_variant_free(atomic_load(&pipelines[TIMED].variants[0]));
    atomic_store(&fake_adapts, true);
    return 0;
}

/* A program ------------------------------------------------------------------------------------ */

static void begin(int i, VkCommandBufferUsageFlags flags)
{
    bf_recording_reset(recordings[i]);
    bf_recording_measure(recordings[i], flags);
    gpu_begin(&buffers[i], flags & VK_COMMAND_BUFFER_USAGE_RENDER_PASS_CONTINUE_BIT);
}

static void bind(int i, VkPipelineBindPoint point, int which)
{
    static const uint32_t value = 7;
    bf_recording_bind(recordings[i], point, pipelines[which].handle, &pipelines[which]);
    fake_bind(&buffers[i].fake, point, pipelines[which].handle);
    bf_recording_push(recordings[i], 1, 0, sizeof(value), &value);
}

static void dispatch(int i, int which, uint64_t ns)
{
    static const uint32_t groups[3] = {1, 1, 1};
    bind(i, COMPUTE, which);
    bf_recording_dispatch(recordings[i], groups);
    gpu_work(&buffers[i], ns, NULL);
    bf_recording_dispatched(recordings[i]);
}

static void pass(int i, bool begins)
{
    if (begins)
        bf_recording_pass_begins(recordings[i]);
    gpu_pass(&buffers[i], begins);
    if (!begins)
        bf_recording_pass_ended(recordings[i]);
}

static void draw(int i, int which, uint64_t ns)
{
    bind(i, GRAPHICS, which);
    bf_recording_use(recordings[i], GRAPHICS);
    gpu_work(&buffers[i], ns, NULL);
}

static void submit(int i)
{
    const struct bf_batch batch = {
        .queue = &vk, .recording_count = 1, .recordings = &recordings[i]};
    bf_recording_end(recordings[i]);
    bf_submissions_add(&submissions, bf_submissions_call(&submissions), &batch);
    gpu_submit(&buffers[i]);
    gpu_run(&buffers[i]);
    bf_submissions_queue_idle(&submissions, NULL);
    bf_submissions_settle(&submissions);
}

static uint32_t stamps_in(const struct gpu_buffer *b)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < b->count; i++)
        count += b->operations[i].kind == GPU_STAMP;
    return count;
}

static struct bf_time_sum sum_of(int which)
{
    bf_pipeline_times_put(recorder.times, pipelines[which].id, BF_TIME_EXCLUDED,
                          (enum bf_reason)(1 + which));
    return bf_pipeline_times_sum(recorder.times, BF_TIME_EXCLUDED, (enum bf_reason)(1 + which));
}

static void assert_ns(int which, double ns)
{
    const struct bf_time_sum sum = sum_of(which);
    assert_int_equal(sum.timed, 1);
    if (sum.ns < ns * 0.999 || sum.ns > ns * 1.001)
        fail_msg("pipeline %d took %g ns, and is said to have taken %g", which, ns, sum.ns);
}

/* Tests ---------------------------------------------------------------------------------------- */

/* More dispatches than can be timed: those that are stand for the others. */
TEST_WITH(samples_stand_for_all_uses, set_up, tear_down)
{
    for (int k = 0; k < 100; k++) {
        begin(0, 0);
        for (int i = 0; i < 20; i++)
            dispatch(0, i % 2, i % 2 ? 10 : 500);
        assert_int_equal(stamps_in(&buffers[0]), 2 * BF_AB_SAMPLES);
        submit(0);
    }
    assert_ns(0, 100 * 10 * 500.0);
    assert_ns(1, 100 * 10 * 10.0);
    assert_true(sum_of(0).share > 0.97 && sum_of(0).share < 0.99);
}

/* A command buffer that is submitted again counts again. */
TEST_WITH(each_submission_counts, set_up, tear_down)
{
    begin(0, 0);
    dispatch(0, 0, 30);
    for (int k = 0; k < 5; k++)
        submit(0);
    assert_ns(0, 150);
}

/* The first sample may contain a compilation. */
TEST_WITH(the_first_sample_is_left_out, set_up, tear_down)
{
    begin(0, 0);
    dispatch(0, 0, 100000);
    submit(0);
    assert_ns(0, 100000); /* there is no other */
    for (int k = 1; k < 10; k++) {
        begin(0, 0);
        dispatch(0, 0, 10);
        submit(0);
    }
    assert_ns(0, 100);
}

/* A pass is shared by draws, those of secondary command buffers too. */
TEST_WITH(passes_are_shared_by_draws, set_up, tear_down)
{
    make_recording(1, VK_COMMAND_BUFFER_LEVEL_SECONDARY);
    for (int k = 0; k < 4; k++) {
        begin(1, VK_COMMAND_BUFFER_USAGE_RENDER_PASS_CONTINUE_BIT);
        draw(1, 1, 50);
        bf_recording_end(recordings[1]);
        begin(0, 0);
        pass(0, true);
        for (int i = 0; i < 3; i++)
            draw(0, 0, 50);
        bf_recording_execute(recordings[0], recordings[1]);
        gpu_execute(&buffers[0], &buffers[1]);
        pass(0, false);
        assert_int_equal(stamps_in(&buffers[0]), 2);
        submit(0);
    }
    assert_ns(0, 4 * 150);
    assert_ns(1, 4 * 50);
}

/* A secondary command buffer outside of passes has samples of its own. */
TEST_WITH(secondaries_are_timed, set_up, tear_down)
{
    make_recording(1, VK_COMMAND_BUFFER_LEVEL_SECONDARY);
    for (int k = 0; k < 4; k++) {
        begin(1, 0);
        dispatch(1, 0, 70);
        bf_recording_end(recordings[1]);
        begin(0, 0);
        bf_recording_execute(recordings[0], recordings[1]);
        gpu_execute(&buffers[0], &buffers[1]);
        submit(0);
    }
    assert_ns(0, 4 * 70);
}

/* [GT-1] */
TEST_WITH(without_a_report_nothing_is_written, set_up, tear_down)
{
    bf_pipeline_times_free(recorder.times);
    make_recordings(false);
    begin(0, 0);
    dispatch(0, 0, 10);
    pass(0, true);
    draw(0, 1, 10);
    pass(0, false);
    for (uint32_t i = 0; i < buffers[0].count; i++)
        assert_true(buffers[0].operations[i].kind >= GPU_WORK);
    assert_false(bf_recording_has_samples(recordings[0]));
    assert_int_equal(gpu_pools(), 0);
}

/* Nor where A/B timing may not be: in a freeze, in what may be submitted while it runs, within
 * queries of what the GPU does, without timestamps. The uses are known all the same. [GT-2] */
TEST_WITH(where_nothing_may_be_timed_nothing_is, set_up, tear_down)
{
    atomic_store(&fake_adapts, false);
    begin(0, 0);
    dispatch(0, 0, 10);
    assert_int_equal(stamps_in(&buffers[0]), 0);
    atomic_store(&fake_adapts, true);
    bf_recording_query(recordings[0], true);
    dispatch(0, 0, 10);
    bf_recording_query(recordings[0], false);
    assert_int_equal(stamps_in(&buffers[0]), 0);
    begin(1, VK_COMMAND_BUFFER_USAGE_SIMULTANEOUS_USE_BIT);
    dispatch(1, 0, 10);
    assert_int_equal(stamps_in(&buffers[1]), 0);
    recordings[2]->timestamp_bits = 0;
    begin(2, 0);
    dispatch(2, 0, 10);
    assert_int_equal(stamps_in(&buffers[2]), 0);
    for (int i = 0; i < BUFFERS; i++)
        submit(i);
    assert_int_equal(sum_of(0).used, 1);
    assert_int_equal(sum_of(0).timed, 0);
    assert_int_equal(sum_of(1).used, 0);
}

/* However many other dispatches come first, A/B timing has all of its samples; where
 * it times, the report takes its times. [GT-2] */
TEST_WITH(ab_timing_goes_first, set_up, tear_down)
{
    for (int k = 0; k < 20; k++) {
        begin(0, 0);
        for (int i = 0; i < 2 * BF_AB_SAMPLES; i++)
            dispatch(0, 0, 10);
        for (int i = 0; i < BF_AB_SAMPLES; i++)
            dispatch(0, TIMED, 1000);
        assert_int_equal(recordings[0]->timing->count, BF_AB_SAMPLES);
        for (uint32_t i = 0; i < BF_AB_SAMPLES; i++)
            assert_int_equal(recordings[0]->timing->samples[i].use.pipeline, pipelines[TIMED].id);
        submit(0); /* samples within samples would end this */
    }
    assert_ns(0, 20 * 2 * BF_AB_SAMPLES * 10.0);
    assert_ns(TIMED, 20 * BF_AB_SAMPLES * 1000.0);
}

/* The same for passes. [GT-2] */
TEST_WITH(ab_timing_goes_first_in_passes, set_up, tear_down)
{
    pipelines[TIMED].point = GRAPHICS;
    atomic_store(&recorder.passes, 1);
    for (int k = 0; k < 20; k++) {
        begin(0, 0);
        pass(0, true);
        draw(0, TIMED, 60);
        draw(0, TIMED, 60);
        pass(0, false);
        assert_int_equal(recordings[0]->timing->count, 1);
        assert_int_equal(recordings[0]->account->own.count, 0);
        submit(0);
    }
    assert_ns(TIMED, 20 * 120.0);
}
