/* SPDX-License-Identifier: MIT */
/* Stamps on a GPU made of paper: its clock, its counters and its failures are ours. */
#include "support/test.h"

#include <math.h>
#include <time.h>

#include "base/clock.h"
#include "trace/stamps.h"

#define SECOND 1000000000u

/* The GPU: ticks at time t are (t - zero_ns) * rate, of which 'bits' are shown. */
static struct {
    uint64_t now_ns;
    double ticks_per_ns;
    uint64_t zero_ns;
    uint32_t bits;
    uint64_t stamps[1024];
    bool available[1024];
    bool written[1024]; /* and not reset since */
    uint64_t marks;     /* bf_trace_mark_uncalibrated */
    uint32_t buffers;
    uint32_t buffers_max;
    int calibrations;
    int64_t jitter_ns; /* of the next calibrations */
    bool noisy;        /* they take a while, are off by a little, and now and then interrupted */
    uint32_t random;
    double wander; /* parts by which the rate comes and goes, over 20 s */
    VkResult results;
} gpu;

int __wrap_clock_gettime(clockid_t clock, struct timespec *t);
int __wrap_clock_gettime(clockid_t clock, struct timespec *t)
{
    assert_int_equal(clock, CLOCK_MONOTONIC);
    *t = bf_timespec(gpu.now_ns);
    return 0;
}

static uint32_t random_below(uint32_t bound)
{
    gpu.random = gpu.random * 1664525u + 1013904223u;
    return (uint32_t)((uint64_t)gpu.random * bound >> 32);
}

static uint64_t ticks_at(uint64_t ns)
{
    double t = (double)(ns - gpu.zero_ns);
    const double turn = 2 * 3.14159265358979 / 20e9;
    uint64_t ticks =
        (uint64_t)(t * gpu.ticks_per_ns + gpu.wander * gpu.ticks_per_ns * sin(t * turn) / turn);
    return gpu.bits == 64 ? ticks : ticks & ((1ull << gpu.bits) - 1);
}

/* --- What the trace is told -------------------------------------------------------------------*/

static struct {
    struct bf_trace_packet packet;
    uint64_t begin;
    uint64_t end;
    int count;
} told;

void bf_trace_packet_executed(struct bf_trace *trace, const struct bf_trace_packet *packet,
                              uint64_t begin_ns, uint64_t end_ns)
{
    assert_non_null(trace);
    told.packet = *packet;
    told.begin = begin_ns;
    told.end = end_ns;
    told.count++;
}

void bf_trace_mark_uncalibrated(struct bf_trace *trace)
{
    assert_non_null(trace);
    gpu.marks++;
}

/* --- The driver -------------------------------------------------------------------------------*/

struct recording {
    uintptr_t loader; /* dispatchable objects begin with the loader's word */
    uint32_t query;
    bool resets;
    bool stamped;
    bool second_form;
};
static struct recording recordings[1024];

static VkResult create_query_pool(VkDevice d, const VkQueryPoolCreateInfo *info,
                                  const VkAllocationCallbacks *a, VkQueryPool *pool)
{
    assert_int_equal(info->queryType, VK_QUERY_TYPE_TIMESTAMP);
    assert_int_equal(info->queryCount, 1024);
    *pool = (VkQueryPool)(uintptr_t)7;
    return VK_SUCCESS;
}

static void destroy_query_pool(VkDevice d, VkQueryPool pool, const VkAllocationCallbacks *a)
{
    assert_true(pool == (VkQueryPool)(uintptr_t)7);
}

static VkResult create_command_pool(VkDevice d, const VkCommandPoolCreateInfo *info,
                                    const VkAllocationCallbacks *a, VkCommandPool *pool)
{
    assert_int_equal(info->queueFamilyIndex, 3);
    *pool = (VkCommandPool)(uintptr_t)8;
    return VK_SUCCESS;
}

