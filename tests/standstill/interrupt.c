/* SPDX-License-Identifier: MIT */
/* What is told when a program ends while something waits: by a signal, by exit. This executable
 * starts itself again as such a program. */
#include "support/world.h"

#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <belfry/belfry.h>

#include "standstill/host_wait.h"
#include "standstill/lines.h"
#include "support/asleep.h"

static void handler(int number)
{
    _exit(number);
}

/* Nobody reads it: whoever writes another line waits. */
static void stderr_fill(void)
{
    int flags = fcntl(STDERR_FILENO, F_GETFL);
    fcntl(STDERR_FILENO, F_SETFL, flags | O_NONBLOCK);
    while (write(STDERR_FILENO, ".", 1) == 1)
        ;
    fcntl(STDERR_FILENO, F_SETFL, flags);
}

static void say(const char *word)
{
    printf("%s\n", word);
    fflush(stdout);
}

/* Where the watchdog's sleep is seen. */
static bool sees_sleep(void)
{
    FILE *file = fopen("/proc/self/syscall", "r");
    bool seen = file && fgetc(file) != EOF;
    if (file)
        fclose(file);
    return seen;
}

/* All is over, and so well known that the watchdog rests. 'end': what the program does then.
 * SIGTERM comes to this thread, not to the driver's, and is handled within a slice: ThreadSanitizer
 * leaves a signal for the thread's next call where it doesn't know that the thread waits. */
static int run_resting(const char *end)
{
    static const uint32_t one[] = {1, WORLD_END};
    static const struct timespec slice = {.tv_nsec = 10000000};
    struct device w;
    sigset_t go_on, ends;
    sigemptyset(&go_on);
    sigaddset(&go_on, SIGUSR1);
    sigprocmask(SIG_BLOCK, &go_on, NULL);
    sigemptyset(&ends);
    sigaddset(&ends, SIGTERM);
    sigprocmask(SIG_BLOCK, &ends, NULL);
    if (!sees_sleep()) {
        say("skip");
        return 77;
    }
    world_open(&w, "SHAPE=q1 QUIET=1", one);
    VkSemaphore t = vulkan_timeline(w.device, 0);
    assert_success(vulkan_submit(w.queues[0][0], (struct vulkan_batch){0}));
    assert_success(vkQueueWaitIdle(w.queues[0][0]));
    told_await_sleep(true);
    sigprocmask(SIG_UNBLOCK, &ends, NULL);
    say("ready");
    while (sigtimedwait(&go_on, NULL, &slice) != SIGUSR1)
        ;
    if (strcmp(end, "begins") == 0)
        assert_submitted(w.queues[0][0], .wait = t, .wait_value = 3);
    return 5;
}

/* The watchdog has told of work of the GPU's, which is over before it looks again. */
static void work_be_over(struct device *w, VkSemaphore t)
{
    told_begin();
    w->icd.hold_before_signals(true);
    assert_submitted(w->queues[0][0], .commands = device_store(w, 0, 0, 1), .signal = t,
                     .signal_value = 1);
    told_expect("the GPU has been busy with *");
    assert_success(bfSetMessageCallback(NULL, NULL));
    w->icd.hold_before_signals(false);
    vulkan_wait(w->device, t, 1);
}

/* A look that lasts, as it tells, until the program has begun to exit. */
static struct {
    sem_t begun, end;
    _Atomic bool over;
} look;

static void look_last(BfMessageSeverity severity, const char *text, void *context)
{
    if (!atomic_exchange(&look.over, true)) {
        sem_post(&look.begun);
        sem_wait(&look.end);
    }
}

static void *look_end(void *context)
{
    while (thread_state(getpid()) != 'S')
        sched_yield();
    sem_post(&look.end);
    return NULL;
}

static void look_begin(void)
{
    pthread_t thread;
    sem_init(&look.begun, 0, 0);
    sem_init(&look.end, 0, 0);
    assert_success(bfSetMessageCallback(look_last, NULL));
    sem_wait(&look.begun);
    assert_int_equal(pthread_create(&thread, NULL, look_end, NULL), 0);
    pthread_detach(thread);
}

/* Until a signal comes. (Not by pause(): ThreadSanitizer may leave a signal for the thread's next
 * call. It loses some that come as a thread returns from the kernel: they are sent while it
 * sleeps.) */
static _Noreturn void stay(void)
{
    for (;;)
        nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
}

