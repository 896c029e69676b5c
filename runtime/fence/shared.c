#include "fence/shared.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "access/access.h"
#include "device/device.h"
#include "fence/bridge.h"
#include "fence/ledger.h"
#include "fence/native.h"
#include "fence/shared_watch.h"
#include "fence/sleeper.h"
#include "os/log.h"

#ifndef SO_PEERPIDFD
#define SO_PEERPIDFD 77 /* Linux 6.5 */
#endif

#define DESCRIPTORS 3 /* the memfd, and with SH-10 the pipe's reading and writing end */

/* What lies in an exported descriptor. */
struct message {
    uint64_t magic;
    uint32_t version;
    BfFenceFlags flags;
};

static void close_fd(int *fd)
{
    if (*fd != -1)
        close(*fd);
    *fd = -1;
}

static VkResult error_now(void)
{
    /* ETOOMANYREFS: too many descriptors of this user's lie in sockets. */
    return errno == EMFILE || errno == ENFILE || errno == ETOOMANYREFS
               ? VK_ERROR_TOO_MANY_OBJECTS
               : VK_ERROR_OUT_OF_HOST_MEMORY;
}

static struct bf_shared *shared_alloc(void)
{
    struct bf_shared *shared = calloc(1, sizeof(*shared));
    if (!shared)
        return NULL;
    shared->view = (struct bf_shared_view){.slot = BF_SHARED_SLOTS, .fd = -1};
    shared->near = shared->far = shared->owner = shared->watched = -1;
    shared->last[0] = shared->last[1] = -1;
    return shared;
}

/* The owner says that it ends in an orderly way (SH-9): to those who have the descriptor, where
 * there is room for one byte, and to those whose waiters linger, which have it no more. */
static void let_go(struct bf_shared *shared)
{
    if (shared->near == -1)
        return;
    if (shared->last[1] != -1) { /* whose other end is open here: there is no SIGPIPE */
        ssize_t size = write(shared->last[1], "", 1);
        (void)size; /* a full pipe says the same */
    }
    send(shared->near, "", 1, MSG_NOSIGNAL | MSG_DONTWAIT);
    close_fd(&shared->near);
}

/* Everything but the page, and what an owner needs to let go. */
static void close_most(struct bf_shared *shared)
{
    bf_shared_page_leave(&shared->view);
    close_fd(&shared->far);
    close_fd(&shared->owner);
    if (shared->near != -1)
        return;
    close_fd(&shared->last[0]);
    close_fd(&shared->last[1]);
}

void bf_shared_free(struct bf_shared *shared)
{
    if (!shared)
        return;
    let_go(shared);
    close_most(shared);
    bf_shared_page_unmap(&shared->view);
    free(shared);
}

/* -------------------------------------------------------------------------------- The descriptor --
 */

static VkResult send_message(const struct bf_shared *shared, int memory)
{
    int fds[DESCRIPTORS] = {memory, shared->last[0], shared->last[1]};
    size_t count = shared->last[0] == -1 ? 1 : DESCRIPTORS;
    struct message message = {BF_SHARED_MAGIC, BF_SHARED_VERSION, shared->flags};
    struct iovec part = {&message, sizeof(message)};
    union {
        struct cmsghdr header;
        char room[CMSG_SPACE(DESCRIPTORS * sizeof(int))];
    } control = {0};
    struct msghdr packet = {.msg_iov = &part,
                            .msg_iovlen = 1,
                            .msg_control = &control,
                            .msg_controllen = CMSG_SPACE(count * sizeof(int))};
    struct cmsghdr *header = CMSG_FIRSTHDR(&packet);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(count * sizeof(int));
    for (size_t i = 0; i < count; i++)
        ((int *)(void *)CMSG_DATA(header))[i] = fds[i];
    ssize_t size = sendmsg(shared->near, &packet, MSG_NOSIGNAL | MSG_DONTWAIT);
    return size == (ssize_t)sizeof(message) ? VK_SUCCESS : error_now();
}

/* Looks at the message and leaves it there. The descriptors that came with it are the caller's.
 * Errors: VK_ERROR_INVALID_EXTERNAL_HANDLE (it is none of an owner's), VK_ERROR_TOO_MANY_OBJECTS. */
