/* SPDX-License-Identifier: MIT */
/* Trouble with the disk (AR-6, AR-7), and how much there may be on it (AR-5). */
#include "archive_helper.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/auxv.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

ssize_t __real_write(int fd, const void *bytes, size_t size);
ssize_t __wrap_write(int fd, const void *bytes, size_t size);
int __real_renameat(int from_folder, const char *from, int to_folder, const char *to);
int __wrap_renameat(int from_folder, const char *from, int to_folder, const char *to);
unsigned long __real_getauxval(unsigned long type);
unsigned long __wrap_getauxval(unsigned long type);

static size_t room = SIZE_MAX; /* that the disk has left */
static bool no_rename;
static bool secure;

ssize_t __wrap_write(int fd, const void *bytes, size_t size)
{
    if (room == SIZE_MAX)
        return __real_write(fd, bytes, size);
    if (size && room == 0) {
        errno = ENOSPC;
        return -1;
    }
    ssize_t n = __real_write(fd, bytes, size < room ? size : room);
    room -= n > 0 ? (size_t)n : 0;
    return n;
}

int __wrap_renameat(int from_folder, const char *from, int to_folder, const char *to)
{
    if (no_rename) {
        errno = EIO;
        return -1;
    }
    return __real_renameat(from_folder, from, to_folder, to);
}

unsigned long __wrap_getauxval(unsigned long type)
{
    return secure && type == AT_SECURE ? 1 : __real_getauxval(type);
}

/* ---------------------------------------------------------------------------------- Permissions */

/* It says so in one line, and works in memory. */
static void assert_memory_only(const struct place *place, const char *why)
{
    lines = 0;
    struct bf_archive *archive = open_at(place->folder);
    assert_int_equal(lines, 1);
    assert_non_null(strstr(last_line, place->folder));
    if (!strstr(last_line, why))
        fail_msg("'%s' doesn't say '%s'", last_line, why);
    struct bf_archive_key key = key_of(4);
    for (uint32_t i = 0; i < 3; i++)
        put(archive, 0, i);
    assert_int_equal(look(archive, 0), 3);
    assert_success(bf_archive_begin(archive, key.hash));
    bf_archive_end(archive, key.hash);
    assert_success(bf_archive_strike(archive, key.hash));
    assert_int_equal(look(archive, 4), BARRED);
    bf_archive_close(archive);
    assert_int_equal(lines, 1);
}

static void make_folders(const struct place *place)
{
    char above[112];
    snprintf(above, sizeof(above), "%s/a", place->root);
    assert_int_equal(mkdir(above, 0755), 0);
    assert_int_equal(mkdir(place->folder, 0700), 0);
}

#define PLACE_TEST(name_) TEST_ON(name_, place_setup, place_teardown, struct place *place)

PLACE_TEST(folders_are_made)
{
    struct bf_archive *archive = open_at(place->folder);
    put(archive, 0, 0);
    bf_archive_close(archive);
    struct stat status;
    char above[112];
    snprintf(above, sizeof(above), "%s/a", place->root);
    assert_int_equal(stat(above, &status), 0);
    assert_int_equal(status.st_mode, S_IFDIR | 0700);
    assert_int_equal(stat(place->folder, &status), 0);
    assert_int_equal(status.st_mode, S_IFDIR | 0700);
    assert_int_equal(stat(file_of(place, 0, VERDICTS), &status), 0);
    assert_int_equal(status.st_mode, S_IFREG | 0600);
    assert_int_equal(lines, 0);
}

