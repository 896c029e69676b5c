/* SPDX-License-Identifier: MIT */
/* A queue for user-mode submission with ring and doorbell, for tests. */
#include "doorbell/user_mode.h"

#include <dirent.h>

void user_mode_make_ring(struct fixture *f, struct user_mode *u, uint32_t entries)
{
    u->ring = (BfRing){BF_TYPE(RING)};
    const BfRingCreateInfo info = {BF_TYPE(RING_CREATE_INFO), .entryCount = entries};
    assert_success(bfCreateRing(f->bf, &info, &u->ring));
}

void user_mode_make_doorbell(struct fixture *f, struct user_mode *u, uint32_t entries,
                             uint32_t flags)
{
    user_mode_make_ring(f, u, entries);
    u->doorbell = (BfCreateDoorbell){
        .hHwQueue = bfGetCommandQueueKmtHandle(u->queue),
        .hRingBuffer = u->ring.hRingBuffer,
        .hRingBufferControl = u->ring.hRingBufferControl,
        .flags = flags,
    };
    assert_success(bfCreateDoorbell(&u->doorbell));
    u->writer = (BfRingWriter){
        .pEntries = u->ring.pEntries,
        .pControl = u->ring.pControl,
        .entryCount = u->ring.entryCount,
        .pDoorbell = u->doorbell.doorbellCPUVirtualAddress,
        .pStatus = u->doorbell.doorbellStatusCPUVirtualAddress,
        .pLastQueued = u->doorbell.hwQueueProgressFenceLastQueuedValueCPUVirtualAddress,
        .hDoorbell = u->doorbell.hDoorbell,
    };
}

void user_mode_open(struct fixture *f, struct user_mode *u, BfCommandListType type,
                    uint32_t entries)
{
    *u = (struct user_mode){0};
    const BfCommandQueueCreateInfo info = {BF_TYPE(COMMAND_QUEUE_CREATE_INFO), .type = type,
                                           .flags = BF_COMMAND_QUEUE_USER_MODE_SUBMISSION_BIT};
    assert_success(bfCreateCommandQueue(f->bf, &info, &u->queue));
    assert_true(f->queue_count < FIXTURE_OBJECTS);
    f->made_queues[f->queue_count++] = u->queue;
    assert_success(bfGetCommandQueueProgressFence(u->queue, &u->progress));
    user_mode_make_doorbell(f, u, entries, 0);
}

void user_mode_close(struct user_mode *u)
{
    const BfDestroyDoorbell info = {u->doorbell.hDoorbell};
    assert_success(bfDestroyDoorbell(&info));
    assert_success(bfDestroyRing(u->ring.hRingBuffer));
}

BfRingEntry user_mode_entry(struct user_mode *u)
{
    return (BfRingEntry){
        .progressValue = ++u->last,
        .commandBuffer = BF_RING_NONE,
        .waitFence = BF_RING_NONE,
        .signalFence = BF_RING_NONE,
    };
}

void user_mode_submit(struct user_mode *u, BfRingEntry entry)
{
    VkResult result;
    while ((result = bfSubmitToRing(&u->writer, &entry)) == VK_NOT_READY)
        sched_yield();
    assert_success(result);
}

void user_mode_execute(struct user_mode *u, uint32_t buffer)
{
    BfRingEntry entry = user_mode_entry(u);
    entry.commandBuffer = buffer;
    user_mode_submit(u, entry);
}

void user_mode_await(const struct user_mode *u)
{
    await_fence(u->progress, u->last);
}

unsigned long doorbell_threads(const char *format, uint32_t *threads)
{
    DIR *all = opendir("/proc/self/task");
    unsigned long number = 0, other;
    uint32_t found = 0;
    assert_non_null(all);
    for (struct dirent *thread; (thread = readdir(all)) != NULL;) {
        char path[320], line[128], name[32] = "";
        snprintf(path, sizeof(path), "/proc/self/task/%s/status", thread->d_name);
        FILE *file = fopen(path, "r");
        while (file && fgets(line, sizeof(line), file))
            if (sscanf(line, "Name: %31[^\n]", name) != 1 && strcmp(name, "belfry doorbell") == 0)
                found += sscanf(line, format, found ? &other : &number) == 1;
        if (file)
            fclose(file);
    }
    closedir(all);
    if (threads)
        *threads = found;
    return number;
}

void doorbell_settle(const struct user_mode *u)
{
    static const char sleeps[] = "voluntary_ctxt_switches: %lu";
    const BfNotifyWorkSubmission notify = {u->doorbell.hDoorbell, 0};
    for (int i = 0; i < 2; i++) { /* the first time it may have been about to sleep */
        const unsigned long before = doorbell_threads(sleeps, NULL);
        assert_success(bfNotifyWorkSubmission(&notify));
        while (doorbell_threads(sleeps, NULL) == before)
            sched_yield();
    }
}

uint64_t user_mode_read(const struct user_mode *u)
{
    return __atomic_load_n(&u->ring.pControl->read, __ATOMIC_ACQUIRE);
}

uint64_t user_mode_status(const struct user_mode *u)
{
    return __atomic_load_n(u->writer.pStatus, __ATOMIC_ACQUIRE);
}

void assert_aborted(const struct user_mode *u, BfAbortReason reason, uint64_t entry)
{
    BfAbortReason found;
    uint64_t where;
    const BfConnectDoorbell connect = {u->doorbell.hDoorbell, 0};
    await_fence(u->progress, UINT64_MAX);
    assert_success(bfGetAbortReason(u->doorbell.hDoorbell, &found, &where));
    assert_int_equal(found, reason);
    assert_int_equal(where, entry);
    assert_int_equal(user_mode_status(u), BF_DOORBELL_STATUS_DISCONNECTED_ABORT);
    assert_int_equal(bfConnectDoorbell(&connect), VK_ERROR_UNKNOWN);
}

void assert_ended(struct fixture *f, struct user_mode *u)
{
    BfRing ring = {BF_TYPE(RING)};
    const BfRingCreateInfo info = {BF_TYPE(RING_CREATE_INFO), .entryCount = 64};
    assert_success(bfCreateRing(f->bf, &info, &ring));
    BfCreateDoorbell another = {.hHwQueue = bfGetCommandQueueKmtHandle(u->queue),
                                .hRingBuffer = ring.hRingBuffer,
                                .flags = BF_CREATE_DOORBELL_RESIZE_RING_BUFFER_OPERATION_BIT};
    assert_int_equal(bfCreateDoorbell(&another), VK_ERROR_UNKNOWN);
    user_mode_close(u);
    another.flags = 0;
    assert_int_equal(bfCreateDoorbell(&another), VK_ERROR_UNKNOWN);
    assert_success(bfDestroyRing(ring.hRingBuffer));
}

uint32_t register_write(struct fixture *f, struct user_mode *u, uint32_t index, uint32_t word,
                        BfRegisterCommandBufferFlags flags)
{
    uint32_t number;
    VkCommandBuffer commands =
        device_begin(&f->base, bfGetCommandQueueFamilyIndex(u->queue),
                     flags ? VK_COMMAND_BUFFER_USAGE_SIMULTANEOUS_USE_BIT : 0);
    put_word(f, commands, index, word);
    commands_end(commands);
    assert_success(bfRegisterCommandBuffer(u->queue, commands, flags, &number));
    return number;
}

uint32_t register_fence(struct user_mode *u, BfFence fence)
{
    uint32_t number;
    assert_success(bfRegisterFence(u->queue, fence, &number));
    return number;
}
