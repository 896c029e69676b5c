/* SPDX-License-Identifier: MIT */
/* Peer handles: exporting, opening and importing them. */
#include "fence/peer_handle.h"

#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/descriptor.h"
#include "base/message.h"
#include "fence/peer_timeline.h"
#include "fence/shared.h"
#include "fence/shared_watch.h"
#include "gpu/made.h"
#include "scheduler/scheduler.h"

#define PEER_HANDLE_MAGIC   UINT64_C(0x65706f6c65766e65) /* "envelope", backwards */
#define PEER_HANDLE_VERSION 1u
#define OPAQUE_FD           VK_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD_BIT

/* What lies beside the descriptors: the plain one, the peer memory, the peer timelines. */
struct header {
    uint64_t magic;
    uint32_t version;
    uint32_t timeline_count;
    uint8_t device_uuid[VK_UUID_SIZE];
    uint8_t driver_uuid[VK_UUID_SIZE];
};

enum { PLAIN, MEMORY, TIMELINES, DESCRIPTORS = TIMELINES + BF_PEER_MEMORY_TIMELINES };

_Static_assert(DESCRIPTORS <= BF_MESSAGE_DESCRIPTORS, "they all go in one message");

static struct header peer_handle_header(const struct bf_scheduler *scheduler)
{
    struct header header = {.magic = PEER_HANDLE_MAGIC,
                            .version = PEER_HANDLE_VERSION,
                            .timeline_count = BF_PEER_MEMORY_TIMELINES};
    memcpy(header.device_uuid, scheduler->gpu.sharing.device_uuid, VK_UUID_SIZE);
    memcpy(header.driver_uuid, scheduler->gpu.sharing.driver_uuid, VK_UUID_SIZE);
    return header;
}

/* --- Opening -----------------------------------------------------------------------------------*/

VkResult bf_peer_handle_open(const struct bf_scheduler *scheduler, int fd, bool trusted,
                             struct bf_peer_handle *peer_handle)
{
    const struct header own = peer_handle_header(scheduler);
    struct header header = {0};
    *peer_handle = (struct bf_peer_handle){.plain = fd};
    /* Room for no more descriptors than wanted: the kernel delivers no others. */
    const uint32_t wanted = trusted ? DESCRIPTORS : 1;
    VkResult result = bf_message_peek(fd, &header, sizeof(header), wanted, &peer_handle->inside);
    if (result == VK_ERROR_INVALID_EXTERNAL_HANDLE) /* whoever opens the plain one will say so */
        return VK_SUCCESS;
    if (result != VK_SUCCESS)
        return result;
    if (header.magic != PEER_HANDLE_MAGIC) {
        bf_message_drop(&peer_handle->inside, 0);
        return VK_SUCCESS;
    }
    bool whole = peer_handle->inside.size == sizeof(header) && !peer_handle->inside.cut &&
                 header.version == PEER_HANDLE_VERSION &&
                 header.timeline_count == BF_PEER_MEMORY_TIMELINES;
    if (whole && peer_handle->inside.count == wanted && !(trusted && peer_handle->inside.fds_cut)) {
        peer_handle->is_one = true;
        peer_handle->plain = peer_handle->inside.fds[PLAIN];
        peer_handle->matches = trusted && memcmp(&header, &own, sizeof(own)) == 0;
        if (!peer_handle->matches)
            bf_message_drop(&peer_handle->inside, MEMORY);
        return VK_SUCCESS;
    }
    bool few = whole && peer_handle->inside.count < wanted && peer_handle->inside.fds_cut;
    bf_message_drop(&peer_handle->inside, 0);
    if (few) /* there are no numbers left for them */
        return VK_ERROR_TOO_MANY_OBJECTS;
    bf_message(BF_MESSAGE_ERROR,
               "bfOpenFenceFd: fd: %d is no whole peer handle of a fence of this version", fd);
    return VK_ERROR_INVALID_EXTERNAL_HANDLE;
}

void bf_peer_handle_close(struct bf_peer_handle *peer_handle)
{
    bf_message_drop(&peer_handle->inside, 0);
}

