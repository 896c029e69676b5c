/* SPDX-License-Identifier: MIT */
/* Checks in a helper process: starting, reusing and ending helpers, and requests to them with
 * time limits. */
#include "specialize/isolate/isolate.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/descriptor.h"
#include "base/message.h"
#include "specialize/isolate/owned.h"
#include "specialize/isolate/spawner.h"
#include "specialize/isolate/wire.h"

#define HELPERS_MOST  16
#define FAILURES_MOST 3
#define UNTAKEN_MOST  3 /* helpers that end, in a row, before they have taken the request, */
#define KILLED_MOST   2 /* or later, without a word */
#define REAP_MS       1000
#define SECONDS       UINT64_C(1000000000)
#define HELPER        "belfry/belfry-build-helper" /* seen from the layer's folder */

#ifndef P_PIDFD
#define P_PIDFD 3
#endif

/* A helper process and its socket. Used by the thread that has taken it. */
struct helper {
    bool taken;
    struct owned socket, pidfd; /* of the former none: it doesn't run */
    const struct bf_isolate *isolate;
};

struct bf_isolate {
    char *path;
    char *name;         /* as it is to be called */
    char **environment; /* one block, with its strings */
    struct bf_wire_out device;
    uint64_t whole_limit_ns, open_limit_ns;
    struct bf_isolate_bar bar;
    enum bf_message_level lack; /* of messages that no helper can be had */
    _Atomic bool stopped;       /* bf_isolate_stop was called: */
    struct owned stop, stopper; /* a pipe, which is readable then */
    struct bf_spawner *spawner; /* NULL: helpers have the priority of who needs them */

    pthread_mutex_t lock;
    pthread_cond_t freed;
    uint32_t count;
    uint32_t failures;         /* failed starts in a row */
    char why[BF_ISOLATE_LACK]; /* the last one failed, under the lock; empty: none has */
    struct helper helpers[HELPERS_MOST];
};

/* ------------------------------------------------------------------------------------- Messages */

/* Waits until the socket is ready. Returns 0, ETIMEDOUT, ECANCELED: bf_isolate_stop, or EPIPE: the
 * system doesn't let it wait (fewer descriptors are allowed than it looks at, for one). */
static int helper_await(const struct helper *h, short events, uint64_t deadline_ns)
{
    const struct bf_isolate *isolate = h->isolate;
    for (;;) {
        if (isolate->stopped)
            return ECANCELED;
        if (!owned_leads(&h->socket) || !owned_leads(&isolate->stop))
            return EPIPE;
        uint64_t left = bf_remaining_ns(deadline_ns);
        uint64_t ms = left / 1000000 + (left % 1000000 != 0);
        struct pollfd fds[2] = {{.fd = h->socket.fd, .events = events},
                                {.fd = isolate->stop.fd, .events = POLLIN}};
        int n = poll(fds, 2, ms < INT_MAX ? (int)ms : INT_MAX);
        if (n > 0)
            return fds[1].revents ? ECANCELED : 0;
        if (n < 0 && errno != EINTR)
            return EPIPE;
        if (bf_remaining_ns(deadline_ns) == 0)
            return ETIMEDOUT;
    }
}

