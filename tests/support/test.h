/* SPDX-License-Identifier: MIT */
/* What every test in C stands on: cmocka, tests that enlist themselves, and a main that runs
 * them. */
#ifndef BELFRY_TESTS_SUPPORT_TEST_H
#define BELFRY_TESTS_SUPPORT_TEST_H

#include "support/std.h"

#include <setjmp.h>
#include <cmocka.h>

/* What Vulkan or a thread calls has their parameters, whether a test looks at them or not. */
#pragma GCC diagnostic ignored "-Wunused-parameter"

#include "support/type.h"

/* A test: TEST(name) { ... }. It is run with all others of its executable, in the order in which
 * they stand in the file. With a set-up and a tear-down, 'state' is what cmocka makes of them. */
#define TEST(name_) TEST_WITH(name_, NULL, NULL)
#define TEST_WITH(name_, setup_, teardown_)                                                        \
    static void name_(void **state);                                                               \
    __attribute__((constructor)) static void test_enlists_##name_(void)                            \
    {                                                                                              \
        test_enlist(&(struct CMUnitTest){#name_, name_, setup_, teardown_, NULL}, __LINE__);       \
    }                                                                                              \
    static void name_(__attribute__((unused)) void **state)

/* The same, where what the set-up makes is of one type. */
#define TEST_ON(name_, setup_, teardown_, made_)                                                   \
    static void name_##_on(made_);                                                                 \
    TEST_WITH(name_, setup_, teardown_)                                                            \
    {                                                                                              \
        name_##_on(*state);                                                                        \
    }                                                                                              \
    static void name_##_on(made_)

/* A test on something of its own, which 'open_', with what follows, makes of a struct and 'close_'
 * ends; the body has it as a pointer. */
#define TEST_AROUND(name_, type_, variable_, open_, close_, ...)                                   \
    static void name_##_around(type_ *variable_);                                                  \
    TEST(name_)                                                                                    \
    {                                                                                              \
        type_ made;                                                                                \
        open_(&made, ##__VA_ARGS__);                                                               \
        name_##_around(&made);                                                                     \
        close_(&made);                                                                             \
    }                                                                                              \
    static void name_##_around(type_ *variable_)

#define assert_success(call_) assert_int_equal(call_, VK_SUCCESS)

/* Skips the test, with what the device or driver lacks for it. */
#define TEST_NEEDS(there_, what_)                                                                  \
    do {                                                                                           \
        if (!(there_)) {                                                                           \
            print_message("skipped: there is no %s\n", what_);                                     \
            skip();                                                                                \
        }                                                                                          \
    } while (0)

void test_enlist(const struct CMUnitTest *test, int line);

/* Runs the tests whose names match a pattern as the shell's; NULL: all. Returns what main
 * returns. */
int test_run(const char *pattern);
/* All of them, between that set-up and that tear-down; the name is for what is printed, and may be
 * NULL. */
int test_run_group(const char *name, CMFixtureFunction setup, CMFixtureFunction teardown);

/* What main does, for a fixture to set before it begins (by a constructor); at first it is test_run
 * with the first argument, if there is one. An executable may have a main of its own instead. */
extern int (*test_main)(int argc, char **argv);

#endif
