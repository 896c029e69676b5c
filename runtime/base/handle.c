/* SPDX-License-Identifier: MIT */
/* The table of live handles and their names. */
#include "base/handle.h"

#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/lock.h"
#include "base/map.h"
#include "base/message.h"

#define NAME_SIZE (BF_HANDLE_LABEL - 4) /* with the 0; a label has a space and two quotes besides */

static struct bf_map handles;
static struct bf_map object_names; /* object → char *, owned */
static struct bf_lock names_lock;
static _Atomic uint32_t name_count; /* 0: no object has a name, so look-ups return at once */

/* A program may unload the library once it has destroyed all objects: then the tables are freed. If
 * any object is alive, the process is ending, and other threads may still look up handles. */
__attribute__((destructor)) static void free_table(void)
{
    if (handles.live)
        return;
    bf_map_finish(&handles, NULL, NULL);
    bf_map_finish(&object_names, NULL, NULL);
}

bool bf_handle_add(const void *object, enum bf_handle_kind kind)
{
    return bf_map_insert(&handles, (uintptr_t)object, (void *)(uintptr_t)kind);
}

void bf_handle_remove(const void *object)
{
    bf_handle_name(object, NULL);
    bf_map_remove(&handles, (uintptr_t)object);
}

bool bf_handle_is(const void *object, enum bf_handle_kind kind)
{
    uintptr_t key = (uintptr_t)object;
    return key != 0 && key != UINTPTR_MAX && (uintptr_t)bf_map_find(&handles, key) == kind;
}

bool bf_handle_check(const void *object, enum bf_handle_kind kind, const char *call,
                     const char *argument)
{
    static const char *const names[] = {
        [BF_HANDLE_QUEUE] = "queue",       [BF_HANDLE_FENCE] = "fence",
        [BF_HANDLE_EVENT] = "event",       [BF_HANDLE_LOG_READER] = "log reader",
        [BF_HANDLE_BACKGROUND] = "device",
    };
    if (bf_handle_is(object, kind))
        return true;
    bf_message(BF_MESSAGE_ERROR, "%s: %s is no live %s: %p", call, argument, names[kind], object);
    return false;
}

/* Copies as much of the name as fits, without half a UTF-8 character at its end. NULL: out of
 * memory. */
static char *name_copy(const char *name)
{
    size_t length = strnlen(name, NAME_SIZE);
    if (length == NAME_SIZE) {
        length--;
        while (length > 0 && ((unsigned char)name[length] & 0xC0) == 0x80)
            length--;
    }
    char *copy = malloc(length + 1);
    if (copy) {
        memcpy(copy, name, length);
        copy[length] = '\0';
    }
    return copy;
}

bool bf_handle_name(const void *object, const char *name)
{
    bool named = name && name[0];
    if (!named && atomic_load(&name_count) == 0)
        return true;
    char *copy = named ? name_copy(name) : NULL;
    if (named && !copy)
        return false;
    bf_lock_acquire(&names_lock);
    char *old = bf_map_find(&object_names, (uintptr_t)object);
    bool done = true;
    if (copy)
        done = bf_map_insert(&object_names, (uintptr_t)object, copy);
    else
        bf_map_remove(&object_names, (uintptr_t)object);
    atomic_store(&name_count, (uint32_t)object_names.live);
    bf_lock_release(&names_lock);
    free(done ? old : copy);
    return done;
}

const char *bf_handle_label(const void *object, char label[BF_HANDLE_LABEL])
{
    label[0] = '\0';
    if (atomic_load(&name_count) == 0)
        return label;
    bf_lock_acquire(&names_lock);
    const char *name = bf_map_find(&object_names, (uintptr_t)object);
    if (name)
        snprintf(label, BF_HANDLE_LABEL, " '%s'", name);
    bf_lock_release(&names_lock);
    return label;
}
