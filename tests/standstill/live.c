/* SPDX-License-Identifier: MIT */
/* The live page of a program under the layer, which looks at itself as 'belfry top' does: healthy,
 * at rest, while it stands still, and when somebody writes nonsense to the page. */
#include "support/world.h"

#include <fcntl.h>
#include <fnmatch.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "cli/top.h"
#include "standstill/host_wait.h"
#include "standstill/lines.h"

#define ENOUGH UINT64_C(60000000000) /* for an answer, on any machine */

static const uint32_t three[] = {3, WORLD_END};
static struct top_device seen[TOP_DEVICES];

static int look(void)
{
    struct top_process self;
    assert_true(top_process_open(&self, getpid()));
    int count = top_devices_look(&self, seen, TOP_DEVICES, ENOUGH);
    top_process_close(&self);
    return count;
}

static const struct bf_live_view *view(void)
{
    assert_int_equal(look(), 1);
    assert_int_equal(seen[0].answer, TOP_ANSWERED);
    return &seen[0].view;
}

/* The descriptor of the page; -1: there is none. */
static int page_fd(void)
{
    for (int fd = 0; fd < 1024; fd++) {
        char path[32], link[64] = "";
        snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
        if (readlink(path, link, sizeof(link) - 1) > 0 && strcmp(link, BF_LIVE_LINK) == 0)
            return fd;
    }
    return -1;
}

static void live_open(struct device *w)
{
    told_begin();
    world_open(w, "SHAPE=q1 QUIET=1", three);
}

static void live_close(struct device *w)
{
    world_close(w);
    told_end();
    assert_int_equal(look(), 0); /* it goes with the device */
}

#define LIVE_TEST(name_) TEST_AROUND(name_, struct device, w, live_open, live_close)

static VkSemaphore named_timeline(struct device *w, const char *text)
{
    VkSemaphore semaphore = vulkan_timeline(w->device, 0);
    const VkDebugUtilsObjectNameInfoEXT info = {
        VK_TYPE(DEBUG_UTILS_OBJECT_NAME_INFO_EXT), .objectType = VK_OBJECT_TYPE_SEMAPHORE,
        .objectHandle = (uint64_t)semaphore, .pObjectName = text};
    assert_success(vkSetDebugUtilsObjectNameEXT(w->device, &info));
    return semaphore;
}

static const struct bf_live_queue *queue_of(const struct bf_live_view *v, const char *name)
{
    for (uint64_t i = 0; i < v->queue_count; i++) {
        if (strcmp(v->queues[i].name, name) == 0)
            return &v->queues[i];
    }
    fail_msg("there is no queue '%s'", name);
    return NULL;
}

static const struct bf_live_fence *fence_of(const struct bf_live_view *v, const char *name)
{
    for (uint64_t i = 0; i < v->fence_count; i++) {
        if (strcmp(v->fences[i].name, name) == 0)
            return &v->fences[i];
    }
    fail_msg("there is no fence '%s'", name);
    return NULL;
}

static void matches(const char *text, const char *pattern)
{
    if (fnmatch(pattern, text, 0) != 0)
        fail_msg("shown:  %s\nwanted: %s", text, pattern);
}

/* LV-1: until somebody asks, the page has no more memory than its first words need, and nobody has
 * written a view; SS-5: who rests, rests on. */
LIVE_TEST(test_rest)
{
    struct stat info;
    int fd = page_fd();
    told_await_sleep(true);
    assert_int_equal(fstat(fd, &info), 0);
    assert_true(info.st_blocks * 512 <= 4096);
    for (int i = 0; i < 3; i++) {
        const struct bf_live_view *v = view();
        assert_int_equal(v->engine_count, 1);
        assert_int_equal(v->queue_count, 3);
        assert_int_equal(v->case_count, 0);
        assert_true(v->seen && v->pool.known && !v->lost);
        assert_string_equal(v->engines[0].work, "");
        told_await_sleep(true);
    }
}

/* FD-1: in a program that has closed its stdin, the page isn't that. */
TEST(test_closed_stdin)
{
    struct device w;
    told_begin();
    int kept = dup(STDIN_FILENO);
    close(STDIN_FILENO);
    world_open(&w, "SHAPE=q1 QUIET=1", three);
    assert_true(page_fd() > STDERR_FILENO);
    assert_int_equal(view()->queue_count, 3);
    if (kept >= 0)
        dup2(kept, STDIN_FILENO);
    close(kept);
    live_close(&w);
}

