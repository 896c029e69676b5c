/* SPDX-License-Identifier: MIT */
/* Shared fences: exporting and opening descriptors, values of the page, and the end of the
 * owner. */
#include "fence/shared.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/descriptor.h"
#include "base/message.h"
#include "fence/import_export.h"
#include "fence/native.h"
#include "fence/peer_handle.h"
#include "fence/peer_timeline.h"
#include "fence/shared_watch.h"
#include "fence/socket_message.h"
#include "scheduler/pending.h"
#include "scheduler/scheduler.h"
#include "scheduler/sleeper.h"

#ifndef SO_PEERPIDFD
#define SO_PEERPIDFD 77 /* Linux 6.5 */
#endif

#define DESCRIPTORS 3 /* the memfd, and with SH-10 the pipe's reading and writing end */

/* What lies in an exported descriptor. */
struct message {
    uint64_t magic;
    uint32_t version;
    BfSyncObjectFlags flags;
};

static void descriptor_close(int *fd)
{
    if (*fd != -1)
        close(*fd);
    *fd = -1;
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

/* Those who get the pipe have the same open file, and may have writing to it block. The owner has
 * an open file of his own, where /proc is there. */
static void shared_own_pipe(struct bf_shared *shared)
{
    char path[32];
    snprintf(path, sizeof(path), "/proc/self/fd/%d", shared->last[1]);
    int own = bf_descriptor_lift(open(path, O_WRONLY | O_NONBLOCK | O_CLOEXEC));
    if (own == -1)
        return;
    descriptor_close(&shared->last[1]);
    shared->last[1] = own;
}

/* Tells others that the owner ends in an orderly way (SH-9): holders of the descriptor by one byte,
 * for which its socket has room, and those whose waiters linger, which have closed the descriptor,
 * by the pipe. */
static void shared_end_orderly(struct bf_shared *shared)
{
    if (shared->near == -1)
        return;
    if (shared->last[1] != -1) { /* whose other end is open here: there is no SIGPIPE */
        ssize_t size = write(shared->last[1], "", 1);
        (void)size; /* a full pipe says the same */
    }
    send(shared->near, "", 1, MSG_NOSIGNAL | MSG_DONTWAIT);
    descriptor_close(&shared->near);
}

/* Closes the descriptors passed to others, which contain the pipe. */
static void shared_close_far(struct bf_shared *shared)
{
    descriptor_close(&shared->far);
    if (shared->peer_timelines)
        descriptor_close(&shared->peer_timelines->far);
}

/* Closes everything but the page, and what an owner needs to end in order. */
static void shared_close_most(struct bf_shared *shared)
{
    bf_shared_page_leave(&shared->view);
    shared_close_far(shared);
    descriptor_close(&shared->owner);
    if (shared->near != -1)
        return;
    descriptor_close(&shared->last[0]);
    descriptor_close(&shared->last[1]);
}

void bf_shared_free(struct bf_shared *shared)
{
    if (!shared)
        return;
    shared_end_orderly(shared);
    shared_close_most(shared);
    bf_shared_page_unmap(&shared->view);
    bf_peer_timelines_free(shared->peer_timelines);
    free(shared);
}

/* --- The descriptor ----------------------------------------------------------------------------*/

static VkResult shared_message_send(const struct bf_shared *shared, int memory)
{
    const int fds[DESCRIPTORS] = {memory, shared->last[0], shared->last[1]};
    const struct message message = {BF_SHARED_MAGIC, BF_SHARED_VERSION, shared->flags};
    return bf_message_put(shared->near, &message, sizeof(message), fds,
                          shared->last[0] == -1 ? 1 : DESCRIPTORS);
}

/* Peeks at the message. Its descriptors are the caller's. Errors: VK_ERROR_INVALID_EXTERNAL_HANDLE
 * (it is no message of an owner's), VK_ERROR_TOO_MANY_OBJECTS, VK_ERROR_OUT_OF_HOST_MEMORY. */
static VkResult shared_message_peek(int fd, struct message *message, struct bf_message *got)
{
    VkResult result = bf_message_peek(fd, message, sizeof(*message), DESCRIPTORS, got);
    if (result != VK_SUCCESS)
        return result;
    bool ours = got->size == sizeof(*message) && !got->cut && message->magic == BF_SHARED_MAGIC &&
                message->version == BF_SHARED_VERSION &&
                !(message->flags & ~(VkFlags)BF_SHARED_MESSAGE_FLAGS);
    bool lasting = message->flags & BF_SYNC_OBJECT_UNWAIT_CPU_WAITERS_ONLY_ON_DESTROY_BIT;
    uint32_t expected = lasting ? DESCRIPTORS : 1, came = got->count;
    if (ours && came == expected)
        return VK_SUCCESS;
    bf_message_drop(got, 0);
    /* Some descriptors are missing because this process can have no more. */
    return ours && came < expected && got->fds_cut ? VK_ERROR_TOO_MANY_OBJECTS
                                                   : VK_ERROR_INVALID_EXTERNAL_HANDLE;
}

/* Is it that end of a pipe? F_GETPIPE_SZ succeeds for pipes only, and calls no file system. */
static bool descriptor_is_pipe_end(int fd, int mode)
{
    int flags = fcntl(fd, F_GETFL);
    return flags != -1 && (flags & O_ACCMODE) == mode && fcntl(fd, F_GETPIPE_SZ) != -1;
}

/* Has the owner said that it ends in an orderly way? */
static bool shared_has_ended_orderly(const struct bf_shared *shared)
{
    int size = 0;
    if (shared->far != -1)
        return ioctl(shared->far, FIONREAD, &size) == 0 && size > (int)sizeof(struct message);
    return ioctl(shared->last[0], FIONREAD, &size) == 0 && size > 0;
}

/* Finds the owner's process, by the kernel. VK_ERROR_INVALID_EXTERNAL_HANDLE: it has ended. */
static VkResult shared_find_owner(struct bf_shared *shared)
{
    if (shared_has_ended_orderly(shared))
        return VK_SUCCESS;
    socklen_t size = sizeof(shared->owner);
    if (getsockopt(shared->far, SOL_SOCKET, SO_PEERPIDFD, &shared->owner, &size) == -1) {
        shared->owner = -1;
        if (errno == EMFILE || errno == ENFILE || errno == ENOMEM)
            return bf_message_error();
        if (errno != ENOPROTOOPT && !shared_has_ended_orderly(shared))
            return VK_ERROR_INVALID_EXTERNAL_HANDLE;
    } else if ((shared->owner = bf_descriptor_lift(shared->owner)) == -1) {
        return bf_message_error();
    }
    /* An older kernel tells only that the owner's end of the socket has gone. */
    shared->watched = shared->owner != -1 ? shared->owner : shared->far;
    struct pollfd end = {.fd = shared->watched, .events = shared->owner != -1 ? POLLIN : 0};
    if (poll(&end, 1, 0) == 1 && !shared_has_ended_orderly(shared))
        return VK_ERROR_INVALID_EXTERNAL_HANDLE;
    return VK_SUCCESS;
}

/* --- Objects -----------------------------------------------------------------------------------*/

/* Gives the fence, which only its device knows, its shared part. */
static VkResult shared_attach(struct bf_fence *fence, struct bf_shared *shared)
{
    struct bf_scheduler *scheduler = fence->scheduler;
    struct bf_pending *pending = &scheduler->pending;
    VkResult result = bf_sleepers_ensure(scheduler); /* SH-7 */
    if (result != VK_SUCCESS) {
        bf_shared_free(shared);
        return result;
    }
    bf_lock_acquire(&pending->lock);
    shared->serial = pending->scheduler->fences->next_serial++;
    fence->shared = shared;
    fence->extended = true;
    atomic_store(&pending->shares, true);
    if (!pending->lost)
        atomic_store(&fence->value, bf_shared_page_value(&shared->view));
    bf_lock_release(&pending->lock);
    bf_observe_fence_external(fence->observed);
    return bf_shared_watch_ends(fence);
}

VkResult bf_shared_create(struct bf_fence *fence, BfSyncObjectFlags flags)
{
    struct bf_shared *shared = shared_alloc();
    int memory = -1, ends[2];
    if (!shared)
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    shared->owned = true;
    shared->flags = flags & BF_SHARED_MESSAGE_FLAGS;
    VkResult result = bf_shared_page_create(atomic_load(&fence->value), &memory);
    if (result == VK_SUCCESS)
        result = bf_shared_page_join(&shared->view, memory, "bfCreateFence");
    if (result == VK_SUCCESS && (flags & BF_SYNC_OBJECT_UNWAIT_CPU_WAITERS_ONLY_ON_DESTROY_BIT) &&
        (pipe2(shared->last, O_CLOEXEC | O_NONBLOCK) == -1 ||
         bf_descriptor_lift_pair(shared->last) == -1))
        result = bf_message_error();
    if (result == VK_SUCCESS &&
        (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends) == -1 ||
         bf_descriptor_lift_pair(ends) == -1))
        result = bf_message_error();
    if (result == VK_SUCCESS) {
        shared->near = ends[0];
        shared->far = ends[1];
        shutdown(shared->near, SHUT_RD); /* nobody fills it */
        result = shared_message_send(shared, memory);
    }
    if (result == VK_SUCCESS && shared->last[1] != -1)
        shared_own_pipe(shared);
    descriptor_close(&memory);
    if (result == VK_SUCCESS)
        return shared_attach(fence, shared);
    bf_shared_free(shared);
    return result;
}

