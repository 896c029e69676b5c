#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# A sample that attaches its device, with no layer near it, leaves the timeline that the layer's has.
. "$BELFRY_TEST_COMMON"

VK_BELFRY_MULTI_ENGINE_TRACE=$folder/attached.pftrace VK_BELFRY_MULTI_ENGINE_MESSAGES=info "$bin/engines" --headless --frames 6 \
    --size 160x90 >attached.out 2>attached.err
code=$?
[[ $code != 77 ]] || skip "$(<attached.err)"
exits 0 attached
"$bin/belfry" run --trace layer.pftrace --set messages=info -- "$bin/engines" --headless --frames 6 --size 160x90 \
    >layer.out 2>layer.err
code=$?
exits 0 layer

# What is active, with messages=info.
gpu=$(sed -n 's/^belfry: bfAttachDevice: \(.*)\), [0-9]* of its VkQueues in use$/\1/p' attached.err)
[[ $gpu ]] || fail_with 'no device is told:' attached.err
says layer.err "belfry: vkCreateDevice: $gpu, "
for way in attached layer; do
    says $way.err 'belfry:   family 0: '
    says $way.err "trace = $folder/$way.pftrace (environment: VK_BELFRY_MULTI_ENGINE_TRACE)"
    says $way.err "belfry: the trace is in $folder/$way.pftrace ("
done
! grep -q 'emulated' attached.err || fail_with 'who emulates here?' attached.err

# The report's table of queues: queue, submissions, those with
# GPU times.
queues() {
    sed -n 's/^ *\(3D\|compute\|copy\) command queue .* engine [0-9:]*  *\([0-9]*\)  *\([0-9]*\) .*/\1 \2 \3/p' "$1" |
        sort
}
for way in attached layer; do
    "$bin/belfry" trace $way.pftrace >$way.report.out 2>$way.report.err
    code=$?
    exits 0 $way.report
    [[ ! -s $way.report.err ]] || fail_with 'it complains:' $way.report.err
    queues $way.report.out >$way.queues
done
[[ $(wc -l <attached.queues) -eq 3 ]] || fail_with 'not three queues:' attached.report.out
cmp -s attached.queues layer.queues ||
    fail_with "the layer's trace has other submissions:" attached.queues layer.queues
if grep -q uncalibrated layer.report.out; then
    says attached.report.out uncalibrated
else
    ! grep -q uncalibrated attached.report.out || fail_with 'uncalibrated:' attached.report.out
fi
says attached.report.out 'critical path'
says attached.report.out "${gpu%)})"
conclude
