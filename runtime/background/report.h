/*
 * What can be seen of background processing from outside: static probes (docs/probes.md) and the
 * trace's tracks 'background processing'.
 *
 * Functions named bf_report write to the trace and take its lock: idle workers don't call them
 * (BG-7). Without a trace they return at once.
 */
#ifndef BELFRY_BACKGROUND_REPORT_H
#define BELFRY_BACKGROUND_REPORT_H

#include "background/device.h"

void bf_probe_begin(const struct bf_background *b, const struct bf_task *task);
void bf_probe_end(const struct bf_background *b, const struct bf_task *task);

/* The keeper: as the slot says. */
void bf_report_begin(struct bf_background *b, const struct bf_slot *slot);
void bf_report_end(struct bf_background *b, const struct bf_slot *slot);
/* The keeper: what bf_report_cancel has left. */
void bf_report_notes(struct bf_background *b);

/* Any thread: an idle worker leaves a note for the keeper. */
void bf_report_cancel(struct bf_background *b, uint64_t item, PFN_bfProcessingWork cancel);

void bf_report_mode(struct bf_background *b, BfBackgroundProcessingMode mode,
                    BfMeasurementsAction action);
void bf_report_commit(struct bf_background *b, uint64_t commit, uint64_t items);
void bf_report_done(struct bf_background *b, uint64_t commit);

#endif
