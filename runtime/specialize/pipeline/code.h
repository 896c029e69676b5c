/* SPDX-License-Identifier: MIT */
/*
 * SPIR-V as the program gave it: the words of equal modules are kept once, and so is what was
 * analysed of them for each stage, entry point and specialization.
 *
 *  CD-1  Words with the same content are one bf_code; equal stages of it are one bf_code_stage.
 *  CD-3  A stage's analysis refers to the words; it has no copy of them.
 *  CD-2  Both live as long as somebody refers to them: modules of the program, and copies of
 *        pipelines.
 *
 *  CD-4  Taking a stage analyses nothing: whoever needs that calls bf_code_stage_analyse, on
 *        whatever thread.
 *
 * Thread-safety: safe; nothing here is changed once it is made, but for a stage's 'shader'.
 */
#ifndef BELFRY_SPECIALIZE_CODE_H
#define BELFRY_SPECIALIZE_CODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <vulkan/vulkan.h>

#include "base/lock.h"
#include "specialize/shader/arena.h"
#include "specialize/shader/shader.h"

struct bf_code_stage;

struct bf_code {
    struct bf_code *next; /* in its hash bucket */
    uint64_t hash;
    uint32_t refs; /* its stages' references among them; codes' lock */
    struct bf_code_stage *stages;
    size_t word_count;
    uint32_t words[];
};

struct bf_code_stage {
    struct bf_code_stage *next;
    struct bf_code *code;
    uint32_t refs; /* codes' lock */
    uint64_t hash;
    VkShaderStageFlagBits stage;
    const char *entry;
    const VkSpecializationInfo *specialization; /* NULL: none, or an empty one */
    _Atomic(struct bf_shader *) shader;         /* NULL: it isn't analysed yet */
    struct bf_arena arena;
};

#define BF_CODE_BUCKETS 1024

struct bf_codes {
    struct bf_lock lock; /* leaf lock */
    struct bf_code *buckets[BF_CODE_BUCKETS];
    _Atomic uint64_t *total; /* NULL, or where all bytes that are taken here are counted too */
    /* How often, since the beginning: words were hashed to find them; words were copied; a stage
     * was analysed. Tests read them. */
    _Atomic uint64_t lookups, copies, analyses;
};

/* Takes a reference to these words. NULL: out of memory, or 'bytes' is 0 or no multiple of 4. */
struct bf_code *bf_code_get(struct bf_codes *codes, const uint32_t *words, size_t bytes);
void bf_code_retain(struct bf_codes *codes, struct bf_code *code);
/* NULL is allowed, here and below. */
void bf_code_release(struct bf_codes *codes, struct bf_code *code);

/* Takes a reference to a stage of the code. NULL: out of memory. */
struct bf_code_stage *bf_code_stage_get(struct bf_codes *codes, struct bf_code *code,
                                        VkShaderStageFlagBits stage, const char *entry,
                                        const VkSpecializationInfo *specialization);
/* One reference more. For who has one. */
void bf_code_stage_retain(struct bf_codes *codes, struct bf_code_stage *stage);
/* Analyses the stage, unless somebody has. Takes long, and no lock. Errors:
 * VK_ERROR_OUT_OF_HOST_MEMORY. */
VkResult bf_code_stage_analyse(struct bf_codes *codes, struct bf_code_stage *stage);
void bf_code_stage_release(struct bf_codes *codes, struct bf_code_stage *stage);

#endif