/* These return 0, what helper_await returns, or EPIPE: the helper has ended. */
static int send_all(const struct helper *h, const void *bytes, size_t size, uint64_t deadline_ns)
{
    const uint8_t *at = bytes;
    while (size) {
        if (!owned_leads(&h->socket))
            return EPIPE;
        ssize_t n = send(h->socket.fd, at, size, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (n < 0 && errno == EAGAIN) {
            int error = helper_await(h, POLLOUT, deadline_ns);
            if (error)
                return error;
        } else if (n < 0 && errno != EINTR) {
            return EPIPE;
        } else if (n > 0) {
            at += n;
            size -= (size_t)n;
        }
    }
    return 0;
}

static int receive_all(const struct helper *h, void *bytes, size_t size, uint64_t deadline_ns)
{
    uint8_t *at = bytes;
    while (size) {
        if (!owned_leads(&h->socket))
            return EPIPE;
        ssize_t n = recv(h->socket.fd, at, size, MSG_DONTWAIT);
        if (n < 0 && errno == EAGAIN) {
            int error = helper_await(h, POLLIN, deadline_ns);
            if (error)
                return error;
        } else if (n == 0 || (n < 0 && errno != EINTR)) {
            return EPIPE;
        } else if (n > 0) {
            at += n;
            size -= (size_t)n;
        }
    }
    return 0;
}

static int request_send(const struct helper *h, enum bf_wire_kind kind, uint32_t number,
                        const struct bf_wire_out *body, uint64_t deadline_ns)
{
    const struct bf_wire_header header = {.magic = BF_WIRE_MAGIC,
                                          .kind = (uint32_t)kind,
                                          .number = number,
                                          .size = (uint32_t)body->size};
    int error = send_all(h, &header, sizeof(header), deadline_ns);
    return error ? error : send_all(h, body->bytes, body->size, deadline_ns);
}

/* Returns as above, ETIME: the helper says that it hangs, or EPROTO: that it crashes, or the answer
 * is malformed. With a body of that size, if its result is VK_SUCCESS. */
static int answer_receive(const struct helper *h, enum bf_wire_kind kind, uint32_t number,
                          VkResult *result, void *body, size_t size, uint64_t deadline_ns)
{
    struct bf_wire_header header;
    int error = receive_all(h, &header, sizeof(header), deadline_ns);
    if (error)
        return error;
    if (header.magic == BF_WIRE_MAGIC && header.kind == BF_WIRE_HUNG)
        return ETIME;
    if (header.magic != BF_WIRE_MAGIC || header.kind != (uint32_t)kind || header.number != number ||
        header.size != (header.result == VK_SUCCESS ? size : 0))
        return EPROTO;
    *result = (VkResult)header.result;
    return header.size ? receive_all(h, body, size, deadline_ns) : 0;
}

/* -------------------------------------------------------------------------------------- Helpers */

static void helper_kill(const struct helper *h)
{
    if (owned_leads(&h->pidfd))
        syscall(SYS_pidfd_send_signal, h->pidfd.fd, SIGKILL, NULL, 0);
}

/* The first process of a container is the parent of all that have none, and may know nothing of
 * that: a helper would stay its dead child. One that doesn't end in its time is killed. [IS-1] */
static void helper_reap(const struct helper *h)
{
    struct pollfd ended = {.fd = h->pidfd.fd, .events = POLLIN};
    siginfo_t how;
    if (getpid() != 1 || !owned_leads(&h->pidfd))
        return;
    if (poll(&ended, 1, REAP_MS) <= 0) {
        helper_kill(h);
        poll(&ended, 1, REAP_MS);
    }
    waitid((idtype_t)P_PIDFD, (id_t)h->pidfd.fd, &how, WEXITED | WNOHANG | __WALL);
}

static void helper_end(struct helper *h, bool at_once)
{
    if (h->socket.fd < 0)
        return;
    if (at_once)
        helper_kill(h);
    owned_close(&h->socket); /* the helper ends when it reads from it */
    helper_reap(h);
    owned_close(&h->pidfd);
}

/* Why no helper can be had, for the report; a line says so, once where it is for the same reason
 * again. */
static VkResult lack_note(struct bf_isolate *isolate, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
static VkResult lack_note(struct bf_isolate *isolate, const char *format, ...)
{
    char why[BF_ISOLATE_LACK];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(why, sizeof(why), format, arguments);
    va_end(arguments);
    pthread_mutex_lock(&isolate->lock);
    const bool other = strcmp(why, isolate->why) != 0;
    memcpy(isolate->why, why, sizeof(why));
    pthread_mutex_unlock(&isolate->lock);
    if (other)
        bf_message(isolate->lack, "the build helper %s", why);
    return VK_ERROR_INITIALIZATION_FAILED;
}

static VkResult helper_start(struct bf_isolate *isolate, struct helper *h)
{
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) || bf_descriptor_lift_pair(ends))
        return lack_note(isolate, "has no socket: %s", strerror(errno));
    int pidfd;
    int error = bf_spawner_spawn(isolate->spawner, isolate->path, isolate->name,
                                 isolate->environment, ends[1], &pidfd);
    close(ends[1]);
    if (error) {
        close(ends[0]);
        return lack_note(isolate, "'%.160s' can't be started: %s", isolate->path, strerror(error));
    }
    h->socket = owned_take(ends[0]);
    h->pidfd = owned_take(pidfd);

    VkResult result = VK_SUCCESS;
    uint64_t deadline = bf_deadline_ns(isolate->open_limit_ns);
    error = request_send(h, BF_WIRE_DEVICE, 0, &isolate->device, deadline);
    if (!error)
        error = answer_receive(h, BF_WIRE_OPENED, 0, &result, NULL, 0, deadline);
    if (!error && result == VK_SUCCESS)
        return VK_SUCCESS;
    helper_end(h, true);
    if (error == ECANCELED)
        return VK_NOT_READY;
    if (!error && result == VK_ERROR_DEVICE_LOST)
        return result;
    if (!error && result == BF_WIRE_OTHER_BUILD)
        return lack_note(isolate, "is of another build of Belfry than what the program has loaded");
    if (!error && result == BF_WIRE_OTHER_DRIVER)
        return lack_note(isolate, "finds another driver than the program has loaded: it has been "
                                  "replaced, or goes by what isn't the same there");
    return error ? lack_note(isolate, "can't open the device: %s", strerror(error))
                 : lack_note(isolate, "can't open the device: VkResult %d", (int)result);
}