PLACE_TEST(folders_that_are_not_ones_own)
{
    char other[112];
    make_folders(place);
    for (mode_t mode = 1; mode < 0100; mode <<= 1) {
        assert_int_equal(chmod(place->folder, 0700 | mode), 0);
        assert_memory_only(place, "open to other users");
        assert_int_equal(files_with(place, ""), 2);
    }
    assert_int_equal(chmod(place->folder, 0700), 0);
    if (geteuid() == 0) {
        assert_int_equal(chown(place->folder, 65534, 65534), 0);
        assert_memory_only(place, "another user");
    }
    /* A link to a good one. */
    assert_int_equal(rmdir(place->folder), 0);
    snprintf(other, sizeof(other), "%s/other", place->root);
    assert_int_equal(mkdir(other, 0700), 0);
    assert_int_equal(symlink(other, place->folder), 0);
    assert_memory_only(place, "symbolic link");
    /* No folder. */
    assert_int_equal(unlink(place->folder), 0);
    file_write(place->folder, "", 0);
    assert_memory_only(place, "no folder");
    assert_int_equal(unlink(place->folder), 0);
    /* None can be made. */
    char above[112];
    snprintf(above, sizeof(above), "%s/a", place->root);
    assert_int_equal(rmdir(above), 0);
    file_write(above, "", 0);
    assert_memory_only(place, "folder");
}

PLACE_TEST(a_lock_that_is_not_ones_own)
{
    make_folders(place);
    char other[112], lock[112];
    snprintf(other, sizeof(other), "%s/other", place->root);
    snprintf(lock, sizeof(lock), "%s/lock", place->folder);
    file_write(other, "precious", 8);
    assert_int_equal(symlink(other, lock), 0);
    assert_memory_only(place, "can't open");
    assert_int_equal(file_size(other), 8);
    assert_int_equal(unlink(lock), 0);
    assert_int_equal(mkfifo(lock, 0600), 0);
    assert_memory_only(place, "something else");
    assert_int_equal(unlink(lock), 0);
    file_write(lock, "", 0);
    assert_int_equal(chmod(lock, 0604), 0);
    assert_memory_only(place, "open to other users");
    if (geteuid() == 0) {
        assert_int_equal(chmod(lock, 0600), 0);
        assert_int_equal(chown(lock, 65534, 65534), 0);
        assert_memory_only(place, "another user");
    }
}

/* Such a file isn't read, nor written to: one line for what can't be read, one for what can't be
 * written. */
static void assert_left_alone(const struct place *place)
{
    lines = 0;
    struct bf_archive *archive = open_at(place->folder);
    assert_int_equal(look(archive, 0), 0);
    assert_int_equal(lines, 1);
    assert_non_null(strstr(last_line, "can't all be read"));
    for (uint32_t i = 0; i < 3; i++)
        put(archive, 0, 7 + i);
    put(archive, 4, 1);
    assert_int_equal(look(archive, 0), 10);
    assert_int_equal(lines, 2);
    bf_archive_close(archive);
}

PLACE_TEST(verdicts_that_are_not_ones_own)
{
    struct bf_archive *archive = open_at(place->folder);
    size_t size, same;
    put(archive, 0, 5);
    bf_archive_close(archive);
    uint8_t *bytes = file_read(file_of(place, 0, VERDICTS), &size);
    char other[112];
    snprintf(other, sizeof(other), "%s/other", place->root);
    file_write(other, bytes, size);
    for (uint32_t how = 0; how < (geteuid() == 0 ? 4u : 3u); how++) {
        const char *file = file_of(place, 0, VERDICTS);
        unlink(file);
        if (how == 0) {
            assert_int_equal(symlink(other, file), 0);
        } else if (how == 1) {
            assert_int_equal(mkfifo(file, 0600), 0);
        } else {
            file_write(file, bytes, size);
            assert_int_equal(chmod(file, how == 2 ? 0640 : 0600), 0);
            assert_int_equal(how == 2 ? 0 : chown(file, 65534, 65534), 0);
        }
        assert_left_alone(place);
    }
    uint8_t *after = file_read(other, &same);
    assert_int_equal(same, size);
    assert_memory_equal(after, bytes, size);
    free(after);
    free(bytes);
}

/* Runs it in a child, which may change what it likes; it has to return. */
static void in_a_child(void (*run)(const struct place *), const struct place *place)
{
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        run(place);
        _exit(0);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

/* In a child an assertion that fails would go on with the parent's tests. */
#define check(condition_)                                                                          \
    do {                                                                                           \
        if (!(condition_)) {                                                                       \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition_);                       \
            _exit(1);                                                                              \
        }                                                                                          \
    } while (0)

