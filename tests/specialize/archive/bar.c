/* SPDX-License-Identifier: MIT */
/* The bar of a driver: whom it is told to, and what isn't one. [AR-6, AR-10] */
#include "archive_helper.h"

#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "specialize/archive/driver_bar.h"

#define PLACE_TEST(name_) TEST_ON(name_, place_setup, place_teardown, struct place *place)

/* Different numbers, different drivers: what is held in this process stays so. */
static struct bf_archive_driver driver_of(uint32_t number)
{
    return (struct bf_archive_driver){.driver_id = 13,
                                      .vendor_id = 0x10005,
                                      .driver_version = number,
                                      .driver_name = "llvmpipe",
                                      .driver_info = "Mesa 22.3.6"};
}

static struct bf_driver_bar bar_of(const char *base, uint32_t number)
{
    struct bf_driver_bar bar;
    const struct bf_archive_driver driver = driver_of(number);
    assert_true(bf_driver_bar_init(&bar, base, &driver));
    return bar;
}

static const char *path_of(const struct bf_driver_bar *bar)
{
    static char path[256];
    snprintf(path, sizeof(path), "%s/%s", bar->base, bar->name);
    return path;
}

/* As somebody else asks, with that folder. */
static bool is_up(const char *base, uint32_t number)
{
    struct bf_driver_bar bar = bar_of(base, number);
    bool up = bf_driver_bar_is_up(&bar);
    bf_driver_bar_finish(&bar);
    return up;
}

static void put_up(const char *base, uint32_t number)
{
    struct bf_driver_bar bar = bar_of(base, number);
    bf_driver_bar_put_up(&bar);
    assert_true(bf_driver_bar_is_up(&bar));
    bf_driver_bar_finish(&bar);
}

PLACE_TEST(it_holds_until_its_file_is_deleted)
{
    struct stat status;
    size_t size;
    struct bf_driver_bar bar = bar_of(place->folder, 1);
    assert_false(bf_driver_bar_is_up(&bar));
    assert_int_equal(stat(place->folder, &status), -1); /* who asks makes nothing */
    assert_int_equal(lines, 0);
    bf_driver_bar_put_up(&bar);
    assert_int_equal(lines, 1);
    assert_non_null(strstr(last_line, path_of(&bar)));
    assert_true(bf_driver_bar_is_up(&bar));
    assert_true(is_up(place->folder, 1));
    assert_false(is_up(place->folder, 2));
    assert_int_equal(stat(place->folder, &status), 0);
    assert_int_equal(status.st_mode, S_IFDIR | 0700);
    assert_int_equal(stat(path_of(&bar), &status), 0);
    assert_int_equal(status.st_mode, S_IFREG | 0600);
    uint8_t *text = file_read(path_of(&bar), &size);
    assert_non_null(memmem(text, size, "Mesa 22.3.6", 11));
    assert_int_equal(text[size - 1], '\n');
    free(text);
    bf_driver_bar_put_up(&bar); /* another device, at the same time */
    assert_int_equal(unlink(path_of(&bar)), 0);
    assert_false(bf_driver_bar_is_up(&bar));
    assert_false(is_up(place->folder, 1));
    bf_driver_bar_finish(&bar);
}

PLACE_TEST(other_processes_are_heeded_at_once)
{
    struct bf_driver_bar bar = bar_of(place->folder, 1);
    assert_false(bf_driver_bar_is_up(&bar));
    pid_t other = fork();
    assert_true(other >= 0);
    if (other == 0) {
        put_up(place->folder, 1);
        _exit(0);
    }
    int status;
    assert_int_equal(waitpid(other, &status, 0), other);
    assert_int_equal(status, 0);
    assert_true(bf_driver_bar_is_up(&bar));
    bf_driver_bar_finish(&bar);
}

/* All that identifies the driver, and nothing else. */
PLACE_TEST(it_is_of_a_driver_not_of_a_device)
{
    struct bf_archive_driver others[6];
    for (uint32_t i = 0; i < 6; i++)
        others[i] = driver_of(1);
    others[0].driver_id++;
    others[1].vendor_id++;
    others[2].driver_version++;
    others[3].driver_uuid[15]++;
    others[4].driver_name = "llvmpip";
    others[5].driver_info = "eMesa 22.3.6";
    struct bf_archive_driver device = driver_of(1);
    device.device_id = 7;
    device.api_version = VK_API_VERSION_1_3;
    device.device_name = "a faster one";
    device.cache_uuid[0] = device.device_uuid[0] = 9;
    struct bf_driver_bar bar = bar_of(place->folder, 1), other;
    assert_true(bf_driver_bar_init(&other, place->folder, &device));
    assert_string_equal(bar.name, other.name);
    bf_driver_bar_finish(&other);
    for (uint32_t i = 0; i < 6; i++) {
        assert_true(bf_driver_bar_init(&other, place->folder, &others[i]));
        assert_string_not_equal(bar.name, other.name);
        bf_driver_bar_finish(&other);
    }
    bf_driver_bar_finish(&bar);
}

