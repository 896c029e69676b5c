#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# builds.sh RUNNER CORPUS LEAST: the corpus has at least LEAST shaders, each compiled in both forms.
# Prints how many there are, and what was skipped.
set -euo pipefail
runner=$1 corpus=$2 least=$3

list=$("$runner" --corpus "$corpus" --list) || exit
printf '%s\n' "$list" | grep -E '^(skipped|missing): ' || true
for collection in gl-transitions dolphin; do
    printf '%s: %d shaders\n' "$collection" "$(grep -c "^$collection/" <<<"$list" || true)"
done
tail -n 1 <<<"$list"
count=$(grep -c '^[a-z-]*/.*: [0-9]* bytes' <<<"$list" || true)
if ((count < least)); then
    if grep -q '^missing: ' <<<"$list"; then
        printf 'skipped: %d shaders are there, of %d that are wanted\n' "$count" "$least"
        exit 77
    fi
    printf 'FAILED: %d shaders, fewer than %d\n' "$count" "$least"
    exit 1
fi
