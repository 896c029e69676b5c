#!/bin/sh
# SPDX-License-Identifier: MIT
# Every public header compiles alone, in each language it is for, however strict the compiler.
# Usage: headers.sh C_COMPILER CXX_COMPILER INCLUDE_FOLDER
set -u
c=$1 cxx=$2 include=$3
failed=0 checked=0
strict="-Wall -Wextra -Wpedantic -Werror -fsyntax-only"
for header in "$include"/belfry/*.h; do
    name=belfry/$(basename "$header")
    for standard in c99 c11 c++11 c++17; do
        case $standard in
            c++*) compiler=$cxx language=c++ ;;
            *) compiler=$c language=c ;;
        esac
        # shellcheck disable=SC2086
        "$compiler" -x $language -std=$standard $strict -I"$include" -include "$name" /dev/null ||
            { echo "$name as $standard with $compiler: does not compile" >&2; failed=1; }
        checked=$((checked + 1))
    done
done
[ $checked -ge 16 ] || { echo "only $checked headers and standards were checked" >&2; failed=1; }
exit $failed
