/* SPDX-License-Identifier: MIT */
/*
 * What 'belfry trace' found in a file, and the three ways to show it.
 */
#ifndef BELFRY_CLI_TRACE_REPORT_H
#define BELFRY_CLI_TRACE_REPORT_H

#include <stdio.h>

#include "cli/trace_frame.h"
#include "cli/trace_stall.h"
#include "trace/table_cell.h"

struct trace_report {
    const char *file;
    uint64_t bytes;             /* read */
    struct trace_model *model;  /* of the whole file: the sums */
    struct trace_model *detail; /* its window has the frame; may be the same */
    struct trace_frames frames;
    bool has_frame;
    struct trace_frame frame;
    const struct trace_path *path; /* NULL without a frame */
    bool asked;                    /* the frame was asked for by its number */
    struct trace_stalls stalls;    /* of the whole file */
    /* Of the file itself. */
    uint64_t oversized;
    uint64_t oversized_first;
    uint64_t sequences_left_out; /* packets of sequences beyond those kept */
    bool cut;                    /* it ends inside a packet */
    bool damaged;                /* the rest is no trace */
    uint64_t broken_offset;      /* of either */
    uint64_t broken_bytes;
};

void trace_report_print(const struct trace_report *report, FILE *out);
void trace_report_json(const struct trace_report *report, FILE *out);
/* The frame and its neighbours; a standstill, or what there is, where no frame is whole. False: out
 * of memory, nothing was written. */
bool trace_report_svg(const struct trace_report *report, FILE *out);

/* Who is meant by a cause: a queue's name, "the CPU", "unknown". */
const char *trace_cause_name(const struct trace_model *model, uint32_t cause);

/* "execute 12", with the names of its command buffers if it has any, without their labels. */
#define TRACE_PACKET_SIZE (TRACE_CAPTION_SIZE + 48)
const char *trace_packet_label(const struct trace_packet *packet, char label[TRACE_PACKET_SIZE]);

/* A hop in words, without its time. */
#define TRACE_HOP_SIZE (3 * TRACE_LABEL_SIZE)
const char *trace_hop_label(const struct trace_report *report, const struct trace_hop *hop,
                            char label[TRACE_HOP_SIZE]);

/* What of the trace is missing or inexact, a line each: the n-th, or NULL. */
#define TRACE_GAP_SIZE 256
const char *trace_gap_label(const struct trace_report *report, uint32_t n,
                            char label[TRACE_GAP_SIZE]);

/* The rows of waits, the dearest first. Returns how many; 'rows' has room for TRACE_WAITS_MAX. */
uint32_t trace_waits_sort(const struct trace_model *model, const struct trace_wait_row **rows);

/* "each present", "each 2nd submission of graphics": what ends a frame. */
const char *trace_frames_label(const struct trace_report *report, char label[TRACE_HOP_SIZE]);

#endif