static void destroy_command_pool(VkDevice d, VkCommandPool pool, const VkAllocationCallbacks *a)
{
    gpu.buffers = 0;
}

static VkResult allocate(VkDevice d, const VkCommandBufferAllocateInfo *info, VkCommandBuffer *out)
{
    if (gpu.buffers + info->commandBufferCount > gpu.buffers_max)
        return VK_ERROR_OUT_OF_DEVICE_MEMORY;
    for (uint32_t i = 0; i < info->commandBufferCount; i++) {
        recordings[gpu.buffers] = (struct recording){0};
        out[i] = (VkCommandBuffer)&recordings[gpu.buffers++];
    }
    return VK_SUCCESS;
}

static void free_buffers(VkDevice d, VkCommandPool p, uint32_t n, const VkCommandBuffer *buffers)
{
    gpu.buffers -= n;
}

static VkResult begin(VkCommandBuffer c, const VkCommandBufferBeginInfo *info)
{
    assert_int_equal(((struct recording *)c)->loader, 0x10ade5);
    assert_int_equal(info->flags, 0);
    return VK_SUCCESS;
}

static VkResult end(VkCommandBuffer c)
{
    return VK_SUCCESS;
}

static void cmd_reset(VkCommandBuffer c, VkQueryPool p, uint32_t first, uint32_t count)
{
    assert_int_equal(count, 2);
    ((struct recording *)c)->query = first;
    ((struct recording *)c)->resets = true;
}

static void cmd_write(VkCommandBuffer c, VkPipelineStageFlagBits stage, VkQueryPool p, uint32_t q)
{
    assert_int_equal(stage, VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT);
    ((struct recording *)c)->query = q;
    ((struct recording *)c)->stamped = true;
}

static void cmd_write2(VkCommandBuffer c, VkPipelineStageFlags2 stage, VkQueryPool p, uint32_t q)
{
    assert_int_equal(stage, VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT);
    cmd_write(c, VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT, p, q);
    ((struct recording *)c)->second_form = true;
}

static void host_reset(VkDevice d, VkQueryPool p, uint32_t first, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        gpu.written[first + i] = gpu.available[first + i] = false;
}

static VkResult results(VkDevice d, VkQueryPool p, uint32_t first, uint32_t count, size_t size,
                        void *data, VkDeviceSize stride, VkQueryResultFlags flags)
{
    assert_int_equal(count, 2);
    assert_int_equal(size, 32);
    assert_int_equal(stride, 16);
    assert_int_equal(flags, VK_QUERY_RESULT_64_BIT | VK_QUERY_RESULT_WITH_AVAILABILITY_BIT);
    uint64_t *out = data;
    for (uint32_t i = 0; i < 2; i++) {
        out[2 * i] = gpu.stamps[first + i];
        out[2 * i + 1] = gpu.available[first + i];
    }
    return gpu.results;
}

static VkResult calibrated(VkDevice d, uint32_t n, const VkCalibratedTimestampInfoEXT *infos,
                           uint64_t *times, uint64_t *deviation)
{
    assert_int_equal(n, 2);
    assert_int_equal(infos[0].timeDomain, VK_TIME_DOMAIN_DEVICE_EXT);
    assert_int_equal(infos[1].timeDomain, VK_TIME_DOMAIN_CLOCK_MONOTONIC_EXT);
    gpu.calibrations++;
    if (gpu.noisy)
        gpu.now_ns += 300 + random_below(500);
    times[0] = ticks_at(gpu.now_ns);
    if (gpu.noisy) /* in between, half a microsecond; but for some, as long as others run */
        gpu.now_ns += random_below(4) ? 100 + random_below(800) : random_below(3000000);
    times[1] = gpu.now_ns + (uint64_t)gpu.jitter_ns;
    *deviation = 10; /* not what it is: drivers don't know of interruptions */
    return VK_SUCCESS;
}

