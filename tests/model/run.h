/* SPDX-License-Identifier: MIT */
/* One run of one program on Belfry's scheduler, on the device of gpu.h, beside the ideal machine.
 *
 * The scheduler's own code runs, linked or loaded as programs have it, behind bfAttachDevice: the
 * Vulkan functions are all it sees. The run issues the program's operations in their order and
 * decides, between them and whenever Belfry reads a counter, which engine finishes something and
 * when fences are read. That is a schedule; explore.h goes through them.
 *
 * The correspondence. An operation is issued to both machines at the same point. An execution that
 * the driver has finished may end in the ideal machine from then on, and ends there at an instant
 * of its own choice (MI-2): Belfry learns of it when it looks, and nobody learns of it before
 * Belfry. (Executions that race through memory could. What they see is not defined.) With that, for
 * every run:
 *
 *  MC-1  Nothing runs too early: an execution that the driver finishes could have begun in the
 *        ideal machine. And not by luck: once all that Vulkan orders before it is complete, with
 *        what was complete when the driver accepted it, the ideal machine may begin it. (This is
 *        where a barrier or a semaphore is missed that was left out wrongly.)
 *  MC-2  What fences read is what the ideal machine could have shown at the same points (MI-3 to
 *        MI-8). So the values of a fence are the effect of its signals in an order that D3D12
 *        allows.
 *  MC-3  Nothing stands still: when no engine has anything to finish, no execution could go on in
 *        the ideal machine. This is asked before any fence is read: progress needs no onlooker.
 *  MC-4  In the end a queue has nothing left to do (a probe's signal applies at once) exactly where
 *        the ideal queue has nothing left to do: waits that are stuck, and those alone, are stuck.
 *  MC-5  If whatever a program still waits for then comes about (both fences are set high, or
 *        destroyed), all it has issued is carried out.
 *
 * and for every program:
 *
 *  MC-6  Each end of a run - what has been carried out, the last value of each fence - is one in
 *        which the ideal machine may end. So a program that always finishes there always does here.
 *  MC-7  If the ideal machine can finish the program when executions alone take time, so can
 *        Belfry: in some schedule, and it is enough to look at that in which no execution ends
 *        before the last call. (That is the best one in the ideal machine: later updates satisfy
 *        waits that earlier ones would have come too early for, and satisfy the same otherwise.)
 *
 * Not asked is the converse of MC-6. The ideal machine has ends that Belfry's lacks, rightly: where
 * queues share an engine one's work waits for another's; and of two signals that would each satisfy
 * a wait, Belfry may give the driver the one that comes later.
 *
 * Where one real submission carries several executions they end together. An execution is one
 * command buffer, and takes part in nothing but its own queue's order. */
#ifndef BELFRY_MODEL_RUN_H
#define BELFRY_MODEL_RUN_H

#include <stdio.h>

#include "belfry/belfry.h"
#include "gpu.h"
#include "ideal.h"

enum {
    RUN_POINTS = 512, /* of a schedule */
    RUN_OPTIONS = MODEL_ENGINES + 4,
};

/* A device, attached to Belfry. */
struct rig {
    struct gpu gpu;
    BfDevice device;
};

/* Errors: those of bfAttachDevice, said on stderr. */
bool rig_attach(struct rig *rig, int engines);
/* False, with a line on stderr: Belfry has left objects behind, or has made threads: no CPU waits
 * here. */
bool rig_detach(struct rig *rig);

/* The engine of each of three queues that are created one after the other. */
bool rig_probe(int engines, int engine_of[MODEL_QUEUES]);

enum reads {
    READS_ALWAYS, /* both fences, after every operation and every finish */
    READS_CHOSEN, /* both fences, at most 'read_budget' times, where the schedule says */
    READS_ANY,    /* either or both, where the schedule says */
};

/* A schedule is what was chosen at each point where there was more than one thing to choose: '.' go
 * on, a hexadecimal digit: the engine finishes that execution (by operation number), 'r' read both
 * fences, 'F' and 'G' one, '!' the driver refuses the submission. */
struct schedule {
    int count, given;            /* points passed; points at which 'choices' is followed */
    uint8_t choices[RUN_POINTS]; /* number of the option */
    uint8_t option_counts[RUN_POINTS];
    char labels[RUN_POINTS]; /* of what was chosen */
    const char *text;        /* followed instead, where not NULL */
    struct rng *rng;         /* beyond what is given: NULL: the first option */
    bool diverged;           /* what was given could not be followed */
};

struct run_options {
    enum reads reads;
    int read_budget;
    int inside_budget; /* finishes that may fall inside of calls, before a counter is read */
    /* Submissions that the driver may refuse for want of memory; never two, one after the other,
     * since Belfry gives up then. */
    int refusal_budget;
    uint8_t high; /* queues of high priority, as bits */
    bool orphan;  /* queues are destroyed after the last operation, whatever they hold */
    bool destroy; /* MC-5: fences are destroyed, else set high */
    int loaded;   /* the first so many operations are issued before anything else happens */
    FILE *trace;  /* NULL: off */
};

struct outcome {
    char violation[400]; /* "": none. After one, the rig is of no more use. */
    bool cut;            /* 'seen' said so: the rest was not run */
    bool finished;       /* every operation was carried out */
    uint64_t queries;    /* counters read */
};

/* 'ends' are those of ideal_ends, not prompt, for MC-6. 'seen' (may be NULL) is asked at every
 * point beyond what is given whether the state, as a number, has been there before. */
void run_program(struct rig *rig, const struct program *program, const struct run_options *options,
                 struct schedule *schedule, const struct ideal *ends, bool (*seen)(uint64_t state),
                 struct outcome *outcome);

#endif
