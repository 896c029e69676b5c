/* SPDX-License-Identifier: MIT */
/* The check of sType and pNext that each function of the C API begins with. */
#include "base/structure.h"

#include "base/message.h"

bool bf_structure_check_named(const void *structure, BfStructureType type, const char *name,
                              const char *call, const char *argument)
{
    const BfBaseInStructure *base = structure;
    if (!base)
        bf_message(BF_MESSAGE_ERROR, "%s: %s is NULL", call, argument);
    else if (base->sType != type)
        bf_message(BF_MESSAGE_ERROR, "%s: %s->sType is %d, not %s (%d)", call, argument,
                   (int)base->sType, name, (int)type);
    else if (base->pNext)
        bf_message(BF_MESSAGE_ERROR, "%s: %s->pNext is %p, not NULL: nothing extends this struct",
                   call, argument, (const void *)base->pNext);
    return base && base->sType == type && !base->pNext;
}
