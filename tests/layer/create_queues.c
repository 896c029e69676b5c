/* SPDX-License-Identifier: MIT */
/* The VkQueues for which the layer asks the driver when a program calls vkCreateDevice: the
 * program's own, one of realtime priority, spares, and who synchronizes them. */
#include "program.h"
#include "support/queue_flags.h"

static const uint32_t one[] = {1, UINT32_MAX};

/* Queues ------------------------------------------------------------------------------------ */

static VkQueue queue_by_flags(VkDeviceQueueCreateFlags flags, uint32_t family, uint32_t index)
{
    const VkDeviceQueueInfo2 query = {VK_TYPE(DEVICE_QUEUE_INFO_2), .flags = flags,
                                      .queueFamilyIndex = family, .queueIndex = index};
    VkQueue queue = (VkQueue)&queue;
    FAKE_CALL(vkGetDeviceQueue2, fake.device, &query, &queue);
    return queue;
}

TEST(test_merged_requests)
{
    fake_start(
        &(struct fake_driver){.family_count = 2,
                              .families = {{G | C | T | VK_QUEUE_PROTECTED_BIT, 4, 64, {1, 1, 1}},
                                           {C | T, 2, 64, {1, 1, 1}}}});
    /* The copy family is appended, on top of the compute family. */
    static const float low[] = {0.25f, 0.5f}, high[] = {1.0f};
    const VkDeviceQueueGlobalPriorityCreateInfoKHR global = {
        VK_TYPE(DEVICE_QUEUE_GLOBAL_PRIORITY_CREATE_INFO_KHR),
        .globalPriority = VK_QUEUE_GLOBAL_PRIORITY_HIGH_KHR};
    const VkDeviceQueueCreateInfo asked[] = {
        {VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO, NULL, 0, 0, 2, low},
        {VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO, NULL, VK_DEVICE_QUEUE_CREATE_PROTECTED_BIT, 0,
         1, high},
        {VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO, &global, 0, 1, 2, low},
        {VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO, NULL, 0, 2, 1, high},
    };
    const VkDeviceCreateInfo info = {VK_TYPE(DEVICE_CREATE_INFO), .queueCreateInfoCount = 4,
                                     .pQueueCreateInfos = asked};
    assert_success(fake_device(&info));
    const struct fake_request *r = &fake.requests[0];
    assert_int_equal(r->queue_count, 3);
    /* Three of family 1 were asked for: the GPU has two. */
    static const uint32_t passed[][3] = {
        {0, 0, 2}, {0, VK_DEVICE_QUEUE_CREATE_PROTECTED_BIT, 1}, {1, 0, 2}};
    for (uint32_t i = 0; i < 3; i++) {
        assert_int_equal(r->queues[i].family, passed[i][0]);
        assert_int_equal(r->queues[i].flags, passed[i][1]);
        assert_int_equal(r->queues[i].count, passed[i][2]);
    }
    assert_true(r->queues[0].priorities[0] == 0.25f && r->queues[0].priorities[1] == 0.5f);
    assert_ptr_equal(r->queues[2].next, &global);
    assert_true(r->queues[2].priorities[0] == 0.5f && r->queues[2].priorities[1] == 1.0f);

    /* By flags: the older command knows queues without flags alone. */
    VkQueue plain = VK_NULL_HANDLE, again = VK_NULL_HANDLE;
    FAKE_CALL(vkGetDeviceQueue, fake.device, 0, 0, &plain);
    VkQueue flagged = queue_by_flags(VK_DEVICE_QUEUE_CREATE_PROTECTED_BIT, 0, 0);
    assert_non_null(plain);
    assert_non_null(flagged);
    assert_ptr_not_equal(plain, flagged);
    assert_ptr_equal(queue_by_flags(0, 0, 0), plain);
    assert_null(queue_by_flags(VK_DEVICE_QUEUE_CREATE_PROTECTED_BIT, 0, 1));
    assert_null(queue_by_flags(VK_DEVICE_QUEUE_CREATE_PROTECTED_BIT, 1, 0));
    /* The same object for the same index, and one of its own for each. */
    VkQueue all[5];
    static const uint32_t indices[][2] = {{0, 0}, {0, 1}, {1, 0}, {1, 1}, {2, 0}};
    for (uint32_t i = 0; i < 5; i++) {
        FAKE_CALL(vkGetDeviceQueue, fake.device, indices[i][0], indices[i][1], &all[i]);
        FAKE_CALL(vkGetDeviceQueue, fake.device, indices[i][0], indices[i][1], &again);
        assert_ptr_equal(all[i], again);
        for (uint32_t k = 0; k < i; k++)
            assert_ptr_not_equal(all[i], all[k]);
        /* A layer above that asks us directly finds the dispatch pointer in place. */
        assert_ptr_equal(*(void **)all[i], *(void **)fake.device);
    }
    fake_close();
}

