/* SPDX-License-Identifier: MIT */
/* A cache folder of the test's own, and what has programs specialized and reported. */
#ifndef BELFRY_TESTS_SUPPORT_CACHE_H
#define BELFRY_TESTS_SUPPORT_CACHE_H

extern char cache_folder[64];

/* For TEST_WITH: a new folder, named to the layer with specialize=exact, developer_mode=on and
 * report=on; and its end. */
int cache_setup(void **state);
int cache_teardown(void **state);
/* The settings alone, with that folder. */
void cache_set(const char *folder);

#endif
