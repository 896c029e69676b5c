/* SPDX-License-Identifier: MIT */
/* The reader of native fence logs (log/reader.h), in one thread: the writer writes when the reader
 * flushes, which is between any two looks at the memory. */
#include "support/test.h"

#include "log_helper.h"

#define MANY 4096

static struct bf_log_item items[MANY];

/* Reads into 'items'; the result must be BF_LOG_READ_OK. */
static uint32_t read_ok(struct bf_log_reader *reader, uint32_t capacity)
{
    uint32_t count = 12345;
    assert_int_equal(bf_log_reader_read(reader, items, capacity, &count), BF_LOG_READ_OK);
    assert_true(count <= capacity);
    return count;
}

/* items[i] is entry 'n', the times included, with 'lost' before it. */
static void assert_item(uint32_t i, uint64_t n, uint64_t lost)
{
    assert_int_equal(items[i].sequence, n);
    assert_int_equal(items[i].lost, lost);
    assert_true(item_is(&items[i], n));
    assert_int_equal(items[i].observed, 4 * n + 2);
    assert_int_equal(items[i].end, 4 * n + 4);
}

static void assert_counts(const struct bf_log_reader *reader, uint64_t delivered, uint64_t lost,
                          uint64_t overruns)
{
    struct bf_log_counts counts = bf_log_reader_counts(reader);
    assert_int_equal(counts.delivered, delivered);
    assert_int_equal(counts.lost, lost);
    assert_int_equal(counts.overruns, overruns);
    assert_int_equal(counts.damaged, 0);
    assert_int_equal(counts.adjusted, 0);
}

/* --- What is written is read ------------------------------------------------------------------*/

TEST(new_log_is_empty_and_entries_come_once_in_order)
{
    BfFenceLogBuffer *log = log_create(84, BF_FENCE_LOG_TYPE_WAITS);
    struct bf_log_reader_info info = log_info(log, 1);
    struct bf_log_reader reader;
    assert_true(bf_log_reader_init(&reader, &info));
    assert_int_equal(read_ok(&reader, MANY), 0);

    uint64_t total = 0;
    log_write(log, &total, 5);
    assert_int_equal(read_ok(&reader, MANY), 5);
    for (uint32_t i = 0; i < 5; i++)
        assert_item(i, i, 0);
    assert_int_equal(read_ok(&reader, MANY), 0);

    /* In batches, and over the end of the buffer. */
    log_write(log, &total, 83);
    assert_int_equal(read_ok(&reader, 0), 0);
    assert_int_equal(read_ok(&reader, 80), 80);
    assert_item(0, 5, 0);
    assert_item(79, 84, 0);
    assert_int_equal(read_ok(&reader, 80), 3);
    assert_item(2, 87, 0);
    assert_int_equal(log->header.position.firstFreeEntryIndex, 4);
    assert_int_equal(log->header.position.wraparoundCount, 1);
    assert_counts(&reader, 88, 0, 0);
    free(log);
}

TEST(oldest_entry_is_lost_as_soon_as_the_writer_may_overwrite_it)
{
    for (uint32_t ahead = 0; ahead < 4; ahead++) {
        BfFenceLogBuffer *log = log_create(4, BF_FENCE_LOG_TYPE_WAITS);
        struct bf_log_reader_info info = log_info(log, ahead);
        struct bf_log_reader reader;
        assert_true(bf_log_reader_init(&reader, &info));
        uint64_t total = 0;
        log_write(log, &total, 4 - ahead);
        assert_int_equal(read_ok(&reader, MANY), 4 - ahead);
        assert_counts(&reader, 4 - ahead, 0, 0);

        log_write(log, &total, 5 - ahead);
        assert_int_equal(read_ok(&reader, MANY), 4 - ahead);
        assert_item(0, 5 - ahead, 1);
        assert_counts(&reader, 2 * (4 - ahead), 1, 1);
        free(log);
    }
}

