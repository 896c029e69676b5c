#!/bin/sh
# SPDX-License-Identifier: MIT
# catch.sh [--hangs] TEST ARGUMENTS: the environment gives the test a broken library, build/PRESET/broken/NAME.
# Succeeds when the test passes with the library as it is, build/PRESET/lib, and with the broken one fails as
# tests do. A crash is a failure, and so is a run in which nothing was found. With --hangs it is a break that
# makes the test wait for ever: then the success is that it does so for a second and twice as long
# as it takes without the break.
hangs=
if [ "$1" = --hangs ]; then
    hangs=yes
    shift
fi
out=$(mktemp) || exit 2
trap 'rm -f "$out"' EXIT

sound() {
    printf '%s' "$1" | sed 's,/broken/[^:]*,/lib,g'
}
begin=$(date +%s%N)
if ! env ${VK_LAYER_PATH:+"VK_LAYER_PATH=$(sound "$VK_LAYER_PATH")"} \
    ${LD_LIBRARY_PATH:+"LD_LIBRARY_PATH=$(sound "$LD_LIBRARY_PATH")"} "$@" >"$out" 2>&1; then
    echo 'catch.sh: the test fails without the break:'
    tail -n 20 "$out"
    exit 1
fi

if [ -n "$hangs" ]; then
    milliseconds=$((1000 + ($(date +%s%N) - begin) / 500000))
    # The program may have a handler of its own for other signals.
    timeout -s KILL "$((milliseconds / 1000)).$(printf %03d $((milliseconds % 1000)))" "$@" >"$out" 2>&1
    code=$?
    [ $code -ne 137 ] || grep -q '  FAILED  ' "$out" || exit 0
else
    "$@" >"$out" 2>&1
    code=$?
    if [ $code -ge 1 ] && [ $code -lt 100 ] && grep -m 1 '  FAILED  ' "$out"; then
        exit 0
    fi
fi
echo "catch.sh: not caught (exit code $code):"
tail -n 20 "$out"
exit 1
