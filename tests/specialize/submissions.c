/* SPDX-License-Identifier: MIT */
/* Recording and submissions, case by case: what random programs (recording_random.c) come to seldom
 * or never. */

#include "support/test.h"

#include "recording_fake.h"
#include "specialize/ab_timing.h"

static struct VolkDeviceTable vk;
static struct bf_submissions submissions;
static struct bf_recorder recorder;
static struct fake_pipeline handle;
static struct bf_pipeline pipeline;
static struct fake_buffer fakes[20];
static struct bf_recording *recordings[20];

#define COMPUTE VK_PIPELINE_BIND_POINT_COMPUTE
#define FENCE   ((VkFence)(uintptr_t)0x10)
#define OTHER   ((VkFence)(uintptr_t)0x11)

static int set_up(void **state)
{
    memset(&recorder, 0, sizeof(recorder));
    fake_none();
    fake_table(&vk);
    assert_int_equal(bf_submissions_init(&submissions, NULL), VK_SUCCESS);
    recorder.vk = &vk;
    recorder.submissions = &submissions;
    recorder.noting = true;
    fake_pipeline_init(&handle, &pipeline, 2);
    for (int i = 0; i < 20; i++) {
        recordings[i] = bf_recording_create(&recorder, fake_buffer_handle(&fakes[i]),
                                            VK_COMMAND_BUFFER_LEVEL_PRIMARY, 0);
        assert_non_null(recordings[i]);
    }
    return 0;
}

static int tear_down(void **state)
{
    for (int i = 0; i < 20; i++)
        bf_recording_destroy(recordings[i]);
    bf_submissions_finish(&submissions);
    return 0;
}

static const uint32_t one_group[3] = {1, 1, 1};

static void use(struct bf_recording *r, uint32_t first, uint32_t second)
{
    const uint32_t words[2] = {first, second};
    bf_recording_bind(r, COMPUTE, pipeline.handle, &pipeline);
    bf_recording_push(r, 1, 0, sizeof(words), words);
    bf_recording_dispatch(r, one_group);
}

static uint64_t submit(const void *queue, uint32_t count, struct bf_recording *const *list,
                       VkFence fence)
{
    uint64_t call = bf_submissions_call(&submissions);
    const struct bf_batch batch = {
        .queue = queue, .fence = fence, .recording_count = count, .recordings = list};
    bf_submissions_add(&submissions, call, &batch);
    return call;
}

static uint64_t counted(void)
{
    bf_submissions_settle(&submissions);
    return pipeline.histogram->total;
}

/* What is left over is not counted, neither then nor later. */
TEST_WITH(a_full_list_loses_the_rest, set_up, tear_down)
{
    use(recordings[0], 1, 2);
    for (uint32_t i = 0; i < BF_OPEN_SUBMISSIONS + 10; i++)
        submit(&vk, 1, recordings, VK_NULL_HANDLE);
    assert_int_equal(submissions.open, BF_OPEN_SUBMISSIONS);
    assert_int_equal(submissions.lost, 10);
    bf_submissions_queue_idle(&submissions, NULL);
    assert_int_equal(counted(), BF_OPEN_SUBMISSIONS);
    assert_int_equal(recordings[0]->pending, 0);
    bf_recording_reset(recordings[0]);
    assert_int_equal(counted(), BF_OPEN_SUBMISSIONS);
    use(recordings[0], 1, 2);
    submit(&vk, 1, recordings, FENCE);
    bf_submissions_fence_seen(&submissions, 1, (VkFence[]){FENCE});
    assert_int_equal(counted(), BF_OPEN_SUBMISSIONS + 1);
}

