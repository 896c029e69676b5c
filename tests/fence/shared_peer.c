/* SPDX-License-Identifier: MIT */
/* Another process with a device of its own, which does what it is told. */
#include "shared_peer.h"

#include <dirent.h>
#include <linux/filter.h>
#include <linux/futex.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "support/asleep.h"

#define PEER_SOCKET 3 /* in the peer */

extern char **environ;

/* ---------------------------------------------------------------------------------- Messages -- */

/* False: there is nobody at the other end. */
static bool put(int to, const void *what, size_t size, int fd)
{
    struct iovec part = {(void *)(uintptr_t)what, size};
    union {
        struct cmsghdr header;
        char room[CMSG_SPACE(sizeof(int))];
    } control = {0};
    struct msghdr packet = {.msg_iov = &part, .msg_iovlen = 1};
    if (fd != -1) {
        packet.msg_control = &control;
        packet.msg_controllen = sizeof(control);
        struct cmsghdr *header = CMSG_FIRSTHDR(&packet);
        header->cmsg_level = SOL_SOCKET;
        header->cmsg_type = SCM_RIGHTS;
        header->cmsg_len = CMSG_LEN(sizeof(int));
        memcpy(CMSG_DATA(header), &fd, sizeof(fd));
    }
    ssize_t n;
    do {
        n = sendmsg(to, &packet, MSG_NOSIGNAL);
    } while (n == -1 && errno == EINTR);
    return n == (ssize_t)size;
}

static bool get(int from, void *what, size_t size, int *fd)
{
    struct iovec part = {what, size};
    union {
        struct cmsghdr header;
        char room[CMSG_SPACE(sizeof(int))];
    } control = {0};
    struct msghdr packet = {.msg_iov = &part,
                            .msg_iovlen = 1,
                            .msg_control = &control,
                            .msg_controllen = sizeof(control)};
    ssize_t n;
    do {
        n = recvmsg(from, &packet, MSG_CMSG_CLOEXEC);
    } while (n == -1 && errno == EINTR);
    *fd = -1;
    struct cmsghdr *header = n > 0 ? CMSG_FIRSTHDR(&packet) : NULL;
    if (header)
        memcpy(fd, CMSG_DATA(header), sizeof(*fd));
    return n == (ssize_t)size;
}

/* -------------------------------------------------------------------------------- The test's -- */

void peer_start(struct peer *peer)
{
    int ends[2];
    assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), 0);
    posix_spawn_file_actions_t actions;
    assert_int_equal(posix_spawn_file_actions_init(&actions), 0);
    assert_int_equal(posix_spawn_file_actions_adddup2(&actions, ends[1], PEER_SOCKET), 0);
    char name[] = "peer", argument[] = "--peer";
    char *const arguments[] = {name, argument, NULL};
    assert_int_equal(posix_spawn(&peer->pid, "/proc/self/exe", &actions, NULL, arguments, environ),
                     0);
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);
    peer->socket = ends[0];
}

BfShareFlags *sharing(void)
{
    static BfShareFlags flags;
    static bool known;
    if (!known && getenv("BELFRY_TEST_TRUSTED"))
        flags = BF_SHARE_TRUSTED_BIT;
    known = true;
    return &flags;
}

void peer_tell(struct peer *peer, struct order order, int fd)
{
    order.share |= *sharing();
    assert_true(put(peer->socket, &order, sizeof(order), fd));
}

struct answer peer_answer(struct peer *peer)
{
    struct answer answer;
    int fd;
    if (!get(peer->socket, &answer, sizeof(answer), &fd))
        fail_msg("the peer has come to harm");
    answer.fd = fd;
    return answer;
}

uint64_t peer_do(struct peer *peer, enum peer_op op, uint32_t fence, uint64_t value)
{
    peer_tell(peer, (struct order){.op = op, .fence = fence, .value = value}, -1);
    struct answer answer = peer_answer(peer);
    assert_success(answer.result);
    return answer.value;
}

static int await_end(struct peer *peer)
{
    int status;
    close(peer->socket);
    assert_int_equal(waitpid(peer->pid, &status, 0), peer->pid);
    return status;
}

void peer_stop(struct peer *peer)
{
    peer_tell(peer, (struct order){.op = PEER_QUIT}, -1);
    assert_int_equal(await_end(peer), 0);
}

void peer_kill(struct peer *peer)
{
    assert_int_equal(kill(peer->pid, SIGKILL), 0);
    assert_true(WIFSIGNALED(await_end(peer)));
}

void peer_give(struct peer *peer, BfFence fence)
{
    int fd = export_fence(fence);
    peer_tell(peer, (struct order){.op = PEER_OPEN}, fd);
    close(fd);
    assert_success(peer_answer(peer).result);
}

