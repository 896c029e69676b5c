/* SPDX-License-Identifier: MIT */
/* What the layer makes of a program's vkCreateDevice: extensions, features and queues, for programs
 * and devices of every version, always in copies. */
#include "fake.h"

#include <sys/mman.h>

#define TIMELINE VK_KHR_TIMELINE_SEMAPHORE_EXTENSION_NAME
#define SYNC2    VK_KHR_SYNCHRONIZATION_2_EXTENSION_NAME
#define RESET    VK_EXT_HOST_QUERY_RESET_EXTENSION_NAME
#define STAMPS   VK_EXT_CALIBRATED_TIMESTAMPS_EXTENSION_NAME

static const char *const both[] = {TIMELINE, SYNC2, RESET, STAMPS, "VK_KHR_swapchain", NULL};

/* Memory that is read-only while the layer works on it: whoever writes dies. */
struct page {
    char *memory;
    size_t used;
};

static struct page page_new(void)
{
    struct page page = {
        mmap(NULL, 65536, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), 0};
    assert_ptr_not_equal(page.memory, MAP_FAILED);
    return page;
}

static void *page_put(struct page *page, const void *data, size_t size)
{
    void *at = page->memory + page->used;
    memcpy(at, data, size);
    page->used += (size + 15) & ~(size_t)15;
    return at;
}

/* A program's request in read-only memory. Chained structs are put in by the caller, last first. */
struct program {
    struct page page;
    VkDeviceCreateInfo info;
};

static const float priorities[FAKE_QUEUES] = {0.5f};

static struct program program_of(const uint32_t *counts)
{
    struct program p = {page_new(), {VK_TYPE(DEVICE_CREATE_INFO)}};
    const float *own = page_put(&p.page, priorities, sizeof(priorities));
    VkDeviceQueueCreateInfo queues[FAKE_FAMILIES];
    uint32_t n = 0;
    for (uint32_t f = 0; counts[f] != UINT32_MAX; f++) {
        if (counts[f])
            queues[n++] =
                (VkDeviceQueueCreateInfo){VK_TYPE(DEVICE_QUEUE_CREATE_INFO), .queueFamilyIndex = f,
                                          .queueCount = counts[f], .pQueuePriorities = own};
    }
    p.info.queueCreateInfoCount = n;
    p.info.pQueueCreateInfos = page_put(&p.page, queues, n * sizeof(*queues));
    return p;
}

/* And what was opened for it. */
static void close_program(struct program *p)
{
    munmap(p->page.memory, 65536);
    fake_close();
}

static void *program_chain(struct program *p, const void *s, size_t size)
{
    VkBaseOutStructure *copy = page_put(&p->page, s, size);
    copy->pNext = (VkBaseOutStructure *)p->info.pNext;
    p->info.pNext = copy;
    return copy;
}
#define CHAIN(p, ...) program_chain(p, &(__VA_ARGS__), sizeof(__VA_ARGS__))

static void program_extensions(struct program *p, const char *const *names)
{
    uint32_t n = 0;
    while (names[n])
        n++;
    p->info.enabledExtensionCount = n;
    p->info.ppEnabledExtensionNames = page_put(&p->page, names, n * sizeof(*names));
}

/* fake_device with everything of the program's in memory of that protection; nothing of it may have
 * changed. */
static VkResult create_in(struct program *p, int protection)
{
    char *copy = malloc(p->page.used);
    assert_non_null(copy);
    memcpy(copy, p->page.memory, p->page.used);
    assert_int_equal(mprotect(p->page.memory, 65536, protection), 0);
    VkResult result = fake_device(&p->info);
    assert_memory_equal(copy, p->page.memory, p->page.used);
    free(copy);
    return result;
}

static VkResult create(struct program *p)
{
    return create_in(p, PROT_READ);
}

static uint32_t has_extension(const struct fake_request *r, const char *name)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < r->extension_count; i++)
        n += strcmp(r->extensions[i], name) == 0;
    return n;
}

static bool has_struct(const struct fake_request *r, VkStructureType type)
{
    for (uint32_t i = 0; i < r->chain_count; i++)
        if (r->chain[i] == type)
            return true;
    return false;
}

static const uint32_t one[] = {1, UINT32_MAX};
/* One queue of each shown family of a lavapipe. */
static const uint32_t three[] = {1, 1, 1, UINT32_MAX};

static bool is_scheduled(void)
{
    VkQueue queue = VK_NULL_HANDLE;
    FAKE_CALL(vkGetDeviceQueue, fake.device, 0, 0, &queue);
    assert_non_null(queue);
    return queue != fake_queue(0, 0, 0);
}

/* Versions ---------------------------------------------------------------------------------- */

