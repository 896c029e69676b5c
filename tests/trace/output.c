/* SPDX-License-Identifier: MIT */
/* The way to the file, when the disk is slow, full, or somebody else's. */
#include "trace_helper.h"

#include "belfry/belfry.h"
#include "trace/output.h"

#include <fcntl.h>
#include <sys/syscall.h>
#include <sys/wait.h>

/* --- The disk ---------------------------------------------------------------------------------*/

static struct {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool stalled;
    bool limited;
    size_t room; /* bytes, if limited */
    uint64_t writes;
} disk = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};

/* The writer's write(2): it is compiled with this name for it, and <unistd.h> with it. */
ssize_t disk_write(int fd, const void *data, size_t size)
{
    pthread_mutex_lock(&disk.lock);
    while (disk.stalled)
        pthread_cond_wait(&disk.changed, &disk.lock);
    disk.writes++;
    bool full = disk.limited && disk.room == 0;
    if (disk.limited && size > disk.room)
        size = disk.room;
    disk.room -= disk.limited ? size : 0;
    pthread_mutex_unlock(&disk.lock);
    if (!full)
        return syscall(SYS_write, fd, data, size);
    errno = ENOSPC;
    return -1;
}

static void disk_stall(bool stalled)
{
    pthread_mutex_lock(&disk.lock);
    disk.stalled = stalled;
    pthread_cond_broadcast(&disk.changed);
    pthread_mutex_unlock(&disk.lock);
}

/* --- A run ------------------------------------------------------------------------------------*/

struct run {
    char folder[64];
    struct bf_trace *trace;
    uint32_t queue;
};

static struct run run_begin(void)
{
    struct run r;
    folder_make(r.folder);
    r.trace = trace_open(in_folder(r.folder, "run.pftrace"));
    r.queue = bf_trace_add_queue(r.trace, bf_trace_add_engine(r.trace, "engine"), "queue");
    return r;
}

#define EVENTS_EACH 3 /* begin and end of a slice, and an instant */

static void report(struct run *r, unsigned packets)
{
    for (unsigned i = 0; i < packets; i++) {
        struct bf_trace_packet p;
        bf_trace_packet_queued(r->trace, &p, r->queue, BF_TRACE_EXECUTE, 1);
        handed_over(r->trace, &p, NOTHING, NOTHING);
    }
}

static size_t events_in(const struct decoded *d)
{
    return count_of(d, DECODED_EVENT, DECODED_BEGIN) + count_of(d, DECODED_EVENT, DECODED_END) +
           count_of(d, DECODED_EVENT, DECODED_INSTANT) +
           count_of(d, DECODED_EVENT, DECODED_COUNTER);
}

/* What the timeline itself says it lacks. */
static uint64_t said_lost(const struct decoded *d)
{
    uint64_t lost = 0;
    const struct decoded_packet *p;
    for (unsigned n = 0; (p = event_named(d, "lost events", DECODED_INSTANT, n)) != NULL; n++)
        lost += number_of(p, "count");
    return lost;
}

static unsigned marks(const struct decoded *d)
{
    unsigned n = 0;
    while (event_named(d, "lost events", DECODED_INSTANT, n))
        n++;
    return n;
}

#define OPEN 2000

/* A disk that takes nothing: nobody waits for it, and what has no room is left out whole and
 * counted. */
