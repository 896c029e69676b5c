#!/bin/sh
# SPDX-License-Identifier: MIT
# validated.sh RUNS SEED PROGRAM ARGUMENTS: runs the program with the Khronos validation layer, with
# synchronisation validation, below Belfry, RUNS times at once, from SEED, SEED + 1000 and so on. All
# must be silent but for known_false_reports.txt.
#
# Below only: of programs that wait before they signal, which Belfry never hands down, this version's
# own bookkeeping loses track. It also does, now and then, of a semaphore that two threads look at, and
# then stands in the way for ten seconds: so many short runs at once, and not one after the other.
here=$(dirname "$0")
layers=/usr/share/vulkan/explicit_layer.d
[ -e "$layers/VkLayer_khronos_validation.json" ] || {
    echo "validated.sh: no validation layer on this machine"
    exit 77
}
runs=$1
seed=$2
shift 2
folder=$(mktemp -d) || exit 2
trap 'rm -rf "$folder"' EXIT
# This loader orders layers by the order of the folders they are found in: the first is nearest the
# program.
export VK_LAYER_PATH="$BELFRY_TEST_BUILD/lib:$layers"
export VK_INSTANCE_LAYERS=VK_LAYER_BELFRY_multi_engine:VK_LAYER_KHRONOS_validation
export VK_BELFRY_MULTI_ENGINE_QUEUES_PER_FAMILY=16
export VK_BELFRY_MULTI_ENGINE_SYNCHRONIZED_QUEUES=false # newer than Debian 12's validation
export VK_LOADER_DEBUG=layer
run=0
while [ $run -lt "$runs" ]; do
    mkdir "$folder/$run" || exit 2
    cat >"$folder/$run/vk_layer_settings.txt" <<END_OF_SETTINGS
khronos_validation.debug_action = VK_DBG_LAYER_ACTION_LOG_MSG
khronos_validation.report_flags = error,warn,perf
khronos_validation.enables = VK_VALIDATION_FEATURE_ENABLE_SYNCHRONIZATION_VALIDATION_EXT
khronos_validation.enable_message_limit = false
khronos_validation.log_filename = $folder/$run/log
END_OF_SETTINGS
    {
        VK_LAYER_SETTINGS_PATH="$folder/$run" "$@" --seed $((seed + run * 1000)) \
            >"$folder/$run/out" 2>"$folder/$run/err"
        echo $? >"$folder/$run/code"
    } &
    run=$((run + 1))
done
wait

grep -v '^#' "$here/known_false_reports.txt" | sed '/^$/d' | sort -u >"$folder/known"
run=0
while [ $run -lt "$runs" ]; do
    cd "$folder/$run" || exit 2
    code=$(cat code)
    if [ "$code" -ne 0 ]; then
        grep -v '^\(LAYER\|INFO\):\|^ ' err
        exit "$code"
    fi
    tail -n 1 out
    grep -q VK_LAYER_KHRONOS_validation err || {
        echo "validated.sh: the validation layer was not there"
        exit 1
    }
    if [ -e log ]; then
        sed -n 's/.*\[ \([A-Za-z][A-Za-z0-9_-]*\) \].*/\1/p' log | sort -u >ids
        comm -23 ids "$folder/known" >new
        if [ -s new ]; then
            echo "validated.sh: the validation layer below Belfry reports:"
            cat new
            head -n 40 log
            exit 1
        fi
    fi
    run=$((run + 1))
done
