/* SPDX-License-Identifier: MIT */
/* A module that is being rewritten: insertions, replacements, types and constants. */
#include "specialize/dry_run/rewrite.h"

#include <stdlib.h>
#include <string.h>

/* An array of the arena's that grows: the old one is freed with all else. */
static bool room_for(struct bf_arena *arena, void *array, uint32_t count, uint32_t more,
                     uint32_t *room, size_t size)
{
    void **each = array;
    if (arena->failed)
        return false;
    if (count + more <= *room)
        return true;
    uint32_t larger = 2 * (count + more) + 64;
    void *memory = bf_arena_zeroed(arena, larger * size);
    if (!memory)
        return false;
    if (count)
        memcpy(memory, *each, count * size);
    *each = memory;
    *room = larger;
    return true;
}

void bf_rewrite_init(struct bf_rewrite *rewrite, const struct bf_module *m, struct bf_arena *arena)
{
    *rewrite = (struct bf_rewrite){.m = m,
                                   .arena = arena,
                                   .next_id = m->bound,
                                   .annotations_end = bf_annotations_end(m),
                                   .globals_end = m->instruction_count};
    rewrite->own = bf_arena_copy(arena, m->words, m->word_count, sizeof(uint32_t));
    rewrite->replaced = bf_arena_zeroed(arena, m->instruction_count + 1);
    for (uint32_t i = m->instruction_count; i-- > 0;)
        if (m->instructions[i].opcode == SpvOpFunction)
            rewrite->globals_end = i;
}

void bf_rewrite_put(struct bf_rewrite *rewrite, uint32_t i, uint32_t opcode, uint32_t count,
                    const uint32_t *operands)
{
    if (!room_for(rewrite->arena, &rewrite->words, rewrite->word_count, count + 1,
                  &rewrite->word_room, sizeof(uint32_t)) ||
        !room_for(rewrite->arena, &rewrite->edits, rewrite->edit_count, 1, &rewrite->edit_room,
                  sizeof(*rewrite->edits)))
        return;
    rewrite->edits[rewrite->edit_count] = (struct bf_edit){
        i, rewrite->edit_count, rewrite->word_count, count + 1, opcode == SpvOpPhi};
    rewrite->edit_count++;
    rewrite->words[rewrite->word_count++] = (count + 1) << 16 | opcode;
    if (count)
        memcpy(rewrite->words + rewrite->word_count, operands, count * sizeof(*operands));
    rewrite->word_count += count;
}

uint32_t bf_rewrite_put_new(struct bf_rewrite *rewrite, uint32_t i, uint32_t opcode, uint32_t type,
                            uint32_t count, const uint32_t *operands)
{
    uint32_t all[24] = {type, bf_rewrite_id(rewrite)};
    if (count > 22) {
        rewrite->arena->failed = true; /* no caller has as many */
        return all[1];
    }
    if (count)
        memcpy(all + 2, operands, count * sizeof(*operands));
    bf_rewrite_put(rewrite, i, opcode, count + 2, all);
    return all[1];
}

/* The id of a type (type 0) or a constant of that type, declared if nobody has yet. */
static uint32_t declared(struct bf_rewrite *rewrite, uint32_t opcode, uint32_t type, uint32_t count,
                         const uint32_t *operands)
{
    struct bf_known new = {.opcode = opcode, .type = type, .count = count};
    memcpy(new.operands, operands, count * sizeof(*operands));
    for (uint32_t k = 0; k < rewrite->known_count; k++) {
        new.id = rewrite->known[k].id;
        if (!memcmp(&new, &rewrite->known[k], sizeof(new)))
            return new.id;
    }
    const struct bf_module *m = rewrite->m;
    new.id = 0;
    for (uint32_t i = 0; i < rewrite->globals_end && !new.id; i++) {
        const struct bf_instruction *in = &m->instructions[i];
        if (in->opcode == opcode && in->type == type && in->count == bf_operands(in) + count &&
            !memcmp(m->words + in->at + bf_operands(in), operands, count * sizeof(*operands)))
            new.id = in->result;
    }
    if (!new.id) {
        uint32_t words[2 + BF_KNOWN_OPERANDS] = {type}, n = type != 0;
        words[n++] = new.id = bf_rewrite_id(rewrite);
        memcpy(words + n, operands, count * sizeof(*operands));
        bf_rewrite_put(rewrite, rewrite->globals_end, opcode, n + count, words);
    }
    if (room_for(rewrite->arena, &rewrite->known, rewrite->known_count, 1, &rewrite->known_room,
                 sizeof(new)))
        rewrite->known[rewrite->known_count++] = new;
    return new.id;
}