TEST(slow_disk)
{
    struct run r = run_begin();
    bf_trace_drain(r.trace);
    disk_stall(true);
    static struct bf_trace_packet open[OPEN];
    uint32_t queues[8];
    for (int i = 0; i < 8; i++)
        queues[i] = bf_trace_add_queue(r.trace, 0, "another");
    for (int i = 0; i < OPEN; i++) {
        bf_trace_packet_queued(r.trace, &open[i], queues[i % 8], BF_TRACE_EXECUTE, 1);
        bf_trace_packet_held(r.trace, &open[i], SYNC(1, 1));
        bf_trace_fence_queued(r.trace, queues[i % 8], &open[i], BF_TRACE_FENCE_SIGNAL,
                              SYNC(2, (uint64_t)i), true);
    }
    struct bf_trace_counts counts = {0};
    unsigned packets = 0;
    while (counts.lost < 30000) {
        report(&r, 1000);
        packets += 1000;
        bf_trace_count(r.trace, &counts);
    }
    /* Bounded: what is kept is less than there is memory for. */
    assert_in_range(counts.events, 100000, 128 * 65536 / 10);
    /* Slices that have begun get their ends all the same. */
    uint64_t lost = counts.lost;
    for (int i = 0; i < OPEN; i++) {
        handed_over(r.trace, &open[i], NOTHING, NOTHING);
        bf_trace_fence_done(r.trace, queues[i % 8], BF_TRACE_FENCE_SIGNAL, SYNC(2, (uint64_t)i), 1,
                            0, 0);
    }
    bf_trace_count(r.trace, &counts);
    /* Of each, at most: a counter's value for 'held' and for 'pending', and the mark of the
     * hand-over. */
    assert_in_range(counts.lost - lost, 0, OPEN * 3);
    disk_stall(false);
    bf_trace_drain(r.trace);
    report(&r, 10);
    packets += 10;
    bf_trace_count(r.trace, &counts);
    struct decoded d = trace_close(r.trace, r.folder, NULL);
    assert_int_equal(events_in(&d), counts.events + 1); /* its end */
    assert_int_equal(said_lost(&d), counts.lost);
    assert_int_equal(marks(&d), 1);
    assert_int_equal(count_of(&d, DECODED_EVENT, DECODED_BEGIN),
                     count_of(&d, DECODED_EVENT, DECODED_END));
    /* The open ones: three slices with two ends each, three counter values up and down, and one
     * mark; two more for the beginning and 'lost events'. */
    assert_int_equal(counts.events + counts.lost, EVENTS_EACH * packets + OPEN * (6 + 4 + 1) + 2);
    decoded_free(&d);
}

/* What was lost when the disk was full: to the event. */
TEST(full_disk)
{
    for (size_t room = 300000; room < 300050; room += 7) {
        struct run r = run_begin();
        bf_trace_drain(r.trace);
        pthread_mutex_lock(&disk.lock);
        disk.limited = true;
        disk.room = room;
        pthread_mutex_unlock(&disk.lock);
        int quiet = open("/dev/null", O_WRONLY), loud = dup(STDERR_FILENO);
        assert_true(quiet >= 0 && loud >= 0);
        dup2(quiet, STDERR_FILENO); /* file.c looks at what is said */
        report(&r, 10000);
        bf_trace_drain(r.trace);
        dup2(loud, STDERR_FILENO);
        close(quiet);
        close(loud);
        report(&r, 100); /* the file is closed by now */
        struct bf_trace_counts counts;
        bf_trace_count(r.trace, &counts);
        struct decoded d = trace_close(r.trace, r.folder, NULL);
        disk.limited = false;
        assert_in_range(d.size, 200000, 301000);
        assert_int_equal(d.size, counts.bytes);
        assert_int_equal(events_in(&d), counts.events);
        assert_int_equal(counts.events + counts.lost, 10100 * EVENTS_EACH + 1);
        decoded_free(&d);
    }
}

/* Nothing is written when nothing happens, and a lot at once when a lot does. */
TEST(few_writes)
{
    struct run r = run_begin();
    bf_trace_drain(r.trace);
    uint64_t before = disk.writes;
    report(&r, 50000);
    bf_trace_drain(r.trace);
    struct bf_trace_counts counts;
    bf_trace_count(r.trace, &counts);
    assert_int_equal(counts.lost, 0);
    uint64_t writes = disk.writes - before;
    assert_in_range(writes, 1, counts.bytes / 60000 + 100);
    before = disk.writes;
    for (int i = 0; i < 100; i++) {
        bf_trace_flush(r.trace); /* nothing to write */
        bf_trace_drain(r.trace);
    }
    assert_int_equal(disk.writes, before);
    struct decoded d = trace_close(r.trace, r.folder, NULL);
    decoded_free(&d);
}

/* A child that a program forks has the trace, but not its thread: the file stays its parent's. */
TEST(forked)
{
    struct run r = run_begin();
    report(&r, 10);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        report(&r, 1000);
        bf_trace_flush(r.trace);
        bf_trace_drain(r.trace);
        bf_trace_destroy(r.trace);
        _exit(0);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    report(&r, 10);
    struct decoded d = trace_close(r.trace, r.folder, NULL);
    assert_int_equal(events_in(&d), 20 * EVENTS_EACH + 2); /* begin and end */
    decoded_free(&d);
}

/* --- Forks while a file is created ------------------------------------------------------------*/

static struct {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool reached, goes_on;
} refusal = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};

/* The program is told that a file can't be created, and takes its time. */
static void VKAPI_PTR refusal_told(BfMessageSeverity severity, const char *message, void *unused)
{
    (void)severity, (void)message, (void)unused;
    pthread_mutex_lock(&refusal.lock);
    refusal.reached = true;
    pthread_cond_broadcast(&refusal.changed);
    while (!refusal.goes_on)
        pthread_cond_wait(&refusal.changed, &refusal.lock);
    pthread_mutex_unlock(&refusal.lock);
}

