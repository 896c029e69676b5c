/* SPDX-License-Identifier: MIT */
/* The schedules of a program: all of them, or some at random.
 *
 * All: depth first, by running the program from its start for each schedule. Two things make them
 * fewer. A finish inside a call is placed only before a counter is read, the one moment at which
 * Belfry can tell it from a finish a little earlier or later; and a point at which both machines
 * are in a state that has been there before is not gone beyond a second time: what can follow is
 * the same. */
#ifndef BELFRY_MODEL_EXPLORE_H
#define BELFRY_MODEL_EXPLORE_H

#include "run.h"

struct explore_options {
    int engines;
    int reads;    /* -1: after every step; else so many pairs of readings, anywhere */
    int inside;   /* finishes inside of calls, at most, in one schedule */
    int refusals; /* submissions that the driver refuses, at most, in one schedule */
    uint8_t high; /* queues of high priority, as bits */
    /* 0: all schedules; else so many at random, with readings and finishes anywhere, some queues of
     * high priority, and queues that are destroyed before they are through. */
    int walks;
    int loaded;        /* see run.h */
    uint64_t runs_max; /* schedules of one program, then it is given up: 0 for none */
};

struct explore_totals {
    uint64_t programs, runs, queries;
    uint64_t finishing; /* programs that always finish in the ideal machine */
    uint64_t stuck;     /* programs that never do */
    uint64_t given_up;
};

/* A violation, and what it takes to see it again. */
struct finding {
    char violation[400];
    char text[RUN_POINTS + 1]; /* the schedule's */
    struct run_options options;
    bool of_program; /* of all its schedules together: there is no one to see it in */
};

/* False: a violation, in 'finding'. 'rig' is then of no more use. 'rng' decides what is random. */
bool explore_program(struct rig *rig, const struct program *program,
                     const struct explore_options *options, struct rng *rng,
                     struct explore_totals *totals, struct finding *finding);

#endif
