/* SPDX-License-Identifier: MIT */
/* The reader of native fence logs (log/reader.h) against a thread that writes one at full speed,
 * without any lock: everything that is delivered is exactly what was written, in order, and what is
 * not delivered is counted.
 *
 * The writer owes R-1. Its stores of an entry release, so that who sees one of them sees the word
 * that was written before; and its store of the word releases the entries that it counts. */
#include "support/test.h"

#include "log_helper.h"

/* The sanitizer slows the writer down more than the reader; fewer entries do. */
#if defined(__SANITIZE_THREAD__)
#define SHARE 8
#else
#define SHARE 1
#endif

struct writing {
    BfFenceLogBuffer *log;
    uint64_t start; /* the first entry's number, for an overflow on the way */
    uint64_t count;
    uint32_t ahead;
    uint64_t pause; /* rests now and then, for a random time below this; 0: never */
};

static void word_store(BfFenceLogBuffer *log, uint64_t total)
{
    __atomic_store_n(&log->header.atomicWraparoundAndEntryIndex,
                     bfFenceLogWord(total, (uint32_t)log->header.numberOfEntries),
                     __ATOMIC_RELEASE);
}

static void *writer_run(void *argument)
{
    const struct writing *writing = argument;
    uint64_t random = 4, end = writing->start + writing->count;
    for (uint64_t n = writing->start; n < end; n++) {
        /* The word is as late as R-1 allows: it counts all but the 'ahead' - 1 newest. */
        if (n + 1 >= writing->start + writing->ahead)
            word_store(writing->log, n + 1 - writing->ahead);
        uint64_t words[6];
        entry_make(n, words);
        uint64_t *slot = log_slot(writing->log, n);
        for (int i = 0; i < 6; i++)
            __atomic_store_n(&slot[i], words[i], __ATOMIC_RELEASE);
        if (writing->pause && n % 64 == 0)
            for (uint64_t i = random_below(&random, writing->pause); i > 0; i--)
                __asm__ volatile("");
    }
    word_store(writing->log, end);
    return NULL;
}

static void run(uint32_t entries, uint32_t ahead, uint64_t start, uint64_t count, uint64_t pause,
                uint32_t capacity)
{
    count /= SHARE;
    struct writing writing = {.log = log_create(entries, BF_FENCE_LOG_TYPE_WAITS),
                              .start = start,
                              .count = count,
                              .ahead = ahead,
                              .pause = pause};
    struct bf_log_reader_info info = log_info(writing.log, ahead);
    struct bf_log_reader reader;
    assert_true(bf_log_reader_init(&reader, &info));
    struct bf_log_item *items = calloc(capacity, sizeof(*items));
    assert_non_null(items);

    /* What lies before 'start' counts as lost, in steps that the reader can follow. */
    uint64_t half = (uint64_t)entries << 31;
    uint32_t got;
    for (uint64_t total = 0; total < start;) {
        total = start - total > half ? total + half : start;
        log_set_total(writing.log, total);
        assert_int_equal(bf_log_reader_read(&reader, items, 0, &got), BF_LOG_READ_OK);
    }
    for (uint32_t i = 0; i < entries; i++) {
        uint64_t words[6];
        entry_make(start - entries + i, words);
        memcpy(log_slot(writing.log, start - entries + i), words, sizeof(words));
    }

    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, writer_run, &writing), 0);
    uint64_t next = 0, delivered = 0, lost = 0;
    while (next < start + count) {
        enum bf_log_read result = bf_log_reader_read(&reader, items, capacity, &got);
        assert_int_equal(result, BF_LOG_READ_OK);
        for (uint32_t i = 0; i < got; i++) {
            lost += items[i].lost;
            next += items[i].lost;
            assert_true(items[i].sequence == next && item_is(&items[i], next) &&
                        items[i].observed == 4 * next + 2 && items[i].end == 4 * next + 4);
            next++;
        }
        delivered += got;
    }
    assert_int_equal(pthread_join(thread, NULL), 0);

    assert_int_equal(next, start + count);
    assert_int_equal(delivered + lost, start + count);
    struct bf_log_counts counts = bf_log_reader_counts(&reader);
    assert_int_equal(counts.delivered, delivered);
    assert_int_equal(counts.lost, lost);
    assert_int_equal(counts.damaged, 0);
    assert_int_equal(counts.adjusted, 0);
    printf("%u entries, %u ahead: %llu of %llu delivered, %llu overruns\n", entries, ahead,
           (unsigned long long)delivered, (unsigned long long)count,
           (unsigned long long)counts.overruns);
    free(items);
    free(writing.log);
}

TEST(one_page_read_against_a_writer_at_full_speed)
{
    run(84, 1, 84, 3000000, 0, 84);
}

TEST(one_page_read_against_a_writer_that_rests)
{
    run(84, 1, 84, 1000000, 20000, 84);
}

TEST(few_entries_and_a_writer_ahead_of_its_word)
{
    run(4, 2, 4, 1000000, 3000, 3);
    run(5, 3, 5, 1000000, 0, 5);
}

TEST(large_log_read_in_small_batches)
{
    run(3000, 1, 3000, 2000000, 30000, 100);
}

TEST(count_of_wraparounds_overflows_on_the_way)
{
    run(7, 1, ((uint64_t)7 << 32) - 50000, 1000000, 3000, 7);
}
