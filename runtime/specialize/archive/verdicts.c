/* SPDX-License-Identifier: MIT */
/* The verdicts of one pipeline: sets of them, and their file. */
#include "specialize/archive/verdicts.h"

#include <stdlib.h>
#include <string.h>

struct header {
    char magic[8];
    uint32_t format, count;
    uint8_t hash[BF_ARCHIVE_HASH];
};

_Static_assert(sizeof(struct header) == 48 && sizeof(struct bf_verdict_entry) == 48,
               "as in the file");

static const char magic[8] = "BelfryAr";

/* Castagnoli's polynomial, reflected, four bits at a time: 16 remainders of four bits each. */
uint32_t bf_crc32c(const void *data, size_t size)
{
    static const uint32_t remainders[16] = {
        0x00000000, 0x105EC76F, 0x20BD8EDE, 0x30E349B1, 0x417B1DBC, 0x5125DAD3,
        0x61C69362, 0x7198540D, 0x82F63B78, 0x92A8FC17, 0xA24BB5A6, 0xB21572C9,
        0xC38D26C4, 0xD3D3E1AB, 0xE330A81A, 0xF36E6F75,
    };
    const uint8_t *bytes = data;
    uint32_t crc = UINT32_MAX;
    for (size_t i = 0; i < size; i++) {
        crc ^= bytes[i];
        crc = crc >> 4 ^ remainders[crc & 15];
        crc = crc >> 4 ^ remainders[crc & 15];
    }
    return ~crc;
}

static bool code_is_put(uint32_t code)
{
    return code == BF_VERDICT_FORGOTTEN || code == BF_VERDICT_KEPT || code == BF_VERDICT_REJECTED;
}

bool bf_verdict_entry_make(const struct bf_archive_key *key, const struct bf_verdict *verdict,
                           struct bf_verdict_entry *entry)
{
    memset(entry, 0, sizeof(*entry));
    if (key->n_values > BF_ARCHIVE_VALUES || key->form > BF_ARCHIVE_FORM_NO_CONTRACTION ||
        (verdict && !code_is_put(verdict->code)))
        return false;
    memcpy(entry->values, key->values, key->n_values * sizeof(entry->values[0]));
    entry->n_values = key->n_values;
    entry->mask = key->mask;
    entry->form = key->form;
    if (!verdict)
        return true;
    entry->code = (uint8_t)verdict->code;
    entry->reason = verdict->reason;
    entry->gain = verdict->gain < BF_VERDICT_GAIN_MOST ? verdict->gain : BF_VERDICT_GAIN_MOST;
    entry->n = verdict->n < BF_VERDICT_N_MOST ? verdict->n : BF_VERDICT_N_MOST;
    return true;
}

static bool is_same_key(const struct bf_verdict_entry *a, const struct bf_verdict_entry *b)
{
    return a->n_values == b->n_values && a->mask == b->mask && a->form == b->form &&
           memcmp(a->values, b->values, sizeof(a->values)) == 0;
}

const struct bf_verdict_entry *bf_verdicts_find(const struct bf_verdicts *verdicts,
                                                const struct bf_verdict_entry *key)
{
    for (uint32_t i = 0; verdicts && i < verdicts->count; i++)
        if (is_same_key(&verdicts->entries[i], key))
            return &verdicts->entries[i];
    return NULL;
}

static struct bf_verdicts *verdicts_of(uint32_t room)
{
    return calloc(1, sizeof(struct bf_verdicts) + (size_t)room * sizeof(struct bf_verdict_entry));
}

struct bf_verdicts *bf_verdicts_with(const struct bf_verdicts *verdicts,
                                     const struct bf_verdict_entry *entry)
{
    const uint32_t count = verdicts ? verdicts->count : 0;
    struct bf_verdicts *more = verdicts_of(count + 1);
    if (!more)
        return NULL;
    const bool full = count == BF_VERDICTS_MOST && !bf_verdicts_find(verdicts, entry);
    for (uint32_t i = full; i < count; i++)
        if (!is_same_key(&verdicts->entries[i], entry))
            more->entries[more->count++] = verdicts->entries[i];
    more->entries[more->count++] = *entry;
    return more;
}