static VkResult set_loader_data(VkDevice d, void *object)
{
    *(uintptr_t *)object = 0x10ade5;
    return VK_SUCCESS;
}

/* --- A run ------------------------------------------------------------------------------------*/

static struct VolkDeviceTable driver;

static struct bf_stamps_info info_make(uint32_t bits, double ticks_per_ns)
{
    memset(&gpu, 0, sizeof(gpu));
    memset(&told, 0, sizeof(told));
    gpu.now_ns = 5000ull * SECOND;
    gpu.zero_ns = 1000ull * SECOND;
    gpu.bits = bits;
    gpu.ticks_per_ns = ticks_per_ns;
    gpu.buffers_max = 1024;
    driver = (struct VolkDeviceTable){.vkCreateQueryPool = create_query_pool,
                                      .vkDestroyQueryPool = destroy_query_pool,
                                      .vkCreateCommandPool = create_command_pool,
                                      .vkDestroyCommandPool = destroy_command_pool,
                                      .vkAllocateCommandBuffers = allocate,
                                      .vkFreeCommandBuffers = free_buffers,
                                      .vkBeginCommandBuffer = begin,
                                      .vkEndCommandBuffer = end,
                                      .vkCmdResetQueryPool = cmd_reset,
                                      .vkCmdWriteTimestamp = cmd_write,
                                      .vkCmdWriteTimestamp2 = cmd_write2,
                                      .vkResetQueryPool = host_reset,
                                      .vkGetQueryPoolResults = results,
                                      .vkGetCalibratedTimestampsEXT = calibrated};
    return (struct bf_stamps_info){.device = (VkDevice)&driver,
                                   .vk = &driver,
                                   .set_loader_data = set_loader_data,
                                   .family = 3,
                                   .family_flags = VK_QUEUE_COMPUTE_BIT,
                                   .valid_bits = bits,
                                   .period_ns = 1 / ticks_per_ns,
                                   .calibrated = true,
                                   .trace = (struct bf_trace *)&driver};
}

static struct bf_stamps *stamps_make(const struct bf_stamps_info *info)
{
    struct bf_stamps *s;
    assert_success(bf_stamps_create(info, &s));
    assert_non_null(s);
    return s;
}

/* The GPU runs a command buffer of ours at this time. */
static void execute(VkCommandBuffer commands, uint64_t at_ns)
{
    struct recording *r = (struct recording *)commands;
    assert_true(r->stamped);
    if (r->resets)
        host_reset(VK_NULL_HANDLE, VK_NULL_HANDLE, r->query & ~1u, 2);
    assert_false(gpu.written[r->query]); /* a query must be reset before it is written again */
    gpu.stamps[r->query] = ticks_at(at_ns);
    gpu.written[r->query] = gpu.available[r->query] = true;
}

/* One packet: taken now, to run from now + delay for 'duration'. */
static void packet_submit(struct bf_stamps *s, uint64_t epoch, uint64_t delay, uint64_t duration)
{
    struct bf_trace_packet packet = {.id = epoch};
    VkCommandBuffer before, after;
    uint32_t slot;
    assert_true(bf_stamps_begin(s, &packet, NULL, &before, &after, &slot));
    assert_true(packet.timed);
    execute(before, gpu.now_ns + delay);
    execute(after, gpu.now_ns + delay + duration);
    bf_stamps_accepted(s, slot, epoch, gpu.now_ns + 77);
}

static void packet_collect(struct bf_stamps *s, uint64_t epoch)
{
    int count = told.count;
    bf_stamps_collect(s, epoch - 1);
    assert_int_equal(told.count, count);
    bf_stamps_collect(s, epoch);
    assert_int_equal(told.count, count + 1);
    assert_int_equal(told.packet.id, epoch);
}

