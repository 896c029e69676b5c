/* SPDX-License-Identifier: MIT */
/* Doorbells of queues: connected, taken away, notified, suspended, resized, destroyed, lost; and
 * the structs by which programs name them. */
#include "doorbell/user_mode.h"

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "support/lines.h"

#define RING 64

static const BfCommandListType direct = BF_COMMAND_LIST_TYPE_DIRECT;

/* facts of WDDM's headers, on a machine of 64 bits */
#define MEMBER(struct_, member_, offset_) (offsetof(struct_, member_) == (offset_))
_Static_assert(sizeof(BfCreateDoorbell) == 72 && MEMBER(BfCreateDoorbell, hHwQueue, 0) &&
                   MEMBER(BfCreateDoorbell, hRingBuffer, 4) &&
                   MEMBER(BfCreateDoorbell, hRingBufferControl, 8) &&
                   MEMBER(BfCreateDoorbell, flags, 12) &&
                   MEMBER(BfCreateDoorbell, privateDriverDataSize, 16) &&
                   MEMBER(BfCreateDoorbell, privateDriverData, 24) &&
                   MEMBER(BfCreateDoorbell, doorbellCPUVirtualAddress, 32) &&
                   MEMBER(BfCreateDoorbell, doorbellSecondaryCPUVirtualAddress, 40) &&
                   MEMBER(BfCreateDoorbell, doorbellStatusCPUVirtualAddress, 48) &&
                   MEMBER(BfCreateDoorbell, hwQueueProgressFenceLastQueuedValueCPUVirtualAddress,
                          56) &&
                   MEMBER(BfCreateDoorbell, hDoorbell, 64),
               "D3DKMT_CREATE_DOORBELL");
_Static_assert(sizeof(BfConnectDoorbell) == 8 && MEMBER(BfConnectDoorbell, flags, 4),
               "D3DKMT_CONNECT_DOORBELL");
_Static_assert(sizeof(BfDestroyDoorbell) == 4, "D3DKMT_DESTROY_DOORBELL");
_Static_assert(sizeof(BfNotifyWorkSubmission) == 8 && MEMBER(BfNotifyWorkSubmission, flags, 4),
               "D3DKMT_NOTIFY_WORK_SUBMISSION");
_Static_assert(MEMBER(BfRingControl, write, 0), "where the document's program assumes it");
_Static_assert(BF_ENGINE_STATE_ACTIVE == 0 && BF_ENGINE_STATE_TRANSITION_TO_F1 == 1 &&
                   BF_ENGINE_STATE_HUNG == 2,
               "DXGK_ENGINE_STATE");
_Static_assert(sizeof(BfUserModeSubmissionCaps) == 28 &&
                   MEMBER(BfUserModeSubmissionCaps, doorbellSizeInBytes, 4) &&
                   MEMBER(BfUserModeSubmissionCaps, secondaryDoorbellSizeInBytes, 8),
               "DXGK_USERMODESUBMISSION_CAPS");

/* With a setting, whoever reads it: the layer, or bfAttachDevice. */
#define SETTING_TEST(name_, key_, value_)                                                          \
    static void name_##_on(struct fixture *f);                                                     \
    TEST(name_)                                                                                    \
    {                                                                                              \
        struct fixture f;                                                                          \
        setenv("VK_BELFRY_MULTI_ENGINE_" key_, value_, 1);                                         \
        fixture_open(&f, NULL);                                                                    \
        unsetenv("VK_BELFRY_MULTI_ENGINE_" key_);                                                  \
        name_##_on(&f);                                                                            \
        fixture_close(&f);                                                                         \
    }                                                                                              \
    static void name_##_on(struct fixture *f)

FIXTURE_TEST(every_type_of_queue_takes_work_by_ring)
{
    BfUserModeSubmissionCaps caps;
    assert_success(bfGetUserModeSubmissionCaps(f->bf, &caps));
    assert_int_equal(caps.flags, 0);
    assert_int_equal(caps.doorbellSizeInBytes, sysconf(_SC_PAGESIZE));
    for (int i = 0; i < 3; i++) {
        BfNodeMetadataFlags flags;
        struct user_mode u;
        assert_success(bfGetNodeMetadata(f->bf, queue_types[i], &flags));
        assert_int_equal(flags, BF_NODE_METADATA_USER_MODE_SUBMISSION_BIT);
        user_mode_open(f, &u, queue_types[i], RING);
        user_mode_execute(&u, register_write(f, &u, (uint32_t)i, 9, 0));
        user_mode_await(&u);
        assert_int_equal(read_word(f, (uint32_t)i), 9);
        user_mode_close(&u);
    }
}

