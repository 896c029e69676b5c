/* SPDX-License-Identifier: MIT */
/* Which VkQueues are opened for what a program asks for, and who goes where. */

#include "support/test.h"
#include "device/placement.h"
#include "base/message.h"
#include "support/queue_flags.h"

/* 'counts' ends with 0; the first family has everything, the second computes, the third copies. */
static void map_init(const uint32_t *counts, struct bf_family_map *map)
{
    static const VkQueueFlags flags[] = {G | C | T, C | T, T};
    VkQueueFamilyProperties real[3];
    uint32_t n = 0;
    for (; counts[n]; n++)
        real[n] = (VkQueueFamilyProperties){.queueFlags = flags[n],
                                            .queueCount = counts[n],
                                            .minImageTransferGranularity = {1, 1, 1}};
    bf_family_map_init(real, n, BF_QUEUES_APPEND, 16, map);
}

static VkDeviceQueueCreateInfo ask(uint32_t family, uint32_t count, const float *priorities,
                                   VkDeviceQueueCreateFlags flags, const void *next)
{
    return (VkDeviceQueueCreateInfo){
        VK_TYPE(DEVICE_QUEUE_CREATE_INFO), .pNext = next,       .flags = flags,
        .queueFamilyIndex = family,        .queueCount = count, .pQueuePriorities = priorities};
}

static const float half[64] = {0.5f, 0.5f, 0.5f, 0.5f, 0.5f, 0.5f, 0.5f, 0.5f,
                               0.5f, 0.5f, 0.5f, 0.5f, 0.5f, 0.5f, 0.5f, 0.5f};

/* Three families that are one below become one request; the one VkQueue has the highest priority.
 */
TEST(test_merged)
{
    struct bf_family_map map;
    map_init((uint32_t[]){1, 0}, &map);
    const float a[] = {0.25f, 0.125f}, b[] = {0.75f}, c[] = {0.0f, 0.5f};
    const VkDeviceQueueCreateInfo asked[] = {ask(0, 2, a, 0, NULL), ask(1, 1, b, 0, NULL),
                                             ask(2, 2, c, 0, NULL)};
    struct bf_placement p;
    assert_int_equal(bf_placement_init(&map, 3, asked, &p), VK_SUCCESS);
    assert_int_equal(p.request_count, 1);
    assert_int_equal(p.requests[0].sType, VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO);
    assert_int_equal(p.requests[0].queueFamilyIndex, 0);
    assert_int_equal(p.requests[0].queueCount, 1);
    assert_true(p.requests[0].pQueuePriorities[0] == 0.75f);
    assert_int_equal(p.engine_count, 1);
    assert_int_equal(p.queue_count, 5);
    static const uint32_t shown[][2] = {{0, 0}, {0, 1}, {1, 0}, {2, 0}, {2, 1}};
    for (uint32_t i = 0; i < 5; i++) {
        assert_int_equal(p.queues[i].family, shown[i][0]);
        assert_int_equal(p.queues[i].index, shown[i][1]);
        assert_int_equal(p.queues[i].engine, 0);
    }
    assert_int_equal(p.queues[2].family_flags, C | T);
    bf_placement_finish(&p);
}

/* No more VkQueues than asked for, nor than there are; the rest share in turn. */
TEST(test_counts)
{
    struct bf_family_map map;
    map_init((uint32_t[]){8, 0}, &map);
    struct bf_placement p;
    VkDeviceQueueCreateInfo asked[] = {ask(0, 3, half, 0, NULL), ask(1, 2, half, 0, NULL)};
    assert_int_equal(bf_placement_init(&map, 2, asked, &p), VK_SUCCESS);
    assert_int_equal(p.requests[0].queueCount, 5);
    assert_int_equal(p.engine_count, 5);
    for (uint32_t i = 0; i < 5; i++) {
        assert_int_equal(p.queues[i].engine, i); /* each has one to itself */
        assert_int_equal(p.engines[i].index, i);
        assert_int_equal(p.engines[i].family, 0);
        assert_true(p.requests[0].pQueuePriorities[i] == 0.5f);
    }
    bf_placement_finish(&p);

    asked[0].queueCount = 16;
    asked[1].queueCount = 4;
    assert_int_equal(bf_placement_init(&map, 2, asked, &p), VK_SUCCESS);
    assert_int_equal(p.requests[0].queueCount, 8);
    assert_int_equal(p.queue_count, 20);
    uint32_t users[8] = {0};
    for (uint32_t i = 0; i < 20; i++)
        users[p.queues[i].engine]++;
    for (uint32_t i = 0; i < 8; i++)
        assert_in_range(users[i], 2, 3);
    bf_placement_finish(&p);
}

