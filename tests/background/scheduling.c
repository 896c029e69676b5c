/* SPDX-License-Identifier: MIT */
/* Which threads run items, and how the kernel schedules those: idle workers, the boost, what a
 * driver is prepared on, forks. All of it once more as a user without privileges, whom the kernel
 * lets go into SCHED_IDLE, but not out of it. */
#include "helper.h"

#include "background/worker_pool.h"
#include "base/thread.h"
#include "fence/event.h"

#include <grp.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#define NOBODY 65534

static BfEvent make_event(void)
{
    BfEvent event = NULL;
    assert_success(bfCreateEvent(0, &event));
    return event;
}

/* ----------------------------------------------------------------------------- Idle workers --- */

static void read_io_class(struct item *item)
{
    atomic_store((_Atomic long *)item->data, syscall(SYS_ioprio_get, 1, 0) >> 13);
}

TEST(items_run_at_idle_priority_and_io_class)
{
    struct story s = STORY;
    struct bf_background *b = make();
    _Atomic long io_class = -1;
    struct item items[8];
    for (int i = 0; i < 8; i++) {
        items[i] = (struct item){.story = &s, .number = i, .run = read_io_class, .data = &io_class};
        queue(b, &items[i]);
    }
    story_await(&s, 7, ENDED);
    bf_background_destroy(b);
    for (int i = 0; i < 8; i++) {
        assert_int_equal(story_entry(&s, i, BEGAN).policy, SCHED_IDLE);
        assert_int_equal(story_entry(&s, i, ENDED).policy, SCHED_IDLE);
    }
    assert_int_equal(io_class, 3);
    assert_int_equal(sched_getscheduler(0), SCHED_OTHER);
}

static void leave_idle(struct item *item)
{
    const struct sched_param none = {0};
    *(int *)item->data = sched_setscheduler(0, SCHED_OTHER, &none) ? errno : 0;
}

/* Without this the rest proves nothing: here the kernel refuses to promote an idle thread. */
TEST(a_user_without_privileges_cannot_leave_idle)
{
    if (geteuid() == 0) {
        print_message("as root the kernel permits it\n");
        skip();
    }
    struct story s = STORY;
    struct bf_background *b = make();
    int error = -1;
    struct item item = {.story = &s, .number = 0, .run = leave_idle, .data = &error};
    queue(b, &item);
    story_await(&s, 0, ENDED);
    bf_background_destroy(b);
    assert_int_equal(error, EPERM);
}

/* ------------------------------------------------------------------------------------ The boost */

struct boost {
    struct story s;
    struct gate gate, boosted;
    struct bf_background *b;
    struct item stuck[2], items[8];
    BfEvent event;
};

/* Two items run, idle, and eight are queued behind them. */
static void boost_open_with(struct boost *t, bool developer_mode)
{
    t->s = (struct story)STORY;
    t->gate = (struct gate)CLOSED;
    t->boosted = (struct gate)CLOSED;
    t->b = make_with(&(struct bf_background_info){
        .tasks = 2, .developer_mode = developer_mode, .proc = "/nonexistent"});
    t->event = make_event();
    for (int i = 0; i < 2; i++) {
        t->stuck[i] = (struct item){.story = &t->s, .number = 100 + i, .gate = &t->gate};
        queue(t->b, &t->stuck[i]);
        story_await(&t->s, 100 + i, BEGAN);
    }
    for (int i = 0; i < 8; i++) {
        t->items[i] = (struct item){.story = &t->s, .number = i, .gate = &t->boosted};
        queue(t->b, &t->items[i]);
    }
}

static void boost_open(struct boost *t)
{
    boost_open_with(t, true);
}

/* No thread has been both. */
static void boost_close(struct boost *t)
{
    gate_open(&t->gate);
    gate_open(&t->boosted);
    bf_background_destroy(t->b);
    bfDestroyEvent(t->event);
    for (uint32_t i = 0; i < t->s.count; i++) {
        for (uint32_t k = 0; k < t->s.count; k++)
            if (t->s.entries[i].thread == t->s.entries[k].thread &&
                t->s.entries[i].what != CANCELLED && t->s.entries[k].what != CANCELLED)
                assert_int_equal(t->s.entries[i].policy, t->s.entries[k].policy);
    }
}

