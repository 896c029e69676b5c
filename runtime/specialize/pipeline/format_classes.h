/* SPDX-License-Identifier: MIT */
/*
 * Format classes: which kinds of numbers the images and texel buffers have held that a program
 * wrote to the bindings of its set layouts. A check is for those that there were; where others come
 * later, its variant isn't picked (RC-9).
 *
 *  FC-1  A class that was written to a binding is never forgotten, and counts for all set layouts
 *        that are defined alike, since a set of one may be bound where another was asked for.
 *        (Others may share the place of a binding in the table: then theirs count, too.)
 *  FC-2  When a class comes to a place the version changes, after it was noted. Whoever has seen a
 *        version and finds it again needn't look.
 *  FC-3  What can't be noted makes every class one that was written, everywhere.
 *
 * Thread-safety: safe. Proven by tests/specialize/pipeline/retained.c.
 */
#ifndef BELFRY_SPECIALIZE_FORMAT_CLASSES_H
#define BELFRY_SPECIALIZE_FORMAT_CLASSES_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define BF_FORMAT_PLACES   4096
#define BF_FORMAT_BINDINGS 16 /* of a pipeline that are looked after, at most */

/* Zeroed: nothing was written. */
struct bf_format_classes {
    _Atomic uint32_t version;
    _Atomic bool lost; /* FC-3 */
    _Atomic uint8_t seen[BF_FORMAT_PLACES];
};

/* Bindings, and the classes of each. */
struct bf_format_bindings {
    uint32_t count;
    uint16_t places[BF_FORMAT_BINDINGS];
    uint8_t classes[BF_FORMAT_BINDINGS]; /* enum bf_format_class (specialize/check/texel.h) */
};

static inline void bf_format_classes_add(struct bf_format_classes *c, uint32_t place,
                                         uint32_t classes)
{
    _Atomic uint8_t *seen = &c->seen[place % BF_FORMAT_PLACES];
    if ((atomic_load_explicit(seen, memory_order_relaxed) & classes) == classes)
        return;
    atomic_fetch_or(seen, (uint8_t)classes);
    atomic_fetch_add(&c->version, 1);
}

static inline void bf_format_classes_lose(struct bf_format_classes *c)
{
    atomic_store(&c->lost, true);
    atomic_fetch_add(&c->version, 1);
}

/* 0: nothing was written. */
static inline uint32_t bf_format_classes_of(struct bf_format_classes *c, uint32_t place)
{
    return atomic_load(&c->lost) ? UINT8_MAX : atomic_load(&c->seen[place % BF_FORMAT_PLACES]);
}

/* Whether nothing else has been written to these. */
static inline bool bf_format_classes_fit(struct bf_format_classes *c,
                                         const struct bf_format_bindings *bindings)
{
    bool fit = true;
    for (uint32_t i = 0; i < bindings->count; i++)
        fit &= !(bf_format_classes_of(c, bindings->places[i]) & ~(uint32_t)bindings->classes[i]);
    return fit;
}

#endif
