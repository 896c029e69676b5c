/* SPDX-License-Identifier: MIT */
/* Files that are torn, damaged or foreign: no wrong verdict, and nothing lost that is whole (AR-1).
 */
#include "archive_helper.h"

#include <sys/stat.h>

#define RECORDS 5

/* A file of RECORDS verdicts; malloc'ed. */
static uint8_t *make(const struct place *place, size_t *size)
{
    struct bf_archive *archive = open_at(place->folder, 0);
    for (uint32_t i = 0; i < RECORDS; i++)
        put(archive, i, 100 + i);
    bf_archive_close(archive);
    uint8_t *bytes = file_read(place->file, size);
    assert_int_equal(*size, BF_HEADER_SIZE + RECORDS * BF_RECORD_SIZE);
    return bytes;
}

#define PLACE_TEST(name_) TEST_ON(name_, place_setup, place_teardown, struct place *place)

PLACE_TEST(torn_tails_of_every_length)
{
    size_t size;
    uint8_t *bytes = make(place, &size);
    for (size_t length = 0; length <= size; length++) {
        uint32_t whole =
            length < BF_HEADER_SIZE ? 0 : (uint32_t)((length - BF_HEADER_SIZE) / BF_RECORD_SIZE);
        file_write(place->file, bytes, length);
        struct bf_archive *archive = open_at(place->folder, 0);
        for (uint32_t i = 0; i < RECORDS; i++)
            assert_int_equal(look(archive, i), i < whole ? 101 + i : 0);
        /* What comes behind a torn one is found too. */
        put(archive, RECORDS, 7);
        archive = open_again(archive, place->folder, 0);
        for (uint32_t i = 0; i < RECORDS; i++)
            assert_int_equal(look(archive, i), i < whole ? 101 + i : 0);
        assert_int_equal(look(archive, RECORDS), 8);
        bf_archive_close(archive);
    }
    free(bytes);
    assert_int_equal(lines, 0);
}

PLACE_TEST(every_single_bit)
{
    size_t size;
    uint8_t *bytes = make(place, &size);
    for (size_t bit = 0; bit < 8 * size; bit++) {
        bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
        file_write(place->file, bytes, size);
        bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
        struct bf_archive *archive = open_at(place->folder, 0);
        size_t at = bit / 8;
        uint32_t hit =
            at < BF_HEADER_SIZE ? RECORDS : (uint32_t)((at - BF_HEADER_SIZE) / BF_RECORD_SIZE);
        for (uint32_t i = 0; i < RECORDS; i++)
            assert_int_equal(look(archive, i), i == hit ? 0 : 101 + i);
        bf_archive_close(archive);
    }
    free(bytes);
    assert_int_equal(lines, 0);
}

PLACE_TEST(garbage_between_records)
{
    size_t size;
    uint8_t *bytes = make(place, &size);
    uint32_t random = 1;
    for (uint32_t round = 0; round < 200; round++) {
        /* Up to three windows of the scan; every fourth byte looks like the beginning of a
         * record. */
        size_t most = round % 10 == 0 ? 80000 : 300;
        uint8_t *out = malloc(size + (RECORDS + 1) * most);
        size_t n = 0;
        for (uint32_t i = 0; i <= RECORDS; i++) {
            random = random * 1664525u + 1013904223u;
            size_t garbage = (random >> 8) % most;
            for (size_t k = 0; k < garbage; k++) {
                random = random * 1664525u + 1013904223u;
                out[n++] = random >> 30 ? (uint8_t)(random >> 16) : (uint8_t) "BfR1"[k % 4];
            }
            if (i < RECORDS) {
                memcpy(out + n, bytes + BF_HEADER_SIZE + i * BF_RECORD_SIZE, BF_RECORD_SIZE);
                n += BF_RECORD_SIZE;
            }
        }
        file_write(place->file, out, n);
        free(out);
        struct bf_archive *archive = open_at(place->folder, 0);
        for (uint32_t i = 0; i < RECORDS; i++)
            assert_int_equal(look(archive, i), 101 + i);
        bf_archive_close(archive);
    }
    free(bytes);
}

/* Records with a right checksum that have no sense. */
PLACE_TEST(senseless_records)
{
    size_t size;
    uint8_t *bytes = make(place, &size);
    const struct {
        size_t at;
        uint8_t value;
    } changes[] = {{8, 95}, {9, 1},  {10, 0}, {10, 9}, {11, 2}, {13, 9},
                   {92, 0}, {92, 3}, {93, 2}, {94, 1}, {95, 1}};
    for (uint32_t i = 0; i < sizeof(changes) / sizeof(changes[0]); i++) {
        uint8_t *record = bytes + BF_HEADER_SIZE + 2 * BF_RECORD_SIZE;
        uint8_t before[BF_RECORD_SIZE];
        memcpy(before, record, BF_RECORD_SIZE);
        record[changes[i].at] = changes[i].value;
        uint32_t crc = bf_crc32c(record + 8, BF_RECORD_SIZE - 8);
        for (uint32_t k = 0; k < 4; k++)
            record[4 + k] = (uint8_t)(crc >> 8 * k);
        file_write(place->file, bytes, size);
        memcpy(record, before, BF_RECORD_SIZE);
        struct bf_archive *archive = open_at(place->folder, 0);
        for (uint32_t k = 0; k < RECORDS; k++)
            assert_int_equal(look(archive, k), k == 2 ? 0 : 101 + k);
        struct bf_verdict verdict;
        assert_false(bf_archive_find(archive, &(struct bf_archive_key){0}, &verdict));
        bf_archive_close(archive);
    }
    free(bytes);
}

