/* SPDX-License-Identifier: MIT */
/* Every name of Vulkan's commands, asked for in each way, for each kind of device: what the table
 * of commands (layer/registry/commands.csv) says of it is what one gets.
 *
 * Usage: belfry-layer-lookup layer/registry/commands.csv */
#include "fake.h"
#include "table.h"

#include <dlfcn.h>

enum answer { NOTHING, THEIRS, OURS };

static enum answer answer(PFN_vkVoidFunction function)
{
    Dl_info info;
    if (!function)
        return NOTHING;
    assert_true(dladdr((void *)function, &info));
    return strstr(info.dli_fname, "libVkLayer_belfry") ? OURS : THEIRS;
}

/* What a device is, or what those of an instance may be. */
struct kind {
    const char *name, *variable, *value;
    struct fake_driver driver;
    bool passed_through, real_families, traced, checked, specialized, adds;
};

static bool is_hidden(const struct table_row *row)
{
    return strstr(row->columns[CARRIES], "queue") && !table_has(row, SUBMITS);
}

/* Is it an extension's that the layer enables for itself on a device of Vulkan 1.1? */
static bool is_added(const char *name, size_t length)
{
    static const char *const added[] = {"vkGetSemaphoreCounterValueKHR",
                                        "vkWaitSemaphoresKHR",
                                        "vkSignalSemaphoreKHR",
                                        "vkQueueSubmit2KHR",
                                        "vkCmdPipelineBarrier2KHR",
                                        "vkCmdSetEvent2KHR",
                                        "vkCmdResetEvent2KHR",
                                        "vkCmdWaitEvents2KHR",
                                        "vkCmdWriteTimestamp2KHR",
                                        "vkCmdWriteBufferMarker2AMD",
                                        "vkGetQueueCheckpointData2NV",
                                        "vkResetQueryPoolEXT",
                                        "vkGetCalibratedTimestampsEXT",
                                        "vkGetCalibratedTimestampsKHR",
                                        "vkGetMemoryHostPointerPropertiesEXT",
                                        "vkGetSemaphoreFdKHR",
                                        "vkImportSemaphoreFdKHR"};
    for (size_t i = 0; i < sizeof(added) / sizeof(added[0]); i++)
        if (strlen(added[i]) == length && memcmp(added[i], name, length) == 0)
            return true;
    return false;
}

/* The stand-in's conditions, for a device, or for who asks an instance. */
static bool is_stood_in(const struct kind *kind, const struct table_row *row, bool instance)
{
    if (table_has(row, LOADER))
        return true;
    bool scheduled = instance || !kind->passed_through;
    if (scheduled &&
        (table_has(row, SUBMITS) ||
         (table_has(row, FAMILIES) && (instance || !kind->real_families)) ||
         (table_has(row, TRACE) && kind->traced) || (table_has(row, ACCESS) && kind->checked)))
        return true;
    return scheduled && kind->specialized && table_has(row, SPECIALIZE) &&
           (!instance || strcmp(row->columns[SPECIALIZE], "device") != 0);
}

static void expect(const struct kind *kind, const char *way, const char *name,
                   PFN_vkVoidFunction function, enum answer expected)
{
    static const char *const words[] = {"nothing", "what lies below", "the layer's own"};
    enum answer got = answer(function);
    if (got != expected)
        fail_msg("%s, %s: %s is %s, expected %s", kind->name, way, name, words[got],
                 words[expected]);
}

