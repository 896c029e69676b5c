#!/bin/sh
# SPDX-License-Identifier: MIT
# run.sh PROGRAM MAKER: what 'belfry' sets, says and exits with, with no GPU's driver. 'MAKER FILE
# MEBIBYTES' writes a trace.
belfry=$1
maker=$2
here=$(cd "$(dirname "$belfry")" && pwd -P)
manifest=$(cd "$here/../lib" && pwd -P)/VkLayer_belfry_multi_engine.json
ours=VK_LAYER_BELFRY_multi_engine
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 1
failures=0

# The surroundings must not matter.
for name in $(env | sed -n 's/^\(\(VK\|XDG\|BELFRY\|DISABLE_BELFRY\)[A-Z_]*\)=.*/\1/p'); do
    [ "$name" = BELFRY_TEST_BUILD ] || unset "$name"
done
export HOME="$folder/home"

fail() {
    echo "FAILED: $*"
    sed 's/^/    stdout: /' out
    sed 's/^/    stderr: /' err
    failures=$((failures + 1))
}

# run CODE ARGUMENT...: runs belfry, with what it says in the files out and err.
run() {
    expected=$1
    shift
    "$belfry" "$@" >out 2>err
    code=$?
    [ $code -eq "$expected" ] || fail "'belfry $*' exits with $code, not $expected"
}

# says FILE TEXT, silent FILE, sets NAME VALUE, lines FILE NUMBER
says() { grep -qF -- "$2" "$1" || fail "no '$2' in $1"; }
silent() { [ ! -s "$1" ] || fail "$1 isn't empty"; }
sets() { grep -qxF -- "$1=$2" out || fail "no $1=$2"; }
unset_in_out() { ! grep -q "^$1=" out || fail "$1 is set"; }
lines() { [ "$(wc -l <"$1")" -eq "$2" ] || fail "not $2 lines in $1"; }

run 0 --help; says out 'belfry run'; silent err
run 0 -h; run 0 help; run 2; says out 'Usage'
run 0 --version; says out 'belfry 0.'; run 0 -V
run 0 help run; says out '--below'; run 0 run --help; says out '--below'
run 0 help list; run 0 help settings; run 0 help trace; run 0 help top
run 2 nonsense; says err "'nonsense'"; lines err 1
run 2 --nonsense; lines err 1
# What is near is suggested, and nothing else.
run 2 tarce x; says err "did you mean 'trace'?"; run 2 help lst; says err "did you mean 'list'?"
run 2 --verson; says err "did you mean '--version'?"
run 2 run --tarce x -- echo; says err "did you mean '--trace'?"; lines err 1
run 2 trace --vsg=x y; says err "did you mean '--svg'?"; run 2 run -t x; says err "option '-t' ("
for wrong in nonsense --nonsense 'run --nonsense' 'run --queues many echo' 'run --set colour=red echo' \
    'run --set queues_per_family=65 echo'; do
    run 2 $wrong
    grep 'did you mean' err && fail "'$wrong' gets a suggestion"
done
run 2 help nonsense; lines err 1
run 2 settings now; lines err 1
run 2 top x; says err "'x' is no process id"; run 2 top 1 2; lines err 1; run 2 top --onse; says err "'--once'?"
run 1 top 2147483647; says err 'there is no process'; lines err 1
run 1 top --once $$; says err 'no device whose watchdog is on'; lines err 1
run 2 list now; lines err 1

"$belfry" settings >/dev/full 2>err && fail 'a full disk looks like success'
says err 'standard output'

