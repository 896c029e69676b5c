#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""static_names.py ROOT: whoever searches for a function of the product finds one: no two files have a static
function of the same name."""
import collections
import glob
import os
import re
import sys

root, = sys.argv[1:]
files = collections.defaultdict(list)
for folder in ("cli", "layer", "runtime"):
    for path in sorted(glob.glob(os.path.join(root, folder, "**", "*.c"), recursive=True)):
        text = re.sub(r"__attribute__\(\(.*?\)\)\s*", "", open(path).read())
        for name in set(re.findall(r"(?m)^static [^;={(]*?\b(\w+)\([^;{]*\)\n\{", text)):
            files[name].append(os.path.relpath(path, root))
wrong = [f"{name}: in {', '.join(paths)}" for name, paths in sorted(files.items()) if len(paths) > 1]
if len(files) < 2000:
    wrong.append(f"only {len(files)} functions were found")
print("\n".join(wrong))
sys.exit(1 if wrong else 0)
