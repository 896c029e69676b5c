/* SPDX-License-Identifier: MIT */
/* vk_layer_settings.txt: where it is found, and everything that can be wrong with one. */
#include "settings_helper.h"

#include <sys/stat.h>

#define FILE_NAME "vk_layer_settings.txt"

struct place {
    char folder[64];     /* working directory of the test */
    char variable[128];  /* VK_LAYER_SETTINGS_PATH=<folder>/named */
    char data_home[128]; /* XDG_DATA_HOME=<folder>/data */
    char home[128];      /* HOME=<folder>/home */
};

static void folder_make(const char *path)
{
    assert_true(mkdir(path, 0755) == 0 || errno == EEXIST);
}

static void file_write(const char *path, const void *bytes, size_t size)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    fclose(file);
}

static void file_put(const char *path, const char *text)
{
    file_write(path, text, strlen(text));
}

static int place_make(void **state)
{
    struct place *place = calloc(1, sizeof(*place));
    snprintf(place->folder, sizeof(place->folder), "/tmp/belfry_settings_XXXXXX");
    assert_non_null(mkdtemp(place->folder));
    assert_int_equal(chmod(place->folder, 0755), 0);
    assert_int_equal(chdir(place->folder), 0);
    snprintf(place->variable, sizeof(place->variable), "VK_LAYER_SETTINGS_PATH=%s/named",
             place->folder);
    snprintf(place->data_home, sizeof(place->data_home), "XDG_DATA_HOME=%s/data", place->folder);
    snprintf(place->home, sizeof(place->home), "HOME=%s/home", place->folder);
    *state = place;
    return 0;
}

static int place_remove(void **state)
{
    struct place *place = *state;
    char command[128];
    snprintf(command, sizeof(command), "rm -rf '%s'", place->folder);
    int result = chdir("/");
    result |= system(command);
    free(place);
    return result;
}

/* Number of queues, as a fingerprint of the file that was read. */
static uint32_t read_with(char *const *environment)
{
    struct loaded l = load(environment);
    assert_string_equal(l.messages, "");
    uint32_t count = l.settings.queues_per_family;
    loaded_finish(&l);
    return count;
}

#define PLACE_TEST(name_) TEST_ON(name_, place_make, place_remove, struct place *place)

PLACE_TEST(where_it_is_found)
{
    assert_int_equal(read_with(ENVIRONMENT(place->home, place->data_home)), 0);

    file_put(FILE_NAME, "belfry_multi_engine.queues_per_family = 1");
    assert_int_equal(read_with(ENVIRONMENT("A=B")), 1);
    assert_int_equal(read_with(NULL), 1);

    /* A named file or folder hides the one in the working directory. */
    file_put("named", "belfry_multi_engine.queues_per_family = 2");
    assert_int_equal(read_with(ENVIRONMENT(place->variable)), 2);
    assert_int_equal(unlink("named"), 0);
    folder_make("named");
    file_put("named/" FILE_NAME, "belfry_multi_engine.queues_per_family = 3");
    assert_int_equal(read_with(ENVIRONMENT(place->variable)), 3);

    /* What vkconfig wrote hides all others; XDG_DATA_HOME stands in for HOME. */
    assert_int_equal(system("mkdir -p home/.local/share/vulkan/settings.d data/vulkan/settings.d"),
                     0);
    file_put("home/.local/share/vulkan/settings.d/" FILE_NAME,
             "belfry_multi_engine.queues_per_family = 4");
    assert_int_equal(read_with(ENVIRONMENT(place->home, place->variable)), 4);
    assert_int_equal(read_with(ENVIRONMENT(place->home, place->data_home, place->variable)), 3);
    file_put("data/vulkan/settings.d/" FILE_NAME, "belfry_multi_engine.queues_per_family = 5");
    assert_int_equal(read_with(ENVIRONMENT(place->home, place->data_home, place->variable)), 5);

    struct loaded l = load(ENVIRONMENT(place->data_home));
    char origin[192];
    snprintf(origin, sizeof(origin), "%s/data/vulkan/settings.d/" FILE_NAME ":1", place->folder);
    assert_string_equal(bf_settings_origin(&l.settings, BF_KEY_QUEUES_PER_FAMILY), origin);
    assert_int_equal(bf_settings_source(&l.settings, BF_KEY_QUEUES_PER_FAMILY), BF_SETTING_FILE);
    loaded_finish(&l);
}

PLACE_TEST(what_it_may_contain)
{
    file_put("named", "\xef\xbb\xbf  belfry_multi_engine.queues=native\r\n"
                      "# belfry_multi_engine.messages = info\r\n"
                      "\r\n"
                      "khronos_validation.debug_action = VK_DBG_LAYER_ACTION_LOG_MSG\n"
                      "   belfry_multi_engine.trace\t =\t /tmp/with space.pftrace \t # comment\r\n"
                      "belfry_multi_engine.queues_per_family = 3\n"
                      "belfry_multi_engine.queues_per_family = 4\n"
                      "no equals sign\n"
                      "= 3\n"
                      "belfry_multi_engine.messages =\n"
                      "belfry_multi_engine.summary = TRUE");
    struct loaded l = load(ENVIRONMENT(place->variable));
    assert_string_equal(l.messages, "");
    assert_int_equal(l.settings.queues, BF_QUEUES_NATIVE);
    assert_string_equal(l.settings.trace, "/tmp/with space.pftrace");
    assert_int_equal(l.settings.queues_per_family, 4);
    assert_int_equal(l.settings.messages, BF_MESSAGE_WARNING);
    assert_true(l.settings.summary);
    loaded_finish(&l);
}

