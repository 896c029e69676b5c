#!/bin/sh
# SPDX-License-Identifier: MIT
# rests.sh BELFRY PROGRAM: a program whose work is over, and whose watchdog rests, is stopped for a while and then ends:
# by its own exit, by SIGTERM, or with some work that it begins just before. None of its time is told as a standstill or,
# in its trace, as a stop, whether somebody looks at it with 'belfry top' or not.
belfry=$1
program=$2
folder=$(mktemp -d) || exit 1
guard=
trap 'rm -rf "$folder"; [ -z "$guard" ] || kill "$guard"' EXIT
cd "$folder" || exit 1
failures=0
says() { grep -qF -- "$2" "$1" || { echo "[  FAILED  ] no '$2' in $1:"; cat "$1"; failures=$((failures + 1)); }; }
silent() { ! grep -qE -- "$2" "$1" || { echo "[  FAILED  ] '$2' in $1"; failures=$((failures + 1)); }; }
# A program that doesn't end is ended, and says in which calls its threads are.
say_stuck() {
    exec >stuck 2>&1
    sleep 60
    for task in /proc/"$1"/task/*; do
        echo "$(cat "$task/comm"): $(cat "$task/syscall"), $(cat "$task/wchan")"
        grep -E '^(State|Sig|voluntary)' "$task/status"
    done
    kill -KILL "$1"
}
export VK_BELFRY_MULTI_ENGINE_WATCHDOG=100
mkfifo out
for end in exits looked begins ended; do
    VK_BELFRY_MULTI_ENGINE_TRACE=$folder/$end "$program" run rests $end >out 2>$end.err &
    pid=$!
    say_stuck $pid &
    guard=$!
    signal=USR1 # upon which it goes on
    [ $end != ended ] || signal=TERM
    while read -r line; do
        if [ "$line" = skip ]; then
            wait $pid
            exit 77
        fi
        [ "$line" = ready ] || continue
        kill -STOP $pid
        sleep 0.7 # less than half a second it may have been kept waiting for a processor
        kill -CONT $pid
        if [ $end = looked ]; then
            "$belfry" top --once $pid >top
            says top '3D queue 0:0'
        fi
        kill -$signal $pid
    done <out
    wait $pid
    kill $guard
    guard=
    if [ -s stuck ]; then
        echo "[  FAILED  ] '$end' didn't end:"
        cat stuck
        failures=$((failures + 1))
    fi
    "$belfry" trace $end >$end.report || failures=$((failures + 1))
    silent $end.report "didn't get to run, for ([5-9][0-9][0-9]\.[0-9]+ ms|[0-9.]+ s)"
    if [ $end = begins ]; then
        says $end.err 'belfry: standstill: packet 2 of 3D queue 0:0 waits for semaphore '
    else
        silent $end.err standstill
        silent $end.report 'without an end'
    fi
done
[ $failures -eq 0 ] && echo 'all passed'