BfFence peer_take(struct peer *peer, struct fixture *f, uint64_t value, BfSyncObjectFlags flags)
{
    peer_tell(peer, (struct order){.op = PEER_CREATE, .value = value, .flags = flags}, -1);
    struct answer answer = peer_answer(peer);
    assert_success(answer.result);
    assert_int_not_equal(answer.fd, -1);
    BfFence fence = open_fence(f, answer.fd);
    close(answer.fd);
    return fence;
}

void peer_arm(struct peer *peer, uint32_t event, uint64_t value)
{
    peer_tell(peer, (struct order){.op = PEER_SET_EVENT, .event = event, .value = value}, -1);
    assert_success(peer_answer(peer).result);
}

bool peer_took(struct peer *peer, uint32_t event)
{
    peer_tell(peer, (struct order){.op = PEER_TAKE_EVENT, .event = event}, -1);
    return peer_answer(peer).value;
}

void peer_await(struct peer *peer, uint32_t event)
{
    peer_tell(peer, (struct order){.op = PEER_AWAIT_EVENT, .event = event}, -1);
    assert_success(peer_answer(peer).result);
}

BfFence make_shared(struct fixture *f, uint64_t value, BfSyncObjectFlags flags)
{
    const BfFenceCreateInfo info = {BF_TYPE(FENCE_CREATE_INFO), .initialValue = value,
                                    .flags = BF_FENCE_SHARED_BIT, .pNext = BF_SYNC_OBJECT(flags)};
    BfFence fence = NULL;
    assert_success(bfCreateFence(f->bf, &info, &fence));
    assert_true(f->fence_count < FIXTURE_OBJECTS);
    return f->made_fences[f->fence_count++] = fence;
}

BfFence open_fence(struct fixture *f, int fd)
{
    BfFence fence = NULL;
    assert_success(bfOpenFenceFd(f->bf, fd, *sharing(), &fence));
    assert_true(f->fence_count < FIXTURE_OBJECTS);
    return f->made_fences[f->fence_count++] = fence;
}

int export_fence(BfFence fence)
{
    int fd = -1;
    assert_success(bfExportFenceFd(fence, *sharing(), &fd));
    assert_int_not_equal(fd, -1);
    return fd;
}

BfFence open_again(struct fixture *f, BfFence fence)
{
    int fd = export_fence(fence);
    BfFence again = open_fence(f, fd);
    close(fd);
    return again;
}

uint32_t open_descriptors(void)
{
    uint32_t n = 0;
    DIR *folder = opendir("/proc/self/fd");
    assert_non_null(folder);
    while (readdir(folder))
        n++;
    closedir(folder);
    return n;
}

uint32_t mapped_pages(void)
{
    return mapped("belfry fence");
}

void await_freed(uint32_t descriptors, uint32_t pages)
{
    while (open_descriptors() > descriptors || mapped_pages() > pages)
        sched_yield();
}

uint32_t mapped(const char *name)
{
    uint32_t n = 0;
    char line[512];
    FILE *maps = fopen("/proc/self/maps", "r");
    assert_non_null(maps);
    while (fgets(line, sizeof(line), maps))
        n += strstr(line, name) != NULL;
    fclose(maps);
    return n;
}

void open_trusting(struct fixture *f)
{
    *sharing() = BF_SHARE_TRUSTED_BIT;
    fixture_open(f, NULL);
}

uint64_t native_waits(struct fixture *f)
{
    return counters_of(f).peerWaits;
}

void await_native_waits(struct fixture *f, uint64_t count)
{
    while (native_waits(f) < count)
        sched_yield();
    assert_int_equal(native_waits(f), count);
}

void promise(struct peer *peer, uint32_t fence, uint64_t value)
{
    peer_do(peer, PEER_STALL, 0, 0);
    peer_do(peer, PEER_WORK_SIGNAL, fence, value);
}

void *map_page(int fd)
{
    char bytes[64];
    struct iovec part = {bytes, sizeof(bytes)};
    union {
        struct cmsghdr header;
        char room[CMSG_SPACE(sizeof(int))];
    } control = {0};
    struct msghdr packet = {.msg_iov = &part,
                            .msg_iovlen = 1,
                            .msg_control = &control,
                            .msg_controllen = CMSG_LEN(sizeof(int))};
    int memory;
    if (recvmsg(fd, &packet, MSG_PEEK | MSG_CMSG_CLOEXEC) <= 0 || !CMSG_FIRSTHDR(&packet))
        return NULL;
    memcpy(&memory, CMSG_DATA(CMSG_FIRSTHDR(&packet)), sizeof(memory));
    void *page = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_SHARED, memory, 0);
    close(memory);
    return page == MAP_FAILED ? NULL : page;
}

/* --------------------------------------------------------------------------- An older kernel -- */

