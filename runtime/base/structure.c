/* SPDX-License-Identifier: MIT */
/* The check of sType and pNext that each function of the C API begins with. */
#include "base/structure.h"

#include "base/message.h"

/* No struct's type. */
#define NO_EXTENSION ((BfStructureType)-1)

bool bf_structure_check_chain(const void *structure, BfStructureType type, const char *name,
                              BfStructureType extension, const void **extended, const char *call,
                              const char *argument)
{
    const BfBaseInStructure *base = structure, *next = base ? base->pNext : NULL;
    *extended = NULL;
    if (!base)
        bf_message(BF_MESSAGE_ERROR, "%s: %s is NULL", call, argument);
    else if (base->sType != type)
        bf_message(BF_MESSAGE_ERROR, "%s: %s->sType is %d, not %s (%d)", call, argument,
                   (int)base->sType, name, (int)type);
    else if (next && extension == NO_EXTENSION)
        bf_message(BF_MESSAGE_ERROR, "%s: %s->pNext is %p, not NULL: nothing extends this struct",
                   call, argument, (const void *)next);
    else if (next && (next->sType != extension || next->pNext))
        bf_message(BF_MESSAGE_ERROR,
                   "%s: %s->pNext is %p, which is not one struct with sType %d alone: nothing else "
                   "extends this one",
                   call, argument, (const void *)next, (int)extension);
    else
        *extended = next;
    return base && base->sType == type && *extended == next;
}

bool bf_structure_check_named(const void *structure, BfStructureType type, const char *name,
                              const char *call, const char *argument)
{
    const void *extended;
    return bf_structure_check_chain(structure, type, name, NO_EXTENSION, &extended, call, argument);
}
