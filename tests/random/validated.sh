#!/bin/sh
# validated.sh PROGRAM ARGUMENTS: runs the program with the Khronos validation layer, with
# synchronisation validation, below Belfry. It must be silent but for known_false_reports.txt.
#
# Below only: of programs that wait before they signal, which Belfry never hands down, this version's
# own bookkeeping loses track, and then it stands in the way for ten seconds each.
here=$(dirname "$0")
layers=/usr/share/vulkan/explicit_layer.d
[ -e "$layers/VkLayer_khronos_validation.json" ] || {
    echo "validated.sh: no validation layer on this machine"
    exit 77
}
folder=$(mktemp -d) || exit 2
trap 'rm -rf "$folder"' EXIT
cat >"$folder/vk_layer_settings.txt" <<END
khronos_validation.debug_action = VK_DBG_LAYER_ACTION_LOG_MSG
khronos_validation.report_flags = error,warn,perf
khronos_validation.enables = VK_VALIDATION_FEATURE_ENABLE_SYNCHRONIZATION_VALIDATION_EXT
khronos_validation.enable_message_limit = false
khronos_validation.log_filename = $folder/log
END
# This loader orders layers by the order of the folders they are found in: the first is nearest the
# program.
export VK_LAYER_SETTINGS_PATH="$folder"
export VK_LAYER_PATH="$BELFRY_TEST_BUILD/lib:$layers"
export VK_INSTANCE_LAYERS=VK_LAYER_BELFRY_multi_engine:VK_LAYER_KHRONOS_validation
VK_LOADER_DEBUG=layer "$@" >"$folder/out" 2>"$folder/err" || {
    code=$?
    grep -v '^\(LAYER\|INFO\):\|^ ' "$folder/err"
    exit "$code"
}
tail -n 1 "$folder/out"
grep -q VK_LAYER_KHRONOS_validation "$folder/err" || {
    echo "validated.sh: the validation layer was not there"
    exit 1
}
[ -e "$folder/log" ] || exit 0
sed -n 's/.*\[ \([A-Za-z][A-Za-z0-9_-]*\) \].*/\1/p' "$folder/log" | sort -u >"$folder/ids"
grep -v '^#' "$here/known_false_reports.txt" | sed '/^$/d' | sort -u >"$folder/known"
comm -23 "$folder/ids" "$folder/known" >"$folder/new"
[ -s "$folder/new" ] || exit 0
echo "validated.sh: the validation layer below Belfry reports:"
cat "$folder/new"
head -n 40 "$folder/log"
exit 1
