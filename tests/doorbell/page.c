/* SPDX-License-Identifier: MIT */
/* The pages of doorbells (doorbell/page.h), by one thread: what is mapped where, in which order
 * things happen, who yields, and what the kernel refuses. */
#include "support/test.h"

#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "base/membarrier.h"
#include "doorbell/page.h"

/* ---------------------------------------------------------------- System calls of the test's -- */

/* What has been called since the last look, in letters: b the barrier, d the dummy page, p a
 * physical one, each behind the status (0 to 3) and mark (+: marked) that doorbell 0 and 1 had
 * then. */
static struct {
    char log[256];
    uint32_t maps, fixed, unmaps;
    uint32_t refuse_map;   /* as bits: which maps from now on are refused */
    uint32_t refuse_remap; /* the same for those onto a fixed address */
    bool hole;             /* a refused remap has already removed what was there */
    bool no_barrier;
    uint32_t wakes;
} calls;

static struct world {
    struct bf_doorbell_pages pages;
    struct bf_doorbell_group groups[2];
    struct bf_doorbell_page doorbells[130];
} world;

static void log_call(char what)
{
    char *end = calls.log + strlen(calls.log);
    if (end - calls.log > 200)
        return;
    for (int i = 0; i < 2; i++) {
        const struct bf_doorbell_page *page = &world.doorbells[i];
        if (page->doorbell)
            end += sprintf(end, "%d%s", (int)bf_doorbell_page_state(page),
                           atomic_load(&page->rung) ? "+" : "");
    }
    sprintf(end, "%c ", what);
}

static bool refused(uint32_t *bits)
{
    bool is = *bits & 1;
    *bits >>= 1;
    return is;
}

static int call_unmap(void *address, size_t size)
{
    calls.unmaps++;
    return munmap(address, size);
}

static void *call_map(void *address, size_t size, int protection, int flags, int fd, off_t offset)
{
    bool fixed = flags & MAP_FIXED;
    unsigned char resident;
    bool there = fixed && mincore(address, size, &resident) == 0;
    if (fixed)
        log_call(offset ? 'p' : 'd');
    if (refused(fixed ? &calls.refuse_remap : &calls.refuse_map)) {
        if (there && calls.hole)
            call_unmap(address, size);
        errno = ENOMEM;
        return MAP_FAILED;
    }
    void *at = mmap(address, size, protection, flags, fd, offset);
    calls.maps += at != MAP_FAILED && !there;
    return at;
}

static bool call_barrier(void)
{
    log_call('b');
    return !calls.no_barrier && bf_membarrier();
}

static const struct bf_doorbell_calls counted = {call_map, call_unmap, call_barrier};

/* ------------------------------------------------------------------------------------- World -- */

static void woken(struct bf_doorbell_group *group)
{
    calls.wakes++;
}

static void open_world(uint32_t physical, bool global, uint32_t logical)
{
    memset(&calls, 0, sizeof(calls));
    memset(&world, 0, sizeof(world));
    assert_success(bf_doorbell_pages_init(&world.pages, physical, global, &counted));
    for (int i = 0; i < 2; i++) {
        world.groups[i].wake = woken;
        bf_doorbell_group_add(&world.pages, &world.groups[i]);
    }
    for (uint32_t i = 0; i < logical; i++)
        assert_success(
            bf_doorbell_page_create(&world.pages, &world.groups[0], &world.doorbells[i]));
    calls.log[0] = 0;
}

static void close_world(void)
{
    for (size_t i = 0; i < 130; i++)
        bf_doorbell_page_destroy(&world.pages, &world.doorbells[i]);
    for (int i = 0; i < 2; i++)
        bf_doorbell_group_remove(&world.pages, &world.groups[i]);
    bf_doorbell_pages_finish(&world.pages);
    assert_int_equal(calls.maps, calls.unmaps);
}

static VkResult connect_it(int i)
{
    return bf_doorbell_page_connect(&world.pages, &world.doorbells[i]);
}

