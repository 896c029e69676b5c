/* SPDX-License-Identifier: MIT */
/* What the layer makes of a program's vkCreateDevice: extensions and features, for programs and
 * devices of every version, always in copies. */
#include "program.h"
#include "support/queue_flags.h"

#include <sys/mman.h>

#define RESET  VK_EXT_HOST_QUERY_RESET_EXTENSION_NAME
#define STAMPS VK_EXT_CALIBRATED_TIMESTAMPS_EXTENSION_NAME

static const char *const both[] = {TIMELINE, SYNC2, RESET, STAMPS, "VK_KHR_swapchain", NULL};

static const uint32_t one[] = {1, UINT32_MAX};
/* One queue of each shown family of a lavapipe. */
static const uint32_t three[] = {1, 1, 1, UINT32_MAX};

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
                assert_success(program_create(&p));
                uint32_t minor = device < instance ? device : instance;
                const struct fake_request *r = &fake.requests[0];
                assert_int_equal(fake.device_tries, 1);
                assert_int_equal(request_has_extension(r, TIMELINE), minor < 2);
                assert_int_equal(request_has_extension(r, SYNC2), minor < 3 || named);
                assert_int_equal(request_has_extension(r, RESET), 0); /* traces alone want it */
                assert_int_equal(request_has_extension(r, STAMPS), 1);
                assert_int_equal(request_has_extension(r, "VK_KHR_swapchain"), named);
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
                program_close(&p);
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
            assert_success(program_create(&p));
            assert_true(is_scheduled());
            const struct fake_request *r = &fake.requests[0];
            uint32_t enabled = 0;
            for (uint32_t i = 0; i < 2; i++) {
                enabled += request_has_extension(r, names[i]);
                assert_true(request_has_extension(r, names[i]) <= 1);
                assert_true(!(asked & 1u << i) || request_has_extension(r, names[i]) == 1);
                assert_true(!request_has_extension(r, names[i]) || (there & 1u << i));
            }
            /* What the program enabled, and one of them for ourselves if it was none. */
            assert_int_equal(enabled, asked ? (asked & 1) + (asked >> 1) : there != 0);
            for (uint32_t i = 0; i < 2; i++)
                if (asked & 1u << i)
                    assert_non_null(fake.gdpa(fake.device, commands[i]));
                else if (there && !asked)
                    assert_null(fake.gdpa(fake.device, commands[i]));
            program_close(&p);
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
            assert_success(program_create(&p));
            const struct fake_request *r = &fake.requests[0];
            assert_int_equal(request_has_extension(r, RESET), minor < 2 && !without);
            assert_int_equal(request_has_extension(r, STAMPS), 1);
            assert_int_equal(r->host_reset, without ? -1 : 1);
            assert_int_equal(fake.gdpa(fake.device, "vkResetQueryPoolEXT") != NULL,
                             minor >= 2 || without);
            assert_null(fake.gdpa(fake.device, "vkGetCalibratedTimestampsEXT"));
            program_close(&p);
        }
    }
}