/* The program: has a packet held, says so, and does what it was started for. */
static int run_program(const char *how)
{
    static const uint32_t one[] = {1, WORLD_END};
    struct device w;
    sigset_t none, all;
    sigemptyset(&none);
    sigfillset(&all);
    if (strcmp(how, "once") == 0)
        sigprocmask(SIG_SETMASK, &all, NULL);
    world_open(&w, "SHAPE=q1 QUIET=1", one);
    VkSemaphore t = vulkan_timeline(w.device, 0);
    if (strcmp(how, "over") == 0) {
        work_be_over(&w, t);
        return 5;
    }
    if (strcmp(how, "over, and on") == 0) {
        work_be_over(&w, t);
        say("ready");
        stay();
    }
    if (strcmp(how, "told") == 0) {
        struct host_wait wait = {
            .device = w.device, .semaphore = t, .value = 1, .timeout_ns = UINT64_MAX};
        pthread_t thread;
        told_begin();
        assert_int_equal(pthread_create(&thread, NULL, wait_on_host, &wait), 0);
        told_expect("thread * has waited for *");
        told_await_sleep(true);
        told_end(); /* what comes now is written to stderr */
        say("ready");
        stay();
    }
    assert_success(vulkan_submit(w.queues[0][0], (struct vulkan_batch){0}));
    assert_success(vkQueueWaitIdle(w.queues[0][0]));
    if (strcmp(how, "done") == 0) { /* all is over, and known to be, but for the device */
        assert_success(vulkan_submit(w.queues[0][0],
                                     (struct vulkan_batch){.commands = device_store(&w, 0, 0, 1),
                                                           .signal = t,
                                                           .signal_value = 1}));
        vulkan_wait(w.device, t, 1);
        return 5;
    }
    assert_success(
        vulkan_submit(w.queues[0][0], (struct vulkan_batch){.wait = t, .wait_value = 3}));
    if (strcmp(how, "own") == 0)
        signal(SIGINT, handler);
    pid_t child = strcmp(how, "child") == 0 ? fork() : 1;
    if (child > 1)
        waitpid(child, NULL, 0);
    if (child == 0) /* which the signal ends at once, and nothing is told */
        raise(SIGINT);
    if (strcmp(how, "exit") == 0 || strcmp(how, "destroy") == 0) /* it stands still for a while */
        nanosleep(&(struct timespec){.tv_nsec = 200000000}, NULL);
    if (strcmp(how, "destroy") == 0) {
        vkDestroyDevice(w.device, NULL);
        return 5;
    }
    if (strcmp(how, "twice") == 0)
        stderr_fill();
    if (strcmp(how, "looking") == 0)
        look_begin();
    if (strcmp(how, "exit") == 0 || strcmp(how, "looking") == 0)
        return 5;
    say("ready");
    if (strcmp(how, "once") == 0) { /* a call that the signal interrupts, in this thread */
        sigsuspend(&none);
        _exit(6);
    }
    stay();
}

/* Starts the program, sends it the signal (0: none), and returns what it wrote to stderr; *status
 * is that of waitpid. */
static char *run(const char *how, int number, int *status)
{
    static char text[8192];
    int out[2], err[2];
    assert_int_equal(pipe(out) | pipe(err), 0);
    pid_t child = fork();
    if (child == 0) {
        signal(SIGINT,
               SIG_DFL); /* a shell may have it ignored, as of what runs in its background */
        signal(SIGTERM, SIG_DFL);
        dup2(out[1], STDOUT_FILENO);
        dup2(err[1], STDERR_FILENO);
        for (int i = 0; i < 2; i++) {
            close(out[i]);
            close(err[i]);
        }
        /* It is told at the end alone, and what is over then, long before the next look. */
        setenv("VK_BELFRY_MULTI_ENGINE_WATCHDOG",
               strncmp(how, "over", 4) == 0                              ? "500"
               : strcmp(how, "looking") == 0 || strcmp(how, "told") == 0 ? "100"
                                                                         : "60000",
               1);
        setenv("VK_BELFRY_MULTI_ENGINE_SUMMARY", strcmp(how, "looking") == 0 ? "true" : "false", 1);
        execl("/proc/self/exe", "belfry-standstill-interrupt", "run", how, NULL);
        _exit(127);
    }
    close(out[1]);
    close(err[1]);
    char ready[6] = "";
    if (number) {
        assert_int_equal(read(out[0], ready, sizeof(ready)), 6);
        while (strchr("RD", thread_state(child))) /* until it is in stay(), or the like */
            sched_yield();
        kill(child, number);
    }
    pid_t ended = 0;
    while (strcmp(how, "twice") == 0 && (ended = waitpid(child, status, WNOHANG)) == 0) {
        kill(child, number);
        sched_yield();
    }
    size_t length = 0;
    for (ssize_t n = 1; n > 0 && length<sizeof(text) - 1; length += n> 0 ? (size_t)n : 0)
        n = read(err[0], text + length, sizeof(text) - 1 - length);
    text[length] = '\0';
    assert_int_equal(ended ? ended : waitpid(child, status, 0), child);
    close(out[0]);
    close(err[0]);
    return text;
}