static void disconnect_it(int i, enum bf_doorbell_state reason)
{
    bf_doorbell_page_disconnect(&world.pages, &world.doorbells[i], reason);
}

static void ring(int i, uint64_t value)
{
    __atomic_store_n(world.doorbells[i].doorbell, value, __ATOMIC_RELEASE);
}

/* What the program sees and what the runtime has stored is one word. */
static int status_of(int i)
{
    assert_int_equal(*world.doorbells[i].status, bf_doorbell_page_state(&world.doorbells[i]));
    return bf_doorbell_page_state(&world.doorbells[i]);
}

/* Which of the first 16 doorbells are to be looked at, as bits. */
static uint32_t polled(int group)
{
    uint32_t bits = 0;
    if (!bf_doorbell_group_poll(&world.pages, &world.groups[group]))
        return 0;
    for (int i = 0; i < 16; i++)
        if (world.doorbells[i].group == &world.groups[group] &&
            bf_doorbell_page_take(&world.doorbells[i]))
            bits |= 1u << i;
    return bits;
}

/* Rings reach the group; and its program doesn't crash. */
static bool rings(int i)
{
    polled(0);
    ring(i, 7);
    return polled(0) == 1u << i;
}

/* ------------------------------------------------------------------------------------- Tests -- */

TEST(a_fresh_doorbell_is_disconnected_and_a_connected_one_is_heard)
{
    open_world(4, false, 3);
    for (int i = 0; i < 3; i++)
        assert_int_equal(status_of(i), BF_DOORBELL_DISCONNECTED_RETRY);
    assert_int_equal(polled(0), 0);
    assert_false(rings(0));
    assert_success(connect_it(0));
    assert_success(connect_it(2));
    assert_int_equal(status_of(0), BF_DOORBELL_CONNECTED);
    assert_int_equal(polled(0), 5); /* they are looked at once more */
    assert_int_equal(polled(0), 0);
    ring(0, 1);
    assert_int_equal(polled(0), 1);
    ring(0, 1); /* the same value again is a ring, too */
    ring(2, 0);
    assert_int_equal(polled(0), 5);
    assert_success(connect_it(0)); /* it is */
    assert_int_equal(polled(0), 0);
    *world.doorbells[0].last_queued = 99;
    assert_int_equal(bf_doorbell_page_last_queued(&world.doorbells[0]), 99);
    assert_int_equal(bf_doorbell_page_last_queued(&world.doorbells[1]), 0);
    close_world();
}

/* DB-2, DB-3: the order of steps, and what could be seen at each. */
TEST(status_barrier_remap_mark_and_the_other_way_round)
{
    open_world(1, false, 2);
    assert_success(connect_it(0));
    assert_string_equal(calls.log, "22p 22b "); /* remap, barrier */
    assert_int_equal(status_of(0), BF_DOORBELL_CONNECTED);
    assert_int_equal(polled(0), 1);

    calls.log[0] = 0;
    assert_success(
        connect_it(1)); /* 0 is the victim: status, barrier, remap, mark; then as above */
    assert_string_equal(calls.log, "22b 22d 2+2p 2+2b ");
    assert_int_equal(status_of(0), BF_DOORBELL_DISCONNECTED_RETRY);
    assert_int_equal(polled(0), 3);

    calls.log[0] = 0;
    calls.wakes = 0;
    disconnect_it(1, BF_DOORBELL_DISCONNECTED_ABORT);
    assert_string_equal(calls.log, "23b 23d ");
    assert_int_equal(calls.wakes, 1);
    assert_int_equal(polled(0), 2);
    disconnect_it(0, BF_DOORBELL_DISCONNECTED_RETRY); /* it is */
    assert_string_equal(calls.log, "23b 23d ");
    assert_int_equal(polled(0), 0);
    close_world();
}

