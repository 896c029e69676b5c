/* SPDX-License-Identifier: MIT */
/* Trouble with the disk (AR-6, AR-7), and the cap (AR-4, AR-5). */
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
static const char *lock_file;   /* to look at when a file is renamed; NULL: none */
static uint32_t renames, loose; /* of them, while others might have appended */
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
    if (lock_file) {
        struct flock range = {.l_type = F_RDLCK, .l_whence = SEEK_SET, .l_len = 1};
        int fd = open(lock_file, O_RDWR | O_CLOEXEC);
        loose += fd < 0 || fcntl(fd, F_OFD_SETLK, &range) == 0;
        renames++;
        close(fd);
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
    struct bf_archive *archive = open_at(place->folder, 0);
    assert_int_equal(lines, 1);
    assert_non_null(strstr(last_line, place->folder));
    if (!strstr(last_line, why))
        fail_msg("'%s' doesn't say '%s'", last_line, why);
    struct bf_archive_key key = key_of(1);
    for (uint32_t i = 0; i < 3; i++)
        put(archive, 0, i);
    assert_int_equal(look(archive, 0), 3);
    assert_success(bf_archive_begin(archive, &key));
    assert_success(bf_archive_end(archive, &key));
    assert_success(bf_archive_strike(archive, &key));
    assert_int_equal(look(archive, 1), BARRED);
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
    bf_archive_close(open_at(place->folder, 0));
    struct stat status;
    char above[112];
    snprintf(above, sizeof(above), "%s/a", place->root);
    assert_int_equal(stat(above, &status), 0);
    assert_int_equal(status.st_mode, S_IFDIR | 0700);
    assert_int_equal(stat(place->folder, &status), 0);
    assert_int_equal(status.st_mode, S_IFDIR | 0700);
    assert_int_equal(stat(place->file, &status), 0);
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
        assert_int_not_equal(access(place->file, F_OK), 0);
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

PLACE_TEST(files_that_are_not_ones_own)
{
    make_folders(place);
    char other[112], lock[112];
    snprintf(other, sizeof(other), "%s/other", place->root);
    snprintf(lock, sizeof(lock), "%s/lock", place->folder);
    file_write(other, "precious", 8);
    const char *const files[] = {place->file, lock};
    for (uint32_t i = 0; i < 2; i++) {
        unlink(files[i]);
        assert_int_equal(symlink(other, files[i]), 0);
        assert_memory_only(place, "can't open");
        assert_int_equal(file_size(other), 8);
        assert_int_equal(unlink(files[i]), 0);

        assert_int_equal(mkfifo(files[i], 0600), 0);
        assert_memory_only(place, "something else");
        assert_int_equal(unlink(files[i]), 0);

        file_write(files[i], "", 0);
        assert_int_equal(chmod(files[i], 0604), 0);
        assert_memory_only(place, "open to other users");
        if (geteuid() == 0) {
            assert_int_equal(chmod(files[i], 0600), 0);
            assert_int_equal(chown(files[i], 65534, 65534), 0);
            assert_memory_only(place, "another user");
        }
        assert_int_equal(unlink(files[i]), 0);
    }
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
    struct bf_archive *archive = open_at(place->folder, 0);
    secure = false;
    put(archive, 0, 1);
    assert_int_equal(look(archive, 0), 2);
    bf_archive_close(archive);
    assert_int_not_equal(access(place->folder, F_OK), 0);
}

/* ----------------------------------------------------------------------------------- Full disks */

PLACE_TEST(a_full_disk)
{
    struct bf_archive_key built = key_of(90), dead = key_of(91);
    for (size_t left = 0; left <= 7 * BF_RECORD_SIZE; left += 31) {
        lines = 0;
        room = SIZE_MAX;
        struct bf_archive *archive = open_at(place->folder, 0);
        put(archive, 80, 1);
        assert_success(bf_archive_begin(archive, &built));

        room = left;
        put(archive, 81, 2);
        put(archive, 82, 3);
        assert_success(bf_archive_end(archive, &built));
        assert_success(
            bf_archive_begin(archive, &dead)); /* its end isn't missed if this is not there */
        assert_success(bf_archive_end(archive, &dead));
        put(archive, 82, 4);
        assert_int_equal(look(archive, 81), 3);
        assert_int_equal(look(archive, 82), 5);
        assert_int_equal(lines, left < 6 * BF_RECORD_SIZE);
        if (lines)
            assert_non_null(strstr(last_line, "No space left"));

        /* There is space again: with the next record, or when closing, all is written. */
        room = SIZE_MAX;
        if (left % 2)
            put(archive, 83, 5);
        archive = open_again(archive, place->folder, 0);
        assert_int_equal(look(archive, 80), 2);
        assert_int_equal(look(archive, 81), 3);
        assert_int_equal(look(archive, 82), 5);
        assert_int_equal(look(archive, 83), left % 2 ? 6 : 0);
        assert_int_equal(look(archive, 90), 0);
        assert_int_equal(look(archive, 91), 0);
        bf_archive_close(archive);
        assert_int_equal(unlink(place->file), 0);
    }
}

/* Full from the beginning: neither a file's header nor anything else. */
PLACE_TEST(a_disk_that_was_full)
{
    room = 0;
    struct bf_archive *archive = open_at(place->folder, 65536);
    for (uint32_t i = 0; i < 2000; i++)
        put(archive, i % 20, i);
    assert_int_equal(lines, 1);
    assert_int_equal(look(archive, 3), 1984);
    room = SIZE_MAX;
    archive = open_again(archive, place->folder, 65536);
    for (uint32_t i = 0; i < 20; i++)
        assert_int_not_equal(look(archive, i), 0);
    bf_archive_close(archive);
}

static void child_has_a_limit(const struct place *place)
{
    const struct rlimit limit = {1000, 1000};
    check(setrlimit(RLIMIT_FSIZE, &limit) == 0);
    struct bf_archive *archive = bf_archive_open(&(struct bf_archive_info){place->folder, 0});
    check(archive);
    for (uint32_t i = 0; i < 50; i++) {
        struct bf_archive_key key = key_of(i);
        struct bf_verdict verdict = verdict_of(i);
        check(bf_archive_put(archive, &key, &verdict) == VK_SUCCESS);
    }
    bf_archive_close(archive);
    check(lines == 1);
    sigset_t waiting;
    check(sigpending(&waiting) == 0 && !sigismember(&waiting, SIGXFSZ));
}

PLACE_TEST(a_limit_of_file_sizes)
{
    in_a_child(child_has_a_limit, place);
    struct bf_archive *archive = open_at(place->folder, 0);
    uint32_t n = (1000 - BF_HEADER_SIZE) / BF_RECORD_SIZE;
    for (uint32_t i = 0; i < 50; i++)
        assert_int_equal(look(archive, i), i < n ? i + 1 : 0);
    bf_archive_close(archive);
}

TEST_WITH(files_that_go_away, place_setup, place_teardown)
{
    struct place *place = *state;
    struct bf_archive *archive = open_at(place->folder, 0);
    put(archive, 0, 0);
    assert_int_equal(unlink(place->file), 0);
    put(archive, 1, 1);
    put(archive, 2, 2);
    struct bf_archive *other = open_at(place->folder, 0);
    for (uint32_t i = 0; i < 3; i++)
        assert_int_equal(look(other, i), i ? i + 1 : 0);
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

/* -------------------------------------------------------------------------------------- The cap */

#define CAP  8192u
#define MOST (CAP + CAP / 4)

PLACE_TEST(the_file_is_bounded)
{
    struct bf_archive *archive = open_at(place->folder, CAP);
    struct bf_archive_key barred = key_of(5000), building = key_of(5001);
    assert_success(bf_archive_strike(archive, &barred));
    assert_success(bf_archive_begin(archive, &building));
    uint32_t shrunk = 0;
    for (uint32_t i = 0; i < 3000; i++) {
        uint64_t before = file_size(place->file);
        put(archive, i, i);
        uint64_t after = file_size(place->file);
        shrunk += after < before;
        assert_in_range(after, 0, CAP);
    }
    assert_in_range(shrunk, 3000 * BF_RECORD_SIZE / CAP, 3 * 3000 * BF_RECORD_SIZE / CAP);
    struct bf_archive *other = open_at(place->folder, CAP);
    for (uint32_t i = 0; i < 3000 - CAP / BF_RECORD_SIZE; i++)
        assert_int_equal(look(other, i), 0);
    for (uint32_t i = 3000 - CAP / BF_RECORD_SIZE / 2 + 4; i < 3000; i++)
        assert_int_equal(look(other, i), i + 1);
    assert_int_equal(look(other, 5000), BARRED);
    assert_int_equal(look(other, 5001), 0);
    bf_archive_close(other);
    bf_archive_close(archive);

    /* The build that never ended outlived every compaction. */
    archive = open_at(place->folder, CAP);
    assert_int_equal(look(archive, 5000), BARRED);
    assert_int_equal(look(archive, 5001), BARRED);
    bf_archive_close(archive);
    assert_int_equal(lines, 0);
}

/* Puts verdicts of a key until the file has been compacted; NULL: of the next key each time. */
static void put_until_compacted(const struct place *place, struct bf_archive *archive,
                                uint32_t *key, bool same)
{
    for (uint64_t before = 0; file_size(place->file) >= before; *key += !same) {
        before = file_size(place->file);
        put(archive, *key, *key);
    }
}

/* What one compaction has kept competes in the next by its age. */
PLACE_TEST(the_latest_stay)
{
    const uint32_t stay = CAP / 2 / BF_RECORD_SIZE, fresh = stay / 2;
    struct bf_archive *archive = open_at(place->folder, CAP);
    uint32_t key = 0;
    put_until_compacted(place, archive, &key, false);
    for (uint32_t i = 0; i < fresh; i++) {
        put(archive, key, key);
        key++;
    }
    put_until_compacted(place, archive, &key, true);
    archive = open_again(archive, place->folder, CAP);
    for (uint32_t i = 0; i < stay - 2; i++)
        assert_int_not_equal(look(archive, key - i), 0);
    for (uint32_t i = stay + 2; i < key; i++)
        assert_int_equal(look(archive, key - i), 0);
    bf_archive_close(archive);
}

/* What is superseded goes first: nothing that counts is lost. */
PLACE_TEST(compaction_loses_nothing)
{
    uint32_t keys = CAP / 2 / BF_RECORD_SIZE - 1;
    char lock[112];
    snprintf(lock, sizeof(lock), "%s/lock", place->folder);
    lock_file = lock;
    struct bf_archive *archive = open_at(place->folder, CAP);
    for (uint32_t i = 0; i < 4000; i++) {
        put(archive, i * 7 % keys, i);
        struct bf_archive_key key = key_of(i * 7 % keys);
        assert_success(bf_archive_begin(archive, &key));
        assert_success(bf_archive_end(archive, &key));
    }
    for (uint32_t run = 0; run < 2; run++) {
        for (uint32_t i = 4000 - keys; i < 4000; i++)
            assert_int_equal(look(archive, i * 7 % keys), i + 1);
        archive = open_again(archive, place->folder, CAP);
    }
    bf_archive_close(archive);
    assert_in_range(renames, 10, 1000);
    assert_int_equal(loose, 0);
    lock_file = NULL;
}

PLACE_TEST(compaction_that_fails)
{
    struct bf_archive *archive = open_at(place->folder, CAP);
    no_rename = true;
    for (uint32_t i = 0; i < 1000; i++) {
        put(archive, i % 30, i);
        assert_in_range(file_size(place->file), 0, MOST);
    }
    assert_int_equal(lines, 1);
    char other[128];
    snprintf(other, sizeof(other), "%s.new", place->file);
    assert_int_not_equal(access(other, F_OK), 0);
    no_rename = false;
    /* One that was left behind is in nobody's way. */
    file_write(other, "rest", 4);
    for (uint32_t i = 1000; i < 1200; i++)
        put(archive, i % 30, i);
    assert_int_not_equal(access(other, F_OK), 0);
    archive = open_again(archive, place->folder, CAP);
    for (uint32_t i = 1170; i < 1200; i++)
        assert_int_equal(look(archive, i % 30), i + 1);
    bf_archive_close(archive);
    assert_in_range(file_size(place->file), 0, CAP);
}

/* Memory is bounded as the file is. */
TEST(memory_is_bounded)
{
    struct bf_archive *archive = open_at(NULL, CAP);
    for (uint32_t i = 0; i < 2 * CAP / BF_RECORD_SIZE; i++)
        put(archive, i, i);
    for (uint32_t i = 0; i < 2 * CAP / BF_RECORD_SIZE; i++)
        assert_int_equal(look(archive, i), i < CAP / BF_RECORD_SIZE ? i + 1 : 0);
    put(archive, 0, 77);
    assert_int_equal(look(archive, 0), 78);
    bf_archive_close(archive);
}
