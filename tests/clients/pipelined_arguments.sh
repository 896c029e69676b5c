#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The sample's arguments: what is wrong is named, and nothing runs. And who has one queue is told
# what to do.
. "$BELFRY_TEST_COMMON"
pipelined=$bin/pipelined

# refuses WORD ARGUMENT...: exits with 2 and one line with WORD in it; WORD is the argument at fault.
refuses() {
    local word=$1
    shift
    run plain refused "$pipelined" "$@"
    exits 2 refused
    [[ ! -s refused.out ]] || fail_with "'$*' prints on stdout" refused.out
    [[ $(wc -l <refused.err) == 1 ]] || fail_with "'$*': not one line" refused.err
    grep -qF -- "$word" refused.err || fail_with "'$*': $word isn't named" refused.err
}
for number in --frames --particles; do
    refuses "$number '0'" $number 0
done
for number in --frames --seed --particles --compute-latency --cpu-latency; do
    for wrong in -1 x 1x ' 1' '' 1.5 0x10 4294967296 99999999999999999999; do
        refuses "$number '$wrong'" $number "$wrong"
        refuses "$number '$wrong'" "$number=$wrong"
    done
    refuses "$number" $number
done
refuses "--particles '4000001'" --particles 4000001
refuses "--compute-latency '9'" --compute-latency 9
refuses "--cpu-latency '17'" --cpu-latency 17
for wrong in 160 160x 160x90x1 x90 15x90 160x15 160x8193 160,90 -160x90 ''; do
    refuses "--size '$wrong'" --size "$wrong"
done
refuses --size --frames 5 --size
refuses --headless --headless=1
refuses --gpu --gpu ''
refuses "--out '$folder/none/f.png'" --out "$folder/none/f.png"
refuses "--out '$folder'" --out "$folder"
refuses --out --out
refuses "'--nonsense'" --nonsense
refuses "'nonsense'" --frames 5 nonsense
refuses "'--frame'" --frame 5
refuses "'-'" -
[[ ! -e none ]] || fail 'a folder was made'

run plain help "$pipelined" --help
exits 0 help
for option in --frames --size --out --seed --particles --headless --gpu --compute-latency \
    --cpu-latency; do
    says help.out "  $option "
done
[[ ! -s help.err ]] || fail_with '--help prints on stderr' help.err
"$pipelined" --help >/dev/full 2>full.err && fail 'help on a full disk looks like success'

small=(--headless --size 64x48 --particles 100 --frames 2)
run append works "$pipelined" "${small[@]}"
[[ $code != 77 ]] || skip "$(<works.err)"
exits 0 works
says works.out '2 frames of 64x48'
run append nobody "$pipelined" "${small[@]}" --gpu 'no such GPU'
exits 77 nobody
says nobody.err 'no such GPU'
BELFRY_GPU='no such GPU' run append nobody "$pipelined" "${small[@]}"
exits 77 nobody
run append full "$pipelined" "${small[@]}" --out /dev/full
exits 1 full
says full.err /dev/full

# One real queue is not enough.
if grep -q llvmpipe works.out; then
    for how in plain native; do
        run $how alone "$pipelined" "${small[@]}" --out alone.png
        exits 77 alone
        says alone.err 'needs two'
        says alone.err "'belfry run -- pipelined'"
        [[ ! -e alone.png ]] || fail 'there is a picture all the same'
    done
fi
conclude
