/* SPDX-License-Identifier: MIT */
/* Names of Vulkan's objects, by type and handle. */
#include "standstill/names.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAME_SIZE 64

/* The type of a command buffer's label, which is no object. */
#define LABEL ((VkObjectType)VK_OBJECT_TYPE_MAX_ENUM)

/* Handles are unique within a type only. */
struct name {
    struct name *next; /* with the same key */
    VkObjectType type;
    uint64_t handle;
    char text[NAME_SIZE];
};

static uint64_t key_of(VkObjectType type, uint64_t handle)
{
    uint64_t key = handle ^ ((uint64_t)type << 48);
    return key == 0 || key == UINT64_MAX ? 1 : key;
}

static void name_free(void *value, void *context)
{
    (void)context;
    for (struct name *name = value, *next; name; name = next) {
        next = name->next;
        free(name);
    }
}

void bf_names_finish(struct bf_names *names)
{
    bf_map_finish(&names->map, name_free, NULL);
}

static struct name *names_find(struct bf_names *names, VkObjectType type, uint64_t handle)
{
    struct name *name = bf_map_find(&names->map, key_of(type, handle));
    while (name && (name->type != type || name->handle != handle))
        name = name->next;
    return name;
}

/* Cut to what fits, without half a UTF-8 character at its end; nothing in it ends a line. */
static void standstill_name_copy(char text[NAME_SIZE], const char *from)
{
    size_t length = strnlen(from, NAME_SIZE - 1);
    while (from[length] && length > 0 && ((unsigned char)from[length] & 0xC0) == 0x80)
        length--;
    for (size_t i = 0; i < length; i++)
        text[i] = (unsigned char)from[i] < ' ' ? '?' : from[i];
    text[length] = '\0';
}

/* The lock is held. */
static void names_remove(struct bf_names *names, struct name *name)
{
    uint64_t key = key_of(name->type, name->handle);
    struct name *first = bf_map_find(&names->map, key);
    if (first == name && !name->next) {
        bf_map_remove(&names->map, key);
    } else if (first == name) {
        bf_map_insert(&names->map, key, name->next); /* in its place: takes no memory */
    } else {
        while (first->next != name)
            first = first->next;
        first->next = name->next;
    }
    free(name);
}

void bf_names_set(struct bf_names *names, VkObjectType type, uint64_t handle, const char *text)
{
    bool named = text && text[0];
    uint64_t key = key_of(type, handle);
    if (!named && !atomic_load_explicit(&names->count, memory_order_relaxed))
        return;
    bf_lock_acquire(&names->lock);
    struct name *name = names_find(names, type, handle);
    if (name && !named) {
        names_remove(names, name);
        atomic_fetch_sub_explicit(&names->count, 1, memory_order_relaxed);
    } else if (!name && named && (name = malloc(sizeof(*name)))) {
        *name =
            (struct name){.next = bf_map_find(&names->map, key), .type = type, .handle = handle};
        standstill_name_copy(name->text, text);
        if (bf_map_insert(&names->map, key, name))
            atomic_fetch_add_explicit(&names->count, 1, memory_order_relaxed);
        else
            free(name);
    } else if (name) {
        standstill_name_copy(name->text, text);
    }
    bf_lock_release(&names->lock);
}

void bf_names_begun(struct bf_names *names, VkCommandBuffer buffer)
{
    bf_names_set(names, LABEL, (uint64_t)(uintptr_t)buffer, NULL);
}

void bf_names_label(struct bf_names *names, VkCommandBuffer buffer, const char *label)
{
    char text[NAME_SIZE + 4];
    bf_names_write_label(names, (uint64_t)(uintptr_t)buffer, text, sizeof(text));
    if (!text[0])
        bf_names_set(names, LABEL, (uint64_t)(uintptr_t)buffer, label);
}

void bf_names_forget_buffer(struct bf_names *names, VkCommandBuffer buffer)
{
    bf_names_set(names, LABEL, (uint64_t)(uintptr_t)buffer, NULL);
    bf_names_set(names, VK_OBJECT_TYPE_COMMAND_BUFFER, (uint64_t)(uintptr_t)buffer, NULL);
}

void bf_names_write(struct bf_names *names, VkObjectType type, uint64_t handle, char *text,
                    size_t size)
{
    text[0] = '\0';
    bf_lock_acquire(&names->lock);
    const struct name *name = names_find(names, type, handle);
    if (name)
        snprintf(text, size, " '%s'", name->text);
    bf_lock_release(&names->lock);
}

void bf_names_write_label(struct bf_names *names, uint64_t buffer, char *text, size_t size)
{
    bf_names_write(names, LABEL, buffer, text, size);
}