static void child_reads_only(const struct place *place)
{
    check(geteuid() != 0 || seteuid(65534) == 0);
    struct bf_archive *archive = bf_archive_open(&(struct bf_archive_info){place->folder, 0});
    check(archive && lines == 1 && strstr(last_line, "Permission denied"));
    struct bf_archive_key key = key_of(0);
    struct bf_verdict verdict = verdict_of(0);
    check(bf_archive_put(archive, &key, &verdict) == VK_SUCCESS);
    check(bf_archive_find(archive, &key, &verdict));
    bf_archive_close(archive);
    check(lines == 1);
}

PLACE_TEST(a_folder_that_can_only_be_read)
{
    make_folders(place);
    if (geteuid() == 0) {
        assert_int_equal(chmod(place->root, 0755), 0);
        assert_int_equal(chown(place->folder, 65534, 65534), 0);
    }
    assert_int_equal(chmod(place->folder, 0500), 0);
    in_a_child(child_reads_only, place);
    assert_int_equal(chmod(place->folder, 0700), 0);
}

PLACE_TEST(programs_with_more_rights_than_their_user)
{
    secure = true;
    struct bf_archive *archive = open_at(place->folder);
    secure = false;
    put(archive, 0, 1);
    assert_int_equal(look(archive, 0), 2);
    bf_archive_close(archive);
    assert_int_not_equal(access(place->folder, F_OK), 0);
}

/* ----------------------------------------------------------------------------------- Full disks */

PLACE_TEST(a_full_disk)
{
    const size_t whole = 48 + 48 + 4; /* a file of one verdict */
    for (size_t left = 0; left <= 3 * whole; left += 31) {
        lines = 0;
        room = SIZE_MAX;
        struct bf_archive *archive = open_at(place->folder);
        put(archive, 80, 1);

        room = left;
        put(archive, 84, 2);
        put(archive, 88, 3);
        put(archive, 88, 4);
        assert_int_equal(look(archive, 84), 3);
        assert_int_equal(look(archive, 88), 5);
        assert_int_equal(lines, left < 3 * whole);
        if (lines)
            assert_non_null(strstr(last_line, "No space left"));
        assert_int_not_equal(access(file_of(place, 84, VERDICTS), F_OK) == 0, left < whole);

        /* There is space again: with the next verdict, or when closing, all is written. */
        room = SIZE_MAX;
        if (left % 2) {
            put(archive, 92, 5);
            struct bf_archive *other = open_at(place->folder);
            assert_int_equal(look(other, 84), 3);
            bf_archive_close(other);
        }
        archive = open_again(archive, place->folder);
        assert_int_equal(look(archive, 80), 2);
        assert_int_equal(look(archive, 84), 3);
        assert_int_equal(look(archive, 88), 5);
        assert_int_equal(look(archive, 92), left % 2 ? 6 : 0);
        bf_archive_close(archive);
        assert_int_equal(files_with(place, "new"), 0);
        for (uint32_t key = 80; key <= 92; key += 4)
            unlink(file_of(place, key, VERDICTS));
    }
}

/* AR-11: nor is one held up by the verdicts that do. */
PLACE_TEST(a_strike_needs_no_space)
{
    struct bf_archive *archive = open_at(place->folder);
    const struct bf_archive_key key = key_of(84);
    assert_int_equal(look(archive, 84), 0);
    room = 0;
    put(archive, 80, 1);
    put(archive, 88, 1);
    assert_success(bf_archive_strike(archive, key.hash));
    struct bf_archive *other = open_at(place->folder);
    assert_int_equal(look(other, 84), BARRED);
    assert_int_equal(look(other, 80), 0);
    room = SIZE_MAX;
    bf_archive_close(other);
    bf_archive_close(archive);
}

static void child_has_a_limit(const struct place *place)
{
    const struct rlimit limit = {120, 120};
    check(setrlimit(RLIMIT_FSIZE, &limit) == 0);
    struct bf_archive *archive = bf_archive_open(&(struct bf_archive_info){place->folder, 0});
    check(archive);
    for (uint32_t i = 0; i < 12; i++) {
        struct bf_archive_key key = key_of(i);
        struct bf_verdict verdict = verdict_of(i);
        check(bf_archive_put(archive, &key, &verdict) == VK_SUCCESS);
    }
    bf_archive_close(archive);
    check(lines == 1);
    sigset_t waiting;
    check(sigpending(&waiting) == 0 && !sigismember(&waiting, SIGXFSZ));
}

