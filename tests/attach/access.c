/* SPDX-License-Identifier: MIT */
/* The check 'access' on a device that the program has attached itself: what it takes the CPU to
 * have waited for, where the layer isn't there to tell. */
#include "doorbell/user_mode.h"

#include <belfry/native_fence.h>
#include <sched.h>

#include "support/lines.h"

static struct fixture f;
static BfCommandQueue reader, writer;

static int attach(void **state)
{
    static const BfSetting own[] = {{"check", "access"}};
    (void)state;
    fixture_open_instance(&f, &fixture_plain);
    assert_success(fixture_open_device(&f, &fixture_plain));
    assert_success(fixture_attach_with(&f, 1, own));
    device_open_words(&f.base, FIXTURE_WORDS, 0, 0);
    reader = make_queue(&f, BF_COMMAND_LIST_TYPE_DIRECT);
    writer = make_queue(&f, BF_COMMAND_LIST_TYPE_DIRECT);
    lines_begin();
    return 0;
}

static int detach(void **state)
{
    (void)state;
    fixture_close(&f);
    return 0;
}

static void use(BfCommandQueue queue, bool write)
{
    const BfResourceUse use = {.buffer = f.buffer, .size = 16, .write = write};
    assert_success(bfQueueUses(queue, 1, &use));
    execute(queue, write_word(&f, queue, 32, 1));
}

/* So many faults have been reported; then everything ends. */
static void expect(uint32_t count)
{
    char line[1024] = "";
    uint32_t found = lines_end_with("(bfQueueUses)", line, sizeof(line));
    if (found > count)
        print_message("%s\n", line);
    assert_int_equal(found, count);
}

static BfFence fence_with(uint32_t flags)
{
    const BfFenceCreateInfo info = {BF_TYPE(FENCE_CREATE_INFO), .flags = flags};
    BfFence made;
    assert_success(bfCreateFence(f.bf, &info, &made));
    return made;
}

static void lock_and_unlock(void)
{
    assert_success(bfLockVkQueue(f.bf, f.queues[0][0]));
    assert_success(bfUnlockVkQueue(f.bf, f.queues[0][0]));
}

/* Who has had a VkQueue to himself may have waited for all that has run, but not for what can't
 * have. */
TEST_WITH(a_lock_hides_no_fault_of_held_work, attach, detach)
{
    BfFence a = fence_with(0);
    assert_success(bfQueueWait(writer, a, 1));
    use(writer, true);
    lock_and_unlock();
    use(reader, true);
    assert_success(bfSignalFence(a, 1));
    await_idle(reader);
    await_idle(writer);
    expect(1);
    bfDestroyFence(a);
}

TEST_WITH(a_lock_orders_what_has_run, attach, detach)
{
    use(writer, true);
    lock_and_unlock();
    use(reader, true);
    await_idle(reader);
    await_idle(writer);
    expect(0);
}

static void expect_none_of_a_wait_before_its_signal(BfFence fence)
{
    assert_success(bfQueueWait(reader, fence, 1));
    use(reader, false);
    use(writer, true);
    assert_success(bfQueueSignal(writer, fence, 1));
    await_idle(reader);
    await_idle(writer);
    expect(0);
}

TEST_WITH(an_imported_semaphore_is_waited_for_before_its_signal, attach, detach)
{
    const VkSemaphoreTypeCreateInfo timeline = {VK_TYPE(SEMAPHORE_TYPE_CREATE_INFO),
                                                .semaphoreType = VK_SEMAPHORE_TYPE_TIMELINE};
    const VkSemaphoreCreateInfo info = {VK_TYPE(SEMAPHORE_CREATE_INFO), .pNext = &timeline};
    VkSemaphore semaphore;
    BfFence imported;
    assert_success(vkCreateSemaphore(f.device, &info, NULL, &semaphore));
    assert_success(bfImportFenceFromSemaphore(f.bf, semaphore, &imported));
    expect_none_of_a_wait_before_its_signal(imported);
    bfDestroyFence(imported);
    vkDestroySemaphore(f.device, semaphore, NULL);
}

TEST_WITH(a_shared_fence_is_waited_for_before_its_signal, attach, detach)
{
    BfFence shared = fence_with(BF_FENCE_SHARED_BIT);
    expect_none_of_a_wait_before_its_signal(shared);
    bfDestroyFence(shared);
}

/* "Who has read it there may use the data that the value stands for" (native_fence.h). */
TEST_WITH(the_word_of_a_native_fence_may_have_been_read, attach, detach)
{
    const BfNativeFenceCreateInfo info = {BF_TYPE(NATIVE_FENCE_CREATE_INFO)};
    BfNativeFenceMapping mapping = {BF_TYPE(NATIVE_FENCE_MAPPING)};
    BfFence native;
    assert_success(bfCreateNativeFence(f.bf, &info, &native));
    assert_success(bfGetNativeFenceMapping(native, &mapping));
    assert_non_null(mapping.pCurrentValue);
    use(writer, true);
    assert_success(bfQueueSignal(writer, native, 1));
    while (*mapping.pCurrentValue < 1)
        sched_yield();
    use(reader, false);
    await_idle(reader);
    await_idle(writer);
    expect(0);
    bfDestroyFence(native);
}

TEST_WITH(a_native_fence_that_nobody_has_mapped_tells_nothing, attach, detach)
{
    const BfNativeFenceCreateInfo info = {BF_TYPE(NATIVE_FENCE_CREATE_INFO)};
    BfFence native;
    assert_success(bfCreateNativeFence(f.bf, &info, &native));
    use(writer, true);
    assert_success(bfQueueSignal(writer, native, 1));
    use(reader, false);
    await_idle(reader);
    await_idle(writer);
    expect(1);
    bfDestroyFence(native);
}