/* Requests with flags are families of queues of their own (protected queues above all). */
TEST(test_flags)
{
    struct bf_family_map map;
    map_init((uint32_t[]){2, 0}, &map);
    const float low[] = {0.0f}, high[] = {1.0f};
    const VkDeviceQueueCreateFlags flag = VK_DEVICE_QUEUE_CREATE_PROTECTED_BIT;
    const VkDeviceQueueCreateInfo asked[] = {
        ask(0, 1, low, 0, NULL),
        ask(0, 1, high, flag, NULL),
        ask(1, 1, low, 0, NULL),
        ask(2, 1, low, flag, NULL),
    };
    struct bf_placement p;
    assert_int_equal(bf_placement_init(&map, 4, asked, &p), VK_SUCCESS);
    assert_int_equal(p.request_count, 2);
    assert_int_equal(p.requests[0].flags, 0);
    assert_int_equal(p.requests[1].flags, flag);
    /* One each comes before the second of either: nobody is left without. */
    assert_int_equal(p.requests[0].queueCount, 1);
    assert_int_equal(p.requests[1].queueCount, 1);
    assert_true(p.requests[0].pQueuePriorities[0] == 0.0f);
    assert_true(p.requests[1].pQueuePriorities[0] == 1.0f);
    static const uint32_t engines[] = {0, 1, 0, 1};
    for (uint32_t i = 0; i < 4; i++) {
        assert_int_equal(p.queues[i].engine, engines[i]);
        assert_int_equal(p.queues[i].flags, asked[i].flags);
        assert_int_equal(p.engines[engines[i]].flags, asked[i].flags);
        assert_int_equal(p.engines[engines[i]].index, 0);
    }
    bf_placement_finish(&p);

    /* One VkQueue is both (PL-6). */
    map_init((uint32_t[]){1, 0}, &map);
    assert_int_equal(bf_placement_init(&map, 4, asked, &p), VK_SUCCESS);
    assert_int_equal(p.request_count, 1);
    assert_int_equal(p.engine_count, 1);
    assert_int_equal(p.requests[0].flags, flag);
    assert_int_equal(p.requests[0].queueCount, 1);
    assert_true(p.requests[0].pQueuePriorities[0] == 1.0f);
    assert_int_equal(p.engines[0].flags, flag);
    for (uint32_t i = 0; i < 4; i++) {
        assert_int_equal(p.queues[i].engine, 0);
        assert_int_equal(p.queues[i].flags, asked[i].flags);
    }
    bf_placement_finish(&p);
}

/* PL-6: with fewer VkQueues than kinds, those share first that differ in who synchronizes them; and
 * what Belfry has the driver synchronize besides goes back alone. */
