/* SPDX-License-Identifier: MIT */
/* A folder that goes away again, and keys and verdicts by number. */
#include "archive_helper.h"

#include <dirent.h>
#include <fcntl.h>
#include <ftw.h>
#include <sys/stat.h>

#include "base/message.h"

_Atomic uint32_t lines;
char last_line[1024];

void bf_message(enum bf_message_level level, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(last_line, sizeof(last_line), format, arguments);
    va_end(arguments);
    lines++;
}

int place_setup(void **state)
{
    struct place *place = calloc(1, sizeof(*place));
    /* In memory where possible: thousands of files are written anew. */
    snprintf(place->root, sizeof(place->root), "/dev/shm/belfry-archive-XXXXXX");
    if (!mkdtemp(place->root)) {
        snprintf(place->root, sizeof(place->root), "/tmp/belfry-archive-XXXXXX");
        if (!mkdtemp(place->root))
            return -1;
    }
    snprintf(place->folder, sizeof(place->folder), "%s/a/b", place->root);
    lines = 0;
    *state = place;
    return 0;
}

static int remove_one(const char *path, const struct stat *status, int type, struct FTW *walk)
{
    return remove(path);
}

int place_teardown(void **state)
{
    struct place *place = *state;
    int result = nftw(place->root, remove_one, 8, FTW_DEPTH | FTW_PHYS);
    free(place);
    return result;
}

const char *file_of(const struct place *place, uint32_t key, const char *ending)
{
    static char path[256];
    const struct bf_archive_key whole = key_of(key);
    int at = snprintf(path, sizeof(path), "%s/", place->folder);
    for (uint32_t i = 0; i < BF_ARCHIVE_HASH; i++)
        at += snprintf(path + at, sizeof(path) - (size_t)at, "%02x", whole.hash[i]);
    snprintf(path + at, sizeof(path) - (size_t)at, "%s", ending);
    return path;
}

uint32_t files_with(const struct place *place, const char *part)
{
    uint32_t n = 0;
    DIR *all = opendir(place->folder);
    for (const struct dirent *one; all && (one = readdir(all));)
        n += strstr(one->d_name, part) != NULL;
    if (all)
        closedir(all);
    return n;
}

struct bf_archive *open_at(const char *folder)
{
    struct bf_archive *archive = bf_archive_open(&(struct bf_archive_info){.folder = folder});
    assert_non_null(archive);
    return archive;
}

struct bf_archive *open_again(struct bf_archive *archive, const char *folder)
{
    bf_archive_close(archive);
    return open_at(folder);
}

struct bf_archive_key key_of(uint32_t number)
{
    struct bf_archive_key key = {
        .n_values = (uint8_t)(number % 4 + 1),
        .mask = (uint8_t)(1u << number % 4),
        .form = (uint8_t)(number & 1),
    };
    for (uint32_t i = 0; i < BF_ARCHIVE_HASH; i++)
        key.hash[i] = (uint8_t)((number / 4 + 1) * (2 * i + 1) >> i % 8);
    memcpy(key.hash, &(uint32_t){number / 4}, 4);
    for (uint32_t i = 0; i < BF_ARCHIVE_VALUES; i++)
        key.values[i] = i < key.n_values ? number * 2654435761u + i : 0xDEAD;
    return key;
}

/* The number's bits are spread over all members, so that no mixture of two is a third. */
struct bf_verdict verdict_of(uint32_t number)
{
    return (struct bf_verdict){.code = number & 1 ? BF_VERDICT_KEPT : BF_VERDICT_REJECTED,
                               .reason = (uint16_t)(number * 40503u),
                               .gain = number * 2654435761u >> 8,
                               .n = number & BF_VERDICT_N_MOST};
}

void put(struct bf_archive *archive, uint32_t key_number, uint32_t number)
{
    struct bf_archive_key key = key_of(key_number);
    struct bf_verdict verdict = verdict_of(number);
    assert_success(bf_archive_put(archive, &key, &verdict));
}

uint32_t look(struct bf_archive *archive, uint32_t number)
{
    struct bf_archive_key key = key_of(number);
    struct bf_verdict verdict;
    assert_success(bf_archive_load(archive, key.hash));
    if (bf_archive_barred(archive, key.hash))
        return BARRED;
    if (!bf_archive_find(archive, &key, &verdict))
        return 0;
    struct bf_verdict expected = verdict_of(verdict.n);
    assert_verdict(&verdict, &expected);
    return verdict.n + 1;
}

void assert_verdict(const struct bf_verdict *verdict, const struct bf_verdict *expected)
{
    assert_int_equal(verdict->code, expected->code);
    assert_int_equal(verdict->reason, expected->reason);
    assert_int_equal(verdict->gain, expected->gain);
    assert_int_equal(verdict->n, expected->n);
}

uint8_t *file_read(const char *path, size_t *size)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    assert_true(fd >= 0);
    struct stat status;
    assert_int_equal(fstat(fd, &status), 0);
    *size = (size_t)status.st_size;
    uint8_t *bytes = malloc(*size + 1);
    assert_int_equal(read(fd, bytes, *size), (ssize_t)*size);
    close(fd);
    return bytes;
}

void file_write(const char *path, const void *bytes, size_t size)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, bytes, size), (ssize_t)size);
    close(fd);
}

uint64_t file_size(const char *path)
{
    struct stat status;
    return stat(path, &status) ? 0 : (uint64_t)status.st_size;
}
