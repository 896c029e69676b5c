/* SPDX-License-Identifier: MIT */
#include "specialize/isolate/helper_watch.h"

#include <dirent.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "background/idle.h"
#include "base/clock.h"
#include "specialize/isolate/spawn.h"
#include "specialize/isolate/wire.h"

/* Set by the main thread, read here. Until 'begins' is written to, which is behind setting it, this
 * thread may sleep for good. */
static _Atomic bool working;
static _Atomic uint64_t step_limit_ns, step_had_ns; /* 0: none; of processors before the step */
static int begins = -1;                             /* eventfd */
static int program = -1;                            /* pidfd */

/* --------------------------------------------------------------------------- One processor -- */

/* Where the threads are on all processors, each thread of the program's that wakes has to push one
 * aside, and waits for whatever the kernel does for it just then. On one for good they might get
 * nothing, beside a thread that never rests, or little, beside another helper: so they move on, but
 * not often, since what has just come to a processor has a turn at once. */
#define WINDOW_NS    100000000u
#define STARVED_NS   (WINDOW_NS / 20)
#define WINDOWS_MOST 10u
#define TICK_NS      500000u

static cpu_set_t allowed;
static int processor = CPU_SETSIZE;

/* The next one. False: it isn't known which there are. */
static bool processor_choose(cpu_set_t *one)
{
    CPU_ZERO(one);
    for (int i = 0; i < CPU_SETSIZE && !CPU_COUNT(one); i++) {
        processor = processor > 0 ? processor - 1 : CPU_SETSIZE - 1;
        if (CPU_ISSET(processor, &allowed))
            CPU_SET(processor, one);
    }
    return CPU_COUNT(one) > 0;
}

/* Threads that begin meanwhile come along the next time. */
static void threads_move(void)
{
    cpu_set_t one;
    DIR *threads = opendir("/proc/self/task");
    bool known = processor_choose(&one);
    for (struct dirent *entry; threads && known && (entry = readdir(threads)) != NULL;) {
        pid_t thread = (pid_t)atoi(entry->d_name);
        if (thread > 0)
            sched_setaffinity(thread, sizeof(one), &one);
    }
    if (threads)
        closedir(threads);
}

static struct {
    uint64_t since_ns, had_ns; /* of processors' time */
    uint32_t count;            /* such, on this processor */
} window;

static void window_begin(void)
{
    window.since_ns = bf_now_ns();
    window.had_ns = bf_process_ns();
}

static bool window_is_over(void)
{
    return bf_now_ns() - window.since_ns >= WINDOW_NS;
}

/* The driver got next to nothing in the window, or has been here for long. */
static bool is_time_to_move(void)
{
    const bool starved = bf_process_ns() - window.had_ns < STARVED_NS;
    window_begin();
    if (!starved && ++window.count < WINDOWS_MOST)
        return false;
    window.count = 0;
    return true;
}

/* ------------------------------------------------------------------------------------ Hangs -- */

/* By what the threads had of a processor: that they waited for one, or were stopped, says nothing
 * of the driver. A driver that sleeps for good is the program's to end, some time. */
static void step_judge(void)
{
    static const struct bf_wire_header hung = {.magic = BF_WIRE_MAGIC, .kind = BF_WIRE_HUNG};
    const uint64_t limit = atomic_load(&step_limit_ns);
    const uint64_t now = bf_process_ns(), before = atomic_load(&step_had_ns);
    if (!limit || now < before || now - before < limit)
        return;
    send(BF_SPAWN_SOCKET, &hung, sizeof(hung), MSG_NOSIGNAL | MSG_DONTWAIT);
    _exit(1);
}

/* ------------------------------------------------------------------------------- The thread -- */

/* The program may end while the driver is busy here, or hangs. A parent-death signal wouldn't
 * come, since the program isn't the parent, and the socket may have been inherited by a fork of
 * the program: so both the pidfd and the socket are watched. */
static bool program_lasts(const struct timespec *until)
{
    struct pollfd fds[3] = {{.fd = BF_SPAWN_SOCKET, .events = POLLRDHUP},
                            {.fd = program, .events = POLLIN},
                            {.fd = begins, .events = POLLIN}};
    eventfd_t n;
    while (ppoll(fds, 3, until, NULL) < 0 && errno == EINTR)
        continue;
    if (fds[2].revents && !eventfd_read(begins, &n))
        window_begin();
    return !fds[0].revents && !fds[1].revents;
}

static void *helper_watch_run(void *unused)
{
    (void)unused;
    prctl(PR_SET_NAME, "bf-watch");
    bf_thread_make_normal();
    const struct timespec until = {0, sched_getscheduler(0) == SCHED_IDLE ? WINDOW_NS : TICK_NS};
    while (program_lasts(atomic_load(&working) ? &until : NULL)) {
        if (!atomic_load(&working) || !window_is_over())
            continue;
        step_judge();
        if (is_time_to_move())
            threads_move();
    }
    if (atomic_load(&working))
        _exit(1);
    alarm(HELPER_SECONDS_TO_CLOSE); /* the main thread has noticed it too */
    shutdown(BF_SPAWN_SOCKET, SHUT_RDWR);
    return NULL;
}

bool helper_watch_start(pid_t pid)
{
    pthread_t thread;
    cpu_set_t one;
    program = (int)syscall(SYS_pidfd_open, pid, 0);
    if (program < 0 && errno == ESRCH)
        return false;
    begins = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    sched_getaffinity(0, sizeof(allowed), &allowed);
    for (int i = CPU_COUNT(&allowed) ? getpid() % CPU_COUNT(&allowed) : 0; i > 0; i--)
        processor_choose(&one); /* others begin elsewhere */
    if (processor_choose(&one))
        sched_setaffinity(0, sizeof(one), &one);
    return begins >= 0 && !pthread_create(&thread, NULL, helper_watch_run, NULL);
}

void helper_watch_step(void)
{
    atomic_store(&step_had_ns, bf_process_ns());
}

void helper_watch_work_begins(uint64_t limit_ns)
{
    helper_watch_step();
    atomic_store(&step_limit_ns, limit_ns);
    atomic_store(&working, true);
    eventfd_write(begins, 1);
}

void helper_watch_work_ends(void)
{
    atomic_store(&working, false);
}