PLACE_TEST(mistakes_cost_one_line)
{
    static const struct {
        const char *text, *line, *nearest;
    } cases[] = {
        {"\nbelfry_multi_engine.quueues = native\n", "named:2:", "'belfry_multi_engine.queues'"},
        {"belfry_multi_engine. = native\n", "named:1:", "'belfry_multi_engine.'\n"},
        {"belfry.trace = x\n", "named:1:", "'belfry_multi_engine.trace'"},
        {"Belfry_multi_engine.Summary = 1\n", "named:1:", "'belfry_multi_engine.summary'"},
        {"\n\nbelfry_multi_engine.queues = none\n", "named:3:", "(native, append)\n"},
        {"belfry_multi_engine.queues_per_family = 1000", "named:1:", "(0 to 64)\n"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        file_put("named", cases[i].text);
        struct loaded l = load(ENVIRONMENT(place->variable));
        assert_one_line(&l, cases[i].line, cases[i].nearest, NULL);
        assert_int_equal(l.settings.queues, BF_QUEUES_APPEND);
        loaded_finish(&l);
    }
}

PLACE_TEST(missing)
{
    file_put(FILE_NAME, "belfry_multi_engine.queues_per_family = 7");
    struct loaded l = load(ENVIRONMENT(place->variable));
    assert_one_line(&l, "VK_LAYER_SETTINGS_PATH", place->folder, "No such file");
    assert_int_equal(l.settings.queues_per_family, 7);
    loaded_finish(&l);

    folder_make("named");
    l = load(ENVIRONMENT(place->variable));
    assert_one_line(&l, "named/" FILE_NAME, "No such file", NULL);
    assert_int_equal(l.settings.queues_per_family, 0);
    loaded_finish(&l);
}

PLACE_TEST(unreadable)
{
    file_put("named", "belfry_multi_engine.queues_per_family = 7");
    assert_int_equal(chmod("named", 0), 0);
    bool root = geteuid() == 0;
    assert_int_equal(root ? seteuid(65534) : 0, 0); /* root may read everything */
    struct loaded l = load(ENVIRONMENT(place->variable));
    assert_int_equal(root ? seteuid(0) : 0, 0);
    assert_one_line(&l, "named", "Permission denied", NULL);
    assert_int_equal(l.settings.queues_per_family, 0);
    loaded_finish(&l);
}

PLACE_TEST(no_regular_file)
{
    assert_int_equal(mkfifo("named", 0644), 0);
    struct loaded l = load(ENVIRONMENT(place->variable));
    assert_one_line(&l, "named", "no regular file", NULL);
    loaded_finish(&l);
}

PLACE_TEST(huge)
{
    const char setting[] = "belfry_multi_engine.queues_per_family = 9\n";
    size_t maximum = 1024 * 1024;
    char *text = malloc(maximum + 1);
    memset(text, '\n', maximum + 1);
    memcpy(text, setting, strlen(setting));

    file_write("named", text, maximum);
    assert_int_equal(read_with(ENVIRONMENT(place->variable)), 9);

    file_write("named", text, maximum + 1);
    struct loaded l = load(ENVIRONMENT(place->variable));
    assert_one_line(&l, "named", "1 MiB", NULL);
    assert_int_equal(l.settings.queues_per_family, 0);
    loaded_finish(&l);

    /* One endless line. */
    memset(text, 'x', maximum);
    memcpy(text, "belfry_multi_engine.messages =", strlen("belfry_multi_engine.messages ="));
    file_write("named", text, maximum);
    l = load(ENVIRONMENT(place->variable));
    assert_one_line(&l, "named:1:", "xxx", NULL);
    loaded_finish(&l);
    memset(text, 'x', maximum);
    memcpy(text, "belfry_multi_engine.", strlen("belfry_multi_engine."));
    text[maximum - 2] = '=';
    file_write("named", text, maximum);
    l = load(ENVIRONMENT(place->variable));
    assert_one_line(&l, "named:1:", "there is no setting", NULL);
    loaded_finish(&l);
    free(text);
}

PLACE_TEST(binary)
{
    const char bytes[] =
        "\0\0belfry_multi_engine.messages\0 = \0info\0\0\nbelfry_multi_engine.message\0s=info\n"
        "belfry_multi_engine.summary = tr\0ue\n";
    file_write("named", bytes, sizeof(bytes) - 1);
    struct loaded l = load(ENVIRONMENT(place->variable));
    assert_int_equal(l.settings.messages, BF_MESSAGE_INFO); /* blanks of another kind */
    assert_int_equal(line_count(l.messages), 2);
    loaded_finish(&l);

    /* Every byte, at random: whatever comes of it, nothing is read or written out of place. */
    uint32_t random = 12345;
    for (unsigned round = 0; round < 200; round++) {
        char noise[512];
        for (size_t i = 0; i < sizeof(noise); i++) {
            random = random * 1664525u + 1013904223u;
            static const char likely[] = "belfry_multi_engine.trace=#\n\r \t\0log0x";
            noise[i] =
                random >> 31 ? (char)(random >> 16) : likely[(random >> 16) % (sizeof(likely) - 1)];
        }
        for (size_t i = 0; i + 32 < sizeof(noise); i += 100)
            memcpy(noise + i, "\nbelfry_multi_engine.", strlen("\nbelfry_multi_engine."));
        file_write("named", noise, sizeof(noise));
        l = load(ENVIRONMENT(place->variable));
        loaded_finish(&l);
    }
}

PLACE_TEST(raised_privileges)
{
    file_put("named", "belfry_multi_engine.trace = /tmp/x\nbelfry_multi_engine.summary = 1\n");
    struct loaded l = load_as(NULL, ENVIRONMENT(place->variable), true, false);
    assert_one_line(&l, "named:1:", "'trace' is ignored", "privileges");
    assert_null(l.settings.trace);
    assert_true(l.settings.summary);
    loaded_finish(&l);
}
