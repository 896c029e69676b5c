/* SPDX-License-Identifier: MIT */
/* Items: which of their functions is called, where, in which order, and how many at a time, through
 * the lives and deaths of devices. */
#include "helper.h"

#include <dirent.h>
#include <sys/syscall.h>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define TIMES 1000
#else
#define TIMES 10000
#endif

static pid_t self(void)
{
    return (pid_t)syscall(SYS_gettid);
}

static uint32_t threads_of_process(void)
{
    uint32_t count = 0;
    DIR *folder = opendir("/proc/self/task");
    assert_non_null(folder);
    const struct dirent *entry;
    while ((entry = readdir(folder)))
        count += entry->d_name[0] != '.';
    closedir(folder);
    return count;
}

/* The kernel lists a thread for a moment longer than it takes to be joined. */
static void await_threads(uint32_t count)
{
    while (threads_of_process() > count)
        sched_yield();
}

/* ------------------------------------------------------------------------------------- Order -- */

TEST(items_begin_in_the_order_they_came_in)
{
    enum { COUNT = 200 };
    struct story s = STORY;
    struct gate gate = CLOSED; /* the first stands until all are there */
    struct item items[COUNT];
    struct bf_background *b =
        make_with(&(struct bf_background_info){.tasks = 1, .proc = "/nonexistent"});
    for (int i = 0; i < COUNT; i++) {
        items[i] = (struct item){.story = &s, .number = i, .gate = i ? NULL : &gate};
        queue(b, &items[i]);
        if (i == 0)
            story_await(&s, 0, BEGAN);
    }
    gate_open(&gate);
    story_await(&s, COUNT - 1, ENDED);
    for (int i = 0; i < COUNT; i++) {
        assert_int_equal(s.entries[2 * i].item, i);
        assert_int_equal(s.entries[2 * i + 1].item, i);
    }
    assert_int_equal(s.most_running, 1);
    bf_background_destroy(b);
}

TEST(two_run_at_a_time)
{
    struct story s = STORY;
    struct gate first = CLOSED, rest = CLOSED;
    struct bf_background *b = make();
    struct item items[4];
    for (int i = 0; i < 4; i++) {
        items[i] = (struct item){.story = &s, .number = i, .gate = i == 0 ? &first : &rest};
        queue(b, &items[i]);
    }
    story_await(&s, 0, BEGAN);
    story_await(&s, 1, BEGAN);
    assert_int_equal(story_count(&s, 2, BEGAN), 0);
    gate_open(&first);
    story_await(&s, 2, BEGAN);
    assert_true(story_at(&s, 0, ENDED) < story_at(&s, 2, BEGAN));
    assert_int_equal(story_count(&s, 3, BEGAN), 0);
    gate_open(&rest);
    story_await(&s, 3, ENDED);
    assert_int_equal(s.most_running, 2);
    bf_background_destroy(b);
}

TEST(two_of_all_devices_run_at_a_time_the_oldest_first)
{
    struct story s = STORY;
    struct gate gates[6];
    struct bf_background *a = make(), *b = make();
    struct item items[6];
    for (int i = 0; i < 6; i++) {
        gates[i] = (struct gate)CLOSED;
        items[i] = (struct item){.story = &s, .number = i, .gate = &gates[i]};
        queue(i % 3 == 0 ? a : b, &items[i]); /* a b b a b b */
    }
    for (int i = 0; i < 6; i++) {
        story_await(&s, i, BEGAN);
        if (i > 0) {
            for (int later = i + 1; later < 6; later++)
                assert_int_equal(story_count(&s, later, BEGAN), 0);
            gate_open(&gates[i - 1]);
        }
    }
    gate_open(&gates[5]);
    story_await(&s, 5, ENDED);
    assert_int_equal(s.most_running, 2);
    bf_background_destroy(a);
    bf_background_destroy(b);
}

