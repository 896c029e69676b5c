/* SPDX-License-Identifier: MIT */
/* Inside belfry-corpus-wrap: from a shader as its author published it to the two forms that
 * corpus.h describes. */
#ifndef BELFRY_TEST_CORPUS_WRAP_H
#define BELFRY_TEST_CORPUS_WRAP_H

#include <stdio.h>

#include "corpus.h"

/* One shader on its way. */
struct wrapping {
    struct corpus_shader shader; /* of which name and files are set beforehand */
    char *compute, *pass;        /* GLSL, once wrapped; freed by wrapping_free */
    char reason[256];            /* why it can't be wrapped */
};

/* Both take the published text and fill in all the rest. False: 'reason'. */
bool wrap_transition(struct wrapping *wrapping, const char *text); /* of gl-transitions */
bool wrap_dolphin(struct wrapping *wrapping, const char *text); /* of Dolphin's post-processing */

void wrapping_free(struct wrapping *wrapping);

/* Always false, so that it can be returned. */
__attribute__((format(printf, 2, 3))) bool wrap_refuse(struct wrapping *wrapping,
                                                       const char *format, ...);

/* One more member behind the others, where std430 puts it; 'values' (as many as 'type' has; may be
 * NULL for zeros) are copied. False: 'reason'. */
bool wrap_member(struct wrapping *wrapping, const char *name, const char *type,
                 enum corpus_role role, const union corpus_word *values);

/* A component's value in the source: a number, or for a bool true, false, 1 or 0, and nothing else
 * up to 'end' ('end' NULL: the text's). */
bool wrap_value(const char *text, const char *end, enum corpus_kind kind, union corpus_word *value);

enum wrap_form { WRAP_COMPUTE, WRAP_PASS };

/* The beginning of a form: the version and the interface, with the samplers corpus_first and
 * corpus_second and the members by their names. What is buffer wants a member 'resolution'. */
void wrap_head(FILE *out, const struct wrapping *wrapping, enum wrap_form form);

/* The end: the form's main, which calls void corpus_pixel(vec2 at, out vec4 color). */
void wrap_tail(FILE *out, const struct wrapping *wrapping, enum wrap_form form);

#endif
