/* SPDX-License-Identifier: MIT */
/* Which families a program is shown, for the shapes of real GPUs and for odd ones. */

#include "support/test.h"
#include "device/family.h"
#include "support/queue_flags.h"

#define P            VK_QUEUE_PROTECTED_BIT
#define DECODE       0x20
#define ENCODE       0x40
#define OPTICAL_FLOW 0x100
#define MAX          6

/* A real family; granularity 0 stands for (1,1,1), 1 for (0,0,0). */
struct real {
    VkQueueFlags flags;
    uint32_t count;
    bool whole_mips;
};

struct shown {
    uint32_t host;
    VkQueueFlags flags;
    uint32_t count;
};

static const struct {
    const char *name;
    uint32_t per_family;
    struct real real[MAX];
    struct shown shown[MAX + 2]; /* all families, in order */
} shapes[] = {
    {"lavapipe", 16, {{G | C | T, 1, 0}}, {{0, G | C | T, 16}, {0, C | T, 16}, {0, T, 16}}},
    {"as the GPU has", 0, {{G | C | T, 1, 0}}, {{0, G | C | T, 1}, {0, C | T, 2}, {0, T, 2}}},
    {"one, which it has", 1, {{G | C | T, 1, 0}}, {{0, G | C | T, 1}, {0, C | T, 2}, {0, T, 2}}},
    {"radv, as it has",
     0,
     {{G | C | T, 1, 0}, {C | T, 4, 0}, {DECODE, 1, 0}},
     {{0, G | C | T, 1}, {1, C | T, 4}, {2, DECODE, 1}, {1, T, 2}}},
    {"nvidia, as it has",
     0,
     {{G | C | T | S, 16, 0},
      {T | S, 2, 0},
      {C | T | S, 8, 0},
      {DECODE | T | S, 1, 0},
      {ENCODE | T | S, 1, 0}},
     {{0, G | C | T | S, 16},
      {1, T | S, 2},
      {2, C | T | S, 8},
      {3, DECODE | T | S, 1},
      {4, ENCODE | T | S, 1}}},
    {"intel, as it has",
     0,
     {{G | C | T, 1, 0}, {C | T, 1, 0}, {DECODE, 1, 0}},
     {{0, G | C | T, 1}, {1, C | T, 1}, {2, DECODE, 1}, {1, T, 2}}},
    /* Sixteen is the least that a typed family shows; video is left alone and is no copy engine. */
    {"nvidia",
     8,
     {{G | C | T | S, 16, 0},
      {T | S, 2, 0},
      {C | T | S, 8, 0},
      {DECODE | T | S, 1, 0},
      {ENCODE | T | S, 1, 0}},
     {{0, G | C | T | S, 16},
      {1, T | S, 8},
      {2, C | T | S, 8},
      {3, DECODE | T | S, 1},
      {4, ENCODE | T | S, 1}}},
    /* Copies go to the compute family; a sparse-only family is none of the types. */
    {"radv",
     16,
     {{G | C | T, 1, 0}, {C | T, 4, 0}, {S, 1, 0}, {DECODE, 1, 0}},
     {{0, G | C | T, 16}, {1, C | T, 16}, {2, S, 1}, {3, DECODE, 1}, {1, T, 16}}},
    {"intel",
     16,
     {{G | C | T, 1, 0}, {C | T, 1, 0}, {DECODE, 1, 0}},
     {{0, G | C | T, 16}, {1, C | T, 16}, {2, DECODE, 1}, {1, T, 16}}},
    {"copy", 16, {{G | C | T, 1, 0}, {T, 2, 0}}, {{0, G | C | T, 16}, {1, T, 16}, {0, C | T, 16}}},
    {"q16 with sparse",
     4,
     {{G | C | T | S, 16, 0}},
     {{0, G | C | T | S, 16}, {0, C | T | S, 4}, {0, T | S, 4}}},
    {"protected",
     16,
     {{G | C | T | P, 1, 0}},
     {{0, G | C | T | P, 16}, {0, C | T | P, 16}, {0, T | P, 16}}},
    /* Whole mip levels only: no copy engine, so one is appended. */
    {"coarse copies",
     16,
     {{G | C | T, 1, 0}, {T, 1, 1}},
     {{0, G | C | T, 16}, {1, T, 1}, {0, C | T, 16}, {0, T, 16}}},
    {"optical flow",
     16,
     {{G | C | T, 1, 0}, {C | T, 2, 0}, {OPTICAL_FLOW | T, 1, 0}},
     {{0, G | C | T, 16}, {1, C | T, 16}, {2, OPTICAL_FLOW | T, 1}, {1, T, 16}}},
    /* Graphics without compute can't stand in for a compute engine, but can copy. */
    {"no compute at all", 16, {{G | T, 1, 0}}, {{0, G | T, 16}, {0, T, 16}}},
    {"compute elsewhere",
     16,
     {{G | T, 1, 0}, {G | C | T, 2, 0}},
     {{0, G | T, 16}, {1, G | C | T, 16}, {1, C | T, 16}, {0, T, 16}}},
    {"compute alone", 16, {{C | T, 1, 0}}, {{0, C | T, 16}, {0, T, 16}}},
    /* TRANSFER may go unsaid where graphics or compute is: it is implied. */
    {"transfer implied", 16, {{G | C, 1, 0}}, {{0, G | C, 16}, {0, C | T, 16}, {0, T, 16}}},
    {"video only", 16, {{DECODE | T, 2, 0}}, {{0, DECODE | T, 2}}},
};

