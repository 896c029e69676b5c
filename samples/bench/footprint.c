/* SPDX-License-Identifier: MIT */
/* Measures wake-ups, memory and threads of a process, with and without Belfry. */
#include "footprint.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "../../tests/icd/icd_client.h"
#include "../common/report.h"
#include "side.h"

static void milliseconds_sleep(long milliseconds)
{
    struct timespec left = {milliseconds / 1000, milliseconds % 1000 * 1000000};
    while (nanosleep(&left, &left) && errno == EINTR)
        ;
}

/* Submits the commands `repeats` times in one submission; a null semaphore is left out. */
static VkResult submit(struct side *side, uint32_t queue, uint32_t repeats, VkSemaphore wait,
                       uint64_t wait_value, VkSemaphore signal, uint64_t signal_value)
{
    VkCommandBufferSubmitInfo commands[16];
    for (uint32_t i = 0; i < repeats; ++i)
        commands[i] = (VkCommandBufferSubmitInfo){
            .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_SUBMIT_INFO,
            .commandBuffer = side->commands,
        };
    const VkSemaphoreSubmitInfo semaphores[2] = {
        {
            .sType = VK_STRUCTURE_TYPE_SEMAPHORE_SUBMIT_INFO,
            .semaphore = wait,
            .value = wait_value,
            .stageMask = VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT,
        },
        {
            .sType = VK_STRUCTURE_TYPE_SEMAPHORE_SUBMIT_INFO,
            .semaphore = signal,
            .value = signal_value,
            .stageMask = VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT,
        },
    };
    return side->vk.vkQueueSubmit2(side->queues[queue % side->queue_count], 1,
                                   &(VkSubmitInfo2){
                                       .sType = VK_STRUCTURE_TYPE_SUBMIT_INFO_2,
                                       .waitSemaphoreInfoCount = wait ? 1 : 0,
                                       .pWaitSemaphoreInfos = &semaphores[0],
                                       .commandBufferInfoCount = repeats,
                                       .pCommandBufferInfos = commands,
                                       .signalSemaphoreInfoCount = signal ? 1 : 0,
                                       .pSignalSemaphoreInfos = &semaphores[1],
                                   },
                                   VK_NULL_HANDLE);
}

static VkResult host_signal(struct side *side, VkSemaphore semaphore, uint64_t value)
{
    return side->vk.vkSignalSemaphore(side->device,
                                      &(VkSemaphoreSignalInfo){
                                          .sType = VK_STRUCTURE_TYPE_SEMAPHORE_SIGNAL_INFO,
                                          .semaphore = semaphore,
                                          .value = value,
                                      });
}

/* --- late releases --- */

/* More commands than Belfry itself could add to a submission, so that the packet is recognised. */
#define HELD_COMMANDS 8u

static void accepted(const struct belfry_icd_record *record, void *user)
{
    atomic_fetch_add((_Atomic uint64_t *)user, record->command_buffers);
}

/* The ways in which a held packet is released. In the last, a second packet waits for the first. */
enum release {
    RELEASE_BY_HOST,
    RELEASE_BY_QUEUE,
    RELEASE_CHAIN,
    RELEASE_WAYS,
};

/* Holds packets, releases them, and returns how many the driver lacks after the call. */
static VkResult release_once(struct side *side, enum release how, VkSemaphore gate,
                             VkSemaphore done, uint64_t value, const _Atomic uint64_t *commands,
                             uint32_t *late)
{
    const uint32_t held = how == RELEASE_CHAIN ? 2 : 1;
    uint64_t before = atomic_load(commands);
    VkResult result = submit(side, 1, HELD_COMMANDS, gate, value, done, 2 * value - 1);
    if (result >= 0 && how == RELEASE_CHAIN)
        result = submit(side, 2, HELD_COMMANDS, done, 2 * value - 1, done, 2 * value);
    /* With only two queues, the releasing submission would be behind the second held one. */
    bool by_host = how == RELEASE_BY_HOST || (how == RELEASE_CHAIN && side->queue_count < 3);
    if (result >= 0)
        result = by_host ? host_signal(side, gate, value)
                         : submit(side, 0, 1, VK_NULL_HANDLE, 0, gate, value);
    uint64_t after = atomic_load(commands);
    if (result < 0)
        return result;
    for (uint32_t arrived = held; arrived > 0; --arrived) {
        if (after - before < arrived * HELD_COMMANDS)
            ++*late;
    }
    return side_wait(side, done, how == RELEASE_CHAIN ? 2 * value : 2 * value - 1);
}

