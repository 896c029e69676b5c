/* SPDX-License-Identifier: MIT */
/* What is put is found, by this archive and by the next (AR-1, AR-2); builds that never end (AR-3);
 * bad input; readers beside a writer (AR-8). */
#include "archive_helper.h"

TEST(checksum_is_the_published_one)
{
    assert_int_equal(bf_crc32c("123456789", 9), 0xE3069283);
    assert_int_equal(bf_crc32c("", 0), 0);
}

TEST(folder_is_named)
{
    struct bf_archive_driver driver = {0};
    char name[128];
    assert_true(bf_archive_folder(name, sizeof(name), "/h/.cache/belfry", &driver));
    assert_memory_equal(name, "/h/.cache/belfry/", 17);
    assert_int_equal(strspn(name + 17, "0123456789abcdef"), 32);
    assert_string_equal(name + 17 + 32, "-0.1.0");
    assert_false(bf_archive_folder(name, strlen(name), "/h/.cache/belfry", &driver));
    assert_false(bf_archive_folder(name, sizeof(name), "cache", &driver));
    assert_false(bf_archive_folder(name, sizeof(name), "", &driver));
    assert_false(bf_archive_folder(name, sizeof(name), NULL, &driver));
}

/* Drivers that differ in anything they say are no one driver; and texts don't run into another. */
TEST(drivers_differ_by_every_member)
{
    const struct bf_archive_driver first = {.device_name = "llvmpipe (LLVM 15.0.6, 256 bits)",
                                            .driver_name = "llvmpipe",
                                            .driver_info = "Mesa 22.3.6 (LLVM 15.0.6)"};
    struct bf_archive_driver drivers[20];
    uint32_t n = 0;
    drivers[n++] = first;
    drivers[n++] = (struct bf_archive_driver){0};
    drivers[n] = first, drivers[n++].cache_uuid[15] = 1;
    drivers[n] = first, drivers[n++].driver_uuid[0] = 1;
    drivers[n] = first, drivers[n++].device_uuid[0] = 1;
    drivers[n] = first, drivers[n++].vendor_id = 1;
    drivers[n] = first, drivers[n++].device_id = 1;
    drivers[n] = first, drivers[n++].driver_version = 1;
    drivers[n] = first, drivers[n++].api_version = 1;
    drivers[n] = first, drivers[n++].driver_id = 1;
    drivers[n] = first, drivers[n++].device_name = "llvmpipe (LLVM 15.0.6, 512 bits)";
    drivers[n] = first, drivers[n++].driver_name = NULL;
    drivers[n] = first, drivers[n++].driver_name = "llvmpipeMesa";
    drivers[n] = first, drivers[n++].driver_info = "Mesa 22.3.7 (LLVM 15.0.6)";
    drivers[n] = first, drivers[n].driver_name = "llvm",
    drivers[n++].driver_info = "pipeMesa 22.3.6 (LLVM 15.0.6)";
    for (uint32_t i = 0; i < n; i++) {
        char one[128], other[128];
        assert_true(bf_archive_folder(one, sizeof(one), "/h", &drivers[i]));
        for (uint32_t k = 0; k < n; k++) {
            assert_true(bf_archive_folder(other, sizeof(other), "/h", &drivers[k]));
            assert_int_equal(strcmp(one, other) == 0, i == k);
        }
    }
}

#define PLACE_TEST(name_) TEST_ON(name_, place_setup, place_teardown, struct place *place)

PLACE_TEST(what_is_put_is_found)
{
    for (uint32_t run = 0; run < 2; run++) {
        struct bf_archive *archive = open_at(place->folder);
        for (uint32_t i = 0; i < 1000; i++)
            assert_int_equal(look(archive, i), run ? i + 2 : 0);
        for (uint32_t i = 0; i < 1000; i++) {
            put(archive, i, i);
            put(archive, i, i + 1);
            assert_int_equal(look(archive, i), i + 2);
        }
        bf_archive_close(archive);
    }
    assert_int_equal(lines, 0);
    assert_int_equal(files_with(place, VERDICTS), 250);
    assert_int_equal(files_with(place, ""), 250 + 3); /* with the lock, and the folders' own two */
}

