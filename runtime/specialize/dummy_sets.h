/* The descriptor sets of a check's resources; between dummy.c and dummy_sets.c. */
#ifndef BELFRY_SPECIALIZE_DUMMY_SETS_H
#define BELFRY_SPECIALIZE_DUMMY_SETS_H

#include "specialize/dummy.h"

/* 'array' is the address of a pointer: it gets room for one more than 'count'. */
bool bf_dummies_grow(void *array, uint32_t count, uint32_t *room, size_t size);

/* The resources have been built. */
VkResult bf_dummies_build_sets(struct bf_dummies *dummies);

#endif
