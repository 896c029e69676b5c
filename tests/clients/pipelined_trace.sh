#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# 'belfry run --trace FILE --summary' leaves a timeline with every submission of the sample, and
# says how it went.
. "$BELFRY_TEST_COMMON"
pipelined=$bin/pipelined
trace_options=(--trace run.pftrace --summary)

"$bin/belfry" run "${trace_options[@]}" -- "$pipelined" --size 160x90 --particles 3000 --frames 8 \
    --headless --compute-latency 2 >run.out 2>run.err
code=$?
[[ $code != 77 ]] || skip "$(<run.err)"
exits 0 run
# What the program prints stays the program's.
[[ $(wc -l <run.out) == 1 ]] || fail_with 'stdout is not the program alone:' run.out

# Graphics stays two frames behind, so that compute gets ten frames done. Each graphics frame waits
# for a compute frame; from the fourth on, each compute frame for a graphics frame. Each of these 15
# has an arrow between the packets and one between the fence operations.
"$bin/belfry-trace-check" run.pftrace pipelined 30 graphics 8 compute 10 >check 2>&1 ||
    fail_with 'the timeline is not as it should be:' check
cat check

# What the sample calls its command buffers, and the labels in them, are on the packets.
grep -aqF 'draw 1 [draw frame 1, light, bloom, develop]' run.pftrace ||
    fail_with 'the timeline has no names and labels of command buffers:' check

says run.err 'Belfry: pipelined on '
says run.err '18 submissions'
says run.err "trace $folder/run.pftrace"
grep -qE '^ +graphics .* 8 +' run.err || fail_with 'no line for the graphics queue:' run.err
grep -qE '^ +compute .* 10 +' run.err || fail_with 'no line for the compute queue:' run.err
says run.err 'overlap'
says run.err 'held'

# Without being asked, nothing is written or said.
run append quiet "$pipelined" --size 64x48 --particles 100 --frames 2 --headless
exits 0 quiet
[[ ! -s quiet.err ]] || fail_with 'it talks unasked:' quiet.err
# A report is asked for, and there is nothing to report on: the program finds no GPU that it likes.
for option in --summary '--trace never.pftrace' --report '--set check=access' ''; do
    # shellcheck disable=SC2086 # an option and its value
    "$bin/belfry" run $option -- "$bin/pipelined" --headless --gpu 'no such GPU' >nothing.out 2>nothing.err
    [[ $(grep -c '^belfry: pipelined has created no Vulkan device' nothing.err) == $((${#option} > 0)) ]] ||
        fail_with "with '$option':" nothing.err
done
[[ ! -e never.pftrace ]] || fail 'there is a trace of no device'
conclude
