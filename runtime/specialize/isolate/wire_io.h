/* SPDX-License-Identifier: MIT */
/* Reading and writing the elements of messages: for the files wire*.c alone. */
#ifndef BELFRY_SPECIALIZE_ISOLATE_WIRE_IO_H
#define BELFRY_SPECIALIZE_ISOLATE_WIRE_IO_H

#include "specialize/isolate/wire.h"

void bf_wire_say_bytes(struct bf_wire_out *out, const void *bytes, size_t size);
void bf_wire_say(struct bf_wire_out *out, uint32_t value);
void bf_wire_say_long(struct bf_wire_out *out, uint64_t value);
/* Writes the size too, which bf_wire_say_bytes doesn't. */
void bf_wire_say_block(struct bf_wire_out *out, const void *bytes, size_t size);
void bf_wire_say_string(struct bf_wire_out *out, const char *string);
/* A struct without its type and chain; the reader replaces its pointers. */
void bf_wire_say_struct(struct bf_wire_out *out, const void *s, size_t size);
/* A list whose count is said elsewhere; NULL stays NULL. */
void bf_wire_say_list(struct bf_wire_out *out, const void *list, size_t count, size_t each);
void bf_wire_say_stage(struct bf_wire_out *out, const VkPipelineShaderStageCreateInfo *stage,
                       const struct bf_build_code *code);

/* After the first malformed element in->bad is set, and all of these return 0 or NULL. */
const void *bf_wire_read_bytes(struct bf_wire_in *in, size_t size);
uint32_t bf_wire_read(struct bf_wire_in *in);
uint64_t bf_wire_read_long(struct bf_wire_in *in);
/* Reads the count of elements of at least so many bytes each. */
uint32_t bf_wire_read_count(struct bf_wire_in *in, size_t each);
const void *bf_wire_read_block(struct bf_wire_in *in, size_t *size);
/* Never NULL. */
const char *bf_wire_read_string(struct bf_wire_in *in);
/* Its chain is empty; its pointers are to be replaced. */
void *bf_wire_read_struct(struct bf_wire_in *in, VkStructureType type, size_t size);
/* NULL also where NULL was said, whatever the count. */
const void *bf_wire_read_list(struct bf_wire_in *in, size_t count, size_t each);
/* One that must be there if its count isn't 0. */
const void *bf_wire_read_full_list(struct bf_wire_in *in, size_t count, size_t each);
void bf_wire_read_stage(struct bf_wire_in *in, VkPipelineShaderStageCreateInfo *stage,
                        struct bf_build_code *code);
/* Zeroed memory that is freed with the reader. */
void *bf_wire_allocate(struct bf_wire_in *in, size_t count, size_t size);

/* Begins with a whole message; True: it was read to its end. */
void bf_wire_read_begin(struct bf_wire_in *in, const void *bytes, size_t size);
bool bf_wire_read_end(const struct bf_wire_in *in);

/* wire_chain.c: what is chained to a state of a graphics pipeline. A struct that isn't known there
 * can't be said. The reader's are freed with it. */
void bf_wire_say_chain(struct bf_wire_out *out, const void *chain);
const void *bf_wire_read_chain(struct bf_wire_in *in);

/* wire_build.c */
void bf_wire_say_build(struct bf_wire_out *out, const struct bf_build_request *request);
void bf_wire_read_build(struct bf_wire_in *in, struct bf_wire_build *build);
/* The part of a build that is about graphics alone. */
void bf_wire_say_graphics(struct bf_wire_out *out, const struct bf_build_request *request);
void bf_wire_read_graphics(struct bf_wire_in *in, struct bf_wire_build *build);
/* Whether the links make a pipeline, of this layout. */
void bf_wire_links_check(struct bf_wire_in *in, const struct bf_wire_build *build);

#endif