# What a program gets.
run 0 run -- env; silent err
sets VK_ADD_LAYER_PATH "$manifest"; sets VK_INSTANCE_LAYERS $ours
sets VK_BELFRY_MULTI_ENGINE_QUEUES append; unset_in_out VK_LAYER_PATH; sets VK_BELFRY_MULTI_ENGINE_WATCHDOG 1000
sets VK_BELFRY_MULTI_ENGINE_AT_INTERRUPT true
unset_in_out VK_BELFRY_MULTI_ENGINE_TRACE; unset_in_out VK_LOADER_LAYERS_ENABLE
run 0 run env; sets VK_INSTANCE_LAYERS $ours
run 0 run --trace t.pftrace --queues native --summary --set messages=info --set queues_per_family=2 env
silent err
sets VK_BELFRY_MULTI_ENGINE_TRACE "$(pwd)/t.pftrace"; sets VK_BELFRY_MULTI_ENGINE_QUEUES native
sets VK_BELFRY_MULTI_ENGINE_SUMMARY true; sets VK_BELFRY_MULTI_ENGINE_MESSAGES info
sets VK_BELFRY_MULTI_ENGINE_QUEUES_PER_FAMILY 2
run 0 run --report --set specialize=exact env; sets VK_BELFRY_MULTI_ENGINE_REPORT true
sets VK_BELFRY_MULTI_ENGINE_SPECIALIZE exact
run 0 run --trace="$folder/x" env; sets VK_BELFRY_MULTI_ENGINE_TRACE "$folder/x"
# No settings file rebuilds shaders in a traced program; who asks for it does.
echo 'belfry_multi_engine.specialize = exact' >vk_layer_settings.txt
run 0 run --trace="$folder/x" env; sets VK_BELFRY_MULTI_ENGINE_SPECIALIZE off; says err 'specialize is off'; lines err 1
run 0 run env; unset_in_out VK_BELFRY_MULTI_ENGINE_SPECIALIZE; silent err
run 0 run --trace="$folder/x" --set specialize=exact env; sets VK_BELFRY_MULTI_ENGINE_SPECIALIZE exact; silent err
VK_BELFRY_MULTI_ENGINE_SPECIALIZE=exact run 0 run --trace="$folder/x" env; silent err
sets VK_BELFRY_MULTI_ENGINE_SPECIALIZE exact
rm vk_layer_settings.txt
run 0 run --trace="$folder/x" env; unset_in_out VK_BELFRY_MULTI_ENGINE_SPECIALIZE
run 0 help run; says out "'cache'"
run 0 run --set trace=a=b env; sets VK_BELFRY_MULTI_ENGINE_TRACE "$(pwd)/a=b"
run 0 run -- echo --trace -- --nonsense; says out '--trace -- --nonsense'
run 0 run echo --summary; says out '--summary'

# --trace FILE takes the place of an earlier trace once the program is there, and of nothing else.
"$maker" earlier 1 >/dev/null || exit 1
: >empty; mkdir "the folder"; echo precious >precious; ln -s earlier link; ln -s nowhere dangling
run 127 run --trace earlier -- no-such-program; [ -s earlier ] || fail 'a trace is gone for nothing'
cp earlier kept
printf '#!/no/such/interpreter\n' >uninterpreted; chmod +x uninterpreted
run 127 run --trace earlier -- ./uninterpreted; cmp -s earlier kept || fail 'a trace is gone, or damaged, for nothing'
run 0 run --trace earlier -- echo ran; silent err; [ ! -e earlier ] || fail 'the earlier trace stays'
cp kept earlier
run 0 run --trace link -- env; sets VK_BELFRY_MULTI_ENGINE_TRACE "$(pwd -P)/earlier"
[ -L link ] && [ ! -e earlier ] || fail 'the trace behind the link stays'
run 0 run --set trace=empty -- echo ran; [ ! -e empty ] || fail 'an empty file stays'
run 0 run --trace /dev/null -- echo ran; [ -c /dev/null ] || fail '/dev/null is gone'
for wrong in precious "the folder" missing/t dangling; do
    run 2 run --trace "$wrong" -- echo ran; silent out; says err "$wrong': "; lines err 1
done
grep -q precious precious || fail 'something precious is gone'
if command -v python3 >/dev/null; then # whose lock stands for that of a program that is traced
    python3 -c 'import fcntl, subprocess, sys
file = open("kept", "r+")
fcntl.lockf(file, fcntl.LOCK_EX)
sys.exit(subprocess.call(sys.argv[1:]))' "$belfry" run --trace kept -- echo ran >out 2>err
    [ $? -eq 2 ] || fail 'a trace that is being written is replaced'
    silent out; says err 'is writing it'; lines err 1
fi

VK_BELFRY_MULTI_ENGINE_TRACE=kept run 0 run -- echo ran; [ -s kept ] || fail 'nobody asked for that'

