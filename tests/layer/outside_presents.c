/* SPDX-License-Identifier: MIT */
/* What a present depends on goes to the driver in spite of waits for outside, in an order in which
 * no VkQueue stands still (OW-5, scheduler/outside_pass.c). */
#include "outside.h"
#include "support/asleep.h"

#include <pthread.h>
#include <sched.h>
#include <unistd.h>

#include "belfry/native_fence.h"

/* Memory that runs out: the layer and the library find this realloc before libc's. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define MAY_RUN_OUT false /* there it is the sanitizer's */
static _Atomic int no_memory;
#else
#define MAY_RUN_OUT true
static _Atomic int no_memory; /* 1: what is asked for next isn't had; 2: hasn't been */

void *__libc_realloc(void *memory, size_t size);

__attribute__((visibility("default"))) void *realloc(void *memory, size_t size)
{
    if (!no_memory)
        return __libc_realloc(memory, size);
    no_memory = 2;
    return NULL;
}
#endif

/* An image, for which the queue waits. */
static uint32_t acquire_on(struct device *w, VkQueue queue, const struct screen *s,
                           VkSemaphore acquired)
{
    uint32_t image;
    assert_success(vkAcquireNextImageKHR(w->device, s->swapchain, UINT64_MAX, acquired,
                                         VK_NULL_HANDLE, &image));
    submit(queue, (struct vulkan_batch){.wait = acquired});
    return image;
}

/* What these programs have: a screen, and two timelines besides the one of struct outside. */
struct stage {
    struct screen screen;
    VkSemaphore acquired;
    VkSemaphore other, theirs; /* signalled from outside, by the second name */
    VkSemaphore inside, copy;  /* could be, but isn't */
};

static void stage_open(struct device *w, struct stage *s)
{
    screen_open(w, &s->screen, NULL, 0);
    s->acquired = vulkan_binary(w->device);
    s->other = world_exportable(w);
    s->theirs = world_import_of(w, s->other);
    s->inside = world_exportable(w);
    s->copy = world_import_of(w, s->inside);
}

static void stage_close(struct device *w, struct stage *s)
{
    vulkan_destroy(w->device, s->acquired, s->other, s->theirs, s->inside, s->copy);
    screen_close(w, &s->screen);
}

/* OW-5: a present returns without anybody outside, and takes along what it depends on, by whatever
 * queues of the VkQueue; what it doesn't depend on stays held. */
DEVICE_TEST(test_present_passes_outside, "SHAPE=q1", five)
{
    VkQueue *q = w->queues[0];
    struct stage s;
    stage_open(w, &s);
    for (uint64_t round = 1; round <= 5; round++) {
        struct outside o = outside_begin(w);
        const uint32_t image = acquire_on(w, q[0], &s.screen, s.acquired);
        submit(q[1], (struct vulkan_batch){
                         .wait = s.inside, .wait_value = 3 * round, .signal = o.binary});
        submit(q[2], (struct vulkan_batch){
                         .wait = o.mine, .wait_value = 1, .signal = o.t, .signal_value = 1});
        submit(q[2], (struct vulkan_batch){.signal = s.inside, .signal_value = 3 * round});
        submit(q[2], (struct vulkan_batch){.wait = s.other, .wait_value = round});
        submit(q[3], (struct vulkan_batch){.wait = s.other, .wait_value = round});
        assert_accepted(w, &o, 1);
        assert_success(screen_present(q[round % 5], &s.screen, image, o.binary));
        assert_accepted(w, &o, 4);
        vulkan_signal(w->device, o.theirs, 1);
        vulkan_signal(w->device, s.theirs, round);
        outside_end(w, &o);
        assert_accepted(w, &o, 6);
    }
    stage_close(w, &s);
}

/* OW-5: of a timeline that both sides signal in turn. Who waits for one value and signals the next
 * can't be the one who brings the timeline to the first, nor can who comes behind him, in his queue
 * or by another semaphore; who comes before can. */
