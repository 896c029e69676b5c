/* SPDX-License-Identifier: MIT */
/* The list of an executable's tests, and the main that runs them. */
#include "support/test.h"

#define TESTS_MAX 128

static struct CMUnitTest tests[TESTS_MAX];
static int lines[TESTS_MAX];
static size_t count;

/* Constructors come in no order that could be relied on. */
void test_enlist(const struct CMUnitTest *test, int line)
{
    assert_true(count < TESTS_MAX);
    size_t i = count++;
    for (; i > 0 && lines[i - 1] > line; i--) {
        tests[i] = tests[i - 1];
        lines[i] = lines[i - 1];
    }
    tests[i] = *test;
    lines[i] = line;
}

int test_run_group(const char *name, CMFixtureFunction setup, CMFixtureFunction teardown)
{
    assert_true(count > 0);
    return _cmocka_run_group_tests(name ? name : program_invocation_short_name, tests, count, setup,
                                   teardown);
}

int test_run(const char *pattern)
{
    if (pattern)
        cmocka_set_test_filter(pattern);
    return test_run_group(NULL, NULL, NULL);
}

static int run_by_argument(int argc, char **argv)
{
    return test_run(argc > 1 ? argv[1] : NULL);
}

int (*test_main)(int argc, char **argv) = run_by_argument;

__attribute__((weak)) int main(int argc, char **argv)
{
    return test_main(argc, argv);
}