/* Realtime ---------------------------------------------------------------------------------- */

#define KHR_PRIORITY VK_KHR_GLOBAL_PRIORITY_EXTENSION_NAME
#define EXT_PRIORITY VK_EXT_GLOBAL_PRIORITY_EXTENSION_NAME
#define EXT_QUERY    VK_EXT_GLOBAL_PRIORITY_QUERY_EXTENSION_NAME

/* Graphics, copies, compute, and compute again. */
static const struct fake_driver machine = {
    .family_count = 4,
    .families = {{G | C | T, 4, 64, {1, 1, 1}},
                 {T, 2, 64, {1, 1, 1}},
                 {C | T, 2, 64, {1, 1, 1}},
                 {C | T, 1, 64, {1, 1, 1}}},
};

/* What the driver says of its families' global priorities: REALTIME for those in the mask. */
static uint32_t realtime_mask;

static void VKAPI_CALL families_with_priorities(VkPhysicalDevice physical, uint32_t *count,
                                                VkQueueFamilyProperties2 *properties)
{
    if (!properties) {
        *count = fake.driver.family_count;
        return;
    }
    for (uint32_t i = 0; i < *count && i < fake.driver.family_count; i++) {
        properties[i].queueFamilyProperties = fake.driver.families[i];
        for (VkBaseOutStructure *s = properties[i].pNext; s; s = s->pNext) {
            VkQueueFamilyGlobalPriorityPropertiesKHR *p = (void *)s;
            if (s->sType != VK_STRUCTURE_TYPE_QUEUE_FAMILY_GLOBAL_PRIORITY_PROPERTIES_KHR)
                continue;
            p->priorityCount = realtime_mask & 1u << i ? 2 : 1;
            p->priorities[0] = VK_QUEUE_GLOBAL_PRIORITY_MEDIUM_KHR;
            p->priorities[1] = VK_QUEUE_GLOBAL_PRIORITY_REALTIME_KHR;
        }
    }
}

static void open_realtime(const struct fake_driver *driver, const char *const *extensions,
                          uint32_t mask, uint32_t version, const char *setting)
{
    struct fake_driver with = *driver;
    with.extensions = extensions;
    realtime_mask = mask;
    fake_load(&with);
    FAKE_OVERRIDE(vkGetPhysicalDeviceQueueFamilyProperties2, families_with_priorities);
    FAKE_OVERRIDE(vkGetPhysicalDeviceQueueFamilyProperties2KHR, families_with_priorities);
    setenv("VK_BELFRY_MULTI_ENGINE_REALTIME", setting, 1);
    assert_success(fake_instance(version, 0, NULL));
    unsetenv("VK_BELFRY_MULTI_ENGINE_REALTIME");
}

