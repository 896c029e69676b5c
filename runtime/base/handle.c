#include "base/handle.h"

#include <stdint.h>

#include "base/message.h"
#include "base/map.h"

static struct bf_map handles;

/* A program may unload the library once it has destroyed everything. While anything is alive this
 * is the end of the process, and other threads may still be asking. */
__attribute__((destructor)) static void free_table(void)
{
    if (handles.live == 0)
        bf_map_finish(&handles, NULL, NULL);
}

bool bf_handle_add(const void *object, enum bf_handle_kind kind)
{
    return bf_map_insert(&handles, (uintptr_t)object, (void *)(uintptr_t)kind);
}

void bf_handle_remove(const void *object)
{
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
