/* SPDX-License-Identifier: MIT */
/* Messages with descriptors in sockets: putting one in, and peeking at it. */
#include "fence/socket_message.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/descriptor.h"

union control {
    struct cmsghdr header;
    char room[CMSG_SPACE(BF_MESSAGE_DESCRIPTORS * sizeof(int))];
};

VkResult bf_message_error(void)
{
    /* ETOOMANYREFS: too many descriptors of this user's lie in sockets. */
    return errno == EMFILE || errno == ENFILE || errno == ETOOMANYREFS
               ? VK_ERROR_TOO_MANY_OBJECTS
               : VK_ERROR_OUT_OF_HOST_MEMORY;
}

VkResult bf_message_put(int to, const void *message, size_t size, const int *fds, uint32_t count)
{
    struct iovec part = {(void *)(uintptr_t)message, size};
    union control control = {0};
    struct msghdr packet = {.msg_iov = &part,
                            .msg_iovlen = 1,
                            .msg_control = &control,
                            .msg_controllen = CMSG_SPACE(count * sizeof(int))};
    struct cmsghdr *header = CMSG_FIRSTHDR(&packet);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(count * sizeof(int));
    memcpy(CMSG_DATA(header), fds, count * sizeof(int));
    ssize_t sent = sendmsg(to, &packet, MSG_NOSIGNAL | MSG_DONTWAIT);
    return sent == (ssize_t)size ? VK_SUCCESS : bf_message_error();
}

VkResult bf_message_peek(int fd, void *message, size_t size, uint32_t count, struct bf_message *got)
{
    struct iovec part = {message, size};
    union control control = {0};
    struct msghdr packet = {.msg_iov = &part,
                            .msg_iovlen = 1,
                            .msg_control = &control,
                            /* Without the padding, in which another would fit. */
                            .msg_controllen = CMSG_LEN(count * sizeof(int))};
    int domain = 0, type = 0;
    socklen_t length = sizeof(int);
    *got = (struct bf_message){0};
    if (getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &length) == -1 || domain != AF_UNIX ||
        getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &length) == -1 || type != SOCK_SEQPACKET)
        return VK_ERROR_INVALID_EXTERNAL_HANDLE;
    ssize_t read = recvmsg(fd, &packet, MSG_PEEK | MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    if (read == -1)
        return errno == ENOMEM ? VK_ERROR_OUT_OF_HOST_MEMORY : VK_ERROR_INVALID_EXTERNAL_HANDLE;
    for (struct cmsghdr *h = CMSG_FIRSTHDR(&packet); h; h = CMSG_NXTHDR(&packet, h)) {
        if (h->cmsg_level != SOL_SOCKET || h->cmsg_type != SCM_RIGHTS)
            continue;
        /* The kernel has put in no more than there is room for. */
        size_t here = (h->cmsg_len - CMSG_LEN(0)) / sizeof(int);
        for (size_t i = 0; i < here && got->count < BF_MESSAGE_DESCRIPTORS; i++) {
            int came = bf_descriptor_lift(((const int *)(const void *)CMSG_DATA(h))[i]);
            if (came == -1)
                got->fds_cut = true;
            else
                got->fds[got->count++] = came;
        }
    }
    got->size = (size_t)read;
    got->cut = packet.msg_flags & MSG_TRUNC;
    got->fds_cut |= (packet.msg_flags & MSG_CTRUNC) != 0;
    return VK_SUCCESS;
}

void bf_message_drop(struct bf_message *message, uint32_t first)
{
    while (message->count > first)
        close(message->fds[--message->count]);
}
