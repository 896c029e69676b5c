/* SPDX-License-Identifier: MIT */
/* Rings under the watchdog, and a doorbell whose engine hangs. */
#include "doorbell/user_mode.h"

#define RING 64

static _Atomic uint32_t unread, ahead, others;

static void hear(BfMessageSeverity severity, const char *text, void *context)
{
    bool of_rings = strstr(text, "of its ring have not been read"),
         of_values = strstr(text, "its last-queued value has been 9 for") &&
                     strstr(text, "above 1 (complete: 1)");
    unread += of_rings && strstr(text, "'stuck': 2 entries");
    ahead += of_values && strstr(text, "'ahead'");
    others += (of_rings && !strstr(text, "'stuck'")) || (of_values && !strstr(text, "'ahead'"));
}

static void open_hearing(struct fixture *f, const char *settings, const char *driver)
{
    unread = ahead = others = 0;
    assert_success(bfSetMessageCallback(hear, NULL));
    fixture_open(f, OPTIONS(.environment = driver, .settings = settings));
}

static void close_hearing(struct fixture *f)
{
    fixture_close(f);
    assert_success(bfSetMessageCallback(NULL, NULL));
}

/* SS-8 */
TEST(rings_that_nobody_reads_are_told)
{
    struct fixture f;
    struct user_mode u, suspended, sound, behind;
    open_hearing(&f, "VK_BELFRY_MULTI_ENGINE_WATCHDOG=50", NULL);
    user_mode_open(&f, &u, BF_COMMAND_LIST_TYPE_DIRECT, RING);
    user_mode_open(&f, &suspended, BF_COMMAND_LIST_TYPE_DIRECT, RING);
    user_mode_open(&f, &sound, BF_COMMAND_LIST_TYPE_DIRECT, RING);
    user_mode_open(&f, &behind, BF_COMMAND_LIST_TYPE_DIRECT, RING);
    assert_success(bfSetObjectName(BF_OBJECT_TYPE_COMMAND_QUEUE, u.queue, "stuck"));
    assert_success(bfSetObjectName(BF_OBJECT_TYPE_COMMAND_QUEUE, behind.queue, "ahead"));
    assert_success(bfSuspendCommandQueue(suspended.queue));
    user_mode_submit(&suspended, user_mode_entry(&suspended));
    user_mode_submit(&sound, user_mode_entry(&sound));
    user_mode_await(&sound);
    /* Who says that he has queued more than he has. */
    user_mode_submit(&behind, user_mode_entry(&behind));
    user_mode_await(&behind);
    __atomic_store_n(behind.writer.pLastQueued, 9, __ATOMIC_RELEASE);
    const BfNotifyWorkSubmission notify = {behind.doorbell.hDoorbell, 0};
    assert_success(bfNotifyWorkSubmission(&notify));
    while (!ahead)
        sched_yield();
    /* A thread in the driver. */
    const uint32_t buffer = register_write(&f, &u, 0, 7, 0);
    f.icd.set_block(&(struct belfry_icd_block){
        .command = "vkQueueSubmit2", .first = 1, .every = 1, .late = true});
    user_mode_execute(&u, buffer);
    f.icd.await_blocked(1);
    user_mode_submit(&u, user_mode_entry(&u));
    user_mode_submit(&u, user_mode_entry(&u));
    while (!unread)
        sched_yield();
    f.icd.set_block(NULL);
    f.icd.release(UINT64_MAX);
    user_mode_await(&u);
    struct user_mode *all[] = {&u, &suspended, &sound, &behind};
    for (int i = 0; i < 4; i++)
        user_mode_close(all[i]);
    close_hearing(&f);
    assert_int_equal(unread, 1);
    assert_int_equal(ahead, 1);
    assert_int_equal(others, 0);
}

/* What a ring has handed over is under TDR as all work of command queues is. */
TEST(a_ring_whose_work_hangs_is_aborted)
{
    struct fixture f;
    struct user_mode u;
    open_hearing(&f, "VK_BELFRY_MULTI_ENGINE_TDR_DELAY=100", "GPU=1");
    user_mode_open(&f, &u, BF_COMMAND_LIST_TYPE_DIRECT, RING);
    f.icd.pause();
    user_mode_execute(&u, register_write(&f, &u, 0, 7, 0));
    while (user_mode_status(&u) != BF_DOORBELL_STATUS_DISCONNECTED_ABORT)
        sched_yield();
    BfDeviceRemovedReason reason;
    assert_int_equal(bfGetDeviceRemovedReason(f.bf, &reason), VK_ERROR_DEVICE_LOST);
    assert_int_equal(reason, BF_DEVICE_REMOVED_REASON_HUNG);
    f.icd.resume();
    f.lost = f.layered; /* the driver isn't told */
    user_mode_close(&u);
    close_hearing(&f);
}

int main(int argc, char **argv)
{
    return fixture_main(argc, argv);
}
