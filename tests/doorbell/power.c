/* SPDX-License-Identifier: MIT */
/* Engines and devices that sleep, and what wakes them. */
#include "doorbell/user_mode.h"

#define RING 64

static BfEngineState engine_of(const struct user_mode *u)
{
    BfEngineState state;
    assert_success(bfGetEngineState(u->queue, &state));
    return state;
}

static BfDevicePowerState device_of(struct fixture *f)
{
    BfDevicePowerState state;
    assert_success(bfGetDevicePowerState(f->bf, &state));
    return state;
}

FIXTURE_TEST(an_engine_that_powers_down_loses_its_doorbells_until_one_is_connected)
{
    struct user_mode u, same;
    user_mode_open(f, &u, BF_COMMAND_LIST_TYPE_DIRECT, RING);
    user_mode_open(f, &same, BF_COMMAND_LIST_TYPE_DIRECT, RING);
    for (uint32_t i = 0; i < TIMES(100); i++) {
        user_mode_execute(&u, register_write(f, &u, i, i + 1, 0));
        user_mode_submit(&same, user_mode_entry(&same));
        assert_int_equal(engine_of(&u), BF_ENGINE_STATE_ACTIVE);
        assert_success(bfSetEngineState(u.queue, BF_ENGINE_STATE_TRANSITION_TO_F1));
        assert_int_equal(user_mode_status(&u), BF_DOORBELL_STATUS_DISCONNECTED_RETRY);
        if (engine_of(&same) == BF_ENGINE_STATE_TRANSITION_TO_F1) /* it is the same one */
            assert_int_equal(user_mode_status(&same), BF_DOORBELL_STATUS_DISCONNECTED_RETRY);
        assert_int_equal(engine_of(&u), BF_ENGINE_STATE_TRANSITION_TO_F1);
        user_mode_await(&u); /* what was in the rings is read */
        user_mode_await(&same);
        assert_int_equal(read_word(f, i), i + 1);
    }
    assert_bad_input(bfSetEngineState(u.queue, (BfEngineState)7));
    assert_bad_input(bfGetEngineState(u.queue, NULL));
    user_mode_close(&u);
    user_mode_close(&same);
}

FIXTURE_TEST(a_device_sleeps_once_nothing_is_left_and_a_doorbell_wakes_it)
{
    struct user_mode u;
    user_mode_open(f, &u, BF_COMMAND_LIST_TYPE_DIRECT, RING);
    BfFence gate = make_fence(f, 0);
    assert_success(bfSetDevicePowerState(f->bf, BF_DEVICE_POWER_STATE_D3));
    for (uint64_t i = 1; i <= 20; i++) {
        assert_int_equal(device_of(f), BF_DEVICE_POWER_STATE_D3);
        assert_int_equal(user_mode_status(&u), BF_DOORBELL_STATUS_DISCONNECTED_RETRY);
        BfRingEntry entry = user_mode_entry(&u);
        if (i == 1)
            entry.waitFence = register_fence(&u, gate);
        else
            entry.waitFence = 0;
        entry.waitValue = i;
        user_mode_submit(&u, entry); /* connects */
        assert_int_equal(device_of(f), BF_DEVICE_POWER_STATE_D0);
        assert_int_equal(bfSetDevicePowerState(f->bf, BF_DEVICE_POWER_STATE_D3), VK_NOT_READY);
        assert_int_equal(device_of(f), BF_DEVICE_POWER_STATE_D0);
        cpu_signal(gate, i);
        user_mode_await(&u);
        VkResult result; /* the entry's last part may be under way */
        while ((result = bfSetDevicePowerState(f->bf, BF_DEVICE_POWER_STATE_D3)) == VK_NOT_READY)
            sched_yield();
        assert_success(result);
    }
    assert_success(bfSetDevicePowerState(f->bf, BF_DEVICE_POWER_STATE_D0));
    assert_int_equal(device_of(f), BF_DEVICE_POWER_STATE_D0);
    assert_bad_input(bfSetDevicePowerState(f->bf, (BfDevicePowerState)2));
    user_mode_close(&u);
}