/* Nothing is found of a pipeline before it is loaded; what others put later isn't seen. */
PLACE_TEST(what_is_loaded_is_found)
{
    struct bf_archive *archive = open_at(place->folder), *other = open_at(place->folder);
    struct bf_archive_key key = key_of(0);
    struct bf_verdict verdict;
    put(archive, 0, 5);
    assert_false(bf_archive_find(other, &key, &verdict));
    assert_int_equal(bf_archive_for_pipeline(other, key.hash, NULL, NULL), 0);
    assert_int_equal(look(other, 0), 6);
    put(archive, 0, 6);
    assert_int_equal(look(other, 0), 6);
    bf_archive_close(other);
    bf_archive_close(archive);
}

/* AR-12: also by who has loaded the pipeline before, once he asks, and before he builds. */
PLACE_TEST(strikes_of_others_are_heeded)
{
    struct bf_archive *archive = open_at(place->folder), *other = open_at(place->folder);
    const struct bf_archive_key keys[3] = {key_of(0), key_of(4), key_of(8)};
    for (uint32_t i = 0; i < 3; i++)
        assert_int_equal(look(archive, 4 * i), 0);
    for (uint32_t i = 0; i < 2; i++)
        assert_success(bf_archive_strike(other, keys[i].hash));
    assert_int_equal(look(archive, 0), 0);
    assert_success(bf_archive_heed(archive, keys[0].hash));
    assert_int_equal(look(archive, 0), BARRED);
    assert_int_equal(bf_archive_begin(archive, keys[1].hash), VK_ERROR_NOT_PERMITTED_KHR);
    assert_int_equal(look(archive, 4), BARRED);
    assert_int_equal(files_with(place, ".building."), 0);
    assert_success(bf_archive_heed(archive, keys[2].hash));
    assert_success(bf_archive_begin(archive, keys[2].hash));
    bf_archive_end(archive, keys[2].hash);
    bf_archive_close(other);
    bf_archive_close(archive);
}

/* AR-9: until another verdict is put. */
PLACE_TEST(what_is_forgotten_is_not_found)
{
    static const struct bf_verdict nothing = {BF_VERDICT_FORGOTTEN, 0, 0, 0};
    const struct bf_archive_key keys[2] = {key_of(0), key_of(1)};
    struct bf_archive *archive = open_at(place->folder);
    for (uint32_t i = 0; i < 3; i++)
        put(archive, i, 7);
    for (uint32_t i = 0; i < 2; i++)
        assert_success(bf_archive_put(archive, &keys[i], &nothing));
    for (uint32_t run = 0; run < 2; run++) {
        for (uint32_t i = 0; i < 3; i++)
            assert_int_equal(look(archive, i), i < 2 ? 0 : 8);
        archive = open_again(archive, place->folder);
    }
    put(archive, 0, 9);
    assert_int_equal(look(archive, 0), 10);
    archive = open_again(archive, place->folder);
    assert_int_equal(look(archive, 0), 10);
    assert_int_equal(look(archive, 1), 0);
    bf_archive_close(archive);
}

TEST(memory_alone_does_too)
{
    const char *const folders[] = {NULL, ""};
    for (uint32_t f = 0; f < 2; f++) {
        struct bf_archive *archive = open_at(folders[f]);
        struct bf_archive_key key = key_of(4);
        put(archive, 0, 5);
        assert_int_equal(look(archive, 0), 6);
        assert_success(bf_archive_begin(archive, key.hash));
        assert_int_equal(look(archive, 4), 0);
        assert_success(bf_archive_strike(archive, key.hash));
        assert_int_equal(look(archive, 4), BARRED);
        bf_archive_close(archive);
    }
    bf_archive_close(NULL);
}