TEST(test_versions)
{
    for (uint32_t device = 0; device < 4; device++) {
        for (uint32_t instance = 0; instance < 4; instance++) {
            for (uint32_t named = 0; named < 2; named++) {
                fake_load(&(struct fake_driver){.api_version = VK_MAKE_API_VERSION(0, 1, device, 0),
                                                .extensions = both});
                assert_success(fake_instance(VK_MAKE_API_VERSION(0, 1, instance, 0), 0, NULL));
                struct program p = program_of(three);
                /* Whoever named one of them already gets it once. */
                static const char *const names[] = {"VK_KHR_swapchain", SYNC2, NULL};
                if (named)
                    program_extensions(&p, names);
                assert_success(create(&p));
                uint32_t minor = device < instance ? device : instance;
                const struct fake_request *r = &fake.requests[0];
                assert_int_equal(fake.device_tries, 1);
                assert_int_equal(has_extension(r, TIMELINE), minor < 2);
                assert_int_equal(has_extension(r, SYNC2), minor < 3 || named);
                assert_int_equal(has_extension(r, RESET), 0); /* traces alone want it */
                assert_int_equal(has_extension(r, STAMPS), 1);
                assert_int_equal(has_extension(r, "VK_KHR_swapchain"), named);
                assert_int_equal(r->timeline, 1);
                assert_int_equal(r->sync2, 1);
                assert_int_equal(r->host_reset, -1);
                assert_true(is_scheduled());
                /* What the layer enabled for itself is not the program's to call. */
                static const char *const sync2_commands[] = {
                    "vkQueueSubmit2KHR",   "vkCmdPipelineBarrier2KHR", "vkCmdSetEvent2KHR",
                    "vkCmdResetEvent2KHR", "vkCmdWaitEvents2KHR",      "vkCmdWriteTimestamp2KHR"};
                static const char *const timeline_commands[] = {
                    "vkWaitSemaphoresKHR", "vkSignalSemaphoreKHR", "vkGetSemaphoreCounterValueKHR"};
                for (uint32_t i = 0; i < 6; i++)
                    assert_int_equal(fake.gdpa(fake.device, sync2_commands[i]) != NULL,
                                     minor == 3 || named);
                for (uint32_t i = 0; i < 3; i++)
                    assert_int_equal(fake.gdpa(fake.device, timeline_commands[i]) != NULL,
                                     minor >= 2);
                close_program(&p);
            }
        }
    }
}

/* Calibrated timestamps by either name: enabled once, and the program has what it named itself. */
TEST(test_calibrated)
{
    static const char *const names[] = {STAMPS, "VK_KHR_calibrated_timestamps"};
    static const char *const commands[] = {"vkGetCalibratedTimestampsEXT",
                                           "vkGetCalibratedTimestampsKHR"};
    for (uint32_t there = 0; there < 4; there++) {
        for (uint32_t asked = 0; asked < 4; asked++) {
            if (asked & ~there)
                continue;
            const char *offered[3] = {0}, *wanted[3] = {0};
            for (uint32_t i = 0, n = 0, k = 0; i < 2; i++) {
                if (there & 1u << i)
                    offered[n++] = names[i];
                if (asked & 1u << i)
                    wanted[k++] = names[i];
            }
            fake_start(&(struct fake_driver){.extensions = offered});
            struct program p = program_of(one);
            if (asked)
                program_extensions(&p, wanted);
            assert_success(create(&p));
            assert_true(is_scheduled());
            const struct fake_request *r = &fake.requests[0];
            uint32_t enabled = 0;
            for (uint32_t i = 0; i < 2; i++) {
                enabled += has_extension(r, names[i]);
                assert_true(has_extension(r, names[i]) <= 1);
                assert_true(!(asked & 1u << i) || has_extension(r, names[i]) == 1);
                assert_true(!has_extension(r, names[i]) || (there & 1u << i));
            }
            /* What the program enabled, and one of them for ourselves if it was none. */
            assert_int_equal(enabled, asked ? (asked & 1) + (asked >> 1) : there != 0);
            for (uint32_t i = 0; i < 2; i++)
                if (asked & 1u << i)
                    assert_non_null(fake.gdpa(fake.device, commands[i]));
                else if (there && !asked)
                    assert_null(fake.gdpa(fake.device, commands[i]));
            close_program(&p);
        }
    }
}

/* A trace wants host query reset as well. */
TEST(test_traced)
{
    for (uint32_t minor = 1; minor < 4; minor++) {
        for (uint32_t without = 0; without < 2; without++) {
            setenv("VK_BELFRY_MULTI_ENGINE_TRACE", "/dev/null", 1);
            fake_start(&(struct fake_driver){.api_version = VK_MAKE_API_VERSION(0, 1, minor, 0),
                                             .extensions = both,
                                             .no_host_reset = without});
            unsetenv("VK_BELFRY_MULTI_ENGINE_TRACE");
            struct program p = program_of(one);
            assert_success(create(&p));
            const struct fake_request *r = &fake.requests[0];
            assert_int_equal(has_extension(r, RESET), minor < 2 && !without);
            assert_int_equal(has_extension(r, STAMPS), 1);
            assert_int_equal(r->host_reset, without ? -1 : 1);
            assert_int_equal(fake.gdpa(fake.device, "vkResetQueryPoolEXT") != NULL,
                             minor >= 2 || without);
            assert_null(fake.gdpa(fake.device, "vkGetCalibratedTimestampsEXT"));
            close_program(&p);
        }
    }
}

