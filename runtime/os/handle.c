#include "os/handle.h"

#include <stdint.h>

#include "os/log.h"
#include "os/map.h"

static struct bf_map handles;

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
        [BF_HANDLE_QUEUE] = "queue",
        [BF_HANDLE_FENCE] = "fence",
        [BF_HANDLE_EVENT] = "event",
    };
    if (bf_handle_is(object, kind))
        return true;
    bf_log(BF_LOG_ERROR, "%s: %s is no live %s: %p", call, argument, names[kind], object);
    return false;
}