/* DB-5: of four connected doorbells, all used in the order of their numbers and then as said. */
TEST(suspended_yields_first_then_idle_then_the_least_recently_used)
{
    static const struct {
        uint32_t suspended, idle, used; /* bits; bits, and rung again */
        int victim;
    } rows[] = {
        {0, 0, 0, 0}, {0, 0, 1, 1}, {0, 0, 7, 3},  {0, 8, 0, 3},  {0, 12, 4, 3}, {0, 15, 3, 2},
        {4, 8, 4, 2}, {6, 8, 2, 2}, {15, 8, 0, 3}, {15, 0, 1, 1}, {8, 3, 8, 3},
    };
    for (size_t r = 0; r < sizeof(rows) / sizeof(*rows); r++) {
        open_world(4, false, 5);
        for (int i = 0; i < 4; i++) {
            assert_success(connect_it(i));
            atomic_store(&world.doorbells[i].suspended, rows[r].suspended >> i & 1);
            atomic_store(&world.doorbells[i].idle, rows[r].idle >> i & 1);
        }
        for (int i = 0; i < 4; i++)
            if (rows[r].used >> i & 1)
                assert_true(rings(i));
        assert_success(connect_it(4));
        for (int i = 0; i < 4; i++)
            assert_int_equal(status_of(i), i == rows[r].victim ? BF_DOORBELL_DISCONNECTED_RETRY
                                                               : BF_DOORBELL_CONNECTED);
        assert_true(rings(4));
        assert_int_equal(world.pages.victims, 1);
        close_world();
    }
}

/* DB-1: doorbell 0 has the only physical one, and 1 is connected; or 0 is disconnected. What is
 * stored to either address afterwards reaches a page, and what is not connected can be connected
 * again unless it is ABORT. */
TEST(a_remap_that_is_refused_leaves_a_page)
{
    static const struct {
        bool connect;
        uint32_t refuse; /* as bits: which remaps, from the operation on */
        VkResult result;
        int state[2];
    } rows[] = {
        /* A connection is two remaps: of the victim, and of who connects. One that is refused is
         * tried again, then the dummy page is. */
        {true, 1, VK_SUCCESS, {2, 0}},
        {true, 3, VK_SUCCESS, {2, 0}},
        {true, 7, VK_SUCCESS, {3, 0}},
        {true, 2, VK_SUCCESS, {2, 0}},
        {true, 6, VK_ERROR_TOO_MANY_OBJECTS, {2, 2}},
        {true, 14, VK_ERROR_TOO_MANY_OBJECTS, {2, 3}},
        {true, 63, VK_ERROR_TOO_MANY_OBJECTS, {3, 3}},
        {false, 1, VK_SUCCESS, {2, 2}},
        {false, 3, VK_SUCCESS, {2, 2}},
        {false, 7, VK_SUCCESS, {3, 2}},
    };
    for (size_t r = 0; r < 2 * sizeof(rows) / sizeof(*rows); r++) {
        const size_t row = r / 2;
        open_world(1, false, 2);
        assert_success(connect_it(0));
        calls.refuse_remap = rows[row].refuse;
        calls.hole = r % 2;
        if (rows[row].connect)
            assert_int_equal(connect_it(1), rows[row].result);
        else
            disconnect_it(0, BF_DOORBELL_DISCONNECTED_RETRY);
        assert_int_equal(calls.refuse_remap, 0);
        assert_int_equal(world.pages.refused > 0, true);
        assert_non_null(world.pages.reserve);
        for (int i = 0; i < 2; i++)
            assert_int_equal(status_of(i), rows[row].state[i]);
        for (int i = 0; i < 2; i++) {
            if (status_of(i) == BF_DOORBELL_DISCONNECTED_ABORT) {
                assert_int_equal(connect_it(i), VK_ERROR_DEVICE_LOST);
                continue; /* where the kernel has left a hole there is none to store to */
            }
            unsigned char resident;
            assert_int_equal(mincore(world.doorbells[i].doorbell, 1, &resident), 0);
            ring(i, 5);
            assert_success(connect_it(i));
            assert_true(rings(i));
        }
        close_world();
    }
}