TEST(overrun_by_several_rounds_is_counted_exactly)
{
    BfFenceLogBuffer *log = log_create(84, BF_FENCE_LOG_TYPE_WAITS);
    struct bf_log_reader_info info = log_info(log, 1);
    struct bf_log_reader reader;
    assert_true(bf_log_reader_init(&reader, &info));
    uint64_t total = 0;
    log_write(log, &total, 10);
    assert_int_equal(read_ok(&reader, MANY), 10);
    log_write(log, &total, 1000);
    assert_int_equal(read_ok(&reader, MANY), 83);
    assert_item(0, 927, 917);
    assert_item(1, 928, 0);
    assert_item(82, 1009, 0);
    assert_counts(&reader, 93, 917, 1);
    free(log);
}

TEST(count_of_wraparounds_may_overflow)
{
    /* Three entries: 3 * 2^32 isn't a power of two. */
    BfFenceLogBuffer *log = log_create(3, BF_FENCE_LOG_TYPE_WAITS);
    struct bf_log_reader_info info = log_info(log, 1);
    struct bf_log_reader reader;
    assert_true(bf_log_reader_init(&reader, &info));
    uint64_t total = 0, modulus = (uint64_t)3 << 32, overflows = 0;
    for (int i = 0; i < 20; i++) {
        uint64_t before = total;
        uint32_t wraparounds = log->header.position.wraparoundCount;
        total += modulus / 2 - 5;
        log_write(log, &total, 2);
        overflows += log->header.position.wraparoundCount < wraparounds;
        assert_int_equal(read_ok(&reader, MANY), 2);
        assert_item(0, total - 2, total - 2 - before);
        assert_item(1, total - 1, 0);
    }
    assert_int_equal(overflows, 9);
    assert_counts(&reader, 40, total - 40, 20);

    /* One by one over it, too. */
    uint64_t before = total;
    total += modulus - 3 - total % modulus;
    assert_true(total > before);
    log_write(log, &total, 0);
    assert_int_equal(read_ok(&reader, MANY), 2);
    for (int i = 0; i < 6; i++) {
        log_write(log, &total, 1);
        assert_int_equal(read_ok(&reader, MANY), 1);
        assert_item(0, total - 1, 0);
    }
    assert_int_equal(log->header.position.wraparoundCount, 1);
    free(log);
}

/* --- What the writer does meanwhile -----------------------------------------------------------*/

struct writer {
    BfFenceLogBuffer *log;
    uint64_t total, random;
    uint64_t burst; /* writes less than so many at a time */
    uint32_t ahead;
    int flushes;
    int fails_at; /* this flush; 0: none does */
};

/* At each flush some more are written, and those ahead are left half-written. */
static bool writer_goes_on(void *context)
{
    struct writer *writer = context;
    log_write(writer->log, &writer->total, random_below(&writer->random, writer->burst));
    for (uint32_t i = 0; i < writer->ahead; i++)
        memset(log_slot(writer->log, writer->total + i), 0xee, random_below(&writer->random, 49));
    return ++writer->flushes != writer->fails_at;
}