static void assert_boosted(struct boost *t)
{
    /* The idle ones stand. Several of the others run at once, on other threads. */
    story_await(&t->s, 0, BEGAN);
    story_await(&t->s, 1, BEGAN);
    gate_open(&t->boosted);
    for (int i = 0; i < 8; i++)
        story_await(&t->s, i, ENDED);
    for (int i = 0; i < 8; i++) {
        struct entry began = story_entry(&t->s, i, BEGAN);
        assert_int_equal(began.policy, SCHED_OTHER);
        assert_int_not_equal(began.thread, story_entry(&t->s, 100, BEGAN).thread);
        assert_int_not_equal(began.thread, story_entry(&t->s, 101, BEGAN).thread);
    }
    assert_int_equal(story_count(&t->s, 100, ENDED), 0);
    gate_open(&t->gate);
    story_await(&t->s, 100, ENDED);
    assert_int_equal(story_entry(&t->s, 100, ENDED).policy, SCHED_IDLE);
}

TEST_AROUND(high_priority_runs_what_has_not_begun_on_other_threads, struct boost, t, boost_open,
            boost_close)
{
    assert_success(bf_background_set_mode(t->b, ALLOWED, HIGH, t->event, NULL));
    assert_boosted(t);
    assert_success(bfWaitForEvents(1, &t->event, VK_FALSE, UINT64_MAX, NULL));
    assert_true(t->s.most_running >= 4); /* two of each */
    /* It lasts until the set is done, and no longer. */
    struct item after = {.story = &t->s, .number = 50};
    queue(t->b, &after);
    story_await(&t->s, 50, ENDED);
    assert_int_equal(story_entry(&t->s, 50, BEGAN).policy, SCHED_IDLE);
}

TEST_AROUND(a_plain_commit_boosts_nothing, struct boost, t, boost_open, boost_close)
{
    assert_success(bf_background_set_mode(t->b, ALLOWED, COMMIT, t->event, NULL));
    gate_open(&t->boosted);
    gate_open(&t->gate);
    while (bfWaitForEvents(1, &t->event, VK_FALSE, 0, NULL) == VK_TIMEOUT)
        sched_yield(); /* looks, and doesn't block */
    for (int i = 0; i < 8; i++)
        assert_int_equal(story_entry(&t->s, i, BEGAN).policy, SCHED_IDLE);
}

TEST_AROUND(later_items_do_not_overtake_those_that_are_boosted, struct boost, t, boost_open,
            boost_close)
{
    assert_success(bf_background_set_mode(t->b, ALLOWED, HIGH, NULL, NULL));
    struct item after = {.story = &t->s, .number = 50};
    queue(t->b, &after);
    gate_open(&t->gate); /* two idle workers are free, and boosted items are left */
    story_await(&t->s, 100, ENDED);
    story_await(&t->s, 101, ENDED);
    /* Another device's item shows that they were looked at. */
    struct bf_background *other = make();
    struct item elsewhere = {.story = &t->s, .number = 51};
    queue(other, &elsewhere);
    story_await(&t->s, 51, ENDED);
    assert_int_equal(story_count(&t->s, 50, BEGAN), 0);
    gate_open(&t->boosted);
    story_await(&t->s, 50, ENDED);
    bf_background_destroy(other);
}

static void *wait_for_event(void *argument)
{
    struct boost *t = argument;
    return (void *)(uintptr_t)bfWaitForEvents(1, &t->event, VK_TRUE, UINT64_MAX, NULL);
}

static void assert_not_boosted(struct boost *t)
{
    gate_open(&t->boosted);
    gate_open(&t->gate);
    for (int i = 0; i < 8; i++)
        story_await(&t->s, i, ENDED);
    for (int i = 0; i < 8; i++)
        assert_int_equal(story_entry(&t->s, i, BEGAN).policy, SCHED_IDLE);
}

static void wait_for_a_commit(bool developer_mode, void (*check)(struct boost *t))
{
    for (int first = 0; first < 2; first++) {
        struct boost t;
        boost_open_with(&t, developer_mode);
        pthread_t waiter;
        void *result = NULL;
        if (first) { /* who blocks before the commit is made counts as well */
            assert_int_equal(pthread_create(&waiter, NULL, wait_for_event, &t), 0);
            while (!bf_event_is_awaited((struct bf_event *)t.event))
                sched_yield();
        }
        assert_success(bf_background_set_mode(t.b, ALLOWED, COMMIT, t.event, NULL));
        if (!first)
            assert_int_equal(pthread_create(&waiter, NULL, wait_for_event, &t), 0);
        while (!bf_event_is_awaited((struct bf_event *)t.event))
            sched_yield();
        check(&t);
        pthread_join(waiter, &result);
        assert_success((uintptr_t)result);
        boost_close(&t);
    }
}