static VkResult peek_message(int fd, struct message *message, int *fds, uint32_t *count)
{
    struct iovec part = {message, sizeof(*message)};
    union {
        struct cmsghdr header;
        char room[CMSG_SPACE(DESCRIPTORS * sizeof(int))];
    } control = {0};
    struct msghdr packet = {.msg_iov = &part,
                            .msg_iovlen = 1,
                            .msg_control = &control,
                            /* Without the padding, in which another would fit. */
                            .msg_controllen = CMSG_LEN(DESCRIPTORS * sizeof(int))};
    int domain = 0, type = 0;
    uint32_t n = 0;
    socklen_t size = sizeof(int);
    if (getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &size) == -1 || domain != AF_UNIX ||
        getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &size) == -1 || type != SOCK_SEQPACKET)
        return VK_ERROR_INVALID_EXTERNAL_HANDLE;
    ssize_t length = recvmsg(fd, &packet, MSG_PEEK | MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    if (length == -1)
        return errno == ENOMEM ? VK_ERROR_OUT_OF_HOST_MEMORY : VK_ERROR_INVALID_EXTERNAL_HANDLE;
    for (struct cmsghdr *h = CMSG_FIRSTHDR(&packet); h; h = CMSG_NXTHDR(&packet, h)) {
        if (h->cmsg_level != SOL_SOCKET || h->cmsg_type != SCM_RIGHTS)
            continue;
        /* The kernel has put in no more than there is room for. */
        size_t got = (h->cmsg_len - CMSG_LEN(0)) / sizeof(int);
        for (size_t i = 0; i < got && n < DESCRIPTORS; i++)
            fds[n++] = ((const int *)(const void *)CMSG_DATA(h))[i];
    }
    bool ours = length == (ssize_t)sizeof(*message) && !(packet.msg_flags & MSG_TRUNC) &&
                message->magic == BF_SHARED_MAGIC && message->version == BF_SHARED_VERSION &&
                !(message->flags & ~(VkFlags)(BF_FENCE_SHARED_FLAGS | BF_SHARED_NATIVE));
    bool lasting = message->flags & BF_FENCE_UNWAIT_CPU_WAITERS_ONLY_ON_DESTROY_BIT;
    uint32_t expected = lasting ? DESCRIPTORS : 1;
    *count = n;
    if (ours && n == expected)
        return VK_SUCCESS;
    while (n > 0)
        close(fds[--n]);
    /* Some have come, or none, and no more could: there are no numbers left for them. */
    return ours && *count < expected && (packet.msg_flags & MSG_CTRUNC)
               ? VK_ERROR_TOO_MANY_OBJECTS
               : VK_ERROR_INVALID_EXTERNAL_HANDLE;
}

/* F_GETPIPE_SZ is known to pipes alone, and asks no file system. */
static bool is_pipe_end(int fd, int mode)
{
    int flags = fcntl(fd, F_GETFL);
    return flags != -1 && (flags & O_ACCMODE) == mode && fcntl(fd, F_GETPIPE_SZ) != -1;
}

/* Has the owner said that it ends in an orderly way? */
static bool is_released(const struct bf_shared *shared)
{
    int size = 0;
    if (shared->far != -1)
        return ioctl(shared->far, FIONREAD, &size) == 0 && size > (int)sizeof(struct message);
    return ioctl(shared->last[0], FIONREAD, &size) == 0 && size > 0;
}

/* Which process it is, from the kernel. VK_ERROR_INVALID_EXTERNAL_HANDLE: it has ended. */
static VkResult find_owner(struct bf_shared *shared)
{
    if (is_released(shared))
        return VK_SUCCESS;
    socklen_t size = sizeof(shared->owner);
    if (getsockopt(shared->far, SOL_SOCKET, SO_PEERPIDFD, &shared->owner, &size) == -1) {
        shared->owner = -1;
        if (errno == EMFILE || errno == ENFILE || errno == ENOMEM)
            return error_now();
        if (errno != ENOPROTOOPT && !is_released(shared))
            return VK_ERROR_INVALID_EXTERNAL_HANDLE;
    }
    /* An older kernel tells only that the owner's end of the socket has gone. */
    shared->watched = shared->owner != -1 ? shared->owner : shared->far;
    struct pollfd end = {.fd = shared->watched, .events = shared->owner != -1 ? POLLIN : 0};
    if (poll(&end, 1, 0) == 1 && !is_released(shared))
        return VK_ERROR_INVALID_EXTERNAL_HANDLE;
    return VK_SUCCESS;
}