PLACE_TEST(keys_differ_by_every_member)
{
    struct bf_archive_key keys[32];
    uint32_t n = 0;
    const struct bf_archive_key first = {.n_values = 2, .mask = 3, .values = {1, 2}};
    keys[n++] = first;
    keys[n] = first, keys[n++].form = 1;
    keys[n] = first, keys[n++].mask = 7;
    keys[n] = first, keys[n++].n_values = 1;
    keys[n] = first, keys[n++].n_values = 3;
    keys[n] = first, keys[n++].n_values = 8;
    keys[n] = first, keys[n++].values[0] = 2;
    keys[n] = first, keys[n++].values[1] = 1;
    keys[n] = first, keys[n++].values[1] = 0x80000002;
    for (uint32_t i = 0; i < BF_ARCHIVE_HASH; i += 4)
        keys[n] = first, keys[n++].hash[i] = 1;

    for (uint32_t run = 0; run < 2; run++) {
        struct bf_archive *archive = open_at(place->folder);
        for (uint32_t i = 0; run == 0 && i < n; i++) {
            struct bf_verdict verdict = verdict_of(i);
            assert_false(bf_archive_find(archive, &keys[i], &verdict));
            assert_success(bf_archive_put(archive, &keys[i], &verdict));
        }
        for (uint32_t i = 0; i < n; i++) {
            struct bf_verdict verdict, expected = verdict_of(i);
            assert_success(bf_archive_load(archive, keys[i].hash));
            assert_true(bf_archive_find(archive, &keys[i], &verdict));
            assert_verdict(&verdict, &expected);
        }
        /* Values that don't matter don't. */
        struct bf_archive_key same = first;
        struct bf_verdict verdict;
        same.values[2] = 77;
        assert_true(bf_archive_find(archive, &same, &verdict));
        assert_int_equal(verdict.n, 0);
        bf_archive_close(archive);
    }
}

PLACE_TEST(large_numbers_become_the_most)
{
    const struct bf_verdict verdicts[] = {
        {BF_VERDICT_KEPT, 0xFFFF, UINT32_MAX, UINT32_MAX},
        {BF_VERDICT_KEPT, 0, UINT32_MAX, 0},
        {BF_VERDICT_REJECTED, 0, BF_VERDICT_GAIN_MOST + 1, 0},
        {BF_VERDICT_KEPT, 0, 0, UINT32_MAX},
        {BF_VERDICT_REJECTED, 0, 0, BF_VERDICT_N_MOST + 1},
        {BF_VERDICT_KEPT, 0xFFFF, 0, 0},
        {BF_VERDICT_REJECTED, 0, BF_VERDICT_GAIN_MOST, BF_VERDICT_N_MOST},
    };
    for (uint32_t run = 0; run < 2; run++) {
        struct bf_archive *archive = open_at(place->folder);
        for (uint32_t i = 0; i < sizeof(verdicts) / sizeof(verdicts[0]); i++) {
            struct bf_archive_key key = key_of(i);
            struct bf_verdict expected = verdicts[i], verdict;
            if (run == 0)
                assert_success(bf_archive_put(archive, &key, &expected));
            if (expected.gain > BF_VERDICT_GAIN_MOST)
                expected.gain = BF_VERDICT_GAIN_MOST;
            if (expected.n > BF_VERDICT_N_MOST)
                expected.n = BF_VERDICT_N_MOST;
            assert_success(bf_archive_load(archive, key.hash));
            assert_true(bf_archive_find(archive, &key, &verdict));
            assert_verdict(&verdict, &expected);
        }
        bf_archive_close(archive);
    }
}

struct seen {
    uint32_t count, numbers;
};

static void see(void *context, const struct bf_archive_key *key, const struct bf_verdict *verdict)
{
    struct seen *seen = context;
    struct bf_archive_key expected = key_of(verdict->n);
    assert_memory_equal(key->hash, expected.hash, BF_ARCHIVE_HASH);
    assert_int_equal(key->values[0], expected.values[0]);
    assert_int_equal(key->mask, expected.mask);
    seen->count++;
    seen->numbers |= 1u << verdict->n % 4;
}

PLACE_TEST(pipelines_know_their_keys)
{
    for (uint32_t run = 0; run < 2; run++) {
        struct bf_archive *archive = open_at(place->folder);
        for (uint32_t i = 0; run == 0 && i < 400; i++)
            put(archive, i, i);
        for (uint32_t i = 0; i < 400; i += 4) {
            struct seen seen = {0};
            struct bf_archive_key key = key_of(i);
            assert_success(bf_archive_load(archive, key.hash));
            assert_int_equal(bf_archive_for_pipeline(archive, key.hash, see, &seen), 4);
            assert_int_equal(seen.count, 4);
            assert_int_equal(seen.numbers, 15);
        }
        struct bf_archive_key key = key_of(400);
        assert_int_equal(bf_archive_for_pipeline(archive, key.hash, see, NULL), 0);
        bf_archive_close(archive);
    }
}

