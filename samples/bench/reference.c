/* SPDX-License-Identifier: MIT */
/* Measures the reference for limits: the test driver's free vkQueueSubmit2. */
#include "reference.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void bench_reference_part_run(enum bench_side side, struct bench_found *found)
{
    const struct bench_options any = {.gpu = NULL};
    char driver[4200], driver_too[4200];
    /* VK_DRIVER_FILES takes precedence; older loaders only know the other. */
    const char *const environment[] = {driver, driver_too, "BELFRY_ICD_FREE=1",
                                       "BELFRY_ICD_SHAPE=q1", NULL};
    const char *build = getenv("BELFRY_TEST_BUILD");

    snprintf(driver, sizeof driver, "VK_ICD_FILENAMES=%s/lib/belfry_test_icd.json", build);
    snprintf(driver_too, sizeof driver_too, "VK_DRIVER_FILES=%s/lib/belfry_test_icd.json", build);
    bench_part_run("icd", side, &any, environment, found);
}

double bench_reference(struct bench_report *report)
{
    static struct bench_found found;
    static double reference;
    if (reference == 0) {
        bench_reference_part_run(BENCH_PLAIN, &found);
        reference = found.reason[0] ? NAN : bench_spread(found.plain, found.count).median;
    }
    if (!report)
        return reference;
    if (isnan(reference))
        bench_note(report, "no reference for limits: %s", found.reason);
    else
        bench_note(report,
                   "limits of calls are multiples of the test driver's free submit: %.3g ns",
                   reference);
    return reference;
}