/* One helper's go at a request. */
struct attempt {
    bool driver_has_it; /* the driver got it */
    bool late;          /* it has had the time that a request has: nobody else tries */
};

/* What came of a request whose answer is missing. VK_INCOMPLETE: the helper is gone, and hasn't
 * said that it crashes, or is late. */
static VkResult helper_fail(struct helper *h, int error, struct attempt *attempt)
{
    helper_end(h, true);
    attempt->late = error == ETIMEDOUT;
    switch (error) {
    case ETIME:
        return VK_TIMEOUT;
    case ECANCELED:
        return VK_NOT_READY;
    case EPIPE:
    case ETIMEDOUT:
        return VK_INCOMPLETE;
    default:
        return VK_ERROR_UNKNOWN;
    }
}

/* False: what the helper says of the check can't be. */
static bool verdict_read(const struct bf_wire_verdict *verdict, uint32_t form_count,
                         struct bf_check_answer *answer)
{
    if (verdict->form_count != form_count || !memchr(verdict->why, '\0', sizeof(verdict->why)))
        return false;
    for (uint32_t i = 0; i < form_count; i++) {
        if (verdict->reasons[i] >= BF_REASON_COUNT)
            return false;
        answer->forms[i] = (struct bf_check_form){
            .reason = (enum bf_reason)verdict->reasons[i],
            .first_use_ns = verdict->first_use_ns[i],
            .steady_ns = verdict->steady_ns[i],
        };
    }
    answer->general_ns = verdict->general_ns;
    memcpy(answer->reach, verdict->reach, sizeof(answer->reach));
    answer->texels = verdict->texels != 0;
    answer->specials = verdict->specials != 0;
    answer->hung = verdict->hung != 0;
    answer->peak_bytes = verdict->peak_bytes;
    memcpy(answer->why, verdict->why, sizeof(answer->why));
    return true;
}

#define REQUEST_NUMBER 1

static int verdict_receive(const struct helper *h, enum bf_wire_kind kind,
                           const struct bf_check_request *request, struct bf_check_answer *answer,
                           uint64_t deadline_ns)
{
    struct bf_wire_verdict verdict;
    int error = answer_receive(h, kind, REQUEST_NUMBER, &answer->checked, &verdict, sizeof(verdict),
                               deadline_ns);
    if (!error && !answer->checked && !verdict_read(&verdict, request->build_count - 1, answer))
        error = EPROTO;
    return error;
}

/* VK_INCOMPLETE: the helper is late, or ended without a word: before the driver got the request (it
 * may have been idle), or later, and then somebody has killed it. */