/* AR-5: beyond a number of verdicts the oldest goes; a file of the most there may be is read. */
PLACE_TEST(a_pipeline_has_so_many_verdicts)
{
    struct bf_archive_key key = key_of(0);
    struct bf_archive *archive = open_at(place->folder);
    for (uint32_t i = 0; i < BF_VERDICTS_MOST + 10; i++) {
        const struct bf_verdict verdict = verdict_of(i);
        key.values[0] = i;
        assert_success(bf_archive_put(archive, &key, &verdict));
    }
    for (uint32_t run = 0; run < 2; run++) {
        for (uint32_t i = 0; i < BF_VERDICTS_MOST + 10; i++) {
            struct bf_verdict verdict;
            key.values[0] = i;
            assert_int_equal(bf_archive_find(archive, &key, &verdict), i >= 10);
        }
        archive = open_again(archive, place->folder);
        assert_success(bf_archive_load(archive, key.hash));
    }
    bf_archive_close(archive);
}

PLACE_TEST(builds_that_end_are_no_strikes)
{
    struct bf_archive_key key = key_of(0);
    for (uint32_t run = 0; run < 3; run++) {
        struct bf_archive *archive = open_at(place->folder);
        assert_int_equal(look(archive, 0), 0);
        assert_success(bf_archive_begin(archive, key.hash));
        assert_success(bf_archive_begin(archive, key.hash));
        assert_int_equal(files_with(place, ".building."), 2);
        bf_archive_end(archive, key.hash);
        bf_archive_end(archive, key.hash);
        bf_archive_end(archive, key.hash); /* one too many */
        assert_int_equal(files_with(place, ".building."), 0);
        bf_archive_close(archive);
    }
}

PLACE_TEST(a_build_that_does_not_end_is_one)
{
    struct bf_archive_key key = key_of(0);
    struct bf_archive *archive = open_at(place->folder);
    put(archive, 0, 9);
    assert_success(bf_archive_begin(archive, key.hash)); /* of these two, */
    assert_success(bf_archive_begin(archive, key.hash));
    bf_archive_end(archive, key.hash); /* one */
    assert_int_equal(look(archive, 0), 10);

    /* Others see nothing of it as long as it is open. */
    struct bf_archive *other = open_at(place->folder);
    assert_int_equal(look(other, 0), 10);
    bf_archive_close(other);
    bf_archive_close(archive);

    for (uint32_t run = 0; run < 2; run++) {
        archive = open_at(place->folder);
        assert_int_equal(files_with(place, ".building."), 0);
        assert_int_equal(look(archive, 0), BARRED);
        assert_int_equal(bf_archive_begin(archive, key.hash), VK_ERROR_NOT_PERMITTED_KHR);
        put(archive, 0, 9);
        assert_int_equal(look(archive, 0), BARRED);
        assert_int_equal(look(archive, 4), 0);
        bf_archive_close(archive);
    }
}

PLACE_TEST(strikes_bar_at_once)
{
    struct bf_archive_key key = key_of(3);
    struct bf_archive *archive = open_at(place->folder);
    assert_success(bf_archive_begin(archive, key.hash));
    assert_success(bf_archive_strike(archive, key.hash));
    bf_archive_end(archive, key.hash);
    for (uint32_t run = 0; run < 2; run++) {
        assert_int_equal(look(archive, 3), BARRED);
        assert_int_equal(bf_archive_begin(archive, key.hash), VK_ERROR_NOT_PERMITTED_KHR);
        archive = open_again(archive, place->folder);
    }
    bf_archive_close(archive);
}

