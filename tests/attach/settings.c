/* SPDX-License-Identifier: MIT */
/* Settings that a program passes to bfAttachDevice: they reach the device, below the
 * environment. */
#include "doorbell/user_mode.h"

#include <belfry/background.h>
#include <belfry/preemption.h>
#include <sched.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/asleep.h"
#include "support/capture.h"
#include "support/lines.h"

#define TASKS          "VK_BELFRY_MULTI_ENGINE_BACKGROUND_TASKS"
#define DEVELOPER_MODE "VK_BELFRY_MULTI_ENGINE_DEVELOPER_MODE"

static void open_without_attaching(struct fixture *f)
{
    fixture_open_instance(f, &fixture_plain);
    assert_success(fixture_open_device(f, &fixture_plain));
}

static BfBackgroundProcessingProperties properties_of(BfDevice device)
{
    BfBackgroundProcessingProperties properties = {BF_TYPE(BACKGROUND_PROCESSING_PROPERTIES)};
    assert_success(bfGetBackgroundProcessingProperties(device, &properties));
    return properties;
}

TEST(they_reach_the_device_and_no_other)
{
    static const BfSetting own[] = {{"background_tasks", "7"}, {"developer_mode", "on"}};
    struct fixture f;
    open_without_attaching(&f);
    lines_begin();
    assert_success(fixture_attach_with(&f, 2, own));
    char line[512];
    assert_int_equal(lines_end(line, sizeof(line)), 1);
    assert_non_null(strstr(line, "'developer_mode' is ignored"));
    assert_int_equal(properties_of(f.bf).backgroundTasks, 7);
    assert_false(properties_of(f.bf).developerMode); /* it isn't the program's to set */
    bfDetachDevice(f.bf);
    assert_success(fixture_attach_with(&f, 0, NULL));
    assert_int_equal(properties_of(f.bf).backgroundTasks, 2);
    assert_false(properties_of(f.bf).developerMode);
    fixture_close(&f);
}

TEST(the_environment_overrides_them)
{
    static const BfSetting own[] = {{"background_tasks", "7"}};
    struct fixture f;
    open_without_attaching(&f);
    setenv(TASKS, "5", 1);
    setenv(DEVELOPER_MODE, "on", 1);
    VkResult result = fixture_attach_with(&f, 1, own);
    unsetenv(DEVELOPER_MODE);
    unsetenv(TASKS);
    assert_success(result);
    assert_int_equal(properties_of(f.bf).backgroundTasks, 5);
    assert_true(properties_of(f.bf).developerMode);
    fixture_close(&f);
}

TEST(native_fences_can_be_switched_off)
{
    static const BfSetting off = {"native_fences", "off"};
    struct fixture f;
    open_without_attaching(&f);
    lines_begin();
    VkResult result = fixture_attach_with(&f, 1, &off);
    char line[512];
    assert_int_equal(lines_end(line, sizeof(line)), 1);
    assert_int_equal(result, VK_ERROR_FEATURE_NOT_PRESENT);
    assert_non_null(strstr(line, "native_fences"));
    assert_null(f.bf);
    f.no_native_fences = true;
    assert_success(fixture_attach_with(&f, 1, &off));
    fixture_close(&f);
}

TEST(what_is_no_setting_costs_a_line_and_what_is_no_text_is_refused)
{
    static const BfSetting unknown = {"background_task", "7"}, no_key = {NULL, "7"},
                           no_value = {"background_tasks", NULL};
    struct fixture f;
    open_without_attaching(&f);
    char line[512];
    const BfSetting *refused[] = {NULL, &no_key, &no_value};
    for (int i = 0; i < 3; i++) {
        lines_begin();
        VkResult result = fixture_attach_with(&f, 1, refused[i]);
        assert_int_equal(lines_end(line, sizeof(line)), 1);
        assert_int_equal(result, VK_ERROR_VALIDATION_FAILED_EXT);
        assert_non_null(strstr(line, "bfAttachDevice: pSettings"));
        assert_null(f.bf);
    }
    lines_begin();
    VkResult result = fixture_attach_with(&f, 1, &unknown);
    assert_int_equal(lines_end(line, sizeof(line)), 1);
    assert_success(result);
    assert_non_null(strstr(line, "'background_tasks'"));
    fixture_close(&f);
}