/* Features ---------------------------------------------------------------------------------- */

static const VkPhysicalDeviceVulkan12Features v12_off = {
    VK_TYPE(PHYSICAL_DEVICE_VULKAN_1_2_FEATURES), .bufferDeviceAddress = VK_TRUE};
static const VkPhysicalDeviceVulkan13Features v13_off = {
    VK_TYPE(PHYSICAL_DEVICE_VULKAN_1_3_FEATURES), .maintenance4 = VK_TRUE};
static const VkPhysicalDeviceTimelineSemaphoreFeatures timeline_off = {
    VK_TYPE(PHYSICAL_DEVICE_TIMELINE_SEMAPHORE_FEATURES)};
static const VkPhysicalDeviceSynchronization2Features sync2_off = {
    VK_TYPE(PHYSICAL_DEVICE_SYNCHRONIZATION_2_FEATURES)};
static const VkPhysicalDeviceFeatures2 features2 = {VK_TYPE(PHYSICAL_DEVICE_FEATURES_2),
                                                    .features.geometryShader = VK_TRUE};

/* Every mixture of the structs that may speak of the two features, each on and off. */
TEST(test_features)
{
    /* 0: no struct, 1: the core struct, 2: its own; with bit 2: the feature is on already */
    for (uint32_t t = 0; t < 6; t++) {
        for (uint32_t s = 0; s < 6; s++) {
            for (uint32_t f2 = 0; f2 < 2; f2++) {
                fake_start(NULL);
                struct program p = program_of(three);
                VkPhysicalDeviceVulkan12Features v12 = v12_off;
                VkPhysicalDeviceVulkan13Features v13 = v13_off;
                VkPhysicalDeviceTimelineSemaphoreFeatures timeline = timeline_off;
                VkPhysicalDeviceSynchronization2Features sync2 = sync2_off;
                v12.timelineSemaphore = timeline.timelineSemaphore = t >= 3;
                v13.synchronization2 = sync2.synchronization2 = s >= 3;
                const void *kept[4] = {0};
                if (t % 3 == 1)
                    kept[0] = CHAIN(&p, v12);
                if (s % 3 == 1)
                    kept[1] = CHAIN(&p, v13);
                if (f2)
                    kept[2] = CHAIN(&p, features2);
                if (t % 3 == 2)
                    kept[0] = CHAIN(&p, timeline);
                if (s % 3 == 2)
                    kept[1] = CHAIN(&p, sync2);
                if (!f2)
                    p.info.pEnabledFeatures =
                        page_put(&p.page, &features2.features, sizeof(features2.features));
                assert_success(create(&p));
                const struct fake_request *r = &fake.requests[0];
                assert_int_equal(fake.device_tries, 1);
                assert_int_equal(r->timeline, 1);
                assert_int_equal(r->sync2, 1);
                assert_ptr_equal(r->features, p.info.pEnabledFeatures);
                if (f2)
                    assert_true(r->features2.features.geometryShader);
                /* As many structs as the program had, and one for each feature it was silent on. */
                assert_int_equal(r->chain_count, (t % 3 ? 1 : 0) + (s % 3 ? 1 : 0) + f2 +
                                                     (t % 3 ? 0 : 1) + (s % 3 ? 0 : 1));
                /* What needs no change isn't copied, but for what lies before it. */
                bool changes = (t % 3 && t < 3) || (s % 3 && s < 3);
                for (uint32_t k = 0; k < 3; k++) {
                    bool found = false;
                    for (uint32_t i = 0; i < r->chain_count; i++)
                        found |= r->chain_at[i] == kept[k];
                    if (!changes)
                        assert_int_equal(found, kept[k] != NULL);
                }
                close_program(&p);
            }
        }
    }
}