/* What others could have put there says nothing, and what they could take away is no place. */
PLACE_TEST(what_is_not_ones_own_is_none)
{
    char above[112];
    snprintf(above, sizeof(above), "%s/a", place->root);
    struct bf_driver_bar bar = bar_of(place->folder, 3);
    assert_int_equal(mkdir(above, 0700), 0);
    assert_int_equal(mkdir(place->folder, 0700), 0);
    snprintf(above, sizeof(above), "%s/other", place->root);
    file_write(above, "", 0);
    assert_int_equal(symlink(above, path_of(&bar)), 0);
    assert_false(bf_driver_bar_is_up(&bar));
    assert_int_equal(unlink(path_of(&bar)), 0);
    assert_int_equal(mkdir(path_of(&bar), 0700), 0);
    assert_false(bf_driver_bar_is_up(&bar));
    assert_int_equal(rmdir(path_of(&bar)), 0);
    file_write(path_of(&bar), "", 0);
    assert_true(bf_driver_bar_is_up(&bar));
    if (geteuid() == 0) {
        assert_int_equal(chown(path_of(&bar), 65534, 65534), 0);
        assert_false(bf_driver_bar_is_up(&bar));
        assert_int_equal(chown(path_of(&bar), 0, 0), 0);
        assert_int_equal(chown(place->folder, 65534, 65534), 0);
        assert_false(bf_driver_bar_is_up(&bar));
        assert_int_equal(chown(place->folder, 0, 0), 0);
    }
    static const struct {
        mode_t mode;
        bool good;
    } modes[] = {{0755, true}, {0770, false}, {0702, false}, {01777, true}};
    for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); i++) {
        assert_int_equal(chmod(place->folder, modes[i].mode), 0);
        assert_int_equal(bf_driver_bar_is_up(&bar), modes[i].good);
    }
    /* So it holds here. */
    assert_int_equal(chmod(place->folder, 0777), 0);
    assert_int_equal(unlink(path_of(&bar)), 0);
    bf_driver_bar_put_up(&bar);
    assert_int_equal(access(path_of(&bar), F_OK), -1);
    assert_non_null(strstr(last_line, "until this process ends"));
    assert_non_null(strstr(last_line, place->folder));
    assert_true(bf_driver_bar_is_up(&bar));
    bf_driver_bar_finish(&bar);
}

PLACE_TEST(without_a_folder_it_holds_for_the_process)
{
    char file[112];
    snprintf(file, sizeof(file), "%s/a", place->root);
    file_write(file, "", 0);
    const char *const bases[] = {NULL, "", "relative", place->folder};
    for (uint32_t i = 0; i < 4; i++) {
        assert_false(is_up(NULL, 10 + i));
        lines = 0;
        put_up(bases[i], 10 + i);
        assert_int_equal(lines, 1);
        assert_non_null(strstr(last_line, "until this process ends"));
        assert_true(is_up(NULL, 10 + i));
        assert_true(is_up(place->root, 10 + i));
        assert_false(is_up(NULL, 20 + i));
    }
    assert_int_equal(files_with(place, "driver-"), 0);
}

/* Nor may whoever can open no more files go on. */
PLACE_TEST(what_can_not_be_looked_for_is_there)
{
    struct rlimit before, none;
    put_up(place->folder, 30);
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
    none = (struct rlimit){0, before.rlim_max};
    struct bf_driver_bar bar = bar_of(place->folder, 30);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
    const bool up = bf_driver_bar_is_up(&bar);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
    assert_true(up);
    bf_driver_bar_finish(&bar);
}

/* There are few drivers in a process; of more than can be noted all are left alone. */
TEST(more_drivers_than_can_be_noted)
{
    for (uint32_t i = 0; i < 40; i++)
        put_up(NULL, 100 + i);
    for (uint32_t i = 0; i < 40; i++)
        assert_true(is_up(NULL, 100 + i));
}