/* Both, with the collection at the packet's end. */
static void packet_run(struct bf_stamps *s, uint64_t epoch, uint64_t delay, uint64_t duration)
{
    uint64_t handed_over_ns = gpu.now_ns + 77;
    packet_submit(s, epoch, delay, duration);
    gpu.now_ns += delay + duration;
    packet_collect(s, epoch);
    assert_int_equal(told.packet.handed_over_ns, handed_over_ns);
}

static void assert_near(uint64_t value, uint64_t expected, uint64_t tolerance)
{
    assert_in_range(value, expected - tolerance, expected + tolerance);
}

TEST(who_can_be_timed)
{
    const struct {
        VkQueueFlags flags;
        uint32_t bits;
        bool host_reset;
        bool expected;
    } cases[] = {
        {VK_QUEUE_GRAPHICS_BIT, 64, false, true},
        {VK_QUEUE_COMPUTE_BIT | VK_QUEUE_TRANSFER_BIT, 36, false, true},
        {VK_QUEUE_GRAPHICS_BIT, 0, true, false},
        {VK_QUEUE_TRANSFER_BIT, 64, false, false},
        {VK_QUEUE_TRANSFER_BIT | VK_QUEUE_SPARSE_BINDING_BIT, 64, true, true},
        {VK_QUEUE_SPARSE_BINDING_BIT, 64, true, false},
        {0, 64, true, false},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct bf_stamps_info info = info_make(64, 1);
        info.family_flags = cases[i].flags;
        info.valid_bits = cases[i].bits;
        info.host_query_reset = cases[i].host_reset;
        struct bf_stamps *s = (struct bf_stamps *)&info;
        assert_success(bf_stamps_create(&info, &s));
        assert_true((s != NULL) == cases[i].expected);
        bf_stamps_destroy(s);
        info.trace = NULL;
        assert_success(bf_stamps_create(&info, &s));
        assert_null(s);
    }
    struct bf_trace_packet packet = {.timed = true};
    VkCommandBuffer c;
    uint32_t slot;
    assert_false(bf_stamps_begin(NULL, &packet, NULL, &c, &c, &slot));
    assert_false(packet.timed);
    bf_stamps_collect(NULL, 1);
}

TEST(commands)
{
    for (int i = 0; i < 4; i++) {
        struct bf_stamps_info info = info_make(64, 1);
        info.host_query_reset = i & 1;
        info.synchronization2 = i & 2;
        struct bf_stamps *s = stamps_make(&info);
        struct bf_trace_packet packet = {0};
        VkCommandBuffer before, after;
        uint32_t slot;
        assert_true(bf_stamps_begin(s, &packet, NULL, &before, &after, &slot));
        struct recording *b = (struct recording *)before;
        struct recording *a = (struct recording *)after;
        assert_true(b->resets == !(i & 1) && !a->resets);
        assert_true(b->second_form == !!(i & 2) && a->second_form == !!(i & 2));
        assert_int_equal(b->query, 2 * slot);
        assert_int_equal(a->query, 2 * slot + 1);
        bf_stamps_refused(s, slot);
        for (uint64_t epoch = 1; epoch < 5; epoch++) /* slots come back, and are reset */
            packet_run(s, epoch, 100, 100);
        assert_int_equal(gpu.buffers, 32);
        bf_stamps_destroy(s);
    }
}

/* Without a trace, for who wants to know how long packets took. */
static uint64_t measured_ns[3];

static void measured(void *of, uint64_t ns)
{
    *(uint64_t *)of = ns;
}

