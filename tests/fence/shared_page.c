/* SPDX-License-Identifier: MIT */
/* The page of a shared fence (fence/shared_page.h): who sets a value raises every slot's peak and
 * wakes those alone who wait for less (SH-1, SH-2), nobody's bytes are believed (SH-4), and slots
 * are the kernel's to give (SH-5). */
#include "support/test.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "fence/shared_page.h"

static int create(uint64_t value)
{
    int fd = -1;
    assert_success(bf_shared_page_create(value, &fd));
    return fd;
}

static struct bf_shared_view join(int fd)
{
    struct bf_shared_view view;
    assert_success(bf_shared_page_join(&view, fd, "join"));
    return view;
}

static void part(struct bf_shared_view *view)
{
    bf_shared_page_leave(view);
    bf_shared_page_unmap(view);
}

static uint32_t turn_of(const struct bf_shared_view *view)
{
    return atomic_load(bf_shared_page_turn(view));
}

TEST(a_page_can_neither_shrink_nor_grow_nor_be_sealed_more)
{
    int fd = create(0);
    assert_int_equal(ftruncate(fd, 0), -1);
    assert_int_equal(ftruncate(fd, 2 * BF_SHARED_SIZE), -1);
    assert_int_equal(fcntl(fd, F_ADD_SEALS, F_SEAL_WRITE), -1);
    struct stat info;
    assert_int_equal(fstat(fd, &info), 0);
    assert_int_equal(info.st_size, BF_SHARED_SIZE);
    close(fd);
}

TEST(a_value_reaches_every_slot_but_its_writers)
{
    int fd = create(7);
    struct bf_shared_view views[3];
    for (int i = 0; i < 3; i++) {
        views[i] = join(fd);
        assert_int_equal(bf_shared_page_value(&views[i]), 7);
        assert_int_equal(bf_shared_page_take_peak(&views[i]), 0);
    }
    bf_shared_page_set(&views[0], 12);
    bf_shared_page_set(&views[0], 30);
    bf_shared_page_set(&views[1], 2);
    assert_int_equal(bf_shared_page_take_peak(&views[0]), 2);
    assert_int_equal(bf_shared_page_take_peak(&views[1]), 30);
    assert_int_equal(bf_shared_page_take_peak(&views[2]), 30);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(bf_shared_page_value(&views[i]), 2);
        assert_int_equal(bf_shared_page_take_peak(&views[i]), 0);
        part(&views[i]);
    }
    close(fd);
}

TEST(only_values_above_what_is_monitored_change_the_turn)
{
    int fd = create(0);
    struct bf_shared_view sets = join(fd), waits = join(fd), idles = join(fd);
    uint32_t turn = turn_of(&waits), idle = turn_of(&idles);
    bf_shared_page_set(&sets, UINT64_MAX);
    assert_int_equal(turn_of(&waits), turn);
    bf_shared_page_monitor(&waits, 9);
    bf_shared_page_set(&sets, 9);
    assert_int_equal(turn_of(&waits), turn);
    bf_shared_page_set(&sets, 10);
    assert_int_not_equal(turn_of(&waits), turn);
    turn = turn_of(&waits);
    bf_shared_page_monitor(&waits, UINT64_MAX);
    bf_shared_page_set(&sets, 11);
    assert_int_equal(turn_of(&waits), turn);
    assert_int_equal(turn_of(&idles), idle);
    part(&sets);
    part(&waits);
    part(&idles);
    close(fd);
}

TEST(who_has_left_is_told_nothing_and_can_still_set)
{
    int fd = create(0);
    struct bf_shared_view gone = join(fd), here = join(fd);
    bf_shared_page_leave(&gone);
    bf_shared_page_leave(&gone);
    bf_shared_page_set(&here, 4);
    assert_int_equal(bf_shared_page_take_peak(&gone), 0);
    bf_shared_page_set(&gone, 6);
    assert_int_equal(bf_shared_page_take_peak(&here), 6);
    bf_shared_page_unmap(&gone);
    part(&here);
    close(fd);
}