/* What moves: packets, submissions, the values of semaphores. */
LIVE_TEST(test_moves)
{
    VkSemaphore t = named_timeline(w, "frame");
    const uint64_t before = view()->engines[0].accepted;
    for (uint64_t i = 1; i <= 5; i++)
        assert_submitted(w->queues[0][1], .signal = t, .signal_value = i);
    assert_success(vkDeviceWaitIdle(w->device));
    const struct bf_live_view *v = view();
    assert_int_equal(v->engines[0].accepted - before, 5);
    assert_int_equal(v->engines[0].completed, v->engines[0].accepted);
    assert_int_equal(queue_of(v, "3D queue 0:1")->packets, 5);
    assert_int_equal(queue_of(v, "3D queue 0:1")->held, 0);
    assert_int_equal(fence_of(v, "semaphore 'frame'")->value, 5);
    assert_true(fence_of(v, "semaphore 'frame'")->wanted == UINT64_MAX);
    vkDestroySemaphore(w->device, t, NULL);
}

/* Packets that are held, at once; and the cause, after the time that is set. */
LIVE_TEST(test_held)
{
    VkSemaphore t = named_timeline(w, "frame"), u = named_timeline(w, "other");
    assert_submitted(w->queues[0][1], .wait = t, .wait_value = 7);
    assert_submitted(w->queues[0][1], .signal = u, .signal_value = 2);
    assert_submitted(w->queues[0][2], .wait = u, .wait_value = 1);
    const struct bf_live_view *v = view();
    assert_int_equal(queue_of(v, "3D queue 0:1")->held, 2);
    matches(queue_of(v, "3D queue 0:1")->wait,
            "packet 1 waits for semaphore 'frame' to reach 7 (has 0) for ?.? s: nobody has "
            "submitted such a signal; the host may still signal it");
    matches(queue_of(v, "3D queue 0:2")->wait,
            "packet 1 waits for semaphore 'other' to reach 1 (has 0) for ?.? s, which packet 2 of "
            "3D queue 0:1 would signal");
    assert_int_equal(fence_of(v, "semaphore 'frame'")->wanted, 7);
    assert_int_equal(fence_of(v, "semaphore 'other'")->wanted, 1);
    told_expect("packet 1 of 3D queue 0:1 waits for semaphore 'frame' *");
    v = view();
    assert_int_equal(v->case_count, 1);
    matches(v->cases[0], "packet 1 of 3D queue 0:1 waits for semaphore 'frame' to reach 7 *");
    vulkan_signal(w->device, t, 7);
    assert_success(vkDeviceWaitIdle(w->device));
    assert_int_equal(queue_of(view(), "3D queue 0:1")->held, 0);
    vulkan_destroy(w->device, t, u);
}

#define STOPS     15
#define STOP_NS   60000000
#define WITHIN_NS UINT64_C(200000000) /* to stop, so often */

/* SS-6: time in which the process is stopped, each time for less than the watchdog sleeps. */
LIVE_TEST(test_stopped_briefly)
{
    VkSemaphore t = named_timeline(w, "frame");
    pid_t self = getpid();
    assert_submitted(w->queues[0][1], .wait = t, .wait_value = 1);
    told_await_sleep(false);
    uint64_t since_ns = queue_of(view(), "3D queue 0:1")->ns, begin_ns = bf_now_ns();
    pid_t other = fork();
    for (int i = 0; other == 0 && i < STOPS; i++) {
        kill(self, SIGSTOP);
        nanosleep(&(struct timespec){.tv_nsec = STOP_NS}, NULL);
        kill(self, SIGCONT);
        nanosleep(&(struct timespec){.tv_nsec = 5000000}, NULL);
    }
    if (other == 0)
        _exit(0);
    assert_int_equal(waitpid(other, NULL, 0), other);
    uint64_t counted_ns = queue_of(view(), "3D queue 0:1")->ns - since_ns;
    uint64_t passed_ns = bf_now_ns() - begin_ns;
    assert_true(counted_ns + (uint64_t)STOPS * STOP_NS <= passed_ns + WITHIN_NS);
    told_expect("packet 1 of 3D queue 0:1 waits for semaphore 'frame' *");
    vulkan_signal(w->device, t, 1);
    assert_success(vkDeviceWaitIdle(w->device));
    vkDestroySemaphore(w->device, t, NULL);
}

/* Each device has a page of its own. */
LIVE_TEST(test_two_devices)
{
    struct device other;
    world_open_beside(&other, w, 0);
    assert_int_equal(look(), 2);
    for (int i = 0; i < 2; i++)
        assert_int_equal(seen[i].answer, TOP_ANSWERED);
    assert_true(seen[0].inode != seen[1].inode);
    device_close(&other);
    view();
}

static void *submit(void *context)
{
    struct device *w = context;
    pthread_setname_np(pthread_self(), "renderer");
    assert_success(vulkan_submit(w->queues[0][0], (struct vulkan_batch){0}));
    return NULL;
}

/* Who waits on the host for what nobody has submitted lets the watchdog rest, once that has been
 * told; and has waited all the while. */