#define JUMP(k_, value_, yes_, no_) BPF_JUMP(BPF_JMP | (k_) | BPF_K, value_, yes_, no_)
#define LOAD(offset_)               BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offset_)
#define FAIL(error_)                BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (error_))
#define ARGUMENT(i_)                ((uint32_t)offsetof(struct seccomp_data, args) + 8 * (i_))

static void run_as_an_old_kernel(void)
{
    const char *wanted = getenv("BELFRY_TEST_OLD_KERNEL");
    if (!wanted || !*wanted)
        return;
    struct sock_filter filter[] = {
        LOAD(offsetof(struct seccomp_data, nr)),
        JUMP(BPF_JEQ, SYS_futex_waitv, 0, 1),
        FAIL(ENOSYS),
        JUMP(BPF_JEQ, SYS_getsockopt, 0, 3),
        LOAD(ARGUMENT(2)),
        JUMP(BPF_JEQ, 77 /* SO_PEERPIDFD */, 0, 4),
        FAIL(ENOPROTOOPT),
        JUMP(BPF_JEQ, SYS_memfd_create, 0, 2),
        LOAD(ARGUMENT(1)),
        JUMP(BPF_JSET, 8 /* MFD_NOEXEC_SEAL */, 1, 0),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
        FAIL(EINVAL),
    };
    const struct sock_fprog program = {sizeof(filter) / sizeof(filter[0]), filter};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program)) {
        perror("seccomp");
        exit(77);
    }
}

/* -------------------------------------------------------------------------------- The peer's -- */

struct me {
    struct fixture f;
    BfCommandQueue queue;
    BfFence fences[PEER_FENCES];
    uint32_t fence_count;
    BfEvent events[PEER_EVENTS];
    BfFence passed;
    uint64_t passes;
    VkEvent stall;
    void *scribbled;
};

static BfEvent event_of(struct me *me, uint32_t number)
{
    if (!me->events[number % PEER_EVENTS])
        assert_success(bfCreateEvent(0, &me->events[number % PEER_EVENTS]));
    return me->events[number % PEER_EVENTS];
}