/* In a process of its own, which is left as it stands: 0, the first check that failed, or 77. */
static int without_memfd(void)
{
    struct sock_filter lines[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_memfd_create, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    const struct sock_fprog filter = {sizeof(lines) / sizeof(*lines), lines};
    const BfCommandQueueCreateInfo info = {BF_TYPE(COMMAND_QUEUE_CREATE_INFO),
                                           .flags = BF_COMMAND_QUEUE_USER_MODE_SUBMISSION_BIT};
    BfUserModeSubmissionCaps caps;
    BfNodeMetadataFlags flags = 1;
    BfCommandQueue queue;
    struct fixture f;
    fixture_open(&f, NULL);
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
        syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &filter) != 0)
        return 77;
    if (bfGetUserModeSubmissionCaps(f.bf, &caps) != VK_ERROR_FEATURE_NOT_PRESENT)
        return 1;
    if (bfGetNodeMetadata(f.bf, direct, &flags) != VK_SUCCESS || flags != 0)
        return 2;
    if (bfCreateCommandQueue(f.bf, &info, &queue) != VK_ERROR_FEATURE_NOT_PRESENT)
        return 3;
    make_queue(&f, direct); /* as ever */
    return 0;
}

TEST(without_memfd_queues_are_the_ordinary_ones_alone)
{
    const pid_t child = fork();
    int status;
    if (child == 0)
        _exit(without_memfd());
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    TEST_NEEDS(WEXITSTATUS(status) != 77, "seccomp");
    assert_int_equal(WEXITSTATUS(status), 0);
}

/* The handlers of signals are the program's: none runs on the doorbell thread. */
FIXTURE_TEST(the_thread_blocks_signals)
{
    struct user_mode u;
    user_mode_open(f, &u, direct, RING);
    uint32_t found;
    const unsigned long blocked = doorbell_threads("SigBlk: %lx", &found);
    assert_true(blocked & 1ul << (SIGUSR1 - 1) && blocked & 1ul << (SIGALRM - 1));
    assert_int_equal(found, 1);
    user_mode_close(&u);
}

/* The document's pseudo-code, with its two slips mended: a doorbell is connected by its own handle,
 * and a ring that is told to be tried again is not filled again. [UMS 11] */
FIXTURE_TEST(the_documents_program_runs)
{
    struct user_mode u;
    user_mode_open(f, &u, direct, RING);
    const uint32_t buffer = register_write(f, &u, 3, 33, 0);
    const BfConnectDoorbell connect = {u.doorbell.hDoorbell, 0};
    uint64_t *write = &u.ring.pControl->write;
    bool appended = false;
    uint64_t status;
    do {
        assert_success(bfConnectDoorbell(&connect));
        status = user_mode_status(&u);
        assert_int_not_equal(status, BF_DOORBELL_STATUS_DISCONNECTED_ABORT);
        if (!appended) {
            BfRingEntry entry = user_mode_entry(&u);
            entry.commandBuffer = buffer;
            __atomic_store_n(u.writer.pLastQueued, u.last, __ATOMIC_RELEASE);
            u.ring.pEntries[*write % RING] = entry;
            __atomic_store_n(write, *write + 1, __ATOMIC_RELEASE);
            appended = true;
        }
        __atomic_store_n(u.writer.pDoorbell, *write, __ATOMIC_RELEASE);
        __atomic_signal_fence(__ATOMIC_SEQ_CST);
        status = user_mode_status(&u);
        if (status == BF_DOORBELL_STATUS_CONNECTED_NOTIFY) {
            const BfNotifyWorkSubmission notify = {u.doorbell.hDoorbell, 0};
            assert_success(bfNotifyWorkSubmission(&notify));
        }
    } while (status == BF_DOORBELL_STATUS_DISCONNECTED_RETRY);
    user_mode_await(&u);
    assert_int_equal(read_word(f, 3), 33);
    user_mode_close(&u);
}

/* Which page of the writer's is stored to first, and so on: they begin without the right to it. */
static struct {
    char log[8], *pages[4];
    uint32_t count;
} stores;

