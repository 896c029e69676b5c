/* SPDX-License-Identifier: MIT */
/* Splits a trace's file into packets, and messages of protobuf into fields. */
#include "cli/trace_read.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#define VARINT_SIZE 10 /* bytes that a 64-bit varint may take */
#define HEAD_SIZE   (2 * VARINT_SIZE)

/* Returns the bytes it took; 0: it is cut short, or longer than any. */
static size_t varint_read(const uint8_t *at, size_t size, uint64_t *value)
{
    *value = 0;
    for (size_t i = 0; i < size && i < VARINT_SIZE; i++) {
        *value |= (uint64_t)(at[i] & 0x7f) << (7 * i);
        if (!(at[i] & 0x80))
            return i + 1;
    }
    return 0;
}

static void span_skip(struct trace_span *span, size_t size)
{
    span->at += size;
    span->size -= size;
}

static uint64_t fixed_read(const uint8_t *at, size_t size)
{
    uint64_t value = 0;
    for (size_t i = 0; i < size; i++)
        value |= (uint64_t)at[i] << (8 * i);
    return value;
}

enum trace_field_result trace_field_next(struct trace_span *message, struct trace_field *field)
{
    if (message->size == 0)
        return TRACE_FIELD_END;
    uint64_t tag;
    size_t taken = varint_read(message->at, message->size, &tag);
    if (taken == 0 || tag >> 3 == 0 || tag >> 32 != 0)
        return TRACE_FIELD_DAMAGED;
    span_skip(message, taken);
    *field = (struct trace_field){.number = (uint32_t)(tag >> 3), .type = (uint32_t)(tag & 7)};
    switch (field->type) {
    case 0:
        taken = varint_read(message->at, message->size, &field->value);
        if (taken == 0)
            return TRACE_FIELD_DAMAGED;
        span_skip(message, taken);
        return TRACE_FIELD;
    case 1:
    case 5: {
        size_t size = field->type == 1 ? 8 : 4;
        if (message->size < size)
            return TRACE_FIELD_DAMAGED;
        field->value = fixed_read(message->at, size);
        span_skip(message, size);
        return TRACE_FIELD;
    }
    case 2: {
        uint64_t size;
        taken = varint_read(message->at, message->size, &size);
        if (taken == 0 || size > message->size - taken)
            return TRACE_FIELD_DAMAGED;
        span_skip(message, taken);
        field->body = (struct trace_span){message->at, (size_t)size};
        span_skip(message, (size_t)size);
        return TRACE_FIELD;
    }
    default:
        return TRACE_FIELD_DAMAGED;
    }
}

void trace_reader_init(struct trace_reader *r, int fd)
{
    r->fd = fd;
    r->error = 0;
    r->ended = false;
    r->offset = 0;
    r->length = 0;
    r->oversized = 0;
    r->oversized_first = 0;
    r->start = 0;
    r->begin = 0;
    r->end = 0;
}

/* Reads on until 'size' bytes are there, or the file ends. False: reading failed. */
static bool reader_fill(struct trace_reader *r, size_t size)
{
    if (r->end - r->begin >= size)
        return true;
    memmove(r->buffer, r->buffer + r->begin, r->end - r->begin);
    r->start += r->begin;
    r->end -= r->begin;
    r->begin = 0;
    while (r->end < size && !r->ended) {
        ssize_t got = read(r->fd, r->buffer + r->end, sizeof(r->buffer) - r->end);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0) {
            r->error = errno;
            return false;
        }
        r->ended = got == 0;
        r->end += (size_t)got;
    }
    return true;
}

/* Steps over a body that doesn't fit into the buffer. */
static enum trace_read_result body_skip(struct trace_reader *r, uint64_t size)
{
    while (size > 0) {
        if (!reader_fill(r, 1))
            return TRACE_READ_ERROR;
        size_t there = r->end - r->begin;
        if (there == 0)
            return TRACE_READ_CUT;
        size_t step = size < there ? (size_t)size : there;
        r->begin += step;
        size -= step;
    }
    return TRACE_READ_PACKET;
}

enum trace_read_result trace_reader_next(struct trace_reader *r, struct trace_span *packet)
{
    for (;;) {
        r->offset = r->start + r->begin;
        if (!reader_fill(r, HEAD_SIZE))
            return TRACE_READ_ERROR;
        size_t there = r->end - r->begin;
        r->length = there;
        if (there == 0)
            return TRACE_READ_END;
        /* A trace is nothing but packets: field 1, with a length. */
        const uint8_t *at = r->buffer + r->begin;
        if (at[0] != (1 << 3 | 2))
            return TRACE_READ_DAMAGED;
        uint64_t size;
        size_t taken = varint_read(at + 1, there - 1, &size);
        if (taken == 0)
            return there - 1 < VARINT_SIZE ? TRACE_READ_CUT : TRACE_READ_DAMAGED;
        r->begin += 1 + taken;
        if (size > sizeof(r->buffer) - HEAD_SIZE) {
            enum trace_read_result result = body_skip(r, size);
            r->length = r->start + r->begin - r->offset;
            if (result != TRACE_READ_PACKET)
                return result;
            if (r->oversized++ == 0)
                r->oversized_first = r->offset;
            continue;
        }
        if (!reader_fill(r, (size_t)size))
            return TRACE_READ_ERROR;
        r->length = 1 + taken + (r->end - r->begin);
        if (r->end - r->begin < size)
            return TRACE_READ_CUT;
        *packet = (struct trace_span){r->buffer + r->begin, (size_t)size};
        r->begin += (size_t)size;
        return TRACE_READ_PACKET;
    }
}