/* -------------------------------------------------------------------- What each of them does -- */

#define OPEN(f_, ...)                                                                              \
    do {                                                                                           \
        const BfSetting own_[] = {__VA_ARGS__};                                                    \
        open_with(f_, sizeof(own_) / sizeof(own_[0]), own_);                                       \
    } while (0)

static void open_with(struct fixture *f, uint32_t count, const BfSetting *settings)
{
    open_without_attaching(f);
    assert_success(fixture_attach_with(f, count, settings));
    device_open_words(&f->base, FIXTURE_WORDS, 0, 0);
}

/* The driver's vkQueueSubmit2: the first thread in it stays until the second is there, too, or
 * sleeps on its way. */
static struct {
    _Atomic uint32_t inside, most, calls;
    struct thread *_Atomic other;
} submits;

static VKAPI_ATTR VkResult VKAPI_CALL submit(VkQueue queue, uint32_t count,
                                             const VkSubmitInfo2 *infos, VkFence fence)
{
    const uint32_t inside = ++submits.inside;
    if (inside > submits.most)
        submits.most = inside;
    struct thread *other = submits.other;
    if (other && submits.calls++ == 0) {
        while (!other->id)
            sched_yield();
        while (submits.most == 1 && thread_state(other->id) != 'S')
            sched_yield();
    }
    const VkResult result = vkQueueSubmit2(queue, count, infos, fence);
    submits.inside--;
    return result;
}

static VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL look_up(VkDevice device, const char *name)
{
    return !strcmp(name, "vkQueueSubmit2") ? (PFN_vkVoidFunction)submit
                                           : vkGetDeviceProcAddr(device, name);
}

struct execution {
    BfCommandQueue queue;
    VkCommandBuffer commands;
    VkResult result;
};

/* Once the first is in the driver. */
static void execute_second(void *argument)
{
    struct execution *e = argument;
    while (submits.calls == 0)
        sched_yield();
    e->result = bfQueueExecute(e->queue, 1, &e->commands);
}

TEST(submissions_are_serialized_if_it_says_so)
{
    for (uint32_t on = 0; on < 2; on++) {
        struct fixture f;
        BfAttachQueue queues[DEVICE_FAMILIES * FIXTURE_QUEUES];
        const BfSetting own = {"serialize_submits", on ? "on" : "off"};
        open_without_attaching(&f);
        BfAttachInfo info = fixture_attach_info(&f, queues);
        info.pfnGetDeviceProcAddr = look_up;
        info.settingCount = 1;
        info.pSettings = &own;
        assert_success(bfAttachDevice(&info, &f.bf));
        device_open_words(&f.base, FIXTURE_WORDS, 0, 0);
        BfCommandQueue first = make_queue(&f, BF_COMMAND_LIST_TYPE_DIRECT);
        struct execution second = {.queue = make_queue(&f, BF_COMMAND_LIST_TYPE_COPY)};
        second.commands = write_word(&f, second.queue, 0, 1);
        VkCommandBuffer commands = write_word(&f, first, 1, 2);
        struct thread thread;
        submits.most = submits.calls = 0;
        submits.other = &thread;
        thread_start(&thread, execute_second, &second);
        execute(first, commands);
        thread_join(&thread);
        submits.other = NULL;
        assert_success(second.result);
        await_idle(first);
        await_idle(second.queue);
        assert_int_equal(submits.most, on ? 1 : 2);
        fixture_close(&f);
    }
}