TEST(test_kinds)
{
    const VkDeviceQueueCreateFlags guarded = VK_DEVICE_QUEUE_CREATE_PROTECTED_BIT, own = 4;
    static const float rising[] = {0.25f, 0.5f, 0.75f, 1.0f};
    const VkDeviceQueueCreateInfo asked[] = {
        ask(0, 1, &rising[0], 0, NULL), ask(1, 1, &rising[1], guarded, NULL),
        ask(2, 1, &rising[2], own, NULL), ask(2, 1, &rising[3], guarded | own, NULL)};
    for (uint32_t count = 1; count <= 4; count++) {
        struct bf_family_map map;
        map_init((uint32_t[]){count, 0}, &map);
        struct bf_placement p;
        assert_int_equal(bf_placement_init(&map, 4, asked, &p), VK_SUCCESS);
        bf_placement_synchronize(&p);
        assert_int_equal(p.synchronized, false);
        bf_placement_drop_spares(&p);
        static const struct {
            VkDeviceQueueCreateFlags flags;
            float priority;
        } below[5][4] = {
            [1] = {{5, 1.0f}, {5, 1.0f}, {5, 1.0f}, {5, 1.0f}},
            [2] = {{4, 0.75f}, {5, 1.0f}, {4, 0.75f}, {5, 1.0f}},
            [3] = {{4, 0.75f}, {1, 0.5f}, {4, 0.75f}, {5, 1.0f}},
            [4] = {{0, 0.25f}, {1, 0.5f}, {4, 0.75f}, {5, 1.0f}},
        };
        assert_int_equal(p.request_count, count);
        assert_int_equal(p.engine_count, count);
        for (uint32_t i = 0; i < 4; i++) {
            const struct bf_engine_info *engine = &p.engines[p.queues[i].engine];
            assert_int_equal(p.queues[i].flags, asked[i].flags);
            assert_int_equal(engine->flags, below[count][i].flags);
            assert_true(engine->queue_priority == below[count][i].priority);
            assert_int_equal(engine->index, 0);
        }
        for (uint32_t i = 0; i < count; i++) {
            assert_int_equal(p.requests[i].flags, p.engines[i].flags);
            assert_int_equal(p.requests[i].queueCount, 1);
            assert_true(p.requests[i].pQueuePriorities[0] == p.engines[i].queue_priority);
        }
        bf_placement_finish(&p);
    }
    /* Beside a family that Belfry has synchronized: what it gives back isn't the program's. */
    struct bf_family_map map;
    map_init((uint32_t[]){1, 1, 0}, &map);
    struct bf_placement p;
    const VkDeviceQueueCreateInfo beside[] = {ask(0, 1, half, 0, NULL), ask(1, 1, half, 0, NULL),
                                              ask(1, 1, half, own, NULL)};
    assert_int_equal(bf_placement_init(&map, 3, beside, &p), VK_SUCCESS);
    bf_placement_synchronize(&p);
    assert_true(p.synchronized);
    assert_int_equal(p.requests[0].flags, own);
    bf_placement_drop_spares(&p);
    assert_int_equal(p.requests[0].flags, 0);
    assert_int_equal(p.engines[0].flags, 0);
    assert_int_equal(p.requests[1].flags, own);
    assert_int_equal(p.engines[1].flags, own);
    bf_placement_finish(&p);
    /* What a flag means that isn't known can't be had on another VkQueue. */
    map_init((uint32_t[]){1, 0}, &map);
    bf_message_set_level(BF_MESSAGE_NONE);
    const VkDeviceQueueCreateInfo strange[] = {ask(0, 1, half, 0, NULL), ask(1, 1, half, 8, NULL)};
    assert_int_equal(bf_placement_init(&map, 2, strange, &p), VK_ERROR_INITIALIZATION_FAILED);
    assert_null(p.queues);
    assert_null(p.requests);
}

TEST(test_chains)
{
    struct bf_family_map map;
    map_init((uint32_t[]){1, 0}, &map);
    static const VkDeviceQueueGlobalPriorityCreateInfoKHR first = {0}, second = {0};
    struct bf_placement p;
    const VkDeviceQueueCreateInfo asked[] = {ask(0, 1, half, 0, NULL), ask(1, 1, half, 0, &first),
                                             ask(2, 1, half, 0, &second)};
    assert_int_equal(bf_placement_init(&map, 3, asked, &p), VK_SUCCESS);
    assert_ptr_equal(p.requests[0].pNext, &first);
    bf_placement_finish(&p);
}

/* A real family has one global priority. Where families that are one below ask for several, the
 * highest holds for all: MEDIUM is what nothing chained means. */
