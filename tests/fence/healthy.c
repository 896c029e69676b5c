/* SPDX-License-Identifier: MIT */
/* A report invents nothing: healthy programs that work, sleep and work again, with and without
 * calibration and host query reset, with every kind of log, on the program's queues and Belfry's.
 * What 'belfry trace' says that they waited and were held is at most what passed while they were
 * awake.
 *
 * Sleep costs the test nothing: the clock of this process jumps, and with it the driver's. Some
 * GPUs' clocks jump by hours of their own. */
#include "support/fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "../trace/trace_decode.h"

#define TRACE  "VK_BELFRY_MULTI_ENGINE_TRACE"
#define NIGHT  UINT64_C(10000000000)
#define ROUNDS 6

static _Atomic uint64_t slept;

/* Belfry's and the driver's, too: they find the executable's first. */
__attribute__((visibility("default"))) int clock_gettime(clockid_t clock, struct timespec *time)
{
    long result = syscall(SYS_clock_gettime, clock, time);
    uint64_t jump = slept;
    if (clock == CLOCK_MONOTONIC) {
        time->tv_sec += (time_t)(jump / 1000000000u);
        time->tv_nsec += (long)(jump % 1000000000u);
        time->tv_sec += time->tv_nsec / 1000000000;
        time->tv_nsec %= 1000000000;
    }
    return (int)result;
}

/* On the test driver: by how many hours the GPU's clock is wrong after each night. */
static struct {
    int64_t hours;
    belfry_icd_jump_clock_fn *set;
} jump;

static void clock_jump(void)
{
    if (jump.set && jump.hours)
        jump.set(jump.hours * INT64_C(3600000000000));
}

static void sleep_long(void)
{
    slept += NIGHT;
    clock_jump();
}

/* What is outstanding gets done, but Belfry doesn't look before the program has slept. */
static void sleep_on_it(struct fixture *f, uint64_t round)
{
    if (!f->icd.library || round % 3)
        return;
    f->icd.quiesce();
    sleep_long();
}

/* ---------------------------------------------------------------------------------- Programs -- */

/* Two queues take turns; Belfry learns of it before the night, or after it. */
static void run_turns(struct fixture *f)
{
    BfCommandQueue first = make_queue(f, BF_COMMAND_LIST_TYPE_DIRECT);
    BfCommandQueue second = make_queue(f, BF_COMMAND_LIST_TYPE_COMPUTE);
    BfFence there = make_fence(f, 0), back = make_fence(f, 0);
    for (uint64_t i = 1; i <= ROUNDS; i++) {
        bool early = i % 2;
        if (early) {
            queue_wait(second, there, i);
            execute(second, copy_word(f, second, 0, 1));
            queue_signal(second, back, i);
        }
        execute(first, write_word(f, first, 0, 7));
        queue_signal(first, there, i);
        if (!early) {
            queue_wait(second, there, i);
            execute(second, copy_word(f, second, 0, 1));
            queue_signal(second, back, i);
        }
        queue_wait(first, back, i);
        sleep_on_it(f, i);
        await_fence(back, i);
        await_idle(first);
        await_idle(second);
        sleep_long();
    }
}

/* The CPU opens a gate that a queue stands at. */
static void run_gate(struct fixture *f)
{
    BfCommandQueue queue = make_queue(f, BF_COMMAND_LIST_TYPE_DIRECT);
    BfFence gate = make_native_fence(f, 0), done = make_native_fence(f, 0);
    for (uint64_t i = 1; i <= ROUNDS; i++) {
        queue_wait(queue, gate, i);
        execute(queue, write_word(f, queue, 2, 1));
        queue_signal(queue, done, i);
        cpu_signal(gate, i);
        await_idle(queue);
        sleep_long();
        queue_signal(queue, done, i); /* of an idle queue */
        await_idle(queue);
        sleep_long();
        queue_wait(queue, done, i); /* satisfied at the call */
        sleep_long();
    }
    await_idle(queue);
}

static void submit(struct fixture *f, VkQueue queue, uint32_t count, const VkSubmitInfo2 *infos)
{
    assert_success(f->layered ? vkQueueSubmit2(queue, count, infos, VK_NULL_HANDLE)
                              : bfVkQueueSubmit(f->bf, queue, count, infos, VK_NULL_HANDLE));
}

