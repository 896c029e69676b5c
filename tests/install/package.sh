#!/bin/sh
# SPDX-License-Identifier: MIT
# package.sh CMAKE BUILD PROBE LIBDIR DATADIR BINDIR INCLUDEDIR: installs the build into a folder,
# moves that elsewhere, builds other people's programs against it, and runs programs with the layer
# from there. Skips what needs a Vulkan driver where there is none.
cmake=$1
build=$2
probe=$3
libdir=$4
datadir=$5
bindir=$6
includedir=$7
source=$(cd "$(dirname "$0")" && pwd)
folder=$(mktemp -d) || exit 1

# The list of what the user installed is not ours to lose.
list="$build/install_manifest.txt"
[ ! -e "$list" ] || mv "$list" "$folder/saved"
finish() {
    rm -f "$list"
    [ ! -e "$folder/saved" ] || mv "$folder/saved" "$list"
    rm -rf "$folder"
}
trap finish EXIT

fail() {
    echo "FAILED: $*"
    exit 1
}

for name in $(env | sed -n 's/^\(\(VK\|XDG\|BELFRY\|DISABLE_BELFRY\)[A-Z_]*\)=.*/\1/p'); do
    [ "$name" = VK_ICD_FILENAMES ] || unset "$name"
done
unset DESTDIR LD_LIBRARY_PATH CMAKE_PREFIX_PATH PKG_CONFIG_PATH
export HOME="$folder/home"
cd "$folder" || exit 1

# --- what is installed, and that it may be moved
"$cmake" --install "$build" --prefix "$folder/first" >log 2>&1 || { cat log; fail 'cmake --install'; }
cp "$list" "$folder/list"
mv "$folder/first" "$folder/moved place" || exit 1
prefix="$folder/moved place"
manifests="$prefix/$datadir/vulkan"
for name in "$libdir/libbelfry.so" "$libdir/libbelfry.so.0.1" "$libdir/libVkLayer_belfry.so" \
    "$includedir/belfry/belfry.h" "$libdir/cmake/Belfry/BelfryConfig.cmake" \
    "$libdir/cmake/Belfry/BelfryConfigVersion.cmake" "$libdir/pkgconfig/belfry.pc" \
    "$datadir/vulkan/explicit_layer.d/VkLayer_belfry_multi_engine.json" \
    "$datadir/vulkan/implicit_layer.d/VkLayer_belfry_multi_engine.json" "$bindir/belfry"; do
    [ -e "$prefix/$name" ] || fail "no $name"
done
helper=belfry/belfry-build-helper # of the specialiser, where there is one
[ ! -e "$build/lib/$helper" ] || [ -e "$prefix/$libdir/$helper" ] || fail "no $libdir/$helper"
# (-I: a binary may carry the build folder in its debug information)
if grep -rIl "$folder/first\|$build" "$prefix"; then
    fail 'these files name a folder that is gone'
fi

# --- other people's programs: CMake
"$cmake" -S "$source/consumer" -B consumer "-DCMAKE_PREFIX_PATH=$prefix" >log 2>&1 ||
    { cat log; fail 'find_package(Belfry)'; }
"$cmake" --build consumer >log 2>&1 || { cat log; fail 'building against Belfry::belfry'; }
for program in consumer_c consumer_cxx; do
    "consumer/$program" || fail "$program, built with CMake"
done

# --- pkg-config, which can't quote blanks
ln -s "$prefix" "$folder/moved"
export PKG_CONFIG_PATH="$folder/moved/$libdir/pkgconfig"
[ "$(pkg-config --modversion belfry)" ] || fail 'pkg-config --modversion belfry'
flags=$(pkg-config --cflags --libs belfry) || fail 'pkg-config --cflags --libs belfry'
# shellcheck disable=SC2086
{
    ${CC:-cc} -std=c11 "$source/consumer/consumer.c" -o pc_c $flags || fail 'C with pkg-config'
    ${CXX:-c++} -std=c++17 "$source/consumer/consumer.cpp" -o pc_cxx $flags || fail 'C++ with pkg-config'
}
for program in pc_c pc_cxx; do
    LD_LIBRARY_PATH="$prefix/$libdir" "./$program" || fail "$program, built with pkg-config"
done

# --- the command
belfry="$prefix/$bindir/belfry"
"$belfry" --version >log || fail 'belfry --version'
"$belfry" settings | grep -q 'queues = append' || fail 'belfry settings'
"$belfry" run env | grep -qxF \
    "VK_ADD_LAYER_PATH=$manifests/explicit_layer.d/VkLayer_belfry_multi_engine.json" ||
    fail 'belfry run finds the manifest'

