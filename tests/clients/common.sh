# SPDX-License-Identifier: MIT
# Sourced by the tests of this folder: runs other people's programs with the layer and without.
#
# In the environment: BELFRY_TEST_BUILD, the build tree; BELFRY_TEST_LAYERS, the folder with the
# manifests of other layers; BELFRY_TEST_FALSE_REPORTS, the list of known false reports.
set -u

ours=VK_LAYER_BELFRY_multi_engine
khronos=VK_LAYER_KHRONOS_validation
bin=$BELFRY_TEST_BUILD/bin
lib=$BELFRY_TEST_BUILD/lib
manifest=$lib/VkLayer_belfry_multi_engine.json
layers=$BELFRY_TEST_LAYERS
false_reports=$BELFRY_TEST_FALSE_REPORTS

# The surroundings must not matter, but for the choice of the driver.
for name in $(compgen -e); do
    case $name in
    VK_ICD_FILENAMES | VK_DRIVER_FILES | VK_ADD_DRIVER_FILES | BELFRY_GPU) ;;
    VK_* | XDG_* | BELFRY* | DISABLE_BELFRY | DISPLAY | WAYLAND_DISPLAY | LD_PRELOAD) unset "$name" ;;
    esac
done
export VK_LAYER_PATH=$layers
# As in every test (tests/CMakeLists.txt), though not by default.
export VK_BELFRY_MULTI_ENGINE_SPECIALIZE=exact
# Mesa's implicit layer only reorders devices; one test says what happens with it.
export NODEVICE_SELECT=1

folder=$(mktemp -d) || exit 1
x_server=
finish() {
    if [[ -n $x_server ]]; then
        kill "$x_server"
        wait "$x_server" 2>/dev/null
    fi
    rm -rf "$folder"
}
trap finish EXIT
mkdir -m 700 "$folder/runtime" "$folder/home"
export XDG_RUNTIME_DIR=$folder/runtime HOME=$folder/home
cd "$folder" || exit 1

failures=0
fail() {
    printf 'FAILED: %s\n' "$*"
    failures=$((failures + 1))
}
# With the first lines of a file that tells more.
fail_with() {
    fail "$1"
    head -n 40 "$2" | sed 's/^/    /'
}

skip() {
    printf 'skipped: %s\n' "$*"
    exit 77
}

conclude() {
    ((failures == 0)) || {
        printf '%d failed\n' "$failures"
        exit 1
    }
    printf 'all passed\n'
    exit 0
}

needs() {
    local program
    for program in "$@"; do
        command -v "$program" >/dev/null || skip "there is no $program"
    done
}
needs_validation() {
    [[ -f $layers/VkLayer_khronos_validation.json ]] || skip "there is no $khronos"
}

# An X server of our own, on a display that it finds free. It writes the number when it is ready.
x_start() {
    needs Xvfb
    local number
    mkfifo display
    # A test that is killed for its time takes no leave of its server.
    local to_the_end=()
    ! command -v setpriv >/dev/null || to_the_end=(setpriv --pdeathsig TERM)
    "${to_the_end[@]}" Xvfb -displayfd 3 -screen 0 1280x1024x24 -nolisten tcp -noreset \
        3>display 2>xvfb.err &
    x_server=$!
    read -r number <display || {
        cat xvfb.err
        x_server=
        skip "Xvfb doesn't start"
    }
    export DISPLAY=:$number
}

# What the loader says on stderr when a layer is asked for by name; some programs print it.
loader_chatter="^WARNING: \[Loader Message\] Code 0 : env var 'VK_INSTANCE_LAYERS' defined and adding layers \"[A-Za-z_:]*\"\$"

# What SwiftShader says on stderr of structs that it doesn't know, the layer's as the program's.
driver_chatter='WARNING: UNSUPPORTED: p[A-Za-z]*->pNext sType = '