/* PW-8: and so do windows, on a GPU. */
TEST(test_measured)
{
    for (uint32_t gpu = 0; gpu < 2; gpu++) {
        for (uint32_t preemption = 0; preemption < 2; preemption++) {
            setenv("VK_BELFRY_MULTI_ENGINE_PREEMPTION", preemption ? "true" : "false", 1);
            fake_start(&(struct fake_driver){.extensions = both, .gpu = gpu});
            unsetenv("VK_BELFRY_MULTI_ENGINE_PREEMPTION");
            struct program p = program_of(one);
            assert_success(program_create(&p));
            assert_int_equal(fake.requests[0].host_reset, gpu && preemption ? 1 : -1);
            program_close(&p);
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
                    kept[0] = PROGRAM_CHAIN(&p, v12);
                if (s % 3 == 1)
                    kept[1] = PROGRAM_CHAIN(&p, v13);
                if (f2)
                    kept[2] = PROGRAM_CHAIN(&p, features2);
                if (t % 3 == 2)
                    kept[0] = PROGRAM_CHAIN(&p, timeline);
                if (s % 3 == 2)
                    kept[1] = PROGRAM_CHAIN(&p, sync2);
                if (!f2)
                    p.info.pEnabledFeatures =
                        program_put(&p, &features2.features, sizeof(features2.features));
                assert_success(program_create(&p));
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
                for (uint32_t k = 0; k < 3 && !changes; k++)
                    assert_int_equal(request_has_at(r, kept[k]), kept[k] != NULL);
                program_close(&p);
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
                PROGRAM_CHAIN(&p, v12_off);
            else if (orders[order][i] == 1)
                PROGRAM_CHAIN(&p, sync2_off);
            else
                PROGRAM_CHAIN(&p, features2);
        assert_success(program_create(&p));
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
        program_close(&p);
    }
}

/* A struct that Belfry doesn't know. */
struct unknown {
    VkStructureType sType;
    const void *pNext;
    uint64_t secrets[5];
};
static const struct unknown unknown = {.sType = UNKNOWN_TYPE, .secrets = {1, 2, 3}};

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
                PROGRAM_CHAIN(&p, v12);
                PROGRAM_CHAIN(&p, unknown);
            }
            assert_success(program_create(&p));
            const struct fake_request *r = &fake.requests[0];
            bool enabled = with && !unknown_struct;
            assert_int_equal(request_has_extension(r, host_memory[0]), with);
            assert_int_equal(r->host_reset == 1, enabled);
            assert_int_equal(r->addresses == 1, enabled);
            assert_int_equal(r->features_then.shaderInt64, with);
            if (with) /* the program didn't ask for it */
                assert_null(fake.gdpa(fake.device, "vkGetMemoryHostPointerPropertiesEXT"));
            assert_true(is_scheduled());
            program_close(&p);
        }
    }
}

/* A program that names VK_EXT_buffer_device_address has its own feature of that name, and may not
 * have the core's beside it (VUID-VkDeviceCreateInfo-pNext-04748): it has no addresses from
 * Belfry. */