/* Opens what the descriptor contains, for a local object. */
static VkResult shared_open(int fd, struct bf_shared *shared)
{
    struct message message = {0};
    struct bf_message got;
    VkResult result = shared_message_peek(fd, &message, &got);
    if (result == VK_ERROR_INVALID_EXTERNAL_HANDLE)
        bf_message(BF_MESSAGE_ERROR, "bfOpenFenceFd: fd: %d is no descriptor of a shared fence",
                   fd);
    if (result != VK_SUCCESS)
        return result;
    shared->flags = message.flags;
    result = bf_shared_page_join(&shared->view, got.fds[0], "bfOpenFenceFd");
    close(got.fds[0]);
    if (got.count == DESCRIPTORS) {
        shared->last[0] = got.fds[1];
        shared->last[1] = got.fds[2];
        if (result == VK_SUCCESS && (!descriptor_is_pipe_end(got.fds[1], O_RDONLY) ||
                                     !descriptor_is_pipe_end(got.fds[2], O_WRONLY))) {
            bf_message(BF_MESSAGE_ERROR, "bfOpenFenceFd: fd: %d carries no pipe", fd);
            result = VK_ERROR_INVALID_EXTERNAL_HANDLE;
        }
    }
    if (result != VK_SUCCESS)
        return result;
    shared->far = fcntl(fd, F_DUPFD_CLOEXEC, BF_DESCRIPTOR_LEAST);
    if (shared->far == -1)
        return bf_message_error();
    result = shared_find_owner(shared);
    if (result == VK_ERROR_INVALID_EXTERNAL_HANDLE)
        bf_message(BF_MESSAGE_ERROR,
                   "bfOpenFenceFd: fd: the process that made the fence of %d has ended", fd);
    return result;
}