PLACE_TEST(bad_input_is_refused)
{
    struct bf_archive *archive = open_at(place->folder);
    struct bf_archive_key keys[2] = {key_of(0), key_of(0)};
    struct bf_verdict verdict = verdict_of(0);
    keys[0].n_values = BF_ARCHIVE_VALUES + 1;
    keys[1].form = 2;
    for (uint32_t i = 0; i < 2; i++) {
        assert_int_equal(bf_archive_put(archive, &keys[i], &verdict),
                         VK_ERROR_VALIDATION_FAILED_EXT);
        assert_success(bf_archive_load(archive, keys[i].hash));
        assert_false(bf_archive_find(archive, &keys[i], &verdict));
    }
    keys[0] = key_of(0);
    const int codes[] = {0, 7, -1};
    for (uint32_t i = 0; i < 3; i++) {
        verdict.code = (enum bf_verdict_code)codes[i];
        assert_int_equal(bf_archive_put(archive, &keys[0], &verdict),
                         VK_ERROR_VALIDATION_FAILED_EXT);
    }
    bf_archive_close(archive);
    assert_int_equal(files_with(place, VERDICTS), 0);
}

/* -------------------------------------------------------------------------------------- Threads */

#define THREADS 3
#define KEYS    600

struct crowd {
    struct bf_archive *archive;
    _Atomic uint32_t put; /* keys below this one are there */
    _Atomic bool end;
};

static void count(void *context, const struct bf_archive_key *key, const struct bf_verdict *verdict)
{
    ++*(uint32_t *)context;
}

/* As look, without loading anything. */
static uint32_t seen_of(const struct bf_archive *archive, uint32_t number)
{
    struct bf_archive_key key = key_of(number);
    struct bf_verdict verdict;
    return bf_archive_find(archive, &key, &verdict) ? verdict.n + 1 : 0;
}

static void *reader(void *context)
{
    struct crowd *crowd = context;
    for (uint32_t i = 0; !crowd->end; i++) {
        uint32_t there = crowd->put, number = i * 7 % KEYS, found = seen_of(crowd->archive, number);
        if (number < there)
            assert_in_range(found, number + 1, number + 2);
        struct bf_archive_key key = key_of(number);
        uint32_t n = 0;
        bf_archive_for_pipeline(crowd->archive, key.hash, count, &n);
        if (number / 4 < there / 4)
            assert_int_equal(n, 4);
    }
    return NULL;
}

static void *writer(void *context)
{
    struct crowd *crowd = context;
    for (uint32_t i = 0; i < KEYS; i++) {
        struct bf_archive_key key = key_of(KEYS + i);
        assert_success(bf_archive_begin(crowd->archive, key.hash));
        bf_archive_end(crowd->archive, key.hash);
    }
    return NULL;
}

/* What is called for each key may read, too. */
static void count_again(void *context, const struct bf_archive_key *key,
                        const struct bf_verdict *verdict)
{
    const struct crowd *crowd = context;
    struct bf_verdict found;
    uint32_t n = 0;
    assert_int_equal(bf_archive_for_pipeline(crowd->archive, key->hash, count, &n), 4);
    assert_int_equal(n, 4);
    assert_true(bf_archive_find(crowd->archive, key, &found));
    assert_int_equal(found.gain, verdict->gain);
}

PLACE_TEST(readers_may_read_for_each)
{
    struct crowd crowd = {.archive = open_at(place->folder)};
    for (uint32_t i = 0; i < 4; i++)
        put(crowd.archive, i, i + 1);
    struct bf_archive_key key = key_of(0);
    assert_int_equal(bf_archive_for_pipeline(crowd.archive, key.hash, count_again, &crowd), 4);
    bf_archive_close(crowd.archive);
}

PLACE_TEST(readers_take_no_lock)
{
    struct crowd crowd = {.archive = open_at(place->folder)};
    pthread_t threads[THREADS], other;
    for (uint32_t i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, reader, &crowd), 0);
    assert_int_equal(pthread_create(&other, NULL, writer, &crowd), 0);
    for (uint32_t i = 0; i < KEYS; i++) {
        put(crowd.archive, i, i);
        crowd.put = i + 1;
        put(crowd.archive, i / 2, i / 2 + 1);
    }
    pthread_join(other, NULL);
    crowd.end = true;
    for (uint32_t i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    bf_archive_close(crowd.archive);

    crowd.archive = open_at(place->folder);
    for (uint32_t i = 0; i < 2 * KEYS; i++)
        assert_int_equal(look(crowd.archive, i), i < KEYS / 2 ? i + 2 : i < KEYS ? i + 1 : 0);
    bf_archive_close(crowd.archive);
}
