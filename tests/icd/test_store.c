/* SPDX-License-Identifier: MIT */
/* What a thread of the program sees of words that command buffers write into mapped memory: each
 * whole, and in the order of the commands. */
#include "support/world.h"

/* Writes that alternate between two words, and rounds of them: at least so many, and on until the
 * reader, who may rarely get to run, has seen the word change so often. Few are enough: where both
 * run at once it sees thousands in that many rounds, and where they take turns each change costs as
 * long as it takes for both to have had theirs. */
#define WRITES  4000
#define ROUNDS  20
#define CHANGES 10
/* Looks at a word that doesn't change, before the processor is left to the writer. */
#define LOOKS 1000

static uint64_t word_load(const void *at)
{
    return __atomic_load_n((const uint64_t *)at, __ATOMIC_ACQUIRE);
}

static void run(struct device *f, VkCommandBuffer commands)
{
    assert_submitted(f->queues[0][0], .commands = commands);
    assert_success(vkQueueWaitIdle(f->queues[0][0]));
}

/* Torn words --------------------------------------------------------------------------------- */

struct reader {
    const uint64_t *word;
    _Atomic bool stop;
    uint64_t allowed[2];
    uint64_t odd; /* the first word seen that isn't one of them */
    _Atomic bool torn;
    _Atomic uint32_t changes;
};

static void *words_read(void *argument)
{
    struct reader *r = argument;
    uint64_t last = r->allowed[0];
    int looks = 0;
    while (!r->stop) {
        uint64_t word = word_load(r->word);
        if (word == last) {
            if (++looks % LOOKS == 0)
                sched_yield();
            continue;
        }
        last = word;
        r->changes++;
        if (word != r->allowed[0] && word != r->allowed[1] && !r->torn) {
            r->odd = word;
            r->torn = true;
        }
    }
    return NULL;
}

/* Runs the commands over and over beside the reader. */
static void run_beside(struct device *f, VkCommandBuffer commands, struct reader *r)
{
    pthread_t thread;
    assert_success(vkEndCommandBuffer(commands));
    assert_int_equal(pthread_create(&thread, NULL, words_read, r), 0);
    for (int i = 0; (i < ROUNDS || r->changes < CHANGES) && !r->torn; i++)
        run(f, commands);
    r->stop = true;
    pthread_join(thread, NULL);
    if (r->torn)
        fail_msg("a torn word was seen: %016llx", (unsigned long long)r->odd);
}

typedef void record_fn(struct device *f, VkCommandBuffer commands, int i);

/* The word at 64 is written over and over; a reader never sees one half of each. */
static void expect_whole(record_fn *record)
{
    struct device f;
    world_open(&f, "SHAPE=q1", WORLD_ALL);
    struct reader r = {.word = (const uint64_t *)(const void *)(f.words + 16),
                       .allowed = {0, UINT64_MAX}};
    /* Sources at every alignment: a row of each kind of byte. */
    memset(f.words + 256, 0x00, 64);
    memset(f.words + 288, 0xff, 64);
    VkCommandBuffer commands = device_begin(&f, 0, 0);
    for (int i = 0; i < WRITES; i++)
        record(&f, commands, i);
    run_beside(&f, commands, &r);
    world_close(&f);
}

static void copy_record(struct device *f, VkCommandBuffer commands, int i)
{
    const VkBufferCopy copy = {
        .srcOffset = (i & 1 ? 1152 : 1024) + (VkDeviceSize)(i % 8), .dstOffset = 64, .size = 8};
    vkCmdCopyBuffer(commands, f->buffer, f->buffer, 1, &copy);
}

TEST(test_copies_from_any_alignment_store_whole_words)
{
    expect_whole(copy_record);
}

static void wide_copy_record(struct device *f, VkCommandBuffer commands, int i)
{
    /* The word lies within a larger copy that begins and ends between words. */
    const VkBufferCopy copy = {
        .srcOffset = (i & 1 ? 1152 : 1024) + (VkDeviceSize)(i % 8), .dstOffset = 57, .size = 30};
    vkCmdCopyBuffer(commands, f->buffer, f->buffer, 1, &copy);
}

TEST(test_copies_to_any_alignment_store_whole_words)
{
    expect_whole(wide_copy_record);
}

static void update_record(struct device *f, VkCommandBuffer commands, int i)
{
    uint32_t words[4];
    memset(words, i & 1 ? 0xff : 0, sizeof(words));
    /* In every second pair the word begins in the middle of the data. */
    if (i & 2)
        vkCmdUpdateBuffer(commands, f->buffer, 60, 16, words);
    else
        vkCmdUpdateBuffer(commands, f->buffer, 64, 8, words);
}

TEST(test_updates_store_whole_words)
{
    expect_whole(update_record);
}

static void fill_record(struct device *f, VkCommandBuffer commands, int i)
{
    /* The word is the first, in the middle of, or at the end of what is filled. */
    const VkDeviceSize from[] = {64, 60, 56, 4};
    vkCmdFillBuffer(commands, f->buffer, from[i / 2 % 4], 72 - from[i / 2 % 4],
                    i & 1 ? UINT32_MAX : 0);
}

TEST(test_fills_store_whole_words)
{
    expect_whole(fill_record);
}