TEST(whoever_waits_for_a_commit_in_developer_mode_has_it_boosted)
{
    wait_for_a_commit(true, assert_boosted);
}

TEST(a_retail_programs_wait_for_a_commit_boosts_nothing)
{
    wait_for_a_commit(false, assert_not_boosted);
}

/* ---------------------------------------------------------------------------------- Preparation */

struct prepared {
    struct story s;
    int policy, thread_policy;
    bool before_items;
    _Atomic uint32_t calls;
};

static void *policy_read(void *policy)
{
    *(int *)policy = sched_getscheduler(0);
    return NULL;
}

static int policy_of_new_thread(void)
{
    int policy = -1;
    pthread_t thread;
    if (!pthread_create(&thread, NULL, policy_read, &policy))
        pthread_join(thread, NULL);
    return policy;
}

static void prepare(void *context)
{
    struct prepared *p = context;
    atomic_fetch_add(&p->calls, 1);
    p->before_items = story_count(&p->s, 0, BEGAN) == 0;
    p->policy = sched_getscheduler(0);
    p->thread_policy = policy_of_new_thread();
}

static void read_new_thread(struct item *item)
{
    atomic_store((_Atomic int *)item->data, policy_of_new_thread());
}

TEST(drivers_are_prepared_on_a_normal_thread_before_the_first_item)
{
    struct prepared p[2] = {{.calls = 0}};
    p[0].s = (struct story)STORY;
    p[1].s = (struct story)STORY;
    struct bf_background *other = make(), *b = make();
    struct item elsewhere = {.story = &p[0].s, .number = 9};
    queue(other, &elsewhere); /* there are idle workers already */
    story_await(&p[0].s, 9, ENDED);
    assert_success(bf_background_add_driver(b, &(BfBackgroundDriver){BF_TYPE(BACKGROUND_DRIVER),
                                                                     .pContext = &p[0],
                                                                     .pfnPrepare = prepare}));
    assert_int_equal(p[0].calls, 0);
    _Atomic int inherited = -1;
    struct item items[4];
    for (int i = 0; i < 4; i++) {
        items[i] = (struct item){
            .story = &p[0].s, .number = i, .run = read_new_thread, .data = &inherited};
        queue(b, &items[i]);
    }
    story_await(&p[0].s, 3, ENDED);
    assert_int_equal(p[0].calls, 1);
    assert_true(p[0].before_items);
    assert_int_equal(p[0].policy, SCHED_OTHER);
    assert_int_equal(p[0].thread_policy, SCHED_OTHER);
    assert_int_equal(inherited, SCHED_IDLE); /* for good: why there is such a function */
    /* One that comes later, while others are ready. */
    assert_success(bf_background_add_driver(b, &(BfBackgroundDriver){BF_TYPE(BACKGROUND_DRIVER),
                                                                     .pContext = &p[1],
                                                                     .pfnPrepare = prepare}));
    struct item last = {.story = &p[1].s, .number = 0};
    queue(b, &last);
    story_await(&p[1].s, 0, ENDED);
    assert_int_equal(p[0].calls, 1);
    assert_int_equal(p[1].calls, 1);
    assert_true(p[1].before_items);
    bf_background_destroy(b);
    bf_background_destroy(other);
}

/* ---------------------------------------------------------------------------------------- Forks */

static int child_of_fork(struct bf_background *inherited)
{
    struct story s = STORY;
    struct item item = {.story = &s, .number = 0};
    if (bf_background_queue(inherited, item_run, item_cancel, &item) !=
            VK_ERROR_VALIDATION_FAILED_EXT ||
        bf_background_set_mode(inherited, DISABLED, KEEP, NULL, NULL) !=
            VK_ERROR_VALIDATION_FAILED_EXT ||
        s.count)
        return 1;
    struct bf_background *own =
        bf_background_create(&(struct bf_background_info){.tasks = 2, .proc = "/nonexistent"});
    if (!own || bf_background_queue(own, item_run, item_cancel, &item) != VK_SUCCESS)
        return 2;
    story_await(&s, 0, ENDED);
    bf_background_destroy(own);
    bf_background_destroy(inherited); /* the items are the parent's */
    return s.count == 2 ? 0 : 3;
}