TEST(test_global_priorities)
{
    const VkDeviceQueueCreateFlags flag = VK_DEVICE_QUEUE_CREATE_PROTECTED_BIT;
#define CHAIN(priority)                                                                            \
    {                                                                                              \
        VK_STRUCTURE_TYPE_DEVICE_QUEUE_GLOBAL_PRIORITY_CREATE_INFO_KHR, NULL, priority             \
    }
    static const VkDeviceQueueGlobalPriorityCreateInfoKHR low = CHAIN(
                                                              VK_QUEUE_GLOBAL_PRIORITY_LOW_KHR),
                                                          medium = CHAIN(
                                                              VK_QUEUE_GLOBAL_PRIORITY_MEDIUM_KHR),
                                                          high = CHAIN(
                                                              VK_QUEUE_GLOBAL_PRIORITY_HIGH_KHR);
    static const VkBaseInStructure other = {.sType = (VkStructureType)1000417000};
    static const struct {
        const void *chains[3], *expected;
        VkQueueGlobalPriorityKHR priority;
    } cases[] = {
        {{NULL, NULL, NULL}, NULL, 0},
        {{&low, NULL, NULL}, NULL, 0},
        {{NULL, &low, NULL}, NULL, 0},
        {{&low, &low, &low}, &low, VK_QUEUE_GLOBAL_PRIORITY_LOW_KHR},
        {{&low, &high, NULL}, &high, VK_QUEUE_GLOBAL_PRIORITY_HIGH_KHR},
        {{&high, &medium, &low}, &high, VK_QUEUE_GLOBAL_PRIORITY_HIGH_KHR},
        {{&low, &medium, &low}, &medium, VK_QUEUE_GLOBAL_PRIORITY_MEDIUM_KHR},
        {{NULL, &other, &medium}, &other, 0},
        {{&other, NULL, &high}, &high, VK_QUEUE_GLOBAL_PRIORITY_HIGH_KHR},
    };
    struct bf_family_map map;
    map_init((uint32_t[]){4, 0}, &map);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        /* In one request, and with one of the families in another: that has the same priority. */
        for (uint32_t split = 0; split < 4; split++) {
            VkDeviceQueueCreateInfo asked[3];
            for (uint32_t f = 0; f < 3; f++)
                asked[f] = ask(f, 1, half, split == f + 1 ? flag : 0, cases[i].chains[f]);
            struct bf_placement p;
            assert_int_equal(bf_placement_init(&map, 3, asked, &p), VK_SUCCESS);
            assert_int_equal(p.request_count, split ? 2 : 1);
            if (!split || cases[i].priority > VK_QUEUE_GLOBAL_PRIORITY_MEDIUM_KHR) {
                for (uint32_t r = 0; r < p.request_count; r++)
                    assert_ptr_equal(p.requests[r].pNext, cases[i].expected);
                for (uint32_t e = 0; e < p.engine_count; e++)
                    assert_int_equal(p.engines[e].global_priority, cases[i].priority);
            }
            for (uint32_t e = 0; e < p.engine_count; e++) {
                assert_false(p.engines[e].reserved);
                assert_true(cases[i].priority == VK_QUEUE_GLOBAL_PRIORITY_LOW_KHR ||
                            p.engines[e].global_priority != VK_QUEUE_GLOBAL_PRIORITY_LOW_KHR);
            }
            for (uint32_t f = 0; f < 3; f++) { /* each queue keeps what it was asked for with */
                const VkDeviceQueueGlobalPriorityCreateInfoKHR *own = cases[i].chains[f];
                assert_int_equal(p.queues[f].level, own == &low    ? BF_LEVEL_LOW
                                                    : own == &high ? BF_LEVEL_HIGH
                                                                   : BF_LEVEL_NORMAL);
            }
            bf_placement_finish(&p);
        }
    }
}

/* Computes, may have the priority, is asked nothing of: without graphics if there is one. */
TEST(test_spare_family)
{
    const VkQueueFamilyProperties real[] = {
        {.queueFlags = G | C | T, .queueCount = 4}, {.queueFlags = T, .queueCount = 2},
        {.queueFlags = G | C | T, .queueCount = 1}, {.queueFlags = C | T, .queueCount = 8},
        {.queueFlags = C | T, .queueCount = 1},     {.queueFlags = C, .queueCount = 0},
    };
    struct bf_family_map map;
    bf_family_map_init(real, 6, BF_QUEUES_NATIVE, 16, &map);
    static const struct {
        uint32_t asked, able, expected;
    } cases[] = {
        {0x01, 0x3f, 3}, {0x09, 0x3f, 4},          {0x19, 0x3f, 2},
        {0x00, 0x3f, 3}, {0x1d, 0x3f, UINT32_MAX}, {0x01, 0x36, 4},
        {0x01, 0x06, 2}, {0x01, 0x02, UINT32_MAX}, {0x01, 0x00, UINT32_MAX},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        VkDeviceQueueCreateInfo asked[6];
        uint32_t n = 0;
        for (uint32_t f = 0; f < 6; f++)
            if (cases[i].asked & 1u << f)
                asked[n++] = ask(f, 1, half, 0, NULL);
        struct bf_placement p;
        assert_int_equal(bf_placement_init(&map, n, asked, &p), VK_SUCCESS);
        assert_int_equal(bf_placement_spare_family(&p, real, 6, cases[i].able), cases[i].expected);
        bf_placement_finish(&p);
    }
}