static VkResult isolate_check(struct bf_isolate *isolate, struct helper *h,
                              const struct bf_wire_out *body,
                              const struct bf_check_request *request,
                              struct bf_check_answer *answer, struct attempt *attempt)
{
    const uint32_t number = REQUEST_NUMBER;
    VkResult taken = VK_SUCCESS;
    uint64_t deadline = bf_deadline_ns(isolate->open_limit_ns);
    int error = request_send(h, BF_WIRE_CHECK, number, body, deadline);
    if (!error)
        error = answer_receive(h, BF_WIRE_TAKEN, number, &taken, NULL, 0, deadline);
    if (error) {
        helper_end(h, true);
        return error == ECANCELED ? VK_NOT_READY : VK_INCOMPLETE;
    }
    if (taken)
        return VK_ERROR_FEATURE_NOT_PRESENT;
    attempt->driver_has_it = true;
    *answer = (struct bf_check_answer){0};
    deadline = bf_deadline_ns(isolate->whole_limit_ns);
    if (request->check) {
        error = verdict_receive(h, BF_WIRE_DRY_RUN, request, answer, deadline);
        if (error)
            return helper_fail(h, error, attempt);
        if (answer->checked || answer->forms[0].reason != BF_REASON_NONE)
            return VK_SUCCESS;
    }
    while (answer->built_count < request->build_count) {
        error = answer_receive(h, BF_WIRE_BUILT, number, &answer->built, NULL, 0, deadline);
        if (error)
            return helper_fail(h, error, attempt);
        if (answer->built)
            return VK_SUCCESS;
        answer->built_count++;
    }
    if (!request->check)
        return VK_SUCCESS;
    error = verdict_receive(h, BF_WIRE_CHECKED, request, answer, deadline);
    return error ? helper_fail(h, error, attempt) : VK_SUCCESS;
}

static void why_put(struct bf_check_answer *answer, const char *why)
{
    *answer = (struct bf_check_answer){0};
    snprintf(answer->why, sizeof(answer->why), "%s", why);
}

static struct helper *helper_take(struct bf_isolate *isolate)
{
    struct helper *found = NULL;
    pthread_mutex_lock(&isolate->lock);
    while (!found) {
        /* Prefers a helper that runs. */
        for (uint32_t i = 0; i < isolate->count; i++) {
            struct helper *h = &isolate->helpers[i];
            if (!h->taken && (!found || (found->socket.fd < 0 && h->socket.fd >= 0)))
                found = h;
        }
        if (!found)
            pthread_cond_wait(&isolate->freed, &isolate->lock);
    }
    found->taken = true;
    pthread_mutex_unlock(&isolate->lock);
    return found;
}

static void helper_give(struct bf_isolate *isolate, struct helper *h)
{
    pthread_mutex_lock(&isolate->lock);
    h->taken = false;
    pthread_cond_signal(&isolate->freed);
    pthread_mutex_unlock(&isolate->lock);
}

/* Starts the helper if it doesn't run. VK_SUCCESS: it runs. */
static VkResult helper_ensure(struct bf_isolate *isolate, struct helper *h)
{
    if (h->socket.fd >= 0)
        return VK_SUCCESS;
    if (!owned_leads(&isolate->stop))
        return lack_note(isolate, "can't be had: the program has closed what isn't its own");
    pthread_mutex_lock(&isolate->lock);
    bool serves = isolate->failures < FAILURES_MOST;
    pthread_mutex_unlock(&isolate->lock);
    if (!serves)
        return VK_ERROR_INITIALIZATION_FAILED;
    VkResult result = helper_start(isolate, h);
    pthread_mutex_lock(&isolate->lock);
    if (result == VK_SUCCESS)
        isolate->failures = 0;
    if (result == VK_ERROR_INITIALIZATION_FAILED && ++isolate->failures == FAILURES_MOST)
        bf_message(isolate->lack, "no build helper can be had: no shader is specialised");
    pthread_mutex_unlock(&isolate->lock);
    return result;
}

static bool bar_is_up(const struct bf_isolate_bar *bar)
{
    return bar && bar->is_up && bar->is_up(bar->context);
}

static void bar_put_up(const struct bf_isolate_bar *bar)
{
    if (bar && bar->put_up)
        bar->put_up(bar->context);
}

/* By a helper that is this thread's. [IS-12] */
static VkResult helper_use(struct bf_isolate *isolate, struct helper *h,
                           const struct bf_wire_out *body, const struct bf_check_request *request,
                           struct bf_check_answer *answer, struct attempt *attempt)
{
    if (bar_is_up(&isolate->bar))
        return VK_ERROR_NOT_PERMITTED_KHR;
    if (bar_is_up(request->bar))
        return VK_ERROR_UNKNOWN;
    VkResult result = helper_ensure(isolate, h);
    if (result == VK_ERROR_DEVICE_LOST) {
        bar_put_up(&isolate->bar);
        return VK_ERROR_NOT_PERMITTED_KHR;
    }
    if (result == VK_SUCCESS)
        result = isolate_check(isolate, h, body, request, answer, attempt);
    const bool lost = result == VK_SUCCESS && (answer->built == VK_ERROR_DEVICE_LOST ||
                                               answer->checked == VK_ERROR_DEVICE_LOST);
    if (lost) {
        helper_end(h, true); /* of its own it does so a little later */
        bar_put_up(&isolate->bar);
    }
    if (lost || result == VK_TIMEOUT || result == VK_ERROR_UNKNOWN ||
        (result == VK_SUCCESS && answer->hung))
        bar_put_up(request->bar);
    return result;
}