/* Vulkan's own queues, with semaphores of both types. */
static void run_vulkan(struct fixture *f)
{
    VkQueue queues[2] = {NULL, NULL};
    for (uint32_t i = 0, n = 0; i < f->family_count; i++)
        for (uint32_t k = 0; k < f->queue_counts[i] && n < 2; k++)
            queues[n++] = f->queues[i][k];
    if (!queues[1])
        queues[1] = queues[0];
    VkSemaphore timeline = make_timeline(f, 0), binary = vulkan_binary(f->device);
    for (uint64_t i = 1; i <= ROUNDS; i++) {
        const VkPipelineStageFlags2 all = VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT;
        const VkSemaphoreSubmitInfo first = {VK_TYPE(SEMAPHORE_SUBMIT_INFO), .semaphore = timeline,
                                             .value = 2 * i - 1, .stageMask = all};
        VkSemaphoreSubmitInfo last = first, one = first;
        last.value = 2 * i;
        one.semaphore = binary;
        const VkSemaphoreSubmitInfo both[2] = {first, one};
        const VkSubmitInfo2 signals = {VK_TYPE(SUBMIT_INFO_2), .signalSemaphoreInfoCount = 2,
                                       .pSignalSemaphoreInfos = both};
        const VkSubmitInfo2 waits = {VK_TYPE(SUBMIT_INFO_2), .waitSemaphoreInfoCount = 2,
                                     .pWaitSemaphoreInfos = both, .signalSemaphoreInfoCount = 1,
                                     .pSignalSemaphoreInfos = &last};
        submit(f, queues[0], 1, &signals);
        submit(f, queues[1], 1, &waits);
        sleep_on_it(f, i);
        vulkan_wait(f->device, timeline, 2 * i);
        sleep_long();
    }
    vkDeviceWaitIdle(f->device);
    vkDestroySemaphore(f->device, binary, NULL);
}

/* Packets crowd behind a gate that the CPU opens after a night: so long the queues waited indeed,
 * but not once for each packet. */
static void run_crowd(struct fixture *f)
{
    BfCommandQueue queues[2] = {make_queue(f, BF_COMMAND_LIST_TYPE_DIRECT),
                                make_queue(f, BF_COMMAND_LIST_TYPE_COMPUTE)};
    BfFence gate = make_fence(f, 0), other = make_fence(f, 0);
    for (int i = 0; i < 2; i++) {
        for (uint64_t n = 1; n <= ROUNDS; n++) {
            queue_wait(queues[i], gate, n);
            execute(queues[i], write_word(f, queues[i], 3, 1));
            queue_wait(queues[i], other, n);
        }
    }
    sleep_long();
    cpu_signal(other, ROUNDS);
    cpu_signal(gate, ROUNDS);
    await_idle(queues[0]);
    await_idle(queues[1]);
}

/* While work runs, on one of two engines, the GPU's clock jumps. */
static void run_across(struct fixture *f)
{
    BfCommandQueue queues[2] = {make_queue(f, BF_COMMAND_LIST_TYPE_DIRECT),
                                make_queue(f, BF_COMMAND_LIST_TYPE_COMPUTE)};
    BfFence fence = make_fence(f, 0);
    for (uint64_t i = 1; i <= ROUNDS; i++) {
        VkEvent stall = stall_begin(f, queues[0]);
        queue_signal(queues[0], fence, i);
        queue_wait(queues[1], fence, i);
        execute(queues[1], write_word(f, queues[1], 3, 1));
        clock_jump();
        stall_end(f, stall);
        await_idle(queues[1]);
        execute(queues[0], write_word(f, queues[0], 4, 1));
        await_idle(queues[0]);
    }
}

/* ----------------------------------------------------------------------------------- Reports -- */

/* The sum of a member over all rows of a part of the report. */
static uint64_t sum_of(const char *json, const char *part, const char *member)
{
    char key[64];
    uint64_t sum = 0;
    snprintf(key, sizeof(key), "\"%s\": [", part);
    const char *at = strstr(json, key);
    assert_non_null(at);
    const char *end = strstr(at, "\n  ]");
    assert_non_null(end);
    snprintf(key, sizeof(key), "\"%s\": ", member);
    while ((at = strstr(at, key)) != NULL && at < end) {
        at += strlen(key);
        sum += strtoull(at, NULL, 10);
    }
    return sum;
}

