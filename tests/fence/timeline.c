/* SPDX-License-Identifier: MIT */
/* The timeline of a device: the same whether the layer opens it or the program's own attaching, in
 * one file for all devices of a process, and good to read however the process ends. */
#include "log/read.h"

#include <signal.h>
#include <sys/wait.h>

#include <belfry/background.h>

#include "../trace/trace_decode.h"

#define TRACE "VK_BELFRY_MULTI_ENGINE_TRACE"

static struct {
    char folder[64], path[96];
} place;

static void place_make(void)
{
    snprintf(place.folder, sizeof(place.folder), "/tmp/belfry-timeline-XXXXXX");
    assert_non_null(mkdtemp(place.folder));
    snprintf(place.path, sizeof(place.path), "%s/run.pftrace", place.folder);
}

/* There was one file of whole packets. 'whole': the process has ended its devices; else slices have
 * no ends, arrows that arrive may not have left, and a kill may have cut the last packet short. */
static struct decoded place_read(bool whole)
{
    struct decoded d = decode_file(place.path);
    assert_in_range(d.size - d.whole, 0, whole ? 0 : 4096);
    if (whole)
        decoded_check(&d);
    assert_int_equal(unlink(place.path), 0);
    assert_int_equal(rmdir(place.folder), 0);
    return d;
}

/* The environment is read when the instance is made, and when a device is attached. */
static void open_traced(struct fixture *f, const struct fixture_options *options)
{
    setenv(TRACE, place.path, 1);
    fixture_open(f, options);
    unsetenv(TRACE);
}

/* ----------------------------------------------------------------------------------- Looking -- */

static bool is_event(const struct decoded_packet *p, uint64_t type, const char *category)
{
    return p->kind == DECODED_EVENT && p->type == type &&
           (!category || decoded_is(p->category, category));
}

static uint32_t count_events(const struct decoded *d, uint64_t type, const char *category)
{
    uint32_t n = 0;
    for (size_t i = 0; i < d->count; i++)
        n += is_event(&d->packets[i], type, category);
    return n;
}

/* 'value': of the fence; 0: whichever. */
static const struct decoded_packet *event_begin(const struct decoded *d, const char *category,
                                                const char *name, uint64_t value)
{
    for (size_t i = 0; i < d->count; i++) {
        const struct decoded_packet *p = &d->packets[i];
        if (!is_event(p, DECODED_BEGIN, category) || !decoded_starts_with(p->name, name))
            continue;
        const struct decoded_annotation *a = decoded_annotation(p, "value");
        if (!value || (a && a->number == value))
            return p;
    }
    fail_msg("no slice '%s' of category '%s'", name, category);
    return NULL;
}

static const struct decoded_packet *event_end(const struct decoded *d,
                                              const struct decoded_packet *begin)
{
    for (const struct decoded_packet *p = begin + 1; p < d->packets + d->count; p++)
        if (p->uuid == begin->uuid && is_event(p, DECODED_END, NULL))
            return p;
    fail_msg("a slice without an end");
    return NULL;
}

static uint32_t count_instants(const struct decoded *d, const char *name)
{
    uint32_t n = 0;
    for (size_t i = 0; i < d->count; i++)
        n +=
            is_event(&d->packets[i], DECODED_INSTANT, NULL) && decoded_is(d->packets[i].name, name);
    return n;
}

static uint32_t count_tracks(const struct decoded *d, const char *name)
{
    uint32_t n = 0;
    for (size_t i = 0; i < d->count; i++) {
        const struct decoded_packet *p = &d->packets[i];
        n += p->kind == DECODED_TRACK && decoded_starts_with(p->name, name) &&
             decoded_track(d, p->uuid) == p;
    }
    return n;
}

/* To an end on that track. */
static bool has_arrow(const struct decoded *d, const struct decoded_packet *from, uint64_t track)
{
    for (uint32_t i = 0; i < from->flow_count; i++) {
        const struct decoded_packet *to = decoded_flow_target(d, from->flows[i]);
        if (to && to->uuid == track && to->type == DECODED_END)
            return true;
    }
    return false;
}

/* ------------------------------------------------------------------------------------- Tests -- */

static void item(void *context)
{
    atomic_store((_Atomic bool *)context, true);
}

static VkQueue any_vkqueue(struct fixture *f)
{
    for (uint32_t i = 0; i < f->family_count; i++)
        if (f->queue_counts[i])
            return f->queues[i][0];
    fail_msg("no VkQueue");
    return NULL;
}