/* Fills the process with mappings, up to vm.max_map_count; false: there are still more. */
#define AREAS 512
static struct {
    char *areas[AREAS], *pages[64];
    size_t size;
} filled;

static bool mappings_fill(void)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    filled.size = 512 * page;
    bool full = false;
    for (size_t i = 0; i < AREAS && !full; i++) {
        char *area = mmap(NULL, filled.size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        full = area == MAP_FAILED;
        if (full)
            break;
        filled.areas[i] = area;
        for (size_t at = page; at < filled.size && !full; at += 2 * page)
            full = mprotect(area + at, page, PROT_READ) == -1;
    }
    for (size_t i = 0; full && i < 64; i++) {
        filled.pages[i] = mmap(NULL, page, PROT_READ, MAP_SHARED, world.pages.fd, 0);
        if (filled.pages[i] == MAP_FAILED) {
            filled.pages[i] = NULL;
            return true;
        }
    }
    return false;
}

static void mappings_release(void)
{
    for (size_t i = 0; i < AREAS; i++)
        if (filled.areas[i])
            munmap(filled.areas[i], filled.size);
    for (size_t i = 0; i < 64; i++)
        if (filled.pages[i])
            munmap(filled.pages[i], (size_t)sysconf(_SC_PAGESIZE));
}

/* By the kernel's own answers. Nothing is said while there may be no memory to say it with. */
TEST(doorbells_come_and_go_where_there_are_no_more_mappings)
{
#if defined(__SANITIZE_THREAD__) /* needs mappings of its own */
    skip();
#endif
    VkResult created = VK_SUCCESS, connected = VK_SUCCESS;
    int wrong = 0;
    open_world(1, false, 2);
    assert_success(connect_it(0));
    bool full = mappings_fill();
    if (full) {
        created = bf_doorbell_page_create(&world.pages, &world.groups[0], &world.doorbells[2]);
        for (int i = 0; i < 64 && connected == VK_SUCCESS; i++) {
            connected = connect_it(1 - i % 2);
            ring(0, 1);
            ring(1, 1);
            wrong += *world.doorbells[1 - i % 2].status != BF_DOORBELL_CONNECTED ||
                     *world.doorbells[i % 2].status != BF_DOORBELL_DISCONNECTED_RETRY;
        }
    }
    mappings_release();
    if (full) {
        assert_int_equal(created, VK_ERROR_TOO_MANY_OBJECTS);
        assert_null(world.doorbells[2].doorbell);
        assert_success(connected);
        assert_int_equal(wrong, 0);
        assert_int_equal(world.pages.victims, 64);
        assert_true(world.pages.refused >= 64);
    }
    close_world();
    TEST_NEEDS(full, "limit of mappings");
}

/* DB-6. */
TEST(without_a_barrier_the_status_is_notify)
{
    open_world(4, false, 3);
    assert_success(connect_it(0));
    assert_success(connect_it(1));
    calls.no_barrier = true;
    disconnect_it(1, BF_DOORBELL_DISCONNECTED_RETRY); /* the first that needs it */
    assert_int_equal(status_of(0), BF_DOORBELL_CONNECTED_NOTIFY);
    assert_int_equal(status_of(1), BF_DOORBELL_DISCONNECTED_RETRY);
    assert_int_equal(polled(0), 3);
    assert_success(connect_it(2));
    bf_doorbell_group_notify(&world.pages, &world.groups[0], false);
    assert_int_equal(status_of(0), BF_DOORBELL_CONNECTED_NOTIFY);
    assert_int_equal(status_of(2), BF_DOORBELL_CONNECTED_NOTIFY);
    close_world();
}

