#!/bin/sh
# SPDX-License-Identifier: MIT
# traced.sh BELFRY PROGRAM: a trace has what was read from rings, each entry once, and what became of doorbells.
trace=$(mktemp) || exit 1
trap 'rm -f "$trace" "$trace".*' EXIT
"$1" run --trace "$trace" -- "$2" 'doorbells_are_taken*' >"$trace".out 2>&1 &&
    "$1" trace "$trace" >"$trace".report || { cat "$trace".out; exit 1; }
grep -q '^  rings: 400 entries in [1-9][0-9]* reads; doorbells: connected [1-9][0-9]* times, taken away [1-9]' \
    "$trace".report && exit 0
echo '  FAILED  : no such line of rings in'
head -n 5 "$trace".report
exit 1
