#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The sample's picture depends on its arguments and on nothing else.
. "$BELFRY_TEST_COMMON"
pipelined=$bin/pipelined
small=(--size 160x90 --particles 3000)

# picture NAME ARGUMENT...: NAME.png; HOW in the environment says how, append if unset.
picture() {
    local name=$1
    shift
    run "${HOW:-append}" "$name" "$pipelined" "${small[@]}" --out "$name.png" "$@"
    [[ $code != 77 ]] || skip "$(<"$name.err")"
    exits 0 "$name"
    [[ $(head -c 8 "$name.png" | od -An -tx1) == ' 89 50 4e 47 0d 0a 1a 0a' ]] || fail "$name is no PNG"
    # One colour packs into a few hundred bytes.
    [[ $(wc -c <"$name.png") -gt 3000 ]] || fail "$name.png is too small to show anything"
}
differ() { ! cmp -s "$1" "$2" || fail "$1 and $2 are the same"; }

picture first --frames 12 --seed 7
says first.out '12 frames of 160x90'
says first.out '3000 particles'
picture again --frames 12 --seed 7
same first.png again.png
picture seed --frames 12 --seed 8
differ first.png seed.png
picture frames --frames 11 --seed 7
differ first.png frames.png
picture particles --frames 12 --seed 7 --particles 3001
differ first.png particles.png

# How far each runs ahead is not seen in the picture: all versions of the data are kept apart.
for latencies in '0 0' '0 16' '8 0' '8 16' '1 2'; do
    picture ahead --frames 12 --seed 7 --compute-latency "${latencies% *}" \
        --cpu-latency "${latencies#* }"
    same first.png ahead.png
done
# Nor is what watches, nor how many queues there are.
export VK_BELFRY_MULTI_ENGINE_QUEUES_PER_FAMILY=1
picture one_queue --frames 12 --seed 7
unset VK_BELFRY_MULTI_ENGINE_QUEUES_PER_FAMILY
same first.png one_queue.png
export VK_BELFRY_MULTI_ENGINE_TRACE=$folder/trace.pftrace
picture traced --frames 12 --seed 7
unset VK_BELFRY_MULTI_ENGINE_TRACE
same first.png traced.png
[[ -s trace.pftrace ]] || fail 'it was not traced'

# An old picture gives way.
printf 'old' >over.png
picture over --frames 12 --seed 7
same first.png over.png
conclude
