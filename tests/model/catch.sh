#!/bin/sh
# SPDX-License-Identifier: MIT
# catch.sh MESSAGE BELFRY-MODEL OPTIONS...: succeeds when the model, linked with a broken scheduler,
# finds a violation of one of the guarantees that MESSAGE (a regular expression) names. A crash, a
# failed set-up, or a run in which nothing was found are failures.
expected=$1
shift

out=$(mktemp) || exit 2
trap 'rm -f "$out"' EXIT
"$@" >"$out" 2>&1
code=$?
if [ $code -eq 1 ] && grep -E "^belfry-model: $expected" "$out"; then
    grep '^belfry-model: program' "$out"
    grep '^belfry-model: run it alone' "$out" && exit 0
fi
echo "catch.sh: not caught as it should be (exit code $code):"
tail -n 20 "$out"
exit 1
