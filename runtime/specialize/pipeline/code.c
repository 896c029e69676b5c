/* SPDX-License-Identifier: MIT */
/* SPIR-V modules by content, and what was analysed of their stages, each kept once and reference
 * counted. */
#include "specialize/pipeline/code.h"

#include <stdlib.h>
#include <string.h>

static uint64_t mix_part(uint64_t hash, uint64_t part)
{
    hash = (hash ^ part) * UINT64_C(0x9E3779B97F4A7C15);
    return hash ^ hash >> 29;
}

static uint64_t part_at(const unsigned char *at)
{
    uint64_t part;
    memcpy(&part, at, sizeof(part));
    return part;
}

/* For finding only: contents are compared. Four sums side by side, since each step of one waits for
 * the step before. */
static uint64_t code_mix(uint64_t hash, const void *bytes, size_t size)
{
    const unsigned char *at = bytes;
    uint64_t a = 0, b = 1, c = 2, d = 3, part = 0;
    hash ^= size;
    for (; size >= 4 * sizeof(part); at += 4 * sizeof(part), size -= 4 * sizeof(part)) {
        a = mix_part(a, part_at(at));
        b = mix_part(b, part_at(at + sizeof(part)));
        c = mix_part(c, part_at(at + 2 * sizeof(part)));
        d = mix_part(d, part_at(at + 3 * sizeof(part)));
    }
    hash = mix_part(mix_part(mix_part(mix_part(hash, a), b), c), d);
    for (; size >= sizeof(part); at += sizeof(part), size -= sizeof(part))
        hash = mix_part(hash, part_at(at));
    if (size > 0)
        memcpy(&part, at, size);
    return mix_part(hash, part);
}

static struct bf_code **code_bucket(struct bf_codes *codes, uint64_t hash)
{
    return &codes->buckets[(hash >> 32) % BF_CODE_BUCKETS];
}

static struct bf_code *code_find(struct bf_codes *codes, uint64_t hash, const uint32_t *words,
                                 size_t count)
{
    struct bf_code *code = *code_bucket(codes, hash);
    while (code && (code->hash != hash || code->word_count != count ||
                    memcmp(code->words, words, count * sizeof(*words)) != 0))
        code = code->next;
    if (code)
        code->refs++;
    return code;
}

static size_t bytes_of(const struct bf_code *code)
{
    return sizeof(*code) + code->word_count * sizeof(*code->words);
}

static void free_code(struct bf_codes *codes, struct bf_code *code)
{
    if (codes->total)
        atomic_fetch_sub(codes->total, bytes_of(code));
    free(code);
}

struct bf_code *bf_code_get(struct bf_codes *codes, const uint32_t *words, size_t bytes)
{
    const size_t count = bytes / sizeof(*words);
    if (!words || bytes == 0 || bytes % sizeof(*words) != 0)
        return NULL;
    atomic_fetch_add_explicit(&codes->lookups, 1, memory_order_relaxed);
    const uint64_t hash = code_mix(0, words, bytes);
    bf_lock_acquire(&codes->lock);
    struct bf_code *code = code_find(codes, hash, words, count);
    bf_lock_release(&codes->lock);
    if (code)
        return code;
    struct bf_code *fresh = malloc(sizeof(*fresh) + bytes);
    if (!fresh)
        return NULL;
    *fresh = (struct bf_code){.hash = hash, .refs = 1, .word_count = count};
    memcpy(fresh->words, words, bytes);
    atomic_fetch_add_explicit(&codes->copies, 1, memory_order_relaxed);
    bf_lock_acquire(&codes->lock);
    code = code_find(codes, hash, words, count); /* another thread was faster */
    if (!code) {
        code = fresh;
        fresh = NULL;
        code->next = *code_bucket(codes, hash);
        *code_bucket(codes, hash) = code;
        if (codes->total)
            atomic_fetch_add(codes->total, bytes_of(code));
    }
    bf_lock_release(&codes->lock);
    free(fresh);
    return code;
}

void bf_code_retain(struct bf_codes *codes, struct bf_code *code)
{
    bf_lock_acquire(&codes->lock);
    code->refs++;
    bf_lock_release(&codes->lock);
}

/* With the lock held. True: the words were removed from their bucket, and the caller frees them. */
static bool code_drop(struct bf_codes *codes, struct bf_code *code)
{
    if (--code->refs > 0)
        return false;
    struct bf_code **at = code_bucket(codes, code->hash);
    while (*at != code)
        at = &(*at)->next;
    *at = code->next;
    return true;
}

void bf_code_release(struct bf_codes *codes, struct bf_code *code)
{
    if (!code)
        return;
    bf_lock_acquire(&codes->lock);
    bool last = code_drop(codes, code);
    bf_lock_release(&codes->lock);
    if (last)
        free_code(codes, code);
}

static bool specialization_is_empty(const VkSpecializationInfo *s)
{
    return !s || s->mapEntryCount == 0;
}

static bool same_specialization(const VkSpecializationInfo *a, const VkSpecializationInfo *b)
{
    if (specialization_is_empty(a) || specialization_is_empty(b))
        return specialization_is_empty(a) && specialization_is_empty(b);
    if (a->mapEntryCount != b->mapEntryCount || a->dataSize != b->dataSize)
        return false;
    for (uint32_t i = 0; i < a->mapEntryCount; i++) {
        const VkSpecializationMapEntry *x = &a->pMapEntries[i], *y = &b->pMapEntries[i];
        if (x->constantID != y->constantID || x->offset != y->offset || x->size != y->size)
            return false;
    }
    return a->dataSize == 0 || memcmp(a->pData, b->pData, a->dataSize) == 0;
}