/* A program that waits for nothing but records its command buffers anew fills no list. */
TEST_WITH(what_is_over_leaves_nothing, set_up, tear_down)
{
    for (uint32_t i = 0; i < 1000; i++) {
        struct bf_recording *r = recordings[i % 3];
        bf_recording_reset(r);
        use(r, 1, 2);
        submit(&vk, 1, &r, VK_NULL_HANDLE);
        submit(&vk, 0, NULL, FENCE); /* an end of frame, which nobody looks at */
        assert_true(submissions.open <= 6);
    }
    for (int i = 0; i < 3; i++)
        bf_recording_reset(recordings[i]);
    assert_int_equal(submissions.open, 0);
    assert_int_equal(submissions.lost, 0);
    assert_int_equal(counted(), 1000);
    use(recordings[0], 1, 2);
    submit(&vk, 1, recordings, FENCE);
    submit(&vk, 0, NULL, OTHER);
    bf_submissions_fence_seen(&submissions, 1, (VkFence[]){FENCE});
    for (int i = 0; i < 10; i++)
        submit(&vk, 0, NULL, OTHER); /* nothing to tell of */
    assert_int_equal(submissions.open, 1);
}

/* Of a batch in several parts each command buffer counts once. */
TEST_WITH(a_batch_of_many, set_up, tear_down)
{
    for (int i = 0; i < 20; i++)
        use(recordings[i], (uint32_t)i, 0);
    uint64_t call = submit(&vk, 20, recordings, FENCE);
    assert_int_equal(submissions.open, (20 + BF_SUBMISSION_BUFFERS - 1) / BF_SUBMISSION_BUFFERS);
    bf_recording_reset(recordings[3]);
    assert_int_equal(counted(), 1);
    bf_submissions_fence_seen(&submissions, 1, (VkFence[]){OTHER});
    assert_int_equal(counted(), 1);
    bf_submissions_fence_seen(&submissions, 1, (VkFence[]){FENCE});
    assert_int_equal(counted(), 20);
    bf_submissions_drop(&submissions, call);
    assert_int_equal(counted(), 20);
}

/* Evidence itself counts nothing, for however many command buffers (SU-4). What it showed is
 * counted with submissions, as much as they submit, and at the latest when a command buffer is
 * begun, or submitted again. */
TEST_WITH(a_wait_counts_nothing, set_up, tear_down)
{
    for (int i = 0; i < 20; i++)
        use(recordings[i], (uint32_t)i, 0);
    submit(&vk, 18, recordings, FENCE);
    bf_submissions_fence_seen(&submissions, 1, (VkFence[]){FENCE});
    assert_int_equal(submissions.open, 0);
    assert_int_equal(submissions.counted, 0);
    bf_recording_reset(recordings[9]); /* its own share */
    assert_int_equal(submissions.counted, 1);
    assert_int_equal(recordings[9]->pending, 0);
    submit(&vk, 1, &recordings[18], VK_NULL_HANDLE); /* a part of two */
    assert_int_equal(submissions.counted, 3);
    submit(&vk, 1, &recordings[0], FENCE); /* again: all */
    assert_int_equal(submissions.counted, 18);
    assert_null(submissions.due_first);
    bf_submissions_fence_seen(&submissions, 1, (VkFence[]){FENCE});
    submissions.counting = false;
    assert_int_equal(counted(), 20); /* it was wanted when they finished */
    submissions.counting = true;
    /* Parts are counted before a submission finds no place. */
    for (uint32_t i = 0; i < 3 * BF_OPEN_SUBMISSIONS; i++) {
        submit(&vk, 1, &recordings[18], VK_NULL_HANDLE);
        if (i % BF_OPEN_SUBMISSIONS == BF_OPEN_SUBMISSIONS - 1)
            bf_submissions_queue_idle(&submissions, NULL);
    }
    assert_int_equal(submissions.lost, 0);
}

/* More queues reached at once than are remembered: what was shown itself is over all the same. */
TEST_WITH(many_queues, set_up, tear_down)
{
    VkFence fences[20];
    for (int i = 0; i < 20; i++) {
        fences[i] = (VkFence)(uintptr_t)(0x100 + i);
        use(recordings[i], 1, 2);
        submit(&fakes[i], 1, &recordings[i], fences[i]);
    }
    bf_submissions_fence_seen(&submissions, 20, fences);
    assert_int_equal(counted(), 20);
    assert_int_equal(submissions.open, 0);
}