/* The family of the request for a VkQueue of realtime priority; UINT32_MAX: there is none. */
static uint32_t realtime_family(const struct fake_request *r)
{
    uint32_t family = UINT32_MAX;
    for (uint32_t i = 0; i < r->queue_count; i++) {
        if (r->queues[i].global_priority != VK_QUEUE_GLOBAL_PRIORITY_REALTIME_KHR)
            continue;
        assert_int_equal(family, UINT32_MAX);
        assert_int_equal(r->queues[i].count, 1);
        assert_true(r->queues[i].priorities[0] == 1.0f);
        family = r->queues[i].family;
        for (uint32_t k = 0; k < r->queue_count; k++)
            assert_true(k == i || r->queues[k].family != family);
    }
    return family;
}

static const char *const none[] = {NULL};
static const char *const khr_priority[] = {KHR_PRIORITY, EXT_PRIORITY, NULL};
static const char *const ext_priority[] = {EXT_PRIORITY, NULL};
static const char *const ext_query[] = {EXT_PRIORITY, EXT_QUERY, NULL};

/* One VkQueue more, where the driver can and the program leaves room; a line where not. */
TEST(test_realtime)
{
    static const struct {
        const char *setting, *const *extensions;
        uint32_t counts[5], mask, family;
    } cases[] = {
        {"on", khr_priority, {1, UINT32_MAX}, 0xf, 2},
        {"on", khr_priority, {4, 0, 1, UINT32_MAX}, 0xf, 3},
        {"on", khr_priority, {0, 1, 1, 1, UINT32_MAX}, 0xf, 0},
        {"on", khr_priority, {1, 0, 1, 1, UINT32_MAX}, 0xf, UINT32_MAX},
        {"on", khr_priority, {1, UINT32_MAX}, 0x8, 3},
        {"on", khr_priority, {1, UINT32_MAX}, 0x3, UINT32_MAX},
        {"on", khr_priority, {1, UINT32_MAX}, 0x0, UINT32_MAX},
        {"on", ext_query, {1, UINT32_MAX}, 0x8, 3},
        {"on", ext_priority, {1, UINT32_MAX}, 0x0, 2}, /* it can't be asked: it may be tried */
        {"on", none, {1, UINT32_MAX}, 0xf, UINT32_MAX},
        {"off", khr_priority, {1, UINT32_MAX}, 0xf, UINT32_MAX},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        open_realtime(&machine, cases[i].extensions, cases[i].mask, VK_API_VERSION_1_3,
                      cases[i].setting);
        struct program p = program_of(cases[i].counts);
        char line[512];
        lines_begin();
        assert_success(program_create(&p));
        bool on = strcmp(cases[i].setting, "on") == 0, got = cases[i].family != UINT32_MAX;
        assert_int_equal(lines_end(line, sizeof(line)), on && !got);
        if (on && !got)
            assert_non_null(strstr(line, "realtime"));
        assert_int_equal(fake.device_tries, 1);
        const struct fake_request *r = &fake.requests[0];
        assert_int_equal(r->queue_count, p.info.queueCreateInfoCount + got);
        assert_int_equal(realtime_family(r), cases[i].family);
        /* The program's own requests come first, without a priority. */
        for (uint32_t q = 0; q < p.info.queueCreateInfoCount; q++)
            assert_null(r->queues[q].next);
        bool khr = cases[i].extensions == khr_priority;
        assert_int_equal(request_has_extension(r, KHR_PRIORITY), got && khr);
        assert_int_equal(request_has_extension(r, EXT_PRIORITY), got && !khr);
        /* The program's queues are what they would be without. */
        VkQueue queue = VK_NULL_HANDLE;
        FAKE_CALL(vkGetDeviceQueue, fake.device, p.info.pQueueCreateInfos[0].queueFamilyIndex, 0,
                  &queue);
        assert_non_null(queue);
        if (got) {
            FAKE_CALL(vkGetDeviceQueue, fake.device, cases[i].family, 0, &queue);
            assert_null(queue);
        }
        program_close(&p);
    }
    /* Older programs on older drivers have it by the same road; 1.4 needs no extension. */
    static const uint32_t versions[] = {VK_API_VERSION_1_0, VK_API_VERSION_1_1, VK_API_VERSION_1_3,
                                        VK_MAKE_API_VERSION(0, 1, 4, 0)};
    for (uint32_t v = 0; v < 4; v++) {
        static const char *const with[] = {TIMELINE, SYNC2, EXT_PRIORITY, EXT_QUERY, NULL};
        struct fake_driver old = machine;
        old.api_version = versions[v];
        open_realtime(&old, v < 3 ? with : none, 0x8, versions[v], "on");
        struct program p = program_of(one);
        assert_success(program_create(&p));
        assert_int_equal(realtime_family(&fake.requests[0]), 3);
        assert_int_equal(request_has_extension(&fake.requests[0], EXT_PRIORITY), v < 3);
        program_close(&p);
    }
}