void bf_shared_leave(struct bf_fence *fence)
{
    struct bf_pending *pending = &fence->scheduler->pending;
    struct bf_shared *shared = fence->shared;
    if (!shared)
        return;
    bf_lock_acquire(&pending->lock);
    bool left = shared->left;
    shared->left = true;
    bf_lock_release(&pending->lock);
    if (left)
        return;
    bf_shared_watch_forget(fence);
    bf_lock_acquire(&pending->lock);
    shared_close_most(shared);
    shared->watched = -1;
    bf_lock_release(&pending->lock);
}

/* --- Values ------------------------------------------------------------------------------------*/

bool bf_shared_set(struct bf_fence *fence, uint64_t value)
{
    struct bf_shared *shared = fence->shared;
    if (!shared)
        return true;
    if (fence->orphaned)
        return false;
    if (bf_native_is_program_written(fence))
        return bf_shared_page_offer(&shared->view, atomic_load(&fence->value), value);
    bf_shared_page_set(&shared->view, value);
    return true;
}

void bf_shared_absorb(struct bf_fence *fence, struct bf_effects *effects)
{
    struct bf_shared *shared = fence->shared;
    if (!shared || shared->left || fence->orphaned || fence->destroyed || fence->always_signaled ||
        fence->scheduler->pending.lost)
        return;
    if (fence->native)
        bf_native_sample(fence, effects);
    uint64_t peak = bf_shared_page_take_peak(&shared->view);
    uint64_t value = bf_shared_page_value(&shared->view);
    if (peak > value)
        bf_fence_satisfy_overwritten(fence, peak, effects);
    if (value == atomic_load(&fence->value) || fence->always_signaled)
        return;
    bf_fence_set_value(fence, value, effects);
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
    if (fence->exported && fence->exported_wanted < monitored)
        monitored = fence->exported_wanted;
    bf_shared_page_monitor(&shared->view, monitored);
    if (shared->lingering && !fence->cpu_waits.root)
        bf_shared_watch_end_lingering(&fence->scheduler->pending);
}

