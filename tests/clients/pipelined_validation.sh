#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The validation layer, synchronisation included, finds nothing wrong with the sample, nor with what
# Belfry makes of it.
. "$BELFRY_TEST_COMMON"
needs_validation
pipelined=$bin/pipelined
small=(--size 160x90 --particles 3000)

run append bare "$pipelined" "${small[@]}" --frames 10 --out bare.png
[[ $code != 77 ]] || skip "$(<bare.err)"
exits 0 bare
for how in above below; do
    run $how headless.$how "$pipelined" "${small[@]}" --frames 10 --out $how.png
    exits 0 headless.$how
    silent headless.$how
    same bare.png $how.png
    run $how ahead.$how "$pipelined" "${small[@]}" --frames 20 --headless --compute-latency 5 \
        --cpu-latency 9
    exits 0 ahead.$how
    silent ahead.$how
    # Belfry's own commands for timestamps are looked at only from above the driver.
    export VK_BELFRY_MULTI_ENGINE_TRACE=$folder/$how.pftrace
    run $how traced.$how "$pipelined" "${small[@]}" --frames 10 --headless
    unset VK_BELFRY_MULTI_ENGINE_TRACE
    exits 0 traced.$how
    silent traced.$how
    [[ -s $how.pftrace ]] || fail "validation $how: there is no trace"
done

# In a window. Without a display there would be none, and no message.
x_start
run append window "$pipelined" --size 320x180 --particles 3000 --frames 10
exits 0 window
says window.out '10 frames of 320x180'
[[ ! -s window.err ]] || fail_with 'a window with complaints' window.err
VK_BELFRY_MULTI_ENGINE_SUMMARY=true run append presents "$pipelined" --size 320x180 --frames 10
says presents.err ' 10 presents'
for how in above below; do
    run $how window.$how "$pipelined" --size 320x180 --particles 3000 --frames 10
    exits 0 window.$how
    says window.$how.out '10 frames of 320x180'
    silent window.$how
done
if grep -q llvmpipe window.out; then
    run plain alone "$pipelined" --frames 2
    exits 77 alone
fi
conclude
