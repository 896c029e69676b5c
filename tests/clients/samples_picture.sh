#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The pictures of the samples in Belfry's own API depend on their arguments and on nothing else: not on
# the way in, the number of queues, or how far one queue gets ahead of another.
. "$BELFRY_TEST_COMMON"
export VK_BELFRY_MULTI_ENGINE_WATCHDOG=30000 # a driver on the CPU may take seconds for a packet

# picture NAME SAMPLE ARGUMENT...: NAME.png; HOW in the environment says how, plain if unset.
picture() {
    local name=$1 sample=$2
    shift 2
    run "${HOW:-plain}" "$name" "$bin/$sample" --size 160x90 --out "$name.png" "$@"
    [[ $code != 77 ]] || skip "$(<"$name.err")"
    exits 0 "$name"
    [[ ! -s $name.err ]] || fail_with "$name talks unasked" "$name.err"
    [[ $(head -c 8 "$name.png" | od -An -tx1) == ' 89 50 4e 47 0d 0a 1a 0a' ]] || fail "$name is no PNG"
    [[ $(wc -c <"$name.png") -gt 3000 ]] || fail "$name.png is too small to show anything"
}
differ() { ! cmp -s "$1" "$2" || fail "$1 and $2 are the same"; }

# The curves of training and priority are of times, and the counters of doorbell are of what the threads
# found: they differ from run to run, and so does how far priority's background is.
for sample in async engines streaming 'training --no-curve' 'doorbell --no-counters' \
    'priority --in-step'; do
    read -r sample plain <<<"$sample"
    picture $sample $sample --frames 5 --seed 7 $plain
    picture $sample.again $sample --frames 5 --seed 7 $plain
    same $sample.png $sample.again.png
    picture $sample.seed $sample --frames 5 --seed 9 $plain
    differ $sample.png $sample.seed.png
    picture $sample.frames $sample --frames 4 --seed 7 $plain
    differ $sample.png $sample.frames.png
    for how in append native; do
        HOW=$how picture $sample.$how $sample --frames 5 --seed 7 $plain
        says $sample.$how.out 'through the layer'
        same $sample.png $sample.$how.png
    done
    VK_BELFRY_MULTI_ENGINE_QUEUES_PER_FAMILY=1 HOW=append \
        picture $sample.one_queue $sample --frames 5 --seed 7 $plain
    same $sample.png $sample.one_queue.png
done

# A device that is lost on the way: another one in the same process draws the same.
for how in plain append; do
    run $how lost "$bin/async" --size 160x90 --out lost.png --frames 5 --seed 7 --remove-at 3
    exits 0 lost
    says lost.err 'the device is lost, for reason 1'
    same async.png lost.png
done

# A file of a size that no chunk divides, through rings of all lengths: all of it is in the picture.
head -c 100001 "$bin/streaming" >file
picture file streaming --file file --chunk 30000
says file.out '4 chunks of 30000 bytes'
for ring in 1 2 4 8; do
    picture ring streaming --file file --chunk 30000 --ring $ring
    same file.png ring.png
done
HOW=append picture ring streaming --file file --chunk 30000 --ring 1
same file.png ring.png
head -c 100000 file >shorter
printf '\377' >>shorter
cmp -s file shorter && printf '\376' | dd of=shorter bs=1 seek=100000 conv=notrunc 2>dd.err
picture last_byte streaming --file shorter --chunk 30000
differ file.png last_byte.png

# How it is cut into chunks isn't seen.
for chunk in 100001 8192 5001; do
    picture chunk streaming --file file --chunk $chunk
    same file.png chunk.png
done

# From where the file ends it begins anew; two times the file, or a part of the second.
picture twice streaming --file file --chunk 30000 --frames 8
says twice.out '8 chunks of 30000 bytes'
differ file.png twice.png
# Sizes around a chunk, and so few bytes that those which follow come from the beginning.
for size in 1 2 3 4095 4096 4097 8192; do
    head -c $size file >part
    picture part streaming --file part --chunk 4096
    says part.out "$(((size + 4095) / 4096)) chunk"
done
# The last byte's point is there, and the bytes after it are the first ones: with one byte it is where
# it is among many of the same value.
tr '\0' x </dev/zero | head -c 5 >five
head -c 1 five >one
picture one streaming --file one
picture five streaming --file five --chunk 1 --frames 1
same one.png five.png
printf y >other
picture other streaming --file other
differ one.png other.png
# Whether shaders are built while frames go on, or in between, isn't seen either.
for flow in benchmark pix; do
    for mode in true false; do
        VK_BELFRY_MULTI_ENGINE_DEVELOPER_MODE=$mode HOW=append \
            picture flow training --frames 5 --seed 7 --no-curve --flow $flow
        same training.png flow.png
    done
done
picture curve training --frames 5 --size 320x180
picture none training --frames 5 --size 320x180 --no-curve
differ curve.png none.png
conclude