DEVICE_TEST(test_present_passes_who_signals_the_next, "SHAPE=q1", five)
{
    VkQueue *q = w->queues[0];
    struct stage s;
    stage_open(w, &s);
    VkSemaphore between = vulkan_timeline(w->device, 0);
    for (uint64_t round = 1; round <= 5; round++) {
        struct outside o = outside_begin(w);
        const uint32_t image = acquire_on(w, q[0], &s.screen, s.acquired);
        /* 1 is the outside's, and all others are given behind it: 2 in the same batch, or not
         * before 3 is, by another queue. */
        const bool same = round % 2;
        submit(q[2], (struct vulkan_batch){.wait = o.mine, .wait_value = 3, .signal = o.binary});
        submit(q[1], (struct vulkan_batch){.wait = o.mine,
                                           .wait_value = 1,
                                           .signal = same ? o.mine : o.t,
                                           .signal_value = same ? 2 : 1});
        submit(q[1], (struct vulkan_batch){.signal = between, .signal_value = round});
        submit(q[3],
               (struct vulkan_batch){
                   .wait = between, .wait_value = round, .signal = o.mine, .signal_value = 3});
        submit(q[3], (struct vulkan_batch){.signal = o.mine, .signal_value = 4});
        assert_accepted(w, &o, 1);
        assert_success(screen_present(q[round % 5], &s.screen, image, o.binary));
        assert_accepted(w, &o, 6);
        vulkan_signal(w->device, o.theirs, 1);
        vulkan_wait(w->device, o.mine, 4);
        outside_end(w, &o);
    }
    vulkan_destroy(w->device, between);
    stage_close(w, &s);
}

/* OW-5: what a present depends on may have been accepted, and not be grounded. What signals the
 * same timeline later has no part in that and stays held: it may wait for what is submitted behind
 * the present. */
DEVICE_TEST(test_present_takes_along_no_later_signal, "SHAPE=q1", five)
{
    VkQueue *q = w->queues[0];
    struct stage s;
    stage_open(w, &s);
    VkSemaphore again = vulkan_binary(w->device), drawn = vulkan_binary(w->device);
    for (uint64_t round = 1; round <= 5; round++) {
        struct outside o = outside_begin(w);
        uint32_t image = acquire_on(w, q[0], &s.screen, s.acquired);
        submit(q[1], (struct vulkan_batch){
                         .wait = o.mine, .wait_value = 1, .signal = o.t, .signal_value = 1});
        submit(q[1], (struct vulkan_batch){.signal = o.binary});
        assert_success(screen_present(q[1], &s.screen, image, o.binary));
        image = acquire_on(w, q[0], &s.screen, again);
        assert_accepted(w, &o, 4);
        submit(q[2], (struct vulkan_batch){
                         .wait = s.inside, .wait_value = round, .signal = o.t, .signal_value = 2});
        submit(q[3], (struct vulkan_batch){.wait = o.t, .wait_value = 1, .signal = drawn});
        assert_success(screen_present(q[round % 5], &s.screen, image, drawn));
        assert_accepted(w, &o, 5);
        submit(q[4], (struct vulkan_batch){.signal = s.inside, .signal_value = round});
        vulkan_signal(w->device, o.theirs, 1);
        vulkan_wait(w->device, o.t, 2);
        outside_end(w, &o);
        assert_accepted(w, &o, 7);
    }
    vulkan_destroy(w->device, again, drawn);
    stage_close(w, &s);
}

/* OW-5: a wait that goes with a present stands behind the signal that brings it about, though the
 * driver has accepted a later value of the timeline, on another VkQueue, which comes behind
 * that. */
DEVICE_TEST(test_present_keeps_the_order_of_values, "SHAPE=q4", five)
{
    VkQueue *q = w->queues[0];
    struct stage s;
    stage_open(w, &s);
    for (uint64_t round = 1; round <= 4; round++) {
        struct outside o = outside_begin(w);
        const uint32_t first = round % 2 ? SHARED : BESIDE, second = SHARED + BESIDE - first;
        const uint32_t image = acquire_on(w, q[first], &s.screen, s.acquired);
        submit(q[ALONE],
               (struct vulkan_batch){
                   .wait = o.mine, .wait_value = 1, .signal = s.inside, .signal_value = 2 * round});
        submit(q[first], (struct vulkan_batch){.wait = s.inside,
                                               .wait_value = 2 * round - 1,
                                               .signal = o.t,
                                               .signal_value = 1});
        submit(q[first], (struct vulkan_batch){.signal = o.binary});
        submit(q[second], (struct vulkan_batch){.wait = s.other,
                                                .wait_value = round,
                                                .signal = s.inside,
                                                .signal_value = 2 * round - 1});
        const bool turned =
            round > 2; /* it is the other's turn: one look more, for what goes with it */
        if (turned)
            submit(q[second], (struct vulkan_batch){.commands = device_store(w, 0, 0, 1)});
        assert_accepted(w, &o, 2);
        assert_success(screen_present(q[first], &s.screen, image, o.binary));
        assert_accepted(w, &o, 5 + turned);
        vulkan_signal(w->device, s.theirs, round);
        vulkan_wait(w->device, o.t, 1);
        vulkan_signal(w->device, o.theirs, 1);
        vulkan_wait(w->device, s.inside, 2 * round);
        outside_end(w, &o);
    }
    stage_close(w, &s);
}

/* What an engine has accepted may wait, by a timeline that others may signal, for what is held
 * here: a present that rests on it goes behind that, be its own signal held or accepted, too. */
