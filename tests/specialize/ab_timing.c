/* SPDX-License-Identifier: MIT */
/* Measurements, case by case (specialize/ab_timing.h, recording.h): what is recorded around a
 * dispatch, how many there are, and where there are none. (Whose time is told, and which:
 * ab_timing_random.c.)
 */

#include "support/test.h"

#include "ab_timing_gpu.h"

#define COMPUTE VK_PIPELINE_BIND_POINT_COMPUTE

static struct VolkDeviceTable vk;
static struct bf_ab_timer timer;
static struct bf_submissions submissions;
static struct bf_recorder recorder;
static struct fake_pipeline handle;
static struct bf_pipeline pipeline;
static struct gpu_buffer buffers[16];
static struct bf_recording *recordings[16];

static void make_recording(int i, VkCommandBufferLevel level)
{
    recordings[i] = bf_recording_create(&recorder, gpu_handle(&buffers[i]), level, 0);
    assert_non_null(recordings[i]);
    recordings[i]->timestamp_bits = 64;
}

static int set_up(void **state)
{
    static const uint32_t words[BF_WATCHED] = {7};
    memset(&recorder, 0, sizeof(recorder));
    memset(buffers, 0, sizeof(buffers));
    fake_none();
    gpu_table(&vk);
    assert_int_equal(bf_submissions_init(&submissions, NULL), VK_SUCCESS);
    bf_ab_timer_init(&timer, VK_NULL_HANDLE, &vk, 2);
    recorder.vk = &vk;
    recorder.submissions = &submissions;
    recorder.timer = &timer;
    fake_pipeline_init(&handle, &pipeline, 1);
    struct bf_variant *variant = fake_variant(&pipeline, 1, words);
    atomic_store(&variant->ab_timed, true);
    atomic_store(&pipeline.variants[0], variant);
    for (int i = 0; i < 16; i++)
        make_recording(i, VK_COMMAND_BUFFER_LEVEL_PRIMARY);
    return 0;
}

static int tear_down(void **state)
{
    for (int i = 0; i < 16; i++)
        bf_recording_destroy(recordings[i]);
    bf_submissions_finish(&submissions);
    bf_ab_timer_finish(&timer);
    fake_variant_free(atomic_load(&pipeline.variants[0]));
    return 0;
}

static void begin(int i, VkCommandBufferUsageFlags flags)
{
    bf_recording_reset(recordings[i]);
    bf_recording_measure(recordings[i], flags);
    gpu_begin(&buffers[i], flags & VK_COMMAND_BUFFER_USAGE_RENDER_PASS_CONTINUE_BIT);
}

static void dispatch(int i, uint64_t ns)
{
    static const uint32_t value = 7, groups[3] = {1, 1, 1};
    bf_recording_bind(recordings[i], COMPUTE, pipeline.handle, &pipeline);
    fake_bind(&buffers[i].fake, COMPUTE, pipeline.handle);
    bf_recording_push(recordings[i], 1, 0, sizeof(value), &value);
    bf_recording_dispatch(recordings[i], groups);
    gpu_work(&buffers[i], ns, NULL);
    bf_recording_dispatched(recordings[i]);
}

/* Both stamps have a barrier behind them: what comes next isn't in the time that they tell. */
TEST_WITH(what_is_recorded_around_a_dispatch, set_up, tear_down)
{
    static const enum gpu_kind expected[] = {GPU_RESET, GPU_RESET, GPU_STAMP,  GPU_BARRIER,
                                             GPU_WORK,  GPU_STAMP, GPU_BARRIER};
    begin(0, 0);
    dispatch(0, 100);
    assert_int_equal(buffers[0].count, sizeof(expected) / sizeof(expected[0]));
    for (uint32_t i = 0; i < buffers[0].count; i++)
        assert_int_equal(buffers[0].operations[i].kind, expected[i]);
    /* Nothing, where nothing is on trial or measured. */
    atomic_store(&atomic_load(&pipeline.variants[0])->ab_timed, false);
    begin(0, 0);
    dispatch(0, 100);
    assert_int_equal(buffers[0].count, 1);
    atomic_store(&atomic_load(&pipeline.variants[0])->ab_timed, true);
    begin(0, VK_COMMAND_BUFFER_USAGE_SIMULTANEOUS_USE_BIT);
    dispatch(0, 100);
    assert_int_equal(buffers[0].count, 1);
    recordings[0]->timestamp_bits = 0;
    begin(0, 0);
    dispatch(0, 100);
    assert_int_equal(buffers[0].count, 1);
    assert_false(recordings[0]->lot_drawn);
    bf_recording_destroy(recordings[0]);
    recordings[0] = bf_recording_create(&recorder, gpu_handle(&buffers[0]),
                                        VK_COMMAND_BUFFER_LEVEL_PRIMARY, BF_RECORDING_PROTECTED);
    assert_non_null(recordings[0]);
    recordings[0]->timestamp_bits = 64;
    begin(0, 0);
    atomic_store(&recorder.passes, 1);
    bf_recording_pass_begins(recordings[0]);
    assert_int_equal(buffers[0].count, 0);
}

