/* SPDX-License-Identifier: MIT */
/* Dumps of native fence logs taken apart (log/decode.h). The dumps are made byte by byte, by the
 * offsets that WDDM documents. */
#include "support/test.h"

#include "log/decode.h"

/* --- Dumps ------------------------------------------------------------------------------------*/

struct file {
    uint8_t bytes[1 << 16];
    uint64_t size;
};
static struct file file;

static void put(uint64_t offset, uint64_t value, int bytes)
{
    for (int i = 0; i < bytes; i++)
        file.bytes[offset + (uint64_t)i] = (uint8_t)(value >> 8 * i);
}

static void file_clear(void)
{
    memset(&file, 0, sizeof(file));
}

/* A log of 'entries' at the file's end; entry in slot i tells of fence 1000 + i. Its offset. */
static uint64_t log_add(uint32_t type, uint32_t entries, uint32_t index, uint32_t wraparounds)
{
    uint64_t at = file.size;
    put(at, index, 4);
    put(at + 4, wraparounds, 4);
    put(at + 8, type, 4);
    put(at + 16, entries, 8);
    for (uint32_t i = 0; i < entries; i++) {
        uint64_t entry = at + 40 + 48 * i;
        put(entry, UINT64_MAX - i, 8);
        put(entry + 8, 1000 + i, 4);
        put(entry + 12, 2 - type, 4);
        put(entry + 16, i % 16, 8);
        put(entry + 24, 1ull << 40 | i, 8);
        put(entry + 40, 2ull << 40 | i, 8);
    }
    file.size += 40 + 48 * entries;
    return at;
}

static struct bf_log_dump dump_begin(void)
{
    /* Exactly its size: who reads beyond is found. */
    uint8_t *exact = malloc(file.size ? file.size : 1);
    assert_non_null(exact);
    memcpy(exact, file.bytes, file.size);
    return (struct bf_log_dump){.bytes = exact, .size = file.size};
}

static void dump_end(struct bf_log_dump *dump)
{
    free((void *)dump->bytes);
}

static void expect_log(struct bf_log_dump *dump, uint64_t offset, uint64_t first, uint32_t count)
{
    struct bf_log_decoded log;
    char text[256] = "";
    enum bf_log_decode result = bf_log_decode_next(dump, &log, text, sizeof(text));
    assert_string_equal(text, "");
    assert_int_equal(result, BF_LOG_DECODE_LOG);
    assert_int_equal(log.offset, offset);
    assert_int_equal(log.first, first);
    assert_int_equal(log.count, count);
    assert_int_equal(log.written, first + count);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t slot = (uint32_t)((first + i) % log.entries);
        assert_int_equal(bf_log_decode_slot(&log, i), slot);
        BfFenceLogEntry entry = bf_log_decode_entry(dump, &log, i);
        assert_int_equal(entry.fenceValue, UINT64_MAX - slot);
        assert_int_equal(entry.hNativeFence, 1000 + slot);
        assert_int_equal(entry.operationType, log.type == BF_FENCE_LOG_TYPE_WAITS ? 1 : 0);
        assert_int_equal(entry.reserved0, slot % 16);
        assert_int_equal(entry.fenceObservedGpuTimestamp, 1ull << 40 | slot);
        assert_int_equal(entry.reserved1, 0);
        assert_int_equal(entry.fenceEndGpuTimestamp, 2ull << 40 | slot);
    }
}

static void expect_end(struct bf_log_dump *dump)
{
    struct bf_log_decoded log;
    char text[256] = "";
    enum bf_log_decode result = bf_log_decode_next(dump, &log, text, sizeof(text));
    assert_string_equal(text, "");
    assert_int_equal(result, BF_LOG_DECODE_END);
    dump_end(dump);
}

static void expect_error(struct bf_log_dump *dump, const char *expected)
{
    struct bf_log_decoded log;
    char text[256] = "";
    for (int i = 0; i < 2; i++) {
        assert_int_equal(bf_log_decode_next(dump, &log, text, sizeof(text)), BF_LOG_DECODE_ERROR);
        assert_string_equal(text, expected);
    }
    dump_end(dump);
}

/* --- Good dumps -------------------------------------------------------------------------------*/

TEST(entries_come_by_age_from_the_index)
{
    static const struct {
        uint32_t entries, index, wraparounds;
        uint64_t first;
        uint32_t count;
    } cases[] = {
        {84, 0, 0, 0, 0},    {84, 5, 0, 0, 5}, {84, 0, 1, 0, 84},
        {84, 83, 1, 83, 84}, {1, 0, 9, 8, 1},  {7, 3, UINT32_MAX, 7ull * UINT32_MAX + 3 - 7, 7},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        file_clear();
        log_add(2, cases[i].entries, cases[i].index, cases[i].wraparounds);
        struct bf_log_dump dump = dump_begin();
        expect_log(&dump, 0, cases[i].first, cases[i].count);
        expect_end(&dump);
    }
}

