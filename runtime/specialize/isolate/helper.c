/* SPDX-License-Identifier: MIT */
/*
 * belfry-build-helper: makes pipelines for a program, and runs them on made-up inputs, which may
 * end badly (isolate.h). Not to be run by hand: it expects its socket as descriptor 3.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "background/idle.h"
#include "specialize/isolate/helper_dry_run.h"
#include "specialize/isolate/helper_redraw.h"
#include "specialize/isolate/helper_states.h"
#include "specialize/isolate/helper_twin.h"
#include "specialize/isolate/helper_watch.h"
#include "specialize/isolate/spawn.h"

#define SOCKET BF_SPAWN_SOCKET

/* ---------------------------------------------------------------------------------- The program */

/* False: the program has ended. */
static bool helper_read(void *bytes, size_t size)
{
    uint8_t *at = bytes;
    while (size) {
        ssize_t n = read(SOCKET, at, size);
        if (n == 0 || (n < 0 && errno != EINTR))
            return false;
        if (n > 0) {
            at += n;
            size -= (size_t)n;
        }
    }
    return true;
}

/* 'body' may be NULL. */
static bool helper_answer(enum bf_wire_kind kind, uint32_t number, VkResult result,
                          const struct bf_wire_verdict *body)
{
    struct {
        struct bf_wire_header header;
        struct bf_wire_verdict body;
    } message = {.header = {.magic = BF_WIRE_MAGIC,
                            .kind = (uint32_t)kind,
                            .number = number,
                            .result = (int32_t)result}};
    size_t size = sizeof(message.header);
    if (body) {
        message.header.size = sizeof(*body);
        message.body = *body;
        size = sizeof(message);
    }
    helper_watch_step();
    return send(SOCKET, &message, size, MSG_NOSIGNAL) == (ssize_t)size;
}

/* Receives a message of that kind; the body is malloc'ed. NULL: the program has ended, or the
 * message is malformed. */
static void *helper_receive(enum bf_wire_kind kind, struct bf_wire_header *header)
{
    if (!helper_read(header, sizeof(*header)) || header->magic != BF_WIRE_MAGIC ||
        header->kind != (uint32_t)kind || header->size > BF_WIRE_BODY_MOST)
        return NULL;
    void *body = malloc(header->size + 1);
    if (body && helper_read(body, header->size))
        return body;
    free(body);
    return NULL;
}

/* --------------------------------------------------------------------------------- The requests */

static struct helper_device device, dry;
static struct bf_wire_device wanted;

/* False: the helper is to end, since nobody listens, or the device is of no use any more. */
static bool helper_check(uint32_t number, struct bf_wire_check *check)
{
    struct helper_pipeline pipelines[BF_CHECK_BUILDS] = {0};
    VkPipelineDepthStencilStateCreateInfo depths[BF_CHECK_BUILDS];
    struct bf_wire_verdict verdict;
    VkResult result = VK_SUCCESS;
    bool on = true;
    enum bf_hang hung = BF_HANG_NONE;
    enum bf_reason refused = BF_REASON_NONE;
    struct bf_check_plan plan;
    char why[BF_CHECK_WHY];
    for (uint32_t i = 0; check->runs && check->interface.graphics && i < check->build_count; i++)
        helper_states_pass_depths(&check->builds[i].graphics, &depths[i]);
    const char *cannot = helper_subgroups_may_differ(&device, &check->builds[0])
                             ? "a variant may get subgroups of another size"
                             : helper_redraw_refuses(&device, check);
    if (check->runs && cannot) {
        refused = BF_REASON_UNCHECKABLE;
        snprintf(why, sizeof(why), "%s", cannot);
        helper_verdict_put(&verdict, check->build_count - 1, refused, why);
        on = helper_answer(BF_WIRE_DRY_RUN, number, result, &verdict);
    } else if (check->runs) {
        result = helper_dry_run(&device, &wanted, &dry, check, &plan, &refused, why, &hung);
        helper_verdict_put(&verdict, check->build_count - 1, refused, why);
        verdict.hung = hung == BF_HANG_WORK;
        on = helper_answer(BF_WIRE_DRY_RUN, number, result, result == VK_SUCCESS ? &verdict : NULL);
    }
    for (uint32_t i = 0; on && !refused && result == VK_SUCCESS && i < check->build_count; i++) {
        result = helper_pipeline_make(&device, &check->builds[i], &pipelines[i]);
        on = helper_answer(BF_WIRE_BUILT, number, result, NULL);
    }
    if (on && !refused && result == VK_SUCCESS && check->runs) {
        result = helper_check_run(&device, check, pipelines, &plan, &verdict, &hung);
        for (uint32_t i = 0; !hung && i < check->build_count; i++)
            helper_pipeline_free(&device, &pipelines[i]); /* others come of these builds */
        if (result == VK_SUCCESS && !hung)
            result = helper_twin_check(&dry, check, &plan, &verdict, &hung);
        if (result == VK_SUCCESS && !hung)
            result = helper_redraw_check(&device, check, pipelines, &plan, &verdict, &hung);
        on = helper_answer(BF_WIRE_CHECKED, number, result, result == VK_SUCCESS ? &verdict : NULL);
    }
    for (uint32_t i = 0; !hung && i < check->build_count; i++)
        helper_pipeline_free(&device, &pipelines[i]);
    if (hung)
        _exit(1);
    return on && result != VK_ERROR_DEVICE_LOST;
}

