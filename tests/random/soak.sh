#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# soak.sh BUILD MINUTES [SEED]: random programs on every driver there is and every shape of the test
# driver, under the layer and attached, as GPU and as CPU, with logs that have times or none, or are traced,
# with signals from outside and without, round after round from fresh seeds, until the time is over or something
# is wrong. Then it says how to see that again, and fails.
set -uo pipefail

build=$1 end=$(($(date +%s) + $2 * 60))
seed=${3:-$(od -An -N6 -tu8 /dev/urandom | tr -d ' ')}
count=300 # programs of one run
mapfile -t shapes < <(sed -nE '/icd_shape shapes\[\] =/,/^};/s/^ +\{"([a-z]+)",.*/\1/p' "$(dirname "$0")/../icd/config.c")
((${#shapes[@]})) || { echo "soak: no shapes in the test driver's table"; exit 2; }
shapes+=(q1 q2 q8 q16)
folder=$build/soak
log=$folder/log
mkdir -p "$folder" || exit 2
# Of copies, so that whoever builds meanwhile doesn't change what runs.
place=$folder/place
rm -rf "$place"
mkdir -p "$place/bin" "$place/lib" && cp "$build/bin/belfry-random" "$place/bin" &&
    cp -P "$build"/lib/lib{belfry,VkLayer_belfry,belfry_test_icd}.so* "$build"/lib/*.json "$place/lib" || exit 2

# The environment of a run, a word each, by its driver, way and log.
environment() {
    printf '%s\n' "BELFRY_TEST_BUILD=$place"
    case $1 in
    lavapipe) echo VK_ICD_FILENAMES=/usr/share/vulkan/icd.d/lvp_icd.x86_64.json ;;
    /*) printf '%s\n' "VK_ICD_FILENAMES=$1" ;;
    *)
        printf '%s\n' "VK_ICD_FILENAMES=$place/lib/belfry_test_icd.json" "BELFRY_ICD_SHAPE=${1#icd:}" \
            "BELFRY_ICD_PROCESSES=$((round % 2))" "BELFRY_ICD_GPU=$((round / 2 % 2))"
        ;;
    esac
    [[ $2 == attached ]] ||
        printf '%s\n' "VK_LAYER_PATH=$place/lib:/usr/share/vulkan/explicit_layer.d" \
            VK_INSTANCE_LAYERS=VK_LAYER_BELFRY_multi_engine \
            VK_BELFRY_MULTI_ENGINE_QUEUES_PER_FAMILY=16
    [[ $3 != untimed ]] || echo VK_BELFRY_MULTI_ENGINE_LOG=untimed
    [[ $3 != traced ]] || printf '%s\n' "VK_BELFRY_MULTI_ENGINE_TRACE=$folder/trace.pftrace"
}

# complain CODE COMMAND...: so has the command ended that ran the programs of this round.
complain() {
    local code=$1 only
    shift
    set -- "${@//"$place"/"$build"}"
    grep -m 1 VIOLATION "$log" || tail -n 5 "$log"
    echo "soak: exit code $code; the output is in $log. To see it again, maybe not at once:"
    only=$(grep -oE -m 1 -e '--only-seed [0-9]+' "$log") && echo "    while $* $only; do :; done"
    echo "    $* --count $count --seed $seed"
}

drivers=(lavapipe "${shapes[@]/#/icd:}")
for file in "$(dirname "$0")"/../../build/drivers/*/icd.json; do
    [[ ! -e $file ]] || drivers+=("$(readlink -f "$file")")
done
total=0 round=0
echo "soak: ${drivers[*]}; from seed $seed, for $2 minutes"
while :; do
    logs=(untimed timed traced timed)
    times=${logs[++round % 4]}
    for driver in "${drivers[@]}"; do
        for way in layer attached; do
            mapfile -t words < <(environment "$driver" "$way" "$times")
            command=(env "${words[@]}" "$place/bin/belfry-random")
            [[ $way == layer ]] || command+=(--attach)
            rm -f "$folder"/*.pftrace # none is overwritten
            timeout -k 5 900 "${command[@]}" --count "$count" --seed "$seed" >"$log" 2>&1
            code=$?
            if ((code)); then
                complain "$code" "${command[@]}"
                exit 1
            fi
            echo "round $round, $driver, $way, $times: $count programs from seed $seed"
            ((total += count, seed += count))
            if (($(date +%s) >= end)); then
                echo "soak: $total programs and no violation"
                exit 0
            fi
        done
    done
done
