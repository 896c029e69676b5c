/* SPDX-License-Identifier: MIT */
/* A queue for user-mode submission with ring and doorbell, for tests. */
#ifndef BELFRY_TESTS_DOORBELL_USER_MODE_H
#define BELFRY_TESTS_DOORBELL_USER_MODE_H

#include "support/fixture.h"

#include <belfry/user_mode_submission.h>

struct user_mode {
    BfCommandQueue queue; /* fixture_close destroys it */
    BfFence progress;
    BfRing ring;
    BfCreateDoorbell doorbell;
    BfRingWriter writer;
    uint64_t last; /* progress value of the last entry that had one */
};

/* A queue with a ring of so many entries, and a doorbell that isn't connected. */
void user_mode_open(struct fixture *f, struct user_mode *u, BfCommandListType type,
                    uint32_t entries);
/* A further ring, which has no doorbell. */
void user_mode_make_ring(struct fixture *f, struct user_mode *u, uint32_t entries);
/* The same with a doorbell for its queue; 'flags' of BfCreateDoorbell. */
void user_mode_make_doorbell(struct fixture *f, struct user_mode *u, uint32_t entries,
                             uint32_t flags);
/* Doorbell and ring. */
void user_mode_close(struct user_mode *u);

/* An entry that has nothing but its progress value, the next one. */
BfRingEntry user_mode_entry(struct user_mode *u);
/* Writes it, and rings; waits for room by the program's means. */
void user_mode_submit(struct user_mode *u, BfRingEntry entry);
/* The same with that command buffer alone. */
void user_mode_execute(struct user_mode *u, uint32_t buffer);
/* What has been written is complete. */
void user_mode_await(const struct user_mode *u);

/* What the kernel says of the doorbell threads in a line of that format: the number of the first
 * one; '*threads' counts them, if it isn't NULL. (Threads that one of them makes have its name,
 * too.) */
unsigned long doorbell_threads(const char *format, uint32_t *threads);
/* Returns once the only doorbell thread has been woken, has looked, and sleeps. */
void doorbell_settle(const struct user_mode *u);

/* The entries that have been read. */
uint64_t user_mode_read(const struct user_mode *u);
uint64_t user_mode_status(const struct user_mode *u);
/* The queue is ended, for that reason, by that entry. */
void assert_aborted(const struct user_mode *u, BfAbortReason reason, uint64_t entry);
/* Such a queue gets no other doorbell; closes it. */
void assert_ended(struct fixture *f, struct user_mode *u);

/* The number of a command buffer that writes a word, once or often. */
uint32_t register_write(struct fixture *f, struct user_mode *u, uint32_t index, uint32_t word,
                        BfRegisterCommandBufferFlags flags);
uint32_t register_fence(struct user_mode *u, BfFence fence);

#endif
