#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# windows.sh PRELOAD: vkcube and vkd3d's demos in a window end the same way, say the same and show
# the same picture under the layer as without, and the validation layer, above it and below, has no
# more to say than without it.
. "$BELFRY_TEST_COMMON"
needs vkcube vkd3d-gears vkd3d-triangle
needs_validation
# LD_PRELOAD splits its value at spaces, of which the temporary folder has none.
steady=$folder/steady.so
cp "$1" "$steady" || exit 1
x_start

# steadied NAME FRAMES PROGRAM...: the words that run a program with its picture kept in NAME.ppm.
steadied() {
    local name=$1 frames=$2
    shift 2
    words=(env LD_PRELOAD="$steady" BELFRY_STEADY_PICTURE="$folder/$name.ppm"
        BELFRY_STEADY_FRAMES="$frames" "$@")
}

# A picture of one colour would be equal to any other failure.
colours() { tail -c +16 "$1" | od -An -v -w3 -tx1 | sort -u | wc -l; }

# alike NAME FRAMES PROGRAM...: in every way to run it, the program does what it does alone.
alike() {
    local name=$1 frames=$2 how
    shift 2
    for how in plain append native validated above below; do
        steadied "$name.$how" "$frames" "$@"
        run $how "$name.$how" "${words[@]}"
        exits 0 "$name.$how"
        [[ -s $name.$how.ppm ]] || fail "$name.$how leaves no picture"
        [[ $how != plain ]] || (($(colours "$name.plain.ppm") > 20)) ||
            fail "$name shows $(colours "$name.plain.ppm") colours: that is no picture"
        same "$name.plain.out" "$name.$how.out"
        same "$name.plain.err" "$name.$how.err"
        same "$name.plain.ppm" "$name.$how.ppm"
    done
    for how in above below; do
        [[ -f $name.$how.log ]] || fail "$name.$how: the validation layer hasn't opened its log"
        sort -u "$name.$how.reports" >"$name.$how.set"
    done
    sort -u "$name.validated.reports" >"$name.validated.set"
    for how in above below; do
        comm -13 "$name.validated.set" "$name.$how.set" >"$name.$how.new"
        [[ ! -s $name.$how.new ]] ||
            fail_with "$name: reported with Belfry alone, validation $how:" "$name.$how.new"
        comm -23 "$name.validated.set" "$name.$how.set" >"$name.$how.lost"
        [[ ! -s $name.$how.lost ]] ||
            fail_with "$name: not reported with Belfry, validation $how:" "$name.$how.lost"
    done
}

# The layers are where this test believes them to be.
for order in "above $khronos $ours" "below $ours $khronos"; do
    read -r how first second <<<"$order"
    option=--below
    [[ $how == above ]] || option=--above
    layers_of "$bin/belfry" run $option $khronos -- vkcube --c 1 >"order.$how"
    printf '%s\n' "$first" "$second" >order.expected
    same order.expected "order.$how"
done

for frames in 1 7 200; do
    alike "cube$frames" 0 vkcube --c $frames
done
cmp -s cube1.plain.ppm cube7.plain.ppm && fail 'the cube does not turn'
run plain modes vkcube --c 1 --present_mode 0
if grep -q 'Present mode specified is not supported' modes.err modes.out; then
    echo 'left out: the driver has no VK_PRESENT_MODE_IMMEDIATE_KHR'
else
    alike immediate 0 vkcube --c 7 --present_mode 0
    same cube7.plain.ppm immediate.append.ppm
fi
alike staging 0 vkcube --c 7 --use_staging --width 333 --height 222

# It does wrong on purpose here. That it is reported at all shows that silence means something.
alike errors 0 vkcube --c 3 --force_errors
[[ $(wc -l <errors.validated.set) -ge 2 ]] ||
    fail_with 'vkcube --force_errors is not reported' errors.validated.log

steadied demos 1 vkd3d-gears
run plain demos "${words[@]}"
demos=(gears150 triangle)
if lacks=$(grep -o 'Required device extension "[A-Za-z_0-9]*" is not supported' demos.err); then
    echo "left out: vkd3d's demos: $lacks"
    demos=()
else
    for frames in 1 150; do
        alike "gears$frames" $frames vkd3d-gears
    done
    cmp -s gears1.plain.ppm gears150.plain.ppm && fail 'the gears do not turn'
    alike triangle 1 vkd3d-triangle # draws when its window is exposed: once
fi
for name in cube200 "${demos[@]}"; do
    silent $name.above $name.below
done

# Every present passed through Belfry.
"$bin/belfry" run --summary --trace cube.pftrace -- vkcube --c 30 >counted.out 2>counted.err
code=$?
exits 0 counted
says counted.err ' 30 presents'
"$bin/belfry-trace-check" cube.pftrace vkcube - >check 2>&1 ||
    fail_with 'the timeline of the cube is not as it should be:' check
if [[ ${#demos[@]} -gt 0 ]]; then
    steadied gears 30 vkd3d-gears
    "$bin/belfry" run --summary --trace gears.pftrace -- "${words[@]}" >counted.out 2>counted.err
    code=$?
    exits 0 counted
    says counted.err ' 30 presents'
    "$bin/belfry-trace-check" gears.pftrace vkd3d-gears - >check 2>&1 ||
        fail_with 'the timeline of the gears is not as it should be:' check
fi

# Mesa's overlay draws into the program's images by submissions of its own, above Belfry and below.
overlay=VK_LAYER_MESA_overlay
if [[ -f $layers/$overlay.json ]]; then
    for option in --above --below; do
        for program in cube ${demos[0]:+gears}; do
            words=(vkcube --c 30)
            [[ $program == cube ]] || steadied overlay 30 vkd3d-gears
            "$bin/belfry" run $option $overlay -- "${words[@]}" >overlay.out 2>overlay.err
            code=$?
            exits 0 overlay
        done
    done
fi
conclude