/* The order of the structs in the chain doesn't matter, nor what lies before and behind. */
TEST(test_chain_order)
{
    for (uint32_t order = 0; order < 6; order++) {
        fake_start(NULL);
        struct program p = program_of(one);
        static const uint8_t orders[6][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2},
                                             {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
        for (uint32_t i = 0; i < 3; i++)
            if (orders[order][i] == 0)
                CHAIN(&p, v12_off);
            else if (orders[order][i] == 1)
                CHAIN(&p, sync2_off);
            else
                CHAIN(&p, features2);
        assert_success(create(&p));
        const struct fake_request *r = &fake.requests[0];
        assert_int_equal(r->timeline, 1);
        assert_int_equal(r->sync2, 1);
        assert_int_equal(r->chain_count, 3);
        /* The last put in comes first, as in the program's chain. */
        static const VkStructureType types[] = {
            VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES,
            VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SYNCHRONIZATION_2_FEATURES,
            VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2};
        for (uint32_t i = 0; i < 3; i++)
            assert_int_equal(r->chain[i], types[orders[order][2 - i]]);
        close_program(&p);
    }
}

/* A struct that Belfry doesn't know. */
struct unknown {
    VkStructureType sType;
    const void *pNext;
    uint64_t secrets[5];
};
static const struct unknown unknown = {.sType = (VkStructureType)1000999001, .secrets = {1, 2, 3}};

/* Of Vulkan 1.1, but nobody below has them. */
static bool lacks_external_semaphores(const char *name)
{
    return strcmp(name, "vkGetPhysicalDeviceExternalSemaphoreProperties") == 0;
}

/* Native fences want shaders that store 64 bits through addresses, and memory of the host's own;
 * logs want host query reset. Where the driver has it, and nothing stands in the way. */
TEST(test_native_fences)
{
    static const char *const host_memory[] = {"VK_EXT_external_memory_host", NULL};
    for (uint32_t with = 0; with < 2; with++) {
        for (uint32_t unknown_struct = 0; unknown_struct < 2; unknown_struct++) {
            unsetenv("VK_BELFRY_MULTI_ENGINE_NATIVE_FENCES");
            unsetenv("VK_BELFRY_MULTI_ENGINE_LOG");
            fake_start(&(struct fake_driver){.extensions = with ? host_memory : NULL,
                                             .no_host_reset = !with,
                                             .writes_values = with});
            setenv("VK_BELFRY_MULTI_ENGINE_NATIVE_FENCES", "off", 1);
            setenv("VK_BELFRY_MULTI_ENGINE_LOG", "off", 1);
            struct program p = program_of(one);
            /* Off in the program's own struct, behind one that can't be copied. */
            VkPhysicalDeviceVulkan12Features v12 = v12_off;
            v12.timelineSemaphore = VK_TRUE;
            v12.hostQueryReset = v12.bufferDeviceAddress = VK_FALSE;
            if (unknown_struct) {
                CHAIN(&p, v12);
                CHAIN(&p, unknown);
            }
            assert_success(create(&p));
            const struct fake_request *r = &fake.requests[0];
            bool enabled = with && !unknown_struct;
            assert_int_equal(has_extension(r, host_memory[0]), with);
            assert_int_equal(r->host_reset == 1, enabled);
            assert_int_equal(r->addresses == 1, enabled);
            assert_int_equal(r->features_then.shaderInt64, with);
            if (with) /* the program didn't ask for it */
                assert_null(fake.gdpa(fake.device, "vkGetMemoryHostPointerPropertiesEXT"));
            assert_true(is_scheduled());
            close_program(&p);
        }
    }
}

/* Fences of trusted processes want the driver's timeline semaphores as descriptors. Where it has
 * them the extension is enabled, once, and its commands are the program's only if it asked for
 * it. */
TEST(test_sharing)
{
    static const char *const semaphore_fd[] = {"VK_KHR_external_semaphore_fd", NULL};
    for (uint32_t cases = 0; cases < 16; cases++) {
        bool offered = cases & 1, shares = cases & 2, asked = cases & 4, old = cases & 8;
        if (asked && !offered)
            continue;
        fake_start(&(struct fake_driver){.extensions = offered ? semaphore_fd : NULL,
                                         .shares = shares,
                                         .lacks = old ? lacks_external_semaphores : NULL});
        struct program p = program_of(one);
        if (asked)
            program_extensions(&p, semaphore_fd);
        assert_success(create(&p));
        assert_true(is_scheduled());
        bool enabled = offered && shares && !old;
        assert_int_equal(has_extension(&fake.requests[0], semaphore_fd[0]), asked || enabled);
        if (enabled && !asked) {
            assert_null(fake.gdpa(fake.device, "vkGetSemaphoreFdKHR"));
            assert_null(fake.gdpa(fake.device, "vkImportSemaphoreFdKHR"));
        }
        if (asked) {
            assert_non_null(fake.gdpa(fake.device, "vkGetSemaphoreFdKHR"));
            assert_non_null(fake.gdpa(fake.device, "vkImportSemaphoreFdKHR"));
        }
        close_program(&p);
    }
}

TEST(test_unknown_struct)
{
    char line[512];
    /* Nothing has to be changed: it goes down where it is. */
    for (uint32_t on = 0; on < 2; on++) {
        fake_start(NULL);
        struct program p = program_of(three);
        VkPhysicalDeviceVulkan12Features v12 = v12_off;
        v12.timelineSemaphore = VK_TRUE;
        if (on)
            CHAIN(&p, v12);
        const void *own = CHAIN(&p, unknown);
        assert_success(create(&p));
        const struct fake_request *r = &fake.requests[0];
        assert_int_equal(r->timeline, 1);
        assert_int_equal(r->sync2, 1);
        bool found = false;
        for (uint32_t i = 0; i < r->chain_count; i++)
            found |= r->chain_at[i] == own;
        assert_true(found);
        assert_true(is_scheduled());
        close_program(&p);
    }
    /* In front of the one that has the features off: that is changed where it is, until the call
     * returns, or the driver refuses: the program's own request is what is tried then. */
    for (uint32_t refused = 0; refused < 2; refused++) {
        fake_start(&(struct fake_driver){
            .create_results = {refused ? VK_ERROR_FEATURE_NOT_PRESENT : VK_SUCCESS}});
        struct program p = program_of(refused ? one : three);
        const void *off = CHAIN(&p, v12_off);
        const void *own = CHAIN(&p, unknown);
        lines_begin();
        assert_success(create_in(&p, PROT_READ | PROT_WRITE));
        assert_int_equal(lines_end(NULL, 0), refused);
        for (uint32_t i = 0; i <= refused; i++) {
            const struct fake_request *r = &fake.requests[i];
            assert_int_equal(r->timeline, i == 0);
            assert_int_equal(r->chain_count, i == 0 ? 3 : 2);
            assert_ptr_equal(r->chain_at[r->chain_count - 2], own);
            assert_ptr_equal(r->chain_at[r->chain_count - 1], off);
        }
        assert_int_equal(is_scheduled(), !refused);
        close_program(&p);
    }
    /* Where it is a constant: passed through, and said so. */
    fake_start(NULL);
    struct program p = program_of(one);
    const void *off = CHAIN(&p, v12_off);
    const void *own = CHAIN(&p, unknown);
    lines_begin();
    assert_success(create(&p));
    uint32_t lines = lines_end(line, sizeof(line));
    assert_true(lines >= 1 && lines <= 2);
    assert_non_null(strstr(line, "passed through"));
    const struct fake_request *r = &fake.requests[0];
    assert_int_equal(r->chain_count, 2);
    assert_ptr_equal(r->chain_at[0], own);
    assert_ptr_equal(r->chain_at[1], off);
    assert_int_equal(r->timeline, 0);
    assert_int_equal(r->extension_count, 0);
    assert_false(is_scheduled());
    close_program(&p);

    /* The same for queues that only Belfry can give: an error, and a line that says why. */
    fake_start(NULL);
    p = program_of(three);
    CHAIN(&p, v12_off);
    CHAIN(&p, unknown);
    lines_begin();
    assert_int_equal(create(&p), VK_ERROR_INITIALIZATION_FAILED);
    assert_true(lines_end(line, sizeof(line)) >= 1);
    assert_int_equal(fake.device_tries, 0);
    close_program(&p);
}

/* VkPhysicalDeviceMaintenance11FeaturesKHR: newer than the oldest headers. Its size is known all
 * the same, so that it can be copied. */
TEST(test_newer_struct)
{
    const struct newer {
        VkStructureType sType;
        const void *pNext;
        VkBool32 maintenance11;
    } newer = {.sType = (VkStructureType)1000657000, .maintenance11 = VK_TRUE};
    fake_start(NULL);
    struct program p = program_of(one);
    CHAIN(&p, v12_off);
    const struct newer *own = CHAIN(&p, newer);
    assert_success(create(&p));
    const struct fake_request *r = &fake.requests[0];
    assert_int_equal(r->timeline, 1);
    assert_true(is_scheduled());
    bool found = false;
    for (uint32_t i = 0; i < r->chain_count; i++) {
        if (r->chain[i] != newer.sType)
            continue;
        found = true;
        assert_ptr_not_equal(r->chain_at[i], own);
    }
    assert_true(found);
    close_program(&p);
}

/* Drivers that can't, and those that won't -------------------------------------------------- */

TEST(test_incapable)
{
    static const char *const none[] = {"VK_KHR_swapchain", NULL};
    const struct fake_driver drivers[] = {
        {.no_timeline = true},
        {.no_sync2 = true},
        {.api_version = VK_API_VERSION_1_1, .extensions = none},
        {.api_version = VK_API_VERSION_1_2, .extensions = none},
    };
    for (size_t i = 0; i < sizeof(drivers) / sizeof(drivers[0]); i++) {
        char line[512];
        lines_begin();
        fake_start(&drivers[i]);
        PFN_vkGetPhysicalDeviceQueueFamilyProperties families =
            (PFN_vkGetPhysicalDeviceQueueFamilyProperties)fake.gipa(
                fake.instance, "vkGetPhysicalDeviceQueueFamilyProperties");
        VkQueueFamilyProperties shown[4];
        uint32_t n = 4;
        families(fake.physical, &n, shown);
        assert_int_equal(n, 1);
        assert_int_equal(shown[0].queueCount, 1);
        struct program p = program_of(one);
        const void *off = CHAIN(&p, features2);
        for (int again = 0; again < 2; again++) {
            assert_success(create(&p));
            const struct fake_request *r = &fake.requests[0];
            assert_int_equal(r->chain_count, 1);
            assert_ptr_equal(r->chain_at[0], off);
            assert_int_equal(r->extension_count, 0);
            assert_false(is_scheduled());
            fake_close_device();
        }
        /* Said once, however often devices are made. */
        assert_int_equal(lines_end(line, sizeof(line)), 1);
        assert_non_null(strstr(line, "passed through"));
        close_program(&p);
    }
}

TEST(test_retry)
{
    char line[512];
    static const VkResult refusals[] = {VK_ERROR_FEATURE_NOT_PRESENT,
                                        VK_ERROR_EXTENSION_NOT_PRESENT};
    for (size_t i = 0; i < 2; i++) {
        fake_start(&(struct fake_driver){.create_results = {refusals[i]}});
        struct program p = program_of(one);
        const void *own = CHAIN(&p, features2);
        lines_begin();
        assert_success(create(&p));
        assert_int_equal(lines_end(line, sizeof(line)), 1);
        assert_non_null(strstr(line, "passed through"));
        assert_int_equal(fake.device_tries, 2);
        assert_int_equal(fake.requests[0].timeline, 1);
        assert_int_equal(fake.requests[1].chain_count, 1);
        assert_ptr_equal(fake.requests[1].chain_at[0], own);
        assert_false(is_scheduled());
        close_program(&p);
    }
    /* The program's own fault: its error, and no talk of passing anything through. */
    for (size_t i = 0; i < 2; i++) {
        for (uint32_t appended = 0; appended < 2; appended++) {
            fake_start(&(struct fake_driver){.create_results = {refusals[i], refusals[i]}});
            struct program p = program_of(appended ? three : one);
            lines_begin();
            assert_int_equal(create(&p), refusals[i]);
            lines_end(line, sizeof(line));
            assert_null(strstr(line, "passed through"));
            assert_int_equal(fake.device_tries, appended ? 1 : 2);
            close_program(&p);
        }
    }
    /* Other errors are the program's to hear, at once. */
    static const VkResult others[] = {VK_ERROR_OUT_OF_HOST_MEMORY,    VK_ERROR_OUT_OF_DEVICE_MEMORY,
                                      VK_ERROR_INITIALIZATION_FAILED, VK_ERROR_DEVICE_LOST,
                                      VK_ERROR_TOO_MANY_OBJECTS,      VK_ERROR_NOT_PERMITTED_KHR};
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
        fake_start(&(struct fake_driver){.create_results = {others[i]}});
        struct program p = program_of(one);
        assert_int_equal(create(&p), others[i]);
        assert_int_equal(fake.device_tries, 1);
        close_program(&p);
    }
}

