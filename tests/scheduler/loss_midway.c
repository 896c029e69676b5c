/* SPDX-License-Identifier: MIT */
/* A device that one thread has found lost and has not yet told anybody of: others go on meanwhile.
 * That thread is held where it says so on stderr, a pipe that is full. */
#include "support/fixture.h"

#include <fcntl.h>

struct full_pipe {
    int ends[2], before;
};

static void full_pipe_begin(struct full_pipe *p)
{
    const char page[4096] = {0};
    assert_int_equal(pipe(p->ends), 0);
    assert_int_equal(fcntl(p->ends[1], F_SETFL, O_NONBLOCK), 0);
    for (size_t size = sizeof(page); size; size /= 2)
        while (write(p->ends[1], page, size) > 0)
            ;
    assert_int_equal(fcntl(p->ends[1], F_SETFL, 0), 0);
    p->before = dup(STDERR_FILENO);
    assert_int_equal(dup2(p->ends[1], STDERR_FILENO), STDERR_FILENO);
}

/* Until nobody can write to it any more. */
static void full_pipe_empty(void *argument)
{
    struct full_pipe *p = argument;
    char page[4096];
    while (read(p->ends[0], page, sizeof(page)) > 0)
        ;
}

static void full_pipe_close_writers(struct full_pipe *p)
{
    dup2(p->before, STDERR_FILENO);
    close(p->before);
    close(p->ends[1]);
}

struct finder {
    BfFence fence;
    uint64_t value;
};

static void find(void *argument)
{
    struct finder *finder = argument;
    finder->value = bfGetFenceCompletedValue(finder->fence);
}

struct user {
    BfCommandQueue queue;
    BfFence fence;
    BfEvent event;
    VkResult result, set;
    uint64_t value;
};

static void use(void *argument)
{
    struct user *user = argument;
    user->result = bfQueueSignal(user->queue, user->fence, 9);
    user->value = bfGetFenceCompletedValue(user->fence);
    user->set = bfWaitForEvents(1, &user->event, VK_FALSE, 0, NULL);
}

/* Held packets are dropped while their waits are still armed; and who is told finds everything
 * satisfied. */
FIXTURE_TEST(others_are_told_when_everything_is_satisfied)
{
    enum { SPARES = 4 };
    BfCommandQueue runs = make_queue(f, BF_COMMAND_LIST_TYPE_COMPUTE), spares[SPARES];
    BfCommandQueue held[2] = {make_queue(f, BF_COMMAND_LIST_TYPE_DIRECT),
                              make_queue(f, BF_COMMAND_LIST_TYPE_COMPUTE)};
    BfFence running = make_fence(f, 0), gate = make_fence(f, 0), after = make_fence(f, 0);
    BfEvent event = make_event(f);
    for (int i = 0; i < SPARES; i++)
        spares[i] =
            make_queue(f, i % 2 ? BF_COMMAND_LIST_TYPE_COMPUTE : BF_COMMAND_LIST_TYPE_DIRECT);
    stall_begin(f, runs);
    f->stalls--; /* the loss ends it */
    queue_signal(runs, running, 1);
    for (int i = 0; i < 2; i++) {
        queue_wait(held[i], gate, 1 + (uint64_t)i);
        execute(held[i], write_word(f, held[i], 0, 1));
        queue_signal(held[i], after, 1 + (uint64_t)i);
    }
    set_event_on(after, 50, event);
    f->lost = true;
    f->icd.lose();

    struct full_pipe p;
    struct finder finder = {.fence = running};
    struct user user = {.queue = held[0], .fence = after, .event = event};
    struct thread finding, using, emptying;
    full_pipe_begin(&p);
    thread_start(&finding, find, &finder);
    thread_await_sleep(&finding);
    for (int i = 0; i < SPARES; i++)
        drop_queue(f, spares[i]); /* pumps every engine */
    thread_start(&using, use, &user);
    thread_await_sleep(&using);
    thread_start(&emptying, full_pipe_empty, &p);
    thread_join(&finding);
    thread_join(&using);
    full_pipe_close_writers(&p);
    thread_join(&emptying);
    close(p.ends[0]);

    assert_int_equal(finder.value, UINT64_MAX);
    assert_int_equal(user.result, VK_ERROR_DEVICE_LOST);
    assert_int_equal(user.value, UINT64_MAX);
    assert_success(user.set);
}