# What the user had there stays.
VK_BELFRY_MULTI_ENGINE_QUEUES=native run 0 run env; sets VK_BELFRY_MULTI_ENGINE_QUEUES native
VK_MULTI_ENGINE_QUEUES=native run 0 run env; unset_in_out VK_BELFRY_MULTI_ENGINE_QUEUES
VK_MULTI_ENGINE_WATCHDOG=0 run 0 run env; unset_in_out VK_BELFRY_MULTI_ENGINE_WATCHDOG
VK_INSTANCE_LAYERS=VK_LAYER_A::$ours:VK_LAYER_B run 0 run env
sets VK_INSTANCE_LAYERS $ours:VK_LAYER_A:VK_LAYER_B
VK_ADD_LAYER_PATH=/a:/b run 0 run env; sets VK_ADD_LAYER_PATH "$manifest:/a:/b"
VK_LAYER_PATH=/a:/b VK_ADD_LAYER_PATH=/c run 0 run env
sets VK_LAYER_PATH "$manifest:/a:/b"; sets VK_ADD_LAYER_PATH /c
VK_LOADER_LAYERS_DISABLE='*' VK_LOADER_LAYERS_ENABLE=VK_LAYER_A run 0 run --above VK_LAYER_B env
sets VK_LOADER_LAYERS_ENABLE VK_LAYER_A,$ours,VK_LAYER_B; sets VK_LOADER_LAYERS_DISABLE '*'

# Order among layers.
VK_INSTANCE_LAYERS=VK_LAYER_A:VK_LAYER_C run 0 run --above VK_LAYER_B --above VK_LAYER_C env
sets VK_INSTANCE_LAYERS $ours:VK_LAYER_B:VK_LAYER_C:VK_LAYER_A; sets VK_ADD_LAYER_PATH "$manifest"
VK_INSTANCE_LAYERS=VK_LAYER_A run 0 run --below VK_LAYER_B env
sets VK_INSTANCE_LAYERS VK_LAYER_A:VK_LAYER_B:$ours
e=vulkan/explicit_layer.d
sets VK_LAYER_PATH "$HOME/.config/$e:/etc/xdg/$e:/etc/$e:$HOME/.local/share/$e:/usr/local/share/$e:/usr/share/$e:$manifest"
XDG_CONFIG_HOME=/a XDG_CONFIG_DIRS=/b:/c XDG_DATA_HOME=/d XDG_DATA_DIRS=/e VK_ADD_LAYER_PATH=/f \
    run 0 run --below VK_LAYER_B env
sets VK_LAYER_PATH "/f:/a/$e:/b/$e:/c/$e:/etc/$e:/d/$e:/e/$e:$manifest"
VK_LAYER_PATH=/a VK_ADD_LAYER_PATH=/f run 0 run --below VK_LAYER_B env
sets VK_LAYER_PATH "/a:$manifest"

# Another Belfry, installed, must not be found: some loaders would take it.
mkdir -p "data/$e"
touch "data/$e/VkLayer_belfry_multi_engine.json" "data/$e/b.json" "data/$e/a.json" "data/$e/notes"
XDG_CONFIG_DIRS=/b XDG_DATA_HOME="$folder/data" XDG_DATA_DIRS=/e VK_ADD_LAYER_PATH=/f run 0 run env
usual="/f:$HOME/.config/$e:/b/$e:/etc/$e:$folder/data/$e/a.json:$folder/data/$e/b.json:/e/$e"
sets VK_LAYER_PATH "$manifest:$usual"; sets VK_ADD_LAYER_PATH /f
XDG_CONFIG_DIRS=/b XDG_DATA_HOME="$folder/data" XDG_DATA_DIRS=/e VK_ADD_LAYER_PATH=/f \
    run 0 run --below VK_LAYER_B env
sets VK_LAYER_PATH "$usual:$manifest"
VK_LAYER_PATH="/a:$folder/data/$e/:/b/VkLayer_belfry_multi_engine.json:/c" run 0 run env
sets VK_LAYER_PATH "$manifest:/a:$folder/data/$e//a.json:$folder/data/$e//b.json:/c"

# Mistakes in what the environment says cost a line; mistakes in options stop.
VK_BELFRY_MULTI_ENGINE_QUEUES=many run 0 run -- echo ran; says out ran
run 2 run --set quues=append -- echo ran; silent out; says err "'queues'"; lines err 1
run 2 run --queues apend -- echo ran; silent out; says err "'append'"; lines err 1
run 2 run --queues many -- echo ran; silent out; says err "(native, append)"; lines err 1
run 2 run --set queues -- echo ran; silent out; lines err 1
run 2 run --set =x -- echo ran; silent out
VK_MULTI_ENGINE_TRACE=t run 2 run --set trace= -- echo ran; silent out; says err "'trace='"; lines err 1
run 2 run --trace; lines err 1
run 2 run --trace '' echo ran; silent out
run 2 run --nonsense echo ran; silent out; says err "'--nonsense'"
run 2 run -x echo ran; silent out
run 2 run; lines err 1
run 2 run --; lines err 1
run 2 run --above VK_LAYER_A --below VK_LAYER_B echo ran; silent out
run 2 run --above '' echo ran; silent out
run 2 run --above 'VK_LAYER_A:VK_LAYER_B' echo ran; silent out