TEST(what_is_delivered_was_written_whatever_the_writer_does_meanwhile)
{
    uint64_t random = 1, delivered_in_all = 0;
    for (int round = 0; round < 400; round++) {
        uint32_t ahead = (uint32_t)random_below(&random, 4);
        uint32_t entries = ahead + 1 + (uint32_t)random_below(&random, 40);
        struct writer writer = {.log = log_create(entries, BF_FENCE_LOG_TYPE_WAITS),
                                .random = random_next(&random),
                                .burst = 1 + random_below(&random, 2 * entries),
                                .ahead = ahead};
        struct bf_log_reader_info info = log_info(writer.log, ahead);
        info.flush = writer_goes_on;
        info.context = &writer;
        struct bf_log_reader reader;
        assert_true(bf_log_reader_init(&reader, &info));
        uint64_t next = 0, lost = 0;
        for (int i = 0; i < 100; i++) {
            uint32_t count = read_ok(&reader, (uint32_t)random_below(&random, 2 * entries));
            for (uint32_t j = 0; j < count; j++) {
                next += items[j].lost;
                lost += items[j].lost;
                assert_item(j, next, items[j].lost);
                next++;
            }
            delivered_in_all += count;
        }
        /* The writer pauses: the rest comes, and all is accounted for. */
        writer.burst = 1;
        uint32_t count = read_ok(&reader, MANY);
        for (uint32_t j = 0; j < count; j++) {
            next += items[j].lost;
            lost += items[j].lost;
            assert_item(j, next++, items[j].lost);
        }
        assert_int_equal(next, writer.total);
        struct bf_log_counts counts = bf_log_reader_counts(&reader);
        assert_int_equal(counts.delivered + counts.lost, writer.total);
        assert_int_equal(counts.lost, lost);
        assert_int_equal(counts.damaged, 0);
        free(writer.log);
    }
    assert_true(delivered_in_all > 100000);
}

static bool writer_laps_the_reader(void *context)
{
    struct writer *writer = context;
    log_write(writer->log, &writer->total, writer->log->header.numberOfEntries);
    return ++writer->flushes < 100;
}

TEST(writer_that_is_always_faster_doesnt_keep_the_reader)
{
    struct writer writer = {.log = log_create(8, BF_FENCE_LOG_TYPE_WAITS)};
    struct bf_log_reader_info info = log_info(writer.log, 1);
    info.flush = writer_laps_the_reader;
    info.context = &writer;
    struct bf_log_reader reader;
    assert_true(bf_log_reader_init(&reader, &info));
    assert_int_equal(read_ok(&reader, MANY), 0);
    assert_true(writer.flushes < 20);
    assert_true(bf_log_reader_counts(&reader).lost > 0);

    /* What was lost is told with the first that isn't. */
    reader.info.flush = NULL;
    assert_int_equal(read_ok(&reader, MANY), 7);
    assert_item(0, writer.total - 7, writer.total - 7);
    free(writer.log);
}

static bool writer_laps_the_reader_once(void *context)
{
    struct writer *writer = context;
    if (++writer->flushes == 3)
        log_write(writer->log, &writer->total, writer->log->header.numberOfEntries);
    return true;
}

TEST(batch_that_was_lost_whole_is_read_again_at_once)
{
    struct writer writer = {.log = log_create(8, BF_FENCE_LOG_TYPE_WAITS)};
    struct bf_log_reader_info info = log_info(writer.log, 1);
    info.flush = writer_laps_the_reader_once;
    info.context = &writer;
    struct bf_log_reader reader;
    assert_true(bf_log_reader_init(&reader, &info));
    log_write(writer.log, &writer.total, 1);
    assert_int_equal(read_ok(&reader, MANY), 7);
    assert_item(0, 2, 2);
    assert_counts(&reader, 7, 2, 1);
    free(writer.log);
}

/* --- Flushes ----------------------------------------------------------------------------------*/

TEST(memory_is_flushed_before_each_look_and_a_failure_changes_nothing)
{
    struct writer writer = {.log = log_create(8, BF_FENCE_LOG_TYPE_WAITS), .burst = 1};
    struct bf_log_reader_info info = log_info(writer.log, 1);
    info.flush = writer_goes_on;
    info.context = &writer;
    struct bf_log_reader reader;
    assert_true(bf_log_reader_init(&reader, &info));
    assert_int_equal(writer.flushes, 0);
    assert_int_equal(read_ok(&reader, MANY), 0);
    assert_int_equal(writer.flushes, 1); /* nothing new: the word only */

    log_write(writer.log, &writer.total, 20);
    for (int fails_at = 1; fails_at <= 3; fails_at++) {
        writer.flushes = 0;
        writer.fails_at = fails_at;
        uint32_t count = 12345;
        assert_int_equal(bf_log_reader_read(&reader, items, MANY, &count), BF_LOG_READ_NOT_FLUSHED);
        assert_int_equal(count, 0);
        assert_counts(&reader, 0, 0, 0);
        char text[128];
        bf_log_reader_explain(&reader, BF_LOG_READ_NOT_FLUSHED, text, sizeof(text));
        assert_string_equal(text, "the log of waits couldn't be flushed");
    }
    writer.flushes = 0;
    writer.fails_at = 0;
    assert_int_equal(read_ok(&reader, 5), 5); /* what is known to be lost isn't looked at */
    assert_int_equal(writer.flushes, 3);
    assert_item(0, 13, 13);
    free(writer.log);
}