uint32_t bf_rewrite_type(struct bf_rewrite *rewrite, uint32_t opcode, uint32_t count,
                         const uint32_t *operands)
{
    return declared(rewrite, opcode, 0, count, operands);
}

uint32_t bf_rewrite_constant(struct bf_rewrite *rewrite, uint32_t value)
{
    return declared(rewrite, SpvOpConstant, bf_rewrite_uint(rewrite), 1, &value);
}

uint32_t bf_rewrite_true(struct bf_rewrite *rewrite)
{
    return declared(rewrite, SpvOpConstantTrue, bf_rewrite_bool(rewrite), 0, (const uint32_t[]){0});
}

uint32_t bf_rewrite_null(struct bf_rewrite *rewrite, uint32_t type)
{
    return declared(rewrite, SpvOpConstantNull, type, 0, (const uint32_t[]){0});
}

uint32_t bf_rewrite_pointer(struct bf_rewrite *rewrite, uint32_t storage, uint32_t type)
{
    return BF_TYPE(rewrite, SpvOpTypePointer, storage, type);
}

uint32_t bf_rewrite_global(struct bf_rewrite *rewrite, uint32_t storage, uint32_t type,
                           uint32_t initializer)
{
    uint32_t pointer = bf_rewrite_pointer(rewrite, storage, type), id = bf_rewrite_id(rewrite);
    bf_rewrite_put(rewrite, rewrite->globals_end, SpvOpVariable, initializer ? 4 : 3,
                   (uint32_t[]){pointer, id, storage, initializer});
    return id;
}

static int edit_compare(const void *one, const void *other)
{
    const struct bf_edit *a = one, *b = other;
    if (a->before != b->before)
        return a->before < b->before ? -1 : 1;
    if (a->phi != b->phi)
        return a->phi ? -1 : 1;
    return (a->number > b->number) - (a->number < b->number);
}

bool bf_rewrite_finish(struct bf_rewrite *rewrite, uint32_t **out, size_t *out_count)
{
    const struct bf_module *m = rewrite->m;
    if (rewrite->arena->failed)
        return false;
    uint32_t *words = malloc((m->word_count + rewrite->word_count) * sizeof(*words)), *to = words;
    if (!words)
        return false;
    memcpy(to, rewrite->own, 5 * sizeof(*words));
    to[3] = rewrite->next_id;
    to += 5;
    if (rewrite->edit_count)
        qsort(rewrite->edits, rewrite->edit_count, sizeof(*rewrite->edits), edit_compare);
    const struct bf_edit *edit = rewrite->edits, *end = edit + rewrite->edit_count;
    for (uint32_t i = 0; i <= m->instruction_count; i++) {
        for (; edit < end && edit->before == i; edit++) {
            memcpy(to, rewrite->words + edit->first, edit->count * sizeof(*words));
            to += edit->count;
        }
        if (i == m->instruction_count || rewrite->replaced[i])
            continue;
        const struct bf_instruction *in = &m->instructions[i];
        memcpy(to, rewrite->own + in->at, in->count * sizeof(*words));
        to += in->count;
    }
    *out = words;
    *out_count = (size_t)(to - words);
    return true;
}
