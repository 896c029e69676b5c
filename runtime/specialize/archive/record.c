/* SPDX-License-Identifier: MIT */
/* Encoding and decoding the records of the cache file, and scanning a file for them. */
#include "specialize/archive/record.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

static const uint8_t header_magic[8] = {'B', 'e', 'l', 'f', 'r', 'y', 'A', 'r'};
static const uint8_t record_magic[4] = {'B', 'f', 'R', '2'};

/* -------------------------------------------------------------------------------------- Numbers */

static void put_u16(uint8_t *out, uint16_t value)
{
    out[0] = (uint8_t)value;
    out[1] = (uint8_t)(value >> 8);
}

static void put_u32(uint8_t *out, uint32_t value)
{
    put_u16(out, (uint16_t)value);
    put_u16(out + 2, (uint16_t)(value >> 16));
}

static void put_u64(uint8_t *out, uint64_t value)
{
    put_u32(out, (uint32_t)value);
    put_u32(out + 4, (uint32_t)(value >> 32));
}

static uint16_t get_u16(const uint8_t *in)
{
    return (uint16_t)(in[0] | in[1] << 8);
}

static uint32_t get_u32(const uint8_t *in)
{
    return get_u16(in) | (uint32_t)get_u16(in + 2) << 16;
}

static uint64_t get_u64(const uint8_t *in)
{
    return get_u32(in) | (uint64_t)get_u32(in + 4) << 32;
}

/* Castagnoli's polynomial, reflected, four bits at a time: 16 remainders of four bits each. */
uint32_t bf_crc32c(const void *data, size_t size)
{
    static const uint32_t remainders[16] = {
        0x00000000, 0x105EC76F, 0x20BD8EDE, 0x30E349B1, 0x417B1DBC, 0x5125DAD3,
        0x61C69362, 0x7198540D, 0x82F63B78, 0x92A8FC17, 0xA24BB5A6, 0xB21572C9,
        0xC38D26C4, 0xD3D3E1AB, 0xE330A81A, 0xF36E6F75,
    };
    const uint8_t *bytes = data;
    uint32_t crc = UINT32_MAX;
    for (size_t i = 0; i < size; i++) {
        crc ^= bytes[i];
        crc = crc >> 4 ^ remainders[crc & 15];
        crc = crc >> 4 ^ remainders[crc & 15];
    }
    return ~crc;
}

/* --------------------------------------------------------------------------------------- Header */

void bf_header_encode(uint8_t out[BF_HEADER_SIZE])
{
    memcpy(out, header_magic, sizeof(header_magic));
    put_u32(out + 8, BF_ARCHIVE_FORMAT);
    put_u32(out + 12, bf_crc32c(out, 12));
}

enum bf_header bf_header_decode(const uint8_t *in, size_t size)
{
    if (size < BF_HEADER_SIZE || memcmp(in, header_magic, sizeof(header_magic)) ||
        get_u32(in + 12) != bf_crc32c(in, 12))
        return BF_HEADER_NONE;
    return get_u32(in + 8) == BF_ARCHIVE_FORMAT ? BF_HEADER_OURS : BF_HEADER_FOREIGN;
}

/* -------------------------------------------------------------------------------------- Records */

bool bf_archive_key_canonical(const struct bf_archive_key *key, struct bf_archive_key *out)
{
    if (key->n_values > BF_ARCHIVE_VALUES || key->form > BF_ARCHIVE_FORM_NO_CONTRACTION)
        return false;
    memset(out, 0, sizeof(*out));
    memcpy(out->hash, key->hash, sizeof(out->hash));
    memcpy(out->values, key->values, key->n_values * sizeof(out->values[0]));
    out->n_values = key->n_values;
    out->mask = key->mask;
    out->form = key->form;
    return true;
}

bool bf_archive_key_equal(const struct bf_archive_key *a, const struct bf_archive_key *b)
{
    return a->n_values == b->n_values && a->mask == b->mask && a->form == b->form &&
           memcmp(a->values, b->values, sizeof(a->values)) == 0 &&
           memcmp(a->hash, b->hash, sizeof(a->hash)) == 0;
}

