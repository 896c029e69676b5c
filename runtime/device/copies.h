/* SPDX-License-Identifier: MIT */
/*
 * Other copies of libbelfry in the process: the layer brings the one beside it, a program may be linked with
 * one of another version. Each knows its own devices only.
 */
#ifndef BELFRY_DEVICE_COPIES_H
#define BELFRY_DEVICE_COPIES_H

/* One line for each other copy, with both versions: 'call' was asked for a device that this one doesn't
 * know. None where there is no other. Thread-safety: safe. */
void bf_copies_tell(const char *call);

#endif