void footprint_late(const struct bench_options *options, enum bench_side which,
                    struct bench_found *found)
{
    struct side side = {0};
    struct belfry_icd_control control = {0};
    static _Atomic uint64_t commands; /* the callback may be called until the driver is unloaded */
    VkSemaphore gate = VK_NULL_HANDLE, done = VK_NULL_HANDLE;
    uint32_t late = 0;

    (void)options; /* the test driver has one device, whatever --gpu says */
    if (!side_open(&side, which, NULL, 3, found))
        return;
    if (!belfry_icd_control_load(&control)) {
        bench_found_nothing(found, "the test driver isn't there");
        goto out;
    }
    control.set_callback(accepted, &commands);
    gate = side_timeline(&side, found);
    done = side_timeline(&side, found);
    if (!gate || !done)
        goto out;
    for (uint32_t i = 0; i < FOOTPRINT_RELEASES; ++i) {
        VkResult result =
            release_once(&side, i % RELEASE_WAYS, gate, done, i + 1, &commands, &late);
        if (result != VK_SUCCESS) {
            bench_found_nothing(found, "release %u: %s", i, sample_result_name(result));
            goto out;
        }
    }
    if (which == BENCH_BELFRY) {
        struct belfry_icd_counters counters;
        control.get_counters(&counters);
        if (counters.violations[BELFRY_ICD_WAIT_BEFORE_SIGNAL])
            bench_found_nothing(found, "the driver got waits before their signals: nothing held");
    }
    found->plain[0] = late;
    found->count = 1;
out:
    if (control.library)
        control.set_callback(NULL, NULL);
    side.vk.vkDeviceWaitIdle(side.device);
    side.vk.vkDestroySemaphore(side.device, done, NULL);
    side.vk.vkDestroySemaphore(side.device, gate, NULL);
    side_close(&side);
    belfry_icd_control_unload(&control);
}

/* --- at rest --- */

#define THREADS_MOST 256

struct thread_count {
    long thread;
    uint64_t switches;
};

static uint64_t thread_switches(long thread)
{
    char path[64], line[256];
    uint64_t switches = 0;
    snprintf(path, sizeof path, "/proc/self/task/%ld/status", thread);
    FILE *from = fopen(path, "re");
    if (!from)
        return 0;
    while (fgets(line, sizeof line, from)) {
        unsigned long count;
        /* Involuntary switches count as well: a thread that spins is no better than one that wakes
         * up. */
        if (sscanf(line, "voluntary_ctxt_switches: %lu", &count) == 1 ||
            sscanf(line, "nonvoluntary_ctxt_switches: %lu", &count) == 1)
            switches += count;
    }
    fclose(from);
    return switches;
}

/* Reads the other threads of this process, with their context switches so far. */
static uint32_t threads_read(struct thread_count threads[THREADS_MOST])
{
    uint32_t count = 0;
    const struct dirent *entry;
    DIR *folder = opendir("/proc/self/task");
    if (!folder)
        return 0;
    while ((entry = readdir(folder)) && count < THREADS_MOST) {
        long thread = strtol(entry->d_name, NULL, 10);
        if (thread <= 0 || thread == getpid())
            continue;
        threads[count++] = (struct thread_count){thread, thread_switches(thread)};
    }
    closedir(folder);
    return count;
}

double footprint_second_idle(void)
{
    struct thread_count before[THREADS_MOST], after[THREADS_MOST];
    double switches = 0;

    milliseconds_sleep(300); /* lets what has begun come to its end */
    uint32_t earlier = threads_read(before);
    milliseconds_sleep(1000);
    uint32_t later = threads_read(after);
    for (uint32_t i = 0; i < later; ++i) {
        uint64_t base = 0;
        for (uint32_t k = 0; k < earlier; ++k) {
            if (before[k].thread == after[i].thread)
                base = before[k].switches;
        }
        switches += (double)(after[i].switches - base);
    }
    return switches;
}