/* The descriptor is closed in any case. */
static VkResult peer_timeline_import(struct bf_scheduler *scheduler, VkSemaphore semaphore, int *fd)
{
    const VkImportSemaphoreFdInfoKHR info = {
        .sType = VK_STRUCTURE_TYPE_IMPORT_SEMAPHORE_FD_INFO_KHR,
        .semaphore = semaphore,
        .handleType = OPAQUE_FD,
        .fd = *fd,
    };
    VkResult result = scheduler->gpu.vk.vkImportSemaphoreFdKHR(scheduler->gpu.handle, &info);
    if (result != VK_SUCCESS)
        close(*fd);
    *fd = -1;
    return result;
}

static VkResult peer_timeline_create_semaphore(struct bf_scheduler *scheduler,
                                               struct bf_peer_timeline *peer_timeline,
                                               bool exported)
{
    const VkExportSemaphoreCreateInfo export = {
        .sType = VK_STRUCTURE_TYPE_EXPORT_SEMAPHORE_CREATE_INFO,
        .handleTypes = OPAQUE_FD,
    };
    const VkSemaphoreTypeCreateInfo type = {
        .sType = VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO,
        .pNext = exported ? &export : NULL,
        .semaphoreType = VK_SEMAPHORE_TYPE_TIMELINE,
    };
    const VkSemaphoreCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO,
        .pNext = &type,
    };
    VkSemaphore semaphore;
    VkResult result =
        BF_MADE(scheduler->gpu.vk.vkCreateSemaphore(scheduler->gpu.handle, &info, NULL, &semaphore),
                &semaphore);
    if (result != VK_SUCCESS)
        return result;
    peer_timeline->sem = bf_semaphore_create_unknown(semaphore);
    if (peer_timeline->sem)
        return VK_SUCCESS;
    scheduler->gpu.vk.vkDestroySemaphore(scheduler->gpu.handle, semaphore, NULL);
    return VK_ERROR_OUT_OF_HOST_MEMORY;
}

/* Gives the object the peer timelines, unless it already has some. */
static VkResult fence_set_peer_timelines(struct bf_fence *fence,
                                         struct bf_peer_timelines *peer_timelines)
{
    struct bf_pending *pending = &fence->scheduler->pending;
    struct bf_shared *shared = fence->shared;
    VkResult result = bf_shared_watch_peers(pending);
    if (result != VK_SUCCESS) {
        bf_peer_timelines_free(peer_timelines);
        return result;
    }
    bf_lock_acquire(&pending->lock);
    bool first = !shared->peer_timelines && !pending->lost;
    if (first) {
        bf_peer_memory_want(&peer_timelines->memory, &shared->view, UINT64_MAX);
        bf_peer_memory_expect_applied(&peer_timelines->memory, &shared->view, false);
        shared->peer_timelines = peer_timelines;
    }
    bf_lock_release(&pending->lock);
    if (!first)
        bf_peer_timelines_free(peer_timelines);
    return VK_SUCCESS;
}

VkResult bf_peer_handle_import_timelines(struct bf_fence *fence, int fd,
                                         struct bf_peer_handle *peer_handle)
{
    struct bf_scheduler *scheduler = fence->scheduler;
    struct bf_message *inside = &peer_handle->inside;
    struct bf_peer_timelines *peer_timelines = bf_peer_timelines_create(scheduler);
    if (!peer_timelines)
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    VkResult result =
        bf_peer_memory_join(&peer_timelines->memory, inside->fds[MEMORY], "bfOpenFenceFd");
    if (result == VK_SUCCESS) {
        peer_timelines->far = fcntl(fd, F_DUPFD_CLOEXEC, BF_DESCRIPTOR_LEAST);
        result = peer_timelines->far == -1 ? bf_message_error() : VK_SUCCESS;
    }
    /* Starts with the last, so that used descriptors leave the message's list. */
    while (result == VK_SUCCESS && inside->count > TIMELINES) {
        struct bf_peer_timeline *peer_timeline =
            &peer_timelines->timelines[inside->count - 1 - TIMELINES];
        result = peer_timeline_create_semaphore(scheduler, peer_timeline, false);
        if (result == VK_SUCCESS)
            result = peer_timeline_import(scheduler, peer_timeline->sem->handle,
                                          &inside->fds[--inside->count]);
        if (result == VK_ERROR_INVALID_EXTERNAL_HANDLE)
            bf_message(BF_MESSAGE_ERROR,
                       "bfOpenFenceFd: fd: %d: the driver knows no such semaphore", fd);
    }
    if (result == VK_SUCCESS)
        return fence_set_peer_timelines(fence, peer_timelines);
    bf_peer_timelines_free(peer_timelines);
    return result;
}

