/* SPDX-License-Identifier: MIT */
/* What becomes of a queue for user-mode submission where there is no memory. */
#include "doorbell/user_mode.h"

static _Atomic bool none;

static bool has_none(void);
#include "support/no_memory.h"

static bool has_none(void)
{
    return none;
}

#define RING 64

/* HQ-3: whoever waits for its progress is let go, if need be with the device. */
FIXTURE_TEST(a_queue_that_ends_without_memory_ends_its_device)
{
    struct user_mode u;
    user_mode_open(f, &u, BF_COMMAND_LIST_TYPE_DIRECT, RING);
    BfRingEntry held = user_mode_entry(&u), bad = user_mode_entry(&u);
    held.waitFence = register_fence(&u, make_fence(f, 0));
    held.waitValue = 1;
    user_mode_submit(&u, held);
    while (user_mode_read(&u) != 1)
        sched_yield();
    doorbell_settle(&u);
    bad.flags = 0x80;
    none = true;
    VkResult result = bfSubmitToRing(&u.writer, &bad);
    while (user_mode_status(&u) != BF_DOORBELL_STATUS_DISCONNECTED_ABORT)
        sched_yield();
    BfDeviceRemovedReason reason = BF_DEVICE_REMOVED_REASON_NONE;
    while (bfGetDeviceRemovedReason(f->bf, &reason) == VK_SUCCESS)
        sched_yield();
    none = false;
    assert_success(result);
    assert_int_equal(reason, BF_DEVICE_REMOVED_REASON_OUT_OF_MEMORY);
    assert_value(u.progress, UINT64_MAX);
    f->lost = f->layered; /* the driver isn't told */
    user_mode_close(&u);
}

int main(int argc, char **argv)
{
    return fixture_main(argc, argv);
}