VkResult bf_isolate_check(struct bf_isolate *isolate, const struct bf_check_request *request,
                          struct bf_check_answer *answer)
{
    struct bf_wire_out out = {0};
    bf_wire_say_check(&out, request);
    if (out.failed || out.unsaid) {
        bool failed = out.failed;
        bf_wire_out_finish(&out);
        return failed ? VK_ERROR_OUT_OF_HOST_MEMORY : VK_ERROR_FEATURE_NOT_PRESENT;
    }
    struct helper *h = helper_take(isolate);
    VkResult result = VK_INCOMPLETE;
    uint32_t killed = 0, untaken = 0;
    struct attempt attempt = {.late = false};
    while (result == VK_INCOMPLETE && !attempt.late && killed < KILLED_MOST &&
           untaken < UNTAKEN_MOST) {
        attempt = (struct attempt){.late = false};
        result = helper_use(isolate, h, &out, request, answer, &attempt);
        killed += attempt.driver_has_it;
        untaken += !attempt.driver_has_it;
    }
    helper_give(isolate, h);
    bf_wire_out_finish(&out);
    if (result != VK_INCOMPLETE)
        return result;
    if (untaken == UNTAKEN_MOST)
        return lack_note(isolate, "ended before it had taken the request, time and again");
    why_put(answer, attempt.late ? "it isn't done in the time there is, whatever keeps it"
                                 : "the helpers that were to check it have been killed");
    return result;
}

bool bf_isolate_lack(struct bf_isolate *isolate, char why[BF_ISOLATE_LACK])
{
    pthread_mutex_lock(&isolate->lock);
    memcpy(why, isolate->why, BF_ISOLATE_LACK);
    pthread_mutex_unlock(&isolate->lock);
    return *why;
}

void bf_isolate_prepare(struct bf_isolate *isolate)
{
    isolate->spawner = bf_spawner_start();
}

void bf_isolate_stop(struct bf_isolate *isolate)
{
    isolate->stopped = true;
    if (owned_leads(&isolate->stopper) && write(isolate->stopper.fd, "", 1) != 1)
        errno = 0; /* then it is full, and as readable */
}

/* --------------------------------------------------------------------------- Create and destroy */

/* The helper's path, relative to the library that this code is in. NULL: out of memory or
 * unknown. */
static char *helper_path(void)
{
    Dl_info info;
    if (!dladdr((void *)(uintptr_t)bf_isolate_create, &info) || !info.dli_fname)
        return NULL;
    const char *slash = strrchr(info.dli_fname, '/');
    int folder = slash ? (int)(slash + 1 - info.dli_fname) : 0;
    char *path = NULL;
    return asprintf(&path, "%.*s%s", folder, info.dli_fname, HELPER) < 0 ? NULL : path;
}

/* Environment variables that would load anything but the driver into the helper. */
static bool dropped(const char *variable)
{
    static const char *const names[] = {
        "VK_INSTANCE_LAYERS=",
        "VK_LOADER_LAYERS_ENABLE=",
        "VK_LOADER_LAYERS_DISABLE=",
        "VK_LOADER_LAYERS_ALLOW=",
        "LD_PRELOAD=",
        "BELFRY=",
        "DISABLE_BELFRY=",
    };
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (strncmp(variable, names[i], strlen(names[i])) == 0)
            return true;
    return false;
}

static char **environment_make(char *const *from)
{
    static const char added[][32] = {"VK_LOADER_LAYERS_DISABLE=~all~", "DISABLE_BELFRY=1"};
    const size_t n_added = sizeof(added) / sizeof(added[0]);
    size_t count = n_added + 1, bytes = sizeof(added);
    for (char *const *v = from; v && *v; v++) {
        count++;
        bytes += strlen(*v) + 1;
    }
    char **environment = malloc(count * sizeof(*environment) + bytes);
    if (!environment)
        return NULL;
    char *at = (char *)(environment + count);
    size_t n = 0;
    for (char *const *v = from; v && *v; v++) {
        if (dropped(*v))
            continue;
        size_t size = strlen(*v) + 1;
        memcpy(at, *v, size);
        environment[n++] = at;
        at += size;
    }
    memcpy(at, added, sizeof(added));
    for (size_t i = 0; i < n_added; i++)
        environment[n++] = at + i * sizeof(added[0]);
    environment[n] = NULL;
    return environment;
}

