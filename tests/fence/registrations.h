/* SPDX-License-Identifier: MIT */
/* What holds of events registered with a fence, whoever signals it: the CPU (values.c) or a queue
 * (gpu_signals.c). Each checks one behaviour and fails the test when it doesn't hold. */
#ifndef BELFRY_TEST_FENCE_REGISTRATIONS_H
#define BELFRY_TEST_FENCE_REGISTRATIONS_H

#include "support/fixture.h"

/* Sets the fence, and returns when it reads the value. */
struct signaller {
    void (*signal)(struct signaller *s, BfFence fence, uint64_t value);
    struct fixture *f;
    BfCommandQueue queue; /* NULL: the CPU */
};

void registration_is_set_once(struct signaller *s);                 /* 6 */
void registration_is_set_by_overshooting(struct signaller *s);      /* 7 */
void registration_is_consumed(struct signaller *s);                 /* 8 */
void registration_of_several_values(struct signaller *s);           /* 11 */
void registration_twice_is_one_set(struct signaller *s);            /* 12 */
void registration_far_ahead_is_left_alone(struct signaller *s);     /* 13 */
void registration_stays_consumed_after_rewind(struct signaller *s); /* 14 */
void registration_survives_rewind(struct signaller *s);             /* 15 */
void registration_of_the_greatest_value(struct signaller *s);       /* 16 */
void registration_of_two_events_on_one_value(struct signaller *s);  /* 17 */

#endif