/* --------------------------------------------------------------------------------------- Objects --
 */

/* The fence is known to the device, but to nobody else. */
static VkResult attach(struct bf_fence *fence, struct bf_shared *shared)
{
    struct bf_device *device = fence->device;
    struct bf_ledger *ledger = &device->ledger;
    VkResult result = bf_sleepers_ensure(device); /* SH-7 */
    if (result != VK_SUCCESS) {
        bf_shared_free(shared);
        return result;
    }
    bf_lock_acquire(&ledger->lock);
    shared->serial = ledger->next_serial++;
    fence->shared = shared;
    if (!ledger->lost)
        atomic_store(&fence->value, bf_shared_page_value(&shared->view));
    bf_lock_release(&ledger->lock);
    bf_access_fence_external(fence->access);
    return bf_shared_watch_ends(fence);
}

VkResult bf_shared_create(struct bf_fence *fence, BfFenceFlags flags)
{
    struct bf_shared *shared = shared_alloc();
    int memory = -1, ends[2];
    if (!shared)
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    shared->owned = true;
    shared->flags = flags & (BF_FENCE_SHARED_FLAGS | BF_SHARED_NATIVE);
    VkResult result = bf_shared_page_create(atomic_load(&fence->value), &memory);
    if (result == VK_SUCCESS)
        result = bf_shared_page_join(&shared->view, memory, "bfCreateFence");
    if (result == VK_SUCCESS && (flags & BF_FENCE_UNWAIT_CPU_WAITERS_ONLY_ON_DESTROY_BIT) &&
        pipe2(shared->last, O_CLOEXEC | O_NONBLOCK) == -1)
        result = error_now();
    if (result == VK_SUCCESS &&
        socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends) == -1)
        result = error_now();
    if (result == VK_SUCCESS) {
        shared->near = ends[0];
        shared->far = ends[1];
        shutdown(shared->near, SHUT_RD); /* nobody fills it */
        result = send_message(shared, memory);
    }
    close_fd(&memory);
    if (result == VK_SUCCESS)
        return attach(fence, shared);
    bf_shared_free(shared);
    return result;
}

/* A local object's share of what the descriptor leads to. */
static VkResult open_shared(int fd, struct bf_shared *shared)
{
    struct message message = {0};
    int fds[DESCRIPTORS];
    uint32_t n;
    VkResult result = peek_message(fd, &message, fds, &n);
    if (result == VK_ERROR_INVALID_EXTERNAL_HANDLE)
        bf_log(BF_LOG_ERROR, "bfOpenFenceFd: fd: %d is no descriptor of a shared fence", fd);
    if (result != VK_SUCCESS)
        return result;
    shared->flags = message.flags;
    result = bf_shared_page_join(&shared->view, fds[0], "bfOpenFenceFd");
    close(fds[0]);
    if (n == DESCRIPTORS) {
        shared->last[0] = fds[1];
        shared->last[1] = fds[2];
        if (result == VK_SUCCESS &&
            (!is_pipe_end(fds[1], O_RDONLY) || !is_pipe_end(fds[2], O_WRONLY))) {
            bf_log(BF_LOG_ERROR, "bfOpenFenceFd: fd: %d carries no pipe", fd);
            result = VK_ERROR_INVALID_EXTERNAL_HANDLE;
        }
    }
    if (result != VK_SUCCESS)
        return result;
    shared->far = fcntl(fd, F_DUPFD_CLOEXEC, 0);
    if (shared->far == -1)
        return error_now();
    result = find_owner(shared);
    if (result == VK_ERROR_INVALID_EXTERNAL_HANDLE)
        bf_log(BF_LOG_ERROR, "bfOpenFenceFd: fd: the process that made the fence of %d has ended",
               fd);
    return result;
}