/* --- Exporting ---------------------------------------------------------------------------------*/

static VkResult peer_timeline_get_fd(struct bf_scheduler *scheduler,
                                     const struct bf_peer_timeline *peer_timeline, int *fd)
{
    const VkSemaphoreGetFdInfoKHR info = {
        .sType = VK_STRUCTURE_TYPE_SEMAPHORE_GET_FD_INFO_KHR,
        .semaphore = peer_timeline->sem->handle,
        .handleType = OPAQUE_FD,
    };
    return scheduler->gpu.vk.vkGetSemaphoreFdKHR(scheduler->gpu.handle, &info, fd);
}

/* Puts the message into a socket whose other end is closed. */
static VkResult peer_handle_send_message(const struct bf_scheduler *scheduler,
                                         const struct bf_message *message, int *far)
{
    const struct header header = peer_handle_header(scheduler);
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends) == -1 ||
        bf_descriptor_lift_pair(ends) == -1)
        return bf_message_error();
    VkResult result =
        bf_message_put(ends[0], &header, sizeof(header), message->fds, message->count);
    close(ends[0]);
    if (result == VK_SUCCESS)
        *far = ends[1];
    else
        close(ends[1]);
    return result;
}

static VkResult peer_handle_create(struct bf_fence *fence)
{
    struct bf_scheduler *scheduler = fence->scheduler;
    struct bf_message message = {0};
    struct bf_peer_timelines *peer_timelines = bf_peer_timelines_create(scheduler);
    if (!peer_timelines)
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    message.fds[PLAIN] = fcntl(fence->shared->far, F_DUPFD_CLOEXEC, BF_DESCRIPTOR_LEAST);
    VkResult result = message.fds[PLAIN] == -1 ? bf_message_error() : VK_SUCCESS;
    message.count += result == VK_SUCCESS;
    if (result == VK_SUCCESS)
        result = bf_peer_memory_create(&message.fds[MEMORY]);
    message.count += result == VK_SUCCESS;
    if (result == VK_SUCCESS)
        result =
            bf_peer_memory_join(&peer_timelines->memory, message.fds[MEMORY], "bfExportFenceFd");
    for (uint32_t i = 0; i < BF_PEER_MEMORY_TIMELINES && result == VK_SUCCESS; i++) {
        result = peer_timeline_create_semaphore(scheduler, &peer_timelines->timelines[i], true);
        if (result == VK_SUCCESS)
            result = peer_timeline_get_fd(scheduler, &peer_timelines->timelines[i],
                                          &message.fds[TIMELINES + i]);
        message.count += result == VK_SUCCESS;
    }
    if (result == VK_SUCCESS)
        result = peer_handle_send_message(scheduler, &message, &peer_timelines->far);
    bf_message_drop(&message, 0);
    if (result == VK_SUCCESS)
        return fence_set_peer_timelines(fence, peer_timelines);
    bf_peer_timelines_free(peer_timelines);
    return result;
}

VkResult bf_peer_handle_export(struct bf_fence *fence, int *out)
{
    struct bf_pending *pending = &fence->scheduler->pending;
    VkResult result = VK_SUCCESS;
    for (;;) {
        bf_lock_acquire(&pending->lock);
        const struct bf_peer_timelines *peer_timelines = fence->shared->peer_timelines;
        int far = peer_timelines ? peer_timelines->far : -1;
        bool lost = pending->lost;
        bf_lock_release(&pending->lock);
        if (far != -1) {
            *out = fcntl(far, F_DUPFD_CLOEXEC, BF_DESCRIPTOR_LEAST);
            return *out == -1 ? bf_message_error() : VK_SUCCESS;
        }
        if (lost)
            return VK_ERROR_DEVICE_LOST;
        if (!fence->shared->owned) {
            bf_message(BF_MESSAGE_ERROR,
                       "bfExportFenceFd: flags: BF_SHARE_TRUSTED_BIT: this object was "
                       "opened from a descriptor without it");
            return VK_ERROR_FEATURE_NOT_PRESENT;
        }
        result = peer_handle_create(fence);
        bf_peer_timelines_sweep(fence->scheduler);
        if (result != VK_SUCCESS)
            return result;
    }
}
