#!/bin/sh
# SPDX-License-Identifier: MIT
# catch.sh MESSAGE FOLDER BELFRY-RANDOM ARGUMENTS: succeeds when belfry-random finds the scheduler in FOLDER
# (the environment names it to the loader) to be broken. A crash, a failed set-up, or a run in
# which nothing was found are failures; a folder that was not built is a skip.
message=$1
folder=$2
program=$3
shift 3

if [ ! -e "$folder/libVkLayer_belfry.so" ]; then
    echo "catch.sh: no broken scheduler in $folder"
    exit 77
fi

out=$(mktemp) || exit 2
trap 'rm -f "$out"' EXIT
"$program" "$@" --watchdog 3 >"$out" 2>&1
code=$?
if [ $code -eq 1 ] && grep -m 1 -e "$message" "$out"; then
    grep 'belfry-random: run it alone' "$out"
    exit 0
fi
echo "catch.sh: not caught (exit code $code):"
tail -n 20 "$out"
exit 1
