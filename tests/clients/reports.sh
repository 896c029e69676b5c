#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# reports.sh PRELOAD: 'belfry trace' says of vkcube, vkd3d's demos and the samples what they do. What is
# true of each is in reports.py.
. "$BELFRY_TEST_COMMON"
needs vkcube python3
steady=$folder/steady.so
cp "$1" "$steady" || exit 1
x_start

# reported NAME PROGRAM...: runs the program, and compares the report with what is known of NAME.
reported() {
    local name=$1
    shift
    "$bin/belfry" run --set specialize=off --trace "$name.pftrace" -- "$@" >"$name.out" 2>"$name.err" </dev/null
    code=$?
    [[ $code != 77 ]] || return 0 # no device that the sample takes
    if lacks=$(grep -o 'Required device extension "[A-Za-z_0-9]*" is not supported' "$name.err"); then
        echo "left out: $name: $lacks"
        return
    fi
    exits 0 "$name"
    says "$name.err" "belfry trace $folder/$name.pftrace"
    "$bin/belfry" trace "$name.pftrace" >"$name.report" 2>"$name.complaint" ||
        fail_with "$name has no report:" "$name.complaint"
    "$bin/belfry" trace --json "$name.pftrace" >"$name.json" 2>>"$name.complaint"
    [[ ! -s $name.complaint ]] || fail_with "$name: it complains:" "$name.complaint"
    python3 "${BASH_SOURCE%.sh}.py" "$name" "$name.json" "$name.report" >"$name.wrong" 2>&1 || {
        cat "$name.report"
        fail_with "$name:" "$name.wrong"
    }
}

reported vkcube vkcube --c 30
for demo in gears:30 triangle:1; do
    command -v "vkd3d-${demo%:*}" >/dev/null || continue
    reported "vkd3d-${demo%:*}" env LD_PRELOAD="$steady" BELFRY_STEADY_PICTURE="$folder/picture.ppm" \
        BELFRY_STEADY_FRAMES="${demo#*:}" "vkd3d-${demo%:*}"
done
small=(--headless --size 160x90)
for sample in async:3 engines:4 streaming:6 training:6 pipelined:6; do
    [[ -x $bin/${sample%:*} ]] || continue
    options=("${small[@]}" --frames "${sample#*:}")
    [[ $sample != pipelined* ]] || options+=(--particles 3000)
    reported "${sample%:*}" "$bin/${sample%:*}" "${options[@]}"
done
conclude
