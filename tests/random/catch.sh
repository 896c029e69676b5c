#!/bin/sh
# SPDX-License-Identifier: MIT
# catch.sh FAULT FOLDER BELFRY-RANDOM: succeeds when belfry-random finds the scheduler in FOLDER
# (the environment names it to the loader) to be broken. A crash, a failed set-up, or a run in
# which nothing was found are failures; a folder that was not built is a skip.
fault=$1
folder=$2
program=$3

if [ ! -e "$folder/libVkLayer_belfry.so" ]; then
    echo "catch.sh: no broken scheduler in $folder"
    exit 77
fi

# What a lost re-check leaves behind is seen only where threads collide, and only as a hang.
case $fault in
recheck) set -- --shape burst --threads-max 4 --count 20000 ;;
binary_wait) set -- --shape binary --count 2000 ;;
*) set -- --count 2000 ;;
esac

out=$(mktemp) || exit 2
trap 'rm -f "$out"' EXIT
"$program" "$@" --watchdog 3 >"$out" 2>&1
code=$?
if [ $code -eq 1 ] && grep -m 1 'belfry-random: VIOLATION' "$out"; then
    grep 'belfry-random: run it alone' "$out"
    exit 0
fi
echo "catch.sh: $fault was not caught (exit code $code):"
tail -n 20 "$out"
exit 1