/* ThreadSanitizer lets no such child have threads, and so no file. */
static const char *child_path(const char *folder)
{
#if defined(__SANITIZE_THREAD__)
    (void)folder;
    return NULL;
#else
    return in_folder(folder, "child.pftrace");
#endif
}

static void *create_in_vain(void *folder)
{
    char path[128];
    snprintf(path, sizeof(path), "%s/nowhere/run.pftrace", (char *)folder);
    const struct bf_trace_info info = {.path = path};
    struct bf_trace *trace;
    assert_int_equal(bf_trace_create(&info, &trace), VK_ERROR_INITIALIZATION_FAILED);
    return NULL;
}

/* A child that has been forked meanwhile can create a trace, and end. */
TEST(forked_while_a_file_is_created)
{
    struct run r = run_begin();
    report(&r, 10);
    pthread_t thread;
    assert_int_equal(bfSetMessageCallback(refusal_told, NULL), VK_SUCCESS);
    assert_int_equal(pthread_create(&thread, NULL, create_in_vain, r.folder), 0);
    pthread_mutex_lock(&refusal.lock);
    while (!refusal.reached)
        pthread_cond_wait(&refusal.changed, &refusal.lock);
    pthread_mutex_unlock(&refusal.lock);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        alarm(20); /* rather than hang */
        bf_trace_destroy(trace_open(child_path(r.folder)));
        bf_outputs_end();
        _exit(0);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    pthread_mutex_lock(&refusal.lock);
    refusal.goes_on = true;
    pthread_cond_broadcast(&refusal.changed);
    pthread_mutex_unlock(&refusal.lock);
    pthread_join(thread, NULL);
    assert_int_equal(bfSetMessageCallback(NULL, NULL), VK_SUCCESS);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    const char *own = child_path(r.folder);
    assert_true(!own || unlink(own) == 0);
    struct decoded d = trace_close(r.trace, r.folder, NULL);
    assert_int_equal(events_in(&d), 10 * EVENTS_EACH + 2);
    decoded_free(&d);
}

/* --- The process ends -------------------------------------------------------------------------*/

struct reporter {
    struct run run;
    _Atomic bool stop;
    _Atomic uint32_t rounds;
};

static void *report_until_stopped(void *argument)
{
    struct reporter *reporter = argument;
    while (!atomic_load(&reporter->stop)) {
        report(&reporter->run, 100);
        atomic_fetch_add(&reporter->rounds, 1);
    }
    return NULL;
}

/* What the end of the process says. */
static void end_outputs(char *said, size_t size)
{
    int ends[2], loud = dup(STDERR_FILENO);
    assert_true(loud >= 0);
    assert_int_equal(pipe(ends), 0);
    dup2(ends[1], STDERR_FILENO);
    bf_outputs_end();
    dup2(loud, STDERR_FILENO);
    close(loud);
    close(ends[1]);
    ssize_t got = read(ends[0], said, size - 1);
    said[got > 0 ? got : 0] = 0;
    close(ends[0]);
}

/* A thread that goes on when the program calls exit leaves the file whole, and it is said where it
 * is. */
TEST(exit_while_others_report_leaves_all_whole)
{
    struct reporter reporter = {.run = run_begin()};
    struct bf_trace *trace = reporter.run.trace;
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, report_until_stopped, &reporter), 0);
    struct bf_trace_counts counts = {0};
    while (counts.bytes < 1 << 20)
        bf_trace_count(trace, &counts);
    char said[1024];
    end_outputs(said, sizeof(said));
    struct decoded d = decode_file(bf_trace_path(trace));
    const uint32_t rounds = atomic_load(&reporter.rounds);
    while (atomic_load(&reporter.rounds) - rounds < 10) /* it goes on */
        sched_yield();
    atomic_store(&reporter.stop, true);
    pthread_join(thread, NULL);
    bf_trace_destroy(trace); /* nothing is pending any more */
    struct decoded later = decode_file(in_folder(reporter.run.folder, "run.pftrace"));
    unlink(in_folder(reporter.run.folder, "run.pftrace"));
    rmdir(reporter.run.folder);
    assert_int_equal(d.whole, d.size);
    assert_int_equal(later.size, d.size);
    assert_non_null(strstr(said, "the trace is in "));
    decoded_free(&d);
    decoded_free(&later);
}
