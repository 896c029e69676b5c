#!/bin/sh
# SPDX-License-Identifier: MIT
# needs.sh NM READELF LIBRARY: libbelfry has nothing of SPIRV-Tools and nothing of C++, neither as a
# library that it needs nor linked into it: those are the specialiser's, which the layer alone has.
nm=$1
readelf=$2
library=$3

needed=$("$readelf" -d "$library" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p') || exit 1
foreign=$(echo "$needed" | grep -E 'SPIRV|stdc\+\+|c\+\+')
if [ -n "$foreign" ]; then
    echo "$library needs:"
    echo "$foreign"
    exit 1
fi

names=$("$nm" "$library") || exit 1
foreign=$(echo "$names" | awk '$NF ~ /^(spv|_ZN|_ZSt|__cxa_throw|__gxx)/ {print $NF}' | head)
if [ -n "$foreign" ]; then
    echo "$library contains:"
    echo "$foreign"
    exit 1
fi
