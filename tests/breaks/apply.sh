#!/bin/sh
# SPDX-License-Identifier: MIT
# apply.sh SCRIPT: tools/breaks applies what it is told, or says what is wrong: the old text
# isn't there, is there twice, or the file is missing.
script=$1
folder=$(mktemp -d) || exit 2
trap 'rm -rf "$folder"' EXIT
failed=0

# The text of the source, the old text and the new one.
set_up() {
    rm -rf "$folder"/*
    mkdir "$folder/root" "$folder/root/base"
    printf '%s' "$1" >"$folder/root/base/a.c"
    printf 'What it is.\n\nfile: base/a.c\n--- old\n%s--- new\n%s--- end\n' "$2" "$3" >"$folder/a.break"
}
apply() {
    "$script" apply "$folder/a.break" "$folder/root" "$folder/out/a.c" \
        >"$folder/said" 2>&1
}
wrong() {
    echo "apply.sh: $1"
    cat "$folder/said"
    failed=1
}
applies() { # NAME RESULT
    if ! apply; then
        wrong "$1: refused"
    elif ! printf '%s' "$2" | cmp -s - "$folder/out/a.c"; then
        wrong "$1: the copy is another: $(cat "$folder/out/a.c")"
    fi
}
refuses() { # NAME MESSAGE
    if apply; then
        wrong "$1: not refused"
    elif [ -e "$folder/out/a.c" ]; then
        wrong "$1: a copy was left"
    elif ! tr -s ' \n' ' ' <"$folder/said" | grep -q "$2"; then
        wrong "$1: it doesn't say '$2'"
    fi
}

source='int a[] = {1, 2};
    if (x[0] == "\n;" && y)
        f(x);
    g(x);
'
set_up "$source" '        f(x);
' '        h(x); /* ${PATH} [;] \\ */
'
applies 'one line' 'int a[] = {1, 2};
    if (x[0] == "\n;" && y)
        h(x); /* ${PATH} [;] \\ */
    g(x);
'
set_up "$source" '    if (x[0] == "\n;" && y)
        f(x);
' ''
applies 'two lines against none' 'int a[] = {1, 2};
    g(x);
'
set_up "$source" '    if (x[0]
  == "\n;"   &&   y) f(x);
' '    h(x);
'
applies 'other blanks' 'int a[] = {1, 2};
    h(x);
    g(x);
'
set_up "$source" ' 2
' '3
'
applies 'a part of a line' 'int a[] = {1, 3};
    if (x[0] == "\n;" && y)
        f(x);
    g(x);
'
set_up "$source" '    if (x[0] == "\n;")
' 'x
'
refuses 'not there' 'the old text is not in base/a.c'
set_up "$source" '' 'x
'
refuses 'nothing to replace' 'the old text is empty'
set_up "$source$source" '    g(x);
' 'x
'
refuses 'twice' 'the old text is in base/a.c more than once'
set_up "$source" '    g(x);
' 'x
'
rm "$folder/root/base/a.c"
refuses 'no such file' 'there is no .*base/a.c'
set_up "$source" '    g(x);
' 'x
'
grep -v '^file' "$folder/a.break" >"$folder/b" && mv "$folder/b" "$folder/a.break"
refuses 'no file named' 'one line names the file'
for line in old new end; do
    set_up "$source" '    g(x);
' 'x
'
    grep -v -e "^--- $line" "$folder/a.break" >"$folder/b" && mv "$folder/b" "$folder/a.break"
    refuses "no line --- $line" "'--- $line'"
done
exit $failed
