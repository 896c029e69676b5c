/* SPDX-License-Identifier: MIT */
/*
 * The check 'access' alone, without a device: queues and fences are told of by hand, uses by
 * bf_access_queue_uses, and reports are kept.
 */
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

#define CHECK_BUFFER(n) ((VkBuffer)(uintptr_t)(0xb000 + 16 * (n)))
#define CHECK_IMAGE(n)  ((VkImage)(uintptr_t)(0x10000 + 16 * (n)))

/* One packet that uses the bytes from 'begin' to before 'end' of buffer n. */
void check_use(struct bf_access_queue *queue, uint32_t n, uint64_t begin, uint64_t end, bool write);
/* One packet that uses image n in that state. */
void check_state(struct bf_access_queue *queue, uint32_t n, BfResourceState state, bool write);

#endif
