/* SPDX-License-Identifier: MIT */
/* Measures submission by rings, beside submission by calls of the plain driver. */
#include "doorbell_part.h"

#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "../common/report.h"
#include "../common/ring.h"
#include "attached.h"
#include "footprint.h"
#include "side.h"

#define ENTRIES    1024u
#define BURSTS     32u
#define TAIL_CALLS 4096u
#define EDGES      16u
#define RATE_CALLS 4096u
#define CPU_CALLS  65536u
#define WAKES_MOST                                                                                 \
    10000u /* submissions until the thread spins; on a single processor it never does */
#define EDGE_SLEEP 1000000u

/* The same program twice: on the plain driver, and with a ring on an attached device. */
struct programs {
    struct side plain, other;
    BfDevice device;
    struct sample_ring ring, second; /* the second one: if it is wanted */
    uint32_t numbers[2];             /* of the empty command buffer, in either ring */
    VkSemaphore semaphore;
    uint64_t value;
};

/* --- the driver's function, with the time at which it was called --- */

static PFN_vkQueueSubmit2 submit2;
static _Atomic uint64_t called;

static VKAPI_ATTR VkResult VKAPI_CALL submit_timed(VkQueue queue, uint32_t count,
                                                   const VkSubmitInfo2 *infos, VkFence fence)
{
    uint64_t none = 0;
    atomic_compare_exchange_strong(&called, &none, bench_now());
    return submit2(queue, count, infos, fence);
}

static VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL functions_timed(VkDevice device, const char *name)
{
    PFN_vkVoidFunction function = vkGetDeviceProcAddr(device, name);
    if (!function || (strcmp(name, "vkQueueSubmit2") && strcmp(name, "vkQueueSubmit2KHR")))
        return function;
    submit2 = (PFN_vkQueueSubmit2)function;
    return (PFN_vkVoidFunction)submit_timed;
}

/* --- opening and closing --- */

static bool ring_open(struct programs *p, struct sample_ring *ring, uint32_t *number,
                      struct bench_found *found)
{
    return bench_worked(sample_ring_create(p->device, BF_COMMAND_LIST_TYPE_DIRECT, ENTRIES, ring),
                        "a queue with a ring", found) &&
           bench_worked(bfRegisterCommandBuffer(ring->queue, p->other.commands,
                                                BF_REGISTER_COMMAND_BUFFER_SIMULTANEOUS_USE_BIT,
                                                number),
                        "bfRegisterCommandBuffer", found);
}

/* `doorbells`: how many physical ones there are; NULL: as many as usual. `timed`: the driver's
 * calls are noted. programs_close must be called in any case. */
static bool programs_open(struct programs *p, const char *gpu, const char *doorbells, bool timed,
                          struct bench_found *found)
{
    *p = (struct programs){0};
    if (!side_open(&p->plain, BENCH_PLAIN, gpu, 1, found) ||
        !side_open(&p->other, BENCH_PLAIN, gpu, 1, found))
        return false;
    p->semaphore = side_timeline(&p->plain, found);
    if (!p->semaphore)
        return false;
    const BfAttachQueue queue = {.queue = p->other.queues[0], .queueFamilyIndex = p->other.family};
    const BfSetting setting = {.pKey = "doorbells", .pValue = doorbells};
    const BfAttachInfo info = {
        .sType = BF_STRUCTURE_TYPE_ATTACH_INFO,
        .pfnGetInstanceProcAddr = vkGetInstanceProcAddr,
        .instance = p->other.instance,
        .physicalDevice = p->other.gpu,
        .pfnGetDeviceProcAddr = timed ? functions_timed : vkGetDeviceProcAddr,
        .device = p->other.device,
        .queueCount = 1,
        .pQueues = &queue,
        .settingCount = doorbells ? 1 : 0,
        .pSettings = &setting,
    };
    return bench_worked(bfAttachDevice(&info, &p->device), "bfAttachDevice", found) &&
           ring_open(p, &p->ring, &p->numbers[0], found);
}

static void programs_close(struct programs *p)
{
    if (p->device) {
        sample_ring_wait(&p->second);
        sample_ring_wait(&p->ring);
        sample_ring_destroy(&p->second);
        sample_ring_destroy(&p->ring);
        p->other.vk.vkDeviceWaitIdle(p->other.device);
        bfDetachDevice(p->device);
    }
    if (p->plain.device) {
        p->plain.vk.vkDeviceWaitIdle(p->plain.device);
        p->plain.vk.vkDestroySemaphore(p->plain.device, p->semaphore, NULL);
    }
    side_close(&p->other);
    side_close(&p->plain);
}

