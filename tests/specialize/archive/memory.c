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
    struct bf_archive *archive = open_at(place->folder, 0);
    for (uint32_t i = 0; i < 200; i++)
        put(archive, i, i);
    struct bf_archive_key key = key_of(300);
    for (uint32_t i = 0; i < 100; i++)
        assert_success(bf_archive_begin(archive, &key));
    bf_archive_close(archive);

    uint32_t failures = 0;
    for (uint32_t n = 0;; n++) {
        until_failure = n;
        archive = bf_archive_open(&(struct bf_archive_info){place->folder, 0});
        bool over = until_failure != UINT32_MAX;
        until_failure = UINT32_MAX;
        if (archive) {
            for (uint32_t i = 0; i < 200; i++)
                assert_int_equal(look(archive, i), i + 1);
            assert_int_equal(look(archive, 300), BARRED);
            bf_archive_close(archive);
        } else {
            failures++;
        }
        if (over)
            break;
    }
    assert_in_range(failures, 400, 2000);
}

PLACE_TEST(everything_else)
{
    uint32_t failures = 0;
    struct bf_archive *archive = open_at(place->folder, 16384);
    for (uint32_t i = 0; i < 300; i++) {
        struct bf_archive_key key = key_of(i % 60), build = key_of(100), strike = key_of(200 + i);
        struct bf_verdict verdict = verdict_of(i), before;
        bool known = bf_archive_find(archive, &key, &before);
        for (uint32_t n = 0;; n++) {
            until_failure = n;
            VkResult put_result = bf_archive_put(archive, &key, &verdict);
            bool over = until_failure != UINT32_MAX;
            until_failure = UINT32_MAX;
            struct bf_verdict now;
            if (put_result == VK_SUCCESS) {
                assert_int_equal(look(archive, i % 60), i + 1);
            } else {
                assert_int_equal(put_result, VK_ERROR_OUT_OF_HOST_MEMORY);
                assert_int_equal(bf_archive_find(archive, &key, &now), known);
                failures++;
            }
            if (over)
                break;
        }
        until_failure = 0;
        assert_int_equal(bf_archive_begin(archive, &build), VK_ERROR_OUT_OF_HOST_MEMORY);
        until_failure = UINT32_MAX;
        assert_success(bf_archive_end(archive, &build));
        if (i < 20) {
            until_failure = i % 3;
            VkResult result = bf_archive_strike(archive, &strike);
            until_failure = UINT32_MAX;
            assert_int_equal(look(archive, 200 + i), result == VK_SUCCESS ? BARRED : 0);
        }
    }
    assert_int_not_equal(failures, 0);
    /* Compactions have failed, too, and one succeeds again soon. */
    assert_in_range(lines, 0, 1);
    for (uint32_t i = 300; i < 500; i++)
        put(archive, i % 60, i);
    bf_archive_close(archive);
    archive = open_at(place->folder, 16384);
    for (uint32_t i = 440; i < 500; i++)
        assert_int_equal(look(archive, i % 60), i + 1);
    assert_int_equal(look(archive, 100), 0);
    bf_archive_close(archive);
}