TEST(the_least_limit_of_all_devices_counts)
{
    struct story s = STORY;
    struct gate gate = CLOSED;
    struct bf_background *many =
        make_with(&(struct bf_background_info){.tasks = 5, .proc = "/nonexistent"});
    struct bf_background *one =
        make_with(&(struct bf_background_info){.tasks = 1, .proc = "/nonexistent"});
    struct item items[5];
    for (int i = 0; i < 5; i++) {
        items[i] = (struct item){.story = &s, .number = i, .gate = &gate};
        queue(many, &items[i]);
    }
    story_await(&s, 0, BEGAN);
    gate_open(&gate);
    story_await(&s, 4, ENDED);
    assert_int_equal(s.most_running, 1);
    struct gate wide = CLOSED;
    for (int i = 0; i < 5; i++) {
        items[i] = (struct item){.story = &s, .number = 10 + i, .gate = &wide};
        queue(many, &items[i]);
    }
    story_await(&s, 10, BEGAN);
    bf_background_destroy(one); /* and what waits for it alone begins */
    for (int i = 0; i < 5; i++)
        story_await(&s, 10 + i, BEGAN);
    gate_open(&wide);
    bf_background_destroy(many);
}

/* ------------------------------------------------------------------------------- Exactly one -- */

struct chain {
    struct bf_background *b;
    struct item items[50];
};

static void queue_next(struct item *item)
{
    struct chain *chain = item->data;
    struct item *next = item + 1;
    if (next < chain->items + 50)
        bf_background_queue(chain->b, item_run, item_cancel, next);
}

TEST(callbacks_may_queue_more)
{
    struct story s = STORY;
    struct chain chain = {.b = make()};
    for (int i = 0; i < 50; i++)
        chain.items[i] = (struct item){.story = &s, .number = i, .run = queue_next, .data = &chain};
    queue(chain.b, &chain.items[0]);
    story_await(&s, 49, ENDED);
    bf_background_destroy(chain.b);
    for (int i = 0; i < 50; i++) {
        assert_int_equal(story_count(&s, i, ENDED), 1);
        assert_int_equal(story_count(&s, i, CANCELLED), 0);
    }
}

TEST(destroying_cancels_what_has_not_begun_on_the_destroying_thread)
{
    struct story s = STORY;
    struct gate gate = CLOSED;
    struct bf_background *b = make();
    struct item items[10];
    for (int i = 0; i < 10; i++) {
        items[i] = (struct item){.story = &s, .number = i, .gate = i < 2 ? &gate : NULL};
        queue(b, &items[i]);
    }
    /* One that nobody is told about. */
    assert_success(bf_background_queue(b, item_run, NULL, &items[9]));
    story_await(&s, 0, BEGAN);
    story_await(&s, 1, BEGAN);
    pthread_t opener;
    assert_int_equal(pthread_create(&opener, NULL, (void *(*)(void *))(void *)gate_open, &gate), 0);
    bf_background_destroy(b);
    pthread_join(opener, NULL);
    for (int i = 0; i < 10; i++) {
        uint32_t ended = story_count(&s, i, ENDED), given_up = story_count(&s, i, CANCELLED);
        assert_true(i == 9 ? ended + given_up <= 2 && ended + given_up >= 1
                           : ended + given_up == 1);
        if (given_up)
            assert_int_equal(story_entry(&s, i, CANCELLED).thread, self());
    }
    assert_int_equal(s.running, 0);
    assert_int_equal(story_count(&s, 0, ENDED), 1);
}

/* Both workers stand until the device is being destroyed: everything else is cancelled. */
static void open_from_cancel(struct item *item)
{
    gate_open(item->data);
}

TEST(destroying_waits_for_what_has_begun)
{
    struct story s = STORY;
    struct gate gate = CLOSED;
    struct bf_background *b = make();
    struct item items[5];
    for (int i = 0; i < 5; i++) {
        items[i] = (struct item){.story = &s,
                                 .number = i,
                                 .gate = i < 2 ? &gate : NULL,
                                 .cancel = i == 4 ? open_from_cancel : NULL,
                                 .data = &gate};
        queue(b, &items[i]);
    }
    story_await(&s, 0, BEGAN);
    story_await(&s, 1, BEGAN);
    bf_background_destroy(b);
    for (int i = 0; i < 5; i++) {
        assert_int_equal(story_count(&s, i, ENDED), i < 2);
        assert_int_equal(story_count(&s, i, CANCELLED), i >= 2);
    }
    assert_true(story_at(&s, 2, CANCELLED) < story_at(&s, 3, CANCELLED));
    assert_true(story_at(&s, 3, CANCELLED) < story_at(&s, 4, CANCELLED));
}