void bf_verdicts_settle(struct bf_verdicts *verdicts)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < verdicts->count; i++) {
        verdicts->entries[i].unwritten = false;
        if (verdicts->entries[i].code != BF_VERDICT_FORGOTTEN)
            verdicts->entries[count++] = verdicts->entries[i];
    }
    verdicts->count = count;
}

size_t bf_verdicts_encode(const struct bf_verdicts *verdicts, const uint8_t hash[BF_ARCHIVE_HASH],
                          uint8_t *bytes)
{
    struct header header = {.format = BF_ARCHIVE_FORMAT, .count = verdicts->count};
    const size_t size = sizeof(header) + verdicts->count * sizeof(verdicts->entries[0]);
    memcpy(header.magic, magic, sizeof(magic));
    memcpy(header.hash, hash, sizeof(header.hash));
    memcpy(bytes, &header, sizeof(header));
    memcpy(bytes + sizeof(header), verdicts->entries, size - sizeof(header));
    const uint32_t crc = bf_crc32c(bytes, size);
    memcpy(bytes + size, &crc, sizeof(crc));
    return size + sizeof(crc);
}

/* How many it has; 0: it isn't one. */
static uint32_t file_count(const uint8_t *bytes, size_t size, const uint8_t hash[BF_ARCHIVE_HASH])
{
    struct header header;
    uint32_t crc;
    if (size < sizeof(header) + sizeof(crc))
        return 0;
    memcpy(&header, bytes, sizeof(header));
    memcpy(&crc, bytes + size - sizeof(crc), sizeof(crc));
    if (memcmp(header.magic, magic, sizeof(magic)) != 0 || header.format != BF_ARCHIVE_FORMAT ||
        header.count > BF_VERDICTS_MOST || memcmp(header.hash, hash, sizeof(header.hash)) != 0 ||
        size != sizeof(header) + header.count * sizeof(struct bf_verdict_entry) + sizeof(crc) ||
        crc != bf_crc32c(bytes, size - sizeof(crc)))
        return 0;
    return header.count;
}

/* That a checksum is right doesn't say that Belfry has written it. */
static bool is_sound(const uint8_t bytes[sizeof(struct bf_verdict_entry)])
{
    struct bf_verdict_entry entry;
    if (bytes[offsetof(struct bf_verdict_entry, unwritten)] != 0)
        return false;
    memcpy(&entry, bytes, sizeof(entry));
    bool sound = entry.n_values <= BF_ARCHIVE_VALUES && !entry.zero &&
                 entry.form <= BF_ARCHIVE_FORM_NO_CONTRACTION && code_is_put(entry.code) &&
                 entry.gain <= BF_VERDICT_GAIN_MOST && entry.n <= BF_VERDICT_N_MOST;
    for (uint32_t i = entry.n_values; sound && i < BF_ARCHIVE_VALUES; i++)
        sound = entry.values[i] == 0;
    return sound;
}

bool bf_verdicts_decode(const uint8_t *bytes, size_t size, const uint8_t hash[BF_ARCHIVE_HASH],
                        struct bf_verdicts **out)
{
    const uint32_t count = file_count(bytes, size, hash);
    *out = verdicts_of(count);
    if (!*out)
        return false;
    for (uint32_t i = 0; i < count; i++) {
        const uint8_t *at = bytes + sizeof(struct header) + i * sizeof(struct bf_verdict_entry);
        struct bf_verdict_entry *entry = &(*out)->entries[(*out)->count];
        if (!is_sound(at))
            continue;
        memcpy(entry, at, sizeof(*entry));
        (*out)->count += !bf_verdicts_find(*out, entry);
    }
    return true;
}