static void check_name(const struct kind *kind, const struct table_row *row, const char *name)
{
    const char *handle = row->columns[HANDLE];
    bool global = handle[0] == '\0', physical = strcmp(handle, "VkPhysicalDevice") == 0;
    bool device = !global && !physical && strcmp(handle, "VkInstance") != 0;
    bool asks = strcmp(name, "vkGetInstanceProcAddr") == 0;
    enum answer stand_in = is_stood_in(kind, row, true) ? OURS : THEIRS;

    /* Without an instance: what is global, and what neighbours ask for. */
    expect(kind, "without an instance", name, fake.gipa(VK_NULL_HANDLE, name),
           (global && table_has(row, LOADER)) || asks || strcmp(name, "vkCreateDevice") == 0
               ? OURS
               : NOTHING);
    enum answer of_instance = is_hidden(row) ? NOTHING : stand_in;
    if (asks || strcmp(name, "vkGetDeviceProcAddr") == 0)
        of_instance = OURS;
    expect(kind, "vkGetInstanceProcAddr", name, fake.gipa(fake.instance, name), of_instance);

    PFN_vkVoidFunction of_physical = fake.gpdpa(fake.instance, name);
    if (physical && stand_in == OURS)
        expect(kind, "vk_layerGetPhysicalDeviceProcAddr", name, of_physical, OURS);
    else
        assert_int_not_equal(answer(of_physical), OURS);

    enum answer of_device = device && is_stood_in(kind, row, false) ? OURS : THEIRS;
    if ((is_hidden(row) && !kind->passed_through) || (kind->adds && is_added(name, strlen(name))))
        of_device = NOTHING;
    if (strcmp(name, "vkGetDeviceProcAddr") == 0)
        of_device = OURS;
    expect(kind, "vkGetDeviceProcAddr", name, fake.gdpa(fake.device, name), of_device);
}

/* All names of a command lead to one function. */
static void check_row(const struct kind *kind, const struct table_row *row)
{
    char names[1024];
    snprintf(names, sizeof(names), "%s", row->columns[NAMES]);
    PFN_vkVoidFunction first = NULL, first_of_instance = NULL;
    char *rest = names, *name;
    for (uint32_t i = 0; (name = strsep(&rest, " ")); i++) {
        *strchr(name, ':') = '\0';
        check_name(kind, row, name);
        PFN_vkVoidFunction function = fake.gdpa(fake.device, name);
        PFN_vkVoidFunction of_instance = fake.gipa(fake.instance, name);
        if (i == 0) {
            assert_string_equal(name, row->columns[COMMAND]);
            first_of_instance = of_instance;
        }
        if (answer(of_instance) == OURS)
            assert_ptr_equal(of_instance, first_of_instance);
        if (answer(function) == OURS) {
            assert_true(!first || first == function);
            first = function;
        }
    }
}

TEST(test_every_name)
{
    static const char *const added[] = {
        "VK_KHR_timeline_semaphore",
        "VK_KHR_synchronization2",
        "VK_EXT_host_query_reset",
        "VK_EXT_calibrated_timestamps",
        "VK_EXT_external_memory_host",
        "VK_KHR_external_semaphore_fd",
        NULL,
    };
    const struct kind kinds[] = {
        {.name = "scheduled"},
        {.name = "traced", .variable = "TRACE", .value = "/dev/null", .traced = true},
        {.name = "checked", .variable = "CHECK", .value = "access", .checked = true},
        {.name = "specialized", .variable = "SPECIALIZE", .value = "exact", .specialized = true},
        {.name = "real families", .variable = "QUEUES", .value = "native", .real_families = true},
        {.name = "passed through", .driver.no_sync2 = true, .passed_through = true},
        {.name = "with extensions of its own",
         .driver = {.api_version = VK_API_VERSION_1_1,
                    .extensions = added,
                    .writes_values = true,
                    .shares = true},
         .adds = true},
    };
    static const uint32_t one[] = {1, 0};
    for (size_t k = 0; k < sizeof(kinds) / sizeof(kinds[0]); k++) {
        char variable[64];
        snprintf(variable, sizeof(variable), "VK_BELFRY_MULTI_ENGINE_%s",
                 kinds[k].variable ? kinds[k].variable : "QUEUES");
        setenv("VK_BELFRY_MULTI_ENGINE_SPECIALIZE", "off", 1);
        setenv(variable, kinds[k].value ? kinds[k].value : "append", 1);
        lines_begin(); /* what is passed through says so */
        fake_open(&kinds[k].driver, one);
        lines_end(NULL, 0);
        unsetenv(variable);
        for (uint32_t i = 0; i < table_count; i++)
            check_row(&kinds[k], &table_rows[i]);
        fake_close();
    }
    unsetenv("VK_BELFRY_MULTI_ENGINE_SPECIALIZE");
}

int main(int argc, char **argv)
{
    if (argc != 2)
        return EXIT_FAILURE;
    table_read(argv[1]);
    return test_run(NULL);
}
