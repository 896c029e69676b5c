/* SPDX-License-Identifier: MIT */
/* Events, clause by clause (belfry.h), on one thread: what others do at an awkward moment is done
 * around the call of ppoll, just before or just after it. Threads are in event_threads.c. */
#include "support/capture.h"
#include "support/test.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/resource.h>

#include "fence/event.h"
#include "base/clock.h"

#define INVALID VK_ERROR_VALIDATION_FAILED_EXT
#define AUTO    0
#define MANUAL  BF_EVENT_MANUAL_RESET_BIT
#define SET     BF_EVENT_INITIALLY_SET_BIT

/* ---------------------------------------------------------------------------------- The scenery */

int __real_ppoll(struct pollfd *polls, nfds_t count, const struct timespec *timeout,
                 const sigset_t *signals);
int __wrap_ppoll(struct pollfd *polls, nfds_t count, const struct timespec *timeout,
                 const sigset_t *signals);
void *__real_calloc(size_t count, size_t size);
void *__wrap_calloc(size_t count, size_t size);

static struct {
    uint32_t calls;
    void (*before)(uint32_t call); /* call 1, 2... */
    void (*after)(uint32_t call);
    int error;       /* what 'errors' calls fail with */
    uint32_t errors; /* after the first 'skip' */
    uint32_t skip;
    bool endless; /* the last call had no timeout */
    uint64_t timeout;
    bool longer; /* than the one before */
} polled;

static uint32_t allocations_left = UINT32_MAX;
static BfEvent a, b; /* for the functions above */

int __wrap_ppoll(struct pollfd *polls, nfds_t count, const struct timespec *timeout,
                 const sigset_t *signals)
{
    uint32_t call = ++polled.calls;
    polled.endless = !timeout;
    if (timeout) {
        uint64_t before = polled.timeout;
        polled.timeout = (uint64_t)timeout->tv_sec * 1000000000u + (uint64_t)timeout->tv_nsec;
        polled.longer |= polled.timeout > 0 && polled.timeout >= before;
    }
    if (polled.before)
        polled.before(call);
    if (polled.errors > 0 && call > polled.skip) {
        polled.errors--;
        errno = polled.error;
        return -1;
    }
    int result = __real_ppoll(polls, count, timeout, signals);
    if (polled.after)
        polled.after(call);
    return result;
}

void *__wrap_calloc(size_t count, size_t size)
{
    if (allocations_left == 0)
        return NULL;
    if (allocations_left != UINT32_MAX)
        allocations_left--;
    return __real_calloc(count, size);
}

static uint32_t descriptors(void)
{
    uint32_t count = 0;
    for (int fd = 0; fd < 1024; fd++)
        count += fcntl(fd, F_GETFD) != -1;
    return count;
}

static uint32_t descriptors_before;

static int setup(void **state)
{
    memset(&polled, 0, sizeof(polled));
    a = b = NULL;
    descriptors_before = descriptors();
    return 0;
}

/* No test leaves a descriptor open. */
static int teardown(void **state)
{
    uint32_t now = descriptors();
    if (now != descriptors_before)
        print_error("%u descriptors before, %u now\n", descriptors_before, now);
    return now == descriptors_before ? 0 : -1;
}

static BfEvent make(BfEventFlags flags)
{
    BfEvent event = NULL;
    assert_success(bfCreateEvent(flags, &event));
    assert_non_null(event);
    return event;
}

static bool readable(BfEvent event)
{
    struct pollfd p = {.fd = bfGetEventFd(event), .events = POLLIN};
    assert_true(__real_ppoll(&p, 1, &(struct timespec){0}, NULL) >= 0);
    return p.revents == POLLIN;
}

static VkResult look(BfEvent event)
{
    return bfWaitForEvents(1, &event, VK_FALSE, 0, NULL);
}

/* Bad input costs one line that names the call. */
static struct capture capture;