/* A program that names the extension itself has it once, and keeps its own priorities. */
TEST(test_realtime_beside_the_programs_own)
{
    static const char *const both_names[] = {KHR_PRIORITY, EXT_PRIORITY, NULL};
    for (uint32_t n = 0; n < 2; n++) {
        open_realtime(&machine, both_names, 0xf, VK_API_VERSION_1_3, "on");
        struct program p = program_of(one);
        program_extensions(&p, (const char *const[]){both_names[n], NULL});
        const VkDeviceQueueGlobalPriorityCreateInfoKHR own = {
            VK_TYPE(DEVICE_QUEUE_GLOBAL_PRIORITY_CREATE_INFO_KHR),
            .globalPriority = VK_QUEUE_GLOBAL_PRIORITY_HIGH_KHR};
        VkDeviceQueueCreateInfo *request = (void *)p.info.pQueueCreateInfos;
        request->pNext = program_put(&p, &own, sizeof(own));
        assert_success(program_create(&p));
        const struct fake_request *r = &fake.requests[0];
        assert_int_equal(request_has_extension(r, both_names[n]), 1);
        assert_int_equal(request_has_extension(r, both_names[!n]), 0);
        assert_ptr_equal(r->queues[0].next, request->pNext);
        assert_int_equal(realtime_family(r), 2);
        program_close(&p);
    }
}

/* Refused: made without, with one line; what else stands in the way is the program's to hear. */
TEST(test_realtime_refused)
{
    static const VkResult refusals[] = {VK_ERROR_NOT_PERMITTED_KHR, VK_ERROR_INITIALIZATION_FAILED};
    char line[512];
    for (size_t i = 0; i < 2; i++) {
        for (uint32_t twice = 0; twice < 2; twice++) {
            struct fake_driver driver = machine;
            driver.create_results[0] = refusals[i];
            driver.create_results[1] = twice ? refusals[i] : VK_SUCCESS;
            open_realtime(&driver, khr_priority, 0xf, VK_API_VERSION_1_3, "on");
            struct program p = program_of(one);
            lines_begin();
            assert_int_equal(program_create(&p), twice ? refusals[i] : VK_SUCCESS);
            assert_int_equal(lines_end(line, sizeof(line)), !twice);
            if (!twice)
                assert_non_null(strstr(line, "realtime"));
            assert_int_equal(fake.device_tries, 2);
            assert_int_equal(realtime_family(&fake.requests[0]), 2);
            assert_int_equal(request_has_extension(&fake.requests[0], KHR_PRIORITY), 1);
            const struct fake_request *r = &fake.requests[1];
            assert_int_equal(r->queue_count, 1);
            assert_int_equal(realtime_family(r), UINT32_MAX);
            assert_int_equal(request_has_extension(r, KHR_PRIORITY), 0);
            assert_int_equal(r->timeline, 1);
            assert_int_equal(r->sync2, 1);
            if (!twice)
                assert_true(is_scheduled());
            program_close(&p);
        }
    }
    /* Whatever else goes away without it, too. */
    struct fake_driver driver = machine;
    driver.create_results[0] = VK_ERROR_OUT_OF_DEVICE_MEMORY;
    open_realtime(&driver, khr_priority, 0xf, VK_API_VERSION_1_3, "on");
    struct program p = program_of(one);
    lines_begin();
    assert_success(program_create(&p));
    assert_int_equal(lines_end(NULL, 0), 1);
    assert_int_equal(fake.device_tries, 2);
    program_close(&p);
}

