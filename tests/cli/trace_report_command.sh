#!/bin/sh
# SPDX-License-Identifier: MIT
# trace_report_command.sh PROGRAM MAKER: what 'belfry trace' says and exits with. 'MAKER FILE MEBIBYTES'
# writes a timeline.
belfry=$1
maker=$2
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 1
failures=0

fail() {
    echo "FAILED: $*"
    head -n 20 out | sed 's/^/    stdout: /'
    sed 's/^/    stderr: /' err
    failures=$((failures + 1))
}

# run CODE ARGUMENT...: runs belfry trace, with what it says in the files out and err.
run() {
    expected=$1
    shift
    "$belfry" trace "$@" >out 2>err
    code=$?
    [ $code -eq "$expected" ] || fail "'belfry trace $*' exits with $code, not $expected"
}
says() { grep -qF -- "$2" "$1" || fail "no '$2' in $1"; }
silent() { [ ! -s "$1" ] || fail "$1 isn't empty"; }
lines() { [ "$(wc -l <"$1")" -eq "$2" ] || fail "not $2 lines in $1"; }

"$maker" t.pftrace 1 >/dev/null || exit 1

run 0 --help; says out '--svg'; silent err
run 2; says err 'which file?'; lines err 1; silent out
run 2 a b; lines err 1
run 2 --nonsense t.pftrace; says err "'--nonsense'"; lines err 1
run 2 --svg; says err 'lacks its argument'
run 2 --svg '' t.pftrace; lines err 1
for number in 0 -1 x 1x '' 99999999999999999999; do
    run 2 --frame "$number" t.pftrace; says err '--frame takes a number'; lines err 1
done

run 0 t.pftrace; silent err; says out 'engine 0'; says out 'critical path'; says out 'nothing was lost'
run 0 --json t.pftrace; silent err; says out '"critical_path"'; says out '"waits"'
run 0 t.pftrace --frame 7 --svg picture.svg; silent err; says out 'frame 7,'
says picture.svg 'frame 7 of'; says picture.svg '</svg>'
"$belfry" trace t.pftrace --frame 7 | sed 1d >expected
run 0 - <t.pftrace; says out 'the standard input: '
for from in 'cat t.pftrace' 'cat t.pftrace | cat'; do
    eval "$from" | "$belfry" trace --frame 7 - 2>err | sed 1d | cmp -s - expected || fail "$from reads otherwise"
done
cp t.pftrace whole
run 1 t.pftrace --svg t.pftrace; says err 'is the trace itself'; lines err 1; silent out
cmp -s t.pftrace whole || fail 'the picture has taken the place of the trace'
name=$(printf 'caf\351.pftrace'); cp t.pftrace "$name"
run 0 --json "$name"; iconv -f UTF-8 -t UTF-8 out >whole || fail "JSON that is no UTF-8"
run 1 - </dev/null; says err 'the standard input'; run 1 - <.; says err 'the standard input'
run 1 --frame 1000000 t.pftrace; says err 'frames, not 1000000'; lines err 1; silent out
run 1 --svg missing/picture.svg t.pftrace; says err "can't write 'missing/picture.svg'"; lines err 1
if [ -c /dev/full ]; then
    run 1 --svg /dev/full t.pftrace; says err 'No space left'; lines err 1
    "$belfry" trace t.pftrace >/dev/full 2>err && fail 'a full disk looks like success'
    says err 'standard output'
fi

run 1 missing; says err "'missing': No such file"; lines err 1; silent out
run 1 .; says err 'Is a directory'; lines err 1; silent out
: >empty; run 1 empty; says err 'is empty'; lines err 1; silent out
echo 'some text' >text; run 1 text; says err 'no Perfetto trace'; lines err 1; silent out
if [ "$(id -u)" -ne 0 ]; then
    : >locked; chmod 0 locked; run 1 locked; says err 'Permission denied'; lines err 1
fi

# Cut short: the report goes on until there. A pipe will do, as long as nothing is read twice.
head -c 100000 t.pftrace >cut; run 0 cut; says err 'cut short: its last packet begins at byte'
lines err 1; says out 'the file is cut short'
mkfifo pipe
cat t.pftrace >pipe & run 0 pipe; says out 'engine 0'
wait
{ cat t.pftrace; echo nonsense; } >damaged; run 1 damaged
says err "damaged: what begins at byte $(wc -c <t.pftrace | tr -d ' ') is no packet"; lines err 1
says out 'engine 0'

[ $failures -eq 0 ] || { echo "$failures failed"; exit 1; }
echo "all passed"