static void capture_expect(const char *call)
{
    char *text = capture_stop(&capture), *end = strchr(text, '\n');
    if (!end || end[1] != '\0' || !strstr(text, call) || strncmp(text, "belfry: ", 8) != 0)
        fail_msg("not one line that names %s: '%s'", call, text);
    free(text);
}

#define COMPLAINS(call, expression, expected)                                                      \
    do {                                                                                           \
        capture_start(&capture);                                                                   \
        int64_t result_ = (int64_t)(expression);                                                   \
        capture_expect(call);                                                                      \
        assert_int_equal(result_, (int64_t)(expected));                                            \
    } while (0)

/* ---------------------------------------------------------------------------- Creating, handles */

/* First: the table of handles is still small. */
TEST_WITH(create_without_memory, setup, teardown)
{
    BfEvent events[200];
    uint32_t count = 0;
    BfEvent event = (BfEvent)(uintptr_t)0x5a5a;
    allocations_left = 0;
    VkResult result = bfCreateEvent(0, &event);
    assert_int_equal(result, VK_ERROR_OUT_OF_HOST_MEMORY);
    /* The second allocation is that of the table of live handles, when it has to grow. */
    for (result = VK_SUCCESS; count < 200; count++) {
        allocations_left = 1;
        uint32_t open = descriptors();
        result = bfCreateEvent(0, &event);
        if (result != VK_SUCCESS) {
            assert_int_equal(descriptors(), open);
            break;
        }
        events[count] = event;
        event = (BfEvent)(uintptr_t)0x5a5a;
    }
    allocations_left = UINT32_MAX;
    assert_int_equal(result, VK_ERROR_OUT_OF_HOST_MEMORY);
    assert_ptr_equal(event, (void *)(uintptr_t)0x5a5a);
    for (uint32_t i = 0; i < count; i++)
        bfDestroyEvent(events[i]);
    event = make(AUTO);
    bfDestroyEvent(event);
}

TEST_WITH(create_takes_each_flag, setup, teardown)
{
    for (BfEventFlags flags = 0; flags < 4; flags++) {
        BfEvent event = make(flags);
        assert_int_equal(readable(event), (flags & SET) != 0);
        assert_int_equal(look(event), flags & SET ? VK_SUCCESS : VK_TIMEOUT);
        assert_int_equal(readable(event), flags == (SET | MANUAL));
        bfDestroyEvent(event);
    }
}

/* FD-1: stdin is closed. */
TEST_WITH(create_keeps_off_stdin, setup, teardown)
{
    int kept = dup(STDIN_FILENO);
    close(STDIN_FILENO);
    BfEvent event = make(SET);
    int fd = bfGetEventFd(event);
    assert_true(readable(event));
    bfDestroyEvent(event);
    if (kept >= 0)
        dup2(kept, STDIN_FILENO);
    close(kept);
    assert_true(fd > STDERR_FILENO);
}

TEST_WITH(create_refuses_bad_input, setup, teardown)
{
    BfEvent event = (BfEvent)(uintptr_t)0x5a5a;
    COMPLAINS("bfCreateEvent", bfCreateEvent(4, &event), INVALID);
    COMPLAINS("bfCreateEvent", bfCreateEvent(0x80000001u, &event), INVALID);
    COMPLAINS("bfCreateEvent", bfCreateEvent(0, NULL), INVALID);
    assert_ptr_equal(event, (void *)(uintptr_t)0x5a5a);
}

