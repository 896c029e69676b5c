#!/bin/sh
# SPDX-License-Identifier: MIT
# traced.sh BELFRY PROGRAM: a program that stands still and is ended by SIGTERM, by its own exit or by the end of
# its device leaves a trace and a summary that last until then; killed, it leaves a trace that says that its end is missing.
# What is over when it exits is told as over.
belfry=$1
program=$2
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 1
failures=0
says() { grep -qF -- "$2" "$1" || { echo "[  FAILED  ] no '$2' in $1:"; cat "$1"; failures=$((failures + 1)); }; }
export VK_BELFRY_MULTI_ENGINE_SUMMARY=true VK_BELFRY_MULTI_ENGINE_WATCHDOG=60000
mkfifo out
for end in TERM KILL exit destroy; do
    # It stands still for at least as long as 'sleep' takes between the two, or by itself.
    [ $end != KILL ] || export VK_BELFRY_MULTI_ENGINE_WATCHDOG=100
    VK_BELFRY_MULTI_ENGINE_TRACE=$folder/$end "$program" run $end >out 2>err &
    while read -r line; do
        [ "$line" = ready ] || continue
        sleep 0.2
        while [ $end = KILL ] && ! grep -q 'waits for semaphore' KILL; do sleep 0.05; done # until the watchdog has told
        [ $end != KILL ] || { kill -STOP $!; sleep 0.5; kill -CONT $!; }
        turn=0 # until it has noticed that
        while [ $end = KILL ] && ! grep -q 'at least ns' KILL && [ $((turn += 1)) -le 100 ]; do sleep 0.05; done
        kill -$end $!
    done <out
    wait $!
    "$belfry" trace --svg $end.svg $end >report || failures=$((failures + 1))
    "$belfry" trace --json $end >json
    says report 'without an end when the trace ends:'
    says report '3D queue 0:0: execute 2 has been held for '
    says report 'to reach 3 (no signal of it is in the trace): no queue was given such a signal'
    says json '"line": "standstill: '
    if [ $end = KILL ]; then
        says json '"ended": false'; says report "the program was stopped, or didn't get to run, for "; says report 'the end: the program crashed, was killed'
        continue
    fi
    says json '"ended": true'; says err '2 submissions'; says err 'held: 1 submissions, '
    grep -qE '^  ([2-9][0-9]{2}\.[0-9]+ ms|[0-9.]+ s), 2 submissions' err || says err 'a span of 200 ms'
    grep -qE 'held: 1 submissions, ([2-9][0-9]{2}\.[0-9]+ ms|[0-9.]+ s) in all' err || says err '200 ms held'
    [ $end = TERM ] || continue
    says TERM.svg '= 3, no end'
    grep -qE '"lasted_ns": (2[0-9]{8}|[3-9][0-9]{8}|[0-9]{10,}),' json || says json 'a wait of 200 ms'
done
# What is over has an end, though the program destroys nothing, with a watchdog or without.
for watchdog in 60000 0; do
    VK_BELFRY_MULTI_ENGINE_WATCHDOG=$watchdog VK_BELFRY_MULTI_ENGINE_TRACE=$folder/done$watchdog "$program" run done >out.txt 2>err
    "$belfry" trace done$watchdog >report || failures=$((failures + 1))
    ! grep -F 'without an end' report || says report 'an end of all'
    says report 'waits: none'
done
[ $failures -eq 0 ] && echo 'all passed'