#ifndef __SANITIZE_THREAD__ /* which lets no signal through in a fork of several threads */
/* A program whose queue waits, and that SIGINT ends: what it wrote to stderr. */
static char *interrupt_with(const char *watchdog, const char *at_interrupt)
{
    static char text[8192];
    int err[2], status;
    assert_int_equal(pipe(err), 0);
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        struct fixture f;
        signal(SIGINT, SIG_DFL);
        OPEN(&f, {"watchdog", watchdog}, {"at_interrupt", at_interrupt});
        BfCommandQueue queue = make_queue(&f, BF_COMMAND_LIST_TYPE_DIRECT);
        queue_wait(queue, make_fence(&f, 0), 3);
        execute(queue, write_word(&f, queue, 0, 1));
        dup2(err[1], STDERR_FILENO);
        raise(SIGINT);
        for (;;) /* what waits is told by another thread */
            pause();
    }
    close(err[1]);
    size_t length = 0;
    ssize_t n;
    while ((n = read(err[0], text + length, sizeof(text) - 1 - length)) > 0)
        length += (size_t)n;
    text[length] = '\0';
    close(err[0]);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGINT);
    return text;
}

TEST(what_waits_is_told_when_interrupted_if_both_say_so)
{
    const char *told = interrupt_with("3600000", "on");
    assert_non_null(strstr(told, "belfry: standstill: 3D command queue 0 waits for fence "));
    assert_string_equal(interrupt_with("3600000", "off"), "");
    assert_string_equal(interrupt_with("0", "on"), "");
}
#endif

TEST(the_summary_is_printed_and_the_trace_written)
{
    char folder[] = "/tmp/belfry_attach_XXXXXX", path[64];
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof(path), "%s/t.pftrace", folder);
    for (int i = 0; i < 4; i++) {
        struct fixture f;
        struct capture capture;
        struct stat file;
        OPEN(&f, {"summary", i & 1 ? "on" : "off"}, {"trace", i & 2 ? path : ""});
        BfCommandQueue queue = make_queue(&f, BF_COMMAND_LIST_TYPE_DIRECT);
        execute(queue, write_word(&f, queue, 0, 1));
        await_idle(queue);
        capture_start(&capture);
        fixture_close(&f);
        char *text = capture_stop(&capture);
        assert_int_equal(strstr(text, "1 submissions") != NULL, (i & 1) != 0);
        free(text);
        assert_int_equal(stat(path, &file) == 0 && file.st_size > 0, i >= 2);
    }
    unlink(path);
    snprintf(path, sizeof(path), "%s/t-1.pftrace", folder);
    unlink(path);
    rmdir(folder);
}

/* BfResourceUse::buffer and image, too: nobody has seen them created. */
TEST(accesses_are_checked_if_it_says_so)
{
    for (int checked = 0; checked < 2; checked++) {
        struct fixture f;
        OPEN(&f, {"check", checked ? "access" : "none"});
        const VkImageCreateInfo info = {VK_TYPE(IMAGE_CREATE_INFO),
                                        .imageType = VK_IMAGE_TYPE_2D,
                                        .format = VK_FORMAT_R8G8B8A8_UNORM,
                                        .extent = {4, 4, 1},
                                        .mipLevels = 1,
                                        .arrayLayers = 1,
                                        .samples = VK_SAMPLE_COUNT_1_BIT,
                                        .usage = VK_IMAGE_USAGE_TRANSFER_DST_BIT};
        VkImage images[2];
        for (int i = 0; i < 2; i++)
            assert_success(vkCreateImage(f.device, &info, NULL, &images[i]));
        BfCommandQueue a = make_queue(&f, BF_COMMAND_LIST_TYPE_DIRECT),
                       b = make_queue(&f, BF_COMMAND_LIST_TYPE_COPY);
        const BfResourceUse uses[2][2] = {
            {{.buffer = f.buffer, .size = 16, .write = VK_TRUE},
             {.buffer = f.buffer, .offset = 8, .size = 8, .write = VK_TRUE}},
            {{.image = images[0], .write = VK_TRUE}, {.image = images[0]}},
        };
        const BfResourceUse others[2] = {
            {.buffer = f.buffer, .offset = 16, .size = 16, .write = VK_TRUE},
            {.image = images[1], .write = VK_TRUE}};
        for (int i = 0; i < 2; i++) {
            lines_begin();
            /* The second uses what the first does, the third something else. */
            for (int k = 0; k < 3; k++) {
                BfCommandQueue queue = k ? b : a;
                assert_success(bfQueueUses(queue, 1, k < 2 ? &uses[i][k] : &others[i]));
                execute(queue, write_word(&f, queue, 32, 1));
            }
            char line[512];
            assert_int_equal(lines_end_with("(bfQueueUses)", line, sizeof(line)), checked);
            assert_true(!checked || strstr(line, i ? "image" : "bytes 8 to 15"));
            await_idle(a);
            await_idle(b);
        }
        for (int i = 0; i < 2; i++)
            vkDestroyImage(f.device, images[i], NULL);
        fixture_close(&f);
    }
}