TEST(a_group_says_whether_it_is_to_be_notified)
{
    open_world(4, false, 2);
    assert_success(bf_doorbell_page_create(&world.pages, &world.groups[1], &world.doorbells[2]));
    assert_success(connect_it(0));
    assert_success(connect_it(2));
    bf_doorbell_group_notify(&world.pages, &world.groups[0], true);
    assert_success(connect_it(1));
    disconnect_it(0, BF_DOORBELL_DISCONNECTED_RETRY);
    assert_int_equal(status_of(0), BF_DOORBELL_DISCONNECTED_RETRY);
    assert_int_equal(status_of(1), BF_DOORBELL_CONNECTED_NOTIFY);
    assert_int_equal(status_of(2), BF_DOORBELL_CONNECTED);
    bf_doorbell_group_notify(&world.pages, &world.groups[0], false);
    assert_int_equal(status_of(1), BF_DOORBELL_CONNECTED);
    assert_int_equal(status_of(0), BF_DOORBELL_DISCONNECTED_RETRY);
    close_world();
}

/* DB-7; and one barrier for all. */
TEST(abort_is_final)
{
    open_world(4, false, 3);
    assert_success(bf_doorbell_page_create(&world.pages, &world.groups[1], &world.doorbells[3]));
    for (int i = 0; i < 4; i++)
        if (i != 1)
            assert_success(connect_it(i));
    calls.log[0] = 0;
    bf_doorbell_group_disconnect(&world.pages, &world.groups[0], BF_DOORBELL_DISCONNECTED_RETRY);
    assert_string_equal(calls.log, "2+2b 2+2d 2+2d ");
    assert_int_equal(status_of(3), BF_DOORBELL_CONNECTED);
    assert_success(connect_it(0));
    bf_doorbell_pages_disconnect(&world.pages, BF_DOORBELL_DISCONNECTED_ABORT);
    bf_doorbell_pages_disconnect(&world.pages, BF_DOORBELL_DISCONNECTED_RETRY);
    bf_doorbell_group_notify(&world.pages, &world.groups[0], true);
    for (int i = 0; i < 4; i++) {
        disconnect_it(i, BF_DOORBELL_DISCONNECTED_RETRY);
        assert_int_equal(connect_it(i), VK_ERROR_DEVICE_LOST);
        assert_int_equal(status_of(i), BF_DOORBELL_DISCONNECTED_ABORT);
        ring(i, 1);
    }
    assert_int_equal(bf_doorbell_page_create(&world.pages, &world.groups[0], &world.doorbells[4]),
                     VK_ERROR_DEVICE_LOST);
    close_world();
}

/* DB-4. */
TEST(a_ring_found_by_who_had_the_physical_doorbell_before_is_passed_on)
{
    open_world(1, false, 1);
    assert_success(bf_doorbell_page_create(&world.pages, &world.groups[1], &world.doorbells[1]));
    assert_success(connect_it(1));
    assert_int_equal(polled(1), 2);
    ring(1, 5);
    assert_int_equal(polled(0), 0);         /* never had it, and doesn't look */
    atomic_store(&world.groups[0].held, 1); /* as it had read it before doorbell 1 was connected */
    calls.wakes = 0;
    assert_int_equal(polled(0), 0);
    assert_int_equal(calls.wakes, 1);
    assert_int_equal(polled(1), 2);
    close_world();
}

TEST(the_global_doorbell_is_everybodys_and_never_taken_away)
{
    open_world(64, true, 8);
    assert_success(bf_doorbell_page_create(&world.pages, &world.groups[1], &world.doorbells[8]));
    for (int i = 0; i < 9; i++)
        assert_success(connect_it(i));
    for (int i = 0; i < 9; i++)
        assert_int_equal(status_of(i), BF_DOORBELL_CONNECTED);
    assert_int_equal(world.pages.victims, 0);
    assert_int_equal(polled(0), 0xff);
    assert_int_equal(polled(1), 0x100);
    ring(8, 1);
    assert_int_equal(polled(0), 0xff);
    assert_int_equal(polled(1), 0x100);
    disconnect_it(8, BF_DOORBELL_DISCONNECTED_RETRY);
    assert_int_equal(polled(1), 0x100);
    ring(3, 2);
    ring(8, 3);
    assert_int_equal(polled(0), 0xff);
    ring(8, 3);
    assert_int_equal(polled(0), 0);
    disconnect_it(2, BF_DOORBELL_DISCONNECTED_RETRY); /* the others keep it */
    polled(0);
    ring(3, 4);
    assert_int_equal(polled(0), 0xff);
    close_world();
}