TEST(logs_follow_each_other_packed_or_in_pages)
{
    /* Counts whose last page is full but for 8 bytes, for 24, and nearly empty. */
    static const uint32_t counts[] = {1, 2, 83, 84, 85, 255, 256};
    static const uint32_t indices[] = {0, 1, 2, 3};
    enum { COUNTS = sizeof(counts) / sizeof(counts[0]) };
    for (int pages = 0; pages < 2; pages++) {
        for (size_t a = 0; a < COUNTS; a++) {
            for (size_t b = 0; b < COUNTS; b++) {
                for (size_t i = 0; i < 4; i++) {
                    uint32_t index = indices[i] < counts[b] ? indices[i] : 0;
                    file_clear();
                    log_add(1, counts[a], counts[a] - 1, 0);
                    file.size = pages ? (file.size + 4095) / 4096 * 4096 : file.size;
                    uint64_t second = log_add(2, counts[b], index, 0);
                    file.size = pages ? (file.size + 4095) / 4096 * 4096 : file.size;
                    uint64_t third = log_add(1, 3, 2, 5);
                    struct bf_log_dump dump = dump_begin();
                    expect_log(&dump, 0, 0, counts[a] - 1);
                    expect_log(&dump, second, 0, index);
                    expect_log(&dump, third, 14, 3);
                    expect_end(&dump);
                }
            }
        }
    }
}

TEST(last_page_may_be_cut_off_behind_the_entries)
{
    for (uint64_t zeros = 0; zeros <= 24; zeros++) {
        file_clear();
        log_add(1, 84, 1, 0);
        file.size += zeros;
        struct bf_log_dump dump = dump_begin();
        expect_log(&dump, 0, 0, 1);
        expect_end(&dump);
    }
}

/* --- Bad ones ---------------------------------------------------------------------------------*/

TEST(what_is_no_log_is_told_with_its_offset)
{
    file_clear();
    struct bf_log_dump dump = dump_begin();
    expect_error(&dump,
                 "at byte 0: 0 bytes are left, and a log's header has 40: cut off, or no log");

    file_clear();
    log_add(1, 4, 0, 0);
    file.size = 39;
    dump = dump_begin();
    expect_error(&dump,
                 "at byte 0: 39 bytes are left, and a log's header has 40: cut off, or no log");

    file_clear();
    log_add(1, 4, 0, 0);
    file.size--;
    dump = dump_begin();
    expect_error(&dump, "at byte 16: the number of entries is 4, and the bytes that are left are "
                        "enough for 3: cut off, or damaged");

    file_clear();
    log_add(1, 4, 4, 9);
    dump = dump_begin();
    expect_error(&dump, "at byte 0: the index is 4, not below the number of entries, 4");

    file_clear();
    log_add(1, 4, 0, 0);
    put(8, 3, 4);
    dump = dump_begin();
    expect_error(&dump, "at byte 8: the type is 3, neither 1 (waits) nor 2 (signals): no log, or a "
                        "damaged one");

    file_clear();
    log_add(1, 4, 0, 0);
    put(16, 0, 8);
    dump = dump_begin();
    expect_error(&dump, "at byte 16: the number of entries is 0, not 1 to 4294967295");
    put(16, UINT64_MAX, 8);
    dump = dump_begin();
    expect_error(&dump,
                 "at byte 16: the number of entries is 18446744073709551615, not 1 to 4294967295");

    /* The second one, packed; in a page of its own; and rubbish behind the last. */
    file_clear();
    log_add(1, 84, 1, 0);
    log_add(5, 84, 1, 0);
    dump = dump_begin();
    expect_log(&dump, 0, 0, 1);
    expect_error(&dump,
                 "at byte 4080: the type is 5, neither 1 (waits) nor 2 (signals): no log, or "
                 "a damaged one");

    file_clear();
    log_add(1, 84, 1, 0);
    file.size = 4096;
    log_add(2, 84, 84, 1);
    dump = dump_begin();
    expect_log(&dump, 0, 0, 1);
    expect_error(&dump, "at byte 4096: the index is 84, not below the number of entries, 84");

    file_clear();
    log_add(1, 84, 1, 0);
    put(file.size, 'x', 1);
    file.size += 1;
    dump = dump_begin();
    expect_log(&dump, 0, 0, 1);
    expect_error(&dump,
                 "at byte 4072: 1 bytes are left, and a log's header has 40: cut off, or no log");
}

TEST(no_bytes_whatever_make_the_decoder_stray)
{
    uint32_t random = 1;
    uint64_t logs = 0, errors = 0;
    for (int round = 0; round < 3000; round++) {
        file_clear();
        for (int i = 0; i < 3; i++) {
            random = random * 1664525 + 1013904223;
            uint32_t entries = 1 + (random >> 8) % 100;
            log_add(1 + (random >> 20) % 2, entries, (random >> 12) % (entries + 1), random >> 30);
            file.size = random >> 31 ? (file.size + 4095) / 4096 * 4096 : file.size;
        }
        for (int i = 0; i < round % 8; i++) {
            random = random * 1664525 + 1013904223;
            file.bytes[(random >> 8) % (i % 2 ? 40 : file.size)] = (uint8_t)(random >> 24);
        }
        random = random * 1664525 + 1013904223;
        if (random >> 30 == 0)
            file.size = (random >> 8) % file.size;
        struct bf_log_dump dump = dump_begin();
        struct bf_log_decoded log;
        char text[256] = "";
        uint64_t last = 0;
        enum bf_log_decode result;
        while ((result = bf_log_decode_next(&dump, &log, text, sizeof(text))) ==
               BF_LOG_DECODE_LOG) {
            assert_true(dump.next > last && dump.next <= dump.size);
            last = dump.next;
            logs++;
            for (uint32_t i = 0; i < log.count; i++) {
                assert_true(bf_log_decode_slot(&log, i) < log.entries);
                bf_log_decode_entry(&dump, &log, i);
            }
        }
        errors += result == BF_LOG_DECODE_ERROR;
        assert_int_equal(result == BF_LOG_DECODE_ERROR, strncmp(text, "at byte ", 8) == 0);
        dump_end(&dump);
    }
    assert_true(logs > 3000 && errors > 300);
}
