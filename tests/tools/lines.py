#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""lines.py ROOT: no line of a source, comments among them, is longer than .clang-format says, which breaks none
of the comments itself; and no source has more than 1000 lines. Left out are what is generated, and a row of a
table that would be two."""
import glob
import os
import re
import sys

root, = sys.argv[1:]
limit = int(re.search(r"(?m)^ColumnLimit: (\d+)$", open(os.path.join(root, ".clang-format")).read()).group(1))
wrong, sources = [], 0
for folder in ("cli", "layer", "runtime", "samples", "tests"):
    for suffix in ("c", "h", "cpp"):
        for path in sorted(glob.glob(os.path.join(root, folder, "**", "*." + suffix), recursive=True)):
            name = os.path.relpath(path, root)
            if "/generated/" in name:
                continue
            sources += 1
            number = 0
            for number, line in enumerate(open(path), 1):
                length = len(line.rstrip("\n"))
                if length > limit and not re.fullmatch(r"    [A-Z]\([^()]*\) +\\\n", line):
                    wrong.append(f"{name}:{number}: {length} columns, and {limit} are the limit")
            if number > 1000:
                wrong.append(f"{name}: {number} lines, and 1000 are the limit")
if sources < 500:
    wrong.append(f"only {sources} sources were found")
print("\n".join(wrong))
sys.exit(1 if wrong else 0)
