/* SPDX-License-Identifier: MIT */
/* Native fences whose word the CPU writes: whoever is told of a value finds it there. [NF-6] The
 * test stands where Belfry tells, so that no thread has to be faster than another one. */
#include "support/fixture.h"

#include "fence/native.h"
#include "scheduler/scheduler.h"

static struct {
    struct bf_fence *fence;
    const struct bf_fence_extension *below;
    struct bf_fence_extension table;
    _Atomic uint32_t count, early;
    _Atomic uint64_t word; /* as one was told last */
} told;

static void look_and_tell(struct bf_scheduler *scheduler, struct bf_group *group)
{
    const uint64_t word = atomic_load(told.fence->native->current.value);
    told.count++;
    told.early += word != atomic_load(&told.fence->value);
    told.word = word;
    told.below->tell(scheduler, group);
}

/* From here on; of that fence. Nothing is under way on its device. */
static void look_where_it_tells(BfFence fence)
{
    told.fence = (struct bf_fence *)fence;
    told.below = told.fence->scheduler->fence_extension;
    told.table = *told.below;
    told.table.tell = look_and_tell;
    told.count = told.early = 0;
    told.word = 0;
    bf_lock_acquire(&told.fence->scheduler->pending.lock);
    told.fence->scheduler->fence_extension = &told.table;
    bf_lock_release(&told.fence->scheduler->pending.lock);
}

static void assert_told(uint32_t count, uint64_t value)
{
    assert_int_equal(told.count, count);
    assert_int_equal(told.early, 0);
    assert_int_equal(told.word, value);
}

static BfFence make_shared(struct fixture *f)
{
    const BfNativeFenceCreateInfo info = {BF_TYPE(NATIVE_FENCE_CREATE_INFO),
                                          .flags = BF_SYNC_OBJECT_SHARED_BIT};
    assert_success(bfCreateNativeFence(f->bf, &info, &f->made_fences[f->fence_count]));
    return f->made_fences[f->fence_count++];
}

static BfFence open_again(struct fixture *f, BfFence fence)
{
    int fd;
    assert_success(bfExportFenceFd(fence, 0, &fd));
    assert_success(bfOpenFenceFd(f->bf, fd, 0, &f->made_fences[f->fence_count]));
    close(fd);
    return f->made_fences[f->fence_count++];
}

FIXTURE_TEST(the_word_is_there_when_the_cpu_signals)
{
    BfFence fence = make_native_fence(f, 0);
    BfEvent event = make_event(f);
    look_where_it_tells(fence);
    set_event_on(fence, 5, event);
    cpu_signal(fence, 7);
    assert_true(take_event(event));
    assert_told(1, 7);
    set_event_on(fence, BIG, event);
    assert_success(bfUpdateFenceValues(1, &fence, NULL, BF_FENCE_UPDATE_ALWAYS_SIGNALED_BIT));
    assert_true(take_event(event));
    assert_told(2, UINT64_MAX);
}

/* The other one stands for another adapter: its value comes through the page they share. */
FIXTURE_TEST(the_word_is_there_when_others_signal)
{
    BfFence fence = make_shared(f), other = open_again(f, fence);
    BfEvent event = make_event(f);
    look_where_it_tells(fence);
    set_event_on(fence, 5, event);
    cpu_signal(other, 5);
    await_event(event);
    assert_told(1, 5);
}

FIXTURE_TEST(the_word_is_there_when_a_software_queue_signals)
{
    BfCommandQueue queue = make_software_queue(f, BF_COMMAND_LIST_TYPE_DIRECT);
    BfFence fence = make_native_fence(f, 0);
    BfEvent event = make_event(f);
    look_where_it_tells(fence);
    VkEvent stall = stall_begin(f, queue);
    set_event_on(fence, 5, event);
    queue_signal(queue, fence, 5);
    queue_signal(queue, fence, 3); /* still under way when 5 is told */
    stall_end(f, stall);
    await_event(event);
    await_idle(queue);
    assert_int_equal(told.early, 0);
    assert_value(fence, 3);
}

/* The queue whose signal is the first of the two stores last. */
TEST(the_word_is_there_when_a_race_is_over)
{
    if (!fixture_is_icd() || fixture_is_layered())
        return; /* the layer's families aren't the driver's */
    struct fixture f;
    fixture_open(&f, NULL);
    BfCommandQueue first = make_queue(&f, BF_COMMAND_LIST_TYPE_DIRECT),
                   second = make_queue(&f, BF_COMMAND_LIST_TYPE_COPY);
    const uint32_t one = bfGetCommandQueueFamilyIndex(first),
                   other = bfGetCommandQueueFamilyIndex(second);
    BfFence fence = make_native_fence(&f, 0);
    BfEvent event = make_event(&f);
    if (one != other) { /* else it is one engine: no race */
        look_where_it_tells(fence);
        set_event_on(fence, 8, event);
        f.icd.pause();
        queue_signal(first, fence, 7);
        queue_signal(second, fence, 8);
        f.icd.hold_before_signals(true);
        step_family(&f, other);
        step_family(&f, one);
        assert_int_equal(atomic_load(told.fence->native->current.value), 7);
        step_family(&f, one); /* its signals */
        step_family(&f, other);
        await_event(event);
        assert_told(1, 8);
        f.icd.hold_before_signals(false);
        f.icd.resume();
    }
    fixture_close(&f);
}

FIXTURE_TEST(the_word_is_there_when_the_device_is_lost)
{
    if (!fixture_is_icd())
        return;
    BfCommandQueue queue = make_queue(f, BF_COMMAND_LIST_TYPE_DIRECT);
    BfFence fence = make_native_fence(f, 4);
    BfEvent event = make_event(f);
    look_where_it_tells(fence);
    set_event_on(fence, 9, event);
    stall_begin(f, queue);
    f->stalls--; /* the loss ends it */
    queue_signal(queue, fence, 9);
    f->lost = true;
    f->icd.lose();
    f->icd.quiesce();
    await_event(event);
    assert_told(1, UINT64_MAX);
}

int main(int argc, char **argv)
{
    return fixture_main(argc, argv);
}