/* --- what either program does --- */

static VkResult plain_submit(struct programs *p)
{
    const VkSemaphoreSubmitInfo signal = {
        .sType = VK_STRUCTURE_TYPE_SEMAPHORE_SUBMIT_INFO,
        .semaphore = p->semaphore,
        .value = ++p->value,
        .stageMask = VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT,
    };
    const VkCommandBufferSubmitInfo commands = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_SUBMIT_INFO,
        .commandBuffer = p->plain.commands,
    };
    const VkSubmitInfo2 info = {
        .sType = VK_STRUCTURE_TYPE_SUBMIT_INFO_2,
        .commandBufferInfoCount = 1,
        .pCommandBufferInfos = &commands,
        .signalSemaphoreInfoCount = 1,
        .pSignalSemaphoreInfos = &signal,
    };
    return p->plain.vk.vkQueueSubmit2(p->plain.queues[0], 1, &info, VK_NULL_HANDLE);
}

static VkResult program_submit(struct programs *p, enum bench_side side)
{
    return side == BENCH_PLAIN ? plain_submit(p) : sample_ring_execute(&p->ring, p->numbers[0]);
}

static VkResult program_wait(struct programs *p, enum bench_side side)
{
    return side == BENCH_PLAIN ? side_wait(&p->plain, p->semaphore, p->value)
                               : sample_ring_wait(&p->ring);
}

static uint64_t status_of(const struct sample_ring *ring)
{
    return __atomic_load_n(ring->writer.pStatus, __ATOMIC_ACQUIRE);
}

/* The thread has read all that was written. */
static void ring_await_read(const struct sample_ring *ring)
{
    const BfRingControl *control = ring->writer.pControl;
    while (__atomic_load_n(&control->read, __ATOMIC_ACQUIRE) != control->write)
        sched_yield();
}

/* Has the thread spin: submissions follow each other closely until it needs no notify. */
static VkResult ring_awaken(struct programs *p)
{
    VkResult result = VK_SUCCESS;
    for (uint32_t i = 0; i < WAKES_MOST && result >= 0; ++i) {
        result = program_submit(p, BENCH_BELFRY);
        ring_await_read(&p->ring);
        if (status_of(&p->ring) == BF_DOORBELL_STATUS_CONNECTED)
            break;
    }
    return result;
}

static VkResult program_ready(struct programs *p, enum bench_side side)
{
    VkResult result = program_wait(p, side);
    return side == BENCH_BELFRY && result >= 0 ? ring_awaken(p) : result;
}

static void sleep_ns(long ns)
{
    nanosleep(&(struct timespec){.tv_nsec = ns}, NULL);
}

/* The clock's own cost: what two looks at it are apart. */
static double clock_cost(void)
{
    double ns[BENCH_SAMPLES];
    for (uint32_t i = 0; i < BENCH_SAMPLES; ++i) {
        uint64_t begin = bench_now();
        ns[i] = (double)(bench_now() - begin);
    }
    return bench_spread(ns, BENCH_SAMPLES).median;
}

/* A repetition of a part on one side; 0: something failed, and the reason is in `found`. */
typedef double (*measure_fn)(struct programs *p, enum bench_side side, struct bench_found *found);

static void part_compare(const struct bench_options *options, measure_fn measure,
                         struct bench_found *found)
{
    struct programs p;
    bool open = programs_open(&p, options->gpu, NULL, false, found);
    for (uint32_t i = 0; open && i < DOORBELL_REPETITIONS && !found->reason[0]; ++i) {
        for (uint32_t turn = 0; turn < 2 && !found->reason[0]; ++turn) {
            enum bench_side side = (i + turn) % 2 ? BENCH_BELFRY : BENCH_PLAIN;
            (side == BENCH_BELFRY ? found->belfry : found->plain)[i] = measure(&p, side, found);
        }
    }
    found->count = DOORBELL_REPETITIONS;
    programs_close(&p);
}

/* --- the caller's cost --- */