static void store_seen(int number, siginfo_t *info, void *context)
{
    const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    const uintptr_t at = (uintptr_t)info->si_addr & ~(page - 1);
    int i = 0;
    while (i < 4 && at != (uintptr_t)stores.pages[i])
        i++;
    if (i == 4 || stores.count == sizeof(stores.log) - 1)
        signal(number, SIG_DFL);
    else
        stores.log[stores.count++] = "elwd"[i];
    mprotect((void *)at, page, PROT_READ | PROT_WRITE);
}

/* Entry, last-queued value, write pointer, doorbell [UMS 9]; and a call only if the status asks for
 * one, which is refused here: there is no such doorbell. */
TEST(the_steps_come_in_order_and_call_nobody)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    const struct sigaction seen = {.sa_sigaction = store_seen, .sa_flags = SA_SIGINFO};
    struct sigaction before;
    uint64_t status;
    for (int i = 0; i < 4; i++) {
        stores.pages[i] = mmap(NULL, page, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        assert_true(stores.pages[i] != MAP_FAILED);
    }
    BfRingWriter writer = {.pEntries = (BfRingEntry *)(void *)stores.pages[0],
                           .pLastQueued = (uint64_t *)(void *)stores.pages[1],
                           .pControl = (BfRingControl *)(void *)stores.pages[2],
                           .pDoorbell = (uint64_t *)(void *)stores.pages[3],
                           .pStatus = &status,
                           .entryCount = page / sizeof(BfRingEntry)};
    assert_int_equal(sigaction(SIGSEGV, &seen, &before), 0);
    for (status = BF_DOORBELL_STATUS_CONNECTED; status <= BF_DOORBELL_STATUS_DISCONNECTED_ABORT;
         status++) {
        const BfRingEntry entry = {.progressValue = status + 7};
        memset(&stores.log, 0, sizeof(stores.log));
        stores.count = 0;
        for (int i = 0; i < 4; i++)
            mprotect(stores.pages[i], page, PROT_READ);
        assert_int_equal(bfSubmitToRing(&writer, &entry), status == BF_DOORBELL_STATUS_CONNECTED
                                                              ? VK_SUCCESS
                                                              : VK_ERROR_VALIDATION_FAILED_EXT);
        assert_string_equal(stores.log, "elwd");
        assert_int_equal(*writer.pLastQueued, status + 7);
        assert_int_equal(*writer.pDoorbell, status + 1);
    }
    sigaction(SIGSEGV, &before, NULL);
    for (int i = 0; i < 4; i++)
        munmap(stores.pages[i], page);
}

/* One physical doorbell for four queues: each ring takes it from another. */
SETTING_TEST(doorbells_are_taken_away_and_nothing_is_lost, "DOORBELLS", "1")
{
    struct user_mode u[4];
    for (uint32_t i = 0; i < 4; i++)
        user_mode_open(f, &u[i], queue_types[i % 3], RING);
    for (uint32_t turn = 0; turn < TIMES(100); turn++) {
        for (uint32_t i = 0; i < 4; i++) {
            user_mode_execute(&u[i], register_write(f, &u[i], 4 * turn + i, i + 1, 0));
            assert_int_equal(user_mode_status(&u[(i + 1) % 4]),
                             BF_DOORBELL_STATUS_DISCONNECTED_RETRY);
        }
    }
    for (uint32_t i = 0; i < 4; i++)
        user_mode_await(&u[i]);
    for (uint32_t i = 0; i < 4 * TIMES(100); i++)
        assert_int_equal(read_word(f, i), i % 4 + 1);
    for (uint32_t i = 0; i < 4; i++) {
        assert_int_equal(u[i].ring.pControl->read, TIMES(100));
        user_mode_close(&u[i]);
    }
}

SETTING_TEST(one_global_doorbell_serves_all, "DOORBELL_MODEL", "global")
{
    struct user_mode u[8];
    for (uint32_t i = 0; i < 8; i++)
        user_mode_open(f, &u[i], queue_types[i % 3], RING);
    for (uint32_t turn = 0; turn < TIMES(100); turn++) {
        for (uint32_t i = 0; i < 8; i++)
            user_mode_submit(&u[i], user_mode_entry(&u[i]));
    }
    for (uint32_t i = 0; i < 8; i++) {
        user_mode_await(&u[i]);
        assert_true(user_mode_status(&u[i]) <= BF_DOORBELL_STATUS_CONNECTED_NOTIFY);
        user_mode_close(&u[i]);
    }
}

