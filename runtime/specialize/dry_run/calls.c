/* SPDX-License-Identifier: MIT */
/* Functions that are called from one place each: a search over all calls from the entry point on, a
 * copy of the function for each but the first. [FN-3] */
#include "specialize/dry_run/calls.h"

#include <stdlib.h>
#include <string.h>

#include "specialize/dry_run/flow.h"

#define MOST_WORDS (1u << 20) /* of all functions */

/* A function for one call. */
struct instance {
    uint32_t function;
    uint32_t base; /* the id of its first result; 0: they have their own */
};

struct parting {
    struct bf_module m;
    struct bf_arena arena;
    uint32_t *function_of; /* [bound] of what is a result in one: its index + 1 */
    uint32_t *number;      /* [bound] of it, among the function's results */
    uint32_t *results;     /* [function_count] how many it has */
    bool *used;            /* [function_count] */
    /* In the order in which they are called: instance n + 1 is the n-th call's. */
    struct instance *instances;
    uint32_t count, room, next_id;
    uint64_t size; /* words of them */
    uint32_t *words;
    size_t word_count, word_room;
    bool out_of_memory;
};

static uint32_t function_at(const struct parting *p, uint32_t f)
{
    return p->m.instructions[p->m.functions[f].first].at;
}

/* The word behind it. */
static uint32_t calls_function_end(const struct parting *p, uint32_t f)
{
    const struct bf_instruction *end = &p->m.instructions[p->m.functions[f].end];
    return end->at + end->count;
}

static bool results_count(struct parting *p)
{
    const struct bf_module *m = &p->m;
    p->function_of = bf_arena_zeroed(&p->arena, m->bound * sizeof(uint32_t));
    p->number = bf_arena_zeroed(&p->arena, m->bound * sizeof(uint32_t));
    p->results = bf_arena_zeroed(&p->arena, (m->function_count + 1) * sizeof(uint32_t));
    p->used = bf_arena_zeroed(&p->arena, m->function_count + 1);
    if (p->arena.failed)
        return false;
    for (uint32_t f = 0; f < m->function_count; f++) {
        for (uint32_t i = m->functions[f].first; i <= m->functions[f].end; i++) {
            uint32_t id = m->instructions[i].result;
            p->function_of[id] = id ? f + 1 : 0;
            p->number[id] = id ? p->results[f]++ : 0;
        }
    }
    return true;
}

/* ----------------------------------------------------------------------------------- Finding -- */

/* False: out of memory, or too many. */
static bool instance_add(struct parting *p, uint32_t f)
{
    p->size += calls_function_end(p, f) - function_at(p, f);
    if (p->size > MOST_WORDS)
        return false;
    if (p->count == p->room) {
        uint32_t room = p->room ? 2 * p->room : 16;
        struct instance *more = realloc(p->instances, room * sizeof(*more));
        p->out_of_memory |= !more;
        if (!more)
            return false;
        p->instances = more;
        p->room = room;
    }
    p->instances[p->count++] = (struct instance){f, p->used[f] ? p->next_id : 0};
    p->next_id += p->used[f] ? p->results[f] : 0;
    p->used[f] = true;
    return true;
}

static bool instances_find(struct parting *p)
{
    const struct bf_module *m = &p->m;
    uint32_t f = bf_function_find(m, m->entry_function);
    if (m->entry == UINT32_MAX || f == UINT32_MAX || !instance_add(p, f))
        return false;
    for (uint32_t n = 0; n < p->count; n++) {
        const struct bf_function *function = &m->functions[p->instances[n].function];
        for (uint32_t i = function->first; i <= function->end; i++) {
            const struct bf_instruction *in = &m->instructions[i];
            if (in->opcode != SpvOpFunctionCall)
                continue;
            f = bf_function_find(m, bf_word(m, in, 3));
            if (f == UINT32_MAX || !instance_add(p, f))
                return false;
        }
    }
    return true;
}

/* ----------------------------------------------------------------------------------- Writing -- */

static uint32_t *calls_words_put(struct parting *p, uint32_t at, size_t count)
{
    if (p->word_count + count > p->word_room) {
        size_t room = 2 * p->word_room + count;
        uint32_t *more = realloc(p->words, room * sizeof(*more));
        p->out_of_memory |= !more;
        if (!more)
            return NULL;
        p->words = more;
        p->word_room = room;
    }
    uint32_t *put = p->words + p->word_count;
    memcpy(put, p->m.words + at, count * sizeof(*put));
    p->word_count += count;
    return put;
}

/* What the id is in that instance. */
static uint32_t instance_id(const struct parting *p, const struct instance *instance, uint32_t id)
{
    return instance->base && p->function_of[id] == instance->function + 1
               ? instance->base + p->number[id]
               : id;
}

