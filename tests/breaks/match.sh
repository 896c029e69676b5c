#!/bin/sh
# SPDX-License-Identifier: MIT
# match.sh CMAKE SCRIPT ROOT: each break in this folder still finds its passage in the sources below ROOT, as
# the build of the broken libraries wants it; told in a second, without building them.
folder=$(mktemp -d) || exit 2
trap 'rm -rf "$folder"' EXIT
failed=0
for file in "$(dirname "$0")"/*.break; do
    if ! "$1" -DBREAK="$file" -DROOT="$3" -DTO="$folder/out.c" -P "$2" >"$folder/said" 2>&1; then
        cat "$folder/said"
        failed=1
    fi
done
exit $failed