static void idle(const struct bench_options *options, enum bench_side which, bool rests,
                 struct bench_found *found)
{
    struct side side = {0};
    VkSemaphore gate = VK_NULL_HANDLE, done = VK_NULL_HANDLE;
    VkResult result = VK_SUCCESS;
    uint64_t value = 0;

    if (!side_open(&side, which, options->gpu, 4, found))
        return;
    gate = side_timeline(&side, found);
    done = side_timeline(&side, found);
    if (!gate || !done)
        goto out;
    for (uint32_t i = 0; i < 64 && result >= 0; ++i) {
        ++value;
        result = submit(&side, i, 1, done, value - 1, done, value);
        if (result >= 0)
            result = side_wait(&side, done, value);
    }
    /* A packet that nobody has released: Belfry must not poll for it. */
    if (result >= 0)
        result = submit(&side, 1, 1, gate, 1, done, value + 1);
    if (result >= 0 && !rests)
        found->plain[0] = footprint_second_idle();
    if (result >= 0)
        result = host_signal(&side, gate, 1);
    if (result >= 0)
        result = side_wait(&side, done, value + 1);
    if (result >= 0 && rests) {
        milliseconds_sleep(1500);
        found->plain[0] = footprint_second_idle();
    }
    found->count = result == VK_SUCCESS;
    if (result != VK_SUCCESS)
        bench_found_nothing(found, "an idle process: %s", sample_result_name(result));
out:
    side.vk.vkDeviceWaitIdle(side.device);
    side.vk.vkDestroySemaphore(side.device, done, NULL);
    side.vk.vkDestroySemaphore(side.device, gate, NULL);
    side_close(&side);
}

void footprint_idle(const struct bench_options *options, enum bench_side which,
                    struct bench_found *found)
{
    idle(options, which, false, found);
}

/* The longest period, and no line in the time of a measurement. */
static void watchdog_set(void)
{
    setenv("VK_BELFRY_MULTI_ENGINE_WATCHDOG", "3600000", 1);
}

void footprint_watched(const struct bench_options *options, enum bench_side which,
                       struct bench_found *found)
{
    watchdog_set();
    idle(options, which, false, found);
}

void footprint_rest(const struct bench_options *options, enum bench_side which,
                    struct bench_found *found)
{
    watchdog_set();
    idle(options, which, true, found);
}

/* --- memory --- */

/* The private dirty memory of a process in MiB; negative: the kernel doesn't tell. */
static double private_dirty(pid_t process)
{
    char path[64], line[256];
    double dirty = -1;
    snprintf(path, sizeof path, "/proc/%ld/smaps_rollup", (long)process);
    FILE *from = fopen(path, "re");
    if (!from)
        return dirty;
    while (fgets(line, sizeof line, from)) {
        unsigned long kib;
        if (sscanf(line, "Private_Dirty: %lu kB", &kib) == 1)
            dirty = (double)kib / 1024;
    }
    fclose(from);
    return dirty;
}

void footprint_memory(const struct bench_options *options, enum bench_side which,
                      struct bench_found *found)
{
    struct side side = {0};
    VkSemaphore semaphores[SIDE_QUEUES] = {0};
    VkResult result = VK_SUCCESS;

    if (!side_open(&side, which, options->gpu, SIDE_QUEUES, found))
        return;
    for (uint32_t i = 0; i < side.queue_count; ++i) {
        semaphores[i] = side_timeline(&side, found);
        if (!semaphores[i])
            goto out;
    }
    for (uint32_t i = 0; i < 1000 && result >= 0; ++i) {
        uint32_t queue = i % side.queue_count;
        uint64_t value = i / side.queue_count + 1;
        result = submit(&side, queue, 1, VK_NULL_HANDLE, 0, semaphores[queue], value);
        if (result >= 0 && i % 16 == 15)
            result = side_wait(&side, semaphores[queue], value);
    }
    if (result >= 0)
        result = side.vk.vkDeviceWaitIdle(side.device);
    if (result != VK_SUCCESS)
        bench_found_nothing(found, "a thousand submissions: %s", sample_result_name(result));
    found->plain[0] = private_dirty(getpid());
    found->count = 1;
    if (found->plain[0] < 0)
        bench_found_nothing(found, "/proc/self/smaps_rollup can't be read");
out:
    side.vk.vkDeviceWaitIdle(side.device);
    for (uint32_t i = 0; i < side.queue_count; ++i)
        side.vk.vkDestroySemaphore(side.device, semaphores[i], NULL);
    side_close(&side);
}

