#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The arguments of the samples in Belfry's own API: what is wrong is named, and nothing runs. They need
# no layer and one VkQueue.
. "$BELFRY_TEST_COMMON"

# refuses WORD ARGUMENT...: $sample exits with 2 and one line with WORD in it.
refuses() {
    local word=$1
    shift
    run plain refused "$bin/$sample" "$@"
    exits 2 refused
    [[ ! -s refused.out ]] || fail_with "$sample '$*' prints on stdout" refused.out
    [[ $(wc -l <refused.err) == 1 ]] || fail_with "$sample '$*': not one line" refused.err
    grep -qF -- "$word" refused.err || fail_with "$sample '$*': $word isn't named" refused.err
}

for sample in async engines streaming training doorbell priority; do
    numbers=(--frames --seed)
    [[ $sample != streaming ]] || numbers+=(--ring --chunk)
    for number in "${numbers[@]}"; do
        for wrong in -1 x '' 1.5 4294967296; do
            refuses "$number '$wrong'" $number "$wrong"
        done
        refuses "$number" $number
    done
    refuses "--frames '0'" --frames 0
    refuses "--size '15x90'" --size 15x90
    refuses "--size '160'" --size 160
    refuses "--out '$folder/none/f.png'" --out "$folder/none/f.png"
    refuses "'--nonsense'" --nonsense

    run plain help "$bin/$sample" --help
    exits 0 help
    for option in --frames --size --out --seed --headless --gpu; do
        says help.out "  $option "
    done
    [[ ! -s help.err ]] || fail_with "$sample --help prints on stderr" help.err

    small=(--size 64x48 --frames 2)
    run plain works "$bin/$sample" "${small[@]}" --headless
    [[ $code != 77 ]] || skip "$(<works.err)"
    exits 0 works
    says works.out ', attached: 2 '
    run append works "$bin/$sample" "${small[@]}" --headless
    exits 0 works
    says works.out ', through the layer: 2 '
    [[ ! -s works.err ]] || fail_with "$sample talks unasked" works.err
    run plain nobody "$bin/$sample" "${small[@]}" --gpu 'no such GPU'
    exits 77 nobody
    says nobody.err 'no such GPU'
    run plain full "$bin/$sample" "${small[@]}" --out /dev/full
    exits 1 full
    says full.err /dev/full
done

sample=streaming
refuses "--ring '0'" --ring 0
refuses "--ring '9'" --ring 9
refuses "--chunk '0'" --chunk 0
refuses "--chunk '8388609'" --chunk 8388609
refuses "'$folder/none': No such file" --file "$folder/none"
refuses "'$folder' is no regular file" --file "$folder"
refuses "'/dev/zero' is no regular file" --file /dev/zero
mkfifo pipe
refuses "'pipe' is no regular file" --file pipe # and does not wait for somebody to write
: >empty
refuses "'empty' is empty" --file empty
if ((EUID != 0)); then
    : >secret && chmod 0 secret
    refuses "'secret': Permission denied" --file secret
fi
sample=training
refuses "--flow 'quickly'" --flow quickly
refuses "--flow" --flow
for flow in benchmark pix; do
    run plain $flow "$bin/training" --size 64x48 --frames 40 --headless --flow $flow
    exits 0 $flow
    says $flow.out "$flow after "
    says $flow.out 'is not used by anyone'
done
conclude