/* --- Entries that aren't complete yet ---------------------------------------------------------*/

TEST(what_lies_beyond_the_limit_comes_later)
{
    BfFenceLogBuffer *log = log_create(8, BF_FENCE_LOG_TYPE_WAITS);
    struct bf_log_reader_info info = log_info(log, 1);
    struct bf_log_reader reader;
    assert_true(bf_log_reader_init(&reader, &info));
    uint64_t total = 0;
    log_write(log, &total, 5);
    bf_log_reader_set_limit(&reader, 0);
    assert_int_equal(read_ok(&reader, MANY), 0);
    bf_log_reader_set_limit(&reader, 3);
    assert_int_equal(read_ok(&reader, MANY), 3);
    assert_item(2, 2, 0);
    assert_int_equal(read_ok(&reader, MANY), 0);
    bf_log_reader_set_limit(&reader, 1); /* what has been delivered stays so */
    assert_int_equal(read_ok(&reader, MANY), 0);
    bf_log_reader_set_limit(&reader, 100);
    assert_int_equal(read_ok(&reader, MANY), 2);
    assert_item(0, 3, 0);

    bf_log_reader_set_limit(&reader, 7);
    log_write(log, &total, 20); /* 18 to 24 are left, beyond it */
    assert_int_equal(read_ok(&reader, MANY), 0);
    assert_counts(&reader, 5, 13, 1);
    bf_log_reader_set_limit(&reader, 20);
    assert_int_equal(read_ok(&reader, MANY), 2);
    assert_item(0, 18, 13);
    bf_log_reader_set_limit(&reader, UINT64_MAX);
    assert_int_equal(read_ok(&reader, MANY), 5);
    assert_item(4, 24, 0);

    /* Another log has none. */
    bf_log_reader_set_limit(&reader, 0);
    assert_true(bf_log_reader_rebase(&reader, &info.source, UINT64_MAX));
    log_set_total(log, 1);
    assert_int_equal(read_ok(&reader, MANY), 1);
    free(log);
}

/* --- Logs that are re-created -----------------------------------------------------------------*/

