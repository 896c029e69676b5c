/* SPDX-License-Identifier: MIT */
/* Suggestions: a slip finds the name that was meant, and what is no slip finds none. */
#include "support/test.h"

#include "base/nearest.h"

TEST(slips)
{
    static const char *const names[] = {"trace", "queues", "queues_per_family", "log", "summary",
                                        "set",   "true",   "specialize"};
    static const struct {
        const char *written, *meant;
    } cases[] = {
        {"trace", "trace"},
        {"TRCE", "trace"},
        {"tarce", "trace"},
        {"queue", "queues"},
        {"queues_per", "queues_per_family"},
        {"queues-per-familly", "queues_per_family"},
        {"spec", "specialize"},
        {"specialise", "specialize"},
        {"lgo", "log"},
        {"ture", "true"},
        {"", NULL},
        {"x", NULL},
        {"lo", "log"},
        {"lx", NULL},
        {"weather", NULL},
        {"many", NULL},
        {"nonsense", NULL},
        {"trombone", NULL},
        {"a name that is much longer than any there is, of more letters than are compared", NULL},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const char *found = bf_nearest(cases[i].written, strlen(cases[i].written), names,
                                       sizeof(names) / sizeof(names[0]));
        if (cases[i].meant ? !found || strcmp(found, cases[i].meant) != 0 : found != NULL)
            fail_msg("'%s' is taken for '%s'", cases[i].written, found ? found : "none");
    }
    assert_null(bf_nearest("log", 3, (const char *const[]){NULL, "log"}, 2));
    assert_null(bf_nearest("log", 3, names, 0));
}