TEST(test_ends)
{
    static const struct {
        const char *how;
        int number;
        bool told;
    } cases[] = {
        {"", SIGINT, true},      {"", SIGTERM, true},
#ifndef __SANITIZE_THREAD__ /* which lets no signal through in a fork of several threads */
        {"child", SIGINT, true},
#endif
        {"own", SIGINT, false},  {"exit", 0, true},   {"destroy", 0, true},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        int status;
        const char *text = run(cases[i].how, cases[i].number, &status);
        const char *line =
            strstr(text, "belfry: standstill: packet 2 of 3D queue 0:0 waits for semaphore ");
        print_message("%s, %d: %s", cases[i].how, cases[i].number, text);
        assert_int_equal(line != NULL, cases[i].told);
        if (cases[i].told && cases[i].number) {
            assert_true(WIFSIGNALED(status));
            assert_int_equal(WTERMSIG(status), cases[i].number);
        } else {
            assert_true(WIFEXITED(status));
            assert_int_equal(WEXITSTATUS(status), cases[i].number ? SIGINT : 5);
        }
        assert_null(line ? strstr(line + 20, "standstill") : NULL); /* once */
    }
}

/* Nothing is left out because the watchdog looks at that moment. */
TEST(test_looking)
{
    int status;
    const char *text = run("looking", 0, &status);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 5);
    print_message("%s", text);
    assert_non_null(strstr(text, " 2 submissions, "));
}

/* What is over by then is none of what is told, whatever the watchdog has seen before. */
TEST(test_over)
{
    for (int i = 0; i < 2; i++) {
        int status;
        const char *text = i ? run("over, and on", SIGINT, &status) : run("over", 0, &status);
        assert_null(strstr(text, "standstill"));
        assert_int_equal(i ? WIFSIGNALED(status) : WIFEXITED(status), 1);
        assert_int_equal(i ? WTERMSIG(status) : WEXITSTATUS(status), i ? SIGINT : 5);
    }
}

/* What has been told of while it lasted is told again at the end, though nobody has looked since:
 * a thread that waits on the host. */
TEST(test_told_again)
{
    int status;
    const char *text = run("told", SIGINT, &status);
    print_message("%s", text);
    assert_non_null(strstr(text, ", in vkWaitSemaphores, for semaphore "));
    assert_true(WIFSIGNALED(status));
    assert_int_equal(WTERMSIG(status), SIGINT);
}

/* IT-2: who comes back from a call that the signal has interrupted doesn't go on. (It could seldom
 * do so before the watchdog ends it; a break is tried more often.) */
TEST(test_interrupted_call)
{
    const char *count = getenv("BELFRY_TEST_COUNT");
    for (int i = 0; i < (count ? atoi(count) : 12); i++) {
        int status;
        run("once", SIGINT, &status);
        assert_true(WIFSIGNALED(status));
        assert_int_equal(WTERMSIG(status), SIGINT);
    }
}

/* IT-3: the second one ends it, though what the first one has begun doesn't end. */
TEST(test_second_signal)
{
    int status;
    run("twice", SIGINT, &status);
    assert_true(WIFSIGNALED(status));
    assert_int_equal(WTERMSIG(status), SIGINT);
}

static int main_of(int argc, char **argv)
{
    if (argc > 3)
        return run_resting(argv[3]);
    return argc > 2 ? run_program(argv[2]) : test_run(argc > 1 ? argv[1] : NULL);
}

__attribute__((constructor)) static void set_main(void)
{
    test_main = main_of;
}