/* ------------------------------------------------------------------------------- Suspended -- */

SETTING_TEST(a_suspended_queue_is_filled_and_not_read, "DOORBELLS", "1")
{
    struct user_mode u, other;
    user_mode_open(f, &u, direct, RING);
    user_mode_open(f, &other, direct, RING);
    user_mode_submit(&u, user_mode_entry(&u));
    user_mode_await(&u);
    assert_success(bfSuspendCommandQueue(u.queue));
    assert_success(bfSuspendCommandQueue(u.queue));
    assert_true(user_mode_status(&u) <= BF_DOORBELL_STATUS_CONNECTED_NOTIFY); /* stays */
    for (int i = 0; i < RING; i++)
        user_mode_submit(&u, user_mode_entry(&u));
    BfRingEntry more = user_mode_entry(&u);
    assert_int_equal(bfSubmitToRing(&u.writer, &more), VK_NOT_READY);
    /* Its doorbell is taken, also while others are at work. */
    user_mode_submit(&other, user_mode_entry(&other));
    user_mode_await(&other);
    assert_int_equal(user_mode_status(&u), BF_DOORBELL_STATUS_DISCONNECTED_RETRY);
    assert_success(bfRingDoorbell(&u.writer)); /* and connected again */
    user_mode_submit(&other, user_mode_entry(&other));
    user_mode_await(&other);
    assert_success(bfResumeCommandQueue(u.queue));
    assert_int_equal(u.ring.pControl->read, 1);
    assert_value(u.progress, 1);
    assert_success(bfResumeCommandQueue(u.queue));
    await_fence(u.progress, u.last - 1);
    assert_bad_input(bfResumeCommandQueue(u.queue));
    user_mode_close(&u);
    user_mode_close(&other);
}

/* DT-1: more than a thread reads of one ring before it looks at the next. */
FIXTURE_TEST(a_ring_that_was_filled_at_once_is_read_to_its_end)
{
    enum { LONG_RING = 1024 };
    struct user_mode u;
    user_mode_open(f, &u, direct, LONG_RING);
    assert_success(bfSuspendCommandQueue(u.queue));
    for (uint32_t i = 0; i < LONG_RING; i++)
        user_mode_submit(&u, user_mode_entry(&u));
    assert_success(bfResumeCommandQueue(u.queue));
    user_mode_await(&u);
    assert_int_equal(u.ring.pControl->read, LONG_RING);
    user_mode_close(&u);
}

/* DT-3 */
FIXTURE_TEST(work_of_suspended_queues_keeps_nobody_awake)
{
    struct user_mode u;
    user_mode_open(f, &u, direct, RING);
    assert_success(bfSuspendCommandQueue(u.queue));
    for (int i = 0; i < 3; i++) {
        user_mode_submit(&u, user_mode_entry(&u));
        doorbell_settle(&u);
    }
    assert_int_equal(u.ring.pControl->read, 0);
    assert_success(bfResumeCommandQueue(u.queue));
    user_mode_await(&u);
    user_mode_close(&u);
}

/* ------------------------------------------------------------------- Resizing and destroying -- */

FIXTURE_TEST(a_new_ring_takes_over_behind_the_old_one)
{
    struct user_mode u;
    user_mode_open(f, &u, direct, RING);
    uint32_t turn = 0;
    for (uint32_t size = RING; size <= 8 * RING; size *= 2) {
        for (uint32_t i = 0; i < size / 2; i++, turn++)
            user_mode_execute(&u, register_write(f, &u, turn, turn + 1, 0));
        struct user_mode old = u;
        user_mode_make_doorbell(f, &u, 2 * size,
                                BF_CREATE_DOORBELL_RESIZE_RING_BUFFER_OPERATION_BIT);
        assert_int_equal(user_mode_status(&old), BF_DOORBELL_STATUS_DISCONNECTED_ABORT);
        BfAbortReason reason;
        assert_success(bfGetAbortReason(old.doorbell.hDoorbell, &reason, NULL));
        assert_int_equal(reason, BF_ABORT_REASON_RETIRED);
        user_mode_close(&old);
    }
    user_mode_submit(&u, user_mode_entry(&u));
    user_mode_await(&u);
    for (uint32_t i = 0; i < turn; i++)
        assert_int_equal(read_word(f, i), i + 1);
    user_mode_close(&u);
}