TEST(measured_without_a_trace)
{
    struct bf_stamps_info info = info_make(36, 0.1);
    info.trace = NULL;
    info.measured = measured;
    struct bf_stamps *s = stamps_make(&info);
    assert_null(bf_stamps_calibration(s));
    for (uint32_t i = 0; i < 3; i++) {
        VkCommandBuffer before, after;
        uint32_t slot;
        measured_ns[i] = 7;
        assert_true(bf_stamps_begin(s, NULL, &measured_ns[i], &before, &after, &slot));
        execute(before, gpu.now_ns + 1000);
        if (i != 2) /* the device is lost */
            execute(after, gpu.now_ns + 1000 * (i + 2));
        bf_stamps_accepted(s, slot, i + 1, 0);
    }
    bf_stamps_forget(s, &measured_ns[1]);
    bf_stamps_collect(s, 3);
    assert_int_equal(measured_ns[0], 1000);
    assert_int_equal(measured_ns[1], 7);
    assert_int_equal(measured_ns[2], 0);
    assert_int_equal(told.count, 0);
    bf_stamps_destroy(s);
}

/* Many wraps of 36 bits at once, any period, any distance between packets. */
TEST(calibrated_times)
{
    static const double rates[] = {1, 0.0192, 0.1, 1.0 / 3, 2.5};
    for (size_t r = 0; r < sizeof(rates) / sizeof(rates[0]); r++) {
        for (int b = 0; b < 2; b++) {
            struct bf_stamps_info info = info_make(b ? 36 : 64, rates[r]);
            struct bf_stamps *s = stamps_make(&info);
            uint64_t tolerance = 2 + (uint64_t)(3 / rates[r]);
            uint64_t last = 0;
            static const uint64_t gaps[] = {
                0, 1, 1000, SECOND / 2, 2 * SECOND, 30 * SECOND, 1000ull * SECOND};
            for (uint64_t i = 0; i < sizeof(gaps) / sizeof(gaps[0]); i++) {
                gpu.now_ns += gaps[i];
                packet_run(s, i + 1, 5000, 1000000);
                assert_near(told.begin, gpu.now_ns - 1000000, tolerance);
                assert_near(told.end, gpu.now_ns, tolerance);
                assert_true(told.begin >= last && told.end >= told.begin);
                last = told.end;
            }
            assert_int_equal(gpu.marks, 0);
            /* Most of a round after it was submitted. */
            packet_run(s, 100, (b ? (1ull << 36) : 1ull << 40) / rates[r] * 7 / 8, 1000);
            assert_near(told.end, gpu.now_ns, tolerance);
            bf_stamps_destroy(s);
        }
    }
}

/* A clock that runs 50 ppm faster than it says is followed. */
TEST(drift)
{
    struct bf_stamps_info info = info_make(64, 1);
    gpu.ticks_per_ns = 1.00005;
    struct bf_stamps *s = stamps_make(&info);
    for (uint64_t i = 1; i <= 100; i++) {
        gpu.now_ns += 900000000; /* nearly a second since the last calibration, for every other */
        packet_run(s, i, 1000, 2000);
        assert_near(told.end, gpu.now_ns, 20);
    }
    assert_in_range(gpu.calibrations, 50, 102);
    bf_stamps_destroy(s);
}

/* A minute of a clock that is 100 ppm off and wanders by 20 more, read by calls that take a while,
 * and are interrupted one time in four: no event is off by 20 us, from the first on, and on no
 * engine of those that share the calibration do times go backwards. */