TEST(sequence_goes_on_in_a_log_that_is_created_anew)
{
    BfFenceLogBuffer *old = log_create(8, BF_FENCE_LOG_TYPE_WAITS);
    struct bf_log_reader_info info = log_info(old, 1);
    struct bf_log_reader reader;
    assert_true(bf_log_reader_init(&reader, &info));
    uint64_t total = 0;
    log_write(old, &total, 5);
    assert_int_equal(read_ok(&reader, 3), 3);
    log_write(old, &total, 1);

    BfFenceLogBuffer *larger = log_create(100, BF_FENCE_LOG_TYPE_WAITS);
    struct bf_log_source source = log_info(larger, 1).source;
    assert_false(bf_log_reader_rebase(&reader, &source, 4)); /* five were seen */
    assert_true(bf_log_reader_rebase(&reader, &source, 6));
    free(old); /* not touched any more */
    assert_counts(&reader, 3, 3, 0);
    assert_int_equal(read_ok(&reader, MANY), 0);

    /* Entry 'n' of the new one is number 6 + n. */
    total = 0;
    log_write(larger, &total, 2);
    for (uint64_t i = 0; i < 2; i++) {
        BfFenceLogEntry *entry = log_slot(larger, i);
        entry->fenceObservedGpuTimestamp += 100;
        entry->fenceEndGpuTimestamp += 100;
    }
    assert_int_equal(read_ok(&reader, MANY), 2);
    assert_int_equal(items[0].sequence, 6);
    assert_int_equal(items[0].lost, 3);
    assert_true(item_is(&items[0], 0));
    assert_int_equal(items[1].sequence, 7);
    assert_int_equal(items[1].lost, 0);
    assert_counts(&reader, 5, 3, 0);

    /* As many as were seen; and a reset of the same memory. */
    log_write(larger, &total, 1);
    assert_int_equal(read_ok(&reader, 0), 0);
    log_set_total(larger, 0);
    source.ahead = 100;
    assert_false(bf_log_reader_rebase(&reader, &source, UINT64_MAX));
    source.ahead = 0;
    assert_true(bf_log_reader_rebase(&reader, &source, UINT64_MAX));
    log_set_total(larger, 1);
    assert_int_equal(read_ok(&reader, MANY), 1);
    assert_int_equal(items[0].sequence, 9);
    assert_int_equal(items[0].lost, 1);
    free(larger);
}

/* --- Nothing in the memory is trusted ---------------------------------------------------------*/

static void expect_error(struct bf_log_reader *reader, enum bf_log_read expected, const char *line)
{
    uint32_t count = 12345;
    struct bf_log_counts before = bf_log_reader_counts(reader);
    assert_int_equal(bf_log_reader_read(reader, items, MANY, &count), expected);
    assert_int_equal(count, 0);
    struct bf_log_counts after = bf_log_reader_counts(reader);
    assert_memory_equal(&before, &after, sizeof(before));
    char text[128];
    bf_log_reader_explain(reader, expected, text, sizeof(text));
    assert_string_equal(text, line);
    char little[8];
    memset(little, 'x', sizeof(little));
    bf_log_reader_explain(reader, expected, little, 7);
    assert_memory_equal(little, "the lo\0x", 8);
}

TEST(damaged_header_is_an_error_of_one_line)
{
    BfFenceLogBuffer *log = log_create(8, BF_FENCE_LOG_TYPE_SIGNALS);
    struct bf_log_reader_info info = log_info(log, 1);
    struct bf_log_reader reader;
    assert_true(bf_log_reader_init(&reader, &info));
    BfFenceLogHeader good = log->header;

    log->header.type = 7;
    expect_error(&reader, BF_LOG_READ_WRONG_TYPE,
                 "the log of signals is damaged: its type is 7, not 2");
    log->header.type = BF_FENCE_LOG_TYPE_WAITS;
    expect_error(&reader, BF_LOG_READ_WRONG_TYPE,
                 "the log of signals is damaged: its type is 1, not 2");
    log->header = good;
    log->header.numberOfEntries = UINT64_MAX;
    expect_error(&reader, BF_LOG_READ_WRONG_COUNT,
                 "the log of signals is damaged: its number of entries is 18446744073709551615, "
                 "not 8");
    log->header.numberOfEntries = 7;
    expect_error(&reader, BF_LOG_READ_WRONG_COUNT,
                 "the log of signals is damaged: its number of entries is 7, not 8");
    log->header = good;
    log->header.position.firstFreeEntryIndex = 8;
    expect_error(&reader, BF_LOG_READ_INDEX_TOO_HIGH,
                 "the log of signals is damaged: its index is 8, and it has 8 entries");

    /* Healed, it is read on. */
    log->header = good;
    log->header.padding = 5; /* reserved: nobody looks */
    log->header.reserved[0] = log->header.reserved[1] = UINT64_MAX;
    log_set_total(log, 6);
    assert_int_equal(read_ok(&reader, MANY), 6);
    log_set_total(log, 5);
    expect_error(&reader, BF_LOG_READ_WORD_FELL,
                 "the log of signals is damaged: it counts 5 entries, and had 6 before");
    log_set_total(log, 7);
    assert_int_equal(read_ok(&reader, MANY), 1);
    free(log);
}