/* Serves one request. False: the helper is to end. timeout_ms: -1 for none. */
static bool helper_serve(int timeout_ms)
{
    struct pollfd socket = {.fd = SOCKET, .events = POLLIN};
    int n = poll(&socket, 1, timeout_ms);
    if (n < 0)
        return errno == EINTR;
    struct bf_wire_header header;
    void *body = n ? helper_receive(BF_WIRE_CHECK, &header) : NULL;
    if (!body)
        return false;
    struct bf_wire_in in;
    struct bf_wire_check check;
    bool on = bf_wire_read_check(&in, body, header.size, &check);
    bool can = on && helper_check_can(&device, &check);
    on = on && helper_answer(BF_WIRE_TAKEN, header.number,
                             can ? VK_SUCCESS : VK_ERROR_FEATURE_NOT_PRESENT, NULL);
    if (on && can) {
        helper_watch_work_begins(wanted.limit_ns);
        on = helper_check(header.number, &check);
        helper_watch_work_ends();
    }
    bf_wire_in_finish(&in);
    free(body);
    return on;
}

/* Last words: without them the program takes it that somebody has killed this process. */
static void last_words(void)
{
    static const struct bf_wire_header crashed = {.magic = BF_WIRE_MAGIC, .kind = BF_WIRE_CRASHED};
    send(SOCKET, &crashed, sizeof(crashed), MSG_NOSIGNAL | MSG_DONTWAIT);
}

static void crash_say(int number)
{
    last_words();
    raise(number); /* on return it ends as it would have */
}

static void crashes_watch(void)
{
    static uint8_t stack[64 << 10]; /* the thread's own may be what has run out */
    static const int crashes[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGSYS, SIGTRAP};
    const stack_t other = {.ss_sp = stack, .ss_size = sizeof(stack)};
    const struct sigaction action = {.sa_handler = crash_say,
                                     .sa_flags = (int)(SA_RESETHAND | SA_ONSTACK)};
    sigaltstack(&other, NULL);
    for (size_t i = 0; i < sizeof(crashes) / sizeof(crashes[0]); i++)
        sigaction(crashes[i], &action, NULL);
    atexit(last_words); /* a driver may give up so: nobody here does */
}

/* It stays in the program's session (spawn.c), but not at its terminal. */
static void leave_terminal(void)
{
    int terminal = open("/dev/tty", O_RDWR | O_NOCTTY | O_CLOEXEC);
    if (terminal < 0)
        return;
    ioctl(terminal, TIOCNOTTY);
    close(terminal);
}

/* When memory is short. */
static void be_first_to_go(void)
{
    int file = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
    if (file >= 0 && write(file, "1000", 4) != 4)
        errno = 0; /* then it is as any other process */
    if (file >= 0)
        close(file);
}

/* Drivers that go by the name of the process find the program's. */
static void be_called_as(pid_t program)
{
    char path[32], name[32] = "";
    snprintf(path, sizeof(path), "/proc/%d/comm", (int)program);
    FILE *file = fopen(path, "re");
    if (file && fgets(name, sizeof(name), file)) {
        name[strcspn(name, "\n")] = '\0';
        prctl(PR_SET_NAME, name);
    }
    if (file)
        fclose(file);
}

int main(void)
{
    /* Crashes of the driver are expected here: no core file is written. From then on the files of
     * /proc/self are root's. [IS-11] */
    setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
    be_first_to_go();
    prctl(PR_SET_DUMPABLE, 0);
    const int ignored[] = {SIGINT, SIGQUIT, SIGHUP, SIGTERM, SIGTSTP, SIGPIPE};
    for (size_t i = 0; i < sizeof(ignored) / sizeof(ignored[0]); i++)
        signal(ignored[i], SIG_IGN);
    if (fcntl(SOCKET, F_SETFD, FD_CLOEXEC)) {
        fputs("belfry-build-helper is started by Belfry, and serves no other purpose\n", stderr);
        return 2;
    }
    crashes_watch();
    leave_terminal();

    struct bf_wire_header header;
    struct bf_wire_in in;
    void *body = helper_receive(BF_WIRE_DEVICE, &header);
    if (!body || !bf_wire_read_device(&in, body, header.size, &wanted))
        _exit(1);
    if (wanted.build_number != bf_wire_build_number()) { /* it may have been replaced [IS-15] */
        helper_answer(BF_WIRE_OPENED, 0, BF_WIRE_OTHER_BUILD, NULL);
        _exit(1);
    }
    if (!helper_watch_start((pid_t)wanted.parent))
        _exit(1);
    bf_thread_make_idle();
    be_called_as((pid_t)wanted.parent);

    helper_watch_work_begins(0); /* the driver may hang in this too: the program has a limit */
    VkResult result = helper_device_open(&device, &wanted);
    helper_watch_work_ends();
    /* The first request may take its time to come, however long the helper may be idle. */
    int timeout_ms = wanted.idle_ms < INT32_MAX ? (int)wanted.idle_ms : INT32_MAX;
    if (helper_answer(BF_WIRE_OPENED, 0, result, NULL) && !result && helper_serve(-1))
        while (helper_serve(timeout_ms))
            continue;

    alarm(HELPER_SECONDS_TO_CLOSE);
    helper_device_close(&dry);
    helper_device_close(&device);
    _exit(0);
}
