/* SPDX-License-Identifier: MIT */
/* Every allocation of the parser fails once: an error comes back, nothing leaks, nothing is freed
 * twice, and what is left are defaults. */
#include "settings_helper.h"

#include <sys/stat.h>

void *__real_malloc(size_t size);
void __real_free(void *memory);
void *__wrap_malloc(size_t size);
void __wrap_free(void *memory);

/* Only what the parser allocates is counted: cmocka's and stdio's own calls come outside. */
static bool counting;
static uint32_t until_failure;
static uint32_t allocated;
static int32_t balance;

void *__wrap_malloc(size_t size)
{
    if (!counting)
        return __real_malloc(size);
    if (allocated == until_failure)
        return NULL;
    allocated++;
    balance++;
    return __real_malloc(size);
}

void __wrap_free(void *memory)
{
    if (counting && memory)
        balance--;
    __real_free(memory);
}

static VkResult load_from(const void *program, char *const *environment,
                          struct bf_settings *settings)
{
    return bf_settings_load(program, environment, false, false, true, settings);
}

static VkResult load_attached_from(const void *program, char *const *environment,
                                   struct bf_settings *settings)
{
    return bf_settings_load_attached(2, program, environment, false, true, settings);
}

/* With 'program' as what the program itself sets. */
static void check_every_allocation(VkResult (*load_all)(const void *program,
                                                        char *const *environment,
                                                        struct bf_settings *settings),
                                   const void *program)
{
    char folder[] = "/tmp/belfry_settings_XXXXXX";
    assert_non_null(mkdtemp(folder));
    char path[64], variable[128], home[64];
    snprintf(path, sizeof(path), "%s/s.txt", folder);
    snprintf(variable, sizeof(variable), "VK_LAYER_SETTINGS_PATH=%s", path);
    snprintf(home, sizeof(home), "HOME=%s", folder);
    FILE *file = fopen(path, "w");
    fputs("belfry_multi_engine.trace = /tmp/a\nbelfry_multi_engine.messages = none\n"
          "belfry_multi_engine.unknown = 1\n",
          file);
    fclose(file);

    char *const *environment = ENVIRONMENT(home, variable, "VK_MULTI_ENGINE_TRACE=/tmp/c",
                                           "VK_BELFRY_MULTI_ENGINE_SUMMARY=1");

    VkResult result = VK_ERROR_OUT_OF_HOST_MEMORY;
    uint32_t failures = 0;
    for (until_failure = 0; result != VK_SUCCESS; until_failure++) {
        struct bf_settings settings;
        memset(&settings, 0xff, sizeof(settings));
        allocated = 0;
        balance = 0;
        counting = true;
        result = load_all(program, environment, &settings);
        counting = false;
        if (result != VK_SUCCESS) {
            assert_int_equal(result, VK_ERROR_OUT_OF_HOST_MEMORY);
            assert_int_equal(balance, 0);
            assert_null(settings.trace);
            assert_int_equal(settings.queues, BF_QUEUES_APPEND);
            assert_int_equal(settings.messages, BF_MESSAGE_WARNING);
            assert_string_equal(bf_settings_origin(&settings, BF_KEY_TRACE), "");
            failures++;
        } else {
            assert_string_equal(settings.trace, "/tmp/c");
        }
        counting = true;
        bf_settings_finish(&settings);
        counting = false;
        assert_int_equal(balance, 0);
    }
    assert_in_range(failures, 8, 40);
    unlink(path);
    rmdir(folder);
}

TEST(every_allocation_fails)
{
    const char *trace = "/tmp/b";
    struct {
        const char *layer, *key;
        int type;
        uint32_t count;
        const void *values;
    } value = {BF_LAYER_NAME, "trace", 7, 1, &trace};
    struct {
        VkStructureType type;
        const void *next;
        uint32_t count;
        const void *settings;
    } api = {.type = (VkStructureType)1000496000, .count = 1, .settings = &value};
    VkInstanceCreateInfo info = {.pNext = &api};
    check_every_allocation(load_from, &info);
}

TEST(every_allocation_fails_for_a_device_that_is_attached)
{
    static const BfSetting own[] = {{"trace", "/tmp/b"}, {"tracee", "/tmp/d"}};
    check_every_allocation(load_attached_from, own);
}
