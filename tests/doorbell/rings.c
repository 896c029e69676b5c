/* SPDX-License-Identifier: MIT */
/*
 * Doorbells that are taken away while they are rung: eight programs with 64 queues, few physical
 * doorbells, and a thread that disconnects and connects whatever comes (DB-1 to DB-4).
 *
 * A queue is a counter of entries. Whoever consumes them looks only where he is told to; so a ring
 * that nobody was told of is seen: by its program, which now and then waits until the consumers
 * have looked again, or at the end.
 *
 * belfry-doorbell-rings [--rings N] [--seed N]: N for each of the cases.
 */
#include "support/test.h"

#include <time.h>

#include "doorbell/page.h"
#include "support/arguments.h"

#define PROGRAMS 8
#define QUEUES   64
#define GROUPS   2

static uint64_t rings = 200000, seed = 1;

struct queue {
    _Alignas(64) _Atomic uint64_t write; /* the program's */
    _Alignas(64) _Atomic uint64_t read;  /* the consumer's */
    struct bf_doorbell_page page;
};

static struct stress {
    struct bf_doorbell_pages pages;
    struct bf_doorbell_group groups[GROUPS];
    struct queue queues[QUEUES];
    uint32_t group_count;
    _Atomic uint64_t passes[GROUPS]; /* of each consumer, over all of its queues */
    _Atomic uint64_t rung;
    _Atomic uint64_t retries, lost, aborted;
    _Atomic bool done;
} * stress;

static uint64_t random_below(uint64_t *state, uint64_t limit)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return (*state >> 11) % limit;
}

static uint64_t random_start(uint64_t thread)
{
    return (seed * 64 + thread + 1) * UINT64_C(0x9e3779b97f4a7c15);
}

/* The five steps' last two; what is appended is never appended again. */
static void queue_ring(struct queue *queue)
{
    uint64_t write = atomic_load_explicit(&queue->write, memory_order_relaxed) + 1;
    atomic_store_explicit(&queue->write, write, memory_order_release);
    for (;;) {
        __atomic_store_n(queue->page.doorbell, write, __ATOMIC_RELEASE);
        atomic_signal_fence(memory_order_seq_cst);
        uint64_t status = __atomic_load_n(queue->page.status, __ATOMIC_ACQUIRE);
        if (status == BF_DOORBELL_CONNECTED)
            return;
        atomic_fetch_add(&stress->retries, 1);
        if (status != BF_DOORBELL_DISCONNECTED_RETRY ||
            bf_doorbell_page_connect(&stress->pages, &queue->page) != VK_SUCCESS) {
            atomic_fetch_add(&stress->aborted, 1);
            return;
        }
    }
}

/* Returns when the entry has been consumed, or each consumer has looked twice; true: it has. */
static bool looked(const struct queue *queue, uint64_t write)
{
    uint64_t before[GROUPS];
    for (uint32_t i = 0; i < stress->group_count; i++)
        before[i] = atomic_load(&stress->passes[i]);
    for (uint32_t i = 0; i < stress->group_count; i++) {
        while (atomic_load(&stress->passes[i]) < before[i] + 2) {
            if (atomic_load(&queue->read) >= write)
                return true;
            sched_yield();
        }
    }
    return atomic_load(&queue->read) >= write;
}

/*
 * Was anybody told of the last ring? Whoever is told may have to pass it on: hence another look of
 * all. And who takes a doorbell away may be between the remap and the mark: he has the lock. He
 * comes at most once more before the ring has been taken or marked.
 */
static bool queue_was_heard(struct queue *queue)
{
    uint64_t write = atomic_load(&queue->write);
    atomic_thread_fence(memory_order_seq_cst);
    for (int i = 0; i < 2; i++) {
        bf_lock_acquire(&stress->pages.lock);
        bf_lock_release(&stress->pages.lock);
        if (looked(queue, write) || looked(queue, write))
            return true;
    }
    return false;
}

static void *program_run(void *argument)
{
    const uint64_t number = (uintptr_t)argument;
    struct queue *queues = &stress->queues[number * QUEUES / PROGRAMS];
    uint64_t random = random_start(number), left = rings / PROGRAMS;
    while (left > 0 && !atomic_load(&stress->lost)) {
        struct queue *queue = &queues[random_below(&random, QUEUES / PROGRAMS)];
        uint64_t burst = 1 + random_below(&random, 1 + random_below(&random, 32));
        if (burst > left)
            burst = left;
        for (uint64_t i = 0; i < burst; i++)
            queue_ring(queue);
        left -= burst;
        atomic_fetch_add(&stress->rung, burst);
        if (random_below(&random, 4) == 0 && !queue_was_heard(queue))
            atomic_fetch_add(&stress->lost, 1);
    }
    return NULL;
}

static void queue_drain(struct queue *queue)
{
    uint64_t write = atomic_load_explicit(&queue->write, memory_order_acquire);
    atomic_store(&queue->read, write);
}

