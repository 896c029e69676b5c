/* SPDX-License-Identifier: MIT */
/* The interrupt path: fences that the GPU signals by itself, and who learns of it. With the library
 * that has hooks (tests/support/hook.h), the GPU is played by the test. */
#include "support/fixture.h"
#include "support/hook.h"

#include <dlfcn.h>

#include <belfry/native_fence.h>

/* Without imported host memory the program's mapping is the GPU's own. */
static const struct fixture_options writable = {.environment = "HOST_MEMORY=0",
                                                .family = UINT32_MAX};

static void (**hook)(enum test_hook_point point);
static _Atomic uint64_t *(*monitored_of)(BfFence fence);

static BfFence make_written(struct fixture *f)
{
    BfFence fence;
    const BfNativeFenceCreateInfo info = {BF_TYPE(NATIVE_FENCE_CREATE_INFO),
                                          .flags = BF_SYNC_OBJECT_PROGRAM_WRITTEN_BIT};
    assert_success(bfCreateNativeFence(f->bf, &info, &fence));
    assert_true(f->fence_count < FIXTURE_OBJECTS);
    return f->made_fences[f->fence_count++] = fence;
}

static _Atomic uint64_t *atomic_word_of(BfFence fence)
{
    return (_Atomic uint64_t *)(uintptr_t)word_of(fence);
}

static void open_hooks(struct fixture *f)
{
    hook = (void (**)(enum test_hook_point))dlsym(RTLD_DEFAULT, "test_hook");
    monitored_of = (_Atomic uint64_t *(*)(BfFence))dlsym(RTLD_DEFAULT, "test_hook_monitored_value");
    assert_non_null(hook);
    assert_non_null(monitored_of);
    fixture_open(f, &writable);
}

static void notify(struct fixture *f, uint32_t count, const BfFence *fences, BfCommandQueue queue,
                   BfFenceNotifyFlags flags)
{
    const BfFenceNotification notification = {
        BF_TYPE(FENCE_NOTIFICATION), .signaledFenceCount = count, .pSignaledFences = fences,
        .queue = queue, .flags = flags};
    assert_success(bfNotifyFencesSignaled(f->bf, &notification));
}

/* What a GPU does: the value, then the look. True: it raises an interrupt. */
static bool gpu_signals(_Atomic uint64_t *word, _Atomic uint64_t *monitored, uint64_t value)
{
    atomic_store(word, value);
    return value > atomic_load(monitored);
}

#define HOOKS_TEST(name_) TEST_AROUND(name_, struct fixture, f, open_hooks, fixture_close)

HOOKS_TEST(notified_by_array_or_none_or_queue)
{
    BfCommandQueue queue = make_queue(f, BF_COMMAND_LIST_TYPE_DIRECT);
    for (int form = 0; form < 3; form++) {
        BfFence a = make_written(f), b = make_written(f);
        BfEvent on_a = make_event(f), on_b = make_event(f);
        set_event_on(a, 5, on_a);
        set_event_on(b, 7, on_b);
        assert_int_equal(*monitored_of(a), 4);
        assert_int_equal(*monitored_of(b), 6);
        assert_false(gpu_signals(atomic_word_of(a), monitored_of(a), 4));
        assert_true(gpu_signals(atomic_word_of(a), monitored_of(a), 5));
        assert_true(gpu_signals(atomic_word_of(b), monitored_of(b), 8));
        assert_false(take_event(on_a)); /* nobody has looked */
        notify(f, form == 0, form == 0 ? &a : NULL, form == 2 ? queue : NULL, 0);
        assert_int_equal(take_event(on_a), form != 2); /* no queue of Belfry's has signalled it */
        assert_int_equal(*monitored_of(a), form != 2 ? UINT64_MAX : 4);
        assert_int_equal(take_event(on_b), form == 1);
        assert_value(b, 8);
    }
}

HOOKS_TEST(queues_wait_for_what_the_program_writes)
{
    BfCommandQueue queue = make_queue(f, BF_COMMAND_LIST_TYPE_COPY);
    BfFence go = make_written(f), done = make_fence(f, 0);
    queue_wait(queue, go, 3);
    queue_signal(queue, done, 1);
    assert_int_equal(*monitored_of(go), 2);
    fixture_settle(f);
    assert_value(done, 0);
    assert_true(gpu_signals(atomic_word_of(go), monitored_of(go), 3));
    notify(f, 0, NULL, NULL, 0);
    await_fence(done, 1);
    assert_bad_input(bfQueueSignal(queue, go, 9));
    assert_bad_input(bfSignalFence(go, 9));
}