static uint32_t stamps_in(const struct gpu_buffer *b)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < b->count; i++)
        count += b->operations[i].kind == GPU_STAMP;
    return count;
}

/* However often it is recorded, with as few queries as are in use at a time. */
TEST_WITH(so_many_and_no_more, set_up, tear_down)
{
    for (int k = 0; k < 100; k++) {
        begin(0, 0);
        for (int i = 0; i < BF_AB_SAMPLES + 3; i++)
            dispatch(0, 1);
        assert_int_equal(stamps_in(&buffers[0]), 2 * BF_AB_SAMPLES);
    }
    assert_int_equal(gpu_pools(), 1);
    for (int i = 1; i < 16; i++) {
        begin(i, 0);
        for (int k = 0; k < BF_AB_SAMPLES; k++)
            dispatch(i, 1);
    }
    assert_int_equal(gpu_pools(), 2);
}

/* Where intrusive measurements are allowed there are more, and each has a lot of its own. */
TEST_WITH(intrusive_ones_are_more, set_up, tear_down)
{
    uint32_t sides[2] = {0};
    uint64_t last = 0;
    atomic_store(&recorder.intrusive, true);
    for (int k = 0; k < 4; k++) {
        begin(0, 0);
        for (int i = 0; i < BF_AB_SAMPLES_INTRUSIVE + 3; i++)
            dispatch(0, 1);
        assert_int_equal(stamps_in(&buffers[0]), 2 * BF_AB_SAMPLES_INTRUSIVE);
        const struct bf_ab_timing *timing = recordings[0]->timing;
        for (uint32_t i = 0; i < timing->count; i++) {
            sides[timing->samples[i].use.variant]++;
            assert_true(timing->samples[i].use.lot > last);
            last = timing->samples[i].use.lot;
        }
    }
    assert_in_range(sides[0], 80, 176); /* of 256 */
    atomic_store(&recorder.intrusive, false);
    begin(0, 0);
    for (int i = 0; i < BF_AB_SAMPLES + 3; i++)
        dispatch(0, 1);
    assert_int_equal(stamps_in(&buffers[0]), 2 * BF_AB_SAMPLES);
}

/* Every use is noted then: also one of thousands. */
TEST_WITH(intrusive_notes_are_exact, set_up, tear_down)
{
    static const uint32_t groups[3] = {1, 1, 1};
    atomic_store(&recorder.noting, true);
    for (uint32_t intrusive = 0; intrusive < 2; intrusive++) {
        uint32_t found = 0;
        atomic_store(&recorder.intrusive, intrusive);
        begin(0, VK_COMMAND_BUFFER_USAGE_SIMULTANEOUS_USE_BIT);
        for (uint32_t i = 0; i < 20000; i++) {
            const uint32_t value = i % 1000 == 999 ? 100 + i / 1000 : 1;
            bf_recording_bind(recordings[0], COMPUTE, pipeline.handle, &pipeline);
            bf_recording_push(recordings[0], 1, 0, sizeof(value), &value);
            bf_recording_dispatch(recordings[0], groups);
        }
        const struct bf_histogram_row *row;
        for (uint32_t i = 0; (row = bf_histogram_notes_row(recordings[0]->notes, i)) != NULL; i++)
            found += row->words[0] >= 100 && row->weight == 1;
        assert_int_equal(found == 20, intrusive);
    }
}

static void draw(int i)
{
    static const uint32_t value = 7;
    bf_recording_bind(recordings[i], VK_PIPELINE_BIND_POINT_GRAPHICS, pipeline.handle, &pipeline);
    fake_bind(&buffers[i].fake, VK_PIPELINE_BIND_POINT_GRAPHICS, pipeline.handle);
    bf_recording_push(recordings[i], 1, 0, sizeof(value), &value);
    bf_recording_use(recordings[i], VK_PIPELINE_BIND_POINT_GRAPHICS);
    gpu_work(&buffers[i], 1, NULL);
}

