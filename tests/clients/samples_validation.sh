#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The validation layer, synchronisation included, finds nothing wrong with what the samples in Belfry's
# own API do, nor with what Belfry makes of it: attached, where it sees all of both, and below the
# layer. In windows too, which are given other sizes and closed while they draw.
. "$BELFRY_TEST_COMMON"
needs_validation
small=(--size 160x90)

for sample in async engines streaming training 'doorbell --no-counters' 'priority --in-step'; do
    read -r sample plain <<<"$sample"
    run plain bare "$bin/$sample" "${small[@]}" --frames 5 --out bare.png $plain
    [[ $code != 77 ]] || skip "$(<bare.err)"
    exits 0 bare
    for how in validated above below; do
        run $how $sample.$how "$bin/$sample" "${small[@]}" --frames 5 --out $how.png $plain
        exits 0 $sample.$how
        silent $sample.$how
        same bare.png $how.png
    done
done
run validated ring "$bin/streaming" "${small[@]}" --ring 1 --frames 12 --headless
exits 0 ring
silent ring
run validated curve "$bin/training" --size 320x180 --frames 12 --flow pix --headless
exits 0 curve
silent curve

run validated flood "$bin/priority" "${small[@]}" --frames 8 --headless
exits 0 flood
silent flood

# Without a display there would be no window, and no message.
x_start
for sample in async engines streaming training; do
    for how in validated below; do
        run $how window.$sample.$how "$bin/$sample" "${small[@]}" --frames 6
        exits 0 window.$sample.$how
        [[ ! -s window.$sample.$how.err ]] ||
            fail_with "$sample: a window with complaints" window.$sample.$how.err
        silent window.$sample.$how
    done
    for way in 'validated at-once' 'validated drawn' 'below drawn'; do
        how=${way% *} when=${way#* } name=closed.$sample.${way/ /.}
        "$bin/belfry-poke" $when 2>poke.err &
        poke=$!
        run $how $name "$bin/$sample" "${small[@]}"
        wait $poke || fail_with 'the window was not closed by us' poke.err
        exits 0 $name
        silent $name
    done
done
# From above Belfry the validation layer sees images presented that nobody, as far as it knows, has
# drawn to, and finds nothing else.
undrawn='^VUID-VkPresentInfoKHR-pImageIndices-01296('
for sample in async streaming; do
    name=window.$sample.above
    run above $name "$bin/$sample" "${small[@]}" --frames 6
    exits 0 $name
    [[ ! -s $name.err ]] || fail_with "$sample: a window with complaints" $name.err
    [[ $(grep -c "$undrawn" $name.reports) == 6 ]] || fail_with "$sample: nothing seen" $name.reports
    sed -i "/$undrawn/d" $name.reports
    silent $name
done
conclude