/* The race between who begins to wait and who signals, in the order that loses it if anything is
 * wrong: the signal falls between the monitored value and the look at the current one. */
static struct {
    _Atomic uint64_t *word, *monitored;
    uint64_t value;
    bool interrupt;
} gpu;

static void signal_in_between(enum test_hook_point point)
{
    if (point == TEST_HOOK_MONITORED && gpu.word) {
        _Atomic uint64_t *word = gpu.word;
        gpu.word = NULL; /* once */
        gpu.interrupt = gpu_signals(word, gpu.monitored, gpu.value);
    }
}

HOOKS_TEST(a_signal_between_monitored_value_and_look_is_seen)
{
    BfFence fence = make_written(f);
    BfEvent event = make_event(f);
    *hook = signal_in_between;
    for (uint64_t i = 1; i <= 1000; i++) {
        gpu.word = atomic_word_of(fence);
        gpu.monitored = monitored_of(fence);
        gpu.value = i;
        set_event_on(fence, i, event);
        assert_true(take_event(event)); /* no interrupt was needed */
        assert_true(gpu.interrupt);     /* nor was it left out */
    }
    *hook = NULL;
}

HOOKS_TEST(a_signal_before_the_monitored_value_is_seen)
{
    BfFence fence = make_written(f);
    BfEvent event = make_event(f);
    for (uint64_t i = 1; i <= 1000; i++) {
        assert_false(gpu_signals(atomic_word_of(fence), monitored_of(fence), i)); /* nobody waits */
        set_event_on(fence, i, event);
        assert_true(take_event(event));
    }
}

#define FENCES 4

struct signaller {
    struct fixture *f;
    BfFence fences[FENCES];
    uint64_t signals, interrupts;
    VkResult result;
};

static void signal_all(void *argument)
{
    struct signaller *s = argument;
    _Atomic uint64_t *words[FENCES], *monitored[FENCES];
    for (int i = 0; i < FENCES; i++) {
        words[i] = atomic_word_of(s->fences[i]);
        monitored[i] = monitored_of(s->fences[i]);
    }
    while (atomic_load(monitored[0]) ==
           UINT64_MAX) /* somebody waits: there is an interrupt at all */
        sched_yield();
    for (uint64_t n = 1; n <= s->signals / FENCES; n++) {
        for (int i = 0; i < FENCES; i++) {
            if (!gpu_signals(words[i], monitored[i], n))
                continue;
            s->interrupts++;
            const BfFenceNotification one = {BF_TYPE(FENCE_NOTIFICATION), .signaledFenceCount = 1,
                                             .pSignaledFences = &s->fences[i]};
            const BfFenceNotification all = {BF_TYPE(FENCE_NOTIFICATION)};
            VkResult result = bfNotifyFencesSignaled(s->f->bf, n % 3 ? &one : &all);
            if (result != VK_SUCCESS)
                s->result = result;
        }
    }
}

struct waiter {
    BfFence fence;
    uint64_t last, waits;
    VkResult result;
};

/* A lost interrupt would leave it asleep, until the alarm. */
static void wait_again_and_again(void *argument)
{
    struct waiter *w = argument;
    uint64_t value = 0;
    while (value < w->last && w->result == VK_SUCCESS) {
        value = bfGetFenceCompletedValue(w->fence) + 1;
        if (value > w->last)
            value = w->last;
        w->result = bfWaitFences(1, &w->fence, &value, BF_FENCE_WAIT_ALL, UINT64_MAX);
        w->waits++;
    }
}

HOOKS_TEST(a_million_signals_lose_no_interrupt)
{
    struct signaller s = {.f = f, .signals = TIMES(1000000)};
    struct waiter waiters[FENCES] = {0};
    struct thread threads[FENCES + 1] = {0};
    for (int i = 0; i < FENCES; i++) {
        s.fences[i] = make_written(f);
        waiters[i] = (struct waiter){.fence = s.fences[i], .last = s.signals / FENCES};
        thread_start(&threads[i], wait_again_and_again, &waiters[i]);
    }
    thread_start(&threads[FENCES], signal_all, &s);
    for (int i = 0; i <= FENCES; i++)
        thread_join(&threads[i]);
    assert_success(s.result);
    for (int i = 0; i < FENCES; i++) {
        assert_success(waiters[i].result);
        assert_true(waiters[i].waits > 0);
    }
    assert_true(s.interrupts > 0);
}