/* Groups ------------------------------------------------------------------------------------ */

TEST(test_groups)
{
    char line[512];
    for (uint32_t members = 1; members <= 2; members++) {
        fake_start(NULL);
        struct program p = program_of(one);
        const VkPhysicalDevice devices[2] = {fake.physical, fake.physical};
        VkDeviceGroupDeviceCreateInfo group = {
            VK_TYPE(DEVICE_GROUP_DEVICE_CREATE_INFO), .physicalDeviceCount = members,
            .pPhysicalDevices = page_put(&p.page, devices, sizeof(devices))};
        CHAIN(&p, group);
        lines_begin();
        assert_success(create(&p));
        uint32_t lines = lines_end(line, sizeof(line));
        assert_int_equal(fake.device_tries, 1);
        assert_true(
            has_struct(&fake.requests[0], VK_STRUCTURE_TYPE_DEVICE_GROUP_DEVICE_CREATE_INFO));
        assert_int_equal(lines, members == 2);
        assert_int_equal(is_scheduled(), members == 1);
        close_program(&p);
    }
}

/* Queues ------------------------------------------------------------------------------------ */

#define G VK_QUEUE_GRAPHICS_BIT
#define C VK_QUEUE_COMPUTE_BIT
#define T VK_QUEUE_TRANSFER_BIT

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
    assert_int_equal(r->queues[0].family, 0);
    assert_int_equal(r->queues[0].flags, 0);
    assert_int_equal(r->queues[0].count, 2);
    assert_true(r->queues[0].priorities[0] == 0.25f && r->queues[0].priorities[1] == 0.5f);
    assert_int_equal(r->queues[1].family, 0);
    assert_int_equal(r->queues[1].flags, VK_DEVICE_QUEUE_CREATE_PROTECTED_BIT);
    assert_int_equal(r->queues[1].count, 1);
    assert_int_equal(r->queues[2].family, 1);
    assert_int_equal(r->queues[2].count, 2); /* three asked for, the GPU has two */
    assert_ptr_equal(r->queues[2].next, &global);
    assert_true(r->queues[2].priorities[0] == 1.0f && r->queues[2].priorities[1] == 0.5f);

    /* By flags: the older command knows queues without flags alone. */
    VkQueue plain = VK_NULL_HANDLE, flagged = VK_NULL_HANDLE, again = VK_NULL_HANDLE;
    FAKE_CALL(vkGetDeviceQueue, fake.device, 0, 0, &plain);
    VkDeviceQueueInfo2 query = {VK_TYPE(DEVICE_QUEUE_INFO_2),
                                .flags = VK_DEVICE_QUEUE_CREATE_PROTECTED_BIT};
    FAKE_CALL(vkGetDeviceQueue2, fake.device, &query, &flagged);
    assert_non_null(plain);
    assert_non_null(flagged);
    assert_ptr_not_equal(plain, flagged);
    query.flags = 0;
    FAKE_CALL(vkGetDeviceQueue2, fake.device, &query, &again);
    assert_ptr_equal(again, plain);
    query.flags = VK_DEVICE_QUEUE_CREATE_PROTECTED_BIT;
    query.queueIndex = 1;
    FAKE_CALL(vkGetDeviceQueue2, fake.device, &query, &again);
    assert_null(again);
    query =
        (VkDeviceQueueInfo2){VK_TYPE(DEVICE_QUEUE_INFO_2),
                             .flags = VK_DEVICE_QUEUE_CREATE_PROTECTED_BIT, .queueFamilyIndex = 1};
    FAKE_CALL(vkGetDeviceQueue2, fake.device, &query, &again);
    assert_null(again);
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
        assert_success(create(&p));
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
        assert_int_equal(has_extension(r, KHR_PRIORITY), got && khr);
        assert_int_equal(has_extension(r, EXT_PRIORITY), got && !khr);
        /* The program's queues are what they would be without. */
        VkQueue queue = VK_NULL_HANDLE;
        FAKE_CALL(vkGetDeviceQueue, fake.device, p.info.pQueueCreateInfos[0].queueFamilyIndex, 0,
                  &queue);
        assert_non_null(queue);
        if (got) {
            FAKE_CALL(vkGetDeviceQueue, fake.device, cases[i].family, 0, &queue);
            assert_null(queue);
        }
        close_program(&p);
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
        assert_success(create(&p));
        assert_int_equal(realtime_family(&fake.requests[0]), 3);
        assert_int_equal(has_extension(&fake.requests[0], EXT_PRIORITY), v < 3);
        close_program(&p);
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
        request->pNext = page_put(&p.page, &own, sizeof(own));
        assert_success(create(&p));
        const struct fake_request *r = &fake.requests[0];
        assert_int_equal(has_extension(r, both_names[n]), 1);
        assert_int_equal(has_extension(r, both_names[!n]), 0);
        assert_ptr_equal(r->queues[0].next, request->pNext);
        assert_int_equal(realtime_family(r), 2);
        close_program(&p);
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
            assert_int_equal(create(&p), twice ? refusals[i] : VK_SUCCESS);
            assert_int_equal(lines_end(line, sizeof(line)), !twice);
            if (!twice)
                assert_non_null(strstr(line, "realtime"));
            assert_int_equal(fake.device_tries, 2);
            assert_int_equal(realtime_family(&fake.requests[0]), 2);
            assert_int_equal(has_extension(&fake.requests[0], KHR_PRIORITY), 1);
            const struct fake_request *r = &fake.requests[1];
            assert_int_equal(r->queue_count, 1);
            assert_int_equal(realtime_family(r), UINT32_MAX);
            assert_int_equal(has_extension(r, KHR_PRIORITY), 0);
            assert_int_equal(r->timeline, 1);
            assert_int_equal(r->sync2, 1);
            if (!twice)
                assert_true(is_scheduled());
            close_program(&p);
        }
    }
    /* What nobody refused for its sake isn't tried again. */
    struct fake_driver driver = machine;
    driver.create_results[0] = VK_ERROR_OUT_OF_DEVICE_MEMORY;
    open_realtime(&driver, khr_priority, 0xf, VK_API_VERSION_1_3, "on");
    struct program p = program_of(one);
    assert_int_equal(create(&p), VK_ERROR_OUT_OF_DEVICE_MEMORY);
    assert_int_equal(fake.device_tries, 1);
    close_program(&p);
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