TEST(messages_are_those_that_it_names)
{
    static const struct {
        const char *value;
        bool told, refusals;
    } cases[] = {{"info", true, true}, {"error", false, true}, {"none", false, false}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct fixture f;
        open_without_attaching(&f);
        const BfSetting own = {"messages", cases[i].value};
        lines_begin();
        assert_success(fixture_attach_with(&f, 1, &own));
        assert_int_equal(lines_end(NULL, 0) > 0, cases[i].told);
        lines_begin();
        assert_bad_input(bfSetEvent(NULL));
        assert_int_equal(lines_end(NULL, 0), cases[i].refusals);
        fixture_close(&f);
    }
}

TEST(logs_and_preemption_can_be_switched_off)
{
    for (int off = 0; off < 2; off++) {
        struct fixture f;
        OPEN(&f, {"log", off ? "off" : "timed"}, {"preemption", off ? "off" : "on"});
        BfCommandQueue queue = make_queue(&f, BF_COMMAND_LIST_TYPE_DIRECT);
        const BfFenceLogReaderCreateInfo info = {BF_TYPE(FENCE_LOG_READER_CREATE_INFO),
                                                 .queue = queue, .type = BF_FENCE_LOG_TYPE_WAITS};
        BfFenceLogReader reader = NULL;
        const VkResult expected = off ? VK_ERROR_FEATURE_NOT_PRESENT : VK_SUCCESS;
        assert_int_equal(bfCreateFenceLogReader(f.bf, &info, &reader), expected);
        assert_int_equal(bfRequestPreemption(queue, NULL), expected);
        bfDestroyFenceLogReader(reader);
        fixture_close(&f);
    }
}

/* One doorbell is taken away for another queue's, unless all share one. */
TEST(doorbells_are_so_many_and_of_that_model)
{
    static const struct {
        const char *count, *model;
        bool taken;
    } cases[] = {{"1", "dedicated", true}, {"2", "dedicated", false}, {"1", "global", false}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct fixture f;
        struct user_mode u[2];
        OPEN(&f, {"doorbells", cases[i].count}, {"doorbell_model", cases[i].model});
        for (int k = 0; k < 2; k++) {
            user_mode_open(&f, &u[k], BF_COMMAND_LIST_TYPE_DIRECT, 64);
            assert_success(bfConnectDoorbell(&(BfConnectDoorbell){u[k].doorbell.hDoorbell, 0}));
        }
        assert_int_equal(user_mode_status(&u[0]) == BF_DOORBELL_STATUS_DISCONNECTED_RETRY,
                         cases[i].taken);
        for (int k = 0; k < 2; k++)
            user_mode_close(&u[k]);
        fixture_close(&f);
    }
}

TEST(idle_engines_sleep_if_it_says_so)
{
    struct fixture f;
    struct user_mode u;
    BfEngineState now = BF_ENGINE_STATE_ACTIVE;
    OPEN(&f, {"doorbell_idle", "1"});
    user_mode_open(&f, &u, BF_COMMAND_LIST_TYPE_DIRECT, 64);
    user_mode_submit(&u, user_mode_entry(&u));
    user_mode_await(&u);
    while (now != BF_ENGINE_STATE_TRANSITION_TO_F1) { /* or the test never ends */
        assert_success(bfGetEngineState(u.queue, &now));
        sched_yield();
    }
    user_mode_close(&u);
    fixture_close(&f);
}
