/* SPDX-License-Identifier: MIT */
/* The times that the reader of native fence logs makes of raw stamps (log/reader.h, R-5). */
#include "support/test.h"

#include "log_helper.h"

#define ENTRIES 64

/* A log that is read after each entry. */
struct times {
    BfFenceLogBuffer *log;
    struct bf_log_reader reader;
    uint64_t total;
};

static void times_begin(struct times *t, uint32_t valid_bits, uint64_t time)
{
    t->log = log_create(ENTRIES, BF_FENCE_LOG_TYPE_WAITS);
    t->total = 0;
    struct bf_log_reader_info info = log_info(t->log, 1);
    info.valid_bits = valid_bits;
    info.time = time;
    assert_true(bf_log_reader_init(&t->reader, &info));
}

static void times_end(struct times *t, uint64_t adjusted)
{
    assert_int_equal(bf_log_reader_counts(&t->reader).adjusted, adjusted);
    free(t->log);
}

/* What becomes of the stamps of one more entry. */
static struct bf_log_item stamp(struct times *t, uint64_t observed, uint64_t end, uint32_t flags)
{
    BfFenceLogEntry *entry = log_slot(t->log, t->total);
    *entry = (BfFenceLogEntry){.operationType = BF_FENCE_LOG_OPERATION_WAIT_UNBLOCKED,
                               .reserved0 = flags,
                               .fenceObservedGpuTimestamp = observed,
                               .fenceEndGpuTimestamp = end};
    log_set_total(t->log, ++t->total);
    struct bf_log_item item;
    uint32_t count;
    assert_int_equal(bf_log_reader_read(&t->reader, &item, 1, &count), BF_LOG_READ_OK);
    assert_int_equal(count, 1);
    return item;
}

static void check(struct times *t, uint64_t observed, uint64_t end, uint64_t expected_observed,
                  uint64_t expected_end)
{
    struct bf_log_item item = stamp(t, observed, end, 0);
    assert_int_equal(item.observed, expected_observed);
    assert_int_equal(item.end, expected_end);
}

#define RANGE_36 ((uint64_t)1 << 36)

TEST(stamps_of_36_bits_go_on_over_their_overflow)
{
    struct times t;
    times_begin(&t, 36, 0);
    check(&t, RANGE_36 - 100, RANGE_36 - 90, RANGE_36 - 100, RANGE_36 - 90);
    check(&t, RANGE_36 - 50, 10, RANGE_36 - 50, RANGE_36 + 10);
    check(&t, 320, 330, RANGE_36 + 320, RANGE_36 + 330);
    /* By less than half of it at a time, round and round. */
    uint64_t now = RANGE_36 + 330;
    for (int i = 0; i < 100; i++) {
        now += RANGE_36 / 2 - 1;
        check(&t, (now - 7) % RANGE_36, now % RANGE_36, now - 7, now);
    }
    /* What lies above the valid bits is nothing. */
    now += 5;
    check(&t, 0, now % RANGE_36 + 3 * RANGE_36, 0, now);
    check(&t, RANGE_36, 5 * RANGE_36, 0, 0);
    times_end(&t, 0);
}

TEST(stamp_behind_its_predecessor_is_raised_to_it)
{
    struct times t;
    times_begin(&t, 36, 0);
    check(&t, 900, 1000, 900, 1000);
    check(&t, 800, 999, 900, 1000);
    check(&t, 901, 1, 901, 1000);
    check(&t, 1001, 1002, 1001, 1002);
    times_end(&t, 3);

    times_begin(&t, 36, 0);
    uint64_t first = RANGE_36 / 2 + 10;
    check(&t, 0, first, 0, first);
    check(&t, 0, 11, 0, first);               /* back by less than half the range */
    check(&t, 0, 10, 0, RANGE_36 + 10);       /* by half: forward */
    check(&t, 0, first, 0, RANGE_36 + first); /* by half again */
    /* Over the overflow, too. */
    check(&t, 0, 3, 0, 2 * RANGE_36 + 3);
    check(&t, 0, RANGE_36 - 2, 0, 2 * RANGE_36 + 3);
    times_end(&t, 2);
}

TEST(zero_stays_zero_and_moves_nothing)
{
    struct times t;
    times_begin(&t, 36, 0);
    check(&t, 0, 0, 0, 0);
    check(&t, 0, 1000, 0, 1000);
    check(&t, 0, 0, 0, 0);
    check(&t, 990, 0, 990, 0);
    check(&t, 0, 999, 0, 1000);
    check(&t, 0, 0, 0, 0);
    check(&t, 1001, 1001, 1001, 1001);
    check(&t, 1001, 1001, 1001, 1001); /* the same again is no fault */
    times_end(&t, 1);
}

