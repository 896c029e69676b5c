/* SPDX-License-Identifier: MIT */
/* Writes protobuf into memory of a fixed size. */
#include "trace/protobuf.h"

#include <stdlib.h>
#include <string.h>

enum wire_type {
    WIRE_VARINT = 0,
    WIRE_FIXED64 = 1,
    WIRE_LENGTH = 2,
};

#define VARINT_MAX 10 /* bytes that a 64-bit varint can take */

void bf_protobuf_init(struct bf_protobuf *pb, void *memory, size_t capacity)
{
    *pb = (struct bf_protobuf){.data = memory, .capacity = capacity};
}

void bf_protobuf_init_growable(struct bf_protobuf *pb)
{
    *pb = (struct bf_protobuf){.growable = true};
}

void bf_protobuf_finish(struct bf_protobuf *pb)
{
    if (pb->growable)
        free(pb->data);
    *pb = (struct bf_protobuf){0};
}

void bf_protobuf_rewind(struct bf_protobuf *pb, size_t size)
{
    pb->size = size;
    pb->failed = false;
}

/* Makes room for 'size' more bytes. Once that has failed, nothing more is written, so that the end
 * of a message is never written after its middle was left out. */
static bool protobuf_reserve(struct bf_protobuf *pb, size_t size)
{
    if (pb->failed)
        return false;
    if (size <= pb->capacity - pb->size)
        return true;
    if (pb->growable && size <= SIZE_MAX / 2 - pb->size) {
        size_t capacity = pb->capacity ? pb->capacity : 256;
        while (capacity - pb->size < size)
            capacity *= 2;
        uint8_t *data = realloc(pb->data, capacity);
        if (data) {
            pb->data = data;
            pb->capacity = capacity;
            return true;
        }
    }
    pb->failed = true;
    return false;
}

static size_t varint_encode(uint8_t *to, uint64_t value)
{
    size_t n = 0;
    while (value >= 0x80) {
        to[n++] = (uint8_t)(value | 0x80);
        value >>= 7;
    }
    to[n++] = (uint8_t)value;
    return n;
}

static void protobuf_append(struct bf_protobuf *pb, const void *bytes, size_t size)
{
    if (size && protobuf_reserve(pb, size)) {
        memcpy(pb->data + pb->size, bytes, size);
        pb->size += size;
    }
}

static size_t tag_encode(uint8_t *to, uint32_t field, enum wire_type type)
{
    return varint_encode(to, (uint64_t)field << 3 | type);
}

void bf_protobuf_varint(struct bf_protobuf *pb, uint32_t field, uint64_t value)
{
    uint8_t bytes[2 * VARINT_MAX];
    size_t n = tag_encode(bytes, field, WIRE_VARINT);
    n += varint_encode(bytes + n, value);
    protobuf_append(pb, bytes, n);
}

void bf_protobuf_fixed64(struct bf_protobuf *pb, uint32_t field, uint64_t value)
{
    uint8_t bytes[VARINT_MAX + 8];
    size_t n = tag_encode(bytes, field, WIRE_FIXED64);
    for (int i = 0; i < 8; i++)
        bytes[n++] = (uint8_t)(value >> (8 * i));
    protobuf_append(pb, bytes, n);
}

void bf_protobuf_double(struct bf_protobuf *pb, uint32_t field, double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof(bits));
    bf_protobuf_fixed64(pb, field, bits);
}

void bf_protobuf_bytes(struct bf_protobuf *pb, uint32_t field, const void *data, size_t size)
{
    uint8_t head[2 * VARINT_MAX];
    size_t n = tag_encode(head, field, WIRE_LENGTH);
    n += varint_encode(head + n, size);
    protobuf_append(pb, head, n);
    protobuf_append(pb, data, size);
}

void bf_protobuf_string(struct bf_protobuf *pb, uint32_t field, const char *text)
{
    bf_protobuf_bytes(pb, field, text, strlen(text));
}

size_t bf_protobuf_begin(struct bf_protobuf *pb, uint32_t field)
{
    uint8_t head[VARINT_MAX + 1];
    size_t n = tag_encode(head, field, WIRE_LENGTH);
    head[n++] = 0; /* most messages are short: one byte is enough for their length */
    protobuf_append(pb, head, n);
    return pb->size;
}

void bf_protobuf_end(struct bf_protobuf *pb, size_t begin)
{
    if (pb->failed)
        return;
    uint8_t length[VARINT_MAX];
    size_t size = pb->size - begin;
    size_t n = varint_encode(length, size);
    if (n > 1) {
        if (!protobuf_reserve(pb, n - 1))
            return;
        memmove(pb->data + begin + n - 1, pb->data + begin, size);
        pb->size += n - 1;
    }
    memcpy(pb->data + begin - 1, length, n);
}
