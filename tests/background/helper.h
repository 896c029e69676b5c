/* SPDX-License-Identifier: MIT */
/* What the tests of background processing share: items that write down what happens to them, and
 * that stand still until told to go on, so that every order can be forced.
 *
 * Background processing is built into these tests: a thread sanitizer sees only what it has built.
 * A test that hangs ends by SIGALRM after HELPER_SECONDS. */
#ifndef BELFRY_TEST_BACKGROUND_HELPER_H
#define BELFRY_TEST_BACKGROUND_HELPER_H

#include "support/test.h"

#include <sys/types.h>

#include "background/background.h"

#define HELPER_SECONDS 120
#define ENTRIES        4096

enum what {
    BEGAN = 1,
    ENDED,
    CANCELLED,
};

struct entry {
    int item;
    enum what what;
    pid_t thread;
    int policy; /* of that thread then: SCHED_OTHER, SCHED_IDLE */
};

/* Everything that has happened, in order. */
struct story {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    struct entry entries[ENTRIES];
    uint32_t count;
    uint32_t running, most_running;
};

/* Closed at first. */
struct gate {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool open;
};

struct item {
    struct story *story;
    int number;
    struct gate *gate;             /* it ends when that is open; NULL: at once */
    void (*run)(struct item *);    /* between the two; NULL: nothing */
    void (*cancel)(struct item *); /* NULL: nothing */
    void *data;                    /* for those two */
};

/* What a story begins with, and a gate. */
#define STORY                                                                                      \
    {                                                                                              \
        .lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER                     \
    }
#define CLOSED STORY
void gate_open(struct gate *g);
void gate_pass(struct gate *g);

/* The callback and the cancel of a struct item. */
void item_run(void *item);
void item_cancel(void *item);

/* Blocks until it has happened. */
void story_await(struct story *s, int item, enum what what);
uint32_t story_count(struct story *s, int item, enum what what);
/* The place among all entries; fails the test when there is none. */
uint32_t story_at(struct story *s, int item, enum what what);
struct entry story_entry(struct story *s, int item, enum what what);

/* A device's part, of two items at a time, in developer mode. */
struct bf_background *make(void);
struct bf_background *make_with(const struct bf_background_info *info);

/* Queues it; has to succeed. */
void queue(struct bf_background *b, struct item *item);
void set_mode(struct bf_background *b, BfBackgroundProcessingMode mode,
              BfMeasurementsAction action);

/* Is it set? If so it no longer is. */
bool take_event(BfEvent event);

#define assert_bad_input(call_) assert_int_equal(call_, VK_ERROR_VALIDATION_FAILED_EXT)

#define ALLOWED   BF_BACKGROUND_PROCESSING_MODE_ALLOWED
#define INTRUSIVE BF_BACKGROUND_PROCESSING_MODE_ALLOW_INTRUSIVE_MEASUREMENTS
#define DISABLED  BF_BACKGROUND_PROCESSING_MODE_DISABLE_BACKGROUND_WORK
#define FROZEN    BF_BACKGROUND_PROCESSING_MODE_DISABLE_PROFILING_BY_SYSTEM
#define KEEP      BF_MEASUREMENTS_ACTION_KEEP_ALL
#define COMMIT    BF_MEASUREMENTS_ACTION_COMMIT_RESULTS
#define HIGH      BF_MEASUREMENTS_ACTION_COMMIT_RESULTS_HIGH_PRIORITY
#define DISCARD   BF_MEASUREMENTS_ACTION_DISCARD_PREVIOUS

/* What main does: the tests; an argument is a pattern of names. */
int helper_main(int argc, char **argv);

#endif
