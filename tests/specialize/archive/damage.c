/* SPDX-License-Identifier: MIT */
/* Files that are torn, damaged or foreign: no wrong verdict, and the next one is found (AR-1). */
#include "archive_helper.h"

#define VERDICTS_OF_ONE 3
#define HEADER          48
#define ENTRY           48

/* The file of a pipeline with VERDICTS_OF_ONE verdicts; malloc'ed. */
static uint8_t *make(const struct place *place, size_t *size)
{
    struct bf_archive *archive = open_at(place->folder);
    for (uint32_t i = 0; i < VERDICTS_OF_ONE; i++)
        put(archive, i, 100 + i);
    bf_archive_close(archive);
    uint8_t *bytes = file_read(file_of(place, 0, VERDICTS), size);
    assert_int_equal(*size, HEADER + VERDICTS_OF_ONE * ENTRY + 4);
    return bytes;
}

/* Each verdict is there, or none; then one is put, and found. */
static void check(const struct place *place, bool there)
{
    struct bf_archive *archive = open_at(place->folder);
    for (uint32_t i = 0; i < VERDICTS_OF_ONE; i++)
        assert_int_equal(look(archive, i), there ? 101 + i : 0);
    put(archive, 3, 7);
    archive = open_again(archive, place->folder);
    for (uint32_t i = 0; i < VERDICTS_OF_ONE; i++)
        assert_int_equal(look(archive, i), there ? 101 + i : 0);
    assert_int_equal(look(archive, 3), 8);
    bf_archive_close(archive);
    assert_int_equal(lines, 0);
}

#define PLACE_TEST(name_) TEST_ON(name_, place_setup, place_teardown, struct place *place)

PLACE_TEST(torn_tails_of_every_length)
{
    size_t size;
    uint8_t *bytes = make(place, &size);
    for (size_t length = 0; length <= size; length++) {
        file_write(file_of(place, 0, VERDICTS), bytes, length);
        check(place, length == size);
    }
    free(bytes);
}

PLACE_TEST(every_single_bit)
{
    size_t size;
    uint8_t *bytes = make(place, &size);
    for (size_t bit = 0; bit < 8 * size; bit++) {
        bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
        file_write(file_of(place, 0, VERDICTS), bytes, size);
        bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
        struct bf_archive *archive = open_at(place->folder);
        for (uint32_t i = 0; i < VERDICTS_OF_ONE; i++)
            assert_int_equal(look(archive, i), 0);
        bf_archive_close(archive);
    }
    free(bytes);
    assert_int_equal(lines, 0);
}

PLACE_TEST(something_behind)
{
    size_t size;
    uint8_t *bytes = make(place, &size), *longer = calloc(1, BF_VERDICTS_BYTES_MOST + 4096);
    assert_non_null(longer);
    memcpy(longer, bytes, size);
    const size_t sizes[] = {size + 1, size + ENTRY, BF_VERDICTS_BYTES_MOST,
                            BF_VERDICTS_BYTES_MOST + 1, BF_VERDICTS_BYTES_MOST + 4096};
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        file_write(file_of(place, 0, VERDICTS), longer, sizes[i]);
        check(place, false);
    }
    free(longer);
    free(bytes);
}

/* With a right checksum all the same. */
static void write_changed(const struct place *place, uint8_t *bytes, size_t size, size_t at,
                          uint8_t value)
{
    const uint8_t before = bytes[at];
    bytes[at] = value;
    const uint32_t crc = bf_crc32c(bytes, size - 4);
    memcpy(bytes + size - 4, &crc, 4);
    file_write(file_of(place, 0, VERDICTS), bytes, size);
    bytes[at] = before;
}

PLACE_TEST(of_another_format_or_pipeline)
{
    size_t size;
    uint8_t *bytes = make(place, &size);
    const struct {
        size_t at;
        uint8_t value;
    } changes[] = {
        {0, 'b'},       {8, BF_ARCHIVE_FORMAT - 1}, {8, BF_ARCHIVE_FORMAT + 1}, {12, 2}, {13, 255},
        {16 + 31, 0xEE}};
    for (size_t i = 0; i < sizeof(changes) / sizeof(changes[0]); i++) {
        write_changed(place, bytes, size, changes[i].at, changes[i].value);
        check(place, false);
    }
    free(bytes);
}

/* That one alone isn't there. */
PLACE_TEST(senseless_verdicts)
{
    size_t size;
    uint8_t *bytes = make(place, &size);
    const struct {
        size_t at;
        uint8_t value;
    } changes[] = {{42, 0}, {42, 4}, {44, 2}, {45, 9}, {46, 1}, {47, 1}, {35, 1}, {39, 1}, {28, 1}};
    for (size_t i = 0; i < sizeof(changes) / sizeof(changes[0]); i++) {
        write_changed(place, bytes, size, HEADER + ENTRY + changes[i].at, changes[i].value);
        struct bf_archive *archive = open_at(place->folder);
        for (uint32_t k = 0; k < VERDICTS_OF_ONE; k++)
            assert_int_equal(look(archive, k), k == 1 ? 0 : 101 + k);
        bf_archive_close(archive);
    }
    free(bytes);
}

/* Of two of one key it is the first; neither counts twice. */
PLACE_TEST(the_same_twice)
{
    size_t size;
    uint8_t *bytes = make(place, &size);
    memcpy(bytes + HEADER + ENTRY, bytes + HEADER, ENTRY);
    write_changed(place, bytes, size, 0, bytes[0]);
    struct bf_archive *archive = open_at(place->folder);
    assert_int_equal(look(archive, 0), 101);
    assert_int_equal(look(archive, 1), 0);
    assert_int_equal(look(archive, 2), 103);
    bf_archive_close(archive);
    free(bytes);
}

/* Names that begin as those of files here do are others' business. */
PLACE_TEST(other_files_stay)
{
    char name[300];
    static const char *const endings[] = {"x", ".verdictsx", ".building.", ".building.0123",
                                          ".building.0123456789abcdefg"};
    size_t size;
    free(make(place, &size));
    for (size_t i = 0; i < sizeof(endings) / sizeof(endings[0]); i++) {
        snprintf(name, sizeof(name), "%s", file_of(place, 0, endings[i]));
        file_write(name, "x", 1);
    }
    const uint32_t before = files_with(place, "");
    bf_archive_close(bf_archive_open(&(struct bf_archive_info){place->folder, 1}));
    assert_int_equal(files_with(place, ""), before);
    assert_int_equal(files_with(place, BARRED_), 0);
}