/* A long fill from the middle of a word, whose pieces all lie askew. */
DEVICE_TEST(test_long_fills_store_whole_words, "SHAPE=q1", WORLD_ALL)
{
    struct reader r = {.word = (const uint64_t *)(const void *)(w->words + 64),
                       .allowed = {0, UINT64_MAX}};
    VkCommandBuffer commands = device_begin(w, 0, 0);
    for (int i = 0; i < WRITES / 4; i++)
        vkCmdFillBuffer(commands, w->buffer, 4, 1024, i & 1 ? UINT32_MAX : 0);
    run_beside(w, commands, &r);
}

/* Two stamps, taken at different times, copied in turns. */
DEVICE_TEST(test_query_copies_store_whole_words, "SHAPE=q1", WORLD_ALL)
{
    struct reader r = {.word = (const uint64_t *)(const void *)(w->words + 16)};
    const VkQueryPoolCreateInfo info = {VK_TYPE(QUERY_POOL_CREATE_INFO),
                                        .queryType = VK_QUERY_TYPE_TIMESTAMP, .queryCount = 2};
    VkQueryPool pool;
    assert_success(vkCreateQueryPool(w->device, &info, NULL, &pool));
    vkResetQueryPool(w->device, pool, 0, 2);
    VkCommandBuffer commands = device_begin(w, 0, 0);
    vkCmdWriteTimestamp(commands, VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT, pool, 0);
    for (int i = 0; i < WRITES / 8; i++)
        vkCmdFillBuffer(commands, w->buffer, 1024, 1024, 0);
    vkCmdWriteTimestamp(commands, VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT, pool, 1);
    vkCmdCopyQueryPoolResults(commands, pool, 0, 1, w->buffer, 64, 8, VK_QUERY_RESULT_64_BIT);
    assert_success(vkEndCommandBuffer(commands));
    run(w, commands);
    assert_success(vkGetQueryPoolResults(w->device, pool, 0, 2, sizeof(r.allowed), r.allowed, 8,
                                         VK_QUERY_RESULT_64_BIT));
    assert_int_equal(word_load(r.word), r.allowed[0]);
    assert_true(r.allowed[1] > r.allowed[0]);

    commands = device_begin(w, 0, 0);
    for (uint32_t i = 0; i < WRITES; i++)
        vkCmdCopyQueryPoolResults(commands, pool, i & 1, 1, w->buffer, 64, 8,
                                  VK_QUERY_RESULT_64_BIT);
    run_beside(w, commands, &r);
    vkDestroyQueryPool(w->device, pool, NULL);
}

/* Order -------------------------------------------------------------------------------------- */

#define ENTRIES 200

/* A log's way: entries first, then the count of them. Plain reads of the entries, so that the
 * thread sanitizer, too, finds a store that doesn't release what came before. */
struct follower {
    const uint32_t *words;
    uint32_t wrong;
};

static void *log_follow(void *argument)
{
    struct follower *follower = argument;
    uint64_t count = 0;
    int looks = 0;
    while (count < ENTRIES) {
        uint64_t now = word_load(follower->words);
        if (now == count && ++looks % LOOKS == 0)
            sched_yield();
        for (; count < now; count++)
            if (follower->words[4 + count] != 0xe0000000u + count && !follower->wrong)
                follower->wrong = (uint32_t)count + 1;
    }
    return NULL;
}

DEVICE_TEST(test_a_later_write_is_never_seen_before_an_earlier_one, "SHAPE=q1", WORLD_ALL)
{
    VkCommandBuffer commands = device_begin(w, 0, 0);
    for (uint32_t i = 0; i < ENTRIES; i++) {
        const VkDeviceSize at = (4 + i) * sizeof(uint32_t);
        uint64_t count = i + 1;
        if (i % 2) {
            vkCmdFillBuffer(commands, w->buffer, at, 4, 0xe0000000u + i);
        } else {
            const uint32_t entry = 0xe0000000u + i;
            vkCmdUpdateBuffer(commands, w->buffer, 2048, 4, &entry);
            const VkBufferCopy copy = {.srcOffset = 2048, .dstOffset = at, .size = 4};
            vkCmdCopyBuffer(commands, w->buffer, w->buffer, 1, &copy);
        }
        vkCmdUpdateBuffer(commands, w->buffer, 0, sizeof(count), &count);
    }
    assert_success(vkEndCommandBuffer(commands));
    struct follower follower = {.words = w->words};
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, log_follow, &follower), 0);
    run(w, commands);
    pthread_join(thread, NULL);
    if (follower.wrong)
        fail_msg("entry %u was counted before it was there", follower.wrong - 1);
}

/* The device reads what the host has released, too: a copy's source may be written at any time. */
DEVICE_TEST(test_commands_run_at_execution_time, "SHAPE=q1", WORLD_ALL)
{
    const VkBufferCopy copy = {.srcOffset = 0, .dstOffset = 8, .size = 8};
    VkCommandBuffer commands = device_begin(w, 0, 0);
    vkCmdCopyBuffer(commands, w->buffer, w->buffer, 1, &copy);
    assert_success(vkEndCommandBuffer(commands));
    w->icd.pause();
    assert_submitted(w->queues[0][0], .commands = commands);
    uint64_t word = UINT64_C(0x1122334455667788);
    memcpy(w->words, &word, sizeof(word));
    w->icd.quiesce();
    assert_int_equal(word_load(w->words + 2), 0);
    w->icd.resume();
    assert_success(vkQueueWaitIdle(w->queues[0][0]));
    assert_int_equal(word_load(w->words + 2), word);
}