static bool decorations_put(struct parting *p)
{
    const struct bf_module *m = &p->m;
    for (uint32_t i = 0; i < bf_annotations_end(m); i++) {
        const struct bf_instruction *in = &m->instructions[i];
        uint32_t id = bf_word(m, in, 1);
        if ((in->opcode != SpvOpDecorate && in->opcode != SpvOpDecorateId &&
             in->opcode != SpvOpDecorateString) ||
            !p->function_of[id])
            continue;
        for (uint32_t n = 0; n < p->count; n++) {
            const struct instance *instance = &p->instances[n];
            if (!instance->base || instance->function + 1 != p->function_of[id])
                continue;
            uint32_t *put = calls_words_put(p, in->at, in->count);
            if (!put)
                return false;
            put[1] = instance_id(p, instance, id);
        }
    }
    return true;
}

/* *call: the number of the next. */
static bool instance_put(struct parting *p, const struct instance *instance, uint32_t *call)
{
    const struct bf_module *m = &p->m;
    const struct bf_function *function = &m->functions[instance->function];
    for (uint32_t i = function->first; i <= function->end; i++) {
        const struct bf_instruction *in = &m->instructions[i];
        uint32_t *put = calls_words_put(p, in->at, in->count);
        if (!put)
            return false;
        for (uint32_t w = 1; w < in->count; w++)
            if (bf_word_is_id(m, in, w))
                put[w] = instance_id(p, instance, put[w]);
        if (in->result)
            put[1 + (in->type != 0)] = instance_id(p, instance, in->result);
        if (in->opcode != SpvOpFunctionCall)
            continue;
        const struct instance *called = &p->instances[++*call];
        put[3] = instance_id(p, called, m->functions[called->function].id);
    }
    return true;
}

static bool module_put(struct parting *p)
{
    const struct bf_module *m = &p->m;
    const uint32_t functions = m->function_count ? function_at(p, 0) : (uint32_t)m->word_count,
                   annotations = m->instructions[bf_annotations_end(m)].at;
    uint32_t call = 0;
    if (p->next_id == m->bound)
        return calls_words_put(p, 0, m->word_count);
    if (!calls_words_put(p, 0, annotations) || !decorations_put(p) ||
        !calls_words_put(p, annotations, functions - annotations))
        return false;
    for (uint32_t n = 0; n < p->count; n++)
        if (!instance_put(p, &p->instances[n], &call))
            return false;
    for (uint32_t f = 0; f < m->function_count; f++)
        if (!p->used[f] &&
            !calls_words_put(p, function_at(p, f), calls_function_end(p, f) - function_at(p, f)))
            return false;
    p->words[3] = p->next_id;
    return true;
}

static bool origins_put(const struct parting *p, struct bf_calls *calls)
{
    const struct bf_module *m = &p->m;
    calls->own_bound = m->bound;
    calls->bound = p->next_id;
    calls->origin = malloc(p->next_id * sizeof(*calls->origin));
    if (!calls->origin)
        return false;
    for (uint32_t id = 0; id < p->next_id; id++)
        calls->origin[id] = id;
    for (uint32_t n = 0; n < p->count; n++) {
        const struct instance *instance = &p->instances[n];
        const struct bf_function *function = &m->functions[instance->function];
        for (uint32_t i = function->first; i <= function->end; i++) {
            uint32_t id = m->instructions[i].result;
            if (id)
                calls->origin[instance_id(p, instance, id)] = id;
        }
    }
    return true;
}

VkResult bf_calls_part(const struct bf_shader_info *info, struct bf_calls *calls)
{
    struct parting p = {0};
    VkResult result = VK_ERROR_INVALID_SHADER_NV;
    *calls = (struct bf_calls){0};
    p.out_of_memory = !bf_module_init(&p.m, info) && p.m.out_of_memory;
    if (!p.m.failed && !p.out_of_memory) {
        p.next_id = p.m.bound;
        p.out_of_memory = !results_count(&p);
        if (!p.out_of_memory && instances_find(&p)) {
            p.out_of_memory = !module_put(&p) || !origins_put(&p, calls);
            result = VK_SUCCESS;
        }
    }
    calls->words = p.words;
    calls->word_count = p.word_count;
    if (p.out_of_memory)
        result = VK_ERROR_OUT_OF_HOST_MEMORY;
    if (result != VK_SUCCESS)
        bf_calls_finish(calls);
    free(p.instances);
    bf_arena_finish(&p.arena);
    bf_module_finish(&p.m);
    return result;
}

void bf_calls_finish(struct bf_calls *calls)
{
    free(calls->words);
    free(calls->origin);
    *calls = (struct bf_calls){0};
}