static const char *report_of(const char *path)
{
    char command[512];
    static char text[1 << 18];
    snprintf(command, sizeof(command), "'%s' trace --json '%s'", BELFRY_COMMAND, path);
    FILE *said = popen(command, "r");
    assert_non_null(said);
    text[fread(text, 1, sizeof(text) - 1, said)] = 0;
    assert_int_equal(pclose(said), 0);
    return text;
}

static uint64_t now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

struct variant {
    const char *name;
    bool uncalibrated, no_reset;
    const char *environment;
    int64_t jump; /* hours */
};

struct program {
    const char *name;
    void (*run)(struct fixture *f);
    bool waits_overnight;
};

static void open_traced(struct fixture *f, const struct variant *v, const char *path)
{
    const struct fixture_options options = {
        .family = UINT32_MAX, .uncalibrated = v->uncalibrated, .environment = v->environment};
    BfAttachQueue queues[DEVICE_FAMILIES * FIXTURE_QUEUES];
    setenv(TRACE, path, 1);
    fixture_open_instance(f, &options);
    assert_success(fixture_open_device(f, &options));
    if (f->layered) {
        assert_success(fixture_attach(f));
    } else {
        BfAttachInfo info = fixture_attach_info(f, queues);
        info.hostQueryReset = !v->no_reset;
        assert_success(bfAttachDevice(&info, &f->bf));
    }
    device_open_words(&f->base, FIXTURE_WORDS, 0, 0);
    unsetenv(TRACE);
}

static void check(const struct variant *v, const struct program *program)
{
    static struct fixture f;
    char folder[] = "/tmp/belfry-healthy-XXXXXX", path[64];
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof(path), "%s/run.pftrace", folder);
    open_traced(&f, v, path);
    jump.hours = v->jump;
    jump.set = f.icd.library ? f.icd.jump_clock : NULL;
    uint64_t begin = now(), before = slept;
    program->run(&f);
    uint64_t passed = now() - begin;
    uint64_t awake = passed - (program->waits_overnight ? 0 : slept - before);
    sleep_long();
    fixture_close(&f);
    struct decoded d = decode_file(path);
    decoded_check(&d);
    decoded_free(&d);
    const char *json = report_of(path);
    uint64_t lost = sum_of(json, "waits", "lost_ns"), held = sum_of(json, "queues", "total_ns"),
             busy = sum_of(json, "queues", "busy_ns");
    print_message("%s, %s: awake %.3f ms, lost %.3f, held %.3f, busy %.3f\n", v->name,
                  program->name, (double)awake / 1e6, (double)lost / 1e6, (double)held / 1e6,
                  (double)busy / 1e6);
    /* Of two queues. */
    assert_true(lost <= 2 * awake);
    assert_true(held <= 2 * awake);
    assert_true(busy <= 2 * awake);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(rmdir(folder), 0);
}

TEST(waits_of_healthy_programs_are_not_longer_than_their_work)
{
    static const struct variant variants[] = {
        {"as it is", false, false, NULL, 0},
        {"uncalibrated", true, false, NULL, 0},
        {"without host query reset", false, true, NULL, 0},
        {"with neither", true, true, NULL, 0},
        {"untimed logs", false, false, "VK_BELFRY_MULTI_ENGINE_LOG=untimed", 0},
        {"no logs", false, false, "VK_BELFRY_MULTI_ENGINE_LOG=off", 0},
        {"no logs, with neither", true, true, "VK_BELFRY_MULTI_ENGINE_LOG=off", 0},
        {"no timestamps", false, false, "TIMESTAMP_BITS=0", 0},
        {"set back", false, false, NULL, -1},
        {"set ahead", false, false, NULL, 3},
        {"set back, with neither", true, true, NULL, -1},
        {"set ahead, with neither", true, true, NULL, 3},
        {"wrapped and set back", false, false, "TIMESTAMP_BITS=36", -1},
        {"wrapped and set ahead", false, false, "TIMESTAMP_BITS=36", 3},
    };
    static const struct program programs[] = {{"turns", run_turns, false},
                                              {"gate", run_gate, false},
                                              {"Vulkan", run_vulkan, false},
                                              {"crowd", run_crowd, true},
                                              {"across", run_across, false}};
    for (size_t v = 0; v < sizeof(variants) / sizeof(variants[0]); v++)
        for (size_t p = 0; p < sizeof(programs) / sizeof(programs[0]); p++)
            check(&variants[v], &programs[p]);
}