TEST_WITH(create_without_descriptors, setup, teardown)
{
    BfEvent event = make(AUTO), other = (BfEvent)(uintptr_t)0x5a5a;
    struct rlimit before;
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
    struct rlimit none = {.rlim_cur = (rlim_t)bfGetEventFd(event) + 1, .rlim_max = before.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
    VkResult exhausted = bfCreateEvent(0, &other);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
    assert_int_equal(exhausted, VK_ERROR_TOO_MANY_OBJECTS);
    assert_ptr_equal(other, (void *)(uintptr_t)0x5a5a);
    /* What was there is as it was. */
    assert_int_equal(look(event), VK_TIMEOUT);
    assert_success(bfSetEvent(event));
    assert_success(look(event));
    bfDestroyEvent(event);
}

TEST_WITH(dead_and_foreign_handles_are_refused, setup, teardown)
{
    BfEvent dead = make(SET), alive = make(AUTO), foreign = (BfEvent)&descriptors_before;
    bfDestroyEvent(dead);
    BfEvent bad[] = {NULL, dead, foreign};
    for (uint32_t i = 0; i < 3; i++) {
        COMPLAINS("bfSetEvent", bfSetEvent(bad[i]), INVALID);
        COMPLAINS("bfResetEvent", bfResetEvent(bad[i]), INVALID);
        COMPLAINS("bfGetEventFd", bfGetEventFd(bad[i]), -1);
        COMPLAINS("bfSomething", bf_event_of(bad[i], "bfSomething") != NULL, false);
        BfEvent two[] = {alive, bad[i]};
        for (VkBool32 all = VK_FALSE; all <= VK_TRUE; all++) {
            uint32_t index = 77;
            assert_success(bfSetEvent(alive));
            COMPLAINS("bfWaitForEvents", bfWaitForEvents(2, two, all, UINT64_MAX, &index), INVALID);
            assert_int_equal(index, 77);
            assert_success(look(alive)); /* nothing was consumed */
        }
        if (bad[i]) {
            capture_start(&capture);
            bfDestroyEvent(bad[i]);
            capture_expect("bfDestroyEvent");
        }
    }
    bfDestroyEvent(NULL);
    bfDestroyEvent(alive);
}

/* --------------------------------------------------------------------------- Setting, resetting */

TEST_WITH(auto_reset_is_consumed_by_one_wait, setup, teardown)
{
    a = make(AUTO);
    assert_success(bfSetEvent(a));
    assert_success(bfSetEvent(a)); /* set is set: there is no counting */
    assert_success(look(a));
    assert_int_equal(look(a), VK_TIMEOUT);
    bfDestroyEvent(a);
}

TEST_WITH(manual_reset_stays_until_reset, setup, teardown)
{
    a = make(MANUAL);
    assert_success(bfSetEvent(a));
    for (int i = 0; i < 3; i++)
        assert_success(look(a));
    assert_success(bfWaitForEvents(1, &a, VK_TRUE, 0, NULL));
    assert_success(bfResetEvent(a));
    assert_int_equal(look(a), VK_TIMEOUT);
    assert_success(bfResetEvent(a)); /* not set: nothing to do */
    assert_int_equal(look(a), VK_TIMEOUT);
    bfDestroyEvent(a);
}

TEST_WITH(reset_takes_all_that_was_set, setup, teardown)
{
    for (BfEventFlags flags = AUTO; flags <= MANUAL; flags++) {
        a = make(flags | SET);
        for (int i = 0; i < 3; i++)
            assert_success(bfSetEvent(a));
        assert_success(bfResetEvent(a));
        assert_false(readable(a));
        assert_int_equal(look(a), VK_TIMEOUT);
        bfDestroyEvent(a);
    }
}

TEST_WITH(a_full_counter_is_just_set, setup, teardown)
{
    for (BfEventFlags flags = AUTO; flags <= MANUAL; flags++) {
        a = make(flags);
        struct bf_event *inner = bf_event_of(a, "test");
        uint64_t most = UINT64_MAX - 1;
        assert_int_equal(write(bfGetEventFd(a), &most, sizeof(most)), sizeof(most));
        assert_success(bfSetEvent(a));
        assert_true(bf_event_set(inner));
        assert_success(look(a));
        assert_int_equal(readable(a), flags == MANUAL);
        assert_success(bfResetEvent(a));
        assert_false(readable(a));
        bf_event_release(inner);
        bfDestroyEvent(a);
    }
}

/* --------------------------------------------------------------------------------- Descriptors */

TEST_WITH(the_descriptor_is_the_events_own_and_stays, setup, teardown)
{
    a = make(AUTO), b = make(AUTO);
    int fd = bfGetEventFd(a);
    assert_true(fd >= 0);
    assert_int_not_equal(fd, bfGetEventFd(b));
    assert_true(fcntl(fd, F_GETFD) & FD_CLOEXEC);
    assert_true(fcntl(fd, F_GETFL) & O_NONBLOCK);
    bfSetEvent(a);
    bfResetEvent(a);
    assert_int_equal(bfGetEventFd(a), fd);
    assert_int_equal(descriptors(), descriptors_before + 2);
    bfDestroyEvent(a);
    assert_int_equal(fcntl(fd, F_GETFD), -1);
    bfDestroyEvent(b);
}

TEST_WITH(poll_sees_it_while_it_is_set, setup, teardown)
{
    for (BfEventFlags flags = AUTO; flags <= MANUAL; flags++) {
        a = make(flags);
        assert_false(readable(a));
        bfSetEvent(a);
        assert_true(readable(a));
        assert_true(readable(a)); /* polling takes nothing */
        bfResetEvent(a);
        assert_false(readable(a));
        bfSetEvent(a);
        assert_success(look(a)); /* "bfWaitForEvents with a timeout of 0" */
        assert_int_equal(readable(a), flags == MANUAL);
        bfDestroyEvent(a);
    }
}

TEST_WITH(epoll_sees_it_level_and_edge_triggered, setup, teardown)
{
    int epoll = epoll_create1(EPOLL_CLOEXEC);
    a = make(AUTO), b = make(MANUAL);
    struct epoll_event level = {.events = EPOLLIN, .data.u32 = 1};
    struct epoll_event edge = {.events = EPOLLIN | EPOLLET, .data.u32 = 2};
    assert_int_equal(epoll_ctl(epoll, EPOLL_CTL_ADD, bfGetEventFd(a), &level), 0);
    assert_int_equal(epoll_ctl(epoll, EPOLL_CTL_ADD, bfGetEventFd(b), &edge), 0);
    struct epoll_event seen[2];
    assert_int_equal(epoll_wait(epoll, seen, 2, 0), 0);
    bfSetEvent(a);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(epoll_wait(epoll, seen, 2, 0), 1);
        assert_int_equal(seen[0].data.u32, 1);
    }
    assert_success(look(a));
    assert_int_equal(epoll_wait(epoll, seen, 2, 0), 0);
    for (int i = 0; i < 2; i++) { /* each setting is an edge, also of one that is set */
        bfSetEvent(b);
        assert_int_equal(epoll_wait(epoll, seen, 2, 0), 1);
        assert_int_equal(seen[0].data.u32, 2);
        assert_int_equal(epoll_wait(epoll, seen, 2, 0), 0);
    }
    bfDestroyEvent(a); /* its descriptor leaves the set with it */
    bfDestroyEvent(b);
    assert_int_equal(epoll_wait(epoll, seen, 2, 0), 0);
    close(epoll);
}

