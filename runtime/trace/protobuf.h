/* SPDX-License-Identifier: MIT */
/*
 * Writes the wire format of Protocol Buffers, forwards into one buffer.
 *
 * A buffer is bounded (the caller's memory) or growable (its own). What doesn't fit is left out,
 * and 'failed' is set: check it once, after a whole message, and rewind to where the message began.
 * The bytes are canonical: each length takes as few bytes as it can.
 *
 * Thread-safety: none; one thread at a time per buffer.
 */
#ifndef BELFRY_TRACE_PROTOBUF_H
#define BELFRY_TRACE_PROTOBUF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct bf_protobuf {
    uint8_t *data;
    size_t size;
    size_t capacity;
    bool growable;
    bool failed; /* there was no room, or no memory */
};

void bf_protobuf_init(struct bf_protobuf *pb, void *memory, size_t capacity);
void bf_protobuf_init_growable(struct bf_protobuf *pb);
void bf_protobuf_finish(struct bf_protobuf *pb); /* frees what a growable buffer owns */

/* Drops everything written since the buffer had this size, and clears 'failed'. */
void bf_protobuf_rewind(struct bf_protobuf *pb, size_t size);

/* Convert negative int32 and int64 values with (uint64_t)(int64_t). */
void bf_protobuf_varint(struct bf_protobuf *pb, uint32_t field, uint64_t value);
void bf_protobuf_fixed64(struct bf_protobuf *pb, uint32_t field, uint64_t value);
void bf_protobuf_double(struct bf_protobuf *pb, uint32_t field, double value);
void bf_protobuf_bytes(struct bf_protobuf *pb, uint32_t field, const void *data, size_t size);
void bf_protobuf_string(struct bf_protobuf *pb, uint32_t field, const char *text);

/* A nested message: bf_protobuf_end, which takes what begin returned, fills in its length. */
size_t bf_protobuf_begin(struct bf_protobuf *pb, uint32_t field);
void bf_protobuf_end(struct bf_protobuf *pb, size_t begin);

#endif
