#!/bin/sh
# SPDX-License-Identifier: MIT
# log.sh PROGRAM: what 'belfry log' shows of dumps of native fence logs, and what it says of
# files that are none. The dumps are made here, byte by byte.
belfry=$1
unset LD_PRELOAD # a driver, for sanitizers: each of the many small programs would load it
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 1
failures=0

fail() {
    echo "FAILED: $*"
    sed 's/^/    stdout: /' out
    sed 's/^/    stderr: /' err
    failures=$((failures + 1))
}

# run CODE ARGUMENT...: runs belfry log, with what it says in the files out and err.
run() {
    expected=$1
    shift
    "$belfry" log "$@" >out 2>err
    code=$?
    [ $code -eq "$expected" ] || fail "'belfry log $*' exits with $code, not $expected"
}

# is FILE TEXT: all of it; silent FILE; says FILE TEXT; lines FILE NUMBER
is() { [ "$(cat "$1")" = "$2" ] || fail "$1 isn't '$2'"; }
silent() { [ ! -s "$1" ] || fail "$1 isn't empty"; }
says() { grep -qF -- "$2" "$1" || fail "no '$2' in $1"; }
lines() { [ "$(wc -l <"$1")" -eq "$2" ] || fail "not $2 lines in $1"; }

# u32 NUMBER..., u64 NUMBER...: little-endian
u32() {
    for number in "$@"; do
        for shift in 0 8 16 24; do
            # shellcheck disable=SC2059
            printf "\\$(printf %03o $((number >> shift & 255)))"
        done
    done
}
u64() {
    for wide in "$@"; do
        u32 $((wide & 0xffffffff)) $((wide >> 32 & 0xffffffff))
    done
}
# header TYPE ENTRIES INDEX WRAPAROUNDS; entry VALUE FENCE OPERATION FLAGS OBSERVED END
header() { u32 "$3" "$4" "$1" 0; u64 "$2" 0 0; }
entry() { u64 "$1"; u32 "$2" "$3"; u64 "$4" "$5" 0 "$6"; }
zeros() { head -c "$1" /dev/zero; }

# --- what is shown: three slots, four written, so that the newest is in slot 0
{
    header 1 3 1 1
    entry 8 7 1 0 150 160
    entry 6 1073741831 1 9 0 0
    entry -1 7 1 6 139 140
} >waits
run 0 waits; silent err
is out 'log of waits at byte 0: entries 3, index 1, wraparounds 1; written 4, overwritten 1
  number  slot  fence                      value  operation        observed  end  flags
       1     1  0x40000007                     6  wait-unblocked          -    -  late-bound,untimed
       2     2  0x00000007  18446744073709551615  wait-unblocked        139  140  observed-from-host,end-from-host
       3     0  0x00000007                     8  wait-unblocked        150  160'
run 0 --json waits; silent err
is out '{"log":0,"type":"waits","number":1,"slot":1,"fence":1073741831,"value":6,"operation":"wait-unblocked","observed":0,"end":0,"flags":["late-bound","untimed"]}
{"log":0,"type":"waits","number":2,"slot":2,"fence":7,"value":18446744073709551615,"operation":"wait-unblocked","observed":139,"end":140,"flags":["observed-from-host","end-from-host"]}
{"log":0,"type":"waits","number":3,"slot":0,"fence":7,"value":8,"operation":"wait-unblocked","observed":150,"end":160,"flags":[]}'

# --- one page, and another log behind it; nothing was written to the first
{ header 2 84 0 0; zeros 4056; header 2 2 1 0; entry 5 4 0 0 0 12345; entry 9 9 0 0 0 9; } >two
run 0 two; silent err
is out 'log of signals at byte 0: entries 84, index 0, wraparounds 0; written 0, overwritten 0

log of signals at byte 4096: entries 2, index 1, wraparounds 0; written 1, overwritten 0
  number  slot  fence       value  operation        observed    end  flags
       0     0  0x00000004      5  signal-executed         -  12345'
