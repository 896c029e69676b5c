/* SPDX-License-Identifier: MIT */
/* What trusted processes share of a fence's peer timelines (fence/peer_memory.h): who may signal
 * one is the kernel's to say (SH-14), what is on its way is found until it begins to apply (SH-15),
 * and whatever lies there, nobody comes to harm (SH-16). */
#include "support/test.h"

#include <fcntl.h>
#include <sys/mman.h>

#include "fence/peer_memory.h"

struct opener {
    struct bf_peer_memory_view shared;
    struct bf_shared_view page;
};

static void open_all(struct opener *openers, int count)
{
    int memory = -1, page = -1;
    assert_success(bf_peer_memory_create(&memory));
    assert_success(bf_shared_page_create(0, &page));
    for (int i = 0; i < count; i++) {
        assert_success(bf_peer_memory_join(&openers[i].shared, memory, "join"));
        assert_success(bf_shared_page_join(&openers[i].page, page, "join"));
    }
    close(memory);
    close(page);
}

static void close_one(struct opener *o)
{
    bf_peer_memory_leave(&o->shared);
    bf_shared_page_leave(&o->page);
    bf_shared_page_unmap(&o->page);
}

static uint32_t turn_of(const struct opener *o)
{
    return atomic_load(bf_shared_page_turn(&o->page));
}

TEST(a_peer_timeline_has_one_signaller_and_none_after_a_death)
{
    struct opener o[3];
    open_all(o, 3);
    assert_true(bf_peer_memory_claim(&o[0].shared, 0));
    assert_false(bf_peer_memory_claim(&o[1].shared, 0));
    assert_true(bf_peer_memory_claim(&o[1].shared, 1));
    assert_true(bf_peer_memory_is_claimed(&o[1].shared, 0));
    assert_true(bf_peer_memory_is_claimed(&o[2].shared, 1));
    assert_false(bf_peer_memory_is_claimed(&o[2].shared, 2));
    /* It leaves in order: another may have it. */
    bf_peer_memory_unclaim(&o[0].shared, 0);
    assert_false(bf_peer_memory_is_claimed(&o[2].shared, 0));
    assert_true(bf_peer_memory_claim(&o[2].shared, 0));
    /* It does not: nobody may. */
    close_one(&o[1]);
    assert_false(bf_peer_memory_is_claimed(&o[2].shared, 1));
    assert_false(bf_peer_memory_claim(&o[2].shared, 1));
    assert_false(bf_peer_memory_claim(&o[0].shared, 1));
    assert_false(bf_peer_memory_is_claimed(&o[0].shared, 1));
    bf_peer_memory_abandon(&o[2].shared);
    assert_int_equal(o[2].shared.claimed, 0);
    assert_false(bf_peer_memory_is_claimed(&o[0].shared, 0));
    assert_false(bf_peer_memory_claim(&o[0].shared, 0));
    /* One at a time sees to those who wait. */
    assert_true(bf_peer_memory_begin_release(&o[0].shared, 1));
    assert_false(bf_peer_memory_begin_release(&o[2].shared, 1));
    bf_peer_memory_end_release(&o[0].shared, 1);
    assert_true(bf_peer_memory_begin_release(&o[2].shared, 1));
    close_one(&o[2]);
    assert_true(bf_peer_memory_begin_release(&o[0].shared, 1));
    close_one(&o[0]);
}

static void assert_found(const struct opener *o, uint64_t value, uint32_t timeline, uint64_t point)
{
    uint32_t which = UINT32_MAX;
    uint64_t found = 0;
    assert_int_equal(bf_peer_memory_find(&o->shared, value, &which, &found), point != 0);
    assert_int_equal(found, point);
    assert_int_equal(which, point ? timeline : UINT32_MAX);
}