TEST(test_reserved)
{
    const VkQueueFamilyProperties real[] = {{.queueFlags = G | C | T, .queueCount = 64},
                                            {.queueFlags = C | T, .queueCount = 8}};
    struct bf_family_map map;
    bf_family_map_init(real, 2, BF_QUEUES_NATIVE, 16, &map);
    struct bf_placement p;
    for (uint32_t none = 0; none < 2; none++) {
        const VkDeviceQueueCreateInfo asked = ask(0, 3, half, 0, NULL);
        assert_int_equal(bf_placement_init(&map, none ? 0 : 1, &asked, &p), VK_SUCCESS);
        uint32_t engines = none ? 0 : 3, requests = none ? 0 : 1;
        for (uint32_t again = 0; again < 2; again++) {
            bf_placement_reserve(&p, 1, VK_QUEUE_GLOBAL_PRIORITY_REALTIME_KHR,
                                 BF_COMMAND_QUEUE_PRIORITY_GLOBAL_REALTIME);
            assert_int_equal(p.request_count, requests + 1);
            assert_int_equal(p.engine_count, engines + 1);
            const VkDeviceQueueCreateInfo *r = &p.requests[requests];
            assert_int_equal(r->sType, VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO);
            assert_int_equal(r->queueFamilyIndex, 1);
            assert_int_equal(r->queueCount, 1);
            assert_int_equal(r->flags, 0);
            assert_true(r->pQueuePriorities[0] == 1.0f);
            const VkDeviceQueueGlobalPriorityCreateInfoKHR *priority = r->pNext;
            assert_int_equal(priority->sType,
                             VK_STRUCTURE_TYPE_DEVICE_QUEUE_GLOBAL_PRIORITY_CREATE_INFO_KHR);
            assert_null(priority->pNext);
            assert_int_equal(priority->globalPriority, VK_QUEUE_GLOBAL_PRIORITY_REALTIME_KHR);
            const struct bf_engine_info *e = &p.engines[engines];
            assert_int_equal(e->family, 1);
            assert_int_equal(e->index, 0);
            assert_int_equal(e->global_priority, VK_QUEUE_GLOBAL_PRIORITY_REALTIME_KHR);
            assert_true(e->reserved);
            for (uint32_t q = 0; q < p.queue_count; q++)
                assert_int_not_equal(p.queues[q].engine, engines);
            if (!none)
                assert_true(p.requests[0].pQueuePriorities[2] == 0.5f);
            bf_placement_drop_reserved(&p);
            bf_placement_drop_reserved(&p);
            assert_int_equal(p.request_count, requests);
            assert_int_equal(p.engine_count, engines);
        }
        bf_placement_finish(&p);
    }
    /* Engines are bits of 64: none is left. */
    const VkDeviceQueueCreateInfo all = ask(0, 64, half, 0, NULL);
    assert_int_equal(bf_placement_init(&map, 1, &all, &p), VK_SUCCESS);
    assert_int_equal(bf_placement_spare_family(&p, real, 2, 3), UINT32_MAX);
    bf_placement_finish(&p);
}

/* PL-1: one in a family, where one is left, of the program's priority; a second one where two are,
 * of 1.0, which is above that. */