TEST(a_minute)
{
    enum { ENGINES = 3 };
    for (uint32_t seed = 1; seed <= 8; seed++) {
        struct bf_stamps_info info = info_make(seed % 2 ? 36 : 64, seed % 3 ? 1 : 0.0192);
        gpu.ticks_per_ns *= seed % 4 ? 1.0001 : 0.9999;
        gpu.wander = 20e-6;
        gpu.noisy = true;
        gpu.random = seed;
        struct bf_stamps *engines[ENGINES];
        engines[0] = stamps_make(&info);
        info.calibration = bf_stamps_calibration(engines[0]);
        assert_non_null(info.calibration);
        uint64_t start = gpu.now_ns;
        for (int e = 1; e < ENGINES; e++) {
            engines[e] = stamps_make(&info);
            assert_ptr_equal(bf_stamps_calibration(engines[e]), info.calibration);
        }
        assert_true(gpu.calibrations <= 5); /* one for all */
        uint64_t last[ENGINES] = {0}, worst = 0;
        for (uint64_t epoch = 1; gpu.now_ns < start + 60ull * SECOND; epoch++) {
            uint32_t e = random_below(ENGINES);
            uint64_t begin = gpu.now_ns + random_below(100000);
            uint64_t end = begin + random_below(epoch % 50 ? 2000000 : 1500000000);
            packet_submit(engines[e], epoch, begin - gpu.now_ns, end - begin);
            gpu.now_ns = end + random_below(3000000);
            packet_collect(engines[e], epoch);
            assert_true(told.begin >= last[e] && told.end >= told.begin);
            last[e] = told.end;
            uint64_t off = told.end > end ? told.end - end : end - told.end;
            worst = off > worst ? off : worst;
            off = told.begin > begin ? told.begin - begin : begin - told.begin;
            worst = off > worst ? off : worst;
        }
        print_message("seed %u: within %u ns\n", seed, (unsigned)worst);
        assert_true(worst < 20000);
        assert_int_equal(gpu.marks, 0);
        for (int e = 0; e < ENGINES; e++)
            bf_stamps_destroy(engines[e]); /* in any order */
    }
}

/* The CPU's clock stands still while the machine sleeps, and the device's starts again at 0: what
 * comes afterwards is placed right again. Of the packet that was under way nobody knows which clock
 * it has seen. */
TEST(clocks_that_jump)
{
    struct bf_stamps_info info = info_make(64, 1);
    struct bf_stamps *s = stamps_make(&info);
    for (uint64_t i = 1; i <= 20; i++) {
        gpu.now_ns += 2ull * SECOND;
        if (i == 10)
            gpu.zero_ns -= 3600ull * SECOND;
        if (i == 15)
            gpu.zero_ns = gpu.now_ns - 1000;
        packet_run(s, i, 1000, 2000);
        if (i == 10)
            assert_true(told.begin == 0 && told.end == 0);
        else if (i != 15)
            assert_near(told.end, gpu.now_ns, 20);
        assert_true(told.begin <= told.end);
    }
    bf_stamps_destroy(s);
}

/* Readings that are wrong, and don't show it, don't take the stamps of an engine backwards. */
TEST(never_backwards)
{
    struct bf_stamps_info info = info_make(64, 1);
    struct bf_stamps *s = stamps_make(&info);
    uint64_t last = 0;
    for (uint64_t i = 1; i <= 200; i++) {
        gpu.jitter_ns = (int64_t)random_below(2000000) - 1000000;
        gpu.now_ns += random_below(1500000000);
        packet_run(s, i, random_below(1000), random_below(1000));
        assert_true(told.begin >= last && told.end >= told.begin);
        assert_near(told.end, gpu.now_ns, 5000000);
        last = told.end;
    }
    bf_stamps_destroy(s);
}

/* Without calibration: never before the packet was given to the driver, never after it was done,
 * and right to the nanosecond once a packet has started at once. */
TEST(uncalibrated_times)
{
    for (int b = 0; b < 2; b++) {
        struct bf_stamps_info info = info_make(b ? 36 : 64, 1);
        info.calibrated = false;
        struct bf_stamps *s = stamps_make(&info);
        assert_int_equal(gpu.marks, 1);
        uint64_t last = 0;
        static const uint64_t delays[] = {9000, 20000, 3000, 50000, 0, 1000, 70000};
        for (uint64_t i = 0; i < 7; i++) {
            gpu.now_ns += 40ull * SECOND * (i + 1); /* the counter may go round unseen */
            uint64_t taken = gpu.now_ns;
            packet_run(s, i + 1, delays[i], 4000);
            assert_true(told.begin >= taken && told.end <= gpu.now_ns);
            assert_int_equal(told.end - told.begin, 4000);
            assert_true(told.begin >= last);
            last = told.end;
            if (i >= 4)
                assert_int_equal(told.end, gpu.now_ns);
        }
        assert_int_equal(gpu.calibrations, 0);
        bf_stamps_destroy(s);
    }
}