/* ---------------------------------------------------------------------- Waiting for one of them */

TEST_WITH(one_takes_the_lowest_alone, setup, teardown)
{
    BfEvent events[] = {make(AUTO), make(AUTO | SET), make(MANUAL | SET), make(AUTO | SET)};
    uint32_t index = 77;
    assert_success(bfWaitForEvents(4, events, VK_FALSE, UINT64_MAX, &index));
    assert_int_equal(index, 1);
    assert_false(readable(events[1]));
    assert_true(readable(events[2]) && readable(events[3]));
    assert_success(bfWaitForEvents(4, events, VK_FALSE, 0, &index));
    assert_int_equal(index, 2); /* it stays */
    assert_success(bfWaitForEvents(4, events, VK_FALSE, 0, NULL));
    assert_true(readable(events[2]) && readable(events[3]));
    bfResetEvent(events[2]);
    assert_success(bfWaitForEvents(4, events, VK_FALSE, 0, &index));
    assert_int_equal(index, 3);
    index = 77;
    assert_int_equal(bfWaitForEvents(4, events, VK_FALSE, 0, &index), VK_TIMEOUT);
    assert_int_equal(index, 77);
    for (int i = 0; i < 4; i++)
        bfDestroyEvent(events[i]);
}

TEST_WITH(one_may_name_an_event_twice, setup, teardown)
{
    a = make(AUTO | SET), b = make(AUTO);
    BfEvent events[] = {b, a, a};
    uint32_t index;
    assert_success(bfWaitForEvents(3, events, VK_FALSE, 0, &index));
    assert_int_equal(index, 1);
    assert_int_equal(bfWaitForEvents(3, events, VK_FALSE, 0, &index), VK_TIMEOUT);
    bfDestroyEvent(a);
    bfDestroyEvent(b);
}