/* A frame of many passes, one of which is of use: its turn comes, with either side of the coin. */
TEST_WITH(passes_take_turns, set_up, tear_down)
{
    uint32_t measured[2] = {0};
    pipeline.point = VK_PIPELINE_BIND_POINT_GRAPHICS;
    for (int i = 0; i < 3; i++) /* of any render area */
        atomic_load(&pipeline.variants[0])->groups[i] = UINT32_MAX;
    atomic_store(&recorder.passes, 1);
    for (int k = 0; k < 200; k++) {
        begin(0, 0);
        for (int i = 0; i < 20; i++) {
            bf_recording_pass_begins(recordings[0]);
            gpu_pass(&buffers[0], true);
            if (i == 13)
                draw(0);
            gpu_pass(&buffers[0], false);
            bf_recording_pass_ended(recordings[0]);
        }
        const struct bf_ab_timing *timing = recordings[0]->timing;
        assert_int_equal(timing->count, BF_AB_SAMPLES);
        assert_int_equal(stamps_in(&buffers[0]), 2 * BF_AB_SAMPLES);
        for (uint32_t i = 0; i < timing->count; i++)
            measured[recordings[0]->lot_is_variant] +=
                timing->samples[i].use.candidate != BF_AB_NONE;
    }
    assert_in_range(measured[0], 30, 100);
    assert_in_range(measured[1], 30, 100);
}

/* The driver has no more queries: everything is recorded as ever. */
TEST_WITH(no_queries, set_up, tear_down)
{
    gpu_deny_pools(true);
    for (int k = 0; k < 2; k++) {
        begin(0, 0);
        dispatch(0, 1);
        assert_int_equal(stamps_in(&buffers[0]), 0);
        gpu_submit(&buffers[0]);
        gpu_run(&buffers[0]);
    }
    gpu_deny_pools(false);
    begin(0, 0);
    dispatch(0, 1);
    assert_int_equal(stamps_in(&buffers[0]), 2);
}

static double told;

static void tell(void *context, const struct bf_ab_sample *sample, double ns)
{
    told = ns;
}

/* In the device's ticks, whose upper bits mean nothing, and which begin anew. */
TEST_WITH(ticks, set_up, tear_down)
{
    recordings[0]->timestamp_bits = 36;
    begin(0, 0);
    dispatch(0, 100);
    gpu_submit(&buffers[0]);
    gpu_set_clock((UINT64_C(5) << 36) - 40);
    gpu_run(&buffers[0]);
    gpu_mask_results(0x123, 36);
    bf_ab_timing_read(&timer, recordings[0]->timing, tell, NULL);
    gpu_mask_results(0, 64);
    assert_true(told == 200);
}

/* A clock that is set back in between has measured nothing, and no 584 years: JU-6 leaves such
 * times out. */
TEST_WITH(clocks_that_are_set_back, set_up, tear_down)
{
    for (uint32_t bits = 36; bits <= 64; bits += 28) {
        recordings[0]->timestamp_bits = bits;
        begin(0, 0);
        dispatch(0, -UINT64_C(3600));
        gpu_submit(&buffers[0]);
        gpu_set_clock(UINT64_C(5) << 36);
        gpu_run(&buffers[0]);
        gpu_mask_results(0x123, bits);
        bf_ab_timing_read(&timer, recordings[0]->timing, tell, NULL);
        gpu_mask_results(0, 64);
        assert_true(told == -7200);
    }
}

/* Command buffers within passes throw together, for a few submissions; others each for itself. */
TEST_WITH(throws, set_up, tear_down)
{
    uint64_t last = 0;
    uint32_t changes = 0, tried = 0;
    for (int i = 0; i < 2; i++) {
        bf_recording_destroy(recordings[i]);
        make_recording(i, VK_COMMAND_BUFFER_LEVEL_SECONDARY);
    }
    for (int i = 0; i < 100 * BF_RECORDING_SHARED; i++) {
        begin(0, VK_COMMAND_BUFFER_USAGE_RENDER_PASS_CONTINUE_BIT);
        begin(1, VK_COMMAND_BUFFER_USAGE_RENDER_PASS_CONTINUE_BIT |
                     VK_COMMAND_BUFFER_USAGE_SIMULTANEOUS_USE_BIT);
        assert_true(recordings[0]->lot_drawn && recordings[1]->lot_drawn);
        assert_true(recordings[0]->number == recordings[1]->number);
        assert_int_equal(recordings[0]->lot_is_variant, recordings[1]->lot_is_variant);
        assert_true(recordings[0]->number >= last);
        changes += recordings[0]->number != last;
        tried += recordings[0]->lot_is_variant;
        last = recordings[0]->number;
        begin(0, 0);
        assert_true(recordings[0]->number > last);
        begin(2, 0);
        assert_true(recordings[2]->number > recordings[0]->number);
        bf_submissions_call(&submissions);
    }
    assert_int_equal(changes, 100);
    assert_in_range(tried, 30 * BF_RECORDING_SHARED, 70 * BF_RECORDING_SHARED);
}
