/* SPDX-License-Identifier: MIT */
/* Measures the reference for limits: the test driver's free vkQueueSubmit2. */
#include "reference.h"

#include <math.h>

double bench_reference(struct bench_report *report)
{
    static struct bench_found found;
    static double reference;
    if (reference == 0) {
        bench_part_run_on_icd("icd", BENCH_PLAIN, bench_icd_free, &found);
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
