/* SPDX-License-Identifier: MIT */
/* The check 'access' alone, without a device: queues and fences are told of by hand, uses by
 * bf_access_queue_uses, and reports are kept. */
#ifndef BELFRY_TEST_ACCESS_CHECK_H
#define BELFRY_TEST_ACCESS_CHECK_H

#include "support/test.h"
#include "access/access.h"
#include "access/observe.h"
#include "access/record.h"

#define CHECK_REPORTS 64

struct check_report {
    enum bf_access_fault fault;
    bool overlap;
    char resource[96];
    char earlier[64], later[64]; /* queues */
    uint64_t packet_earlier, packet_later;
    bool write_earlier, write_later;
    char line[1024];
};

struct check {
    struct bf_access *access;
    uint32_t count; /* of all */
    struct check_report reports[CHECK_REPORTS];
};

/* Without lines on stderr. */
void check_open(struct check *check);
void check_close(struct check *check);

/* Three type classes' worth of queues, and fences. */
struct world {
    struct check check;
    struct bf_access *access;
    struct bf_access_queue *graphics, *compute, *copy, *copy2;
    struct bf_access_fence *a, *b;
};

int world_open(void **state);
int world_close(void **state);
#define WORLD_TEST(name_) TEST_ON(name_, world_open, world_close, struct world *w)

/* Calls in the order in which they are made, separated by commas: the queue (or 'cpu'), what it
 * does, and to what. Whoever writes or reads uses the first 64 bytes of that buffer, 1 if none is
 * named.
 *     copy writes [2], graphics reads [2]       one packet
 *     copy signals a 1, graphics waits a 1      a fence and a value
 *     copy idles                                the CPU waits for that queue
 *     cpu signals a 1, cpu waits a 1, cpu reads a 1 */
void check_calls(struct world *w, const char *program);
/* So many faults have been reported. */
void expect_reports(struct world *w, uint32_t count);

/* A program, and how many faults of it are reported. */
#define PROGRAM(name_, count_, program_)                                                           \
    WORLD_TEST(name_)                                                                              \
    {                                                                                              \
        check_calls(w, program_);                                                                  \
        expect_reports(w, count_);                                                                 \
    }

#define CHECK_BUFFER(n) ((VkBuffer)(uintptr_t)(0xb000 + 16 * (n)))
#define CHECK_IMAGE(n)  ((VkImage)(uintptr_t)(0x10000 + 16 * (n)))

/* One packet that uses the bytes from 'begin' to before 'end' of buffer n. */
void check_use(struct bf_access_queue *queue, uint32_t n, uint64_t begin, uint64_t end, bool write);
/* One packet that uses image n in that state. */
void check_state(struct bf_access_queue *queue, uint32_t n, BfResourceState state, bool write);

#endif