void bf_shared_leave(struct bf_fence *fence)
{
    struct bf_ledger *ledger = &fence->device->ledger;
    struct bf_shared *shared = fence->shared;
    if (!shared)
        return;
    bf_lock_acquire(&ledger->lock);
    bool left = shared->left;
    shared->left = true;
    bf_lock_release(&ledger->lock);
    if (left)
        return;
    bf_shared_watch_forget(fence);
    bf_lock_acquire(&ledger->lock);
    close_most(shared);
    shared->watched = -1;
    bf_lock_release(&ledger->lock);
}

/* ---------------------------------------------------------------------------------------- Values --
 */

bool bf_shared_set(struct bf_fence *fence, uint64_t value)
{
    struct bf_shared *shared = fence->shared;
    if (!shared)
        return true;
    if (shared->orphaned)
        return false;
    bf_shared_page_set(&shared->view, value);
    return true;
}

void bf_shared_absorb(struct bf_fence *fence, struct bf_effects *effects)
{
    struct bf_shared *shared = fence->shared;
    if (!shared || shared->left || shared->orphaned || fence->destroyed || fence->always_signaled ||
        fence->device->ledger.lost)
        return;
    uint64_t peak = bf_shared_page_take_peak(&shared->view);
    uint64_t value = bf_shared_page_value(&shared->view);
    if (peak > value)
        bf_fence_cross(fence, peak, effects);
    if (value == atomic_load(&fence->value) || fence->always_signaled)
        return;
    bf_fence_take(fence, value, effects);
    if (fence->native)
        bf_native_signalled(fence, value, effects);
}

void bf_shared_publish(struct bf_fence *fence)
{
    struct bf_shared *shared = fence->shared;
    if (!shared || shared->left)
        return;
    uint64_t monitored = fence->monitored;
    const struct bf_heap_node *least = fence->queue_waits.root;
    if (least && least->key && least->key - 1 < monitored)
        monitored = least->key - 1;
    if (fence->mirror && fence->mirror_wanted < monitored)
        monitored = fence->mirror_wanted;
    bf_shared_page_monitor(&shared->view, monitored);
    if (shared->lingering && !fence->cpu_waits.root)
        bf_shared_watch_reap(&fence->device->ledger);
}

void bf_shared_look(struct bf_fence *fence)
{
    struct bf_shared *shared = fence->shared;
    if (!shared || (!bf_shared_page_has_peak(&shared->view) &&
                    bf_shared_page_value(&shared->view) == atomic_load(&fence->value)))
        return;
    struct bf_ledger *ledger = &fence->device->ledger;
    struct bf_effects effects = {0};
    bf_lock_acquire(&ledger->lock);
    bf_shared_absorb(fence, &effects);
    bf_lock_release(&ledger->lock);
    bf_effects_run(fence->device, &effects);
}

VkResult bf_shared_listen(struct bf_fence *fence)
{
    return fence->shared ? bf_shared_watch_slot(fence) : VK_SUCCESS;
}

VkResult bf_shared_follow(struct bf_fence *fence)
{
    bf_shared_page_follow(&fence->shared->view);
    VkResult result = bf_shared_listen(fence);
    bf_shared_look(fence);
    return result;
}

VkResult bf_shared_check(struct bf_fence *fence)
{
    if (!fence->shared)
        return VK_SUCCESS;
    struct bf_ledger *ledger = &fence->device->ledger;
    bf_lock_acquire(&ledger->lock);
    bool orphaned = bf_shared_is_orphaned(fence);
    bf_lock_release(&ledger->lock);
    return orphaned ? VK_ERROR_INVALID_EXTERNAL_HANDLE : VK_SUCCESS;
}

/* ------------------------------------------------------------------------------------------ Ends --
 */

void bf_shared_lose(struct bf_fence *fence)
{
    struct bf_shared *shared = fence->shared;
    if (shared && shared->owned && !(shared->flags & BF_FENCE_NO_SIGNAL_MAX_VALUE_ON_TDR_BIT))
        bf_shared_set(fence, UINT64_MAX);
}

bool bf_shared_linger(struct bf_fence *fence, struct bf_effects *effects)
{
    struct bf_shared *shared = fence->shared;
    if (!shared || shared->last[1] == -1 || !fence->cpu_waits.root || shared->orphaned ||
        fence->device->ledger.lost)
        return false;
    shared->lingering = true;
    bf_fence_satisfy_queues(fence, effects);
    /* What keeps others' waiters, and these, waiting. */
    let_go(shared);
    close_fd(&shared->last[1]);
    if (shared->watched == shared->far)
        shared->watched = -1;
    close_fd(&shared->far);
    return true;
}