static void steal(uint32_t call)
{
    if (call == 1)
        assert_success(look(a));
}

static void set_other(uint32_t call)
{
    if (call == 3) /* the second was the theft's own */
        bfSetEvent(b);
}

TEST_WITH(one_goes_on_when_somebody_was_faster, setup, teardown)
{
    a = make(AUTO | SET), b = make(AUTO);
    BfEvent events[] = {a, b};
    polled.after = steal;
    polled.before = set_other;
    uint32_t index;
    assert_success(bfWaitForEvents(2, events, VK_FALSE, UINT64_MAX, &index));
    assert_int_equal(index, 1);
    bfDestroyEvent(a);
    bfDestroyEvent(b);
}

/* ---------------------------------------------------------------------- Waiting for all of them */

TEST_WITH(all_resets_none_before_all_are_set, setup, teardown)
{
    BfEvent events[] = {make(AUTO | SET), make(AUTO), make(MANUAL | SET), make(AUTO | SET)};
    uint32_t index = 77;
    assert_int_equal(bfWaitForEvents(4, events, VK_TRUE, 0, &index), VK_TIMEOUT);
    assert_int_equal(bfWaitForEvents(4, events, VK_TRUE, 1000, &index), VK_TIMEOUT);
    assert_true(readable(events[0]) && readable(events[2]) && readable(events[3]));
    bfSetEvent(events[1]);
    assert_success(bfWaitForEvents(4, events, VK_TRUE, 0, &index));
    assert_int_equal(index, 77);
    assert_false(readable(events[0]) || readable(events[1]) || readable(events[3]));
    assert_true(readable(events[2]));
    for (int i = 0; i < 4; i++)
        bfDestroyEvent(events[i]);
}

static void set_in_turn(uint32_t call)
{
    switch (call) {
    case 2: /* the first that may block: a alone */
        assert_false(readable(a) || readable(b));
        bfSetEvent(a);
        break;
    case 3: /* a was enough for nothing, and it is still there */
        assert_true(readable(a) && !readable(b));
        bfResetEvent(a);
        bfSetEvent(b);
        break;
    case 4: /* both have been seen, but not both at once: looked, */
        assert_true(!readable(a) && readable(b));
        break;
    case 5: /* and blocks for a again */
        bfSetEvent(a);
        break;
    default:
        break;
    }
}

TEST_WITH(all_asks_that_they_be_set_together, setup, teardown)
{
    a = make(AUTO), b = make(AUTO);
    BfEvent events[] = {a, b};
    polled.before = set_in_turn;
    assert_success(bfWaitForEvents(2, events, VK_TRUE, UINT64_MAX, NULL));
    assert_int_equal(polled.calls, 6); /* and nothing was done in vain */
    polled.before = NULL;
    assert_false(readable(a) || readable(b));
    bfDestroyEvent(a);
    bfDestroyEvent(b);
}

static void read_second(uint32_t call)
{
    uint64_t amount;
    if (call == 1)
        assert_int_equal(read(bfGetEventFd(b), &amount, sizeof(amount)), sizeof(amount));
}

