#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The library has the probes that docs/probes.md lists, each with as many arguments, and no others;
# and every line for bpftrace names probes that there are, and arguments that they have.
#
# Usage: probes.sh LIBRARY DOCS
set -euo pipefail
library=$1 docs=$2
command -v readelf >/dev/null || {
    echo "no readelf" >&2
    exit 77
}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

# "name count", once for each: a probe may stand in several places.
readelf --notes "$library" | awk '
    $1 == "Provider:" { ours = $2 == "belfry" }
    $1 == "Name:" { name = $2 }
    $1 == "Arguments:" && ours { print name, NF - 1 }' | sort -u >"$folder/built"
if [[ ! -s $folder/built ]]; then
    echo "built without <sys/sdt.h>: there are no probes" >&2
    exit 77
fi

# The table: | `name` | `argument`, `argument` | ...
awk -F'|' '/^\| `[a-z_]+` \|/ {
    name = $2
    gsub(/[` ]/, "", name)
    print name, gsub(/`[a-z_]+`/, "", $3)
}' "$docs" | sort -u >"$folder/documented"

code=0
diff -u "$folder/documented" "$folder/built" || {
    echo "the library's probes (+) are not those of $docs (-)" >&2
    code=1
}

grep -o 'belfry:[a-z_]*' "$docs" | cut -d: -f2 | sort -u >"$folder/named"
cut -d' ' -f1 "$folder/documented" | sort -u >"$folder/names"
diff "$folder/named" "$folder/names" >"$folder/difference" || {
    echo "each probe has a question, and each question its probes; here not (<: unknown, >: unasked):" >&2
    cat "$folder/difference" >&2
    code=1
}

# In a question, an argument belongs to the probes named in it: none may go beyond the longest.
awk -v names="$folder/documented" '
    BEGIN { while ((getline line < names) > 0) { split(line, f, " "); count[f[1]] = f[2] } }
    /bpftrace -e/ { most = 0 }
    {
        text = $0
        while (match(text, /belfry:[a-z_]+/)) {
            name = substr(text, RSTART + 7, RLENGTH - 7)
            if (count[name] > most) most = count[name]
            text = substr(text, RSTART + RLENGTH)
        }
        text = $0
        while (match(text, /arg[0-9]+/)) {
            if (substr(text, RSTART + 3, RLENGTH - 3) + 0 >= most && text !~ /is the first/) {
                print "line " NR " uses an argument that its probe lacks: " $0
                bad = 1
            }
            text = substr(text, RSTART + RLENGTH)
        }
    }
    END { exit bad }' "$docs" >&2 || code=1
exit "$code"
