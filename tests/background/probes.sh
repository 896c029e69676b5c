#!/bin/sh
# probes.sh LIBRARY: the static probes are in the library's notes, each with its three arguments.
notes=$(readelf --notes --wide "$1") || exit 1
for name in begin end cancel mode commit done; do
    printf '%s\n' "$notes" | grep -A 4 "Name: background_$name\$" |
        grep -q 'Arguments: 8@.* 8@.* 8@' && continue
    printf 'no probe background_%s with three arguments\n' "$name" >&2
    exit 1
done
count=$(printf '%s\n' "$notes" | grep -c 'Provider: belfry')
test "$count" -ge 6
