/* SPDX-License-Identifier: MIT */
/* Every allocation fails once: an error comes back or the archive does without, nothing leaks, and
 * what was there stays. */
#include "archive_helper.h"

#define NO_MEMORY_WRAPPED
#include "support/no_memory.h"

static uint32_t until_failure = UINT32_MAX; /* UINT32_MAX: none fails */

static bool has_none(void)
{
    return until_failure != UINT32_MAX && until_failure-- == 0;
}

#define PLACE_TEST(name_) TEST_ON(name_, place_setup, place_teardown, struct place *place)

PLACE_TEST(opening)
{
    struct bf_archive *archive = open_at(place->folder);
    struct bf_archive_key key = key_of(300);
    for (uint32_t i = 0; i < 20; i++)
        put(archive, i, i);
    assert_success(bf_archive_begin(archive, key.hash));
    bf_archive_close(archive);

    uint32_t failures = 0;
    for (uint32_t n = 0;; n++) {
        until_failure = n;
        archive = bf_archive_open(&(struct bf_archive_info){place->folder, 0});
        bool over = until_failure != UINT32_MAX;
        until_failure = UINT32_MAX;
        if (archive) {
            for (uint32_t i = 0; i < 20; i++)
                assert_int_equal(look(archive, i), i + 1);
            bf_archive_close(archive);
        } else {
            failures++;
        }
        if (over)
            break;
    }
    assert_int_not_equal(failures, 0);
    archive = open_at(place->folder);
    assert_int_equal(look(archive, 300), BARRED);
    bf_archive_close(archive);
}

/* One call; each of its allocations fails once. Returns how many calls failed. */
static uint32_t each_fails(VkResult (*call)(struct bf_archive *archive, uint32_t number),
                           struct bf_archive *archive, uint32_t number)
{
    for (uint32_t n = 0;; n++) {
        until_failure = n;
        VkResult result = call(archive, number);
        bool over = until_failure != UINT32_MAX;
        until_failure = UINT32_MAX;
        if (over) {
            assert_success(result);
            return n;
        }
        /* What can't be written for want of memory is written another time. */
        if (result != VK_SUCCESS)
            assert_int_equal(result, VK_ERROR_OUT_OF_HOST_MEMORY);
    }
}

static VkResult call_put(struct bf_archive *archive, uint32_t number)
{
    const struct bf_archive_key key = key_of(number % 60);
    const struct bf_verdict verdict = verdict_of(number);
    return bf_archive_put(archive, &key, &verdict);
}

static VkResult call_begin(struct bf_archive *archive, uint32_t number)
{
    const struct bf_archive_key key = key_of(400 + number);
    VkResult result = bf_archive_begin(archive, key.hash);
    bf_archive_end(archive, key.hash);
    return result;
}

static VkResult call_strike(struct bf_archive *archive, uint32_t number)
{
    const struct bf_archive_key key = key_of(800 + 4 * number);
    VkResult result = bf_archive_strike(archive, key.hash);
    assert_int_equal(bf_archive_barred(archive, key.hash), result == VK_SUCCESS);
    return result;
}

static VkResult call_heed(struct bf_archive *archive, uint32_t number)
{
    const struct bf_archive_key key = key_of(6000 + 4 * number);
    return bf_archive_heed(archive, key.hash);
}

static VkResult call_load(struct bf_archive *archive, uint32_t number)
{
    const struct bf_archive_key key = key_of(4000 + 4 * number);
    return bf_archive_load(archive, key.hash);
}

PLACE_TEST(everything_else)
{
    struct bf_archive *archive = open_at(place->folder);
    uint32_t failures = 0;
    for (uint32_t i = 0; i < 200; i++) {
        failures += each_fails(call_put, archive, i);
        assert_int_equal(look(archive, i % 60), i + 1);
        failures += each_fails(call_begin, archive, i);
        if (i < 20) {
            failures += each_fails(call_strike, archive, i);
            failures += each_fails(call_load, archive, i);
            failures += each_fails(call_heed, archive, i);
        }
    }
    assert_in_range(failures, 800, 4000);
    assert_in_range(lines, 0, 1);
    archive = open_again(archive, place->folder);
    for (uint32_t i = 140; i < 200; i++)
        assert_int_equal(look(archive, i % 60), i + 1);
    assert_int_equal(look(archive, 400), 0);
    for (uint32_t i = 0; i < 20; i++)
        assert_int_equal(look(archive, 800 + 4 * i), BARRED);
    bf_archive_close(archive);
}