/* As another thread would, while this one counts. */
static void waits_meanwhile(void *context, struct bf_pipeline *p,
                            const struct bf_recording *recording)
{
    if (recording != recordings[0])
        return;
    bf_submissions_fence_seen(&submissions, 1, (VkFence[]){OTHER});
    assert_int_equal(submissions.open, 1);
    fake_adapts = false; /* which isn't asked again for what has been seen */
}

/* Its evidence is left to who has the lock, who takes it up before he returns. [SU-5] */
TEST_WITH(a_wait_waits_for_nobody_who_counts, set_up, tear_down)
{
    submissions.used = waits_meanwhile;
    for (int i = 0; i < 2; i++)
        use(recordings[i], 1, 2);
    submit(&fakes[0], 1, &recordings[0], FENCE);
    submit(&fakes[1], 1, &recordings[1], OTHER);
    bf_submissions_fence_seen(&submissions, 1, (VkFence[]){FENCE});
    assert_int_equal(counted(), 1);
    assert_int_equal(submissions.open, 0);
    assert_null(submissions.left);
    fake_adapts = true;
    assert_int_equal(counted(), 2);
}

/* Whoever has the lock next takes it up before he adds anything: the fence may be in use again. */
TEST_WITH(what_was_seen_is_of_what_was_before, set_up, tear_down)
{
    for (int i = 0; i < 2; i++)
        use(recordings[i], 1, 2);
    submit(&vk, 1, &recordings[0], FENCE);
    bf_lock_acquire(&submissions.lock);
    bf_submissions_fence_seen(&submissions, 1, (VkFence[]){FENCE});
    assert_non_null(submissions.left);
    bf_lock_release(&submissions.lock); /* by a thread that is just about to look again */
    submit(&vk, 1, &recordings[1], FENCE);
    assert_int_equal(submissions.open, 1);
    assert_int_equal(counted(), 1);
    bf_submissions_fence_seen(&submissions, 1, (VkFence[]){FENCE});
    assert_int_equal(counted(), 2);
}

static uint32_t used_calls, measured_calls;
static uint64_t used_total;

static void was_used(void *context, struct bf_pipeline *p, const struct bf_recording *recording)
{
    assert_ptr_equal(context, &vk);
    assert_ptr_equal(p, &pipeline);
    used_calls++;
    bf_lock_acquire(&p->lock);
    used_total = p->histogram->total;
    struct bf_histogram_choice choice;
    bf_histogram_window(p->histogram, submissions.epoch, 50, &choice);
    bf_lock_release(&p->lock);
}

static struct bf_recording *measured_one;

static uint32_t measured(void)
{
    bf_submissions_settle(&submissions);
    return measured_calls;
}

static void was_measured(void *context, struct bf_recording *r)
{
    assert_ptr_equal(context, &vk);
    assert_ptr_equal(r, measured_one);
    measured_calls++;
}

/* A word that is never the same is dropped by the table, and isn't noted any more, so that it need
 * not be known either; with the next epoch it comes back. */
TEST_WITH(dropped_words_are_not_noted, set_up, tear_down)
{
    used_calls = 0;
    submissions.context = &vk;
    submissions.used = was_used;
    for (uint32_t i = 0; i < 200; i++) {
        bf_recording_reset(recordings[0]);
        use(recordings[0], 7, i);
        submit(&vk, 1, recordings, VK_NULL_HANDLE);
    }
    bf_recording_reset(recordings[0]);
    assert_int_equal(used_calls, 200);
    assert_true(used_total > 0);
    assert_int_equal(pipeline.dropped & 3, 2);
    uint32_t word = 7;
    bf_recording_bind(recordings[0], COMPUTE, pipeline.handle, &pipeline);
    bf_recording_push(recordings[0], 1, 0, 4, &word);
    bf_recording_dispatch(recordings[0], one_group);
    assert_true(recordings[0]->noted);
    use(recordings[0], 7, 9);
    assert_int_equal(recordings[0]->notes->row_count, 1);
    assert_int_equal(recordings[0]->notes->rows[0].weight, 2);
    assert_int_equal(recordings[0]->notes->rows[0].mask, 1);
    submissions.epoch++;
    bf_recording_reset(recordings[0]);
    use(recordings[0], 7, 8);
    submit(&vk, 1, recordings, VK_NULL_HANDLE);
    bf_submissions_queue_idle(&submissions, &vk);
    bf_submissions_settle(&submissions);
    assert_int_equal(pipeline.dropped & 3, 0);
}