static bool header_is_damaged(void *context)
{
    struct writer *writer = context;
    if (++writer->flushes == 3)
        writer->log->header.type = 9;
    return true;
}

TEST(header_damaged_while_it_is_read_delivers_nothing)
{
    struct writer writer = {.log = log_create(8, BF_FENCE_LOG_TYPE_WAITS)};
    struct bf_log_reader_info info = log_info(writer.log, 1);
    info.flush = header_is_damaged;
    info.context = &writer;
    struct bf_log_reader reader;
    assert_true(bf_log_reader_init(&reader, &info));
    log_write(writer.log, &writer.total, 20);
    expect_error(&reader, BF_LOG_READ_WRONG_TYPE,
                 "the log of waits is damaged: its type is 9, not 1");
    writer.log->header.type = BF_FENCE_LOG_TYPE_WAITS;
    assert_int_equal(read_ok(&reader, MANY), 7);
    assert_item(0, 13, 13);
    free(writer.log);
}

TEST(damaged_entries_are_lost_and_counted)
{
    static const struct {
        BfFenceLogType type;
        uint32_t good, bad;
    } cases[] = {
        {BF_FENCE_LOG_TYPE_WAITS, 1, 0},
        {BF_FENCE_LOG_TYPE_WAITS, 1, 2},
        {BF_FENCE_LOG_TYPE_SIGNALS, 0, 1},
        {BF_FENCE_LOG_TYPE_SIGNALS, 0, UINT32_MAX},
    };
    for (size_t c = 0; c < sizeof(cases) / sizeof(cases[0]); c++) {
        BfFenceLogBuffer *log = log_create(8, cases[c].type);
        struct bf_log_reader_info info = log_info(log, 0);
        struct bf_log_reader reader;
        assert_true(bf_log_reader_init(&reader, &info));
        for (uint64_t i = 0; i < 8; i++) {
            BfFenceLogEntry *entry = log_slot(log, i);
            entry->operationType = i == 1 || i == 2 || i == 7 ? cases[c].bad : cases[c].good;
            entry->reserved0 = UINT64_MAX;
        }
        log_set_total(log, 8);
        assert_int_equal(read_ok(&reader, MANY), 5);
        assert_int_equal(items[0].sequence, 0);
        assert_int_equal(items[1].sequence, 3);
        assert_int_equal(items[1].lost, 2);
        assert_int_equal(items[1].operation, cases[c].good);
        assert_int_equal(items[1].flags, BF_FENCE_LOG_FLAGS_ALL);
        assert_int_equal(items[4].sequence, 6);
        struct bf_log_counts counts = bf_log_reader_counts(&reader);
        assert_int_equal(counts.delivered, 5);
        assert_int_equal(counts.lost, 3);
        assert_int_equal(counts.damaged, 3);
        assert_int_equal(counts.overruns, 0);
        free(log);
    }
}

TEST(sources_that_cant_be_are_refused)
{
    BfFenceLogBuffer *log = log_create(8, BF_FENCE_LOG_TYPE_WAITS);
    const struct bf_log_reader_info good = log_info(log, 1);
    struct bf_log_reader reader;
    assert_true(bf_log_reader_init(&reader, &good));
    struct bf_log_reader_info info = good;
    info.source.memory = NULL;
    assert_false(bf_log_reader_init(&reader, &info));
    info = good;
    info.source.memory = (char *)log + 4;
    assert_false(bf_log_reader_init(&reader, &info));
    info = good;
    info.source.bytes--;
    assert_false(bf_log_reader_init(&reader, &info));
    info = good;
    info.source.entries = UINT32_MAX;
    assert_false(bf_log_reader_init(&reader, &info));
    info = good;
    info.source.ahead = 8;
    assert_false(bf_log_reader_init(&reader, &info));
    info.source.entries = info.source.ahead = 0;
    assert_false(bf_log_reader_init(&reader, &info));
    info = good;
    info.source.type = (BfFenceLogType)0;
    assert_false(bf_log_reader_init(&reader, &info));
    info.source.type = (BfFenceLogType)3;
    assert_false(bf_log_reader_init(&reader, &info));
    info = good;
    info.valid_bits = 65;
    assert_false(bf_log_reader_init(&reader, &info));
    free(log);
}

