/* SPDX-License-Identifier: MIT */
/* Calls on a queue beside who reads its ring, and beside each other. The driver keeps the reader
 * in a call for as long as a test wants. */
#include "doorbell/user_mode.h"

#define RING 64
#define MANY 512 /* in a ring, more than a reader takes in its turn */
#define TURN 256

static const BfCommandListType direct = BF_COMMAND_LIST_TYPE_DIRECT;

static void block(struct fixture *f)
{
    f->icd.set_block(&(struct belfry_icd_block){
        .command = "vkQueueSubmit2", .first = 1, .every = 1, .late = true});
}

static void unblock(struct fixture *f)
{
    f->icd.set_block(NULL);
    f->icd.release(UINT64_MAX);
}

/* So many entries, each a call of the driver's. */
static void fill(struct fixture *f, struct user_mode *u, uint32_t entries)
{
    const uint32_t buffer =
        register_write(f, u, 0, 7, BF_REGISTER_COMMAND_BUFFER_SIMULTANEOUS_USE_BIT);
    for (uint32_t i = 0; i < entries; i++) {
        BfRingEntry entry = user_mode_entry(u);
        entry.commandBuffer = buffer;
        entry.flags = BF_RING_ENTRY_BARRIER_BIT;
        user_mode_submit(u, entry);
    }
}

/* The reader is in a call, with more to come. */
static void stick_in(struct fixture *f, struct user_mode *u, uint32_t entries)
{
    block(f);
    assert_success(bfSuspendCommandQueue(u->queue)); /* all that comes is there when it reads */
    fill(f, u, entries);
    assert_success(bfResumeCommandQueue(u->queue));
    f->icd.await_blocked(1);
}

static void stick(struct fixture *f, struct user_mode *u, uint32_t entries)
{
    user_mode_open(f, u, direct, MANY);
    stick_in(f, u, entries);
}

static uint64_t calls_of(struct fixture *f)
{
    return vulkan_counters(&f->icd).submit_calls;
}

/* The call ends, and the next one begins. */
static void step(struct fixture *f)
{
    const uint64_t calls = calls_of(f);
    f->icd.release(1);
    while (calls_of(f) == calls)
        sched_yield();
    f->icd.await_blocked(1);
}

struct call {
    struct fixture *f;
    struct user_mode *u;
    uint32_t number;
    BfCreateDoorbell doorbell;
    VkResult result;
};

static void unregister(void *argument)
{
    struct call *call = argument;
    call->result = bfUnregisterCommandBuffer(call->u->queue, call->number);
}

static void destroy_doorbell(void *argument)
{
    struct call *call = argument;
    const BfDestroyDoorbell destroy = {call->u->doorbell.hDoorbell};
    call->result = bfDestroyDoorbell(&destroy);
}

static void destroy_queue(void *argument)
{
    struct call *call = argument;
    bfDestroyCommandQueue(call->u->queue);
}

static void resize(void *argument)
{
    struct call *call = argument;
    call->result = bfCreateDoorbell(&call->doorbell);
}

static void detach(void *argument)
{
    struct call *call = argument;
    bfDetachDevice(call->f->bf);
}

/* HQ-5: who waits for the reader comes next, however much there is to read. */
FIXTURE_TEST(who_unregisters_has_his_turn)
{
    struct user_mode u;
    struct thread thread;
    stick(f, &u, 8);
    struct call call = {.u = &u, .number = register_write(f, &u, 1, 7, 0)};
    thread_start(&thread, unregister, &call);
    thread_await_stop(&thread);
    step(f); /* of the entry that is being carried out */
    f->icd.release(1);
    thread_join(&thread);
    assert_success(call.result);
    unblock(f);
    user_mode_await(&u);
    user_mode_close(&u);
}

/* [UMS 5] But for the entry that is being carried out. */
FIXTURE_TEST(a_suspended_queue_is_read_no_further)
{
    struct user_mode u;
    stick(f, &u, 8);
    assert_success(bfSuspendCommandQueue(u.queue));
    step(f);
    f->icd.release(1);
    doorbell_settle(&u);
    assert_int_equal(user_mode_read(&u), 2);
    unblock(f);
    assert_success(bfResumeCommandQueue(u.queue));
    user_mode_await(&u);
    user_mode_close(&u);
}

/* Also while the thread has other rings to read, and never comes to rest. */
FIXTURE_TEST(who_notifies_is_looked_at_beside_a_busy_ring)
{
    struct user_mode u, busy;
    user_mode_open(f, &busy, direct, MANY);
    user_mode_open(f, &u, direct, RING); /* it is looked at first */
    stick_in(f, &busy, MANY / 2 + 64);
    BfRingEntry entry = user_mode_entry(&u);
    assert_success(bfAppendToRing(&u.writer, &entry)); /* and no doorbell is rung */
    const BfNotifyWorkSubmission notify = {u.doorbell.hDoorbell, 0};
    assert_success(bfNotifyWorkSubmission(&notify));
    for (int i = 0; i < TURN; i++)
        step(f);
    assert_int_equal(user_mode_read(&u), 1);
    unblock(f);
    user_mode_await(&u);
    user_mode_await(&busy);
    user_mode_close(&u);
    user_mode_close(&busy);
}