/* Not for a program to do, but no reason to lose what others have set. */
TEST_WITH(all_puts_back_when_one_is_stolen, setup, teardown)
{
    BfEvent manual = make(MANUAL | SET);
    a = make(AUTO | SET), b = make(AUTO | SET);
    BfEvent events[] = {a, manual, b};
    polled.after = read_second;
    assert_int_equal(bfWaitForEvents(3, events, VK_TRUE, 1000, NULL), VK_TIMEOUT);
    polled.after = NULL;
    assert_true(readable(a) && readable(manual));
    assert_false(readable(b));
    bfSetEvent(b);
    assert_success(bfWaitForEvents(3, events, VK_TRUE, 0, NULL));
    assert_false(readable(a));
    bfDestroyEvent(a);
    bfDestroyEvent(b);
    bfDestroyEvent(manual);
}

TEST_WITH(all_refuses_the_same_twice, setup, teardown)
{
    BfEvent events[] = {make(AUTO | SET), make(AUTO | SET), make(MANUAL | SET), NULL};
    for (uint32_t twice = 0; twice < 3; twice++) {
        events[3] = events[twice];
        COMPLAINS("bfWaitForEvents", bfWaitForEvents(4, events, VK_TRUE, UINT64_MAX, NULL),
                  INVALID);
    }
    assert_success(bfWaitForEvents(3, events, VK_TRUE, 0, NULL));
    for (int i = 0; i < 3; i++)
        bfDestroyEvent(events[i]);
}

/* ------------------------------------------------------------------------ Counts, times, errors */

TEST_WITH(from_one_to_sixty_four, setup, teardown)
{
    BfEvent events[BF_MAX_WAIT_EVENTS + 1];
    const uint32_t most = BF_MAX_WAIT_EVENTS;
    assert_int_equal(most, 64);
    for (uint32_t i = 0; i <= most; i++)
        events[i] = make(AUTO);
    uint32_t index = 0;
    bfSetEvent(events[most - 1]);
    assert_success(bfWaitForEvents(most, events, VK_FALSE, 0, &index));
    assert_int_equal(index, most - 1);
    for (uint32_t i = 0; i < most; i++) {
        assert_int_equal(bfWaitForEvents(most, events, VK_TRUE, 0, NULL), VK_TIMEOUT);
        bfSetEvent(events[(i * 37) % most]); /* in a scattered order, each once */
    }
    bfSetEvent(events[most]);
    assert_success(bfWaitForEvents(most, events, VK_TRUE, 0, NULL));
    for (uint32_t i = 0; i < most; i++)
        assert_false(readable(events[i]));
    for (VkBool32 all = VK_FALSE; all <= VK_TRUE; all++) {
        const char *call = "bfWaitForEvents";
        COMPLAINS(call, bfWaitForEvents(most + 1, events, all, UINT64_MAX, NULL), INVALID);
        COMPLAINS(call, bfWaitForEvents(UINT32_MAX, events, all, UINT64_MAX, NULL), INVALID);
        COMPLAINS(call, bfWaitForEvents(0, events, all, UINT64_MAX, NULL), INVALID);
        COMPLAINS(call, bfWaitForEvents(1, NULL, all, UINT64_MAX, NULL), INVALID);
    }
    assert_true(readable(events[most]));
    for (uint32_t i = 0; i <= most; i++)
        bfDestroyEvent(events[i]);
}

static void set_first(uint32_t call)
{
    if (!readable(a))
        bfSetEvent(a);
}

TEST_WITH(timeouts_count_from_the_call, setup, teardown)
{
    a = make(AUTO);
    for (VkBool32 all = VK_FALSE; all <= VK_TRUE; all++) {
        uint64_t timeout = 3000000, begin = bf_now_ns();
        assert_int_equal(bfWaitForEvents(1, &a, all, timeout, NULL), VK_TIMEOUT);
        assert_true(bf_now_ns() - begin >= timeout);
        assert_int_equal(bfWaitForEvents(1, &a, all, 0, NULL), VK_TIMEOUT);
        assert_int_equal(polled.timeout, 0);
        /* Without end, and longer than the clock goes, are the same. */
        for (uint64_t less = 0; less < 2; less++) {
            polled.calls = 0;
            polled.before = set_first;
            assert_success(bfWaitForEvents(1, &a, all, UINT64_MAX - less, NULL));
            polled.before = NULL;
            assert_true(polled.endless || all); /* 'all' has looked first, and found it */
        }
    }
    bfDestroyEvent(a);
}

