#!/bin/sh
# SPDX-License-Identifier: MIT
# catch.sh [--hooks] [--hangs | --message TEXT] [--sound PROGRAM | --helper FILE] [--through SCRIPT] TEST ARGUMENTS: the
# environment gives the test a broken library, build/PRESET/broken/NAME; or TEST is PROGRAM with something broken in it;
# or FILE is a broken build helper.
# Succeeds when the test passes with the library as it is, build/PRESET/lib (with --hooks: as it is but for those,
# build/PRESET/broken/hooks; with --sound: when that program does),
# and with the break fails as tests do, and says TEXT (an extended regular expression). A crash is no failure of that
# kind, nor is a run in which nothing was found, a skip, or one that takes too long. With --hangs it is a break that
# makes the test wait for ever: then the success is that it does so for a second and twice as long as it takes without
# the break.
hangs=
message=
whole=lib
unbroken=
helper=
through=
while :; do
    case $1 in
    --hooks) whole=broken/hooks ;;
    --hangs) hangs=yes ;;
    --message) message=$2 && shift ;;
    --sound) unbroken=$2 && shift ;;
    --helper) helper=$2 && shift ;;
    --through) through=$2 && shift ;;
    *) break ;;
    esac
    shift
done
out=$(mktemp) || exit 2
trap 'rm -f "$out"' EXIT

sound() {
    printf '%s' "$1" | sed "s,/broken/[^:]*,/$whole,g"
}
run_unbroken() {
    if [ -n "$unbroken" ]; then
        program=$unbroken
        shift
        set -- "$program" "$@"
    fi
    env ${VK_LAYER_PATH:+"VK_LAYER_PATH=$(sound "$VK_LAYER_PATH")"} \
        ${LD_LIBRARY_PATH:+"LD_LIBRARY_PATH=$(sound "$LD_LIBRARY_PATH")"} ${through:+sh "$through"} "$@"
}
begin=$(date +%s%N)
if ! run_unbroken "$@" >"$out" 2>&1; then
    echo 'catch.sh: the test fails without the break:'
    tail -n 20 "$out"
    exit 1
fi
milliseconds=$((1000 + ($(date +%s%N) - begin) / 500000))

if [ -n "$hangs" ]; then
    # The program may have a handler of its own for other signals.
    timeout -s KILL "$((milliseconds / 1000)).$(printf %03d $((milliseconds % 1000)))" "$@" >"$out" 2>&1
    code=$?
    [ $code -ne 137 ] || grep -q '  FAILED  ' "$out" || exit 0
else
    env ${helper:+"BELFRY_TEST_HELPER=$helper"} ${through:+sh "$through"} "$@" >"$out" 2>&1
    code=$?
    if [ $code -ge 1 ] && [ $code -lt 100 ] && [ $code -ne 77 ] && grep -E -m 1 -e "$message" "$out"; then
        exit 0
    fi
fi
echo "catch.sh: not caught (exit code $code), or not by '$message':"
tail -n 20 "$out"
exit 1