/* A doorbell is destroyed while its queue is, or gets another one: each waits for the reader. */
FIXTURE_TEST(who_destroys_a_doorbell_needs_no_queue)
{
    for (int i = 0; i < 4; i++) {
        struct user_mode u, other;
        struct thread threads[2];
        stick(f, &u, 1);
        other = u;
        struct call calls[2] = {{.u = &u}, {.u = &u}};
        if (i < 2) {
            user_mode_make_ring(f, &other, RING);
            calls[0].doorbell =
                (BfCreateDoorbell){.hHwQueue = bfGetCommandQueueKmtHandle(u.queue),
                                   .hRingBuffer = other.ring.hRingBuffer,
                                   .flags = BF_CREATE_DOORBELL_RESIZE_RING_BUFFER_OPERATION_BIT};
        }
        void (*const runs[2])(void *) = {i < 2 ? resize : destroy_queue, destroy_doorbell};
        for (int k = 0; k < 2; k++) {
            const int which = k ^ (i & 1);
            thread_start(&threads[which], runs[which], &calls[which]);
            thread_await_stop(&threads[which]);
        }
        unblock(f);
        for (int k = 0; k < 2; k++) {
            thread_join(&threads[k]);
            assert_success(calls[k].result);
        }
        const BfDestroyDoorbell destroy = {calls[0].doorbell.hDoorbell};
        if (destroy.hDoorbell)
            assert_success(bfDestroyDoorbell(&destroy));
        if (i < 2)
            assert_success(bfDestroyRing(other.ring.hRingBuffer));
        else
            f->queue_count--;
        assert_success(bfDestroyRing(u.ring.hRingBuffer));
    }
}

/* HQ-3: what was still in the old ring ends the queue, so it gets no other one. */
FIXTURE_TEST(a_queue_that_ends_when_it_is_resized_is_not_revived)
{
    struct user_mode u;
    user_mode_open(f, &u, direct, RING);
    user_mode_submit(&u, user_mode_entry(&u));
    user_mode_await(&u);
    doorbell_settle(&u);
    BfRingEntry bad = user_mode_entry(&u);
    bad.flags = 0x80;
    assert_success(bfAppendToRing(&u.writer, &bad)); /* and no doorbell is rung */
    assert_ended(f, &u);
}

/* By whichever of its numbers. */
FIXTURE_TEST(a_pending_command_buffer_ends_the_queue_by_any_number)
{
    for (int late = 0; late < 2; late++) {
        struct user_mode u;
        uint32_t first, second;
        user_mode_open(f, &u, direct, RING);
        VkCommandBuffer commands = device_begin(&f->base, bfGetCommandQueueFamilyIndex(u.queue), 0);
        put_word(f, commands, 1, 3);
        commands_end(commands);
        assert_success(bfRegisterCommandBuffer(u.queue, commands, 0, &first));
        if (!late)
            assert_success(bfRegisterCommandBuffer(u.queue, commands, 0, &second));
        f->icd.pause();
        user_mode_execute(&u, first);
        while (user_mode_read(&u) != 1)
            sched_yield();
        if (late)
            assert_success(bfRegisterCommandBuffer(u.queue, commands, 0, &second));
        user_mode_execute(&u, second);
        while (user_mode_status(&u) != BF_DOORBELL_STATUS_DISCONNECTED_ABORT)
            sched_yield();
        f->icd.resume();
        assert_aborted(&u, BF_ABORT_REASON_PENDING, 1);
        assert_int_equal(read_word(f, 1), 3);
        user_mode_close(&u);
    }
}

/* DH-1: another ring gets the handle while a doorbell still has the first one. */
FIXTURE_TEST(a_handle_that_another_ring_has_stays)
{
    struct user_mode u;
    user_mode_open(f, &u, direct, RING);
    const BfKmtHandle first = u.ring.hRingBuffer;
    assert_success(bfDestroyRing(first)); /* the doorbell keeps it */
    do {
        user_mode_make_ring(f, &u, RING);
        if (u.ring.hRingBuffer != first)
            assert_success(bfDestroyRing(u.ring.hRingBuffer));
    } while (u.ring.hRingBuffer != first);
    const BfDestroyDoorbell destroy = {u.doorbell.hDoorbell};
    assert_success(bfDestroyDoorbell(&destroy));
    assert_success(bfDestroyRing(first));
}

/* DT-7: what was read before its end began, as what is read then. */
FIXTURE_TEST(what_was_read_runs_before_the_device_goes)
{
    struct user_mode u;
    struct call call = {.f = f};
    struct thread thread;
    if (f->layered)
        return;
    user_mode_open(f, &u, direct, RING);
    const uint32_t buffer = register_write(f, &u, 0, 7, 0);
    f->icd.pause();
    user_mode_execute(&u, buffer);
    while (user_mode_read(&u) != 1)
        sched_yield();
    f->icd.set_block(&(struct belfry_icd_block){.command = "vkWaitSemaphores", .first = 1});
    thread_start(&thread, detach, &call);
    while (!thread.finished && f->icd.blocked() == 0)
        sched_yield();
    const bool early = thread.finished;
    unblock(f);
    f->icd.resume();
    thread_join(&thread);
    assert_false(early);
    f->queue_count = f->fence_count = 0;
    assert_success(fixture_attach(f));
}

int main(int argc, char **argv)
{
    return fixture_main(argc, argv);
}