static void queue_again(struct item *item)
{
    struct chain *chain = item->data;
    struct item *next = item + 10;
    bf_background_queue(chain->b, item_run, item_cancel, next);
}

TEST(cancels_and_late_callbacks_may_queue_more)
{
    struct story s = STORY;
    struct gate gate = CLOSED;
    struct chain chain = {.b = make()};
    for (int i = 0; i < 50; i++)
        chain.items[i] = (struct item){.story = &s, .number = i, .data = &chain};
    for (int i = 0; i < 6; i++) {
        chain.items[i].gate = i < 2 ? &gate : NULL;
        chain.items[i].run = chain.items[i].cancel = queue_again;
        queue(chain.b, &chain.items[i]);
    }
    chain.items[15].cancel = open_from_cancel;
    chain.items[15].data = &gate;
    story_await(&s, 0, BEGAN);
    story_await(&s, 1, BEGAN);
    bf_background_destroy(chain.b);
    for (int i = 0; i < 6; i++) {
        assert_int_equal(story_count(&s, i, ENDED), i < 2);
        assert_int_equal(story_count(&s, 10 + i, CANCELLED), 1);
        assert_int_equal(story_count(&s, 10 + i, BEGAN), 0);
    }
}

static void destroy_other(struct item *item)
{
    bf_background_destroy(item->data);
}

TEST(callbacks_may_destroy_other_devices)
{
    struct story s = STORY;
    struct gate gate = CLOSED;
    struct bf_background *a = make(), *b = make();
    struct item stuck = {.story = &s, .number = 0, .gate = &gate};
    struct item destroyer = {.story = &s, .number = 1, .run = destroy_other, .data = b};
    struct item late = {.story = &s, .number = 2, .cancel = open_from_cancel, .data = &gate};
    queue(b, &stuck);
    story_await(&s, 0, BEGAN);
    destroyer.gate = &gate;
    queue(a, &destroyer);
    story_await(&s, 1, BEGAN);
    queue(b, &late);
    gate_open(&gate);
    story_await(&s, 1, ENDED);
    assert_true(story_at(&s, 0, ENDED) < story_at(&s, 1, ENDED));
    assert_int_equal(story_count(&s, 2, ENDED) + story_count(&s, 2, CANCELLED), 1);
    bf_background_destroy(a);
}

TEST(an_item_that_destroys_its_own_device_does_not_wait_for_itself)
{
    struct story s = STORY;
    uint32_t threads = threads_of_process();
    struct bf_background *b = make();
    struct item item = {.story = &s, .number = 0, .run = destroy_other, .data = b};
    struct gate gate = CLOSED;
    item.gate = &gate;
    queue(b, &item);
    story_await(&s, 0, BEGAN);
    struct item more[5];
    struct gate other = CLOSED;
    more[0] = (struct item){.story = &s, .number = 1, .gate = &other};
    queue(b, &more[0]);
    story_await(&s, 1, BEGAN);
    for (int i = 1; i < 5; i++) {
        more[i] = (struct item){.story = &s,
                                .number = 1 + i,
                                .cancel = i == 4 ? open_from_cancel : NULL,
                                .data = &other};
        queue(b, &more[i]);
    }
    gate_open(&gate);
    story_await(&s, 0, ENDED);
    assert_true(story_at(&s, 1, ENDED) < story_at(&s, 0, ENDED));
    for (int i = 1; i < 5; i++)
        assert_int_equal(story_count(&s, 1 + i, CANCELLED), 1);
    await_threads(threads); /* nobody could join the last ones */
}

/* ----------------------------------------------------------------------------------- Threads -- */

static void count_up(void *context)
{
    atomic_fetch_add((_Atomic uint32_t *)context, 1);
}

/* Each push comes about when the dispatcher goes to sleep after the one before. */
TEST(no_push_is_missed)
{
    struct bf_background *b = make();
    _Atomic uint32_t done = 0;
    for (uint32_t i = 0; i < TIMES; i++) {
        assert_success(bf_background_queue(b, count_up, NULL, (void *)&done));
        while (atomic_load(&done) <= i)
            sched_yield();
        for (uint32_t k = 0; k < i * 37 % 2000; k++)
            atomic_load(&done);
    }
    bf_background_destroy(b);
}