/* Whatever the page says of who lives. */
TEST(slots_are_the_kernels_to_give)
{
    int fd = create(0);
    struct bf_shared_view views[BF_SHARED_SLOTS], more;
    bool taken[BF_SHARED_SLOTS] = {false};
    for (int i = 0; i < BF_SHARED_SLOTS; i++) {
        views[i] = join(fd);
        assert_false(taken[views[i].slot]);
        taken[views[i].slot] = true;
        if (i == 50) { /* all live, or none */
            atomic_store(&views[0].page->live[0], UINT64_MAX);
            atomic_store(&views[0].page->live[1], UINT64_MAX);
        } else if (i == 90) {
            atomic_store(&views[0].page->live[0], 0);
            atomic_store(&views[0].page->live[1], 0);
        }
    }
    assert_int_equal(bf_shared_page_join(&more, fd, "join"), VK_ERROR_TOO_MANY_OBJECTS);
    /* One who died: his descriptor went, and nobody has cleared anything. */
    uint32_t slot = views[33].slot;
    close(views[33].fd);
    atomic_store(&views[33].page->slots[slot].peak, 99);
    bf_shared_page_unmap(&views[33]);
    views[33] = join(fd);
    assert_int_equal(views[33].slot, slot);
    assert_int_equal(bf_shared_page_take_peak(&views[33]), 0);
    for (int i = 0; i < BF_SHARED_SLOTS; i++)
        part(&views[i]);
    close(fd);
}

