/* SPDX-License-Identifier: MIT */
/* A fixture whose run is written to a trace of its own, and what stands in that. */
#ifndef BELFRY_TESTS_SUPPORT_TRACED_H
#define BELFRY_TESTS_SUPPORT_TRACED_H

#include "support/fixture.h"

struct traced {
    char folder[32], path[48];
};

/* Where the trace is to be, for a fixture that isn't plain. */
void traced_prepare(struct traced *t);
/* The fixture is the plain one. traced_remove removes the trace, which has to be there. */
void traced_open(struct traced *t, struct fixture *f);
bool traced_has(const struct traced *t, const char *text);
void traced_remove(const struct traced *t);

#endif
