/* SPDX-License-Identifier: MIT */
/*
 * The packets of a Perfetto trace, one after the other, from a file of any length.
 *
 * Memory is one buffer, whatever the file says: a packet that is longer than the buffer is stepped
 * over and counted. Nothing in the file is trusted: every length is checked against what is there.
 *
 * Thread-safety: none; one thread at a time per reader.
 */
#ifndef BELFRY_CLI_TRACE_READ_H
#define BELFRY_CLI_TRACE_READ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes in somebody else's memory. */
struct trace_span {
    const uint8_t *at;
    size_t size;
};

/* One field of a protobuf message. */
struct trace_field {
    uint32_t number;
    uint32_t type;          /* 0 varint, 1 fixed64, 2 length, 5 fixed32 */
    uint64_t value;         /* varint, fixed64, fixed32 */
    struct trace_span body; /* length */
};

enum trace_field_result {
    TRACE_FIELD,
    TRACE_FIELD_END,     /* the message ends here, as it should */
    TRACE_FIELD_DAMAGED, /* what follows is no field, or doesn't fit */
};

/* Takes the first field off a message. */
enum trace_field_result trace_field_next(struct trace_span *message, struct trace_field *field);

#define TRACE_READER_BUFFER (256 * 1024)

enum trace_read_result {
    TRACE_READ_PACKET,
    TRACE_READ_END,     /* the file ends between two packets */
    TRACE_READ_CUT,     /* the file ends inside a packet, which begins at 'offset' */
    TRACE_READ_DAMAGED, /* what begins at 'offset' is no packet */
    TRACE_READ_ERROR,   /* read(2) failed with 'error' */
};

struct trace_reader {
    int fd; /* the caller's */
    int error;
    bool ended;         /* read(2) has said that the file ends */
    uint64_t offset;    /* in the file, of what was read last, or of what can't be read */
    uint64_t length;    /* bytes that the file has from there, if that is what is wrong with them */
    uint64_t oversized; /* packets stepped over */
    uint64_t oversized_first; /* offset of the first */
    uint64_t start;           /* in the file, of the buffer's first byte */
    size_t begin;             /* in the buffer, of what is not read yet */
    size_t end;
    uint8_t buffer[TRACE_READER_BUFFER];
};

/* Reads from where 'fd' stands, which counts as the offset 0. */
void trace_reader_init(struct trace_reader *reader, int fd);

/* The next packet; 'packet' stays until the next call. After anything but PACKET, no more calls. */
enum trace_read_result trace_reader_next(struct trace_reader *reader, struct trace_span *packet);

#endif