/* The boost's threads stand, and a device waits for one of them; others' items need none. */
TEST(a_device_that_waits_to_be_prepared_holds_up_no_other)
{
    struct story s = STORY;
    struct gate gate = CLOSED, idle_gate = CLOSED;
    struct prepared p = {.calls = 0};
    struct bf_background *boosted = make(), *fresh = make(), *other = make();
    struct item idle[2], high[BF_BOOST_MOST];
    const uint32_t processors = bf_thread_processors();
    const int boost = processors <= 3              ? 2
                      : processors > BF_BOOST_MOST ? BF_BOOST_MOST
                                                   : (int)processors - 1;
    for (int i = 0; i < 2; i++) {
        idle[i] = (struct item){.story = &s, .number = i, .gate = &idle_gate};
        queue(boosted, &idle[i]);
    }
    for (int i = 0; i < 2; i++)
        story_await(&s, i, BEGAN);
    for (int i = 0; i < boost; i++) { /* which the idle threads can't take meanwhile */
        high[i] = (struct item){.story = &s, .number = 10 + i, .gate = &gate};
        queue(boosted, &high[i]);
    }
    set_mode(boosted, ALLOWED, HIGH);
    for (int i = 0; i < boost; i++)
        story_await(&s, 10 + i, BEGAN);
    gate_open(&idle_gate);
    for (int i = 0; i < 2; i++)
        story_await(&s, i, ENDED);
    assert_success(bf_background_add_driver(
        fresh,
        &(BfBackgroundDriver){BF_TYPE(BACKGROUND_DRIVER), .pContext = &p, .pfnPrepare = prepare}));
    p.s = (struct story)STORY;
    struct item first = {.story = &s, .number = 50}, item = {.story = &s, .number = 51};
    queue(fresh, &first);
    queue(other, &item);
    story_await(&s, 51, ENDED);
    assert_int_equal(p.calls, 0);
    gate_open(&gate);
    story_await(&s, 50, ENDED);
    assert_int_equal(p.calls, 1);
    bf_background_destroy(other);
    bf_background_destroy(fresh);
    bf_background_destroy(boosted);
}

TEST(a_forked_child_has_a_pool_of_its_own)
{
#ifdef __SANITIZE_THREAD__
    print_message("a child of several threads can't make any under this sanitizer\n");
    skip();
#endif
    struct story s = STORY;
    struct gate gate = CLOSED;
    struct bf_background *b = make();
    struct item items[4];
    for (int i = 0; i < 4; i++) {
        items[i] = (struct item){.story = &s, .number = i, .gate = &gate};
        queue(b, &items[i]);
    }
    story_await(&s, 0, BEGAN);
    story_await(&s, 1, BEGAN);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        alarm(HELPER_SECONDS);
        _exit(child_of_fork(b));
    }
    int status = -1;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    gate_open(&gate);
    story_await(&s, 3, ENDED);
    bf_background_destroy(b);
    for (int i = 0; i < 4; i++)
        assert_int_equal(story_count(&s, i, ENDED), 1);
}

/* ----------------------------------------------------------------------- Real-time programs --- */

TEST(a_real_time_programs_items_are_idle_and_boosted_normally)
{
    const struct sched_param one = {.sched_priority = 1}, none = {0};
    if (sched_setscheduler(0, SCHED_FIFO, &one)) {
        print_message("this user may not be real-time\n");
        skip();
    }
    struct boost t;
    boost_open(&t);
    assert_int_equal(story_entry(&t.s, 100, BEGAN).policy, SCHED_IDLE);
    assert_success(bf_background_set_mode(t.b, ALLOWED, HIGH, t.event, NULL));
    assert_boosted(&t);
    boost_close(&t);
    assert_int_equal(sched_setscheduler(0, SCHED_OTHER, &none), 0);
}

/* In a child, which has given its privileges up. */
static int run_as_nobody(int argc, char **argv)
{
    pid_t child = fork();
    if (child == 0) {
        if (setgroups(0, NULL) || setgid(NOBODY) || setuid(NOBODY) || setuid(0) == 0)
            _exit(99);
        int failures = helper_main(argc, argv);
        fflush(NULL);
        exit(failures);
    }
    int status = -1;
    if (child < 0 || waitpid(child, &status, 0) != child || !WIFEXITED(status))
        return 1;
    return WEXITSTATUS(status);
}

int main(int argc, char **argv)
{
    int failures = geteuid() == 0 ? run_as_nobody(argc, argv) : 0;
    return failures + helper_main(argc, argv);
}