TEST(test_older_buffer_addresses)
{
    static const char *const older[] = {"VK_EXT_buffer_device_address", NULL};
    for (uint32_t names = 0; names < 2; names++) {
        for (uint32_t core_struct = 0; core_struct < 2; core_struct++) {
            unsetenv("VK_BELFRY_MULTI_ENGINE_NATIVE_FENCES");
            fake_start(&(struct fake_driver){.extensions = older, .writes_values = true});
            setenv("VK_BELFRY_MULTI_ENGINE_NATIVE_FENCES", "off", 1);
            struct program p = program_of(one);
            const VkPhysicalDeviceBufferDeviceAddressFeaturesEXT own = {
                VK_TYPE(PHYSICAL_DEVICE_BUFFER_DEVICE_ADDRESS_FEATURES_EXT),
                .bufferDeviceAddress = VK_TRUE};
            const VkPhysicalDeviceVulkan12Features v12 = {
                VK_TYPE(PHYSICAL_DEVICE_VULKAN_1_2_FEATURES)};
            if (core_struct)
                PROGRAM_CHAIN(&p, v12);
            if (names) {
                PROGRAM_CHAIN(&p, own);
                program_extensions(&p, older);
            }
            assert_success(program_create(&p));
            const struct fake_request *r = &fake.requests[0];
            assert_int_equal(r->addresses, !names ? 1 : core_struct ? 0 : -1);
            assert_int_equal(request_has_extension(r, older[0]), names);
            assert_true(is_scheduled());
            program_close(&p);
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
        assert_success(program_create(&p));
        assert_true(is_scheduled());
        bool enabled = offered && shares && !old;
        assert_int_equal(request_has_extension(&fake.requests[0], semaphore_fd[0]),
                         asked || enabled);
        if (enabled && !asked) {
            assert_null(fake.gdpa(fake.device, "vkGetSemaphoreFdKHR"));
            assert_null(fake.gdpa(fake.device, "vkImportSemaphoreFdKHR"));
        }
        if (asked) {
            assert_non_null(fake.gdpa(fake.device, "vkGetSemaphoreFdKHR"));
            assert_non_null(fake.gdpa(fake.device, "vkImportSemaphoreFdKHR"));
        }
        program_close(&p);
    }
}

TEST(test_unknown_struct)
{
    char line[512];
    setenv("VK_BELFRY_MULTI_ENGINE_SPECIALIZE", "off", 1); /* which would say why it is off */
    /* Nothing has to be changed: it goes down where it is. */
    for (uint32_t on = 0; on < 2; on++) {
        fake_start(NULL);
        struct program p = program_of(three);
        VkPhysicalDeviceVulkan12Features v12 = v12_off;
        v12.timelineSemaphore = VK_TRUE;
        if (on)
            PROGRAM_CHAIN(&p, v12);
        const void *own = PROGRAM_CHAIN(&p, unknown);
        assert_success(program_create(&p));
        const struct fake_request *r = &fake.requests[0];
        assert_int_equal(r->timeline, 1);
        assert_int_equal(r->sync2, 1);
        assert_true(request_has_at(r, own));
        assert_true(is_scheduled());
        program_close(&p);
    }
    /* In front of the one that has the features off: that is changed where it is, until the call
     * returns, or the driver refuses: the program's own request is what is tried then. */
    for (uint32_t refused = 0; refused < 2; refused++) {
        fake_start(&(struct fake_driver){
            .create_results = {refused ? VK_ERROR_FEATURE_NOT_PRESENT : VK_SUCCESS}});
        struct program p = program_of(refused ? one : three);
        const void *off = PROGRAM_CHAIN(&p, v12_off);
        const void *own = PROGRAM_CHAIN(&p, unknown);
        lines_begin();
        assert_success(program_create_in(&p, PROT_READ | PROT_WRITE));
        assert_int_equal(lines_end(NULL, 0), refused);
        for (uint32_t i = 0; i <= refused; i++) {
            const struct fake_request *r = &fake.requests[i];
            assert_int_equal(r->timeline, i == 0);
            assert_int_equal(r->chain_count, i == 0 ? 3 : 2);
            assert_ptr_equal(r->chain_at[r->chain_count - 2], own);
            assert_ptr_equal(r->chain_at[r->chain_count - 1], off);
        }
        assert_int_equal(is_scheduled(), !refused);
        program_close(&p);
    }
    /* Where it is a constant: passed through, and said so. */
    fake_start(NULL);
    struct program p = program_of(one);
    const void *off = PROGRAM_CHAIN(&p, v12_off);
    const void *own = PROGRAM_CHAIN(&p, unknown);
    lines_begin();
    assert_success(program_create(&p));
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
    program_close(&p);

    /* The same for queues that only Belfry can give: an error, and a line that says why. */
    fake_start(NULL);
    p = program_of(three);
    PROGRAM_CHAIN(&p, v12_off);
    PROGRAM_CHAIN(&p, unknown);
    lines_begin();
    assert_int_equal(program_create(&p), VK_ERROR_INITIALIZATION_FAILED);
    assert_true(lines_end(line, sizeof(line)) >= 1);
    assert_int_equal(fake.device_tries, 0);
    program_close(&p);
    setenv("VK_BELFRY_MULTI_ENGINE_SPECIALIZE", "exact", 1); /* as the test was started */
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
    PROGRAM_CHAIN(&p, v12_off);
    const struct newer *own = PROGRAM_CHAIN(&p, newer);
    assert_success(program_create(&p));
    const struct fake_request *r = &fake.requests[0];
    assert_int_equal(r->timeline, 1);
    assert_true(is_scheduled());
    assert_true(request_has_struct(r, newer.sType));
    assert_false(request_has_at(r, own));
    program_close(&p);
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
        const void *off = PROGRAM_CHAIN(&p, features2);
        for (int again = 0; again < 2; again++) {
            assert_success(program_create(&p));
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
        program_close(&p);
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
        const void *own = PROGRAM_CHAIN(&p, features2);
        lines_begin();
        assert_success(program_create(&p));
        assert_int_equal(lines_end(line, sizeof(line)), 1);
        assert_non_null(strstr(line, "passed through"));
        assert_int_equal(fake.device_tries, 2);
        assert_int_equal(fake.requests[0].timeline, 1);
        assert_int_equal(fake.requests[1].chain_count, 1);
        assert_ptr_equal(fake.requests[1].chain_at[0], own);
        assert_false(is_scheduled());
        program_close(&p);
    }
    /* The program's own fault: its error, and no talk of passing anything through. */
    for (size_t i = 0; i < 2; i++) {
        for (uint32_t appended = 0; appended < 2; appended++) {
            fake_start(&(struct fake_driver){.create_results = {refusals[i], refusals[i]}});
            struct program p = program_of(appended ? three : one);
            lines_begin();
            assert_int_equal(program_create(&p), refusals[i]);
            lines_end(line, sizeof(line));
            assert_null(strstr(line, "passed through"));
            assert_int_equal(fake.device_tries, appended ? 1 : 2);
            program_close(&p);
        }
    }
    /* Other errors are the program's to hear, at once. */
    static const VkResult others[] = {VK_ERROR_OUT_OF_HOST_MEMORY,    VK_ERROR_OUT_OF_DEVICE_MEMORY,
                                      VK_ERROR_INITIALIZATION_FAILED, VK_ERROR_DEVICE_LOST,
                                      VK_ERROR_TOO_MANY_OBJECTS,      VK_ERROR_NOT_PERMITTED_KHR};
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
        fake_start(&(struct fake_driver){.create_results = {others[i]}});
        struct program p = program_of(one);
        assert_int_equal(program_create(&p), others[i]);
        assert_int_equal(fake.device_tries, 1);
        program_close(&p);
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
            .pPhysicalDevices = program_put(&p, devices, sizeof(devices))};
        PROGRAM_CHAIN(&p, group);
        lines_begin();
        assert_success(program_create(&p));
        uint32_t lines = lines_end(line, sizeof(line));
        assert_int_equal(fake.device_tries, 1);
        assert_true(request_has_struct(&fake.requests[0],
                                       VK_STRUCTURE_TYPE_DEVICE_GROUP_DEVICE_CREATE_INFO));
        assert_int_equal(lines, members == 2);
        assert_int_equal(is_scheduled(), members == 1);
        program_close(&p);
    }
}

