/* SPDX-License-Identifier: MIT */
/* Lack of memory: pressure, which delays items, and allocations and threads that can't be had,
 * which leave everything as it was. */
#include "helper.h"

#include <fcntl.h>
#include <sys/stat.h>

#include "background/pressure.h"

/* ------------------------------------------------------------------------------------- Pressure */

/* A folder that stands for /proc. */
struct proc {
    char path[64];
};

static void proc_write(const struct proc *p, const char *name, const char *text)
{
    char path[128], other[140];
    snprintf(path, sizeof(path), "%s/%s", p->path, name);
    snprintf(other, sizeof(other), "%s.new", path);
    FILE *file = fopen(other, "w");
    assert_non_null(file);
    fputs(text, file);
    assert_int_equal(fclose(file), 0);
    assert_int_equal(rename(other, path), 0); /* readers see the one or the other */
}

static void proc_memory(const struct proc *p, uint64_t total, uint64_t available)
{
    char text[256];
    snprintf(text, sizeof(text),
             "MemTotal:       %8llu kB\nMemFree:           12 kB\nMemAvailable:   %8llu kB\n",
             (unsigned long long)total, (unsigned long long)available);
    proc_write(p, "meminfo", text);
}

static void proc_pressure(const struct proc *p, const char *some)
{
    char text[256];
    snprintf(text, sizeof(text),
             "some avg10=%s avg60=99.00 avg300=99.00 total=1\nfull avg10=99.00 avg60=0.00 "
             "avg300=0.00 total=1\n",
             some);
    proc_write(p, "pressure/memory", text);
}

static void proc_open(struct proc *p)
{
    snprintf(p->path, sizeof(p->path), "/tmp/belfry-proc-XXXXXX");
    assert_non_null(mkdtemp(p->path));
    char folder[128];
    snprintf(folder, sizeof(folder), "%s/pressure", p->path);
    assert_int_equal(mkdir(folder, 0700), 0);
    proc_memory(p, 1000, 900);
    proc_pressure(p, "0.00");
}

static void proc_close(struct proc *p)
{
    char path[128];
    static const char *const names[] = {"meminfo", "pressure/memory", "pressure", ""};
    for (int i = 0; i < 4; i++) {
        snprintf(path, sizeof(path), "%s/%s", p->path, names[i]);
        remove(path);
    }
}

static bool is_high(const struct proc *p)
{
    struct bf_pressure pressure = {.warned = true};
    bf_pressure_read(&pressure, p->path, 5);
    assert_int_equal(pressure.read_ns, 5);
    return pressure.high;
}

TEST(less_than_a_tenth_of_the_memory_is_pressure)
{
    struct proc p;
    proc_open(&p);
    assert_false(is_high(&p));
    proc_memory(&p, 1000, 100);
    assert_false(is_high(&p));
    proc_memory(&p, 1000, 99);
    assert_true(is_high(&p));
    proc_memory(&p, 1000, 900);
    proc_pressure(&p, "10.00");
    assert_false(is_high(&p));
    proc_pressure(&p, "10.01");
    assert_true(is_high(&p));
    /* What can't be read is no sign. */
    proc_write(&p, "pressure/memory", "");
    assert_false(is_high(&p));
    proc_write(&p, "meminfo", "MemTotal: 1000 kB\n");
    assert_false(is_high(&p));
    proc_close(&p);
    assert_false(is_high(&p));
}

TEST(under_pressure_no_item_begins_until_it_has_passed)
{
    struct proc p;
    struct story s = STORY;
    proc_open(&p);
    struct bf_background *b =
        make_with(&(struct bf_background_info){.tasks = 1, .developer_mode = true, .proc = p.path});
    /* Both signs at once, so that taking one away isn't enough. */
    proc_memory(&p, 1000, 10);
    int ends[2], before = dup(STDERR_FILENO);
    assert_int_equal(pipe2(ends, O_NONBLOCK), 0);
    dup2(ends[1], STDERR_FILENO);
    struct item items[3];
    for (int i = 0; i < 3; i++) {
        items[i] = (struct item){.story = &s, .number = i};
        queue(b, &items[i]);
    }
    /* Not even at normal priority. */
    set_mode(b, ALLOWED, HIGH);
    /* It has looked when it has said so. */
    char line[512] = "";
    size_t length = 0;
    while (!strchr(line, '\n')) {
        ssize_t got = read(ends[0], line + length, sizeof(line) - 1 - length);
        if (got > 0)
            length += (size_t)got;
    }
    assert_non_null(strstr(line, "background work waits: "));
    assert_int_equal(s.count, 0);
    proc_memory(&p, 1000, 900);
    story_await(&s, 2, ENDED);
    /* A second time it says nothing. */
    proc_memory(&p, 1000, 10);
    struct bf_pressure again = {.warned = true};
    bf_pressure_read(&again, p.path, 1);
    assert_true(again.high);
    bf_background_destroy(b);
    dup2(before, STDERR_FILENO);
    close(before);
    assert_int_equal(read(ends[0], line, sizeof(line)), -1);
    close(ends[0]);
    close(ends[1]);
    proc_close(&p);
}

