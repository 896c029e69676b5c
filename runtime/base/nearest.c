/* SPDX-License-Identifier: MIT */
/* Finds the name that somebody has meant, by the number of slips between it and what he wrote. */
#include "base/nearest.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <strings.h>

#define LETTERS 63 /* of longer names only so many count, which bounds the memory */

static bool same(char a, char b)
{
    return tolower((unsigned char)a) == tolower((unsigned char)b);
}

/* How many letters must be added, taken away, changed or swapped with their neighbour to get from
 * one to the other. */
static uint32_t distance(const char *a, size_t a_length, const char *b, size_t b_length)
{
    uint32_t rows[3][LETTERS + 1];
    for (uint32_t j = 0; j <= b_length; j++)
        rows[0][j] = j;
    for (uint32_t i = 1; i <= a_length; i++) {
        uint32_t *row = rows[i % 3], *above = rows[(i + 2) % 3], *before = rows[(i + 1) % 3];
        row[0] = i;
        for (size_t j = 1; j <= b_length; j++) {
            uint32_t best = above[j - 1] + !same(a[i - 1], b[j - 1]);
            best = above[j] + 1 < best ? above[j] + 1 : best;
            best = row[j - 1] + 1 < best ? row[j - 1] + 1 : best;
            if (i > 1 && j > 1 && same(a[i - 1], b[j - 2]) && same(a[i - 2], b[j - 1]) &&
                before[j - 2] + 1 < best)
                best = before[j - 2] + 1;
            row[j] = best;
        }
    }
    return rows[a_length % 3][b_length];
}

const char *bf_nearest(const char *written, size_t length, const char *const *names, size_t count)
{
    length = length < LETTERS ? length : LETTERS;
    const char *nearest = NULL;
    uint32_t least = UINT32_MAX;
    for (size_t i = 0; i < count && names[i]; i++) {
        size_t name_length = strnlen(names[i], LETTERS);
        size_t longer = name_length > length ? name_length : length;
        uint32_t slips = distance(written, length, names[i], name_length);
        bool cut = length >= 3 && length < name_length && !strncasecmp(written, names[i], length);
        bool near = slips < longer && slips <= (longer > 4 ? 1 + (longer - 2) / 3 : 1);
        /* A name that only lacks its end is likelier than another one with as many slips. */
        uint32_t rank = 2 * (cut && slips > 1 ? 1 : slips) + !cut;
        if ((near || cut) && rank < least) {
            least = rank;
            nearest = names[i];
        }
    }
    return nearest;
}
