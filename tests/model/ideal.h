/* SPDX-License-Identifier: MIT */
/* The ideal machine: what D3D12 says that queues and fences do, when every queue has an engine to
 * itself.
 *
 *  MI-1  A queue is a FIFO. Its first operation is carried out, then the next: there is one way for
 *        an operation to begin, and it is to have none before it.
 *  MI-2  An execution takes any time, and does not end before it has begun.
 *  MI-3  A wait(f, v) is armed by the call: it is satisfied for good at the first instant from the
 *        call on at which f >= v, be that the call itself. It is carried out some time after it is
 *        satisfied.
 *  MI-4  A queue's signal is carried out some time after everything before it in the queue. It sets
 *        the fence and satisfies what is armed, all at one instant.
 *  MI-5  But on a queue with nothing left to do, it is carried out before the call returns.
 *  MI-6  The CPU's signal does the same within its call, whatever is under way.
 *  MI-7  Every operation that can be carried out is, in the end.
 *
 * 'Some time' and 'any time' are where the machine may do one thing or another. The functions below
 * keep the set of all the states that it may be in, given what has been seen of it: what the driver
 * has finished, what fences have read. Each observation drops the states that it contradicts; when
 * none is left, what was observed is impossible.
 *
 * Of a machine that has been seen to finish work ('prompt') more is asked than MI-4 does:
 *
 *  MI-8  A fence that is read or set by the CPU has by then taken all values that follow from work
 *        finished before the call, and a new wait is compared with the last of them; and a queue
 *        that has nothing left to do for the same reason has nothing left to do in the sense of
 *        MI-5. This is not asked of an operation while
 *        anything is unfinished that it may have been given to the driver to come after: a wait
 *        that was not satisfied when a signal reaching it was on its way may follow that signal,
 *        though another comes first.
 *
 * What makes this small: which waits are satisfied in the end doesn't depend on the order of the
 * steps that lead there. An update satisfies every armed wait that it reaches, whenever it comes.
 * So the set of operations that come to be carried out, given the calls so far and the executions
 * that may end, is one set (ideal_settle takes any order); only the values of the fences depend on
 * it. */
#ifndef BELFRY_MODEL_IDEAL_H
#define BELFRY_MODEL_IDEAL_H

#include <stdbool.h>
#include <stdint.h>

#include "program.h"

enum { IDEAL_STATES = 8192 };

/* One state, packed: bits 0 to 15 the operations carried out, 16 to 31 the waits satisfied, 32 and
 * 33 the value of fence f, 34 and 35 that of g. */
typedef uint64_t ideal_state;

static inline op_set ideal_done(ideal_state state)
{
    return (op_set)state;
}

static inline int ideal_value(ideal_state state, int fence)
{
    return (int)(state >> (32 + 2 * fence) & 3);
}

/* States in which the machine may be. */
struct ideal {
    const struct program *program;
    op_set issued;              /* by the CPU so far */
    op_set available;           /* executions that may end: the driver has finished them */
    bool prompt;                /* MI-8 */
    op_set followed[MODEL_OPS]; /* by wait: the signals that it may follow */
    op_set causes[MODEL_OPS];   /* by operation: executions that it may come after */
    bool overflow;              /* there were more than IDEAL_STATES */
    int count;
    ideal_state states[IDEAL_STATES];
};

/* Nothing has been issued, both fences are 0. */
void ideal_begin(struct ideal *ideal, const struct program *program, bool prompt);

/* All that may happen by itself may have happened, or not. */
void ideal_close(struct ideal *ideal);

/* The CPU calls operation i, the next one. 'begun' is what was available when it called (MI-8). */
void ideal_issue(struct ideal *ideal, int i, op_set begun);

/* The fence was read. False: it could not have read that. */
bool ideal_read(struct ideal *ideal, int fence, uint64_t value, op_set begun);

/* The driver may begin the execution as soon as those of 'before' are complete. False: it may begin
 * too early. */
bool ideal_may_begin(struct ideal *ideal, int execute, op_set before);

/* The driver has nothing left to do. False: some execution should have been there to do. */
bool ideal_rests(struct ideal *ideal);

/* Whether the queue has anything left to do has been seen. False: it could not be so. */
bool ideal_queue_is_idle(struct ideal *ideal, int queue, bool idle);

/* Every step taken that can be. 'available' are the executions that may end. */
ideal_state ideal_settle(const struct ideal *ideal, ideal_state state, op_set available);

/* The states in which the program may end when each execution takes any time; with 'prompt', when
 * nothing else takes any. */
void ideal_ends(struct ideal *ideal, const struct program *program, bool prompt);

/* The same for the set as for other sets with the same states. */
uint64_t ideal_hash(const struct ideal *ideal);

#endif