/* PL-2: one VkQueue more in each family that has one left, never shown; without them, if the driver
 * refuses them or has no handle for one. 'refused' is what it says, try by try, and 'spared' in
 * which tries there are spares. */
TEST(test_spares)
{
    static const struct {
        bool realtime, no_handle;
        VkResult refused[3];
        uint32_t tries, spared;
        VkResult result;
        const char *says;
    } cases[] = {
        {.tries = 1, .spared = 1},
        {.no_handle = true, .tries = 1, .spared = 1, .says = "no queue 1 of family 0"},
        {.refused = {VK_ERROR_INITIALIZATION_FAILED},
         .tries = 2,
         .spared = 1,
         .says = "the driver refuses"},
        {.refused = {VK_ERROR_TOO_MANY_OBJECTS},
         .tries = 2,
         .spared = 1,
         .says = "the driver refuses"},
        {.refused = {VK_ERROR_FEATURE_NOT_PRESENT},
         .tries = 2,
         .spared = 1,
         .says = "the driver refuses"},
        {.refused = {VK_ERROR_TOO_MANY_OBJECTS, VK_ERROR_OUT_OF_DEVICE_MEMORY},
         .tries = 2,
         .spared = 1,
         .result = VK_ERROR_OUT_OF_DEVICE_MEMORY},
        {.realtime = true, .refused = {VK_ERROR_NOT_PERMITTED_KHR}, .tries = 2, .spared = 3},
        {.realtime = true,
         .refused = {VK_ERROR_INITIALIZATION_FAILED, VK_ERROR_NOT_PERMITTED_KHR},
         .tries = 3,
         .spared = 1,
         .says = "the driver refuses"},
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
        assert_int_equal(create(&p), cases[i].result);
        const char *says = cases[i].says ? cases[i].says : "the driver refuses";
        assert_int_equal(lines_end_with(says, NULL, 0), cases[i].says != NULL);
        assert_int_equal(fake.device_tries, cases[i].tries);
        for (uint32_t t = 0; t < cases[i].tries; t++) {
            bool spared = cases[i].spared >> t & 1;
            const struct fake_request *r = &fake.requests[t];
            assert_int_equal(opened(r, 0), 1 + spared);
            assert_int_equal(opened(r, 1), 2);
            assert_int_equal(opened(r, 2), 0);
            assert_true(!spared || r->queues[0].priorities[1] == r->queues[0].priorities[0]);
        }
        VkQueue queue = (VkQueue)&queue;
        if (!cases[i].result) {
            assert_true(is_scheduled());
            FAKE_CALL(vkGetDeviceQueue, fake.device, 0, 1, &queue);
            assert_null(queue);
        }
        close_program(&p);
    }
}

