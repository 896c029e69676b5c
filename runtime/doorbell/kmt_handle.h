/* SPDX-License-Identifier: MIT */
/*
 * 32-bit handles, D3DKMT_HANDLE: by them WDDM's structs of user-mode submission name objects.
 *
 * DH-1  A handle is found until it is removed, and not afterwards, until 255 others have had its
 *       place: a place is given away anew with another generation. Proven by tests/doorbell
 *       (handles.c).
 */
#ifndef BELFRY_DOORBELL_KMT_HANDLE_H
#define BELFRY_DOORBELL_KMT_HANDLE_H

#include "belfry/user_mode_submission.h"

enum bf_kmt_kind {
    BF_KMT_QUEUE = 1,
    BF_KMT_RING_BUFFER,
    BF_KMT_RING_CONTROL,
    BF_KMT_DOORBELL,
};

/* Process-wide. 0: out of memory. Thread-safety: safe, as all of them. */
BfKmtHandle bf_kmt_add(enum bf_kmt_kind kind, void *object);
/* 0 is allowed. */
void bf_kmt_remove(BfKmtHandle handle);

/* The object; or NULL, and one line that names the call and the argument. */
void *bf_kmt_check(BfKmtHandle handle, enum bf_kmt_kind kind, const char *call,
                   const char *argument);

#endif