bool bf_shared_end_lingering(struct bf_fence *fence, struct bf_effects *effects)
{
    struct bf_shared *shared = fence->shared;
    if (!shared->lingering)
        return false;
    shared->lingering = false;
    fence->destroyed = true;
    bf_fence_satisfy_all(fence, effects);
    return true;
}

bool bf_shared_owner_ended(struct bf_fence *fence, struct bf_effects *effects)
{
    struct bf_shared *shared = fence->shared;
    if (shared->left || shared->orphaned || fence->destroyed || is_released(shared))
        return false;
    /* What it has set before it ended counts. */
    bf_shared_absorb(fence, effects);
    shared->orphaned = true;
    if (!fence->device->ledger.lost) {
        bf_fence_take(fence, UINT64_MAX, effects);
        if (fence->native)
            bf_native_signalled(fence, UINT64_MAX, effects);
    }
    return bf_shared_end_lingering(fence, effects);
}

/* ------------------------------------------------------------------------------ The public calls --
 */

static bool check_flags(const char *call, BfShareFlags flags, VkResult *result)
{
    *result = VK_ERROR_FEATURE_NOT_PRESENT;
    if (flags == BF_SHARE_TRUSTED_BIT) {
        bf_log(BF_LOG_ERROR, "%s: flags: BF_SHARE_TRUSTED_BIT is not supported", call);
        return false;
    }
    *result = VK_ERROR_VALIDATION_FAILED_EXT;
    if (flags)
        bf_log(BF_LOG_ERROR, "%s: flags has unknown bits: 0x%x", call, flags);
    return !flags;
}

VkResult bfExportFenceFd(BfFence handle, BfShareFlags flags, int *out)
{
    struct bf_fence *fence = bf_fence_of(handle, __func__);
    VkResult result;
    if (!fence)
        return VK_ERROR_VALIDATION_FAILED_EXT;
    if (!check_flags(__func__, flags, &result))
        return result;
    if (!out || !fence->shared) {
        bf_log(BF_LOG_ERROR, "bfExportFenceFd: %s",
               out ? "the fence was made without BF_FENCE_SHARED_BIT" : "pFd is NULL");
        return VK_ERROR_VALIDATION_FAILED_EXT;
    }
    result = bf_shared_check(fence);
    if (result != VK_SUCCESS)
        return result;
    int fd = fcntl(fence->shared->far, F_DUPFD_CLOEXEC, 0);
    if (fd == -1)
        return error_now();
    *out = fd;
    return VK_SUCCESS;
}

VkResult bfOpenFenceFd(BfDevice handle, int fd, BfShareFlags flags, BfFence *out)
{
    struct bf_device *device = bf_device_of(handle, __func__);
    VkResult result;
    if (!device)
        return VK_ERROR_VALIDATION_FAILED_EXT;
    if (!check_flags(__func__, flags, &result))
        return result;
    if (!out) {
        bf_log(BF_LOG_ERROR, "bfOpenFenceFd: pFence is NULL");
        return VK_ERROR_VALIDATION_FAILED_EXT;
    }
    if (bf_device_is_lost(device))
        return bf_device_settle(device);
    struct bf_shared *shared = shared_alloc();
    if (!shared)
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    result = open_shared(fd, shared);
    struct bf_fence *fence = NULL;
    if (result == VK_SUCCESS)
        result = bf_fence_create(device, 0, BF_FENCE_FLAGS_NONE, &fence);
    if (result != VK_SUCCESS) {
        bf_shared_free(shared);
        return result;
    }
    bool native = bf_native_is_supported(device) &&
                  (shared->flags & (BF_SHARED_NATIVE | BF_FENCE_CROSS_ADAPTER_BIT));
    result = attach(fence, shared);
    if (result == VK_SUCCESS && native)
        result = bf_native_attach(fence, BF_NATIVE_FENCE_TYPE_DEFAULT);
    if (result != VK_SUCCESS) {
        bfDestroyFence((BfFence)fence);
        return result;
    }
    *out = (BfFence)fence;
    return VK_SUCCESS;
}
