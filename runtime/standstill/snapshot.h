/* SPDX-License-Identifier: MIT */
/* What waits in a device at this moment, copied out of it. */
#ifndef BELFRY_STANDSTILL_SNAPSHOT_H
#define BELFRY_STANDSTILL_SNAPSHOT_H

#include "standstill/graph.h"

struct bf_names;
struct bf_scheduler;
struct bf_standstill_engine;

/* Fills the graph, which bf_snapshot_free frees; 'engines' are what the watchdog last saw of them,
 * 'now_ns' is its clock. False: out of memory, or an engine's queues can't be looked at now. */
bool bf_snapshot_take(struct bf_scheduler *scheduler, struct bf_names *names,
                      const struct bf_standstill_engine *engines, uint64_t now_ns,
                      struct bf_graph *graph);
void bf_snapshot_free(struct bf_graph *graph);

/* Is the queue held still, if it was? Engines are copied one after another: of a signal that came
 * meanwhile, neither the packet that brought it may be in the graph, nor its value. False also
 * where it can't be looked at now. */
bool bf_snapshot_stands(struct bf_scheduler *scheduler, const struct bf_graph *graph,
                        uint32_t queue);

/* What a queue is called; it isn't destroyed meanwhile. */
struct bf_queue;
void bf_snapshot_name_queue(struct bf_queue *queue, struct bf_names *names,
                            char name[BF_GRAPH_NAME]);

/* Looks whether the queues of an engine have gone on. Some have a backlog: *backlog; one of them
 * has stood since before 'before_ns': true. Where they can't be looked at now, they have a
 * backlog. */
struct bf_engine;
bool bf_snapshot_watch(struct bf_engine *engine, uint64_t now_ns, uint64_t before_ns,
                       bool *backlog);

#endif