/* --- vkcube --- */

#define LAVAPIPE "/usr/share/vulkan/icd.d/lvp_icd.x86_64.json"

/* Starts a program without output; `kept` (unless it is -1) becomes its file descriptor 3. */
static pid_t start(char *const *arguments, const char *const *environment, int kept)
{
    pid_t process = -1;
    posix_spawn_file_actions_t actions;
    char **variables = bench_environment(environment);
    if (!variables)
        return -1;
    if (!posix_spawn_file_actions_init(&actions)) {
        posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
        posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
        if (kept >= 0)
            posix_spawn_file_actions_adddup2(&actions, kept, 3);
        if (posix_spawnp(&process, arguments[0], &actions, NULL, arguments, variables))
            process = -1;
        posix_spawn_file_actions_destroy(&actions);
    }
    free(variables);
    return process;
}

/* Starts Xvfb on a free display. It writes the display's number when it accepts clients. */
static pid_t xvfb_start(char *display, size_t size, struct bench_found *found)
{
    char *arguments[] = {"Xvfb",       "-displayfd", "3",   "-screen", "0",
                         "640x480x24", "-nolisten",  "tcp", NULL};
    char number[16] = {0};
    int ends[2];
    if (pipe2(ends, O_CLOEXEC)) {
        bench_found_nothing(found, "no pipe: %s", strerror(errno));
        return -1;
    }
    /* dup2 of a descriptor onto itself would leave it closed on exec. */
    int end = fcntl(ends[1], F_DUPFD, 10);
    close(ends[1]);
    pid_t server = start(arguments, NULL, end);
    close(end);
    /* Reads to the end of the line: if the pipe were closed earlier, the server would end. */
    size_t length = 0;
    while (server > 0 && length < sizeof number - 1 && !strchr(number, '\n')) {
        ssize_t got = read(ends[0], number + length, sizeof number - 1 - length);
        if (got <= 0)
            break;
        length += (size_t)got;
    }
    close(ends[0]);
    if (server < 0) {
        bench_found_nothing(found, "there is no Xvfb");
        return -1;
    }
    if (!strchr(number, '\n')) {
        kill(server, SIGTERM);
        waitpid(server, NULL, 0);
        bench_found_nothing(found, "Xvfb didn't start");
        return -1;
    }
    snprintf(display, size, "DISPLAY=:%ld", strtol(number, NULL, 10));
    return server;
}

void footprint_vkcube(const struct bench_options *options, enum bench_side which,
                      struct bench_found *found)
{
    char display[32];
    char *arguments[] = {"vkcube", "--c", "600", "--suppress_popups", NULL};
    const char *environment[] = {
        display, "VK_ICD_FILENAMES=" LAVAPIPE, "VK_DRIVER_FILES=" LAVAPIPE,
        which == BENCH_BELFRY ? "VK_INSTANCE_LAYERS=VK_LAYER_BELFRY_multi_engine" : NULL, NULL};
    double most = -1;
    int status = 0;

    (void)options;
    if (access(LAVAPIPE, R_OK)) {
        bench_found_nothing(found, "lavapipe isn't installed");
        return;
    }
    pid_t server = xvfb_start(display, sizeof display, found);
    if (server < 0)
        return;
    pid_t cube = start(arguments, environment, -1);
    if (cube < 0) {
        bench_found_nothing(found, "there is no vkcube");
        goto out;
    }
    for (;;) {
        pid_t ended = waitpid(cube, &status, WNOHANG);
        if (ended)
            break;
        double dirty = private_dirty(cube);
        most = dirty > most ? dirty : most;
        milliseconds_sleep(20);
    }
    if (status)
        bench_found_nothing(found, "vkcube %s %d",
                            WIFSIGNALED(status) ? "died of signal" : "ended with status",
                            WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
    else if (most < 0)
        bench_found_nothing(found, "/proc/PID/smaps_rollup can't be read");
    found->plain[0] = most;
    found->count = 1;
out:
    kill(server, SIGTERM);
    waitpid(server, NULL, 0);
}
