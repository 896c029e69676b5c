/* SPDX-License-Identifier: MIT */
/* A doorbell thread that the driver keeps in a submission. */
#include "doorbell/user_mode.h"

#define RING  64
#define LEAVE "VK_BELFRY_MULTI_ENGINE_TDR_DDI_DELAY=100"

static _Atomic uint32_t said;

static void hear(BfMessageSeverity severity, const char *text, void *context)
{
    said += strstr(text, "has not returned for") && strstr(text, "leaked");
}

static void open_hearing(struct fixture *f)
{
    said = 0;
    assert_success(bfSetMessageCallback(hear, NULL));
    fixture_open(f, SETTINGS(LEAVE));
}

/* Its thread is in vkQueueSubmit2 when it returns. */
static void stick(struct fixture *f, struct user_mode *u)
{
    user_mode_open(f, u, BF_COMMAND_LIST_TYPE_DIRECT, RING);
    uint32_t buffer = register_write(f, u, 0, 7, 0);
    f->icd.set_block(&(struct belfry_icd_block){
        .command = "vkQueueSubmit2", .first = 1, .every = 1, .late = true});
    user_mode_execute(u, buffer);
    f->icd.await_blocked(1);
}

/* DT-2 */
FIXTURE_TEST(nobody_waits_for_a_thread_in_the_driver)
{
    struct user_mode u, same;
    user_mode_open(f, &same, BF_COMMAND_LIST_TYPE_DIRECT, RING);
    stick(f, &u);
    const BfConnectDoorbell connects[] = {{u.doorbell.hDoorbell, 0}, {same.doorbell.hDoorbell, 0}};
    const BfNotifyWorkSubmission notify = {u.doorbell.hDoorbell, 0};
    BfEngineState state;
    for (int i = 0; i < 3; i++) {
        assert_success(bfSuspendCommandQueue(u.queue));
        assert_success(bfResumeCommandQueue(u.queue));
        assert_success(bfNotifyWorkSubmission(&notify));
        assert_success(bfSetEngineState(u.queue, BF_ENGINE_STATE_TRANSITION_TO_F1));
        assert_int_equal(bfSetDevicePowerState(f->bf, BF_DEVICE_POWER_STATE_D3), VK_NOT_READY);
        assert_success(bfConnectDoorbell(&connects[0]));
        assert_success(bfConnectDoorbell(&connects[1]));
        assert_success(bfGetEngineState(u.queue, &state));
        assert_int_equal(state, BF_ENGINE_STATE_ACTIVE);
        user_mode_submit(&same, user_mode_entry(&same)); /* a store, as ever */
    }
    assert_int_equal(f->icd.blocked(), 1);
    f->icd.set_block(NULL);
    f->icd.release(UINT64_MAX);
    user_mode_await(&u);
    user_mode_await(&same);
    assert_int_equal(read_word(f, 0), 7);
    user_mode_close(&u);
    user_mode_close(&same);
}

/* HQ-5. Afterwards the driver lets go, so that the device ends as it should. */
TEST(who_destroys_what_a_stuck_thread_uses_gets_the_device_lost)
{
    enum { QUEUE, DOORBELL, BUFFER, FENCE, CASES };
    for (int i = 0; i < CASES; i++) {
        struct fixture f;
        struct user_mode u;
        fixture_open(&f, SETTINGS(LEAVE));
        stick(&f, &u);
        const BfDestroyDoorbell destroy = {u.doorbell.hDoorbell};
        const uint32_t number = i == FENCE ? register_fence(&u, make_fence(&f, 0)) : 0;
        if (i == QUEUE)
            drop_queue(&f, u.queue);
        if (i == DOORBELL)
            assert_success(bfDestroyDoorbell(&destroy));
        if (i == BUFFER)
            assert_success(bfUnregisterCommandBuffer(u.queue, number));
        if (i == FENCE)
            assert_success(bfUnregisterFence(u.queue, number));
        BfDeviceRemovedReason reason;
        assert_int_equal(bfGetDeviceRemovedReason(f.bf, &reason), VK_ERROR_DEVICE_LOST);
        assert_int_equal(reason, BF_DEVICE_REMOVED_REASON_HUNG);
        f.lost = f.layered; /* the driver isn't told */
        assert_int_equal(f.icd.blocked(), 1);
        f.icd.set_block(NULL);
        f.icd.release(UINT64_MAX);
        while (f.icd.blocked())
            sched_yield();
        fixture_close(&f);
    }
}

/* L-7: the device goes, and leaves the thread where it is. What the call was given stays, with the
 * driver's device: nobody can tell when the thread has left it. */
TEST(a_submission_that_never_returns_is_left)
{
#ifdef __SANITIZE_ADDRESS__
    skip(); /* it would report that as leaked */
#endif
    struct fixture f;
    struct user_mode u;
    open_hearing(&f);
    stick(&f, &u);
    if (f.layered) /* the driver isn't asked to */
        vkDestroyDevice(f.device, NULL);
    else
        bfDetachDevice(f.bf);
    assert_int_equal(f.icd.blocked(), 1);
    assert_true(said > 0);
    f.icd.set_block(NULL);
    f.icd.release(UINT64_MAX);
    while (f.icd.blocked())
        sched_yield();
    f.icd.quiesce();
    f.device = VK_NULL_HANDLE;
    f.violations[BELFRY_ICD_LEAK] = vulkan_counters(&f.icd).violations[BELFRY_ICD_LEAK];
    fixture_close(&f);
    assert_success(bfSetMessageCallback(NULL, NULL));
}

/* Nor is who reads a ring to its end, with calls that take their time, however long that is in
 * all. */
TEST(what_is_still_being_read_is_not_left)
{
    struct fixture f;
    struct user_mode u;
    open_hearing(&f);
    if (!f.layered) {
        user_mode_open(&f, &u, BF_COMMAND_LIST_TYPE_DIRECT, RING);
        const uint32_t buffer =
            register_write(&f, &u, 0, 7, BF_REGISTER_COMMAND_BUFFER_SIMULTANEOUS_USE_BIT);
        f.icd.set_block(&(struct belfry_icd_block){
            .command = "vkQueueSubmit2", .first = 1, .every = 1, .ns = 20000000});
        for (uint32_t i = 0; i < RING / 2; i++) {
            BfRingEntry entry = user_mode_entry(&u);
            entry.commandBuffer = buffer;
            entry.flags = BF_RING_ENTRY_BARRIER_BIT;
            user_mode_submit(&u, entry);
        }
        bfDetachDevice(f.bf);
        f.icd.set_block(NULL);
        assert_int_equal(said, 0);
        assert_int_equal(read_word(&f, 0), 7);
        f.queue_count = f.fence_count = 0;
        assert_success(fixture_attach(&f));
    }
    fixture_close(&f);
    assert_success(bfSetMessageCallback(NULL, NULL));
}

int main(int argc, char **argv)
{
    return fixture_main(argc, argv);
}
