#!/bin/sh
# SPDX-License-Identifier: MIT
# run_earlier.sh PROGRAM: an earlier trace gives way to a program that begins, however it is found, and to nothing
# else (RU-2). An empty file is one, too; run.sh has one with contents.
belfry=$1
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 1
failures=0
usual=$PATH
search=$PATH # what is PATH for the command; 'none': it is unset

# begun CODE PROGRAM, failed CODE PROGRAM: whether the earlier trace has gone for it, or is there, as it was.
attempt() {
    expected=$1
    : >earlier
    chmod 640 earlier
    touch -d 2001-02-03T04:05:06 earlier
    PATH=$search
    [ "$search" != none ] || unset PATH
    "$belfry" run --trace earlier -- "$2" >out 2>&1
    code=$?
    PATH=$usual
    [ $code -eq "$expected" ] || fail "'$2' exits with $code, not $expected"
}
fail() {
    echo "FAILED: $*"
    sed 's/^/    /' out
    failures=$((failures + 1))
}
begun() {
    attempt "$@"
    [ ! -e earlier ] || fail "the earlier trace stays beside '$2'"
}
failed() {
    attempt "$@"
    [ -e earlier ] || fail "the earlier trace is gone for '$2'"
    [ "$(stat -c '%a %Y' earlier)" = "640 $(date -d 2001-02-03T04:05:06 +%s)" ] || fail 'it has changed'
}

printf '#!/bin/sh\nexit 3\n' >here
printf '#!/no/such/interpreter\n' >uninterpreted
printf '#!/etc/passwd\n' >badly
chmod +x here uninterpreted badly
begun 3 ./here
failed 127 no-such-program
failed 127 ./uninterpreted
failed 126 ./badly
search=/nowhere; failed 127 here
search=/nowhere:; begun 3 here
search=; begun 3 here
search=none; begun 0 true

[ $failures -eq 0 ] || { echo "$failures failed"; exit 1; }
echo "all passed"