static void submit_nothing(struct fixture *f)
{
    const VkSubmitInfo2 nothing = {VK_TYPE(SUBMIT_INFO_2)};
    if (f->layered)
        assert_success(vkQueueSubmit2(any_vkqueue(f), 1, &nothing, VK_NULL_HANDLE));
    else
        assert_success(bfVkQueueSubmit(f->bf, any_vkqueue(f), 1, &nothing, VK_NULL_HANDLE));
}

#define LAST 4242

/* Two queues, one of which waits for the other, and the CPU. */
static void work(struct fixture *f)
{
    BfCommandQueue first = make_queue(f, BF_COMMAND_LIST_TYPE_DIRECT);
    BfCommandQueue second = make_queue(f, BF_COMMAND_LIST_TYPE_COMPUTE);
    BfFence fence = make_fence(f, 0);
    queue_wait(second, fence, LAST);
    execute(second, copy_word(f, second, 0, 1));
    cpu_signal(fence, 1);
    execute(first, write_word(f, first, 0, 7));
    queue_signal(first, fence, LAST);
    execute(first, write_word(f, first, 2, 7)); /* the log's entries come with batches */
    await_idle(first);
    await_idle(second);
    assert_int_equal(read_word(f, 1), 7);
}

TEST(what_queues_do_is_in_the_file)
{
    struct fixture f;
    place_make();
    open_traced(&f, NULL);
    char device[VK_MAX_PHYSICAL_DEVICE_NAME_SIZE];
    VkPhysicalDeviceProperties properties;
    vkGetPhysicalDeviceProperties(f.physical, &properties);
    snprintf(device, sizeof(device), "%s", properties.deviceName);
    bool calibrated = f.calibrated;
    work(&f);
    submit_nothing(&f);
    _Atomic bool done = false;
    assert_success(bfQueueProcessingWork(f.bf, item, NULL, (void *)&done));
    while (!atomic_load(&done))
        sched_yield();
    fixture_close(&f);

    struct decoded d = place_read(true);
    const struct decoded_packet *head = NULL;
    for (size_t i = 0; i < d.count && !head; i++)
        if (is_event(&d.packets[i], DECODED_INSTANT, "belfry"))
            head = &d.packets[i];
    assert_non_null(head);
    assert_true(decoded_is(decoded_annotation(head, "device")->text, device));
    /* Both executions, where they were queued and where they ran; the second was held. */
    assert_true(count_tracks(&d, "engine ") >= 1);
    assert_int_equal(count_instants(&d, "host signal"), 1);
    assert_true(count_events(&d, DECODED_BEGIN, "queued") >= 2);
    assert_true(count_events(&d, DECODED_BEGIN, "held") >= 1);
    assert_true(count_events(&d, DECODED_BEGIN, "executed") +
                    count_events(&d, DECODED_INSTANT, "handed over") >=
                3);
    assert_int_equal(count_instants(&d, "GPU times are uncalibrated"), !calibrated);
    /* The fence's operations are over, the wait by what the signal did. */
    const struct decoded_packet *wait = event_begin(&d, "fence.wait", "wait fence ", LAST);
    const struct decoded_packet *signal = event_begin(&d, "fence.signal", "signal fence ", LAST);
    const struct decoded_packet *over = event_end(&d, signal);
    if (calibrated) /* estimates are independent of each other */
        assert_true(event_end(&d, wait)->time >= over->time);
    assert_true(has_arrow(&d, over, wait->uuid));
    event_end(&d, event_begin(&d, "background", "item", 0));
    decoded_free(&d);
}

/* The host reads the timestamps: queues reset and copy queries only while the program reads a log,
 * whose times it then gets. */
TEST(queues_copy_no_timestamps_for_a_timeline)
{
    if (!fixture_is_icd())
        return;
    struct fixture f;
    place_make();
    open_traced(&f, NULL);
    BfCommandQueue queue = make_queue(&f, BF_COMMAND_LIST_TYPE_DIRECT);
    BfFence gate = make_fence(&f, 0), fence = make_native_fence(&f, 0);
    BfFenceLogReader reader = NULL;
    for (uint64_t i = 1; i <= 3; i++) {
        if (i == 2)
            reader = make_reader(&f, queue, BF_FENCE_LOG_TYPE_SIGNALS, 0);
        f.icd.reset_counters();
        queue_wait(queue, gate, i);
        execute(queue, write_word(&f, queue, 0, 1));
        cpu_signal(gate, i);
        queue_signal(queue, fence, i);
        await_idle(queue);
        assert_int_equal(vulkan_counters(&f.icd).query_transfers > 0, i == 2);
        if (i != 2)
            continue;
        struct records r;
        read_all(reader, &r);
        assert_int_equal(r.count, 1);
        assert_int_equal(r.at[0].entry.fenceValue, 2);
        assert_true(r.at[0].entry.fenceEndGpuTimestamp > 0);
        bfDestroyFenceLogReader(reader);
    }
    bool calibrated = f.calibrated;
    fixture_close(&f);
    /* Each signal has the time at which the GPU came to it. */
    struct decoded d = place_read(true);
    uint64_t last = 0;
    for (uint64_t i = 1; i <= 3; i++) {
        const struct decoded_packet *over =
            event_end(&d, event_begin(&d, "fence.signal", "signal fence ", i));
        assert_true(over->time > last);
        if (calibrated)
            assert_null(decoded_annotation(over, "ended by")); /* its entry tells */
        last = over->time;
    }
    decoded_free(&d);
}