/* PL-5: nor does a device fail where the driver has made such a VkQueue and has no handle for it. A
 * line says so, and the other one stays. */
static uint32_t mute; /* the family whose queues have no handle */

static void VKAPI_CALL no_queue_of_family(VkDevice device, uint32_t family, uint32_t index,
                                          VkQueue *queue)
{
    *queue = family == mute ? VK_NULL_HANDLE : fake_queue(family, 0, index);
}

TEST(test_reserved_without_handle)
{
    static const struct {
        bool high;
        uint32_t mute;
        const char *lost, *left;
    } cases[] = {
        {false, 1, NULL, ", 1 of raised global priority"},
        {false, 2, "realtime: ", NULL},
        {true, 1, NULL, ", 2 of raised global priority"},
        {true, 2, "realtime: ", ", 1 of raised global priority"},
        {true, 3, "high_priority: ", ", 1 of raised global priority"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        mute = cases[i].mute;
        for (uint32_t told = 0; told < 2; told++) {
            setenv("VK_BELFRY_MULTI_ENGINE_MESSAGES", told ? "info" : "warning", 1);
            setenv("VK_BELFRY_MULTI_ENGINE_HIGH_PRIORITY", cases[i].high ? "on" : "off", 1);
            /* It can't be asked for whom it has them: both are tried. */
            open_realtime(&machine, ext_priority, 0, VK_API_VERSION_1_3, "on");
            unsetenv("VK_BELFRY_MULTI_ENGINE_HIGH_PRIORITY");
            unsetenv("VK_BELFRY_MULTI_ENGINE_MESSAGES");
            FAKE_OVERRIDE(vkGetDeviceQueue, no_queue_of_family);
            struct program p = program_of(one);
            char line[512];
            lines_begin();
            assert_success(program_create(&p));
            if (told) {
                const char *left = cases[i].left;
                assert_int_equal(lines_end_with(left ? left : "of raised", NULL, 0), left != NULL);
            } else {
                assert_int_equal(lines_end(line, sizeof(line)), cases[i].lost != NULL);
                if (cases[i].lost)
                    assert_non_null(strstr(line, cases[i].lost));
            }
            assert_int_equal(fake.device_tries, 1);
            assert_int_equal(fake.requests[0].queue_count, cases[i].high ? 3 : 2);
            assert_true(is_scheduled());
            program_close(&p);
        }
    }
}

/* Spares --------------------------------------------------------------------------------------- */

/* VkQueues of the family that the driver is asked for. */
static uint32_t opened(const struct fake_request *r, uint32_t family)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < r->queue_count; i++)
        count += r->queues[i].family == family ? r->queues[i].count : 0;
    return count;
}

static void VKAPI_CALL no_second_queue(VkDevice device, uint32_t family, uint32_t index,
                                       VkQueue *queue)
{
    *queue = index ? VK_NULL_HANDLE : fake_queue(family, 0, 0);
}

/* PL-2: VkQueues more in each family that has some left, never shown; without them, if the driver
 * refuses them or has no handle for one. 'refused' is what it says, try by try, and 'spared' in
 * which tries there are spares. */
