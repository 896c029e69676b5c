#!/bin/sh
# SPDX-License-Identifier: MIT
# catch.sh TEST ARGUMENTS: succeeds when the test, which the environment gives a broken library, fails as
# tests do; a crash, or a run in which nothing was found, is a failure.
out=$(mktemp) || exit 2
trap 'rm -f "$out"' EXIT
"$@" >"$out" 2>&1
code=$?
if [ $code -ge 1 ] && [ $code -lt 100 ] && grep -m 1 '  FAILED  ' "$out"; then
    exit 0
fi
echo "catch.sh: not caught (exit code $code):"
tail -n 20 "$out"
exit 1