TEST(test_spares)
{
    const VkDeviceQueueCreateFlags flag = VK_DEVICE_QUEUE_CREATE_PROTECTED_BIT;
    static const float full = 1.0f;
    static const VkBaseInStructure other = {.sType = (VkStructureType)1000417000};
    static const VkDeviceQueueGlobalPriorityCreateInfoKHR low = CHAIN(
                                                              VK_QUEUE_GLOBAL_PRIORITY_LOW_KHR),
                                                          high = CHAIN(
                                                              VK_QUEUE_GLOBAL_PRIORITY_HIGH_KHR);
    static const struct {
        uint32_t real[3];
        VkDeviceQueueCreateInfo asked[3];
        uint32_t spares, above; /* masks of real families */
    } cases[] = {
#define ASK(family_, count_, flags_, next_)                                                        \
    {.queueFamilyIndex = family_,                                                                  \
     .queueCount = count_,                                                                         \
     .flags = flags_,                                                                              \
     .pNext = next_,                                                                               \
     .pQueuePriorities = half}
        {{2, 0}, {ASK(0, 1, 0, NULL)}, 1, 0},
        {{3, 0}, {ASK(0, 1, 0, NULL)}, 1, 1},
        {{3, 0}, {{.queueCount = 1, .pQueuePriorities = &full}}, 1, 0},
        {{2, 0}, {ASK(0, 2, 0, NULL)}, 0, 0},
        {{2, 0}, {ASK(0, 1, 0, NULL), ASK(1, 1, 0, NULL)}, 0, 0}, /* one is appended to it */
        {{3, 0}, {ASK(0, 1, 0, NULL), ASK(1, 1, 0, NULL)}, 1, 0},
        {{4, 2, 2}, {ASK(0, 1, 0, NULL), ASK(2, 1, 0, NULL)}, 5, 1},
        {{4, 2, 2}, {ASK(0, 3, 0, NULL), ASK(1, 2, 0, NULL), ASK(2, 1, 0, NULL)}, 5, 0},
        {{3, 0}, {ASK(0, 1, 0, NULL), ASK(0, 1, flag, NULL)}, 1, 0},
        {{4, 0}, {ASK(0, 1, 0, NULL), ASK(0, 1, flag, NULL)}, 1, 1},
        {{2, 0}, {ASK(0, 1, 0, NULL), ASK(0, 1, flag, NULL)}, 0, 0},
        {{2, 0}, {ASK(0, 1, flag, NULL)}, 0, 0},
        {{2, 0}, {ASK(0, 1, 0, &low)}, 1, 0},
        {{2, 0}, {ASK(0, 1, 0, &high)}, 0, 0},
        {{2, 0}, {ASK(0, 1, 0, &other)}, 0, 0},
        {{3, 0}, {ASK(0, 1, 0, NULL), ASK(0, 1, flag, &other)}, 0, 0},
#undef ASK
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct bf_family_map map;
        struct bf_placement p;
        map_init((uint32_t[]){cases[i].real[0], cases[i].real[1], cases[i].real[2], 0}, &map);
        uint32_t n = 0;
        while (n < 3 && cases[i].asked[n].pQueuePriorities)
            n++;
        assert_int_equal(bf_placement_init(&map, n, cases[i].asked, &p), VK_SUCCESS);
        uint32_t engines = p.engine_count, counts[3], spares = 0, above = 0;
        for (uint32_t r = 0; r < p.request_count; r++)
            counts[r] = p.requests[r].queueCount;
        bf_placement_add_spares(&map, &p);
        bf_placement_reserve(&p, 2, VK_QUEUE_GLOBAL_PRIORITY_REALTIME_KHR,
                             BF_COMMAND_QUEUE_PRIORITY_GLOBAL_REALTIME);
        for (uint32_t e = engines; p.engines[e].spare; e++) {
            bool second = p.engines[e].least == BF_COMMAND_QUEUE_PRIORITY_HIGH;
            *(second ? &above : &spares) |= 1u << p.engines[e].family;
            for (uint32_t r = 0; r < p.request_count - 1; r++)
                if (p.requests[r].queueFamilyIndex == p.engines[e].family && !p.requests[r].flags) {
                    uint32_t index = counts[r] + second;
                    float priority = second ? 1.0f : *cases[i].asked[0].pQueuePriorities;
                    assert_int_equal(p.engines[e].index, index);
                    assert_true(p.requests[r].queueCount > index);
                    assert_true(p.requests[r].pQueuePriorities[index] == priority);
                    assert_true(p.engines[e].queue_priority == priority);
                }
        }
        if (spares != cases[i].spares || above != cases[i].above)
            fail_msg("case %zu: families %#x, %#x", i, spares, above);
        for (uint32_t q = 0; q < p.queue_count; q++)
            assert_true(p.queues[q].engine < engines);
        bf_placement_drop_spares(&p);
        assert_int_equal(p.engine_count, engines + 1);
        assert_true(p.engines[engines].reserved);
        for (uint32_t r = 0; r < p.request_count - 1; r++)
            assert_int_equal(p.requests[r].queueCount, counts[r]);
        bf_placement_finish(&p);
    }
}