/* What is in the ring of a suspended queue isn't lost with it. */
FIXTURE_TEST(a_suspended_queue_gets_no_other_ring_before_its_own_is_read)
{
    struct user_mode u;
    user_mode_open(f, &u, direct, RING);
    assert_success(bfRingDoorbell(&u.writer));
    assert_success(bfSuspendCommandQueue(u.queue));
    doorbell_settle(&u);
    BfRingEntry entry = user_mode_entry(&u);
    entry.commandBuffer = register_write(f, &u, 0, 7, 0);
    assert_success(bfAppendToRing(&u.writer, &entry)); /* and is not rung */
    BfRing ring = {BF_TYPE(RING)};
    const BfRingCreateInfo info = {BF_TYPE(RING_CREATE_INFO), .entryCount = RING};
    assert_success(bfCreateRing(f->bf, &info, &ring));
    BfCreateDoorbell other = {.hHwQueue = bfGetCommandQueueKmtHandle(u.queue),
                              .hRingBuffer = ring.hRingBuffer,
                              .flags = BF_CREATE_DOORBELL_RESIZE_RING_BUFFER_OPERATION_BIT};
    assert_int_equal(bfCreateDoorbell(&other), VK_NOT_READY);
    assert_success(bfResumeCommandQueue(u.queue));
    user_mode_await(&u);
    assert_int_equal(read_word(f, 0), 7);
    assert_success(bfSuspendCommandQueue(u.queue)); /* with nothing in it */
    assert_success(bfCreateDoorbell(&other));
    const BfDestroyDoorbell destroy = {other.hDoorbell};
    assert_success(bfDestroyDoorbell(&destroy));
    assert_success(bfDestroyRing(ring.hRingBuffer));
    user_mode_close(&u);
}

/* But it goes with the doorbell: nothing that the queue waits for can come any more. */
FIXTURE_TEST(what_a_suspended_queue_has_goes_with_its_doorbell)
{
    struct user_mode u;
    user_mode_open(f, &u, direct, RING);
    assert_success(bfSuspendCommandQueue(u.queue));
    user_mode_execute(&u, register_write(f, &u, 0, 7, 0));
    user_mode_close(&u);
    fixture_settle(f);
    assert_int_equal(read_word(f, 0), 0);
    assert_value(u.progress, 0);
}

static void assert_mapped(const void *memory)
{
    const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    unsigned char resident;
    assert_int_equal(mincore((void *)((uintptr_t)memory & ~(page - 1)), page, &resident), 0);
}

/* What has been written runs, whichever of the objects goes first. RB-2 */
FIXTURE_TEST(what_was_written_survives_doorbell_ring_and_queue)
{
    for (int first = 0; first < 3; first++) {
        struct user_mode u;
        user_mode_open(f, &u, direct, RING);
        BfFence drain = make_fence(f, 0);
        const BfDestroyDoorbell destroy = {u.doorbell.hDoorbell};
        for (uint32_t i = 0; i < RING / 2; i++)
            user_mode_execute(&u, register_write(f, &u, i, 100u * (uint32_t)first + i, 0));
        BfRingEntry entry = user_mode_entry(&u);
        entry.signalFence = register_fence(&u, drain);
        entry.signalValue = 1;
        assert_success(bfAppendToRing(&u.writer, &entry)); /* nobody has rung */
        if (first == 1) {
            assert_success(bfDestroyRing(u.ring.hRingBuffer));
            assert_mapped(u.ring.pControl);
        }
        if (first == 2)
            drop_queue(f, u.queue);
        assert_success(bfDestroyDoorbell(&destroy));
        await_fence(drain, 1);
        for (uint32_t i = 0; i < RING / 2; i++)
            assert_int_equal(read_word(f, i), 100u * (uint32_t)first + i);
        if (first != 1) {
            assert_mapped(u.ring.pEntries);
            assert_success(bfDestroyRing(u.ring.hRingBuffer));
        }
        assert_bad_input(bfDestroyDoorbell(&destroy));
        assert_bad_input(bfDestroyRing(u.ring.hRingBuffer));
    }
}