TEST(test_spares)
{
    static const char refuses[] = "the driver refuses";
    static const struct {
        VkResult refused[3];
        uint32_t tries, spared;
        bool realtime, no_handle;
        VkResult result;
        const char *says;
    } cases[] = {
        {{0}, .tries = 1, .spared = 1},
        {{0}, .tries = 1, .spared = 1, .no_handle = true, .says = "no queue 1 of family 0"},
        {{VK_ERROR_INITIALIZATION_FAILED}, .tries = 2, .spared = 1, .says = refuses},
        {{VK_ERROR_TOO_MANY_OBJECTS}, .tries = 2, .spared = 1, .says = refuses},
        {{VK_ERROR_FEATURE_NOT_PRESENT}, .tries = 2, .spared = 1, .says = refuses},
        {{VK_ERROR_TOO_MANY_OBJECTS, VK_ERROR_OUT_OF_DEVICE_MEMORY},
         .tries = 2,
         .spared = 1,
         .result = VK_ERROR_OUT_OF_DEVICE_MEMORY},
        {{VK_ERROR_NOT_PERMITTED_KHR}, .tries = 2, .spared = 3, .realtime = true},
        {{VK_ERROR_INITIALIZATION_FAILED, VK_ERROR_NOT_PERMITTED_KHR},
         .tries = 3,
         .spared = 3,
         .realtime = true,
         .says = refuses},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct fake_driver driver = machine;
        memcpy(driver.create_results, cases[i].refused, sizeof(cases[i].refused));
        setenv("VK_BELFRY_MULTI_ENGINE_SPARE_QUEUES", "on", 1);
        setenv("VK_BELFRY_MULTI_ENGINE_MESSAGES", "info", 1);
        open_realtime(&driver, khr_priority, 0x8, VK_API_VERSION_1_3,
                      cases[i].realtime ? "on" : "off");
        setenv("VK_BELFRY_MULTI_ENGINE_SPARE_QUEUES", "off", 1);
        unsetenv("VK_BELFRY_MULTI_ENGINE_MESSAGES");
        if (cases[i].no_handle)
            FAKE_OVERRIDE(vkGetDeviceQueue, no_second_queue);
        /* The second family has nothing left, the third was asked nothing of. */
        struct program p = program_of((const uint32_t[]){1, 2, UINT32_MAX});
        if (cases[i].no_handle)
            ((VkDeviceQueueCreateInfo *)(uintptr_t)p.info.pQueueCreateInfos)[1].queueCount = 1;
        lines_begin();
        assert_int_equal(program_create(&p), cases[i].result);
        const char *says = cases[i].says ? cases[i].says : refuses;
        assert_int_equal(lines_end_with(says, NULL, 0), cases[i].says != NULL);
        assert_int_equal(fake.device_tries, cases[i].tries);
        for (uint32_t t = 0; t < cases[i].tries; t++) {
            bool spared = cases[i].spared >> t & 1;
            const struct fake_request *r = &fake.requests[t];
            assert_int_equal(opened(r, 0), spared ? 3 : 1);
            assert_int_equal(opened(r, 1), 2);
            assert_int_equal(opened(r, 2), 0);
            assert_true(!spared || (r->queues[0].priorities[1] == r->queues[0].priorities[0] &&
                                    r->queues[0].priorities[2] == 1.0f));
        }
        VkQueue queue = (VkQueue)&queue;
        if (!cases[i].result) {
            assert_true(is_scheduled());
            FAKE_CALL(vkGetDeviceQueue, fake.device, 0, 1, &queue);
            assert_null(queue);
        }
        program_close(&p);
    }
}

/* VkQueues that may be shared are the driver's to synchronize, where it can; a program has
 * them as it asked for them. 'flags' are what is asked of the driver, try by try. */