DEVICE_TEST(test_present_goes_behind_what_accepted_ones_wait_for, "SHAPE=q4", five)
{
    VkQueue *q = w->queues[0];
    struct stage s;
    stage_open(w, &s);
    for (uint64_t round = 1; round <= 8; round++) {
        struct outside o = outside_begin(w);
        const uint32_t first = round % 2 ? SHARED : BESIDE, second = SHARED + BESIDE - first;
        const bool held = round % 4 < 2; /* the present's signal */
        const uint32_t image = acquire_on(w, q[first], &s.screen, s.acquired);
        submit(q[ALONE], (struct vulkan_batch){.wait = s.inside,
                                               .wait_value = round,
                                               .signal = held ? o.t : o.binary,
                                               .signal_value = held});
        if (held)
            submit(q[first],
                   (struct vulkan_batch){.wait = o.t, .wait_value = 1, .signal = o.binary});
        submit(q[second], (struct vulkan_batch){.wait = s.other,
                                                .wait_value = round,
                                                .signal = s.inside,
                                                .signal_value = round});
        const bool turned = round > 4; /* it is the other's turn: one look more */
        if (turned)
            submit(q[second], (struct vulkan_batch){.commands = device_store(w, 0, 0, 1)});
        assert_accepted(w, &o, 2);
        assert_success(screen_present(q[first], &s.screen, image, o.binary));
        assert_accepted(w, &o, 3 + held + turned);
        vulkan_signal(w->device, s.theirs, round);
        vulkan_wait(w->device, s.inside, round);
        outside_end(w, &o);
    }
    stage_close(w, &s);
}

/* Begins a present on a thread of its own; returns when it has ended, or waits. */
static pthread_t begin_present(struct presenter *p)
{
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, screen_run_present, p), 0);
    while (!p->id || (!thread_waits(p->id) && thread_state(p->id) != 'X') || no_memory == 1)
        sched_yield();
    return thread;
}

/* OW-5: a larger value from here may be what a wait is for, or a lesser one from outside. Nobody
 * knows, and so neither goes to the VkQueue before the other: the outside's may rest on what waits,
 * and what signals the larger one on the outside. */
DEVICE_TEST(test_present_waits_for_who_may_be_outside, "SHAPE=q1", five)
{
    VkQueue *q = w->queues[0];
    struct stage s;
    stage_open(w, &s);
    for (uint64_t round = 1; round <= 3; round++) {
        struct outside o = outside_begin(w);
        struct presenter p = {.queue = q[0],
                              .screen = &s.screen,
                              .image = acquire_on(w, q[0], &s.screen, s.acquired),
                              .wait = o.binary};
        submit(q[1], (struct vulkan_batch){
                         .wait = o.mine, .wait_value = 5, .signal = o.t, .signal_value = 1});
        submit(q[1], (struct vulkan_batch){.signal = o.binary});
        submit(q[2],
               (struct vulkan_batch){
                   .wait = s.other, .wait_value = round, .signal = o.mine, .signal_value = 7});
        const pthread_t thread = begin_present(&p);
        assert_accepted(w, &o, 1);
        vulkan_signal(w->device, o.theirs, 5);
        vulkan_wait(w->device, o.t, 1);
        vulkan_signal(w->device, s.theirs, round);
        vulkan_wait(w->device, o.mine, 7);
        pthread_join(thread, NULL);
        assert_success(p.result);
        outside_end(w, &o);
    }
    stage_close(w, &s);
}

/* OW-5: what a present depends on has been submitted, and so has what that depends on. A signal
 * behind one that nobody has submitted is none of it. */
DEVICE_TEST(test_present_rests_on_what_has_been_submitted, "SHAPE=q1", five)
{
    VkQueue *q = w->queues[0];
    struct stage s;
    stage_open(w, &s);
    for (uint64_t round = 1; round <= 3; round++) {
        struct outside o = outside_begin(w);
        const uint32_t image = acquire_on(w, q[0], &s.screen, s.acquired);
        submit(q[1], (struct vulkan_batch){.wait = o.mine, .wait_value = 5, .signal = o.binary});
        submit(q[2], (struct vulkan_batch){
                         .wait = o.t, .wait_value = 1, .signal = o.mine, .signal_value = 7});
        assert_success(screen_present(q[round], &s.screen, image, o.binary));
        assert_accepted(w, &o, 2);
        vulkan_signal(w->device, o.theirs, 5);
        vulkan_signal(w->device, o.t, 1);
        outside_end(w, &o);
    }
    stage_close(w, &s);
}