/* DB-8. */
TEST(a_program_cannot_write_a_status_or_shrink_a_page)
{
    open_world(1, false, 1);
    const size_t page = world.pages.page_size;
    void *at = (void *)((uintptr_t)world.doorbells[0].status / page * page);
    assert_int_equal(mprotect(at, page, PROT_READ | PROT_WRITE), -1);
    assert_int_equal(errno, EACCES);
    pid_t child = fork();
    if (child == 0) {
        signal(SIGSEGV, SIG_DFL);
        *(volatile uint64_t *)(uintptr_t)world.doorbells[0].status = 0;
        _exit(0);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV);
    assert_int_equal(ftruncate(world.pages.fd, 0), -1);
    assert_int_equal(errno, EPERM);
    close_world();
}

TEST(statuses_lie_a_cache_line_apart_and_places_are_used_again)
{
    open_world(3, false, 130);
    for (int i = 0; i < 130; i++)
        for (int k = 0; k < i; k++) {
            ptrdiff_t words = world.doorbells[i].status - world.doorbells[k].status;
            assert_true(words >= 8 || words <= -8);
        }
    const uint32_t maps = calls.maps;
    for (int i = 0; i < 130; i += 3) {
        assert_success(connect_it(i));
        *world.doorbells[i].last_queued = 5;
        bf_doorbell_page_destroy(&world.pages, &world.doorbells[i]);
    }
    assert_false(bf_doorbell_group_poll(&world.pages, &world.groups[0]) && polled(0));
    for (int i = 0; i < 130; i += 3) {
        assert_success(
            bf_doorbell_page_create(&world.pages, &world.groups[0], &world.doorbells[i]));
        assert_int_equal(status_of(i), BF_DOORBELL_DISCONNECTED_RETRY);
        assert_int_equal(bf_doorbell_page_last_queued(&world.doorbells[i]), 0);
    }
    assert_int_equal(calls.maps, maps + 44); /* no new words */
    close_world();
}

/* Whatever is refused on the way, nothing is left behind. */
TEST(creation_undoes_itself)
{
    for (uint32_t refuse = 1; refuse < 64; refuse <<= 1) {
        memset(&calls, 0, sizeof(calls));
        memset(&world, 0, sizeof(world));
        calls.refuse_map = refuse;
        VkResult result = bf_doorbell_pages_init(&world.pages, 64, false, &counted);
        assert_int_equal(result, refuse < 4 ? VK_ERROR_TOO_MANY_OBJECTS : VK_SUCCESS);
        if (result == VK_SUCCESS) {
            bf_doorbell_group_add(&world.pages, &world.groups[0]);
            assert_int_equal(
                bf_doorbell_page_create(&world.pages, &world.groups[0], &world.doorbells[0]),
                VK_ERROR_TOO_MANY_OBJECTS);
            assert_success(
                bf_doorbell_page_create(&world.pages, &world.groups[0], &world.doorbells[0]));
            bf_doorbell_page_destroy(&world.pages, &world.doorbells[0]);
        }
        bf_doorbell_pages_finish(&world.pages);
        assert_int_equal(calls.maps, calls.unmaps);
    }
    struct rlimit limit, none;
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
    none = limit;
    none.rlim_cur = 0;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
    VkResult result = bf_doorbell_pages_init(&world.pages, 1, false, NULL);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
    assert_int_equal(result, VK_ERROR_TOO_MANY_OBJECTS);
    bf_doorbell_pages_finish(&world.pages);
}
