#!/bin/sh
# SPDX-License-Identifier: MIT
# exports.sh NM LAYER LIBRARY: the layer exports the one symbol that the loader asks for, so that
# nothing in it can be mistaken for another layer's; the library only names that begin like ours.
nm=$1
layer=$2
library=$3

exported=$("$nm" -D --defined-only "$layer" | awk '{print $3}') || exit 1
if [ "$exported" != vkNegotiateLoaderLayerInterfaceVersion ]; then
    echo "$layer exports:"
    echo "$exported"
    exit 1
fi

foreign=$("$nm" -D --defined-only "$library" | awk '$2 != "A" && $3 !~ /^(bf[A-Z]|bf_)/ {print $3}')
if [ -n "$foreign" ]; then
    echo "$library exports:"
    echo "$foreign"
    exit 1
fi