TEST(destroying_does_not_wait_for_pressure_to_pass)
{
    struct proc p;
    struct story s = STORY;
    proc_open(&p);
    proc_memory(&p, 1000, 10);
    struct bf_background *b = make_with(&(struct bf_background_info){.tasks = 1, .proc = p.path});
    struct item item = {.story = &s, .number = 0};
    queue(b, &item);
    bf_background_destroy(b);
    assert_int_equal(story_count(&s, 0, CANCELLED), 1);
    assert_int_equal(story_count(&s, 0, BEGAN), 0);
    proc_close(&p);
}

/* ---------------------------------------------------------------------------------- Allocations */

/* The allocation after so many succeeds no more; -1: all do. Of the test's main thread only. */
static _Thread_local int allocations_left = -1;
static _Atomic int threads_left = -1;
static _Atomic uint32_t threads_refused;

void *__real_malloc(size_t size);
void *__wrap_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__wrap_calloc(size_t count, size_t size);
int __real_pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
                          void *(*function)(void *), void *argument);
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
                          void *(*function)(void *), void *argument);

static bool refused(void)
{
    if (allocations_left < 0)
        return false;
    return allocations_left-- == 0;
}

void *__wrap_malloc(size_t size)
{
    return refused() ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t count, size_t size)
{
    return refused() ? NULL : __real_calloc(count, size);
}

int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
                          void *(*function)(void *), void *argument)
{
    int left = atomic_load(&threads_left);
    if (left == 0) {
        atomic_fetch_add(&threads_refused, 1);
        return EAGAIN;
    }
    if (left > 0)
        atomic_fetch_sub(&threads_left, 1);
    return __real_pthread_create(thread, attributes, function, argument);
}

TEST(an_item_that_there_is_no_memory_for_is_not_accepted)
{
    struct story s = STORY;
    struct bf_background *b = make();
    struct item item = {.story = &s, .number = 0};
    VkResult result = VK_ERROR_OUT_OF_HOST_MEMORY;
    int failed = 0;
    for (int i = 0; result != VK_SUCCESS; i++) {
        allocations_left = i;
        result = bf_background_queue(b, item_run, item_cancel, &item);
        allocations_left = -1;
        assert_true(result == VK_SUCCESS || result == VK_ERROR_OUT_OF_HOST_MEMORY);
        failed += result != VK_SUCCESS;
    }
    assert_true(failed >= 2); /* the threads' and the item's */
    story_await(&s, 0, ENDED);
    bf_background_destroy(b);
    assert_int_equal(s.count, 2);
}

TEST(an_item_that_there_is_no_first_thread_for_is_not_accepted)
{
    struct story s = STORY;
    struct bf_background *b = make();
    struct item item = {.story = &s, .number = 0};
    atomic_store(&threads_left, 0);
    assert_int_equal(bf_background_queue(b, item_run, item_cancel, &item),
                     VK_ERROR_OUT_OF_HOST_MEMORY);
    atomic_store(&threads_left, -1);
    bf_background_destroy(b);
    assert_int_equal(s.count, 0);
}

TEST(workers_that_cannot_be_had_are_had_later)
{
    struct story s = STORY;
    struct bf_background *b = make();
    struct item item = {.story = &s, .number = 0};
    atomic_store(&threads_refused, 0);
    atomic_store(&threads_left, 1); /* the dispatcher */
    queue(b, &item);
    while (atomic_load(&threads_refused) == 0)
        sched_yield();
    atomic_store(&threads_left, -1);
    story_await(&s, 0, ENDED);
    bf_background_destroy(b);
}

static void told(void *context, const BfBackgroundModeInfo *info)
{
    ++*(int *)context;
}

TEST(a_mode_change_without_memory_changes_nothing)
{
    struct story s = STORY;
    struct bf_background *b = make();
    int count = 0;
    BfEvent event = NULL;
    assert_success(bfCreateEvent(0, &event));
    const BfBackgroundDriver driver = {BF_TYPE(BACKGROUND_DRIVER), .pContext = &count,
                                       .pfnOnMode = told};
    allocations_left = 0;
    assert_int_equal(bf_background_add_driver(b, &driver), VK_ERROR_OUT_OF_HOST_MEMORY);
    allocations_left = -1;
    assert_success(bf_background_add_driver(b, &driver));
    allocations_left = 0;
    assert_int_equal(bf_background_set_mode(b, FROZEN, COMMIT, event, NULL),
                     VK_ERROR_OUT_OF_HOST_MEMORY);
    allocations_left = -1;
    assert_int_equal(count, 0);
    assert_false(take_event(event));
    assert_true(bf_background_may_adapt(b));
    struct item item = {.story = &s, .number = 0};
    queue(b, &item);
    story_await(&s, 0, ENDED);
    assert_success(bf_background_set_mode(b, FROZEN, COMMIT, event, NULL));
    assert_int_equal(count, 1);
    bf_background_destroy(b);
    bfDestroyEvent(event);
    allocations_left = 0;
    assert_null(bf_background_create(&(struct bf_background_info){.tasks = 2}));
    allocations_left = -1;
}