static void replace_format(const struct place *place, bool newer)
{
    remove(place->file);
    size_t size;
    uint8_t *bytes = make(place, &size);
    bytes[8] = newer ? BF_ARCHIVE_FORMAT + 1 : BF_ARCHIVE_FORMAT - 1;
    uint32_t crc = bf_crc32c(bytes, 12);
    for (uint32_t k = 0; k < 4; k++)
        bytes[12 + k] = (uint8_t)(crc >> 8 * k);
    file_write(place->file, bytes, size);
    free(bytes);
    struct bf_archive *archive = open_at(place->folder, 0);
    for (uint32_t i = 0; i < RECORDS; i++)
        assert_int_equal(look(archive, i), 0);
    assert_int_equal(file_size(place->file), BF_HEADER_SIZE);
    put(archive, 1, 1);
    archive = open_again(archive, place->folder, 0);
    assert_int_equal(look(archive, 1), 2);
    assert_int_equal(look(archive, 0), 0);
    bf_archive_close(archive);
}

TEST_WITH(another_format_is_replaced, place_setup, place_teardown)
{
    replace_format(*state, true);
    replace_format(*state, false);
}

/* Those of the first format, which say no mode, are none, even where their header is damaged. */
PLACE_TEST(records_without_a_mode_are_skipped)
{
    size_t size;
    uint8_t *bytes = make(place, &size);
    bytes[8] ^= 1;
    for (uint32_t i = 0; i < RECORDS; i++)
        bytes[BF_HEADER_SIZE + i * BF_RECORD_SIZE + 3] = '1';
    file_write(place->file, bytes, size);
    free(bytes);
    struct bf_archive *archive = open_at(place->folder, 0);
    for (uint32_t i = 0; i < RECORDS; i++)
        assert_int_equal(look(archive, i), 0);
    put(archive, 1, 1);
    archive = open_again(archive, place->folder, 0);
    assert_int_equal(look(archive, 1), 2);
    bf_archive_close(archive);
}

/* Ends without a beginning, beginnings told twice, in any order. */
PLACE_TEST(journals_out_of_order)
{
    size_t unused;
    free(make(place, &unused));
    const struct {
        enum bf_record_kind kind;
        uint32_t key;
        uint64_t owner;
        uint32_t serial;
    } story[] = {
        {BF_RECORD_END, 20, 1, 1},
        {BF_RECORD_BEGIN, 20, 1, 1}, /* ended */
        {BF_RECORD_BEGIN, 21, 1, 2},
        {BF_RECORD_BEGIN, 21, 1, 2}, /* never */
        {BF_RECORD_END, 21, 2, 2},
        {BF_RECORD_END, 21, 1, 3}, /* others' */
        {BF_RECORD_BEGIN, 22, 1, 4},
        {BF_RECORD_BEGIN, 22, 1, 5},
        {BF_RECORD_END, 22, 1, 4}, /* one of two */
        {BF_RECORD_BEGIN, 23, 3, 1},
        {BF_RECORD_BEGIN, 23, 3, 1},
        {BF_RECORD_END, 23, 3, 1},
        {BF_RECORD_END, 23, 3, 1},                     /* ended */
        {BF_RECORD_BEGIN, 24, UINT64_MAX, UINT32_MAX}, /* no owner has such a number */
    };
    size_t n = sizeof(story) / sizeof(story[0]);
    uint8_t bytes[sizeof(story) / sizeof(story[0]) * BF_RECORD_SIZE];
    for (size_t i = 0; i < n; i++) {
        struct bf_archive_key key = key_of(story[i].key);
        struct bf_record record = {
            .kind = story[i].kind, .owner = story[i].owner, .serial = story[i].serial};
        assert_true(bf_archive_key_canonical(&key, &record.key));
        bf_record_encode(&record, bytes + i * BF_RECORD_SIZE);
    }
    file_write(place->file, bytes, sizeof(bytes));
    struct bf_archive *archive = open_at(place->folder, 0);
    assert_int_equal(look(archive, 20), 0);
    assert_int_equal(look(archive, 21), BARRED);
    assert_int_equal(look(archive, 22), BARRED);
    assert_int_equal(look(archive, 23), 0);
    assert_int_equal(look(archive, 24), BARRED);
    bf_archive_close(archive);
}

/* A file that is much too long, of nothing but a hole, is not read to the end, and is replaced. */
PLACE_TEST(a_huge_file_is_replaced)
{
    size_t size;
    free(make(place, &size));
    assert_int_equal(truncate(place->file, (off_t)1 << 40), 0);
    struct bf_archive *archive = open_at(place->folder, 65536);
    for (uint32_t i = 0; i < RECORDS; i++)
        assert_int_equal(look(archive, i), 101 + i);
    put(archive, RECORDS, 100 + RECORDS);
    bf_archive_close(archive);
    assert_in_range(file_size(place->file), 0, 65536);
    archive = open_at(place->folder, 65536);
    for (uint32_t i = 0; i <= RECORDS; i++)
        assert_int_equal(look(archive, i), 101 + i);
    bf_archive_close(archive);
}
