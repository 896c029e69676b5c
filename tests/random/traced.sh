#!/bin/sh
# SPDX-License-Identifier: MIT
# traced.sh PROGRAM ARGUMENTS: runs the program with Belfry's trace on, into a folder that goes again.
folder=$(mktemp -d) || exit 2
trap 'rm -rf "$folder"' EXIT
VK_BELFRY_MULTI_ENGINE_TRACE=$folder/random.pftrace "$@" || exit
# The first device's, or neither the layer nor the library was there at all.
[ -s "$folder/random.pftrace" ] || {
    echo "traced.sh: no trace was written"
    exit 1
}