TEST(test_internally_synchronized_queues)
{
    static const char *const name[] = {"VK_KHR_internally_synchronized_queues", NULL};
    static const struct {
        const char *spares;
        bool none, serialized;          /* the driver hasn't the feature; serialize_submits */
        int own;                        /* the program's own struct: 1 off, 2 on */
        VkDeviceQueueCreateFlags asked; /* by the program, of its second family */
        VkResult refused;
        uint32_t tries;
        VkDeviceQueueCreateFlags flags[2];
    } cases[] = {
        {"off", .tries = 1, .flags = {4}},
        {"on", .tries = 1},
        {"off", .none = true, .tries = 1},
        {"off", .serialized = true, .tries = 1},
        {"off", .own = 1, .tries = 1},
        {"off", .own = 2, .tries = 1, .flags = {4}},
        {"off", .own = 2, .asked = 4, .tries = 1, .flags = {4}},
        {"on", .own = 2, .asked = 4, .tries = 1},
        {"off", .refused = VK_ERROR_FEATURE_NOT_PRESENT, .tries = 2, .flags = {4}},
        {"off", .own = 2, .asked = 4, .refused = VK_ERROR_TOO_MANY_OBJECTS, .tries = 2,
         .flags = {4}},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct fake_driver driver = machine;
        driver.extensions = name;
        driver.internal_queues = !cases[i].none;
        driver.create_results[0] = cases[i].refused;
        setenv("VK_BELFRY_MULTI_ENGINE_SPARE_QUEUES", cases[i].spares, 1);
        setenv("VK_BELFRY_MULTI_ENGINE_SERIALIZE_SUBMITS", cases[i].serialized ? "on" : "off", 1);
        fake_start(&driver);
        setenv("VK_BELFRY_MULTI_ENGINE_SPARE_QUEUES", "off", 1);
        unsetenv("VK_BELFRY_MULTI_ENGINE_SERIALIZE_SUBMITS");
        struct program p = program_of((const uint32_t[]){1, 1, UINT32_MAX});
        ((VkDeviceQueueCreateInfo *)(uintptr_t)p.info.pQueueCreateInfos)[1].flags = cases[i].asked;
        const struct {
            VkBaseOutStructure head;
            VkBool32 on;
        } own = {{(VkStructureType)1000504000, NULL}, cases[i].own == 2};
        if (cases[i].own) {
            program_chain(&p, &own, sizeof(own));
            program_extensions(&p, name);
        }
        assert_success(program_create(&p));
        assert_true(is_scheduled());
        assert_int_equal(fake.device_tries, cases[i].tries);
        for (uint32_t t = 0; t < cases[i].tries; t++) {
            const struct fake_request *r = &fake.requests[t];
            bool added = cases[i].flags[t] && !cases[i].own;
            assert_int_equal(r->queues[0].flags, cases[i].flags[t]);
            assert_int_equal(r->queues[1].flags, cases[i].asked | cases[i].flags[t]);
            assert_int_equal(request_has_struct(r, own.head.sType), added || cases[i].own);
            assert_int_equal(request_has_extension(r, name[0]), added || cases[i].own);
        }
        /* By the program's own flags. */
        for (uint32_t family = 0; family < 2; family++)
            for (VkDeviceQueueCreateFlags flags = 0; flags <= 4; flags += 4)
                assert_int_equal(queue_by_flags(flags, family, 0) != VK_NULL_HANDLE,
                                 flags == (family ? cases[i].asked : 0));
        program_close(&p);
    }
}

/* PL-6: all that the shown families allow, of a GPU with one VkQueue; a queue is found by the flags
 * that the program gave, and by no others. */