void bf_shared_look(struct bf_fence *fence)
{
    struct bf_shared *shared = fence->shared;
    if (!shared || (!bf_shared_page_has_peak(&shared->view) &&
                    bf_shared_page_value(&shared->view) == atomic_load(&fence->value)))
        return;
    struct bf_pending *pending = &fence->scheduler->pending;
    struct bf_effects effects = {0};
    bf_lock_acquire(&pending->lock);
    bf_shared_absorb(fence, &effects);
    bf_lock_release(&pending->lock);
    bf_effects_run(fence->scheduler, &effects);
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
    struct bf_pending *pending = &fence->scheduler->pending;
    bf_lock_acquire(&pending->lock);
    bool orphaned = fence->orphaned;
    bf_lock_release(&pending->lock);
    return orphaned ? VK_ERROR_INVALID_EXTERNAL_HANDLE : VK_SUCCESS;
}

/* --- Ends --------------------------------------------------------------------------------------*/

void bf_shared_lose(struct bf_fence *fence)
{
    struct bf_shared *shared = fence->shared;
    if (shared)
        bf_peer_timelines_lose(shared->peer_timelines);
    if (shared && shared->owned && !(shared->flags & BF_SYNC_OBJECT_NO_SIGNAL_MAX_VALUE_ON_TDR_BIT))
        bf_shared_set(fence, UINT64_MAX);
}

/* Closes this object's share of what keeps waiters, also those of its own that linger, waiting. */
static void shared_let_go(struct bf_shared *shared)
{
    shared_end_orderly(shared);
    descriptor_close(&shared->last[1]);
}

void bf_shared_update_applied(struct bf_fence *fence)
{
    if (fence->shared->lingering && !fence->first_update)
        shared_let_go(fence->shared);
}

