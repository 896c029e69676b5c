#!/bin/sh
# SPDX-License-Identifier: MIT
# run_watch.sh PROGRAM: who says for a traced program without Vulkan that there is no trace (RW-1, RW-2). On a
# terminal somebody says it; it ends then, since else the terminal would have no end. Nobody says it of a program
# that isn't there, that has left a trace, or to a script.
belfry=$1
command -v python3 >/dev/null || { echo 'skipped: there is no python3'; exit 77; }
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 1
failures=0

on_terminal() {
    timeout 60 python3 -c 'import os, pty, subprocess, sys
master, slave = pty.openpty()
program = subprocess.Popen(sys.argv[1:], stdin=slave, stdout=slave, stderr=slave)
os.close(slave)
try:
    while True:
        sys.stdout.buffer.write(os.read(master, 4096))
except OSError:
    sys.exit(program.wait() & 255)' "$belfry" "$@" >out 2>&1
    echo $? >>out
}
fail() {
    echo "FAILED: $*"
    sed 's/^/    /' out
    failures=$((failures + 1))
}
says() { grep -qF -- "$1" out || fail "no '$1'"; }
lines() { [ "$(wc -l <out)" -eq "$1" ] || fail "not $1 lines"; }

on_terminal run --trace none -- sh -c 'kill -9 $$'
says "there is no trace in $(pwd -P)/none: sh is over"; says 247
on_terminal run --trace none -- python3 -c 'import os
try:
    os.waitpid(-1, os.WNOHANG)
    print("the watcher is a child of the program")
except ChildProcessError:
    open("none", "w").close()
    os._exit(5)'; lines 1; says 5; rm -f none
on_terminal run --trace none -- no-such-program; lines 2; says 127
on_terminal run -- echo ran; lines 2
# The watcher, once it has its name, has three files: stderr, the process, and the pipe by which it began.
on_terminal run --trace none -- sh -c 'while :; do
    for pid in /proc/[0-9]*; do
        [ "$(cat $pid/comm 2>/dev/null)" = belfry-watch ] || continue
        [ "$(readlink $pid/fd/2)" = "$(readlink /proc/$$/fd/2)" ] || continue
        ls $pid/fd | wc -l; : >none; exit
    done
done'; lines 2; says 3
exit $((failures > 0))
