#!/bin/sh
# SPDX-License-Identifier: MIT
# run_settings.sh PROGRAM: which settings 'belfry run' has a program get, beside a settings file and variables of the
# user's.
belfry=$1
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 1
failures=0
for name in $(env | sed -n 's/^\(\(VK\|XDG\|BELFRY\|DISABLE_BELFRY\)[A-Z_]*\)=.*/\1/p'); do
    unset "$name"
done
export HOME="$folder/home"

fail() {
    echo "FAILED: $*"
    sed 's/^/    stdout: /' out
    sed 's/^/    stderr: /' err
    failures=$((failures + 1))
}
run() {
    "$belfry" run "$@" -- env >out 2>err || fail "'belfry run $*' fails"
}
sets() { grep -qxF -- "VK_BELFRY_MULTI_ENGINE_$1" out || fail "no $1"; }
leaves() { ! grep -q -- "^VK_BELFRY_MULTI_ENGINE_$1=" out || fail "$1 is set"; }
silent() { [ ! -s err ] || fail "stderr isn't empty"; }

# Defaults of 'belfry run' give way to a settings file, 'queues' alone doesn't.
printf 'belfry_multi_engine.watchdog = 0\nbelfry_multi_engine.queues = native\n' >vk_layer_settings.txt
run; leaves WATCHDOG; sets AT_INTERRUPT=true; sets QUEUES=append; silent
echo 'belfry_multi_engine.at_interrupt = false' >>vk_layer_settings.txt
run; leaves WATCHDOG; leaves AT_INTERRUPT
run --set watchdog=7; sets WATCHDOG=7
echo 'belfry_multi_engine.watchdog = never' >vk_layer_settings.txt
run; sets WATCHDOG=1000
mv vk_layer_settings.txt elsewhere
echo 'belfry_multi_engine.watchdog = 0' >elsewhere
VK_LAYER_SETTINGS_PATH="$folder/elsewhere" run; leaves WATCHDOG
rm elsewhere
run; sets WATCHDOG=1000

# What is wrong in a variable is told of, and counts as not there.
VK_BELFRY_MULTI_ENGINE_WATCHDOG=never run; sets WATCHDOG=1000; grep -q "'never'" err || fail 'nobody is told'
VK_MULTI_ENGINE_AT_INTERRUPT=never run; sets AT_INTERRUPT=true; grep -q "'never'" err || fail 'nobody is told'
export VK_MULTI_ENGINE_WATCHDOG=9 # the other variable, which is right, counts
VK_BELFRY_MULTI_ENGINE_WATCHDOG=never run; sets WATCHDOG=never; silent; unset VK_MULTI_ENGINE_WATCHDOG
echo 'belfry_multi_engine.queues = native' >vk_layer_settings.txt
VK_BELFRY_MULTI_ENGINE_QUEUES=many run; sets QUEUES=append; grep -q "'many'" err || fail 'nobody is told'

[ $failures -eq 0 ] || { echo "$failures failed"; exit 1; }
echo "all passed"
