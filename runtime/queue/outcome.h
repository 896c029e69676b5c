/* SPDX-License-Identifier: MIT */
/* How both fronts of the scheduler, VkQueues and command queues, say what came of a call. */
#ifndef BELFRY_QUEUE_OUTCOME_H
#define BELFRY_QUEUE_OUTCOME_H

/* The outcome of trying an operation in the call. */
enum bf_outcome {
    BF_OUTCOME_DONE,      /* it is done; there is a result */
    BF_OUTCOME_BY_PACKET, /* nothing was done: it has to become a packet */
    BF_OUTCOME_LOOK,      /* try again after retiring */
};

#endif