uint64_t next_random(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

static VkResult work_and_signal(struct me *me, BfFence fence, uint64_t value)
{
    execute(me->queue, write_word(&me->f, me->queue, 0, (uint32_t)value));
    return bfQueueSignal(me->queue, fence, value);
}

/* Values up to 1000; the last is what the fence had last from here. */
static struct answer storm(struct me *me, BfFence fence, uint64_t count, uint64_t seed)
{
    struct answer answer = {0};
    uint64_t state = seed * 2654435761u + 88172645463325252u;
    for (uint64_t i = 0; i < count && answer.result == VK_SUCCESS; i++) {
        uint64_t value = next_random(&state) % 1000;
        switch (next_random(&state) % 8) {
        case 0:
            answer.result = work_and_signal(me, fence, value);
            break;
        case 1:
        case 2:
            answer.result = bfQueueSignal(me->queue, fence, value);
            break;
        default:
            answer.result = bfSignalFence(fence, value);
            break;
        }
        if (answer.value < value)
            answer.value = value;
    }
    await_idle(me->queue);
    return answer;
}

static VkResult pass(struct me *me, BfFence fence, uint64_t value)
{
    VkResult result = bfQueueWait(me->queue, fence, value);
    return result == VK_SUCCESS ? bfQueueSignal(me->queue, me->passed, ++me->passes) : result;
}

static void scribble(void *page, uint64_t seed)
{
    uint64_t state = seed * 2654435761u + 88172645463325252u;
    for (;;) {
        uint64_t what = next_random(&state), where = next_random(&state) % 1024;
        switch (what % 4) {
        case 0:
            ((volatile uint64_t *)page)[where] = next_random(&state);
            break;
        case 1:
            ((volatile uint64_t *)page)[where] = what & 4 ? UINT64_MAX : 0;
            break;
        case 2:
            ((volatile uint32_t *)page)[16 + what / 4 % 8] = (uint32_t)(what >> 32);
            break;
        default:
            syscall(SYS_futex, (uint32_t *)page + 2 * where, FUTEX_WAKE, 1, NULL, NULL, 0);
            break;
        }
    }
}

static void lose(struct me *me)
{
    VkCommandBuffer commands = write_word(&me->f, me->queue, 0, 1);
    me->f.lost = true;
    me->f.icd.lose();
    /* Somebody has to notice. */
    assert_int_equal(bfQueueExecute(me->queue, 1, &commands), VK_ERROR_DEVICE_LOST);
}

static struct answer obey(struct me *me, struct order order, int fd)
{
    struct answer answer = {.fd = -1};
    BfFence fence = me->fences[order.fence % PEER_FENCES], *next = &me->fences[me->fence_count];
    const BfFenceCreateInfo info = {BF_TYPE(FENCE_CREATE_INFO), .initialValue = order.value,
                                    .flags = BF_FENCE_SHARED_BIT,
                                    .pNext = BF_SYNC_OBJECT(order.flags)};
    switch ((enum peer_op)order.op) {
    case PEER_CREATE:
        answer.result = bfCreateFence(me->f.bf, &info, next);
        if (answer.result == VK_SUCCESS) {
            me->fence_count++;
            answer.result = bfExportFenceFd(*next, order.share, &answer.fd);
        }
        break;
    case PEER_OPEN:
        answer.result = bfOpenFenceFd(me->f.bf, fd, order.share, next);
        me->fence_count += answer.result == VK_SUCCESS;
        break;
    case PEER_EXPORT:
        answer.result = bfExportFenceFd(fence, order.share, &answer.fd);
        break;
    case PEER_DESTROY:
        bfDestroyFence(fence);
        me->fences[order.fence] = NULL;
        break;
    case PEER_VALUE:
        answer.value = bfGetFenceCompletedValue(fence);
        break;
    case PEER_SIGNAL:
        answer.result = bfSignalFence(fence, order.value);
        break;
    case PEER_WORK_SIGNAL:
        answer.result = work_and_signal(me, fence, order.value);
        break;
    case PEER_QUEUE_WAIT:
        answer.result = pass(me, fence, order.value);
        break;
    case PEER_PASSED:
        answer.value = bfGetFenceCompletedValue(me->passed);
        break;
    case PEER_AWAIT_PASSED:
        await_fence(me->passed, order.value);
        break;
    case PEER_IDLE:
        answer.result = bfQueueWaitIdle(me->queue);
        break;
    case PEER_WAIT:
        answer.result = bfWaitFences(1, &fence, &order.value, BF_FENCE_WAIT_ALL, UINT64_MAX);
        break;
    case PEER_SET_EVENT:
        answer.result = bfSetEventOnFenceCompletion(fence, order.value, event_of(me, order.event));
        break;
    case PEER_TAKE_EVENT:
        answer.value = take_event(event_of(me, order.event));
        break;
    case PEER_AWAIT_EVENT:
        await_event(event_of(me, order.event));
        break;
    case PEER_STALL:
        me->stall = stall_begin(&me->f, me->queue);
        break;
    case PEER_GO:
        stall_end(&me->f, me->stall);
        break;
    case PEER_STORM:
        answer = storm(me, fence, order.value, order.event);
        break;
    case PEER_WORK_FOR_EVER:
        for (uint32_t i = order.event;; i++)
            storm(me, fence, 20, i);
        break;
    case PEER_SCRIBBLE:
        me->scribbled = map_page(fd);
        answer.result = me->scribbled ? VK_SUCCESS : VK_ERROR_UNKNOWN;
        break;
    case PEER_WAKEUPS:
        answer.value = counters_of(&me->f).sharedWakeups;
        break;
    case PEER_NATIVE_WAITS:
        answer.value = counters_of(&me->f).peerWaits;
        break;
    case PEER_LOSE:
        lose(me);
        break;
    case PEER_BE_LATE:
        other_threads_await_sleep();
        me->f.icd.set_block(&(struct belfry_icd_block){
            .command = "vkWaitSemaphores", .first = 1, .every = 1, .late = true});
        break;
    case PEER_COME:
        me->f.icd.set_block(NULL);
        me->f.icd.release(UINT64_MAX);
        break;
    case PEER_QUIT:
        break;
    }
    return answer;
}

static int peer_main(void)
{
    static struct me me;
    struct order order;
    int fd;
    fixture_open(&me.f, NULL);
    me.queue = make_queue(&me.f, BF_COMMAND_LIST_TYPE_DIRECT);
    me.passed = make_fence(&me.f, 0);
    while (get(PEER_SOCKET, &order, sizeof(order), &fd) && order.op != PEER_QUIT) {
        struct answer answer = obey(&me, order, fd);
        if (fd != -1)
            close(fd);
        if (!put(PEER_SOCKET, &answer, sizeof(answer), answer.fd > 0 ? answer.fd : -1))
            break;
        if (answer.fd > 0)
            close(answer.fd);
        if (me.scribbled)
            scribble(me.scribbled, order.value);
    }
    for (uint32_t i = 0; i < me.fence_count; i++)
        bfDestroyFence(me.fences[i]);
    for (uint32_t i = 0; i < PEER_EVENTS; i++)
        bfDestroyEvent(me.events[i]);
    fixture_close(&me.f);
    return 0;
}

/* Tests and their peers are one executable. BELFRY_TEST_OLD_KERNEL makes it and them run without
 * futex_waitv, SO_PEERPIDFD and MFD_NOEXEC_SEAL. */
int main(int argc, char **argv)
{
    run_as_an_old_kernel();
    if (argc == 2 && strcmp(argv[1], "--peer") == 0)
        return peer_main();
    return fixture_main(argc, argv);
}