run 0 two --json; silent err
is out '{"log":4096,"type":"signals","number":0,"slot":0,"fence":4,"value":5,"operation":"signal-executed","observed":0,"end":12345,"flags":[]}'

# --- standard input, a pipe, and names that look like options
cp out expected
run 0 --json - <two; is out "$(cat expected)"
mkfifo pipe
cat two >pipe &
writer=$!
run 0 --json pipe; is out "$(cat expected)"
kill $writer 2>/dev/null # it waits for ever if nobody read
wait $writer 2>/dev/null
cp two ./--json; run 0 -- --json; says out 'byte 4096'
cp two ./-; run 0 -- -; says out 'byte 4096'

# --- what an entry says is shown, even if it can't be
{ header 2 1 0 1; entry 1 2 77 240 0 3; } >strange
run 0 strange; says out 'unknown-77'; says out '  unknown-0xf0'
run 0 --json strange; says out '"operation":"unknown-77"'; says out '"flags":["unknown-0xf0"]'

# --- what is no log: one line that names the file, the offset and the cause
bad() { run 1 "$1"; lines err 1; is err "belfry: $1: $2"; }
bad missing 'No such file or directory'
bad . 'reading at byte 0: Is a directory'
: >empty; bad empty "at byte 0: empty, and a log's header has 40 bytes"; silent out
run 1 - <empty; is err "belfry: standard input: at byte 0: empty, and a log's header has 40 bytes"
head -c 20 waits >short
bad short "at byte 0: 20 bytes are left, and a log's header has 40: cut off, or no log"
head -c 183 waits >cut
bad cut 'at byte 16: the number of entries is 3, and the bytes that are left are enough for 2: cut off, or damaged'
silent out
{ header 3 3 0 0; zeros 144; } >type
bad type 'at byte 8: the type is 3, neither 1 (waits) nor 2 (signals): no log, or a damaged one'
zeros 4096 >nothing
bad nothing 'at byte 8: the type is 0, neither 1 (waits) nor 2 (signals): no log, or a damaged one'
{ header 1 3 3 0; zeros 144; } >index
bad index 'at byte 0: the index is 3, not below the number of entries, 3'
{ header 1 0 0 0; zeros 144; } >none
bad none 'at byte 16: the number of entries is 0, not 1 to 4294967295'
{ header 1 -1 0 0; zeros 144; } >absurd
bad absurd 'at byte 16: the number of entries is 18446744073709551615, not 1 to 4294967295'
{ header 1 1000000000 0 0; zeros 144; } >large
bad large 'at byte 16: the number of entries is 1000000000, and the bytes that are left are enough for 3: cut off, or damaged'
# What comes before is shown.
{ cat waits; echo rubbish; } >both
bad both "at byte 184: 8 bytes are left, and a log's header has 40: cut off, or no log"
lines out 5
run 1 --json both; lines out 3; lines err 1

# --- arguments
run 2; lines err 1; says err 'which file?'
run 2 --json; lines err 1
run 2 --nonsense waits; lines err 1; says err "'--nonsense'"; silent out
run 2 -j waits; silent out
run 2 waits two; lines err 1; says err "'two'"; silent out
run 0 --help; says out '--json'
"$belfry" help >out 2>err; says out 'belfry log'

# --- a full disk isn't a success, however much is written
{ header 2 3000 0 1; zeros 144000; } >much
for file in much waits; do
    "$belfry" log "$file" >/dev/full 2>err && fail "a full disk looks like success ($file)"
    says err 'standard output'; lines err 1
done
# Nor is it one where nothing is left to flush at the end.
if command -v stdbuf >/dev/null; then
    ASAN_OPTIONS=verify_asan_link_order=0 stdbuf -o0 "$belfry" log waits >/dev/full 2>err &&
        fail 'a full disk looks like success (unbuffered)'
    says err 'standard output'; lines err 1
fi

[ $failures -eq 0 ] || { echo "$failures failed"; exit 1; }
echo "all passed"