/* Any bytes at all, between any two looks. */
static bool memory_is_anything(void *context)
{
    struct writer *writer = context;
    uint64_t entries = (writer->total - sizeof(BfFenceLogHeader)) / sizeof(BfFenceLogEntry);
    unsigned char *bytes = (unsigned char *)writer->log;
    uint64_t changes = random_below(&writer->random, 20);
    for (uint64_t i = 0; i < changes; i++) {
        bytes[random_below(&writer->random, writer->total)] =
            (unsigned char)random_next(&writer->random);
    }
    /* Mostly so that the reader gets further. */
    if (random_below(&writer->random, 4)) {
        writer->log->header.type = BF_FENCE_LOG_TYPE_WAITS;
        writer->log->header.numberOfEntries = entries;
        if (random_below(&writer->random, 4)) {
            writer->log->header.position.firstFreeEntryIndex =
                (uint32_t)random_below(&writer->random, entries);
        }
    }
    return true;
}

TEST(no_bytes_whatever_make_the_reader_stray)
{
    uint64_t random = 2;
    uint64_t results[BF_LOG_READ_WORD_FELL + 1] = {0};
    for (int round = 0; round < 300; round++) {
        uint32_t ahead = (uint32_t)random_below(&random, 3);
        uint32_t entries = ahead + 1 + (uint32_t)random_below(&random, 20);
        struct writer writer = {.log = log_create(entries, BF_FENCE_LOG_TYPE_WAITS),
                                .total = BF_FENCE_LOG_BYTES(entries), /* bytes, here */
                                .random = random_next(&random)};
        struct bf_log_reader_info info = log_info(writer.log, ahead);
        info.flush = memory_is_anything;
        info.context = &writer;
        info.valid_bits = (uint32_t)random_below(&random, 65);
        struct bf_log_reader reader;
        assert_true(bf_log_reader_init(&reader, &info));
        uint64_t next = 0, observed = 0, end = 0;
        for (int i = 0; i < 100; i++) {
            uint32_t capacity = (uint32_t)random_below(&random, 30);
            uint32_t count;
            struct bf_log_item *exact = malloc((capacity + 1) * sizeof(*exact));
            enum bf_log_read result = bf_log_reader_read(&reader, exact, capacity, &count);
            results[result]++;
            assert_true(count <= capacity && (result == BF_LOG_READ_OK || count == 0));
            for (uint32_t j = 0; j < count; j++) {
                next += exact[j].lost;
                assert_int_equal(exact[j].sequence, next++);
                assert_true(!exact[j].observed || exact[j].observed >= observed);
                assert_true(!exact[j].end || exact[j].end >= end);
                assert_true(!exact[j].end || exact[j].observed <= exact[j].end);
                observed = exact[j].observed ? exact[j].observed : observed;
                end = exact[j].end ? exact[j].end : end;
            }
            char text[64];
            bf_log_reader_explain(&reader, result, text, sizeof(text));
            assert_true(strlen(text) > 10 && !strchr(text, '\n'));
            free(exact);
        }
        struct bf_log_counts counts = bf_log_reader_counts(&reader);
        assert_int_equal(counts.delivered + counts.lost, reader.base + reader.cursor);
        free(writer.log);
    }
    for (int i = 0; i <= BF_LOG_READ_WORD_FELL; i++)
        assert_true(i == BF_LOG_READ_NOT_FLUSHED || results[i] > 100);
}