static void *consumer_run(void *argument)
{
    const uint32_t number = (uint32_t)(uintptr_t)argument;
    struct bf_doorbell_group *group = &stress->groups[number];
    for (;;) {
        bool last = atomic_load(&stress->done);
        bool any = bf_doorbell_group_poll(&stress->pages, group);
        for (uint32_t i = number; any && i < QUEUES; i += stress->group_count)
            if (bf_doorbell_page_take(&stress->queues[i].page))
                queue_drain(&stress->queues[i]);
        atomic_fetch_add(&stress->passes[number], 1);
        if (last && !any)
            return NULL;
        if (!any)
            sched_yield();
    }
}

/* Takes doorbells away, and connects some that their programs are just ringing. */
static void *taker_run(void *argument)
{
    uint64_t random = random_start(PROGRAMS), last = 0;
    while (!atomic_load(&stress->done)) {
        struct queue *queue = &stress->queues[random_below(&random, QUEUES)];
        uint64_t what = random_below(&random, 64);
        if (what < 16)
            bf_doorbell_page_connect(&stress->pages, &queue->page);
        else if (what < 63)
            bf_doorbell_page_disconnect(&stress->pages, &queue->page,
                                        BF_DOORBELL_DISCONNECTED_RETRY);
        else
            bf_doorbell_pages_disconnect(&stress->pages, BF_DOORBELL_DISCONNECTED_RETRY);
        while (atomic_load(&stress->rung) < last + 16 && !atomic_load(&stress->done))
            sched_yield();
        last = atomic_load(&stress->rung);
    }
    return NULL;
}

static void run(uint32_t physical, bool global, uint32_t group_count)
{
    pthread_t programs[PROGRAMS], consumers[GROUPS], taker;
    struct timespec begin, end;
    assert_int_equal(posix_memalign((void **)&stress, 64, sizeof(*stress)), 0);
    memset(stress, 0, sizeof(*stress));
    assert_success(bf_doorbell_pages_init(&stress->pages, physical, global, NULL));
    stress->group_count = group_count;
    for (uint32_t i = 0; i < group_count; i++)
        bf_doorbell_group_add(&stress->pages, &stress->groups[i]);
    for (uint32_t i = 0; i < QUEUES; i++)
        assert_success(bf_doorbell_page_create(&stress->pages, &stress->groups[i % group_count],
                                               &stress->queues[i].page));

    clock_gettime(CLOCK_MONOTONIC, &begin);
    for (uintptr_t i = 0; i < group_count; i++)
        assert_int_equal(pthread_create(&consumers[i], NULL, consumer_run, (void *)i), 0);
    for (uintptr_t i = 0; i < PROGRAMS; i++)
        assert_int_equal(pthread_create(&programs[i], NULL, program_run, (void *)i), 0);
    assert_int_equal(pthread_create(&taker, NULL, taker_run, NULL), 0);
    for (uint32_t i = 0; i < PROGRAMS; i++)
        pthread_join(programs[i], NULL);
    atomic_store(&stress->done, true);
    pthread_join(taker, NULL);
    for (uint32_t i = 0; i < group_count; i++)
        pthread_join(consumers[i], NULL);
    /* What the taker marked last, another consumer may have had to be told of. */
    for (uint32_t i = 0; i < group_count; i++)
        consumer_run((void *)(uintptr_t)i);
    clock_gettime(CLOCK_MONOTONIC, &end);

    uint64_t consumed = 0;
    print_message("%2u physical%s, %u groups: %.2f s, %" PRIu64 " connected, %" PRIu64
                  " for another, %" PRIu64 " retries\n",
                  physical, global ? " (global)" : "", group_count,
                  (double)(end.tv_sec - begin.tv_sec) + (double)(end.tv_nsec - begin.tv_nsec) / 1e9,
                  stress->pages.connects, stress->pages.victims, atomic_load(&stress->retries));
    for (uint32_t i = 0; i < QUEUES; i++) {
        assert_int_equal(atomic_load(&stress->queues[i].read),
                         atomic_load(&stress->queues[i].write));
        consumed += atomic_load(&stress->queues[i].read);
        bf_doorbell_page_destroy(&stress->pages, &stress->queues[i].page);
    }
    assert_int_equal(atomic_load(&stress->lost), 0);
    assert_int_equal(atomic_load(&stress->aborted), 0);
    assert_int_equal(consumed, rings / PROGRAMS * PROGRAMS);
    for (uint32_t i = 0; i < group_count; i++)
        bf_doorbell_group_remove(&stress->pages, &stress->groups[i]);
    bf_doorbell_pages_finish(&stress->pages);
    free(stress);
}

TEST(one_physical_doorbell)
{
    run(1, false, 1);
}

TEST(three_physical_doorbells_of_two_groups)
{
    run(3, false, 2);
}

TEST(sixteen_physical_doorbells)
{
    run(16, false, 1);
}

TEST(a_global_doorbell_of_two_groups)
{
    run(1, true, 2);
}

int main(int argc, char **argv)
{
    rings = argument(argc, argv, "--rings", rings);
    seed = argument(argc, argv, "--seed", seed);
    return test_run(NULL);
}