/* What a suspended queue has in its ring keeps no device awake, and is there when it resumes. */
FIXTURE_TEST(suspended_work_sleeps_with_the_device)
{
    struct user_mode u;
    user_mode_open(f, &u, BF_COMMAND_LIST_TYPE_DIRECT, RING);
    assert_success(bfSuspendCommandQueue(u.queue));
    user_mode_execute(&u, register_write(f, &u, 0, 5, 0));
    assert_success(bfSetDevicePowerState(f->bf, BF_DEVICE_POWER_STATE_D3));
    assert_success(bfResumeCommandQueue(u.queue));
    doorbell_settle(&u);
    assert_value(u.progress, 0); /* nothing is read before the device wakes */
    assert_int_equal(u.ring.pControl->read, 0);
    assert_success(bfRingDoorbell(&u.writer));
    user_mode_await(&u);
    assert_int_equal(read_word(f, 0), 5);
    user_mode_close(&u);
}

/* By the setting, without anybody's asking. */
static void open_that_idles(struct fixture *f)
{
    setenv("VK_BELFRY_MULTI_ENGINE_DOORBELL_IDLE", "1", 1);
    fixture_open(f, NULL);
    unsetenv("VK_BELFRY_MULTI_ENGINE_DOORBELL_IDLE");
}

static void await_sleep(struct fixture *f)
{
    while (device_of(f) != BF_DEVICE_POWER_STATE_D3) /* or the test never ends */
        sched_yield();
}

TEST(an_idle_engine_and_then_the_device_go_to_sleep)
{
    struct fixture f;
    struct user_mode u[2];
    open_that_idles(&f);
    user_mode_open(&f, &u[0], BF_COMMAND_LIST_TYPE_DIRECT, RING);
    user_mode_open(&f, &u[1], BF_COMMAND_LIST_TYPE_COPY, RING);
    for (uint32_t i = 0; i < 5; i++) {
        for (int j = 0; j < 2; j++)
            user_mode_submit(&u[j], user_mode_entry(&u[j]));
        for (int j = 0; j < 2; j++)
            user_mode_await(&u[j]);
        await_sleep(&f);
        assert_int_equal(engine_of(&u[0]), BF_ENGINE_STATE_TRANSITION_TO_F1);
        assert_int_equal(user_mode_status(&u[1]), BF_DOORBELL_STATUS_DISCONNECTED_RETRY);
    }
    for (int j = 0; j < 2; j++)
        user_mode_close(&u[j]);
    fixture_close(&f);
}

/* DT-5: a suspended queue's work keeps the device awake, until it has gone with its doorbell. */
TEST(suspended_work_keeps_a_device_awake_until_it_goes)
{
    struct fixture f;
    struct user_mode idle, suspended;
    open_that_idles(&f);
    user_mode_open(&f, &idle, BF_COMMAND_LIST_TYPE_DIRECT, RING);
    user_mode_open(&f, &suspended, BF_COMMAND_LIST_TYPE_DIRECT, RING);
    assert_success(bfSuspendCommandQueue(suspended.queue));
    user_mode_submit(&suspended, user_mode_entry(&suspended));
    user_mode_submit(&idle, user_mode_entry(&idle));
    user_mode_await(&idle);
    while (engine_of(&idle) != BF_ENGINE_STATE_TRANSITION_TO_F1)
        sched_yield();
    doorbell_settle(&idle); /* it has looked whether the device may sleep */
    assert_int_equal(device_of(&f), BF_DEVICE_POWER_STATE_D0);
    user_mode_close(&suspended);
    await_sleep(&f);
    user_mode_close(&idle);
    fixture_close(&f);
}

FIXTURE_TEST(an_engine_that_hangs_loses_the_device)
{
    struct user_mode u;
    BfDeviceRemovedReason reason;
    user_mode_open(f, &u, BF_COMMAND_LIST_TYPE_COMPUTE, RING);
    assert_success(bfSetEngineState(u.queue, BF_ENGINE_STATE_HUNG));
    f->lost = f->layered; /* the driver isn't told */
    assert_int_equal(bfGetDeviceRemovedReason(f->bf, &reason), VK_ERROR_DEVICE_LOST);
    assert_int_equal(reason, BF_DEVICE_REMOVED_REASON_HUNG);
    assert_int_equal(user_mode_status(&u), BF_DOORBELL_STATUS_DISCONNECTED_ABORT);
    assert_int_equal(engine_of(&u), BF_ENGINE_STATE_HUNG);
    user_mode_close(&u);
}

int main(int argc, char **argv)
{
    return fixture_main(argc, argv);
}