/* DH-1 */
FIXTURE_TEST(handles_of_what_is_gone_name_nothing_else)
{
    BfKmtHandle seen[200];
    for (int i = 0; i < 200; i++) {
        BfRing ring = {BF_TYPE(RING)};
        const BfRingCreateInfo info = {BF_TYPE(RING_CREATE_INFO), .entryCount = RING};
        assert_success(bfCreateRing(f->bf, &info, &ring));
        seen[i] = ring.hRingBuffer;
        for (int j = 0; j < i; j++)
            assert_int_not_equal(seen[j], seen[i]);
        assert_bad_input(bfDestroyRing(ring.hRingBufferControl)); /* of another kind */
        assert_success(bfDestroyRing(ring.hRingBuffer));
        assert_bad_input(bfDestroyRing(ring.hRingBuffer));
    }
    assert_success(bfDestroyRing(0));
}

/* The driver has no memory for the GPU's store of a native fence's value. */
TEST(no_memory_for_an_entry_ends_the_queue)
{
    if (!fixture_is_icd())
        return;
    struct fixture f;
    struct user_mode u;
    fixture_open(&f, &fixture_plain);
    user_mode_open(&f, &u, direct, RING);
    BfRingEntry entry = user_mode_entry(&u);
    entry.signalFence = register_fence(&u, make_native_fence(&f, 0));
    entry.signalValue = 1;
    BfAbortReason reason;
    assert_success(bfGetAbortReason(u.doorbell.hDoorbell, &reason, NULL));
    assert_int_equal(reason, BF_ABORT_REASON_NONE);
    f.icd.set_fault(NULL, 1, VK_ERROR_OUT_OF_HOST_MEMORY);
    VkResult result = bfSubmitToRing(&u.writer, &entry);
    assert_true(result == VK_SUCCESS || result == VK_ERROR_UNKNOWN); /* it may have ended by then */
    assert_aborted(&u, BF_ABORT_REASON_OUT_OF_MEMORY, 0);
    assert_ended(&f, &u);
    fixture_close(&f);
}

FIXTURE_TEST(bad_input_is_refused)
{
    struct user_mode u;
    user_mode_open(f, &u, direct, RING);
    BfCommandQueue plain = make_queue(f, direct);
    BfRing ring = {BF_TYPE(RING)};
    static const uint32_t sizes[] = {0, 1, 32, 63, 65, 96, 131072};
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        const BfRingCreateInfo info = {BF_TYPE(RING_CREATE_INFO), .entryCount = sizes[i]};
        assert_bad_input(bfCreateRing(f->bf, &info, &ring));
    }
    const BfRingCreateInfo info = {BF_TYPE(RING_CREATE_INFO), .entryCount = RING};
    assert_success(bfCreateRing(f->bf, &info, &ring));
    const BfKmtHandle queue = bfGetCommandQueueKmtHandle(u.queue), buffer = ring.hRingBuffer;
    BfCreateDoorbell bad[] = {
        {.hHwQueue = 0, .hRingBuffer = buffer},
        {.hHwQueue = queue, .hRingBuffer = buffer}, /* it has one */
        {.hHwQueue = queue, .hRingBuffer = u.ring.hRingBuffer, .flags = 2},
        {.hHwQueue = queue,
         .hRingBuffer = buffer,
         .flags = BF_CREATE_DOORBELL_REQUIRE_SECONDARY_CPU_VA_BIT},
        {.hHwQueue = queue, .hRingBuffer = buffer, .flags = 4},
        {.hHwQueue = queue, .hRingBuffer = buffer, .flags = 2, .privateDriverDataSize = 17},
        {.hHwQueue = queue,
         .hRingBuffer = buffer,
         .flags = 2,
         .hRingBufferControl = u.ring.hRingBufferControl},
        {.hHwQueue = queue, .hRingBuffer = ring.hRingBufferControl, .flags = 2},
    };
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        assert_bad_input(bfCreateDoorbell(&bad[i]));
    assert_bad_input(bfCreateDoorbell(NULL));
    const BfConnectDoorbell connects[] = {{0, 0}, {u.doorbell.hDoorbell, 1}, {queue, 0}};
    for (int i = 0; i < 3; i++)
        assert_bad_input(bfConnectDoorbell(&connects[i]));
    const BfNotifyWorkSubmission notify = {u.doorbell.hDoorbell, 1};
    assert_bad_input(bfNotifyWorkSubmission(&notify));
    assert_int_equal(bfGetCommandQueueKmtHandle(plain), 0);
    uint32_t index;
    assert_bad_input(bfRegisterFence(plain, make_fence(f, 0), &index));
    assert_bad_input(bfRegisterFence(u.queue, NULL, &index));
    assert_bad_input(bfRegisterCommandBuffer(u.queue, VK_NULL_HANDLE, 0, &index));
    assert_bad_input(bfRegisterCommandBuffer(u.queue, write_word(f, plain, 0, 1), 2, &index));
    const BfCommandQueueCreateInfo native = {BF_TYPE(COMMAND_QUEUE_CREATE_INFO),
                                             .flags = BF_COMMAND_QUEUE_NATIVE_PROGRESS_FENCE_BIT};
    BfCommandQueue none;
    assert_bad_input(bfCreateCommandQueue(f->bf, &native, &none));
    assert_success(bfDestroyRing(ring.hRingBuffer));
    user_mode_submit(&u, user_mode_entry(&u)); /* all the same */
    user_mode_await(&u);
    user_mode_close(&u);
}

