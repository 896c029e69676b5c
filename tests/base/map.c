/* SPDX-License-Identifier: MIT */
/* The map of handles: against a model, with keys that collide, and under readers that never lock
 * (guarantees M-1 to M-3 of base/map.h). */
#include "support/test.h"

/* A reader may be held up between two steps: base/map.h with the break hook_map_probe. */
#include "support/hook.h"

#include "base/map.h"

#define KEYS 512

/* Where each step costs many times as much. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define FEWER 10
#else
#define FEWER 1
#endif

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
    for (uint32_t n = 0; n < KEYS; key += 16)
        if (!collide || (bf_map_hash(key) & 63) == 7)
            keys[n++] = key;
}

static void against_model(bool collide, uint32_t live_bound)
{
    uint64_t keys[KEYS];
    void *model[KEYS] = {0};
    keys_fill(keys, collide);
    struct bf_map map = {.live = 0};
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

TEST(test_model)
{
    against_model(false, KEYS);
    against_model(false, 20);
}

TEST(test_model_colliding)
{
    against_model(true, 100);
    against_model(true, 12);
}

/* A program that makes and ends objects for ever needs no more room than it has objects. */
TEST(test_does_not_grow)
{
    struct bf_map map = {.live = 0};
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

/* Nor where no key ever comes back, and most removed slots lie before others. */
TEST(test_tables_are_reused)
{
    enum { LIVE = 12, MOST = 2000 };
    struct bf_map map = {.live = 0};
    uint64_t random = 88172645463325252u, keys[MOST] = {0};
    for (uint32_t step = 0; step < 200000; step++) {
        /* Now and then as many as need a larger table. */
        uint32_t live = step % 50000 < 48000 ? LIVE : MOST, n = (uint32_t)(step % live);
        assert_ptr_equal(bf_map_remove(&map, keys[n]), keys[n] ? &keys[n] : NULL);
        keys[n] = random_next(&random) | 1;
        assert_true(bf_map_insert(&map, keys[n], &keys[n]));
        n = (uint32_t)(random_next(&random) % live);
        assert_ptr_equal(bf_map_find(&map, keys[n]), keys[n] ? &keys[n] : NULL);
    }
    assert_true(atomic_load(&map.reused) > 0);
    uint64_t sizes = 0, tables = 0;
    for (struct bf_map_table *t = atomic_load(&map.table); t; t = t->older) {
        sizes |= t->mask + 1;
        tables++;
    }
    assert_true(tables <= 2 * (uint64_t)__builtin_popcountll(sizes));
    bf_map_finish(&map, NULL, NULL);
}

TEST(test_no_keys)
{
    struct bf_map map = {.live = 0};
    assert_null(bf_map_find(&map, 5));
    assert_null(bf_map_remove(&map, 5));
    assert_false(bf_map_insert(&map, 0, &map));
    assert_false(bf_map_insert(&map, UINT64_MAX, &map));
    assert_true(bf_map_insert(&map, 5, &map));
    assert_null(bf_map_remove(&map, 0));
    assert_null(bf_map_remove(&map, UINT64_MAX));
    assert_ptr_equal(bf_map_find(&map, 5), &map);
    /* Nor is what has been removed anybody's. */
    for (uint64_t i = 1; i < 64; i++) {
        assert_true(bf_map_insert(&map, i * 8, &map));
        assert_ptr_equal(bf_map_remove(&map, i * 8), &map);
    }
    assert_null(bf_map_find(&map, 0));
    bf_map_finish(&map, NULL, NULL);
}

static void count_visit(void *value, void *context)
{
    ++*(uint32_t *)context;
}

TEST(test_finish_visits_all)
{
    struct bf_map map = {.live = 0};
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

TEST(test_threads)
{
    uint64_t keys[KEYS];
    for (uint32_t round = 0; round < 4; round++) {
        keys_fill(keys, round % 2);
        struct bf_map map = {.live = 0};
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

/* The reader's table is given up, and serves anew, while it is between two slots of it. */
static struct {
    struct bf_map map;
    struct bf_map_table *seen;
    uint64_t random;
    uint32_t held_up;
} slow;

static void change_tables(enum test_hook_point point)
{
    if (point != TEST_HOOK_MAP_PROBE || !slow.seen)
        return;
    struct bf_map_table *seen = slow.seen;
    slow.seen = NULL; /* once */
    slow.held_up++;
    uint64_t reused = atomic_load(&slow.map.reused), key = 0;
    while (atomic_load(&slow.map.table) != seen || atomic_load(&slow.map.reused) == reused) {
        bf_map_remove(&slow.map, key);
        key = random_next(&slow.random) & ~UINT64_C(1);
        assert_true(bf_map_insert(&slow.map, key, &key));
    }
    bf_map_remove(&slow.map, key);
}

TEST(test_a_reader_whose_table_is_reused)
{
    uint64_t keys[OWN];
    slow.random = 88172645463325252u;
    for (uint32_t i = 0; i < 12; i++) {
        keys[i] = random_next(&slow.random) | 1;
        assert_true(bf_map_insert(&slow.map, keys[i], &keys[i]));
    }
    test_hook = change_tables;
    for (uint32_t i = 0; i < 1000 / FEWER; i++) {
        /* A key that stands behind another's slot, and will take that when tables change. */
        uint64_t before = random_next(&slow.random) | 1, passing;
        do
            passing = random_next(&slow.random) | 1;
        while ((bf_map_hash(passing) ^ bf_map_hash(before)) & 63);
        assert_true(bf_map_insert(&slow.map, before, &before));
        assert_true(bf_map_insert(&slow.map, passing, &passing));
        bf_map_remove(&slow.map, before);
        slow.seen = atomic_load(&slow.map.table);
        assert_ptr_equal(bf_map_find(&slow.map, i % 2 ? passing : keys[i % 12]),
                         i % 2 ? &passing : &keys[i % 12]);
        bf_map_remove(&slow.map, passing);
    }
    test_hook = NULL;
    assert_true(slow.held_up > 100 / FEWER);
    bf_map_finish(&slow.map, NULL, NULL);
}

/* Keys that never come back, so that tables change all the time; and readers of keys that stay. */
#define READERS 3

struct churn {
    struct bf_map map;
    uint64_t kept[OWN];
    _Atomic bool end;
    _Atomic uint64_t looks;
    _Atomic uint32_t wrong;
};

static void *look_for_what_stays(void *argument)
{
    struct churn *c = argument;
    for (uint32_t i = 0; !atomic_load(&c->end); i = (i + 1) % OWN) {
        if (bf_map_find(&c->map, c->kept[i]) != &c->kept[i])
            atomic_fetch_add(&c->wrong, 1);
        atomic_fetch_add_explicit(&c->looks, 1, memory_order_relaxed);
    }
    return NULL;
}

TEST(test_threads_and_reuse)
{
    static struct churn c;
    pthread_t readers[READERS];
    uint64_t random = 88172645463325252u;
    for (uint32_t i = 0; i < OWN; i++) {
        c.kept[i] = random_next(&random) | 1;
        assert_true(bf_map_insert(&c.map, c.kept[i], &c.kept[i]));
    }
    for (int i = 0; i < READERS; i++)
        assert_int_equal(pthread_create(&readers[i], NULL, look_for_what_stays, &c), 0);
    uint64_t keys[8] = {0};
    while (atomic_load(&c.map.reused) < 300 / FEWER || atomic_load(&c.looks) < 10000 / FEWER) {
        uint64_t *key = &keys[random_next(&random) % 8];
        bf_map_remove(&c.map, *key);
        *key = random_next(&random) & ~UINT64_C(1);
        assert_true(bf_map_insert(&c.map, *key, key));
    }
    atomic_store(&c.end, true);
    for (int i = 0; i < READERS; i++)
        pthread_join(readers[i], NULL);
    assert_int_equal(atomic_load(&c.wrong), 0);
    bf_map_finish(&c.map, NULL, NULL);
}