static double caller_measure(struct programs *p, enum bench_side side, struct bench_found *found)
{
    double ns[BURSTS];
    VkResult result = VK_SUCCESS;
    for (uint32_t b = 0; b < BURSTS && result >= 0; ++b) {
        result = program_ready(p, side);
        uint64_t begin = bench_now();
        for (uint32_t i = 0; i < DOORBELL_BURST && result >= 0; ++i)
            result = program_submit(p, side);
        ns[b] = (double)(bench_now() - begin) / DOORBELL_BURST;
    }
    if (result >= 0)
        result = program_wait(p, side);
    return bench_worked(result, "bursts", found) ? bench_spread(ns, BURSTS).median : 0;
}

void doorbell_caller(const struct bench_options *options, enum bench_side side,
                     struct bench_found *found)
{
    (void)side;
    part_compare(options, caller_measure, found);
}

static int number_compare(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

static double tail_measure(struct programs *p, enum bench_side side, struct bench_found *found)
{
    static double ns[TAIL_CALLS];
    const double clock = clock_cost();
    VkResult result = VK_SUCCESS;
    for (uint32_t i = 0; i < TAIL_CALLS && result >= 0; ++i) {
        if (i % DOORBELL_BURST == 0)
            result = program_ready(p, side);
        uint64_t begin = bench_now();
        if (result >= 0)
            result = program_submit(p, side);
        ns[i] = (double)(bench_now() - begin) - clock;
    }
    if (result >= 0)
        result = program_wait(p, side);
    qsort(ns, TAIL_CALLS, sizeof *ns, number_compare);
    return bench_worked(result, "single submissions", found) ? ns[TAIL_CALLS * 99 / 100] : 0;
}

void doorbell_tail(const struct bench_options *options, enum bench_side side,
                   struct bench_found *found)
{
    (void)side;
    part_compare(options, tail_measure, found);
}

static double edge_measure(struct programs *p, enum bench_side side, struct bench_found *found)
{
    double ns[EDGES];
    const double clock = clock_cost();
    VkResult result = VK_SUCCESS;
    for (uint32_t i = 0; i < EDGES && result >= 0; ++i) {
        result = program_wait(p, side);
        sleep_ns(EDGE_SLEEP);
        uint64_t begin = bench_now();
        if (result >= 0)
            result = program_submit(p, side);
        ns[i] = (double)(bench_now() - begin) - clock;
    }
    return bench_worked(result, "submissions after a pause", found) ? bench_spread(ns, EDGES).median
                                                                    : 0;
}

void doorbell_edge(const struct bench_options *options, enum bench_side side,
                   struct bench_found *found)
{
    (void)side;
    part_compare(options, edge_measure, found);
}

/* --- rates, CPU time --- */

static double rate_measure(struct programs *p, enum bench_side side, struct bench_found *found)
{
    VkResult result = program_ready(p, side);
    uint64_t begin = bench_now();
    for (uint32_t i = 0; i < RATE_CALLS && result >= 0; ++i)
        result = program_submit(p, side);
    if (result >= 0)
        result = program_wait(p, side);
    return bench_worked(result, "submissions", found)
               ? RATE_CALLS * 1e6 / (double)(bench_now() - begin)
               : 0;
}

void doorbell_rate(const struct bench_options *options, enum bench_side side,
                   struct bench_found *found)
{
    (void)side;
    part_compare(options, rate_measure, found);
}

static uint64_t cpu_now(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (uint64_t)t.tv_sec * UINT64_C(1000000000) + (uint64_t)t.tv_nsec;
}

static double cpu_measure(struct programs *p, enum bench_side side, struct bench_found *found)
{
    VkResult result = program_ready(p, side);
    uint64_t all = cpu_now(CLOCK_PROCESS_CPUTIME_ID), own = cpu_now(CLOCK_THREAD_CPUTIME_ID);
    for (uint32_t i = 0; i < CPU_CALLS && result >= 0; ++i)
        result = program_submit(p, side);
    if (side == BENCH_BELFRY) {
        ring_await_read(&p->ring);
        sleep_ns(EDGE_SLEEP); /* the thread's time counts once it sleeps */
    }
    own = cpu_now(CLOCK_THREAD_CPUTIME_ID) - own;
    all = cpu_now(CLOCK_PROCESS_CPUTIME_ID) - all;
    if (result >= 0)
        result = program_wait(p, side);
    double ns = (double)(side == BENCH_BELFRY ? all - own : own);
    return bench_worked(result, "submissions", found) ? ns / CPU_CALLS : 0;
}

void doorbell_cpu(const struct bench_options *options, enum bench_side side,
                  struct bench_found *found)
{
    (void)side;
    part_compare(options, cpu_measure, found);
}

/* --- from the doorbell to the driver --- */

static double hand_over_once(struct programs *p, VkResult *result)
{
    atomic_store(&called, 0);
    uint64_t begin = bench_now();
    *result = program_submit(p, BENCH_BELFRY);
    uint64_t end;
    while (*result >= 0 && !(end = atomic_load(&called)))
        ;
    return *result >= 0 ? (double)(end - begin) : 0;
}

void doorbell_hand_over(const struct bench_options *options, enum bench_side side,
                        struct bench_found *found)
{
    struct programs p;
    VkResult result = VK_SUCCESS;
    (void)side;
    bool open = programs_open(&p, options->gpu, NULL, true, found);
    for (uint32_t i = 0; open && i < DOORBELL_REPETITIONS && result >= 0; ++i) {
        double awake[BURSTS], asleep[EDGES];
        for (uint32_t b = 0; b < BURSTS && result >= 0; ++b) {
            result = program_ready(&p, BENCH_BELFRY);
            if (result >= 0)
                result = program_wait(&p, BENCH_BELFRY);
            if (result >= 0)
                awake[b] = hand_over_once(&p, &result);
        }
        for (uint32_t b = 0; b < EDGES && result >= 0; ++b) {
            result = program_wait(&p, BENCH_BELFRY);
            sleep_ns(EDGE_SLEEP);
            if (result >= 0)
                asleep[b] = hand_over_once(&p, &result);
        }
        if (result < 0)
            break;
        found->plain[i] = bench_spread(asleep, EDGES).median;
        found->belfry[i] = bench_spread(awake, BURSTS).median;
    }
    bench_worked(result, "hand-overs", found);
    found->count = DOORBELL_REPETITIONS;
    programs_close(&p);
}

/* --- doorbells that come and go --- */

void doorbell_connect(const struct bench_options *options, enum bench_side side,
                      struct bench_found *found)
{
    struct programs p;
    VkResult result = VK_SUCCESS;
    (void)side;
    bool open = programs_open(&p, options->gpu, NULL, false, found);
    for (uint32_t i = 0; open && i < DOORBELL_REPETITIONS && !found->reason[0]; ++i) {
        double ns[EDGES] = {0};
        for (uint32_t k = 0; k < EDGES && result >= 0; ++k) {
            if (!ring_open(&p, &p.second, &p.numbers[1], found))
                break;
            uint64_t begin = bench_now();
            result = sample_ring_connect(&p.second);
            ns[k] = (double)(bench_now() - begin);
            sample_ring_destroy(&p.second);
        }
        found->plain[i] = bench_spread(ns, EDGES).median;
    }
    bench_worked(result, "connecting doorbells", found);
    found->count = DOORBELL_REPETITIONS;
    programs_close(&p);
}

void doorbell_victim(const struct bench_options *options, enum bench_side side,
                     struct bench_found *found)
{
    struct programs p;
    VkResult result = VK_SUCCESS;
    (void)side;
    bool open = programs_open(&p, options->gpu, "1", false, found) &&
                ring_open(&p, &p.second, &p.numbers[1], found);
    for (uint32_t i = 0; open && i < DOORBELL_REPETITIONS && result >= 0; ++i) {
        double takes[EDGES], again[EDGES];
        for (uint32_t k = 0; k < EDGES && result >= 0; ++k) {
            uint64_t begin = bench_now();
            result = sample_ring_connect(&p.second);
            takes[k] = (double)(bench_now() - begin);
            begin = bench_now();
            if (result >= 0)
                result = program_submit(&p, BENCH_BELFRY);
            again[k] = (double)(bench_now() - begin);
            if (result >= 0)
                result = program_wait(&p, BENCH_BELFRY);
        }
        found->plain[i] = bench_spread(takes, EDGES).median;
        found->belfry[i] = bench_spread(again, EDGES).median;
    }
    bench_worked(result, "doorbells taken away", found);
    found->count = DOORBELL_REPETITIONS;
    programs_close(&p);
}

void doorbell_idle(const struct bench_options *options, enum bench_side side,
                   struct bench_found *found)
{
    struct programs p;
    (void)side;
    if (programs_open(&p, options->gpu, NULL, false, found) &&
        bench_worked(program_ready(&p, BENCH_BELFRY), "submissions", found) &&
        bench_worked(program_wait(&p, BENCH_BELFRY), "waiting", found)) {
        found->plain[0] = footprint_second_idle();
        found->count = 1;
    }
    programs_close(&p);
}