TEST(no_thread_before_the_first_item_and_none_after_the_last_device)
{
    struct story s = STORY;
    uint32_t before = threads_of_process();
    struct bf_background *a = make(), *b = make();
    set_mode(a, DISABLED, COMMIT);
    set_mode(a, ALLOWED, KEEP);
    assert_int_equal(threads_of_process(), before);
    struct item items[8];
    for (int i = 0; i < 8; i++) {
        items[i] = (struct item){.story = &s, .number = i};
        queue(a, &items[i]);
    }
    story_await(&s, 7, ENDED);
    assert_true(threads_of_process() > before);
    assert_true(threads_of_process() <= before + 3); /* the dispatcher and two workers */
    bf_background_destroy(a);
    bf_background_destroy(b);
    await_threads(before);
}

TEST(devices_come_and_go)
{
    struct story s = STORY;
    uint32_t before = threads_of_process();
    for (int round = 0; round < 100; round++) {
        struct bf_background *b = make();
        struct item items[6];
        for (int i = 0; i < 6; i++) {
            items[i] = (struct item){.story = &s, .number = 6 * round + i};
            queue(b, &items[i]);
        }
        bf_background_destroy(b);
        for (int i = 0; i < 6; i++)
            assert_int_equal(story_count(&s, 6 * round + i, ENDED) +
                                 story_count(&s, 6 * round + i, CANCELLED),
                             1);
    }
    await_threads(before);
}

/* ------------------------------------------------------------------------------------- Hangs -- */

/* Opens the gate once the line has been written. */
struct listener {
    int from;
    struct gate *gate;
    char line[1024];
};

static void *listen(void *argument)
{
    struct listener *l = argument;
    size_t length = 0;
    while (length < sizeof(l->line) - 1 && !strchr(l->line, '\n')) {
        ssize_t got = read(l->from, l->line + length, sizeof(l->line) - 1 - length);
        if (got <= 0)
            break;
        length += (size_t)got;
    }
    gate_open(l->gate);
    return NULL;
}

void hanging_item(void *item);
void hanging_item(void *item)
{
    item_run(item);
}

TEST(an_item_that_hangs_is_named_in_one_line)
{
    struct story s = STORY;
    struct gate gate = CLOSED;
    struct bf_background *b = make_with(&(struct bf_background_info){
        .tasks = 2, .hang_ns = 1000000, .proc = "/nonexistent", .device = (void *)0x1234});
    struct item item = {.story = &s, .number = 0, .gate = &gate};
    assert_success(bf_background_queue(b, hanging_item, NULL, &item));
    story_await(&s, 0, BEGAN);
    int ends[2], before = dup(STDERR_FILENO);
    assert_int_equal(pipe(ends), 0);
    dup2(ends[1], STDERR_FILENO);
    close(ends[1]);
    struct listener listener = {.from = ends[0], .gate = &gate};
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, listen, &listener), 0);
    bf_background_destroy(b);
    dup2(before, STDERR_FILENO);
    close(before);
    pthread_join(thread, NULL);
    close(ends[0]);
    char expected[64];
    snprintf(expected, sizeof(expected), "callback %p", (void *)(uintptr_t)hanging_item);
    if (!strstr(listener.line, expected) || !strstr(listener.line, "0x1234"))
        fail_msg("'%s' doesn't name '%s'", listener.line, expected);
    assert_ptr_equal(strchr(listener.line, '\n') + 1, listener.line + strlen(listener.line));
    assert_int_equal(story_count(&s, 0, ENDED), 1);
}

/* --------------------------------------------------------------------------------- Bad input -- */

TEST(a_null_callback_is_refused)
{
    struct story s = STORY;
    struct bf_background *b = make();
    struct item item = {.story = &s, .number = 0};
    assert_bad_input(bf_background_queue(b, NULL, item_cancel, &item));
    bf_background_destroy(b);
    assert_int_equal(s.count, 0);
}
