/* SPDX-License-Identifier: MIT */
/* The table of 32-bit handles: a place's index in the upper 24 bits, its generation in the lower
 * 8. */
#include "doorbell/kmt_handle.h"

#include <stdlib.h>

#include "base/lock.h"
#include "base/message.h"

#define GENERATION_BITS 8
#define MAX_PLACES      (UINT32_C(1) << 24)

struct place {
    void *object;   /* NULL: free */
    uint32_t kind;  /* or, of a free one, the index of the next free one, plus 1 */
    uint8_t latest; /* generation, 1 to 255 */
};

static struct {
    struct bf_lock lock; /* leaf lock */
    struct place *places;
    uint32_t count, room;
    uint32_t first_free; /* its index, plus 1; 0: none */
    uint32_t last_free;  /* so that a place rests as long as possible */
} table;

/* A place that isn't in use, or false. */
static bool table_take(uint32_t *index)
{
    if (table.first_free) {
        *index = table.first_free - 1;
        table.first_free = table.places[*index].kind;
        return true;
    }
    if (table.count == table.room) {
        uint32_t room = table.room ? 2 * table.room : 64;
        struct place *places =
            room <= MAX_PLACES ? realloc(table.places, room * sizeof(*places)) : NULL;
        if (!places)
            return false;
        table.places = places;
        table.room = room;
    }
    *index = table.count++;
    table.places[*index] = (struct place){0};
    return true;
}

BfKmtHandle bf_kmt_add(enum bf_kmt_kind kind, void *object)
{
    BfKmtHandle handle = 0;
    uint32_t index;
    bf_lock_acquire(&table.lock);
    if (table_take(&index)) {
        struct place *place = &table.places[index];
        place->object = object;
        place->kind = kind;
        place->latest = (uint8_t)(place->latest % 255 + 1);
        handle = index << GENERATION_BITS | place->latest;
    }
    bf_lock_release(&table.lock);
    return handle;
}

/* The place of a live handle, or NULL. The lock is held. */
static struct place *table_find(BfKmtHandle handle)
{
    uint32_t index = handle >> GENERATION_BITS;
    struct place *place = index < table.count ? &table.places[index] : NULL;
    return place && place->object && place->latest == (uint8_t)handle ? place : NULL;
}

void bf_kmt_remove(BfKmtHandle handle)
{
    bf_lock_acquire(&table.lock);
    struct place *place = table_find(handle);
    if (place) {
        uint32_t number = (handle >> GENERATION_BITS) + 1;
        place->object = NULL;
        place->kind = 0;
        if (table.first_free)
            table.places[table.last_free - 1].kind = number;
        else
            table.first_free = number;
        table.last_free = number;
    }
    bf_lock_release(&table.lock);
}

void *bf_kmt_check(BfKmtHandle handle, enum bf_kmt_kind kind, const char *call,
                   const char *argument)
{
    static const char *const names[] = {
        [BF_KMT_QUEUE] = "a queue for user-mode submission",
        [BF_KMT_RING_BUFFER] = "a ring buffer",
        [BF_KMT_RING_CONTROL] = "a ring control",
        [BF_KMT_DOORBELL] = "a doorbell",
    };
    bf_lock_acquire(&table.lock);
    const struct place *place = table_find(handle);
    void *object = place && place->kind == kind ? place->object : NULL;
    bf_lock_release(&table.lock);
    if (!object)
        bf_message(BF_MESSAGE_ERROR, "%s: %s 0x%x is not the handle of %s", call, argument, handle,
                   names[kind]);
    return object;
}
