#!/bin/sh
# SPDX-License-Identifier: MIT
# adaptive.sh SOURCES: every part of Belfry that changes its behaviour by what it has seen asks
# bf_background_may_adapt first, so that DISABLE_PROFILING_BY_SYSTEM freezes it. Here is the list of
# them, one file a line with what adapts there; whoever adds such a part adds its line, and a test
# that it stands still. Parts that adapt are found by the question alone: a file that is listed must
# ask, and one that asks must be listed.
# Parts below background processing (runtime/scheduler) are told instead, by a flag of the device.
list='
runtime/scheduler/packet_time.c what packets of lower queues cost is measured
runtime/scheduler/window.c what packets of lower queues cost is learnt
runtime/specialize/recording.c uses are noted; variants on trial take turns with the general pipelines
runtime/specialize/submission.c what has finished is counted, and chosen by
runtime/specialize/variant_state.c variants are published, withdrawn and judged
'
listed=$(printf '%s' "$list" | sed -n 's/^\([^ ]*\.c\) .*/\1/p' | sort)
asking=$(cd "$1" && grep -rl --include='*.c' 'bf_background_may_adapt' runtime layer |
    grep -v '^runtime/background/' | sort)
told=$(cd "$1" && grep -rl --include='*.c' '>costs_frozen,' runtime)
asking=$(printf '%s\n%s' "$asking" "$told" | sort)
test "$listed" = "$asking" && exit 0
printf 'listed:\n%s\nasking:\n%s\n' "$listed" "$asking" >&2
exit 1