/* The program asks for the time, and Belfry has the GPU stamp it: that is Belfry's work. */
TEST(belfrys_own_work_stands_apart)
{
    struct fixture f;
    const struct fixture_options options = {.family = UINT32_MAX, .uncalibrated = true};
    place_make();
    open_traced(&f, &options);
    uint64_t ticks, ns;
    VkResult result =
        bfGetCommandQueueClockCalibration(make_queue(&f, BF_COMMAND_LIST_TYPE_DIRECT), &ticks, &ns);
    /* The layer enables calibration where the driver has it: then nothing is submitted for it. */
    uint32_t most = result == VK_SUCCESS, least = f.layered ? 0 : most;
    fixture_close(&f);
    struct decoded d = place_read(true);
    for (size_t i = 0; i < d.count; i++) {
        const struct decoded_packet *p = &d.packets[i];
        if (p->kind != DECODED_EVENT || !decoded_annotation(p, "packet"))
            continue;
        const struct decoded_packet *queue = decoded_track(&d, decoded_track(&d, p->uuid)->parent);
        assert_true(decoded_is(decoded_track(&d, queue->parent)->name, "Belfry"));
    }
    assert_in_range(count_tracks(&d, "Belfry"), least, most);
    decoded_free(&d);
}

/* A wait that only the destruction of its fence ended says so; the one before it doesn't. */
TEST(waits_that_end_with_their_fence)
{
    struct fixture f;
    place_make();
    open_traced(&f, NULL);
    BfCommandQueue queue = make_queue(&f, BF_COMMAND_LIST_TYPE_DIRECT);
    BfFence signalled = make_fence(&f, 0), destroyed = make_fence(&f, 0);
    queue_wait(queue, signalled, 1);
    queue_wait(queue, destroyed, 2);
    execute(queue, write_word(&f, queue, 0, 7));
    cpu_signal(signalled, 1);
    drop_fence(&f, destroyed);
    await_idle(queue);
    fixture_close(&f);
    struct decoded d = place_read(true);
    for (uint64_t value = 1; value <= 2; value++) {
        const struct decoded_annotation *by = decoded_annotation(
            event_end(&d, event_begin(&d, "fence.wait", "wait", value)), "ended by");
        assert_int_equal(by && by->is_text && decoded_is(by->text, "fence destroyed"), value == 2);
    }
    decoded_free(&d);
}

/* Semaphores that Belfry can't know make no arrows from one to the other. */
TEST(semaphores_of_the_program_are_told_apart)
{
    struct fixture f;
    place_make();
    open_traced(&f, NULL);
    bool layered = f.layered;
    VkQueue queue = any_vkqueue(&f);
    VkSemaphore one = make_timeline(&f, 0), other = make_timeline(&f, 5);
    const VkSemaphoreSubmitInfo signal = {VK_TYPE(SEMAPHORE_SUBMIT_INFO), .semaphore = one,
                                          .value = 5,
                                          .stageMask = VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT};
    VkSemaphoreSubmitInfo wait = signal;
    wait.semaphore = other;
    const VkSubmitInfo2 infos[2] = {
        {VK_TYPE(SUBMIT_INFO_2), .signalSemaphoreInfoCount = 1, .pSignalSemaphoreInfos = &signal},
        {VK_TYPE(SUBMIT_INFO_2), .waitSemaphoreInfoCount = 1, .pWaitSemaphoreInfos = &wait}};
    assert_success(layered ? vkQueueSubmit2(queue, 2, infos, VK_NULL_HANDLE)
                           : bfVkQueueSubmit(f.bf, queue, 2, infos, VK_NULL_HANDLE));
    vulkan_wait(f.device, one, 5);
    fixture_close(&f);
    struct decoded d = place_read(true);
    assert_int_equal(decoded_check(&d), 0);
    assert_int_equal(count_events(&d, DECODED_BEGIN, "queued"), 2);
    decoded_free(&d);
}

