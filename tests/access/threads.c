/* SPDX-License-Identifier: MIT */
/* The check told by several threads at once, each with a queue, command buffers and resources of
 * its own and fences that all of them use: nothing is reported, and the thread sanitizer has
 * nothing to say either. */
#include "check.h"

#include "access/vulkan.h"

#define THREADS 4
#define FRAMES  300

#define HANDLE(type, n) ((type)(uintptr_t)(0x88000 + 16 * (n)))

static struct {
    struct check check;
    struct bf_access *access;
    struct bf_access_queue *queues[THREADS];
    struct bf_access_fence *fences[THREADS];
    pthread_barrier_t frame;
} w;

/* In frame f thread t writes buffer (t + f) % THREADS, which another one wrote in the frame before
 * and has signalled since. */
static void *run(void *argument)
{
    uint32_t t = (uint32_t)(uintptr_t)argument;
    const VkCommandBuffer handle = HANDLE(VkCommandBuffer, t);
    const VkSemaphore semaphore = HANDLE(VkSemaphore, t + THREADS);
    struct bf_access_recording *recording = bf_access_recording_create(w.access, handle);
    bf_access_semaphore_add(w.access, semaphore, true, 0);
    for (uint32_t f = 1; f <= FRAMES; f++) {
        uint32_t n = (t + f) % THREADS, before = (t + 1) % THREADS;
        char name[16];
        snprintf(name, sizeof(name), "buffer %u", n);
        bf_access_recording_reset(recording);
        bf_access_record_bytes(recording, CHECK_BUFFER(n), 0, 64, BF_ACCESS_WRITE, "w");
        bf_access_record_bytes(recording, CHECK_BUFFER(50), 0, 64, BF_ACCESS_READ, "r");
        bf_access_recording_close(recording);
        bf_access_buffer_name(w.access, CHECK_BUFFER(n), name);
        bf_access_queue_wait(w.queues[t], w.fences[before], f - 1);
        bf_access_queue_execute(w.queues[t], 1, &handle);
        bf_access_queue_signal(w.queues[t], w.fences[t], f);
        bf_access_buffer_add(w.access, CHECK_BUFFER(100 + t), 64);
        check_use(w.queues[t], 100 + t, 0, 16, true);
        bf_access_buffer_remove(w.access, CHECK_BUFFER(100 + t));
        if (f % 8 == 0)
            bf_access_event_set(&w.fences[t], false, w.fences[t], f - 4);
        if (f % 8 == 4)
            bf_observe_event_seen(&w.fences[before]);
        if (f % 16 == 0)
            bf_access_fence_reached(w.fences[t], f - 2);
        bf_access_semaphore_signal(w.access, semaphore, f);
        bf_access_semaphore_read(w.access, semaphore, f);
        pthread_barrier_wait(&w.frame);
    }
    bf_access_semaphore_remove(w.access, semaphore);
    bf_access_recording_destroy(recording);
    return NULL;
}

TEST(test_several_threads)
{
    check_open(&w.check);
    w.access = w.check.access;
    bf_observer_list(bf_access_observer(w.access));
    pthread_barrier_init(&w.frame, NULL, THREADS);
    pthread_t threads[THREADS];
    for (uint32_t t = 0; t < THREADS; t++) {
        char name[8];
        snprintf(name, sizeof(name), "%u", t);
        w.queues[t] = bf_access_queue_add(w.access, name, BF_ACCESS_COMPUTE_3D);
        w.fences[t] = bf_access_fence_add(w.access, 0);
    }
    for (uint32_t t = 0; t < THREADS; t++)
        assert_int_equal(pthread_create(&threads[t], NULL, run, (void *)(uintptr_t)t), 0);
    for (uint32_t t = 0; t < THREADS; t++)
        pthread_join(threads[t], NULL);
    if (w.check.count)
        print_message("%s\n", w.check.reports[0].line);
    assert_int_equal(w.check.count, 0);
    pthread_barrier_destroy(&w.frame);
    bf_observer_unlist(bf_access_observer(w.access));
    check_close(&w.check);
}