/* Groups below, each of that many devices. */
static uint32_t groups_below[3];
static VkResult groups_result;

static VkResult VKAPI_CALL drv_groups(VkInstance instance, uint32_t *count,
                                      VkPhysicalDeviceGroupProperties *groups)
{
    uint32_t n = 0, room = groups ? *count : 3;
    if (groups && groups_result)
        return groups_result;
    for (; n < 3 && groups_below[n] && n < room; n++) {
        if (!groups)
            continue;
        assert_int_equal(groups[n].sType, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_GROUP_PROPERTIES);
        groups[n].physicalDeviceCount = groups_below[n];
        for (uint32_t i = 0; i < groups_below[n]; i++)
            groups[n].physicalDevices[i] = fake.physical;
        groups[n].subsetAllocation = groups_below[n] > 1;
    }
    *count = n;
    return VK_SUCCESS;
}

/* DV-2: what a group's devices show can be had; a device of several has the driver's families. */
TEST(test_enumerated_groups)
{
    static const struct {
        const char *queues, *per_family;
        bool typed, incapable; /* the GPU has a family of each type; no timeline semaphores */
        bool alone;
    } cases[] = {
        {"append", "0", false, false, true},  {"append", "0", true, false, false},
        {"append", "4", true, false, true},   {"append", "0", false, true, false},
        {"native", "0", false, false, false},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct fake_driver driver = {.no_timeline = cases[i].incapable, .extensions = both};
        if (cases[i].typed) {
            driver.family_count = 3;
            driver.families[0] = (VkQueueFamilyProperties){G | C | T, 1, 64, {1, 1, 1}};
            driver.families[1] = (VkQueueFamilyProperties){C | T, 1, 64, {1, 1, 1}};
            driver.families[2] = (VkQueueFamilyProperties){T, 1, 64, {1, 1, 1}};
        }
        setenv("VK_BELFRY_MULTI_ENGINE_QUEUES", cases[i].queues, 1);
        setenv("VK_BELFRY_MULTI_ENGINE_QUEUES_PER_FAMILY", cases[i].per_family, 1);
        fake_load(&driver);
        FAKE_OVERRIDE(vkEnumeratePhysicalDeviceGroups, drv_groups);
        FAKE_OVERRIDE(vkEnumeratePhysicalDeviceGroupsKHR, drv_groups);
        lines_begin(); /* one of a device that isn't capable */
        assert_success(fake_instance(i % 2 ? VK_API_VERSION_1_1 : 0, 0, NULL));
        unsetenv("VK_BELFRY_MULTI_ENGINE_QUEUES");
        unsetenv("VK_BELFRY_MULTI_ENGINE_QUEUES_PER_FAMILY");
        memcpy(groups_below, (uint32_t[]){1, 3, 2}, sizeof(groups_below));
        groups_result = VK_SUCCESS;
        const uint32_t sizes[2][6] = {{1, 3, 2}, {1, 1, 1, 1, 1, 1}};
        uint32_t all = cases[i].alone ? 6 : 3;
        PFN_vkEnumeratePhysicalDeviceGroups ask = (PFN_vkEnumeratePhysicalDeviceGroups)fake.gipa(
            fake.instance,
            i % 2 ? "vkEnumeratePhysicalDeviceGroups" : "vkEnumeratePhysicalDeviceGroupsKHR");
        uint32_t n = 77;
        assert_success(ask(fake.instance, &n, NULL));
        assert_int_equal(n, all);
        for (uint32_t room = 0; room <= 7; room++) {
            VkPhysicalDeviceGroupProperties shown[8];
            memset(shown, 0xee, sizeof(shown));
            n = room;
            assert_int_equal(ask(fake.instance, &n, shown),
                             room < all ? VK_INCOMPLETE : VK_SUCCESS);
            assert_int_equal(n, room < all ? room : all);
            for (uint32_t g = 0; g < n; g++) {
                uint32_t devices = sizes[cases[i].alone][g];
                assert_int_equal(shown[g].physicalDeviceCount, devices);
                assert_int_equal(shown[g].subsetAllocation, devices > 1);
                for (uint32_t k = 0; k < devices; k++)
                    assert_ptr_equal(shown[g].physicalDevices[k], fake.physical);
                assert_int_equal((uint32_t)shown[g].sType, 0xeeeeeeee);
            }
            assert_int_equal(shown[n].physicalDeviceCount, 0xeeeeeeee);
        }
        groups_result = VK_ERROR_INITIALIZATION_FAILED;
        VkPhysicalDeviceGroupProperties shown[8];
        assert_int_equal(ask(fake.instance, &n, shown), groups_result);
        lines_end(NULL, 0);
        fake_close();
    }
}

int main(void)
{
    /* What they ask for has a test of its own. */
    setenv("VK_BELFRY_MULTI_ENGINE_SPARE_QUEUES", "off", 1);
    setenv("VK_BELFRY_MULTI_ENGINE_NATIVE_FENCES", "off", 1);
    setenv("VK_BELFRY_MULTI_ENGINE_LOG", "off", 1);
    return test_run(NULL);
}