bool bf_shared_linger(struct bf_fence *fence, struct bf_effects *effects)
{
    struct bf_shared *shared = fence->shared;
    if (!shared || shared->last[1] == -1 || !fence->cpu_waits.root || fence->orphaned ||
        fence->scheduler->pending.lost)
        return false;
    shared->lingering = true;
    bf_fence_satisfy_queues(fence, effects);
    if (!fence->first_update)
        shared_let_go(shared);
    if (shared->watched == shared->far)
        shared->watched = -1;
    shared_close_far(shared);
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

/* Orphans the fence. Values that others set before they ended still count. */
static bool shared_orphan(struct bf_fence *fence, struct bf_effects *effects)
{
    bf_shared_absorb(fence, effects);
    fence->orphaned = true;
    if (!fence->scheduler->pending.lost)
        bf_fence_set_value(fence, UINT64_MAX, effects);
    return bf_shared_end_lingering(fence, effects);
}

bool bf_shared_abandoned(struct bf_fence *fence, struct bf_effects *effects)
{
    struct bf_shared *shared = fence->shared;
    if (shared->left || fence->orphaned || fence->destroyed)
        return false;
    if (!shared->lingering)
        bf_message(BF_MESSAGE_WARNING,
                   "shared fence: a queue here waited natively for a process, or a "
                   "device, that has gone: the fence's object is orphaned");
    return shared_orphan(fence, effects);
}

bool bf_shared_owner_ended(struct bf_fence *fence, struct bf_effects *effects)
{
    struct bf_shared *shared = fence->shared;
    return !shared->left && !fence->orphaned && !fence->destroyed &&
           !shared_has_ended_orderly(shared) && shared_orphan(fence, effects);
}

/* --- The public calls --------------------------------------------------------------------------*/

static VkResult share_flags_check(const char *call, const struct bf_scheduler *scheduler,
                                  BfShareFlags flags)
{
    if (flags & ~(VkFlags)BF_SHARE_TRUSTED_BIT) {
        bf_message(BF_MESSAGE_ERROR, "%s: flags has unknown bits: 0x%x", call, flags);
        return VK_ERROR_VALIDATION_FAILED_EXT;
    }
    if (!flags || scheduler->gpu.sharing.timelines)
        return VK_SUCCESS;
    bf_message(
        BF_MESSAGE_ERROR,
        "%s: flags: BF_SHARE_TRUSTED_BIT: this device's timeline semaphores can't be exported",
        call);
    return VK_ERROR_FEATURE_NOT_PRESENT;
}

VkResult bfGetDeviceShareFlags(BfDevice handle, BfShareFlags *flags)
{
    struct bf_scheduler *scheduler = bf_scheduler_of(handle, __func__);
    if (scheduler && !flags)
        bf_message(BF_MESSAGE_ERROR, "bfGetDeviceShareFlags: pFlags is NULL");
    if (!scheduler || !flags)
        return VK_ERROR_VALIDATION_FAILED_EXT;
    *flags = scheduler->gpu.sharing.timelines ? BF_SHARE_TRUSTED_BIT : 0;
    return VK_SUCCESS;
}

VkResult bfExportFenceFd(BfFence handle, BfShareFlags flags, int *out)
{
    struct bf_fence *fence = bf_fence_of(handle, __func__);
    if (!fence)
        return VK_ERROR_VALIDATION_FAILED_EXT;
    VkResult result = share_flags_check(__func__, fence->scheduler, flags);
    if (result != VK_SUCCESS)
        return result;
    if (!out || !fence->shared) {
        bf_message(BF_MESSAGE_ERROR, "bfExportFenceFd: %s",
                   out ? "the fence was made without BF_FENCE_SHARED_BIT" : "pFd is NULL");
        return VK_ERROR_VALIDATION_FAILED_EXT;
    }
    result = bf_shared_check(fence);
    if (result == VK_SUCCESS && flags)
        result = bf_peer_handle_export(fence, out);
    if (result != VK_SUCCESS || flags)
        return result == VK_ERROR_DEVICE_LOST ? bf_scheduler_lost(fence->scheduler, __func__)
                                              : result;
    int fd = fcntl(fence->shared->far, F_DUPFD_CLOEXEC, BF_DESCRIPTOR_LEAST);
    if (fd == -1)
        return bf_message_error();
    *out = fd;
    return VK_SUCCESS;
}

/* Completes a fence that the program doesn't know yet; after a failure it never will. */
static VkResult shared_finish_opening(struct bf_fence *fence, struct bf_shared *shared, int fd,
                                      struct bf_peer_handle *peer_handle)
{
    struct bf_scheduler *scheduler = fence->scheduler;
    bool native = bf_native_is_supported(scheduler) &&
                  (shared->flags & (BF_SHARED_NATIVE | BF_SYNC_OBJECT_CROSS_ADAPTER_BIT));
    if (native)
        fence->flags |= shared->flags & BF_SYNC_OBJECT_PROGRAM_WRITTEN_BIT;
    VkResult result = shared_attach(fence, shared);
    if (result == VK_SUCCESS && native)
        result = bf_native_attach(fence, BF_NATIVE_FENCE_TYPE_DEFAULT);
    if (result == VK_SUCCESS && peer_handle->matches)
        result = bf_peer_handle_import_timelines(fence, fd, peer_handle);
    if (result != VK_SUCCESS)
        bfDestroyFence((BfFence)fence);
    bf_peer_timelines_sweep(scheduler);
    return result == VK_ERROR_DEVICE_LOST ? bf_scheduler_lost(scheduler, "bfOpenFenceFd") : result;
}

VkResult bfOpenFenceFd(BfDevice handle, int fd, BfShareFlags flags, BfFence *out)
{
    struct bf_scheduler *scheduler = bf_scheduler_of(handle, __func__);
    if (!scheduler)
        return VK_ERROR_VALIDATION_FAILED_EXT;
    VkResult result = share_flags_check(__func__, scheduler, flags);
    if (result != VK_SUCCESS)
        return result;
    if (!out) {
        bf_message(BF_MESSAGE_ERROR, "bfOpenFenceFd: pFence is NULL");
        return VK_ERROR_VALIDATION_FAILED_EXT;
    }
    if (bf_scheduler_is_lost(scheduler))
        return bf_scheduler_settle(scheduler);
    struct bf_shared *shared = shared_alloc();
    if (!shared)
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    struct bf_peer_handle peer_handle;
    struct bf_fence *fence = NULL;
    result = bf_peer_handle_open(scheduler, fd, flags & BF_SHARE_TRUSTED_BIT, &peer_handle);
    if (result == VK_SUCCESS)
        result = shared_open(peer_handle.plain, shared);
    if (result == VK_SUCCESS)
        result = bf_fence_create(scheduler, 0, BF_SYNC_OBJECT_FLAGS_NONE, &fence);
    if (result == VK_SUCCESS)
        result = shared_finish_opening(fence, shared, fd, &peer_handle);
    else
        bf_shared_free(shared);
    bf_peer_handle_close(&peer_handle);
    if (result == VK_SUCCESS)
        *out = (BfFence)fence;
    return result;
}
