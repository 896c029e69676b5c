/* SPDX-License-Identifier: MIT */
/* SHA-256 (FIPS 180-4). */
#include "base/sha256.h"

#include <string.h>

/* The first 32 bits of the fractions of the cube roots of the first 64 primes. */
static const uint32_t constants[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};

static uint32_t rotate_right(uint32_t x, uint32_t bits)
{
    return x >> bits | x << (32 - bits);
}

static void block_add(uint32_t state[8], const uint8_t block[64])
{
    uint32_t w[64];
    for (uint32_t i = 0; i < 16; i++)
        w[i] = (uint32_t)block[4 * i] << 24 | (uint32_t)block[4 * i + 1] << 16 |
               (uint32_t)block[4 * i + 2] << 8 | block[4 * i + 3];
    for (uint32_t i = 16; i < 64; i++) {
        uint32_t a = w[i - 15], b = w[i - 2];
        w[i] = w[i - 16] + (rotate_right(a, 7) ^ rotate_right(a, 18) ^ a >> 3) + w[i - 7] +
               (rotate_right(b, 17) ^ rotate_right(b, 19) ^ b >> 10);
    }
    uint32_t s[8];
    memcpy(s, state, sizeof(s));
    for (uint32_t i = 0; i < 64; i++) {
        uint32_t one = s[7] +
                       (rotate_right(s[4], 6) ^ rotate_right(s[4], 11) ^ rotate_right(s[4], 25)) +
                       ((s[4] & s[5]) ^ (~s[4] & s[6])) + constants[i] + w[i];
        uint32_t two = (rotate_right(s[0], 2) ^ rotate_right(s[0], 13) ^ rotate_right(s[0], 22)) +
                       ((s[0] & s[1]) ^ (s[0] & s[2]) ^ (s[1] & s[2]));
        memmove(s + 1, s, 7 * sizeof(s[0]));
        s[4] += one;
        s[0] = one + two;
    }
    for (uint32_t i = 0; i < 8; i++)
        state[i] += s[i];
}

void bf_sha256_init(struct bf_sha256 *sha)
{
    static const uint32_t first[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                      0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
    memset(sha, 0, sizeof(*sha));
    memcpy(sha->state, first, sizeof(first));
}

void bf_sha256_add(struct bf_sha256 *sha, const void *data, size_t size)
{
    const uint8_t *bytes = data;
    while (size) {
        size_t at = sha->bytes % 64, part = 64 - at < size ? 64 - at : size;
        memcpy(sha->block + at, bytes, part);
        sha->bytes += part;
        bytes += part;
        size -= part;
        if (at + part == 64)
            block_add(sha->state, sha->block);
    }
}

void bf_sha256_add_text(struct bf_sha256 *sha, const char *text)
{
    const uint32_t length = text ? (uint32_t)strlen(text) : 0;
    bf_sha256_add(sha, &length, sizeof(length));
    bf_sha256_add(sha, text, length);
}

void bf_sha256_finish(struct bf_sha256 *sha, uint8_t hash[32])
{
    uint64_t bits = sha->bytes * 8;
    uint8_t tail[72] = {0x80};
    size_t pad = (sha->bytes % 64 < 56 ? 56 : 120) - sha->bytes % 64;
    for (uint32_t i = 0; i < 8; i++)
        tail[pad + i] = (uint8_t)(bits >> (56 - 8 * i));
    bf_sha256_add(sha, tail, pad + 8);
    for (uint32_t i = 0; i < 32; i++)
        hash[i] = (uint8_t)(sha->state[i / 4] >> (24 - 8 * (i % 4)));
}