void bf_record_encode(const struct bf_record *record, uint8_t out[BF_RECORD_SIZE])
{
    const struct bf_archive_key *key = &record->key;
    memset(out, 0, BF_RECORD_SIZE);
    memcpy(out, record_magic, sizeof(record_magic));
    put_u16(out + 8, BF_RECORD_SIZE);
    out[10] = (uint8_t)record->kind;
    out[11] = key->form;
    out[12] = key->mask;
    out[13] = key->n_values;
    memcpy(out + 16, key->hash, sizeof(key->hash));
    for (uint32_t i = 0; i < key->n_values; i++)
        put_u32(out + 48 + 4 * i, key->values[i]);
    if (record->kind == BF_RECORD_VERDICT) {
        put_u16(out + 14, record->verdict.reason);
        put_u32(out + 80, record->verdict.gain);
        put_u32(out + 84, record->verdict.n);
        out[92] = (uint8_t)record->verdict.code;
    } else if (record->kind != BF_RECORD_STRIKE) {
        put_u64(out + 80, record->owner);
        put_u32(out + 88, record->serial);
    }
    put_u32(out + 4, bf_crc32c(out + 8, BF_RECORD_SIZE - 8));
}

bool bf_record_decode(const uint8_t in[BF_RECORD_SIZE], struct bf_record *record)
{
    if (memcmp(in, record_magic, sizeof(record_magic)) || get_u16(in + 8) != BF_RECORD_SIZE ||
        in[93] || get_u16(in + 94) != 0 || get_u32(in + 4) != bf_crc32c(in + 8, BF_RECORD_SIZE - 8))
        return false;
    struct bf_archive_key key = {.form = in[11], .mask = in[12], .n_values = in[13]};
    memcpy(key.hash, in + 16, sizeof(key.hash));
    for (uint32_t i = 0; i < BF_ARCHIVE_VALUES; i++)
        key.values[i] = get_u32(in + 48 + 4 * i);
    *record = (struct bf_record){.kind = (enum bf_record_kind)in[10]};
    if (!bf_archive_key_canonical(&key, &record->key))
        return false;
    switch (in[10]) {
    case BF_RECORD_VERDICT: {
        uint32_t code = in[92];
        if (code != BF_VERDICT_FORGOTTEN && code != BF_VERDICT_KEPT && code != BF_VERDICT_REJECTED)
            return false;
        record->verdict = (struct bf_verdict){.code = (enum bf_verdict_code)code,
                                              .reason = get_u16(in + 14),
                                              .gain = get_u32(in + 80),
                                              .n = get_u32(in + 84)};
        return true;
    }
    case BF_RECORD_BEGIN:
    case BF_RECORD_END:
        record->owner = get_u64(in + 80);
        record->serial = get_u32(in + 88);
        return true;
    case BF_RECORD_STRIKE:
        return true;
    default:
        return false;
    }
}

/* ----------------------------------------------------------------------------------------- Scan */

/* The next offset at which a record may begin, or the end of the bytes that were searched. */
static size_t next_candidate(const uint8_t *bytes, size_t at, size_t size)
{
    const uint8_t *found = at < size ? memchr(bytes + at, record_magic[0], size - at) : NULL;
    return found ? (size_t)(found - bytes) : size;
}

int bf_record_scan(int fd, off_t from, off_t to,
                   bool (*each)(void *context, const struct bf_record *record), void *context)
{
    uint8_t bytes[256 * BF_RECORD_SIZE];
    size_t size = 0; /* of the buffer's contents */
    off_t next = from;
    for (;;) {
        size_t room = sizeof(bytes) - size;
        if ((uint64_t)(to - next) < room)
            room = next < to ? (size_t)(to - next) : 0;
        ssize_t n = room ? pread(fd, bytes + size, room, next) : 0;
        if (n < 0) {
            if (errno == EINTR)
                continue;
            return errno;
        }
        if (n == 0)
            return 0; /* less than a record is left */
        next += n;
        size += (size_t)n;

        size_t at = 0;
        while (size - at >= BF_RECORD_SIZE) {
            struct bf_record record;
            if (bf_record_decode(bytes + at, &record)) {
                if (!each(context, &record))
                    return 0;
                at += BF_RECORD_SIZE;
            } else {
                at = next_candidate(bytes, at + 1, size);
            }
        }
        memmove(bytes, bytes + at, size - at);
        size -= at;
    }
}