# --- the layer, if there is a driver
layer="$prefix/$libdir/libVkLayer_belfry.so"

# look [NAME=VALUE]... COMMAND...: what the command finds in that environment, in "found"
look() {
    found=$(env "$@" 2>log)
    code=$?
    [ $code -ne 77 ] || { echo 'no Vulkan driver: the layer was not tried'; exit 77; }
    [ $code -eq 0 ] || { cat log; fail "$* exits with $code: $found"; }
}
export VK_BELFRY_MULTI_ENGINE_QUEUES_PER_FAMILY=64 # for GPUs that lack no family
real() { readlink -f "$1"; }
loaded_is() {
    [ "$(real "${found##* layer=}")" = "$(real "${1:-$layer}")" ] || fail "the wrong layer: $found"
}
field() { echo "$found" | sed "s/.*$1=\([0-9]*\).*/\1/"; }

look "$probe"
families=$(field families)
queues=$(field queues)
case $found in *"listed=0"*"layer=none") ;; *) fail "without the layer: $found" ;; esac
more() { [ "$(field families)" -gt "$families" ] || [ "$(field queues)" -gt "$queues" ]; }
same() { [ "$(field families)" -eq "$families" ] && [ "$(field queues)" -eq "$queues" ]; }

look "VK_LAYER_PATH=$manifests/explicit_layer.d" "$probe"
case $found in *"listed=1"*"layer=none") ;; *) fail "listed but not asked for: $found" ;; esac
same || fail "not asked for, yet at work: $found"

look "VK_LAYER_PATH=$manifests/explicit_layer.d" VK_INSTANCE_LAYERS=VK_LAYER_BELFRY_multi_engine "$probe"
loaded_is; more || fail "asked for, yet adds nothing: $found"
look "VK_LAYER_PATH=$manifests/explicit_layer.d" VK_INSTANCE_LAYERS=VK_LAYER_BELFRY_multi_engine \
    "$probe" native
loaded_is; same || fail "queues=native by the API: $found"
look "VK_LAYER_PATH=$manifests/explicit_layer.d" VK_INSTANCE_LAYERS=VK_LAYER_BELFRY_multi_engine \
    VK_BELFRY_MULTI_ENGINE_QUEUES=native "$probe"
loaded_is; same || fail "queues=native by the environment: $found"

look "$belfry" run "$probe"
loaded_is; more || fail "belfry run: $found"
look "$belfry" run --queues native "$probe"
loaded_is; same || fail "belfry run --queues native: $found"

# Two of them: each command takes its own.
look "XDG_DATA_HOME=$prefix/$datadir" "$belfry" run "$probe"
loaded_is
look "XDG_DATA_HOME=$prefix/$datadir" "$build/bin/belfry" run "$probe"
loaded_is "$build/lib/libVkLayer_belfry.so"

look "XDG_DATA_HOME=$prefix/$datadir" "$probe"
case $found in *"layer=none") ;; *) fail "implicit, not switched on: $found" ;; esac
look "XDG_DATA_HOME=$prefix/$datadir" BELFRY=1 "$probe"
loaded_is; same || fail "implicit: native is the default: $found"
look "XDG_DATA_HOME=$prefix/$datadir" BELFRY=1 VK_BELFRY_MULTI_ENGINE_QUEUES=append "$probe"
loaded_is; more || fail "implicit, queues=append: $found"
look "XDG_DATA_HOME=$prefix/$datadir" BELFRY=1 VK_INSTANCE_LAYERS=VK_LAYER_BELFRY_multi_engine "$probe"
loaded_is; more || fail "switched on and asked for: $found"
look "XDG_DATA_HOME=$prefix/$datadir" BELFRY=1 DISABLE_BELFRY=1 "$probe"
case $found in *"layer=none") ;; *) fail "implicit, switched off: $found" ;; esac

look BELFRY=1 VK_INSTANCE_LAYERS=VK_LAYER_BELFRY_multi_engine \
    "VK_LAYER_PATH=$manifests/explicit_layer.d" "$belfry" list
echo "$found" | grep -q "driver's queue families" || fail "belfry list: $found"

# --- taken back
rm "$folder/moved"
mv "$prefix" "$folder/first"
cp "$folder/list" "$list"
"$cmake" "-DMANIFEST=$list" -P "$source/../../cmake/uninstall.cmake" >log 2>&1 || { cat log; fail 'uninstall'; }
[ -z "$(find "$folder/first" ! -type d)" ] || fail "left behind: $(find "$folder/first" ! -type d)"
[ -z "$(find "$folder/first" -iname belfry)" ] || fail 'empty folders of ours are left behind'
echo 'all passed'