/* Drivers whose settings for single programs go by /proc/self/exe, which is the helper's. (Others
 * do by what a helper has, too: how a program is called, and what it says of itself.) [IS-16] */
static bool drivers_go_by_the_file(uint32_t driver_id)
{
    return driver_id == VK_DRIVER_ID_AMD_PROPRIETARY || driver_id == VK_DRIVER_ID_AMD_OPEN_SOURCE;
}

VkResult bf_isolate_create(const struct bf_isolate_info *info, struct bf_isolate **isolate)
{
    VkResult result = VK_ERROR_OUT_OF_HOST_MEMORY;
    *isolate = NULL;
    struct bf_isolate *made = calloc(1, sizeof(*made));
    if (!made)
        return result;
    pthread_mutex_init(&made->lock, NULL);
    pthread_cond_init(&made->freed, NULL);
    made->count = !info->helpers ? 1 : info->helpers <= HELPERS_MOST ? info->helpers : HELPERS_MOST;
    for (uint32_t i = 0; i < HELPERS_MOST; i++)
        made->helpers[i] =
            (struct helper){.socket = OWNED_NONE, .pidfd = OWNED_NONE, .isolate = made};
    int stop[2] = {-1, -1};
    if (pipe2(stop, O_CLOEXEC | O_NONBLOCK) == 0)
        bf_descriptor_lift_pair(stop);
    made->stop = owned_take(stop[0]);
    made->stopper = owned_take(stop[1]);
    made->bar = info->bar;
    made->lack = info->unasked ? BF_MESSAGE_INFO : BF_MESSAGE_WARNING;
    struct bf_isolate_info told = *info;
    told.limit_ns = info->limit_ns ? info->limit_ns : 30 * SECONDS;
    made->whole_limit_ns = info->whole_limit_ns ? info->whole_limit_ns : 300 * SECONDS;
    made->open_limit_ns = info->open_limit_ns ? info->open_limit_ns : 30 * SECONDS;
    made->path = info->helper ? strdup(info->helper) : helper_path();
    made->name = strdup(info->name ? info->name : HELPER);
    made->environment = environment_make(info->environment);
    bf_wire_say_device(&made->device, &told, (uint32_t)getpid(),
                       info->idle_ms ? info->idle_ms : 10000);
    if (!made->path || !made->name || !made->environment || made->device.failed ||
        made->stopper.fd < 0)
        goto fail;
    const char *why =
        drivers_go_by_the_file(info->driver_id)
            ? "its driver has settings for programs by their files, and a helper is "
              "another file"
        : getauxval(AT_SECURE)     ? "the program runs with rights that its user hasn't got"
        : made->device.unsaid      ? "the device was made with something that isn't known here"
        : access(made->path, X_OK) ? "there is no build helper beside the layer"
                                   : NULL;
    if (why) {
        bf_message(made->lack, "specialize is off for this device: %s", why);
        result = VK_ERROR_INITIALIZATION_FAILED;
        goto fail;
    }
    *isolate = made;
    return VK_SUCCESS;

fail:
    bf_isolate_destroy(made);
    return result;
}

void bf_isolate_destroy(struct bf_isolate *isolate)
{
    if (!isolate)
        return;
    for (uint32_t i = 0; i < isolate->count; i++)
        helper_end(&isolate->helpers[i], false);
    bf_spawner_stop(isolate->spawner);
    pthread_cond_destroy(&isolate->freed);
    pthread_mutex_destroy(&isolate->lock);
    owned_close(&isolate->stop);
    owned_close(&isolate->stopper);
    bf_wire_out_finish(&isolate->device);
    free(isolate->environment);
    free(isolate->name);
    free(isolate->path);
    free(isolate);
}

void bf_isolate_abandon(struct bf_isolate *isolate)
{
    for (uint32_t i = 0; i < isolate->count; i++)
        helper_end(&isolate->helpers[i], false);
    owned_close(&isolate->stop);
    owned_close(&isolate->stopper);
}