TEST(observed_is_never_later_than_its_end)
{
    struct times t;
    times_begin(&t, 64, 0);
    check(&t, 100, 90, 90, 90);
    check(&t, 95, 200, 95, 200);
    /* An end after one that had none is not before what was observed there. */
    check(&t, 300, 0, 300, 0);
    check(&t, 250, 280, 300, 300);
    times_end(&t, 3);

    /* The end's own overflow is in between. */
    times_begin(&t, 36, 0);
    check(&t, RANGE_36 - 5, 5, RANGE_36 - 5, RANGE_36 + 5);
    times_end(&t, 0);
}

TEST(known_time_tells_the_overflows_that_were_before)
{
    struct times t;
    times_begin(&t, 36, 7 * RANGE_36 - 100);
    check(&t, 50, 60, 7 * RANGE_36 + 50, 7 * RANGE_36 + 60);
    times_end(&t, 0);
    times_begin(&t, 36, 7 * RANGE_36 + 100);
    check(&t, RANGE_36 - 60, RANGE_36 - 50, 7 * RANGE_36 - 60, 7 * RANGE_36 - 50);
    check(&t, RANGE_36 - 40, 20, 7 * RANGE_36 - 40, 7 * RANGE_36 + 20);

    /* Silence over several overflows. */
    bf_log_reader_set_time(&t.reader, 9 * RANGE_36 + 500);
    check(&t, 480, 490, 9 * RANGE_36 + 480, 9 * RANGE_36 + 490);
    check(&t, 0, 510, 0, 9 * RANGE_36 + 510);
    bf_log_reader_set_time(&t.reader, RANGE_36); /* what lies behind is no news */
    check(&t, 0, 511, 0, 9 * RANGE_36 + 511);
    times_end(&t, 0);

    /* Entries may lie half the range before it, and the wait even longer; later ones don't. */
    times_begin(&t, 36, 7 * RANGE_36 + 100);
    uint64_t long_ago = 7 * RANGE_36 + 110 - RANGE_36 / 2;
    check(&t, (long_ago - 50) % RANGE_36, long_ago % RANGE_36, long_ago - 50, long_ago);
    check(&t, 0, 700, 0, 7 * RANGE_36 + 700);
    times_end(&t, 0);

    /* Before the device's time began there is nothing. */
    times_begin(&t, 36, 10);
    check(&t, 0, RANGE_36 - 10, 0, 1);
    times_end(&t, 0);
}

TEST(stamps_have_any_number_of_bits)
{
    struct times t;
    times_begin(&t, 0, 0);
    check(&t, 5, 6, 0, 0);
    /* But the host's times need no timestamps. */
    struct bf_log_item item = stamp(&t, 7, 8, BF_FENCE_LOG_OBSERVED_FROM_HOST_BIT);
    assert_int_equal(item.observed, 7);
    assert_int_equal(item.end, 0);
    item = stamp(&t, UINT64_MAX - 1, UINT64_MAX,
                 BF_FENCE_LOG_OBSERVED_FROM_HOST_BIT | BF_FENCE_LOG_END_FROM_HOST_BIT);
    assert_int_equal(item.observed, UINT64_MAX - 1);
    assert_int_equal(item.end, UINT64_MAX);
    times_end(&t, 0);

    times_begin(&t, 64, 0);
    check(&t, UINT64_MAX - 1, UINT64_MAX, UINT64_MAX - 1, UINT64_MAX);
    check(&t, 0, 5, 0, UINT64_MAX); /* there is no time after that */
    times_end(&t, 1);

    times_begin(&t, 63, 0);
    check(&t, 0, ((uint64_t)1 << 63) - 1, 0, ((uint64_t)1 << 63) - 1);
    check(&t, 0, 5, 0, ((uint64_t)1 << 63) + 5);
    check(&t, 0, (uint64_t)1 << 62, 0, (uint64_t)3 << 62);
    check(&t, 0, ((uint64_t)1 << 63) - 2, 0, UINT64_MAX - 1);
    check(&t, 0, 5, 0, UINT64_MAX - 1); /* nor a number for it */
    times_end(&t, 0);
}

/* True times, shown in some bits, a little shuffled: what comes out is the true time, or, where it
 * was shuffled, what lies before it. */
TEST(unwrapped_times_are_the_true_ones)
{
    uint64_t random = 3;
    for (int round = 0; round < 200; round++) {
        uint32_t bits = 8 + (uint32_t)random_below(&random, 49);
        uint64_t range = (uint64_t)1 << bits, now = 1 + random_below(&random, range);
        struct times t;
        times_begin(&t, bits, now);
        uint64_t latest = 0, expected_adjusted = 0;
        for (int i = 0; i < 200; i++) {
            now += random_below(&random, range / 4);
            uint64_t back = random_below(&random, 4) ? 0 : random_below(&random, range / 8);
            uint64_t end = back < now ? now - back : 1, expected = end > latest ? end : latest;
            if (end % range == 0)
                continue; /* it would be none */
            expected_adjusted += expected != end;
            struct bf_log_item item = stamp(&t, 0, end % range, 0);
            assert_int_equal(item.end, expected);
            latest = expected;
        }
        times_end(&t, expected_adjusted);
    }
}
