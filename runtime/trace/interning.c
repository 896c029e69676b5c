/* SPDX-License-Identifier: MIT */
/* The strings of a trace that are written once and then referred to by number. */
#include "trace/interning.h"

#include <string.h>

static const char *const own[] = {
#define BF_STRING_TEXT_OF(name, text) [BF_STRING_##name] = text,
    BF_STRINGS(BF_STRING_TEXT_OF)
#undef BF_STRING_TEXT_OF
};

/* From FIRST on, a number is FIRST + n * PLACES + place, where n counts the names that came before.
 * So a number leads to its place, and shows whether the place still has the same name. */
#define FIRST  128
#define PLACES (BF_STRING_SETS * BF_STRING_WAYS)

_Static_assert((int)BF_STRING_OWN <= FIRST, "the writer's own strings are below");
_Static_assert((int)BF_STRING_ROLES *BF_STRING_SEQUENCES <= 8, "a bit for each");

void bf_name_copy(char *to, size_t size, const char *name)
{
    size_t length = strlen(name);
    if (length >= size) {
        length = size - 1;
        while (length > 0 && ((uint8_t)name[length] & 0xC0) == 0x80)
            length--;
    }
    memcpy(to, name, length);
    to[length] = 0;
}

static uint32_t string_hash(const char *text)
{
    uint32_t h = 2166136261u;
    for (; *text; text++)
        h = (h ^ (uint8_t)*text) * 16777619u;
    return h ^ h >> 15;
}

static struct bf_string_entry *string_entry(struct bf_interning *interning, uint64_t number)
{
    if (number < FIRST)
        return NULL;
    uint64_t place = (number - FIRST) % PLACES;
    struct bf_string_entry *entry =
        &interning->entries[place / BF_STRING_WAYS][place % BF_STRING_WAYS];
    return entry->number == number ? entry : NULL;
}

uint64_t bf_interning_number(struct bf_interning *interning, const char *text)
{
    char cut[BF_STRING_SIZE];
    if (!text || !text[0])
        return 0;
    bf_name_copy(cut, sizeof(cut), text);
    uint32_t set = string_hash(cut) % BF_STRING_SETS;
    struct bf_string_entry *entries = interning->entries[set];
    struct bf_string_entry *oldest = &entries[0];
    interning->clock++;
    for (int way = 0; way < BF_STRING_WAYS; way++) {
        struct bf_string_entry *entry = &entries[way];
        if (entry->number && strcmp(entry->text, cut) == 0) {
            entry->used = interning->clock;
            return entry->number;
        }
        if (entry->used < oldest->used)
            oldest = entry;
    }
    uint64_t place = set * BF_STRING_WAYS + (uint64_t)(oldest - entries);
    oldest->number = FIRST + interning->next++ * PLACES + place;
    oldest->used = interning->clock;
    oldest->announced = 0;
    memcpy(oldest->text, cut, sizeof(cut));
    return oldest->number;
}

const char *bf_interning_text(const struct bf_interning *interning, uint64_t number)
{
    if (number > 0 && number < BF_STRING_OWN)
        return own[number];
    const struct bf_string_entry *entry = string_entry((struct bf_interning *)interning, number);
    return entry ? entry->text : NULL;
}

bool bf_interning_announce(struct bf_interning *interning, uint64_t number,
                           enum bf_string_role role, uint32_t sequence)
{
    struct bf_string_entry *entry = string_entry(interning, number);
    uint8_t *announced = entry                                  ? &entry->announced
                         : number > 0 && number < BF_STRING_OWN ? &interning->announced[number]
                                                                : NULL;
    uint8_t bit = (uint8_t)(1u << (sequence * BF_STRING_ROLES + (uint32_t)role));
    if (!announced || (*announced & bit))
        return false;
    *announced |= bit;
    return true;
}
