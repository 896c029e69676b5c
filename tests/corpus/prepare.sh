#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# prepare.sh WRAP VERTEX FOLDER: makes the corpus in FOLDER (corpus.h) from shaders that other people
# published, of which none is in this repository:
#
#  - gl-transitions (MIT), one version of the npm package, fetched once into the user's cache
#    (${XDG_CACHE_HOME:-~/.cache}/belfry-corpus) and looked at byte by byte: from there it works
#    offline;
#  - the post-processing shaders of Dolphin, from Debian's package dolphin-emu-data.
#
# Exits with 77 and says why when one of them can't be had; the corpus then has the other alone. When
# there is neither, there is no corpus.
set -euo pipefail

wrap=$1 vertex=$2 folder=$3

package=gl-transitions-1.71.0.tgz
url=https://registry.npmjs.org/gl-transitions/-/$package
sum=25d4ca522e9af1fbad3054bd4c7683fae5264949111cce0f14ff1d2e81148ea3
dolphin=/usr/share/games/dolphin-emu/sys/Shaders

cache=${XDG_CACHE_HOME:-${HOME:-/nonexistent}/.cache}/belfry-corpus
work=$folder.$$
trap 'rm -rf "$work"' EXIT
rm -rf "$folder"
mkdir -p "$work"

sum_of() { sha256sum "$1" 2>/dev/null | cut -d ' ' -f 1; }

# Leaves the path in $archive, or says in $why_not why there is none.
archive='' why_not=''
fetch() {
    archive=$cache/$package
    [[ $(sum_of "$archive") != "$sum" ]] || return 0
    # A home that can't be written to is no reason to do without.
    mkdir -p "$cache" 2>/dev/null && [[ -w $cache ]] || archive=$work/$package
    if ! command -v curl >/dev/null; then
        why_not='there is no curl to fetch it with'
        return 1
    fi
    if ! curl --fail --silent --show-error --location --proto '=https' --connect-timeout 10 \
        --max-time 120 --output "$archive.$$" "$url" 2>"$work/curl.log"; then
        rm -f "$archive.$$"
        why_not="not fetched: $(head -n 1 "$work/curl.log")"
        return 1
    fi
    if [[ $(sum_of "$archive.$$") != "$sum" ]]; then
        printf 'FAILED: %s has the SHA-256 %s, not %s\n' "$url" "$(sum_of "$archive.$$")" "$sum"
        rm -f "$archive.$$"
        exit 1
    fi
    mv "$archive.$$" "$archive"
}

arguments=(--out "$work/corpus" --vertex "$vertex") absent=()
if fetch; then
    tar -xzf "$archive" -C "$work" --no-same-owner package/transitions
    arguments+=(--transitions "$work/package/transitions")
else
    arguments+=(--missing "gl-transitions=$why_not")
    absent+=("gl-transitions: $why_not")
fi
if [[ -d $dolphin ]]; then
    arguments+=(--dolphin "$dolphin")
else
    arguments+=(--missing "dolphin=dolphin-emu-data isn't installed")
    absent+=("dolphin: dolphin-emu-data isn't installed")
fi

if ((${#absent[@]} < 2)); then
    status=0
    "$wrap" "${arguments[@]}" || status=$?
    ((status == 0)) || exit "$status"
    mv "$work/corpus" "$folder"
fi
if ((${#absent[@]})); then
    printf 'skipped: %s\n' "${absent[@]}"
    exit 77
fi
