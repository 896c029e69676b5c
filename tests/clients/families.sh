#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# A program that asks for a family for compute alone and one for copies alone gets them and works on
# them; the validation layer agrees, above Belfry and below it.
. "$BELFRY_TEST_COMMON"
program=$bin/belfry-families

run plain plain "$program"
plain=$code
[[ $plain == 0 || $plain == 77 ]] || fail_with "without the layer it exits with $plain" plain.err
if "$bin/belfry" run vulkaninfo --summary 2>/dev/null | grep -q llvmpipe; then
    [[ $plain == 77 ]] || fail 'lavapipe has such families without the layer?'
fi
run native native "$program"
exits "$plain" native

run append append "$program"
if [[ $code == 77 && $(<append.err) == *'no driver'* ]]; then
    skip "there is no Vulkan driver"
fi
exits 0 append
says append.out ': 0 of 65536 numbers are wrong'
[[ ! -s append.err ]] || fail_with 'it complains:' append.err
cat append.out

needs_validation
for how in above below; do
    run $how $how "$program"
    exits 0 $how
    same append.out $how.out
    silent $how
    # Without a barrier it is wrong, and is told so: synchronisation is being looked at.
    run $how hazard.$how "$program" --hazard
    grep -q '^SYNC-HAZARD-' hazard.$how.reports ||
        fail_with "validation $how: a missing barrier isn't reported" hazard.$how.log
done
conclude
