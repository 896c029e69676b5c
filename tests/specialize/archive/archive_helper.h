/* SPDX-License-Identifier: MIT */
/* What the archive's tests share: a folder that goes away again, keys and verdicts by number, and
 * the lines that go to the user, which are counted instead of written. */
#ifndef BELFRY_TEST_ARCHIVE_HELPER_H
#define BELFRY_TEST_ARCHIVE_HELPER_H

#include "support/test.h"

#include "specialize/archive/folder.h"

struct place {
    char root[64];   /* of this test alone */
    char folder[96]; /* the archive's; not there at first */
};

/* The file of a key's pipeline, with that ending. Good until the next call. */
const char *file_of(const struct place *place, uint32_t key, const char *ending);
#define VERDICTS ".verdicts"
#define BARRED_  ".barred"
/* How many files there are whose name has that in it. */
uint32_t files_with(const struct place *place, const char *part);

/* For cmocka_unit_test_setup_teardown; *state is a struct place. */
int place_setup(void **state);
int place_teardown(void **state);

/* What bf_log was called for. */
extern _Atomic uint32_t lines;
extern char last_line[1024];

/* Has to succeed. */
struct bf_archive *open_at(const char *folder);
struct bf_archive *open_again(struct bf_archive *archive, const char *folder);

/* Different numbers, different keys: of pipeline number / 4. */
struct bf_archive_key key_of(uint32_t number);
/* Different for different numbers, even such of one key. */
struct bf_verdict verdict_of(uint32_t number);
void put(struct bf_archive *archive, uint32_t key, uint32_t verdict);

/* Loads the key's pipeline. 0: unknown; UINT32_MAX: barred; else the number of the verdict and 1.
 * Fails the test for a verdict that was never put. */
uint32_t look(struct bf_archive *archive, uint32_t key);
#define BARRED UINT32_MAX

void assert_verdict(const struct bf_verdict *verdict, const struct bf_verdict *expected);

/* The file's content, malloc'ed. */
uint8_t *file_read(const char *path, size_t *size);
void file_write(const char *path, const void *bytes, size_t size);
uint64_t file_size(const char *path);

#endif
