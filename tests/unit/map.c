/*
 * The map of handles: against a model, with keys that collide, and under readers that never lock
 * (guarantees M-1 and M-2 of os/map.h).
 */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "os/map.h"

#define KEYS 512

static uint64_t random_next(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

/* Keys as handles come (a row of addresses), and keys that all begin their search in one slot of
 * the smallest tables. */
static void keys_fill(uint64_t keys[KEYS], bool collide)
{
    uint64_t key = UINT64_C(0x7f5500001000);
    for (uint32_t n = 0; n < KEYS; key += 16) {
        if (!collide || (bf_map_hash(key) & 63) == 7)
            keys[n++] = key;
    }
}

static void against_model(bool collide, uint32_t live_bound)
{
    uint64_t keys[KEYS];
    void *model[KEYS] = {0};
    keys_fill(keys, collide);
    struct bf_map map = {0};
    uint64_t random = 88172645463325252u;
    uint32_t live = 0;
    for (uint32_t step = 0; step < 100000; step++) {
        uint32_t k = (uint32_t)(random_next(&random) % KEYS);
        void *value = (void *)(uintptr_t)(step + 1);
        bool remove = model[k] ? random_next(&random) % 4 != 0 : live >= live_bound;
        if (remove) {
            assert_ptr_equal(bf_map_remove(&map, keys[k]), model[k]);
            live -= model[k] != NULL;
            model[k] = NULL;
        } else {
            assert_true(bf_map_insert(&map, keys[k], value));
            live += model[k] == NULL;
            model[k] = value;
        }
        assert_int_equal(map.live, live);
        uint32_t other = (uint32_t)(random_next(&random) % KEYS);
        assert_ptr_equal(bf_map_find(&map, keys[k]), model[k]);
        assert_ptr_equal(bf_map_find(&map, keys[other]), model[other]);
    }
    for (uint32_t k = 0; k < KEYS; k++)
        assert_ptr_equal(bf_map_find(&map, keys[k]), model[k]);
    for (uint32_t k = 0; k < KEYS; k++)
        bf_map_remove(&map, keys[k]);
    /* What is gone leaves no trace that a search would have to step over. */
    assert_int_equal(map.live, 0);
    assert_int_equal(map.used, 0);
    bf_map_finish(&map, NULL, NULL);
}

static void test_model(void **state)
{
    (void)state;
    against_model(false, KEYS);
    against_model(false, 20);
}

static void test_model_colliding(void **state)
{
    (void)state;
    against_model(true, 100);
    against_model(true, 12);
}

/* A program that makes and ends objects for ever needs no more room than it has objects. */
static void test_does_not_grow(void **state)
{
    (void)state;
    struct bf_map map = {0};
    for (uint64_t i = 1; i <= 100000; i++) {
        assert_true(bf_map_insert(&map, i * 64, &map));
        assert_true(bf_map_insert(&map, i * 64 + 8, &map));
        assert_ptr_equal(bf_map_remove(&map, i * 64), &map);
        assert_ptr_equal(bf_map_remove(&map, i * 64 + 8), &map);
    }
    struct bf_map_table *table = atomic_load(&map.table);
    assert_int_equal(table->mask, 63);
    assert_null(table->older);
    bf_map_finish(&map, NULL, NULL);
}

static void test_no_keys(void **state)
{
    (void)state;
    struct bf_map map = {0};
    assert_null(bf_map_find(&map, 5));
    assert_null(bf_map_remove(&map, 5));
    assert_false(bf_map_insert(&map, 0, &map));
    assert_false(bf_map_insert(&map, UINT64_MAX, &map));
    assert_true(bf_map_insert(&map, 5, &map));
    assert_null(bf_map_remove(&map, 0));
    assert_null(bf_map_remove(&map, UINT64_MAX));
    assert_ptr_equal(bf_map_find(&map, 5), &map);
    bf_map_finish(&map, NULL, NULL);
}

static void count_visit(void *value, void *context)
{
    (void)value;
    ++*(uint32_t *)context;
}

static void test_finish_visits_all(void **state)
{
    (void)state;
    struct bf_map map = {0};
    for (uint64_t i = 1; i <= 300; i++)
        assert_true(bf_map_insert(&map, i * 8, &map));
    for (uint64_t i = 1; i <= 300; i += 3)
        bf_map_remove(&map, i * 8);
    uint32_t visited = 0;
    bf_map_finish(&map, count_visit, &visited);
    assert_int_equal(visited, 200);
    assert_null(bf_map_find(&map, 16));
    /* It may be used again. */
    assert_true(bf_map_insert(&map, 16, &map));
    assert_ptr_equal(bf_map_find(&map, 16), &map);
    bf_map_finish(&map, NULL, NULL);
}

/* Each thread owns keys, as threads of a program own objects: some it keeps and looks up all the
 * time, some it makes and ends. Nobody's search may be misled by the others. */
#define THREADS 4
#define OWN     32

struct owner {
    struct bf_map *map;
    uint64_t keys[2 * OWN];
    uint64_t random;
    uint32_t wrong;
    pthread_t thread;
};

static void *own(void *argument)
{
    struct owner *o = argument;
    bool here[OWN] = {0};
    for (uint32_t i = 0; i < OWN; i++)
        o->wrong += !bf_map_insert(o->map, o->keys[i], &o->keys[i]);
    for (uint32_t step = 0; step < 6000; step++) {
        uint32_t kept = (uint32_t)(random_next(&o->random) % OWN);
        o->wrong += bf_map_find(o->map, o->keys[kept]) != &o->keys[kept];
        uint32_t n = (uint32_t)(random_next(&o->random) % OWN);
        uint64_t *key = &o->keys[OWN + n];
        o->wrong += bf_map_find(o->map, *key) != (here[n] ? key : NULL);
        if (here[n])
            o->wrong += bf_map_remove(o->map, *key) != key;
        else
            o->wrong += !bf_map_insert(o->map, *key, key);
        here[n] = !here[n];
    }
    return NULL;
}

static void test_threads(void **state)
{
    (void)state;
    uint64_t keys[KEYS];
    for (uint32_t round = 0; round < 4; round++) {
        keys_fill(keys, round % 2);
        struct bf_map map = {0};
        struct owner owners[THREADS] = {0};
        for (uint32_t t = 0; t < THREADS; t++) {
            owners[t].map = &map;
            owners[t].random = 1234567 + 99 * t + round;
            /* Interleaved, so that neighbours in the table belong to different threads. */
            for (uint32_t i = 0; i < 2 * OWN; i++)
                owners[t].keys[i] = keys[i * THREADS + t];
            assert_int_equal(pthread_create(&owners[t].thread, NULL, own, &owners[t]), 0);
        }
        for (uint32_t t = 0; t < THREADS; t++)
            pthread_join(owners[t].thread, NULL);
        for (uint32_t t = 0; t < THREADS; t++)
            assert_int_equal(owners[t].wrong, 0);
        bf_map_finish(&map, NULL, NULL);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_model),         cmocka_unit_test(test_model_colliding),
        cmocka_unit_test(test_does_not_grow), cmocka_unit_test(test_no_keys),
        cmocka_unit_test(test_threads),       cmocka_unit_test(test_finish_visits_all),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