# The program's own end, and those that never begin.
run 5 run sh -c 'exit 5'
run 127 run no-such-program; says err "'no-such-program'"; lines err 1
run 127 run /no/such/program; lines err 1
touch plain; run 126 run ./plain; says err 'Permission denied'; lines err 1
run 126 run "$folder"; lines err 1

# A tree without its manifest says so.
mkdir -p tree/bin
cp "$belfry" tree/bin/
if LD_LIBRARY_PATH="$here/../lib" tree/bin/belfry --version >/dev/null 2>&1; then
    LD_LIBRARY_PATH="$here/../lib" tree/bin/belfry run true >out 2>err
    [ $? -eq 1 ] || fail 'a missing manifest goes unnoticed'
    says err "$folder/tree/bin/../lib/VkLayer_belfry_multi_engine.json"
fi

# 'belfry settings' knows where a value came from.
run 0 settings; silent err; says out 'queues = append'; says out 'trace = (none)'
BELFRY=1 run 0 settings; says out 'queues = native'; says out 'BELFRY=1'
printf 'belfry_multi_engine.messages = info\nbelfry_multi_engine.lgo = 1\n' >vk_layer_settings.txt
VK_MULTI_ENGINE_SUMMARY=1 run 0 settings
says out 'from: file vk_layer_settings.txt:1'; says out 'from: environment VK_MULTI_ENGINE_SUMMARY'
says err 'vk_layer_settings.txt:2'; lines err 1

# The oldest drivers have what the layer needs, for who asks as the layer does.
driver=$here/../lib/belfry_test_icd.json
if [ -f "$driver" ]; then
    VK_ICD_FILENAMES=$driver VK_DRIVER_FILES=$driver BELFRY_ICD_API=1.0 run 0 list
    says out 'Vulkan 1.0.'; says out 'emulated: appended'
    export BELFRY_ICD_NO_SYNC2=1
    VK_ICD_FILENAMES=$driver VK_DRIVER_FILES=$driver BELFRY_ICD_API=1.0 run 0 list
    says out 'The driver lacks VK_KHR_synchronization2'
    unset BELFRY_ICD_NO_SYNC2

    # As many queues as the GPU has, and two where a family is appended; more for who asks.
    list() {
        VK_ICD_FILENAMES=$driver VK_DRIVER_FILES=$driver BELFRY_ICD_SHAPE=$1 run 0 list
        sed -n '/What a program sees/,/Emulated/p' out >seen
    }
    shows() { grep -q "^ *$1  $2  *$3 queues\{0,1\}  *$4\$" seen || fail "family $1 isn't: $2, $3 queues, $4"; }
    list nvidia
    shows 0 'graphics compute transfer sparse' 16 native; shows 1 'transfer sparse' 2 native
    shows 2 'compute transfer sparse' 8 native; shows 3 'transfer sparse video-decode' 1 native
    shows 4 'transfer sparse video-encode' 1 native; lines seen 7
    says seen 'Emulated: nothing'; says out 'queues_per_family=0'
    list intel
    shows 0 'graphics compute transfer' 1 native; shows 1 'compute transfer' 1 native
    shows 2 video-decode 1 native; shows 3 transfer 2 'emulated: appended, runs on family 1'; lines seen 6
    says seen "Emulated: 2 of 5 queues; Belfry runs them all on the driver's 3 queues."
    list lavapipe
    shows 0 'graphics compute transfer' 1 native
    shows 1 'compute transfer' 2 'emulated: appended, runs on family 0'
    shows 2 transfer 2 'emulated: appended, runs on family 0'; lines seen 5
    export VK_BELFRY_MULTI_ENGINE_QUEUES_PER_FAMILY=16
    list lavapipe
    says out 'queues_per_family=16'; shows 2 transfer 16 'emulated: appended, runs on family 0'
    unset VK_BELFRY_MULTI_ENGINE_QUEUES_PER_FAMILY
fi

# Without a driver there is nothing to list.
VK_ICD_FILENAMES=/none VK_DRIVER_FILES=/none run 77 list; silent out

[ $failures -eq 0 ] || { echo "$failures failed"; exit 1; }
echo "all passed"