/* However many tuples a recording has of a pipeline, that it was used is told once. */
TEST_WITH(a_pipeline_is_told_once, set_up, tear_down)
{
    used_calls = 0;
    submissions.context = &vk;
    submissions.used = was_used;
    for (uint32_t i = 0; i < 3 * BF_HISTOGRAM_ROWS; i++)
        use(recordings[0], i, 1); /* sampled rows, too */
    submit(&vk, 1, recordings, FENCE);
    bf_submissions_fence_seen(&submissions, 1, (VkFence[]){FENCE});
    bf_submissions_settle(&submissions);
    assert_int_equal(used_calls, 1);
    assert_int_equal(used_total, 3 * BF_HISTOGRAM_ROWS);
}

/* As if measurements had been recorded in it. */
static void give_trial(struct bf_recording *r)
{
    r->timing = calloc(1, sizeof(*r->timing));
    assert_non_null(r->timing);
    r->timing->count = 1; /* for good: there are no trials that it would be told to */
    measured_one = r;
    measured_calls = 0;
    submissions.context = &vk;
    submissions.measured = was_measured;
}

/* Measurements are told of the latest submission, whether uses were noted or not. */
TEST_WITH(measurements_are_told, set_up, tear_down)
{
    struct bf_recording *r = recordings[1];
    give_trial(r);
    submit(&vk, 2, recordings, FENCE);
    submit(&vk, 2, recordings, OTHER);
    assert_int_equal(measured(), 0);
    bf_submissions_fence_seen(&submissions, 1, (VkFence[]){FENCE});
    assert_int_equal(measured(), 0); /* the other one may be under way */
    bf_recording_reset(r);
    assert_int_equal(measured(), 1);
    bf_submissions_queue_idle(&submissions, NULL);
    assert_int_equal(measured(), 1);
    /* Not that of a call that failed, or that was lost sight of; nor what was discarded. */
    uint64_t call = submit(&vk, 1, &r, FENCE);
    bf_submissions_drop(&submissions, call);
    bf_recording_reset(r);
    submit(&vk, 1, &r, FENCE);
    submissions.epoch++;
    bf_recording_reset(r);
    assert_int_equal(measured(), 1);
    submit(&vk, 1, &r, FENCE);
    use(recordings[0], 1, 2);
    for (uint32_t i = 1; i < BF_OPEN_SUBMISSIONS; i++)
        submit(&vk, 1, recordings, VK_NULL_HANDLE);
    submit(&vk, 1, &r, OTHER);
    assert_int_equal(submissions.lost, 1);
    bf_submissions_fence_seen(&submissions, 1, (VkFence[]){FENCE});
    assert_int_equal(measured(), 1);
    submit(&vk, 1, &r, FENCE); /* by which that is over */
    bf_submissions_fence_seen(&submissions, 1, (VkFence[]){FENCE});
    assert_int_equal(measured(), 2);
}

/* Those of a secondary one are told with the latest primary that executes it, or when it is begun
 * anew; once. */
