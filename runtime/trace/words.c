#include "trace/words.h"

#include <string.h>

static const char *const own[] = {
#define BF_WORD_TEXT_OF(name, text) [BF_WORD_##name] = text,
    BF_WORDS(BF_WORD_TEXT_OF)
#undef BF_WORD_TEXT_OF
};

/* Numbers from here on: by how many came before, times the places, plus the place; so that a number
 * leads to its place, and tells whether it is still its own. */
#define FIRST  64
#define PLACES (BF_WORD_SETS * BF_WORD_WAYS)

_Static_assert((int)BF_WORD_OWN <= FIRST, "the writer's own words are below");
_Static_assert((int)BF_WORD_ROLES *BF_WORD_SEQUENCES <= 8, "a bit for each");

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

static uint32_t hash(const char *text)
{
    uint32_t h = 2166136261u;
    for (; *text; text++)
        h = (h ^ (uint8_t)*text) * 16777619u;
    return h ^ h >> 15;
}

static struct bf_word_entry *entry_of(struct bf_words *words, uint64_t number)
{
    if (number < FIRST)
        return NULL;
    uint64_t place = (number - FIRST) % PLACES;
    struct bf_word_entry *entry = &words->entries[place / BF_WORD_WAYS][place % BF_WORD_WAYS];
    return entry->number == number ? entry : NULL;
}

uint64_t bf_words_number(struct bf_words *words, const char *text)
{
    char cut[BF_WORD_SIZE];
    if (!text || !text[0])
        return 0;
    bf_name_copy(cut, sizeof(cut), text);
    uint32_t set = hash(cut) % BF_WORD_SETS;
    struct bf_word_entry *entries = words->entries[set];
    struct bf_word_entry *oldest = &entries[0];
    words->clock++;
    for (int way = 0; way < BF_WORD_WAYS; way++) {
        struct bf_word_entry *entry = &entries[way];
        if (entry->number && strcmp(entry->text, cut) == 0) {
            entry->used = words->clock;
            return entry->number;
        }
        if (entry->used < oldest->used)
            oldest = entry;
    }
    uint64_t place = set * BF_WORD_WAYS + (uint64_t)(oldest - entries);
    oldest->number = FIRST + words->next++ * PLACES + place;
    oldest->used = words->clock;
    oldest->announced = 0;
    memcpy(oldest->text, cut, sizeof(cut));
    return oldest->number;
}

const char *bf_words_text(const struct bf_words *words, uint64_t number)
{
    if (number > 0 && number < BF_WORD_OWN)
        return own[number];
    const struct bf_word_entry *entry = entry_of((struct bf_words *)words, number);
    return entry ? entry->text : NULL;
}

bool bf_words_announce(struct bf_words *words, uint64_t number, enum bf_word_role role,
                       uint32_t sequence)
{
    struct bf_word_entry *entry = entry_of(words, number);
    uint8_t *announced = entry                                ? &entry->announced
                         : number > 0 && number < BF_WORD_OWN ? &words->announced[number]
                                                              : NULL;
    uint8_t bit = (uint8_t)(1u << (sequence * BF_WORD_ROLES + (uint32_t)role));
    if (!announced || (*announced & bit))
        return false;
    *announced |= bit;
    return true;
}
