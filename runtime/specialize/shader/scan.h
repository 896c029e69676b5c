/* SPDX-License-Identifier: MIT */
/*
 * What the words of a module tell before anything of it is parsed: one pass over the declarations,
 * which come before all functions.
 *
 *  NW-1  A module without a variable in the storage class PushConstant is not parsed, nor is
 *        anything of it hashed or copied unless a pipeline could need it beside another module
 *        that has one: as its vertex shader. Words that make no sense count as having both, so
 *        that the parser says what is wrong with them.
 *  NW-2  A pipeline library whose fragment shader has no such variable is not copied, and of what
 *        is linked from it nothing is looked at but its libraries.
 *
 * Proven by tests/specialize/pipeline/pipelines.c and libraries.c.
 */
#ifndef BELFRY_SPECIALIZE_SCAN_H
#define BELFRY_SPECIALIZE_SCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct bf_scan {
    bool pushes; /* it declares push constants */
    bool vertex; /* it has an entry point for vertices */
};

/* Any words are survived. */
struct bf_scan bf_scan_words(const uint32_t *words, size_t count);

#endif