static void set_at_last(uint32_t call)
{
    if (call == polled.skip + 11)
        bfSetEvent(a);
}

static void let_time_pass(uint32_t call)
{
    uint64_t begin = bf_now_ns();
    while (bf_now_ns() == begin)
        ;
    if (call <= polled.skip + 1)
        polled.longer = false;
}

TEST_WITH(signals_interrupt_nothing, setup, teardown)
{
    a = make(AUTO);
    polled.error = EINTR;
    for (VkBool32 all = VK_FALSE; all <= VK_TRUE; all++) {
        polled.skip = all; /* it has looked before it blocks */
        polled.calls = 0;
        polled.errors = 10;
        polled.before = set_at_last;
        assert_success(bfWaitForEvents(1, &a, all, UINT64_MAX, NULL));
        assert_int_equal(polled.errors, 0);
        /* Each time only what is left of the timeout is waited for. */
        polled.before = let_time_pass;
        polled.calls = 0;
        polled.errors = 10;
        uint64_t timeout = 3000000, begin = bf_now_ns();
        assert_int_equal(bfWaitForEvents(1, &a, all, timeout, NULL), VK_TIMEOUT);
        assert_int_equal(polled.errors, 0);
        assert_false(polled.longer);
        assert_true(bf_now_ns() - begin >= timeout);
        /* Looking is not interrupted either. */
        polled.skip = polled.calls = 0;
        polled.errors = 10;
        assert_int_equal(bfWaitForEvents(1, &a, all, 0, NULL), VK_TIMEOUT);
        assert_int_equal(polled.errors, 0);
    }
    bfDestroyEvent(a);
}

TEST_WITH(a_poll_that_fails_is_an_error, setup, teardown)
{
    a = make(AUTO | SET);
    for (VkBool32 all = VK_FALSE; all <= VK_TRUE; all++) {
        polled.error = ENOMEM;
        polled.errors = 1;
        COMPLAINS("bfWaitForEvents", bfWaitForEvents(1, &a, all, UINT64_MAX, NULL),
                  VK_ERROR_OUT_OF_HOST_MEMORY);
    }
    assert_success(look(a));
    bfDestroyEvent(a);
}

/* Not for a program to do; it must not make a wait spin. */
TEST_WITH(a_closed_descriptor_is_an_error, setup, teardown)
{
    a = make(AUTO), b = make(AUTO);
    BfEvent events[] = {a, b};
    int fd = bfGetEventFd(b);
    for (VkBool32 all = VK_FALSE; all <= VK_TRUE; all++) {
        capture_start(&capture);
        int copy = dup(fd);
        close(fd);
        VkResult result = bfWaitForEvents(2, events, all, UINT64_MAX, NULL);
        dup2(copy, fd);
        close(copy);
        capture_expect("bfWaitForEvents");
        assert_int_equal(result, INVALID);
    }
    bfDestroyEvent(a);
    bfDestroyEvent(b);
}

/* ---------------------------------------------------------------------------- Registered events */

TEST_WITH(destroyed_while_registered, setup, teardown)
{
    a = make(AUTO);
    int fd = bfGetEventFd(a);
    struct bf_event *first = bf_event_of(a, "test"), *second = bf_event_of(a, "test");
    assert_non_null(first);
    assert_ptr_equal(first, second);
    assert_true(bf_event_set(first));
    assert_success(look(a));
    bf_event_release(first);
    assert_true(bf_event_set(second));
    bfDestroyEvent(a);
    assert_int_equal(fcntl(fd, F_GETFD), -1); /* at once */
    int other = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    assert_int_equal(other, fd); /* the number is somebody else's now */
    assert_false(bf_event_set(second));
    uint64_t amount;
    assert_int_equal(read(other, &amount, sizeof(amount)), -1);
    bf_event_release(second);
    bf_event_release(NULL);
    close(other);
}