/* Was the call refused, with one line that names it? Begun with lines_begin. */
static void check_refused(VkResult result, const char *call, uint32_t flags)
{
    char line[256];
    const uint32_t lines = lines_end(line, sizeof(line));
    if (result != VK_ERROR_VALIDATION_FAILED_EXT || lines != 1 || !strstr(line, call))
        fail_msg("%s with flags 0x%x: result %d, %u lines", call, flags, result, lines);
}

/* Each bit of the calls' flags has an effect, or is refused and changes nothing. */
FIXTURE_TEST(unknown_flags_are_refused)
{
    struct user_mode u;
    user_mode_open(f, &u, direct, RING);
    BfCommandQueue queue = NULL;
    const BfCommandQueueCreateInfo info = {BF_TYPE(COMMAND_QUEUE_CREATE_INFO),
                                           .flags = BF_COMMAND_QUEUE_USER_MODE_SUBMISSION_BIT};
    assert_success(bfCreateCommandQueue(f->bf, &info, &queue));
    BfRing ring = {BF_TYPE(RING)};
    const BfRingCreateInfo size = {BF_TYPE(RING_CREATE_INFO), .entryCount = RING};
    assert_success(bfCreateRing(f->bf, &size, &ring));
    VkCommandBuffer commands = write_word(f, u.queue, 0, 1);
    BfCreateDoorbell create = {.hHwQueue = bfGetCommandQueueKmtHandle(queue),
                               .hRingBuffer = ring.hRingBuffer};
    for (uint32_t bit = 1; bit; bit <<= 1) {
        if (bit != BF_CREATE_DOORBELL_RESIZE_RING_BUFFER_OPERATION_BIT) {
            create.flags = bit;
            lines_begin();
            check_refused(bfCreateDoorbell(&create), "bfCreateDoorbell", bit);
        }
        if (bit != BF_REGISTER_COMMAND_BUFFER_SIMULTANEOUS_USE_BIT) {
            uint32_t index = 77;
            lines_begin();
            check_refused(bfRegisterCommandBuffer(u.queue, commands, bit, &index),
                          "bfRegisterCommandBuffer", bit);
            assert_int_equal(index, 77);
        }
        const BfConnectDoorbell connect = {u.doorbell.hDoorbell, bit};
        lines_begin();
        check_refused(bfConnectDoorbell(&connect), "bfConnectDoorbell", bit);
        const BfNotifyWorkSubmission notify = {u.doorbell.hDoorbell, bit};
        lines_begin();
        check_refused(bfNotifyWorkSubmission(&notify), "bfNotifyWorkSubmission", bit);
    }
    create.flags = 0;
    assert_success(bfCreateDoorbell(&create)); /* the ring isn't taken */
    assert_success(bfDestroyDoorbell(&(BfDestroyDoorbell){create.hDoorbell}));
    assert_success(bfDestroyRing(ring.hRingBuffer));
    bfDestroyCommandQueue(queue);
    /* Those of an entry end the queue: the fence gets that far either way. */
    BfRingEntry entry = user_mode_entry(&u);
    BfAbortReason reason = BF_ABORT_REASON_NONE;
    uint64_t where;
    entry.flags = BF_RING_ENTRY_BARRIER_BIT << 1;
    bfSubmitToRing(&u.writer, &entry);
    user_mode_await(&u);
    assert_success(bfGetAbortReason(u.doorbell.hDoorbell, &reason, &where));
    assert_int_equal(reason, BF_ABORT_REASON_ENTRY);
    user_mode_close(&u);
}

/* ------------------------------------------------------------------------------------ Loss -- */