/* PL-4. Priorities are tenths; engines in the order of the queues. */
TEST(test_levels)
{
    static const struct {
        uint32_t real;
        const char *priorities, *engines;
    } cases[] = {
        {1, "951", "000"},     {2, "955", "011"},     {2, "595", "010"},
        {3, "9555", "0121"},   {2, "97531", "01111"}, {2, "5555", "0101"},
        {4, "99991", "01203"}, {3, "591", "012"},     {3, "1919", "0102"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct bf_family_map map;
        struct bf_placement p;
        float priorities[8];
        uint32_t n = (uint32_t)strlen(cases[i].priorities);
        for (uint32_t q = 0; q < n; q++)
            priorities[q] = (float)(cases[i].priorities[q] - '0') / 10;
        map_init((uint32_t[]){cases[i].real, 0}, &map);
        const VkDeviceQueueCreateInfo asked = ask(0, n, priorities, 0, NULL);
        assert_int_equal(bf_placement_init(&map, 1, &asked, &p), VK_SUCCESS);
        for (uint32_t q = 0; q < n; q++) {
            uint32_t engine = p.queues[q].engine;
            if (engine != (uint32_t)(cases[i].engines[q] - '0'))
                fail_msg("%s on %u: queue %u is on %u", cases[i].priorities, cases[i].real, q,
                         engine);
            assert_true(p.requests[0].pQueuePriorities[engine] >= priorities[q]);
            assert_true(p.engines[engine].queue_priority == p.requests[0].pQueuePriorities[engine]);
        }
        bf_placement_finish(&p);
    }
}

TEST(test_none)
{
    struct bf_family_map map;
    map_init((uint32_t[]){1, 0}, &map);
    struct bf_placement p;
    assert_int_equal(bf_placement_init(&map, 0, NULL, &p), VK_SUCCESS);
    assert_int_equal(p.request_count, 0);
    assert_int_equal(p.engine_count, 0);
    assert_int_equal(p.queue_count, 0);
    bf_placement_finish(&p);
    bf_placement_finish(&p);
}

TEST(test_never_shown)
{
    struct bf_family_map map;
    map_init((uint32_t[]){1, 0}, &map);
    bf_message_set_level(BF_MESSAGE_NONE);
    struct bf_placement p;
    VkDeviceQueueCreateInfo asked = ask(3, 1, half, 0, NULL);
    assert_int_equal(bf_placement_init(&map, 1, &asked, &p), VK_ERROR_INITIALIZATION_FAILED);
    asked = ask(0, 17, half, 0, NULL);
    assert_int_equal(bf_placement_init(&map, 1, &asked, &p), VK_ERROR_INITIALIZATION_FAILED);
    asked = ask(VK_QUEUE_FAMILY_IGNORED, 1, half, 0, NULL);
    assert_int_equal(bf_placement_init(&map, 1, &asked, &p), VK_ERROR_INITIALIZATION_FAILED);
}

/* Engines are bits of 64, however many queues a GPU has. */
TEST(test_engine_limit)
{
    struct bf_family_map map;
    map_init((uint32_t[]){64, 64, 64, 0}, &map);
    struct bf_placement p;
    const VkDeviceQueueCreateInfo asked[] = {ask(0, 64, half, 0, NULL), ask(1, 64, half, 0, NULL),
                                             ask(2, 64, half, 0, NULL)};
    assert_int_equal(bf_placement_init(&map, 3, asked, &p), VK_SUCCESS);
    assert_int_equal(p.engine_count, 64);
    assert_int_equal(p.queue_count, 192);
    uint32_t opened = 0, users[64] = {0};
    for (uint32_t i = 0; i < 3; i++) {
        assert_in_range(p.requests[i].queueCount, 21, 22);
        opened += p.requests[i].queueCount;
    }
    assert_int_equal(opened, 64);
    for (uint32_t i = 0; i < 192; i++) {
        assert_int_equal(p.engines[p.queues[i].engine].family, p.queues[i].family);
        users[p.queues[i].engine]++;
    }
    for (uint32_t i = 0; i < 64; i++)
        assert_in_range(users[i], 2, 4);
    bf_placement_finish(&p);
}
