/* SPDX-License-Identifier: MIT */
/* A thread that waits on the host until what it waits for has come. */
#ifndef BELFRY_TESTS_STANDSTILL_HOST_WAIT_H
#define BELFRY_TESTS_STANDSTILL_HOST_WAIT_H

#include <pthread.h>
#include <time.h>

#include "support/world.h"

struct host_wait {
    VkDevice device;
    VkFence fence; /* or */
    VkSemaphore semaphore;
    uint64_t value, timeout_ns;
    int times;         /* further ones, for as much more */
    uint64_t pause_ns; /* after each time-out */
};

/* For pthread_create, of a struct host_wait. */
static inline void *wait_on_host(void *context)
{
    struct host_wait *h = context;
    uint64_t value = h->value;
    const VkSemaphoreWaitInfo info = {VK_TYPE(SEMAPHORE_WAIT_INFO), .semaphoreCount = 1,
                                      .pSemaphores = &h->semaphore, .pValues = &value};
    pthread_setname_np(pthread_self(), "loader");
    for (int i = 0; i == 0 || i < h->times; i++, value += h->value) {
        VkResult result = VK_TIMEOUT;
        while (result == VK_TIMEOUT) {
            result = h->fence ? vkWaitForFences(h->device, 1, &h->fence, VK_TRUE, h->timeout_ns)
                              : vkWaitSemaphores(h->device, &info, h->timeout_ns);
            if (result == VK_TIMEOUT && h->pause_ns)
                nanosleep(&(struct timespec){.tv_nsec = (long)h->pause_ns}, NULL);
        }
        assert_success(result);
    }
    return NULL;
}

#endif