TEST(a_signal_is_found_from_its_publication_until_it_begins_to_apply)
{
    struct opener o[2];
    uint64_t largest;
    open_all(o, 2);
    assert_true(bf_peer_memory_claim(&o[0].shared, 3));
    assert_found(&o[1], 1, 3, 0);
    assert_false(bf_peer_memory_largest(&o[1].shared, &largest));
    bf_peer_memory_publish(&o[0].shared, &o[0].page, 3, 11, 5);
    bf_peer_memory_publish(&o[0].shared, &o[0].page, 3, 12, 2);
    bf_peer_memory_publish(&o[0].shared, &o[0].page, 3, 13, 9);
    assert_found(&o[1], 1, 3, 11);
    assert_found(&o[1], 5, 3, 11);
    assert_found(&o[1], 6, 3, 13);
    assert_found(&o[1], 10, 3, 0);
    assert_found(&o[0], 1, 3, 0); /* its own it knows better */
    assert_true(bf_peer_memory_largest(&o[1].shared, &largest));
    assert_int_equal(largest, 9);
    bf_peer_memory_begin(&o[0].shared, 3, 11);
    assert_found(&o[1], 1, 3, 12);
    assert_false(bf_peer_memory_is_applied(&o[1].shared, 3, 11));
    bf_peer_memory_apply(&o[0].shared, &o[0].page, 3, 11);
    assert_true(bf_peer_memory_is_applied(&o[1].shared, 3, 11));
    assert_false(bf_peer_memory_is_applied(&o[1].shared, 3, 12));
    bf_peer_memory_begin(&o[0].shared, 3, 13);
    bf_peer_memory_apply(&o[0].shared, &o[0].page, 3, 13);
    assert_found(&o[1], 0, 3, 0);
    assert_int_equal(bf_peer_memory_last_point(&o[1].shared, 3), 13);
    /* Of one that is dead nothing is promised any more. */
    bf_peer_memory_publish(&o[0].shared, &o[0].page, 3, 14, 20);
    assert_found(&o[1], 20, 3, 14);
    close_one(&o[0]);
    assert_found(&o[1], 20, 3, 0);
    close_one(&o[1]);
}

/* The last sixteen are known; those before reach what they do. */
TEST(what_is_overwritten_is_not_found)
{
    struct opener o[2];
    open_all(o, 2);
    assert_true(bf_peer_memory_claim(&o[0].shared, 0));
    for (uint64_t p = 1; p <= 2 * BF_PEER_MEMORY_ENTRIES + 3; p++)
        bf_peer_memory_publish(&o[0].shared, &o[0].page, 0, p, 100 + p);
    assert_found(&o[1], 1, 0, BF_PEER_MEMORY_ENTRIES + 4);
    assert_found(&o[1], 100 + 2 * BF_PEER_MEMORY_ENTRIES + 3, 0, 2 * BF_PEER_MEMORY_ENTRIES + 3);
    close_one(&o[0]);
    close_one(&o[1]);
}

TEST(those_are_woken_whom_it_concerns)
{
    struct opener o[3];
    open_all(o, 3);
    assert_true(bf_peer_memory_claim(&o[0].shared, 0));
    bf_peer_memory_want(&o[1].shared, &o[1].page, 6);
    bf_peer_memory_expect_applied(&o[2].shared, &o[2].page, true);
    uint32_t own = turn_of(&o[0]), one = turn_of(&o[1]), two = turn_of(&o[2]);
    bf_peer_memory_publish(&o[0].shared, &o[0].page, 0, 1, 6);
    assert_int_equal(turn_of(&o[1]), one);
    bf_peer_memory_publish(&o[0].shared, &o[0].page, 0, 2, 7);
    assert_int_equal(turn_of(&o[1]), one + 1);
    assert_int_equal(turn_of(&o[2]), two);
    bf_peer_memory_begin(&o[0].shared, 0, 1);
    assert_int_equal(turn_of(&o[2]), two);
    bf_peer_memory_apply(&o[0].shared, &o[0].page, 0, 1);
    assert_int_equal(turn_of(&o[2]), two + 1);
    bf_peer_memory_expect_applied(&o[2].shared, &o[2].page, false);
    bf_peer_memory_apply(&o[0].shared, &o[0].page, 0, 2);
    assert_int_equal(turn_of(&o[2]), two + 1);
    assert_int_equal(turn_of(&o[1]), one + 1);
    assert_int_equal(turn_of(&o[0]), own);
    for (int i = 0; i < 3; i++)
        close_one(&o[i]);
}