# run HOW NAME PROGRAM...: leaves NAME.out, NAME.err, the exit code in $code, and where the
# validation layer is asked for, what it reported in NAME.log. HOW is one of
#   plain      nothing added
#   append     under 'belfry run'
#   native     under 'belfry run --queues native'
#   validated  with the validation layer alone
#   above      with the validation layer above Belfry: it sees what the program calls
#   below      with the validation layer below Belfry: it sees what Belfry calls
run() {
    local how=$1 name=$2 prefix=()
    shift 2
    case $how in
    plain) prefix=(env) ;;
    append) prefix=("$bin/belfry" run --) ;;
    native) prefix=("$bin/belfry" run --queues native --) ;;
    validated) prefix=(env "VK_INSTANCE_LAYERS=$khronos") ;;
    above) prefix=("$bin/belfry" run --below "$khronos" --) ;;
    below) prefix=("$bin/belfry" run --above "$khronos" --) ;;
    *)
        fail "run: no way to run is called '$how'"
        return
        ;;
    esac
    case $how in
    validated | above | below)
        rm -f "$name.log"
        validation_settings "$folder/$name.log"
        # (VK_KHR_internally_synchronized_queues is newer than Debian 12's validation layer.)
        prefix=(env "VK_LAYER_SETTINGS_PATH=$folder/vk_layer_settings.txt"
            VK_BELFRY_MULTI_ENGINE_SYNCHRONIZED_QUEUES=false "${prefix[@]}")
        ;;
    esac
    "${prefix[@]}" "$@" >"$name.out" 2>"$name.err.all" </dev/null
    code=$?
    grep -v -e "$loader_chatter" -e "$driver_chatter" "$name.err.all" >"$name.err"
    [[ $how == plain || ! -f $name.log ]] || reports_of "$name.log" >"$name.reports"
}

validation_settings() {
    cat >vk_layer_settings.txt <<END
khronos_validation.debug_action = VK_DBG_LAYER_ACTION_LOG_MSG
khronos_validation.log_filename = $1
khronos_validation.report_flags = error,warn,perf
khronos_validation.enables = VK_VALIDATION_FEATURE_ENABLE_SYNCHRONIZATION_VALIDATION_EXT
khronos_validation.enable_message_limit = false
END
}

# One line per report: the message id and the text, without what differs between runs (handles),
# without those on the list of known false reports.
reports_of() {
    awk 'FNR == NR { if ($0 !~ /^#/ && NF) known[$1] = 1; next }
         /^[^ ]+\([A-Z]+ \/ [A-Z]+\): msgNum: / {
             id = $1
             sub(/\(.*/, "", id)
             if (id in known) next
             gsub(/0x[0-9a-f]+/, "0x*")
             print
         }' "$false_reports" "$1"
}

# reports_expect NAME...: each of these runs was validated and reported nothing.
silent() {
    local name
    for name in "$@"; do
        if [[ ! -f $name.log ]]; then
            fail "$name: the validation layer hasn't opened its log"
        elif [[ -s $name.reports ]]; then
            fail_with "$name: the validation layer reports" "$name.reports"
        elif grep -q 'msgNum' "$name.log" && ! grep -q '(.*): msgNum: ' "$name.log"; then
            fail_with "$name: a log in a form that this test can't read" "$name.log"
        fi
    done
}

exits() { [[ $code == "$1" ]] || { fail "$2 exits with $code, not $1"; cat "$2.out" "$2.err"; }; }
same() { cmp -s "$1" "$2" || { fail "$1 and $2 differ"; diff -a "$1" "$2" | head -n 40; }; }
says() { grep -qF -- "$2" "$1" || fail_with "no '$2' in $1:" "$1"; }

# The layers between program and driver, from the program on, as the loader has them for an
# instance.
layers_of() {
    VK_LOADER_DEBUG=layer "$@" 2>&1 >/dev/null </dev/null |
        awk '/vkCreateInstance layer callstack/ { on = 1 }
             on && $2 ~ /^VK_LAYER_/ { print $2 }
             on && /<Drivers>/ { exit }'
}