static uint32_t fill(const struct real *real, VkQueueFamilyProperties *properties)
{
    uint32_t n = 0;
    for (; n < MAX && real[n].count; n++)
        properties[n] = (VkQueueFamilyProperties){
            .queueFlags = real[n].flags,
            .queueCount = real[n].count,
            .minImageTransferGranularity =
                real[n].whole_mips ? (VkExtent3D){0, 0, 0} : (VkExtent3D){1, 1, 1},
        };
    return n;
}

TEST(test_shapes)
{
    for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++) {
        VkQueueFamilyProperties real[MAX];
        struct bf_family_map map;
        uint32_t n = fill(shapes[i].real, real), shown = 0;
        bf_family_map_init(real, n, BF_QUEUES_APPEND, shapes[i].per_family, &map);
        while (shown < MAX + 2 && shapes[i].shown[shown].count)
            shown++;
        if (map.shown_count != shown)
            fail_msg("%s: %u families shown", shapes[i].name, map.shown_count);
        assert_int_equal(map.real_count, n);
        for (uint32_t f = 0; f < shown; f++) {
            const struct shown *expected = &shapes[i].shown[f];
            const struct bf_family *got = &map.shown[f];
            if (got->real != expected->host || got->flags != expected->flags ||
                got->count != expected->count || got->appended != (f >= n))
                fail_msg("%s: family %u: host %u, flags %#x, count %u", shapes[i].name, f,
                         got->real, got->flags, got->count);
            assert_int_equal(bf_family_real(&map, f), expected->host);
        }
    }
}

TEST(test_native)
{
    for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++) {
        VkQueueFamilyProperties real[MAX];
        struct bf_family_map map;
        uint32_t n = fill(shapes[i].real, real);
        bf_family_map_init(real, n, BF_QUEUES_NATIVE, 16, &map);
        assert_true(bf_family_map_is_identity(&map));
        assert_int_equal(map.shown_count, n);
        for (uint32_t f = 0; f < n; f++) {
            assert_int_equal(map.shown[f].real, f);
            assert_int_equal(map.shown[f].flags, real[f].queueFlags);
            assert_int_equal(map.shown[f].count, real[f].queueCount);
            assert_false(map.shown[f].appended);
        }
    }
}

TEST(test_sentinels)
{
    VkQueueFamilyProperties real[MAX];
    struct bf_family_map map;
    bf_family_map_init(real, fill(shapes[0].real, real), BF_QUEUES_APPEND, 16, &map);
    static const uint32_t sentinels[] = {VK_QUEUE_FAMILY_IGNORED,
                                         VK_QUEUE_FAMILY_EXTERNAL,
                                         VK_QUEUE_FAMILY_FOREIGN_EXT,
                                         3,
                                         31,
                                         32,
                                         100};
    for (size_t i = 0; i < sizeof(sentinels) / sizeof(sentinels[0]); i++) {
        assert_int_equal(bf_family_real(&map, sentinels[i]), sentinels[i]);
        assert_false(bf_family_same_real(&map, 0, sentinels[i]));
        assert_false(bf_family_same_real(&map, sentinels[i], sentinels[i]));
    }
    assert_true(bf_family_same_real(&map, 0, 2));
    assert_true(bf_family_same_real(&map, 1, 2));
}

/* Families beyond what fits: shown as they are. */
TEST(test_many)
{
    VkQueueFamilyProperties real[40];
    struct bf_family_map map;
    for (uint32_t i = 0; i < 40; i++)
        real[i] = (VkQueueFamilyProperties){
            .queueFlags = G | C | T, .queueCount = 1, .minImageTransferGranularity = {1, 1, 1}};
    bf_family_map_init(real, 30, BF_QUEUES_APPEND, 16, &map);
    assert_int_equal(map.shown_count, 32);
    for (uint32_t n = 31; n <= 40; n++) {
        bf_family_map_init(real, n, BF_QUEUES_APPEND, 16, &map);
        assert_true(bf_family_map_is_identity(&map));
        assert_int_equal(map.shown_count, n < 32 ? n : 32);
        assert_int_equal(map.shown[30].count, 1);
        assert_int_equal(bf_family_real(&map, n - 1), n - 1);
    }
    bf_family_map_init(real, 0, BF_QUEUES_APPEND, 16, &map);
    assert_int_equal(map.shown_count, 0);
}
