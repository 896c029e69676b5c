#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# What vulkaninfo prints under the layer is what it prints without, but for the layer's own entries
# and, with queues=append, the families.
. "$BELFRY_TEST_COMMON"
needs vulkaninfo
x_start

run plain unlisted vulkaninfo --show-formats
exits 0 unlisted
# The loader lists a layer that it finds, used or not. Here it finds ours and doesn't use it.
VK_LAYER_PATH=$manifest:$layers run plain plain vulkaninfo --show-formats
exits 0 plain
grep -q '^	queueProperties\[0\]:' plain.out || fail_with 'no queue families in' plain.out

# The layer's own entry, to the letter but for the list of devices.
awk -v ours=$ours 'index($0, ours " (") == 1, /^$/' plain.out >entry
awk '!/^\t\tGPU id = / { sub(/Devices: count = [0-9]+/, "Devices: count = N"); print }' entry |
    uniq >entry.found
{
    printf "%s (Belfry: D3D12's multi-engine execution model) " $ours
    printf 'Vulkan version 1.3.239, layer version 1:\n\tLayer Extensions: count = 1\n'
    printf '\t\tVK_EXT_layer_settings : extension revision 2\n\tDevices: count = N\n'
    printf '\t\tLayer-Device Extensions: count = 0\n\n'
} >entry.expected
same entry.found entry.expected
awk -v ours=$ours 'index($0, ours " (") == 1, /^$/ { next }
     /^Layers: count = / { $4--; print $0; getline; print substr($0 "=", 1, length($0)); next }
     { print }' plain.out | awk '!/^=+$/' >plain.unlisted
awk '!/^=+$/' unlisted.out >unlisted
same plain.unlisted unlisted

# What a driver counts while it runs.
steadily() { sed -E 's/^(\t+(budget|usage) +=).*/\1/' "$1" >"$1.steady"; }

# --- queues=native: nothing else
VK_LAYER_PATH=$layers run native native vulkaninfo --show-formats
exits 0 native
steadily plain.out
steadily native.out
same plain.out.steady native.out.steady
same plain.err native.err

run native summary.native vulkaninfo --summary
VK_LAYER_PATH=$manifest:$layers run plain summary.plain vulkaninfo --summary
exits 0 summary.plain
same summary.plain.out summary.native.out

# --- queues=append: the families alone
run append append vulkaninfo --show-formats
exits 0 append
same plain.err append.err
steadily append.out
# Takes the appended families and the enlarged counts out again, into 'appended' and
# 'enlarged', a family to a line.
awk -v taken=appended -v enlarged=enlarged '
    function finish() {
        if (!family) return
        if (number in count) printf "%s", block
        else { gsub(/\n/, ";", block); print gpu " " block > taken }
        family = 0
    }
    FNR == 1 { pass++; gpu = "none"; family = 0 }
    /^GPU[0-9]+:$/ { gpu = $1 }
    # A family: from its heading to the empty line after it.
    match($0, /^\tqueueProperties\[[0-9]+\]:$/) {
        number = gpu $0
        if (pass == 1) { heading = number; next }
        family = 1
        block = ""
    }
    pass == 1 && heading && /^\t\tqueueCount / { count[heading] = $3; heading = ""; next }
    pass == 1 { next }
    family && /^\t\tqueueCount / && (number in count) && $3 != count[number] {
        print number " " count[number] " " $3 > enlarged
        sub(/[0-9]+$/, count[number])
    }
    !family { print; next }
    { block = block $0 "\n" }
    /^$/ { finish() }
    END { finish() }' plain.out append.out.steady >append.less
touch appended enlarged
# Families may be followed by more than one empty line.
cat -s plain.out.steady >plain.squeezed
cat -s append.less >append.squeezed
same plain.squeezed append.squeezed
[[ ! -s enlarged ]] || fail_with 'a real family has other queues:' enlarged
# What is appended has no graphics, and every queue of it can do something.
grep -v 'queueFlags *= QUEUE_COMPUTE | QUEUE_TRANSFER;\|queueFlags *= QUEUE_TRANSFER;' appended >strange
[[ ! -s strange ]] || fail_with 'a family that nobody asked for:' strange
if grep -q llvmpipe plain.out; then
    [[ $(grep -c 'queueCount *= 2;' appended) == 2 ]] ||
        fail_with "on lavapipe, families for compute and copy of two queues are appended, but here:" appended
fi
VK_BELFRY_MULTI_ENGINE_QUEUES_PER_FAMILY=64 run append more vulkaninfo --show-formats
exits 0 more
grep -q 'queueCount *= 64' more.out || fail 'who asks for 64 queues in each family gets fewer'

# The profile that vulkaninfo writes as JSON: equal outside of the families' section.
profile() {
    local name=$1
    shift
    mkdir "$name"
    (cd "$name" && "$@" vulkaninfo --json >/dev/null 2>&1) || fail "vulkaninfo --json exits with $?"
    cat "$name"/*.json >"$name.json"
    [[ -s $name.json ]] || fail "vulkaninfo --json writes nothing"
    awk '/^\t*"queueFamiliesProperties": \[/ { print; match($0, /^\t*/); indent = RLENGTH; on = 1; next }
         on && match($0, /^\t*\]/) && RLENGTH == indent + 1 { on = 0 }
         !on' "$name.json" >"$name.rest"
}
profile profile.plain env VK_LAYER_PATH="$manifest:$layers"
profile profile.native "$bin/belfry" run --queues native --
profile profile.append "$bin/belfry" run --
same profile.plain.json profile.native.json
same profile.plain.rest profile.append.rest
[[ $(wc -l <profile.plain.rest) -lt $(wc -l <profile.plain.json) ]] ||
    fail 'a profile without families: its form has changed'

# --- tools: ours is the first, and nothing else changes
run append tools vulkaninfo --show-formats --show-tool-props
exits 0 tools
awk '/^Tooling Info:$/ { on = 1 }
     on { print > "tooling" } !on { print } on && /^$/ { on = 0 }' tools.out >tools.less
same append.out tools.less
says tooling 'name             = Belfry'
says tooling "layer            = $ours"

# --- with Mesa's device selection between us and the program, as on any desktop
if [[ -f /usr/share/vulkan/implicit_layer.d/VkLayer_MESA_device_select.json ]]; then
    unset NODEVICE_SELECT
    run append selected vulkaninfo --show-formats
    exits 0 selected
    same append.out selected.out
fi

# --- without any display
unset DISPLAY
VK_LAYER_PATH=$manifest:$layers run plain bare.plain vulkaninfo
run native bare.native vulkaninfo
exits 0 bare.native
same bare.plain.out bare.native.out
conclude