TEST(whatever_lies_there_harms_nobody)
{
    struct opener o[2];
    uint64_t random = 1, value;
    uint32_t timeline = 0;
    open_all(o, 2);
    assert_true(bf_peer_memory_claim(&o[0].shared, BF_PEER_MEMORY_TIMELINES - 1));
    for (int round = 0; round < 2000; round++) {
        for (size_t i = 0; i < sizeof(struct bf_peer_memory) / 8; i++) {
            random = random * 6364136223846793005u + 1442695040888963407u;
            ((volatile uint64_t *)o[0].shared.memory)[i] = round % 3   ? random
                                                           : round % 2 ? UINT64_MAX
                                                                       : 0;
        }
        bf_peer_memory_find(&o[1].shared, random, &timeline, &value);
        assert_true(timeline < BF_PEER_MEMORY_TIMELINES);
        bf_peer_memory_largest(&o[1].shared, &value);
        bf_peer_memory_claim(&o[1].shared, round % BF_PEER_MEMORY_TIMELINES);
        bf_peer_memory_publish(&o[1].shared, &o[1].page, timeline, random, random);
        bf_peer_memory_begin(&o[1].shared, timeline, random);
        bf_peer_memory_apply(&o[1].shared, &o[1].page, timeline, random);
        bf_peer_memory_last_point(&o[1].shared, timeline);
        bf_peer_memory_unclaim(&o[1].shared, round % BF_PEER_MEMORY_TIMELINES);
    }
    close_one(&o[0]);
    close_one(&o[1]);
}

TEST(what_is_no_peer_memory_is_refused)
{
    struct bf_peer_memory_view view;
    int page = -1, memory = -1;
    assert_success(bf_shared_page_create(0, &page));
    assert_int_equal(bf_peer_memory_join(&view, page, "join"), VK_ERROR_INVALID_EXTERNAL_HANDLE);
    assert_int_equal(bf_peer_memory_join(&view, -1, "join"), VK_ERROR_INVALID_EXTERNAL_HANDLE);
    assert_success(bf_peer_memory_create(&memory));
    uint32_t *words =
        mmap(NULL, BF_PEER_MEMORY_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, memory, 0);
    assert_ptr_not_equal(words, MAP_FAILED);
    words[2] = BF_PEER_MEMORY_VERSION + 1;
    assert_int_equal(bf_peer_memory_join(&view, memory, "join"), VK_ERROR_INVALID_EXTERNAL_HANDLE);
    assert_int_equal(view.fd, -1);
    munmap(words, BF_PEER_MEMORY_SIZE);
    close(page);
    close(memory);
}

/* --------------------------------------------------------------------- A reader and a writer -- */

enum { POINTS = 200000 };

struct writer {
    struct opener *o;
    _Atomic bool done;
};

/* Point p brings p or p + 1000000, so that a torn entry would show. */
static void *write_entries(void *argument)
{
    struct writer *w = argument;
    for (uint64_t p = 1; p <= POINTS; p++) {
        bf_peer_memory_publish(&w->o->shared, &w->o->page, 0, p, p % 2 ? p : p + 1000000);
        if (p > 8) {
            bf_peer_memory_begin(&w->o->shared, 0, p - 8);
            bf_peer_memory_apply(&w->o->shared, &w->o->page, 0, p - 8);
        }
    }
    atomic_store(&w->done, true);
    return NULL;
}

TEST(an_entry_is_read_whole)
{
    struct opener o[2];
    pthread_t thread;
    open_all(o, 2);
    assert_true(bf_peer_memory_claim(&o[0].shared, 0));
    struct writer w = {.o = &o[0]};
    assert_int_equal(pthread_create(&thread, NULL, write_entries, &w), 0);
    while (!atomic_load(&w.done)) {
        uint32_t timeline;
        uint64_t point;
        if (bf_peer_memory_find(&o[1].shared, 1000000, &timeline, &point))
            assert_int_equal(point % 2, 0);
    }
    pthread_join(thread, NULL);
    close_one(&o[0]);
    close_one(&o[1]);
}