/* Moves the page between two that may not be touched. */
static void fence_in(struct bf_shared_view *view)
{
    const size_t guard = (size_t)sysconf(_SC_PAGESIZE);
    char *room =
        mmap(NULL, BF_SHARED_SIZE + 2 * guard, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(room, MAP_FAILED);
    void *page = mremap(view->page, BF_SHARED_SIZE, BF_SHARED_SIZE, MREMAP_MAYMOVE | MREMAP_FIXED,
                        room + guard);
    assert_ptr_equal(page, room + guard);
    view->page = page;
}

static void fence_out(const struct bf_shared_view *view)
{
    const size_t guard = (size_t)sysconf(_SC_PAGESIZE);
    munmap((char *)view->page - guard, guard);
    munmap((char *)view->page + BF_SHARED_SIZE, guard);
}

/* Every byte pattern is one that a peer might leave. */
TEST(nothing_in_the_page_leads_out_of_it)
{
    static const uint8_t patterns[] = {0x00, 0xff, 0x80, 0x7f, 0x55};
    int fd = create(0);
    struct bf_shared_view one = join(fd), two = join(fd), more;
    fence_in(&one);
    fence_in(&two);
    for (size_t i = 0; i < sizeof(patterns); i++) {
        memset(one.page, patterns[i], sizeof(*one.page));
        bf_shared_page_set(&one, 5);
        bf_shared_page_set(&two, UINT64_MAX);
        bf_shared_page_take_peak(&one);
        bf_shared_page_monitor(&two, 3);
        assert_int_equal(bf_shared_page_value(&one), UINT64_MAX);
        assert_int_equal(bf_shared_page_join(&more, fd, "join"), VK_ERROR_INVALID_EXTERNAL_HANDLE);
        assert_null(more.page);
        assert_int_equal(more.fd, -1);
    }
    fence_out(&one);
    fence_out(&two);
    part(&one);
    part(&two);
    close(fd);
}

/* A memfd with that size, those seals and that beginning. */
static int forge(off_t size, int seals, uint64_t magic, uint32_t version)
{
    int fd = memfd_create("forged", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    assert_int_not_equal(fd, -1);
    assert_int_equal(ftruncate(fd, size), 0);
    assert_int_equal(pwrite(fd, &magic, sizeof(magic), 0), sizeof(magic));
    assert_int_equal(pwrite(fd, &version, sizeof(version), 8), sizeof(version));
    assert_int_equal(fcntl(fd, F_ADD_SEALS, seals), 0);
    return fd;
}

TEST(what_is_no_page_is_refused)
{
    const int good = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;
    const struct {
        off_t size;
        int seals;
        uint64_t magic;
        uint32_t version;
    } bad[] = {
        {BF_SHARED_SIZE, 0, BF_SHARED_MAGIC, 1},
        {BF_SHARED_SIZE, good & ~F_SEAL_SHRINK, BF_SHARED_MAGIC, 1},
        {BF_SHARED_SIZE, good & ~F_SEAL_GROW, BF_SHARED_MAGIC, 1},
        {BF_SHARED_SIZE, good & ~F_SEAL_SEAL, BF_SHARED_MAGIC, 1},
        {BF_SHARED_SIZE, good | F_SEAL_WRITE, BF_SHARED_MAGIC, 1},
        {BF_SHARED_SIZE - 1, good, BF_SHARED_MAGIC, 1},
        {BF_SHARED_SIZE * 2, good, BF_SHARED_MAGIC, 1},
        {BF_SHARED_SIZE, good, BF_SHARED_MAGIC ^ 1, 1},
        {BF_SHARED_SIZE, good, BF_SHARED_MAGIC, 0},
    };
    struct bf_shared_view view;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        int fd = forge(bad[i].size, bad[i].seals, bad[i].magic, bad[i].version);
        assert_int_equal(bf_shared_page_join(&view, fd, "join"), VK_ERROR_INVALID_EXTERNAL_HANDLE);
        close(fd);
    }
    int fd = forge(BF_SHARED_SIZE, good, BF_SHARED_MAGIC, 1);
    view = join(fd);
    part(&view);
    close(fd);
    assert_int_equal(bf_shared_page_join(&view, -1, "join"), VK_ERROR_INVALID_EXTERNAL_HANDLE);
}

TEST(without_descriptors_nothing_is_left_behind)
{
    int fd = create(0), next = dup(fd), out = -1;
    struct rlimit before, none;
    struct bf_shared_view view;
    close(next);
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
    none = before;
    none.rlim_cur = (rlim_t)next;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
    VkResult joined = bf_shared_page_join(&view, fd, "join");
    VkResult created = bf_shared_page_create(0, &out);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
    assert_int_equal(joined, VK_ERROR_TOO_MANY_OBJECTS);
    assert_int_equal(created, VK_ERROR_TOO_MANY_OBJECTS);
    assert_int_equal(out, -1);
    int after = dup(fd);
    assert_int_equal(after, next);
    close(after);
    close(fd);
}

/* ----------------------------------------------------------------------------------- At once -- */

enum {
    TAKERS = 100, /* each slot is a race of its own */
    ROUNDS = 10000,
};

struct setter {
    struct bf_shared_view view;
    _Atomic uint32_t round, done;
};

/* Two set a value each; whose is the larger one changes. */
static uint64_t value_of(uint32_t round, uint32_t setter)
{
    return (round / 2 + setter) % 2 + 1;
}

static void *set_values(void *argument)
{
    struct setter *s = argument;
    for (uint32_t i = 1; i <= ROUNDS; i++) {
        for (uint32_t n = 1; atomic_load(&s->round) != i; n++)
            if (n % 4096 == 0) /* mostly they begin together */
                sched_yield();
        bf_shared_page_set(&s->view, value_of(i, 1));
        atomic_store(&s->done, i);
    }
    return NULL;
}

/* Round by round: the larger value is in what was taken meanwhile or afterwards, whoever raised the
 * peak first; and everybody reads the same value in the end. */
TEST(no_peak_is_lost_between_setters_and_takers)
{
    int fd = create(0);
    struct bf_shared_view takers[TAKERS], own = join(fd);
    struct setter other = {.view = join(fd)};
    pthread_t thread;
    for (int i = 0; i < TAKERS; i++)
        takers[i] = join(fd);
    assert_int_equal(pthread_create(&thread, NULL, set_values, &other), 0);
    uint32_t lost = 0, different = 0;
    for (uint32_t i = 1; i <= ROUNDS; i++) {
        uint64_t taken[TAKERS] = {0};
        atomic_store(&other.round, i);
        bf_shared_page_set(&own, value_of(i, 0));
        for (int k = 0; k < TAKERS && i % 2; k++)
            taken[k] = bf_shared_page_take_peak(&takers[k]);
        while (atomic_load(&other.done) != i)
            sched_yield();
        for (int k = 0; k < TAKERS; k++)
            lost += bf_shared_page_take_peak(&takers[k]) != 2 && taken[k] != 2;
        different += bf_shared_page_value(&own) != bf_shared_page_value(&other.view);
    }
    pthread_join(thread, NULL);
    assert_int_equal(lost, 0);
    assert_int_equal(different, 0);
    for (int i = 0; i < TAKERS; i++)
        part(&takers[i]);
    part(&own);
    part(&other.view);
    close(fd);
}