FIXTURE_TEST(a_lost_device_aborts_every_doorbell)
{
    struct user_mode u[3];
    BfFence gate = make_fence(f, 0);
    for (int i = 0; i < 3; i++) {
        user_mode_open(f, &u[i], queue_types[i], RING);
        BfRingEntry entry = user_mode_entry(&u[i]);
        entry.waitFence = register_fence(&u[i], gate);
        entry.waitValue = 1;
        if (i > 0) /* a ring in which nothing is has nobody who finds out by reading it */
            user_mode_submit(&u[i], entry);
    }
    assert_success(bfRemoveDevice(f->bf));
    f->lost = f->layered; /* the driver isn't told */
    for (int i = 0; i < 3; i++) {
        const BfConnectDoorbell connect = {u[i].doorbell.hDoorbell, 0};
        BfAbortReason reason;
        assert_int_equal(user_mode_status(&u[i]), BF_DOORBELL_STATUS_DISCONNECTED_ABORT);
        assert_value(u[i].progress, UINT64_MAX);
        assert_int_equal(bfConnectDoorbell(&connect), VK_ERROR_DEVICE_LOST);
        BfRingEntry entry = user_mode_entry(&u[i]);
        assert_int_equal(bfSubmitToRing(&u[i].writer, &entry), VK_ERROR_DEVICE_LOST);
        assert_success(bfGetAbortReason(u[i].doorbell.hDoorbell, &reason, NULL));
        assert_int_equal(reason, BF_ABORT_REASON_DEVICE_LOST);
        user_mode_close(&u[i]);
    }
}

/* Mappings of rings, and of doorbells with their statuses. */
static uint32_t mappings(void)
{
    char line[512];
    uint32_t count = 0;
    FILE *maps = fopen("/proc/self/maps", "r");
    assert_non_null(maps);
    while (fgets(line, sizeof(line), maps))
        count += strstr(line, "memfd:belfry ring") || strstr(line, "memfd:belfry doorbell");
    fclose(maps);
    return count;
}

/* What the program leaves goes with the device. [UMS 4] */
TEST(rings_and_doorbells_go_with_the_device)
{
    struct user_mode u[3];
    struct fixture f;
    const uint32_t before = mappings();
    fixture_open(&f, NULL);
    for (int i = 0; i < 3; i++) {
        user_mode_open(&f, &u[i], queue_types[i], RING);
        user_mode_submit(&u[i], user_mode_entry(&u[i]));
        user_mode_await(&u[i]);
    }
    assert_true(mappings() >= before + 9);
    fixture_close(&f);
    assert_int_equal(mappings(), before);
}

static _Atomic bool detached;

/* The GPU goes on once somebody waits for it, or the device has gone. */
static void go_on(void *f)
{
    while (!detached && !((struct fixture *)f)->icd.sleepers())
        sched_yield();
    ((struct fixture *)f)->icd.resume();
}

/* DT-7: a normal end, here from D3, in which no ring is read. (Under the layer nobody can tell: the
 * memory goes with the device.) */
FIXTURE_TEST(what_is_in_a_ring_runs_before_the_device_goes)
{
    if (f->layered)
        return;
    struct user_mode u, suspended;
    struct thread waker;
    user_mode_open(f, &u, direct, RING);
    user_mode_open(f, &suspended, direct, RING);
    assert_success(bfSuspendCommandQueue(suspended.queue));
    assert_success(bfSetDevicePowerState(f->bf, BF_DEVICE_POWER_STATE_D3));
    for (uint32_t i = 0; i <= RING; i++) {
        struct user_mode *to = i < RING ? &u : &suspended;
        BfRingEntry entry = user_mode_entry(to);
        entry.commandBuffer = register_write(f, to, i, i + 1, 0);
        assert_success(bfAppendToRing(&to->writer, &entry));
    }
    if (fixture_is_icd()) {
        detached = false;
        f->icd.pause();
        thread_start(&waker, go_on, f);
    }
    bfDetachDevice(f->bf);
    const uint32_t last = read_word(f, RING - 1);
    detached = true;
    if (fixture_is_icd())
        thread_join(&waker);
    assert_int_equal(last, RING); /* it waits for what it has handed over */
    for (uint32_t i = 0; i < RING; i++)
        assert_int_equal(read_word(f, i), i + 1);
    assert_int_equal(read_word(f, RING), 0);
    f->queue_count = f->fence_count = 0;
    assert_success(fixture_attach(f));
}

int main(int argc, char **argv)
{
    return fixture_main(argc, argv);
}