/* OW-5: of a timeline with a fence, too, a value that is there already has come from outside. */
DEVICE_TEST(test_present_sees_what_a_fence_has_not, "SHAPE=q1", five)
{
    VkQueue *q = w->queues[0];
    struct stage s;
    BfDevice device;
    BfFence fence;
    assert_success(bfGetDevice(w->device, &device));
    stage_open(w, &s);
    struct outside o = outside_begin(w);
    assert_success(bfImportFenceFromSemaphore(device, o.mine, &fence));
    const uint32_t image = acquire_on(w, q[0], &s.screen, s.acquired);
    vulkan_signal(w->device, o.theirs, 5);
    const VkSemaphoreSubmitInfo waits[2] = {
        {VK_TYPE(SEMAPHORE_SUBMIT_INFO), .semaphore = o.mine, .value = 5,
         .stageMask = VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT},
        {VK_TYPE(SEMAPHORE_SUBMIT_INFO), .semaphore = s.other, .value = 1,
         .stageMask = VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT}};
    const VkSemaphoreSubmitInfo signal = {VK_TYPE(SEMAPHORE_SUBMIT_INFO), .semaphore = o.binary,
                                          .stageMask = VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT};
    const VkSubmitInfo2 info = {VK_TYPE(SUBMIT_INFO_2), .waitSemaphoreInfoCount = 2,
                                .pWaitSemaphoreInfos = waits, .signalSemaphoreInfoCount = 1,
                                .pSignalSemaphoreInfos = &signal};
    assert_success(vkQueueSubmit2(q[1], 1, &info, VK_NULL_HANDLE));
    submit(q[2], (struct vulkan_batch){
                     .wait = o.t, .wait_value = 1, .signal = o.mine, .signal_value = 7});
    assert_success(screen_present(q[0], &s.screen, image, o.binary));
    assert_accepted(w, &o, 2);
    vulkan_signal(w->device, s.theirs, 1);
    vulkan_signal(w->device, o.t, 1);
    outside_end(w, &o);
    bfDestroyFence(fence);
    stage_close(w, &s);
}

/* OW-5: where memory runs out while it is looked for what comes first, nothing goes before its
 * turn. */
DEVICE_TEST(test_present_without_memory, "SHAPE=q1", five)
{
    if (!MAY_RUN_OUT)
        return;
    VkQueue *q = w->queues[0];
    struct stage s;
    stage_open(w, &s);
    struct outside o = outside_begin(w);
    struct presenter p = {.queue = q[0],
                          .screen = &s.screen,
                          .image = acquire_on(w, q[0], &s.screen, s.acquired),
                          .wait = o.binary};
    submit(q[1], (struct vulkan_batch){.wait = o.mine, .wait_value = 5, .signal = o.binary});
    submit(q[2], (struct vulkan_batch){
                     .wait = s.other, .wait_value = 1, .signal = o.mine, .signal_value = 5});
    no_memory = true;
    const pthread_t thread = begin_present(&p);
    assert_accepted(w, &o, 1);
    no_memory = false;
    pthread_join(thread, NULL);
    assert_success(p.result);
    assert_accepted(w, &o, 3);
    vulkan_signal(w->device, s.theirs, 1);
    vulkan_wait(w->device, o.mine, 5);
    outside_end(w, &o);
    stage_close(w, &s);
}

/* OW-5: what can't be held goes before no signal that it needs, though a larger one has been
 * accepted on another VkQueue: it is refused. */
DEVICE_TEST(test_unknown_submission_before_its_signal, "SHAPE=q4 QUIET=1", five)
{
    VkQueue *q = w->queues[0];
    struct outside o = outside_begin(w);
    submit(q[SHARED], (struct vulkan_batch){
                          .wait = o.mine, .wait_value = 1, .signal = o.t, .signal_value = 5});
    submit(q[ALONE], (struct vulkan_batch){
                         .wait = o.mine, .wait_value = 2, .signal = o.t, .signal_value = 9});
    const VkBaseInStructure unknown = {.sType = (VkStructureType)1999999000};
    const VkSemaphoreSubmitInfo wait = {VK_TYPE(SEMAPHORE_SUBMIT_INFO), .semaphore = o.t,
                                        .value = 5,
                                        .stageMask = VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT};
    const VkSubmitInfo2 info = {VK_TYPE(SUBMIT_INFO_2), .pNext = &unknown,
                                .waitSemaphoreInfoCount = 1, .pWaitSemaphoreInfos = &wait};
    assert_int_equal(vkQueueSubmit2(q[BESIDE], 1, &info, VK_NULL_HANDLE), VK_ERROR_UNKNOWN);
    assert_accepted(w, &o, 1);
    vulkan_signal(w->device, o.theirs, 1);
    vulkan_wait(w->device, o.t, 5);
    assert_success(vkQueueSubmit2(q[BESIDE], 1, &info, VK_NULL_HANDLE));
    vulkan_signal(w->device, o.theirs, 2);
    outside_end(w, &o);
}