static uint64_t stage_hash(VkShaderStageFlagBits stage, const char *entry,
                           const VkSpecializationInfo *s)
{
    uint64_t hash = code_mix((uint64_t)stage, entry, strlen(entry));
    for (uint32_t i = 0; !specialization_is_empty(s) && i < s->mapEntryCount; i++)
        hash = code_mix(hash, &s->pMapEntries[i].constantID, sizeof(uint32_t));
    return specialization_is_empty(s) || s->dataSize == 0 ? hash
                                                          : code_mix(hash, s->pData, s->dataSize);
}

static struct bf_code_stage *find_stage(const struct bf_code *code,
                                        const struct bf_code_stage *like)
{
    for (struct bf_code_stage *s = code->stages; s; s = s->next) {
        if (s->hash == like->hash && s->stage == like->stage &&
            strcmp(s->entry, like->entry) == 0 &&
            same_specialization(s->specialization, like->specialization)) {
            s->refs++;
            return s;
        }
    }
    return NULL;
}

static void free_stage(struct bf_codes *codes, struct bf_code_stage *stage)
{
    struct bf_shader *shader = atomic_load(&stage->shader);
    if (shader && codes->total)
        atomic_fetch_sub(codes->total, bf_shader_bytes(shader));
    bf_shader_release(shader);
    bf_arena_finish(&stage->arena);
    free(stage);
}

static struct bf_code_stage *make_stage(struct bf_codes *codes, const struct bf_code_stage *like,
                                        struct bf_code *code)
{
    struct bf_code_stage *stage = calloc(1, sizeof(*stage));
    if (!stage)
        return NULL;
    stage->refs = 1;
    stage->code = code;
    stage->hash = like->hash;
    stage->stage = like->stage;
    stage->entry = bf_arena_text(&stage->arena, like->entry);
    if (!specialization_is_empty(like->specialization)) {
        VkSpecializationInfo *s = bf_arena_copy(&stage->arena, like->specialization, 1, sizeof(*s));
        stage->specialization = s;
        if (s) {
            s->pMapEntries = bf_arena_copy(&stage->arena, s->pMapEntries, s->mapEntryCount,
                                           sizeof(*s->pMapEntries));
            s->pData = bf_arena_copy(&stage->arena, s->pData, s->dataSize, 1);
        }
    }
    if (!stage->arena.failed)
        return stage;
    free_stage(codes, stage);
    return NULL;
}

struct bf_code_stage *bf_code_stage_get(struct bf_codes *codes, struct bf_code *code,
                                        VkShaderStageFlagBits stage, const char *entry,
                                        const VkSpecializationInfo *specialization)
{
    const struct bf_code_stage like = {
        .hash = stage_hash(stage, entry, specialization),
        .stage = stage,
        .entry = entry,
        .specialization = specialization,
    };
    bf_lock_acquire(&codes->lock);
    struct bf_code_stage *found = find_stage(code, &like);
    bf_lock_release(&codes->lock);
    if (found)
        return found;
    struct bf_code_stage *fresh = make_stage(codes, &like, code);
    if (!fresh)
        return NULL;
    bf_lock_acquire(&codes->lock);
    found = find_stage(code, &like);
    if (!found) {
        found = fresh;
        fresh = NULL;
        found->next = code->stages;
        code->stages = found;
        bf_arena_count(&found->arena, codes->total, sizeof(*found));
        code->refs++;
    }
    bf_lock_release(&codes->lock);
    if (fresh)
        free_stage(codes, fresh);
    return found;
}

VkResult bf_code_stage_analyse(struct bf_codes *codes, struct bf_code_stage *stage)
{
    struct bf_shader *shader, *none = NULL;
    if (atomic_load(&stage->shader))
        return VK_SUCCESS;
    const struct bf_shader_info info = {
        .words = stage->code->words,
        .word_count = stage->code->word_count,
        .entry = stage->entry,
        .stage = stage->stage,
        .specialization = stage->specialization,
    };
    atomic_fetch_add_explicit(&codes->analyses, 1, memory_order_relaxed);
    /* The stage refers to the code, and nobody else to the shader (CD-3). */
    VkResult result = bf_shader_create_over(&info, &shader);
    if (result != VK_SUCCESS)
        return result;
    if (!atomic_compare_exchange_strong(&stage->shader, &none, shader))
        bf_shader_release(shader); /* another thread was faster */
    else if (codes->total)
        atomic_fetch_add(codes->total, bf_shader_bytes(shader));
    return VK_SUCCESS;
}

void bf_code_stage_retain(struct bf_codes *codes, struct bf_code_stage *stage)
{
    bf_lock_acquire(&codes->lock);
    stage->refs++;
    bf_lock_release(&codes->lock);
}

void bf_code_stage_release(struct bf_codes *codes, struct bf_code_stage *stage)
{
    if (!stage)
        return;
    struct bf_code *code = stage->code;
    bf_lock_acquire(&codes->lock);
    bool last = --stage->refs == 0, last_of_code = false;
    if (last) {
        struct bf_code_stage **at = &code->stages;
        while (*at != stage)
            at = &(*at)->next;
        *at = stage->next;
        last_of_code = code_drop(codes, code);
    }
    bf_lock_release(&codes->lock);
    if (last)
        free_stage(codes, stage);
    if (last_of_code)
        free_code(codes, code);
}
