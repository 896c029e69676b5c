#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# What 'belfry trace' says of the sample's timeline is what the sample did.
. "$BELFRY_TEST_COMMON"

"$bin/belfry" run --trace run.pftrace -- "$bin/pipelined" --size 160x90 --particles 3000 --frames 8 \
    --headless --compute-latency 2 >run.out 2>run.err
code=$?
[[ $code != 77 ]] || skip "$(<run.err)"
exits 0 run

"$bin/belfry" trace run.pftrace --frame 5 --svg picture.svg >report.out 2>report.err
code=$?
exits 0 report
[[ ! -s report.err ]] || fail_with 'it complains:' report.err
# Graphics stays two frames behind, so that compute gets ten frames done.
grep -qE '^ +graphics \(.*\) +engine [0-9:]+ +8 +8 +' report.out ||
    fail_with 'not eight submissions of graphics, executed:' report.out
grep -qE '^ +compute \(.*\) +engine [0-9:]+ +10 +10 +' report.out ||
    fail_with 'not ten submissions of compute, executed:' report.out
# Each graphics frame waits for a compute frame, and the other way round.
grep -qE '^ +graphics .* compute .* 8 +[0-9]' report.out ||
    fail_with 'not eight waits of graphics for compute:' report.out
grep -qE '^ +compute .* graphics .* [0-9]+ +[0-9]' report.out ||
    fail_with 'no waits of compute for graphics:' report.out
says report.out 'frame 5, '
says report.out ' runs'
says picture.svg 'frame 5 of'
says picture.svg '>graphics<'

# The shares of the critical path add up to the frame.
sum=$(sed -n 's/^ *\([0-9.]*\) % *[0-9.]* [nµm]*s  .*/\1/p' report.out |
    awk '{ sum += $1 } END { print (sum > 99 && sum < 101) ? "whole" : sum }')
[[ $sum == whole ]] || fail_with "the critical path has $sum % of the frame:" report.out
conclude
