/* SPDX-License-Identifier: MIT */
/*
 * Other copies of libbelfry in the process: the layer loads the one beside it, and the program may
 * be linked with another version. Each copy knows only its own devices.
 */
#ifndef BELFRY_DEVICE_COPIES_H
#define BELFRY_DEVICE_COPIES_H

/* Writes one line for each other copy, with both versions, when 'call' was given a device that this
 * copy doesn't know. Nothing if there is no other copy. Thread-safety: safe. */
void bf_copies_tell(const char *call);

#endif
