/* SPDX-License-Identifier: MIT */
/*
 * Joining: executions of a command queue that go in one driver call, with nothing between them that
 * anybody could wait for, become one VkSubmitInfo2 (C-5).
 */
#ifndef BELFRY_SCHEDULER_JOIN_H
#define BELFRY_SCHEDULER_JOIN_H

#include <stdint.h>

struct bf_engine;

/* Under the engine's lock, of packets first to first + count - 1 of its batch. */

/* Which of them are joined with the one behind them, a bit each by their position in the batch.
 * Makes room for their command buffers; out of memory: none are joined. */
uint32_t bf_join_find(struct bf_engine *engine, uint32_t first, uint32_t count);

/* Fills in engine->infos, of which it returns the count. */
uint32_t bf_join_fill(struct bf_engine *engine, uint32_t first, uint32_t count, uint32_t joined);

#endif