TEST_WITH(measurements_of_secondaries_are_told, set_up, tear_down)
{
    struct bf_recording *first = recordings[0], *second = recordings[1], *r = recordings[2];
    r->level = VK_COMMAND_BUFFER_LEVEL_SECONDARY;
    r->number = 77;
    give_trial(r);
    bf_recording_end(r);
    bf_recording_execute(first, r);
    submit(&vk, 1, &first, FENCE);
    assert_int_equal(measured(), 0);
    bf_submissions_fence_seen(&submissions, 1, (VkFence[]){FENCE});
    assert_int_equal(measured(), 1);
    /* In another one, before anybody has told that it's no longer in the first. */
    submit(&vk, 1, &first, FENCE);
    bf_recording_execute(second, r);
    submit(&vk, 1, &second, OTHER);
    bf_recording_reset(first);
    assert_int_equal(measured(), 1);
    bf_submissions_fence_seen(&submissions, 1, (VkFence[]){OTHER});
    assert_int_equal(measured(), 2);
    /* Its being begun says that they are over. */
    submit(&vk, 1, &second, FENCE);
    bf_recording_reset(r);
    assert_int_equal(measured(), 3);
    bf_submissions_fence_seen(&submissions, 1, (VkFence[]){FENCE});
    assert_int_equal(measured(), 3);
    /* Nothing where it wasn't submitted, or in a call that failed, or that was lost sight of. */
    r->number = 77 + BF_SUBMISSION_LISTS;
    bf_recording_end(r);
    bf_recording_reset(second);
    bf_recording_execute(second, r);
    bf_recording_reset(r);
    bf_recording_end(r);
    uint64_t call = submit(&vk, 1, &second, FENCE);
    bf_submissions_drop(&submissions, call);
    bf_recording_reset(r);
    assert_int_equal(measured(), 3);
    bf_recording_end(r);
    for (uint32_t i = 0; i <= BF_OPEN_SUBMISSIONS; i++)
        submit(&vk, 1, &second, FENCE);
    assert_int_equal(submissions.lost, 1);
    bf_recording_reset(r);
    assert_int_equal(measured(), 3);
    for (uint32_t i = 0; i < BF_SUBMISSION_LISTS; i++)
        assert_null(submissions.lists[i]);
}

/* Pushes that Vulkan doesn't allow are survived, and make nothing known that isn't. */
TEST_WITH(odd_pushes, set_up, tear_down)
{
    struct bf_recording *r = recordings[0];
    uint8_t bytes[512] = {0};
    bf_recording_push(r, 1, 0, BF_PUSH_BYTES, bytes);
    assert_true(r->known == UINT64_MAX);
    bf_recording_push(r, 1, 2, 4, bytes); /* halves of two words */
    assert_true(r->known == (UINT64_MAX & ~UINT64_C(3)));
    bf_recording_push(r, 1, 0, 7, bytes); /* a word and most of the next */
    assert_true(r->known == (UINT64_MAX & ~UINT64_C(2)));
    bf_recording_push(r, 1, 5, 0, bytes);
    bf_recording_push(r, 1, BF_PUSH_BYTES, 0, bytes);
    assert_true(r->known == (UINT64_MAX & ~UINT64_C(2)));
    bf_recording_push(r, 1, 248, 12, bytes);
    assert_true(r->known == 0);
    bf_recording_push(r, 1, 0, 8, bytes);
    bf_recording_push(r, 1, UINT32_MAX - 3, 8, bytes);
    assert_true(r->known == 0);
    bf_recording_push(r, 1, 0, 8, bytes);
    bf_recording_push(r, 1, 4, UINT32_MAX - 3, bytes);
    assert_true(r->known == 0);
    bf_recording_push(r, 1, 252, 4, bytes);
    assert_true(r->known == UINT64_C(1) << 63);
    bf_recording_push(r, 0, 0, 4, bytes);
    assert_true(r->known == 0);
}

/* Nothing is picked any more once the recorder has stopped; nor noted when it doesn't note. */
TEST_WITH(switched_off, set_up, tear_down)
{
    const uint32_t words[BF_WATCHED] = {1, 2};
    struct bf_variant *v = fake_variant(&pipeline, 3, words);
    atomic_store(&pipeline.variants[0], v);
    recorder.noting = false;
    use(recordings[0], 1, 2);
    assert_ptr_equal(fakes[0].bound[COMPUTE], v->handle);
    assert_false(recordings[0]->noted);
    recorder.stopped = true;
    bf_recording_dispatch(recordings[0], one_group);
    assert_ptr_equal(fakes[0].bound[COMPUTE], pipeline.handle);
    recorder.stopped = false;
    bf_recording_dispatch(recordings[0], one_group);
    assert_int_equal(v->picked, 0);
    bf_recording_end(recordings[0]);
    assert_int_equal(v->picked, 2);
    bf_recording_reset(recordings[0]);
    assert_int_equal(v->picked, 2);
    fake_variant_free(v);
}