/* As many as there are, then none, then all again; in the order of acceptance. */
TEST(slots_run_out)
{
    for (int round = 0; round < 2; round++) {
        struct bf_stamps_info info = info_make(64, 1);
        if (round)
            gpu.buffers_max = 100; /* three chunks of 32 fit */
        struct bf_stamps *s = stamps_make(&info);
        uint32_t expected = round ? 48 : 512;
        for (uint64_t again = 0; again < 2; again++) {
            uint32_t slots[512];
            struct bf_trace_packet packet = {0};
            VkCommandBuffer before, after;
            uint32_t n = 0;
            bool taken[512] = {false};
            for (uint32_t slot; bf_stamps_begin(s, &packet, NULL, &before, &after, &slot);) {
                assert_false(taken[slot]);
                taken[slot] = true;
                execute(before, gpu.now_ns);
                execute(after, gpu.now_ns);
                slots[n++] = slot;
                packet.id++;
            }
            assert_false(packet.timed);
            assert_int_equal(n, expected);
            bf_stamps_refused(s, slots[5]);
            for (uint32_t i = 0; i < n; i++)
                if (i != 5)
                    bf_stamps_accepted(s, slots[i], 1000 * again + i / 2, gpu.now_ns);
            told.count = 0;
            for (uint32_t i = 0; i < n; i += 2) {
                bf_stamps_collect(s, 1000 * again + i / 2);
                assert_int_equal(told.packet.id, i == 4 ? 4 : i + 1);
            }
            assert_int_equal(told.count, n - 1);
        }
        bf_stamps_destroy(s);
    }
}

TEST(no_results)
{
    struct bf_stamps_info info = info_make(64, 1);
    struct bf_stamps *s = stamps_make(&info);
    for (int i = 0; i < 3; i++) {
        gpu.results = i == 0 ? VK_ERROR_DEVICE_LOST : i == 1 ? VK_NOT_READY : VK_SUCCESS;
        struct bf_trace_packet packet = {0};
        VkCommandBuffer before, after;
        uint32_t slot;
        assert_true(bf_stamps_begin(s, &packet, NULL, &before, &after, &slot));
        execute(before, gpu.now_ns);
        if (i == 0)
            execute(after, gpu.now_ns);
        bf_stamps_accepted(s, slot, 1, gpu.now_ns);
        told.begin = told.end = 5;
        bf_stamps_collect(s, UINT64_MAX);
        assert_int_equal(told.count, i + 1);
        assert_true(told.begin == 0 && told.end == 0);
    }
    gpu.results = VK_SUCCESS;
    packet_run(s, 9, 1, 1);
    bf_stamps_destroy(s);
}

/* A counter of 36 bits goes around in 69 s: of what took longer nobody knows how long. */
TEST(longer_than_the_counter_takes_around)
{
    struct bf_stamps_info info = info_make(36, 1);
    struct bf_stamps *s = stamps_make(&info);
    const struct {
        uint64_t delay, duration;
        bool known;
    } cases[] = {{100ull * SECOND, 1000000, false}, {1000, 70ull * SECOND, false},
                 {1000, 20ull * SECOND, true},      {1000, 40ull * SECOND, true},
                 {40ull * SECOND, 1000, true},      {40ull * SECOND, 40ull * SECOND, false}};
    for (uint64_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        uint64_t before = gpu.now_ns;
        packet_run(s, i + 1, cases[i].delay, cases[i].duration);
        if (!cases[i].known) {
            assert_true(told.begin == 0 && told.end == 0);
            continue;
        }
        assert_near(told.begin, before + cases[i].delay, 1000000);
        assert_near(told.end - told.begin, cases[i].duration, 1000);
    }
    bf_stamps_destroy(s);
}