/* One of them may be the layer's, and the other attached, by a program whose other instance is made
 * without layers. */
TEST(devices_of_a_process_share_a_file)
{
    static struct fixture f[2];
    place_make();
    open_traced(&f[0], NULL);
    char layers[128] = "";
    if (f[0].layered) {
        snprintf(layers, sizeof(layers), "%s", getenv("VK_INSTANCE_LAYERS"));
        unsetenv("VK_INSTANCE_LAYERS");
    }
    open_traced(&f[1], NULL);
    if (f[0].layered)
        setenv("VK_INSTANCE_LAYERS", layers, 1);
    assert_false(f[1].layered);
    work(&f[0]);
    work(&f[1]);
    fixture_close(&f[1]);
    submit_nothing(&f[0]);
    fixture_close(&f[0]);

    struct decoded d = place_read(true);
    assert_int_equal(count_instants(&d, "Belfry: tracing begins"), 2);
    assert_int_equal(count_instants(&d, "host signal"), 2);
    assert_int_equal(count_instants(&d, "lost events"), 0);
    /* Each has names of its own. */
    uint32_t engines = 0, second = 0;
    for (size_t i = 0; i < d.count; i++) {
        const struct decoded_packet *p = &d.packets[i];
        if (p->kind != DECODED_TRACK || !decoded_starts_with(p->name, "engine "))
            continue;
        engines++;
        second += p->name.size > 10 && !memcmp(p->name.data + p->name.size - 10, ", device 2", 10);
    }
    assert_true(second >= 1);
    assert_true(engines > second);
    decoded_free(&d);
}

/* ------------------------------------------------------------------- Processes that just end -- */

enum ending {
    ENDING_EXIT, /* by exit, and nothing was destroyed */
    ENDING_KILL, /* by SIGKILL, once the file tells of the work */
};

/* The process: works, and says so; then it ends, or is ended. */
static int end_without_detaching(const char *path, enum ending ending)
{
    static struct fixture f;
    snprintf(place.path, sizeof(place.path), "%s", path);
    open_traced(&f, NULL);
    work(&f);
    if (ending == ENDING_EXIT)
        exit(0);
    for (;;)
        pause();
}

static bool tells_of_work(void)
{
    if (access(place.path, R_OK))
        return false;
    struct decoded d = decode_file(place.path);
    bool tells = count_events(&d, DECODED_BEGIN, "fence.wait") > 0;
    decoded_free(&d);
    return tells;
}

/* 'belfry trace' reads it, and finds two queues that have worked. */
static void read_by_belfry(void)
{
    char command[512], line[256];
    snprintf(command, sizeof(command), "'%s' trace '%s'", BELFRY_COMMAND, place.path);
    FILE *said = popen(command, "r");
    assert_non_null(said);
    bool waits = false;
    while (fgets(line, sizeof(line), said))
        waits = waits || strstr(line, "fence ");
    assert_int_equal(pclose(said), 0);
    assert_true(waits);
}

TEST(a_process_that_just_ends_leaves_a_timeline)
{
    for (int ending = ENDING_EXIT; ending <= ENDING_KILL; ending++) {
        place_make();
        pid_t pid = fork();
        assert_true(pid >= 0);
        if (pid == 0) {
            setenv("LSAN_OPTIONS", "detect_leaks=0", 1); /* it leaves everything, and means to */
            execl("/proc/self/exe", "belfry-fence-timeline", "--end", place.path,
                  ending == ENDING_KILL ? "kill" : "exit", (char *)NULL);
            _exit(127);
        }
        int status;
        if (ending == ENDING_KILL) {
            while (!tells_of_work())
                assert_int_equal(waitpid(pid, &status, WNOHANG), 0);
            assert_int_equal(kill(pid, SIGKILL), 0);
        }
        assert_int_equal(waitpid(pid, &status, 0), pid);
        if (ending == ENDING_EXIT)
            assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
        read_by_belfry();
        struct decoded d = place_read(false);
        assert_int_equal(count_instants(&d, "Belfry: tracing begins"), 1);
        assert_int_equal(count_instants(&d, "Belfry: tracing ends"), ending == ENDING_EXIT);
        decoded_free(&d);
    }
}

int main(int argc, char **argv)
{
    if (argc == 4 && strcmp(argv[1], "--end") == 0)
        return end_without_detaching(argv[2],
                                     strcmp(argv[3], "kill") == 0 ? ENDING_KILL : ENDING_EXIT);
    return fixture_main(argc, argv);
}