/* Of each pipeline what there was room for stays when more can't be put. */
PLACE_TEST(a_limit_of_file_sizes)
{
    in_a_child(child_has_a_limit, place);
    struct bf_archive *archive = open_at(place->folder);
    for (uint32_t i = 0; i < 12; i++)
        assert_int_equal(look(archive, i), i % 4 == 0 ? i + 1 : 0);
    bf_archive_close(archive);
}

PLACE_TEST(names_that_cannot_be_given)
{
    struct bf_archive *archive = open_at(place->folder);
    put(archive, 0, 1);
    no_rename = true;
    put(archive, 0, 2);
    put(archive, 1, 3);
    no_rename = false;
    assert_int_equal(lines, 1);
    assert_int_equal(files_with(place, "new"), 0);
    archive = open_again(archive, place->folder);
    assert_int_equal(look(archive, 0), 3);
    assert_int_equal(look(archive, 1), 4);
    /* A file that was left behind without its name is in nobody's way. */
    char rest[112];
    snprintf(rest, sizeof(rest), "%s/new", place->folder);
    file_write(rest, "rest", 4);
    put(archive, 2, 4);
    archive = open_again(archive, place->folder);
    assert_int_equal(look(archive, 2), 5);
    assert_int_equal(files_with(place, "new"), 0);
    bf_archive_close(archive);
}

TEST_WITH(files_that_go_away, place_setup, place_teardown)
{
    struct place *place = *state;
    struct bf_archive *archive = open_at(place->folder);
    put(archive, 0, 0);
    assert_int_equal(unlink(file_of(place, 0, VERDICTS)), 0);
    put(archive, 1, 1);
    put(archive, 4, 2);
    struct bf_archive *other = open_at(place->folder);
    assert_int_equal(look(other, 0), 0);
    assert_int_equal(look(other, 1), 2);
    assert_int_equal(look(other, 4), 3);
    bf_archive_close(other);
    assert_int_equal(lines, 0);

    void *again = place;
    place_teardown(&again);
    place_setup(state);
    put(archive, 3, 3);
    put(archive, 4, 4);
    assert_int_equal(lines, 1);
    assert_int_equal(look(archive, 4), 5);
    bf_archive_close(archive);
    assert_int_equal(lines, 1);
}

/* ------------------------------------------------------------------------------------- How much */

#define MOST 16u

static void age(const struct place *place, uint32_t key, time_t seconds)
{
    const struct timespec times[2] = {{.tv_sec = seconds}, {.tv_sec = seconds}};
    assert_int_equal(utimensat(AT_FDCWD, file_of(place, key, VERDICTS), times, 0), 0);
}

/* AR-5: the oldest go, strikes stay. */
PLACE_TEST(the_latest_stay)
{
    const struct bf_archive_info info = {place->folder, MOST};
    struct bf_archive_key struck = key_of(0);
    struct bf_archive *archive = bf_archive_open(&info);
    assert_success(bf_archive_strike(archive, struck.hash));
    for (uint32_t i = 0; i < MOST; i++)
        put(archive, 4 * i, i);
    for (uint32_t i = 0; i < MOST; i++)
        age(place, 4 * i, 1000 + i);
    bf_archive_close(archive);
    bf_archive_close(bf_archive_open(&info));
    assert_int_equal(files_with(place, VERDICTS), MOST);

    archive = bf_archive_open(&info);
    put(archive, 4 * MOST, MOST); /* one too many */
    bf_archive_close(archive);
    archive = bf_archive_open(&info);
    assert_int_equal(files_with(place, VERDICTS), MOST / 2);
    for (uint32_t i = 0; i <= MOST; i++)
        assert_int_equal(look(archive, 4 * i), i == 0 ? BARRED : i > MOST / 2 ? i + 1 : 0);
    bf_archive_close(archive);
    assert_int_equal(lines, 0);
}
