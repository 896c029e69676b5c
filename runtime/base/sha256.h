/* SPDX-License-Identifier: MIT */
/*
 * SHA-256 (FIPS 180-4). Proven by the standard's own examples in tests/specialize/shader/sha256.c.
 *
 * Thread-safety: one thread at a time for each state.
 */
#ifndef BELFRY_BASE_SHA256_H
#define BELFRY_BASE_SHA256_H

#include <stddef.h>
#include <stdint.h>

struct bf_sha256 {
    uint32_t state[8];
    uint64_t bytes;
    uint8_t block[64];
};

void bf_sha256_init(struct bf_sha256 *sha);
void bf_sha256_add(struct bf_sha256 *sha, const void *data, size_t size);
/* With its length, so that two texts can't be taken for two others. NULL: as an empty one. */
void bf_sha256_add_text(struct bf_sha256 *sha, const char *text);
/* Ends the hash: nothing may be added afterwards. */
void bf_sha256_finish(struct bf_sha256 *sha, uint8_t hash[32]);

#endif