/* VkQueues that may be shared are the driver's to synchronize, where it can; a program has
 * them as it asked for them. 'flags' are what is asked of the driver, try by try. */
TEST(test_internally_synchronized_queues)
{
    static const char *const name[] = {"VK_KHR_internally_synchronized_queues", NULL};
    static const struct {
        bool none, serialized;          /* the driver hasn't the feature; serialize_submits */
        int own;                        /* the program's own struct: 1 off, 2 on */
        VkDeviceQueueCreateFlags asked; /* by the program, of its second family */
        const char *spares;
        VkResult refused;
        uint32_t tries;
        VkDeviceQueueCreateFlags flags[2];
    } cases[] = {
        {.spares = "off", .tries = 1, .flags = {4}},
        {.spares = "on", .tries = 1},
        {.none = true, .spares = "off", .tries = 1},
        {.serialized = true, .spares = "off", .tries = 1},
        {.own = 1, .spares = "off", .tries = 1},
        {.own = 2, .spares = "off", .tries = 1, .flags = {4}},
        {.own = 2, .asked = 4, .spares = "off", .tries = 1, .flags = {4}},
        {.own = 2, .asked = 4, .spares = "on", .tries = 1},
        {.spares = "off", .refused = VK_ERROR_FEATURE_NOT_PRESENT, .tries = 2, .flags = {4}},
        {.own = 2,
         .asked = 4,
         .spares = "off",
         .refused = VK_ERROR_TOO_MANY_OBJECTS,
         .tries = 2,
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
        assert_success(create(&p));
        assert_true(is_scheduled());
        assert_int_equal(fake.device_tries, cases[i].tries);
        for (uint32_t t = 0; t < cases[i].tries; t++) {
            const struct fake_request *r = &fake.requests[t];
            bool added = cases[i].flags[t] && !cases[i].own;
            assert_int_equal(r->queues[0].flags, cases[i].flags[t]);
            assert_int_equal(r->queues[1].flags, cases[i].asked | cases[i].flags[t]);
            assert_int_equal(has_struct(r, own.head.sType), added || cases[i].own);
            assert_int_equal(has_extension(r, name[0]), added || cases[i].own);
        }
        /* By the program's own flags. */
        for (uint32_t family = 0; family < 2; family++) {
            for (VkDeviceQueueCreateFlags flags = 0; flags <= 4; flags += 4) {
                VkDeviceQueueInfo2 query = {VK_TYPE(DEVICE_QUEUE_INFO_2), .flags = flags,
                                            .queueFamilyIndex = family};
                VkQueue queue = VK_NULL_HANDLE;
                FAKE_CALL(vkGetDeviceQueue2, fake.device, &query, &queue);
                assert_int_equal(queue != VK_NULL_HANDLE, flags == (family ? cases[i].asked : 0));
            }
        }
        close_program(&p);
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
        assert_int_equal(create(&p), VK_ERROR_INITIALIZATION_FAILED);
        assert_int_equal(lines_end(NULL, 0), 1);
        assert_int_equal(fake.device_tries, 0);
        close_program(&p);
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
    assert_int_equal(create(&p), VK_ERROR_INITIALIZATION_FAILED);
    assert_int_equal(lines_end(NULL, 0), 1);
    assert_int_equal(fake.device_tries, 1);
    assert_int_equal(fake.devices_destroyed, 1);
    close_program(&p);
}

int main(void)
{
    /* What they ask for has a test of its own, and so have spares. */
    setenv("VK_BELFRY_MULTI_ENGINE_SPARE_QUEUES", "off", 1);
    setenv("VK_BELFRY_MULTI_ENGINE_NATIVE_FENCES", "off", 1);
    setenv("VK_BELFRY_MULTI_ENGINE_LOG", "off", 1);
    return test_run(NULL);
}
