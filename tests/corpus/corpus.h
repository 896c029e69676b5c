/* SPDX-License-Identifier: MIT */
/* The corpus: shaders that other people wrote, each wrapped in two forms that give the same
 * picture, a compute shader and a full-screen pass, with its parameters in push constants.
 * belfry-corpus-wrap makes it, in a folder with SPIR-V files and one manifest; this reads it.
 *
 * The interface of every shader, in either form:
 *  - set 0, binding 0 and 1: two combined image samplers of 2D images; binding 2, in the compute
 *    form alone: where the picture goes, an rgba32f storage image or a storage buffer of vec4, row
 *    by row.
 *  - push constants from 0, of the form's one stage, laid out as std430.
 *  - compute: workgroups of CORPUS_GROUP by CORPUS_GROUP, one invocation per pixel; those beyond
 *    the picture do nothing. Pass: a triangle of three vertices without attributes from the corpus'
 *    one vertex shader; one colour attachment. The entry is "main".
 *
 * The manifest is text. A line is one of
 *    belfry-corpus 1                                 first
 *    vertex FILE
 *    shader NAME BYTES image|buffer COMPUTE PASS     BYTES of push constants; the two files
 *    member NAME TYPE OFFSET ROLE VALUE...           of the shader above; TYPE says how many values
 *    skip NAME REASON...                             a shader that isn't in it, and why
 *    missing SOURCE REASON...                        a whole collection that isn't
 *
 * A struct corpus may be read from any number of threads at once. What is promised (check.c):
 *
 *  C-1  A manifest that is accepted is sound: names are there once, files lie in its folder,
 *       members within the push constants, apart from one another, where their types may stand. One
 *       that isn't is refused with its line.
 *  C-2  Equal moments give equal push constants; bytes of no member are 0.
 *  C-3  Seed 0 gives the defaults. Another moves each by half of it at most, and keeps its sign.
 *  C-4  64 frames in a row have 64 different values of progress.
 *  C-5  What the wrapper can't read is skipped, with a reason; it guesses nothing. */
#ifndef BELFRY_TEST_CORPUS_H
#define BELFRY_TEST_CORPUS_H

#include "../support/std.h"

#define CORPUS_MANIFEST     "manifest"
#define CORPUS_GROUP        8
#define CORPUS_PUSH_MOST    128 /* bytes; what every Vulkan device has */
#define CORPUS_MEMBERS_MOST 32
#define CORPUS_NAME_MOST    96 /* bytes of any name, with its end */

enum corpus_kind { CORPUS_FLOAT, CORPUS_INT, CORPUS_UINT, CORPUS_BOOL };

/* A type that a member may have: scalars and vectors. A bool is a 32-bit word, 0 or 1. */
struct corpus_type {
    const char *name; /* in GLSL */
    enum corpus_kind kind;
    uint32_t count;     /* of components */
    uint32_t alignment; /* in std430 */
};
/* NULL: there is no such type here. */
const struct corpus_type *corpus_type_find(const char *name);

/* What a member is for, and so how its value changes from frame to frame. */
enum corpus_role {
    CORPUS_PARAMETER,  /* steady: its default, or what a seed makes of it */
    CORPUS_PROGRESS,   /* from 0 to below 1, another value in each of 64 frames */
    CORPUS_TIME,       /* milliseconds, 16 more in each frame */
    CORPUS_RATIO,      /* the picture's width by its height */
    CORPUS_RESOLUTION, /* width, height, and one by each */
    CORPUS_ROLE_COUNT,
};
const char *corpus_role_name(enum corpus_role role);

/* A component's bits, as they stand in the push constants. */
union corpus_word {
    float f;
    int32_t i;
    uint32_t u;
};

struct corpus_member {
    char name[CORPUS_NAME_MOST];
    const struct corpus_type *type;
    uint32_t offset;
    enum corpus_role role;
    union corpus_word values[4]; /* the default; 0 where the role says what it is */
};

struct corpus_shader {
    char name[CORPUS_NAME_MOST]; /* "gl-transitions/Dreamy" */
    uint32_t push_size;          /* a multiple of 4 */
    bool buffer;                 /* the compute form writes a buffer, not an image */
    char compute[CORPUS_NAME_MOST], pass[CORPUS_NAME_MOST]; /* files */
    struct corpus_member members[CORPUS_MEMBERS_MOST];
    uint32_t member_count;
};

/* What isn't there, and why. */
struct corpus_absence {
    char name[CORPUS_NAME_MOST];
    char reason[256];
};

struct corpus {
    char *folder;
    char vertex[CORPUS_NAME_MOST];
    struct corpus_shader *shaders;
    struct corpus_absence *skipped; /* shaders */
    struct corpus_absence *missing; /* collections */
    uint32_t shader_count, skipped_count, missing_count;
    char error[512]; /* of the last call that failed */
};

/* Reads FOLDER/manifest. False: corpus->error says what is wrong with it, and there is nothing to
 * close. */
bool corpus_open(const char *folder, struct corpus *corpus);
void corpus_close(struct corpus *corpus);

/* NULL: none. */
const struct corpus_shader *corpus_find(const struct corpus *corpus, const char *name);

/* A file of SPIR-V; the caller frees *words, *size is in bytes. False: corpus->error. */
bool corpus_spirv(struct corpus *corpus, const char *file, uint32_t **words, size_t *size);

/* What decides the values of a frame. */
struct corpus_moment {
    uint32_t frame;
    uint32_t width, height;
    uint64_t seed; /* of parameters: 0 is the defaults, another moves each by up to a half */
    bool held;     /* the frame counts as 0 for whatever changes with it */
};

/* Fills the shader's push constants. */
void corpus_values(const struct corpus_shader *shader, const struct corpus_moment *moment,
                   uint8_t push[CORPUS_PUSH_MOST]);

#endif
