#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# draw.sh RUNNER CORPUS BASELINE OPTIONS CONFIGURATION...: draws the corpus once in each configuration,
# and compares every frame's hash with the file BASELINE. OPTIONS are the runner's, in one word.
#
# A configuration is one argument: settings of the environment, as in 'NAME=value NAME=value', and
# options of the runner on top, in the form --name=value. The word 'layer' stands for Belfry's layer,
# 'plain' for nothing. 'variants=N': the layer's report must name N variants at least, of as many
# compute shaders of the whole corpus, that were published. Where the first one is 'baseline', the file is not compared with but made, by a plain run.
set -euo pipefail
runner=$1 corpus=$2 baseline=$3
read -ra options <<<"$4"
shift 4

[[ -d $corpus ]] || {
    printf 'skipped: there is no corpus; corpus_prepare says why\n'
    exit 77
}
least=0 caches=0
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# draw FILE WORD...: both forms at once, each in a process of its own: a driver without a GPU spends
# its time in one thread per process, compiling.
draw() {
    local out=$1 word environment=() extra=() form process processes=() status failed=0
    shift
    least=0
    for word in "$@"; do
        case $word in
        plain) ;;
        layer)
            environment+=("VK_INSTANCE_LAYERS=VK_LAYER_BELFRY_multi_engine"
                "VK_LAYER_PATH=$BELFRY_TEST_BUILD/lib")
            extra+=(--layer)
            ;;
        variants=*)
            least=${word#*=}
            environment+=("VK_BELFRY_MULTI_ENGINE_REPORT=true"
                "VK_BELFRY_MULTI_ENGINE_CACHE=$work/cache.$((++caches))")
            ;;
        -*) extra+=("$word") ;;
        *) environment+=("$word") ;;
        esac
    done
    for form in compute pass; do
        env "${environment[@]}" "$runner" --corpus "$corpus" --form "$form" "${options[@]}" \
            "${extra[@]}" --out "$out.$form" 2>"$out.$form.errors" &
        processes+=($!)
    done
    for process in "${processes[@]}"; do
        status=0
        wait "$process" || status=$?
        ((status == 0 || failed == 1)) || failed=$status
    done
    grep -hv '^belfry: specialize: ' "$out.compute.errors" "$out.pass.errors" >&2 || true
    ((failed != 77)) || exit 77
    if ((failed)); then
        printf 'FAILED: %s exits with %d\n' "$runner" "$failed"
        exit 1
    fi
    cat "$out.compute" "$out.pass" >"$out"
}

if [[ $1 == baseline ]]; then
    rm -f "$baseline"
    draw "$work/hashes" plain
    mv "$work/hashes" "$baseline"
    printf '%d frames of %d shaders\n' "$(wc -l <"$baseline")" \
        "$(cut -d ' ' -f 1 "$baseline" | sort -u | wc -l)"
    exit 0
fi

[[ -f $baseline ]] || {
    printf 'skipped: there is nothing to compare with\n'
    exit 77
}
failures=0
for configuration in "$@"; do
    read -ra words <<<"$configuration"
    draw "$work/hashes" "${words[@]}"
    if ((least)); then
        published=$(grep -cE '^belfry: specialize: [^ ]+ (kept|unjudged) ' \
            "$work/hashes.compute.errors" || true)
        printf '%s: variants of %d compute shaders\n' "$configuration" "$published"
        grep -h ' pipelines, ' "$work"/hashes.*.errors
        grep -hoE '[0-9]+ (variants rejected|pipelines not watched): [a-z-]+' "$work"/hashes.*.errors || true
        if ((published < least)) && grep -q '^missing ' "$corpus/manifest"; then
            printf 'that are fewer than %d, of a corpus that lacks a collection\n' "$least"
        elif ((published < least)); then
            printf 'FAILED: %s: that are fewer than %d\n' "$configuration" "$least"
            failures=$((failures + 1))
        fi
    fi
    if cmp -s "$baseline" "$work/hashes"; then
        printf '%s: %d frames, all alike\n' "$configuration" "$(wc -l <"$work/hashes")"
    else
        failures=$((failures + 1))
        printf 'FAILED: %s: %d frames differ\n' "$configuration" \
            "$(diff "$baseline" "$work/hashes" | grep -c '^[<>]' | awk '{ print int(($1 + 1) / 2) }')"
        diff "$baseline" "$work/hashes" | head -n 20 || true
    fi
done
((failures == 0))