TEST(test_kinds_on_one_vkqueue)
{
    static const char *const name[] = {"VK_KHR_internally_synchronized_queues", NULL};
    static const VkDeviceQueueCreateFlags plain = 0, guarded = VK_DEVICE_QUEUE_CREATE_PROTECTED_BIT,
                                          synchronized = 4;
    const struct {
        VkDeviceQueueCreateFlags asked[3], below;
    } cases[] = {
        {{plain, guarded, plain}, guarded},
        {{guarded, plain, plain}, guarded},
        {{plain, synchronized, plain}, synchronized},
        {{synchronized, plain, plain}, synchronized},
        {{plain, guarded, synchronized}, guarded | synchronized},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        fake_start(&(struct fake_driver){
            .family_count = 1,
            .families = {{G | C | T | VK_QUEUE_PROTECTED_BIT, 1, 64, {1, 1, 1}}},
            .internal_queues = true,
            .extensions = name});
        struct program p = program_of((const uint32_t[]){1, 1, 1, UINT32_MAX});
        VkDeviceQueueCreateInfo *queues = (void *)(uintptr_t)p.info.pQueueCreateInfos;
        const struct {
            VkBaseOutStructure head;
            VkBool32 on;
        } own = {{(VkStructureType)1000504000, NULL}, VK_TRUE};
        program_chain(&p, &own, sizeof(own));
        program_extensions(&p, name);
        for (uint32_t f = 0; f < 3; f++)
            queues[f].flags = cases[i].asked[f];
        assert_success(program_create(&p));
        const struct fake_request *r = &fake.requests[0];
        assert_int_equal(r->queue_count, 1);
        assert_int_equal(r->queues[0].count, 1);
        assert_int_equal(r->queues[0].flags, cases[i].below);
        for (uint32_t f = 0; f < 3; f++)
            for (VkDeviceQueueCreateFlags flags = 0; flags <= 5; flags++)
                assert_int_equal(queue_by_flags(flags, f, 0) != VK_NULL_HANDLE,
                                 flags == cases[i].asked[f]);
        program_close(&p);
    }
}

TEST(test_no_queues)
{
    fake_start(NULL);
    const VkDeviceCreateInfo info = {VK_TYPE(DEVICE_CREATE_INFO)};
    assert_success(fake_device(&info));
    assert_int_equal(fake.requests[0].queue_count, 0);
    VkQueue queue = (VkQueue)&queue;
    FAKE_CALL(vkGetDeviceQueue, fake.device, 0, 0, &queue);
    assert_null(queue);
    assert_success(FAKE_CALL(vkDeviceWaitIdle, fake.device));
    fake_close();
}

TEST(test_never_shown)
{
    static const uint32_t requests[][5] = {{17, UINT32_MAX}, {0, 0, 0, 1, UINT32_MAX}};
    for (size_t i = 0; i < 2; i++) {
        fake_start(NULL);
        struct program p = program_of(requests[i]);
        lines_begin();
        assert_int_equal(program_create(&p), VK_ERROR_INITIALIZATION_FAILED);
        assert_int_equal(lines_end(NULL, 0), 1);
        assert_int_equal(fake.device_tries, 0);
        program_close(&p);
    }
}

static void VKAPI_CALL no_queue(VkDevice device, uint32_t family, uint32_t index, VkQueue *queue)
{
    *queue = VK_NULL_HANDLE;
}

/* A driver without the queue that it was asked for: an error, and the device below is gone. */
TEST(test_null_queue)
{
    fake_load(NULL);
    FAKE_OVERRIDE(vkGetDeviceQueue, no_queue);
    assert_success(fake_instance(VK_API_VERSION_1_3, 0, NULL));
    struct program p = program_of(one);
    lines_begin();
    assert_int_equal(program_create(&p), VK_ERROR_INITIALIZATION_FAILED);
    assert_int_equal(lines_end(NULL, 0), 1);
    assert_int_equal(fake.device_tries, 1);
    assert_int_equal(fake.devices_destroyed, 1);
    program_close(&p);
}

int main(void)
{
    /* What they ask for has a test of its own, and so have spares. */
    setenv("VK_BELFRY_MULTI_ENGINE_SPARE_QUEUES", "off", 1);
    setenv("VK_BELFRY_MULTI_ENGINE_NATIVE_FENCES", "off", 1);
    setenv("VK_BELFRY_MULTI_ENGINE_LOG", "off", 1);
    return test_run(NULL);
}