LIVE_TEST(test_host_wait_at_rest)
{
    struct host_wait h = {.device = w->device,
                          .semaphore = named_timeline(w, "frame"),
                          .value = 1,
                          .timeout_ns = UINT64_MAX};
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, wait_on_host, &h), 0);
    told_expect("thread * has waited for ?.? s, in vkWaitSemaphores, for semaphore 'frame' *");
    told_await_sleep(true);
    nanosleep(&(struct timespec){.tv_nsec = 400000000}, NULL); /* that is to be counted */
    const struct bf_live_view *v = view();
    assert_int_equal(v->case_count, 1);
    double waited_s = 0;
    assert_int_equal(sscanf(v->cases[0], "thread %*u '%*[^']' has waited for %lf s", &waited_s), 1);
    assert_true(waited_s >= 0.4);
    vulkan_signal(w->device, h.semaphore, 1);
    pthread_join(thread, NULL);
    vkDestroySemaphore(w->device, h.semaphore, NULL);
}

/* SS-4 holds here, too: a call that the driver doesn't return from is shown. */
LIVE_TEST(test_stuck_call)
{
    pthread_t thread;
    w->icd.set_block(&(struct belfry_icd_block){.command = "vkQueueSubmit2", .first = 1});
    assert_int_equal(pthread_create(&thread, NULL, submit, w), 0);
    told_expect("thread * 'renderer' has been in the driver for *");
    matches(view()->engines[0].call, "thread * 'renderer' in vkQueueSubmit for ?.? s");
    w->icd.release(UINT64_MAX);
    pthread_join(thread, NULL);
    w->icd.set_block(NULL);
    assert_success(vkDeviceWaitIdle(w->device));
}

/* What a hostile process may do to the page. */
static void spoil_bytes(struct bf_live_page *page, int fd, unsigned turn)
{
    unsigned char *bytes = (unsigned char *)page;
    for (size_t i = 0; i < sizeof(*page); i += sizeof(uint32_t))
        atomic_store((_Atomic uint32_t *)(void *)(bytes + i), turn * 2654435761u + (unsigned)i);
}

static void spoil_bell(struct bf_live_page *page, int fd, unsigned turn)
{
    atomic_store(&page->bell, turn % 2);
}

static void spoil_asked(struct bf_live_page *page, int fd, unsigned turn)
{
    atomic_store(&page->asked, turn);
    atomic_fetch_add(&page->bell, 1);
}

static void spoil_memory(struct bf_live_page *page, int fd, unsigned turn)
{
    assert_int_equal(ftruncate(fd, 0), -1);
    fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, BF_LIVE_SIZE);
    atomic_store(&page->asked, turn + 1);
    atomic_store(&page->bell, turn + 1);
}

struct spoiler {
    void (*spoil)(struct bf_live_page *page, int fd, unsigned turn);
    struct bf_live_page *page;
    int fd;
    _Atomic bool stop;
};

static void *spoil(void *context)
{
    struct spoiler *s = context;
    for (unsigned turn = 0; !s->stop; turn++) {
        s->spoil(s->page, s->fd, turn);
        syscall(SYS_futex, &s->page->bell, FUTEX_WAKE, 1, NULL, NULL, 0);
    }
    return NULL;
}

/* LV-2, LP-3: the watchdog closes the page, tells what it had to tell, and the device goes. */
TEST(test_spoilt)
{
    static void (*const spoils[])(struct bf_live_page *, int,
                                  unsigned) = {spoil_bytes, spoil_bell, spoil_asked, spoil_memory};
    for (size_t i = 0; i < sizeof(spoils) / sizeof(spoils[0]); i++) {
        struct device w;
        pthread_t thread;
        live_open(&w);
        struct spoiler s = {.spoil = spoils[i], .fd = fcntl(page_fd(), F_DUPFD_CLOEXEC, 1000)};
        s.page = mmap(NULL, BF_LIVE_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, s.fd, 0);
        assert_true(s.page != MAP_FAILED);
        VkSemaphore t = named_timeline(&w, "frame");
        assert_int_equal(pthread_create(&thread, NULL, spoil, &s), 0);
        while (page_fd() != s.fd) /* until only the copy is left */
            sched_yield();
        assert_submitted(w.queues[0][0], .wait = t, .wait_value = 1);
        told_expect("packet 1 of 3D queue 0:0 waits for semaphore 'frame' to reach 1 *");
        vulkan_signal(w.device, t, 1);
        assert_success(vkDeviceWaitIdle(w.device));
        vkDestroySemaphore(w.device, t, NULL);
        world_close(&w);
        s.stop = true;
        pthread_join(thread, NULL);
        munmap(s.page, BF_LIVE_SIZE);
        close(s.fd);
        told_end();
        assert_int_equal(look(), 0);
    }
}
