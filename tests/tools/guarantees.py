#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""guarantees.py ROOT BUILD: each test and each file that docs/guarantees.md names is there, and so is
each path below tests/ that any document names. '*' stands for the rest of a name. No number stands for
two guarantees. In docs/conformance a file is there, and has what is named behind it: in parentheses, or
as the number of a guarantee."""
import fnmatch
import glob
import os
import re
import subprocess
import sys

root, build = sys.argv[1:]
listing = subprocess.run(["ctest", "--test-dir", build, "-N"], capture_output=True, text=True)
tests = re.findall(r"^ *Test +#\d+: (\S+)$", listing.stdout, re.MULTILINE)
wrong = []


def there(path):
    return bool(glob.glob(os.path.join(root, path)))


rows = 0
numbers = set()
with open(os.path.join(root, "docs/guarantees.md")) as document:
    for number, line in enumerate(document, 1):
        cells = line.split("|")
        if len(cells) != 7 or cells[1].strip() in ("number", "---"):
            continue
        rows += 1
        if cells[1] in numbers:
            wrong.append(f"docs/guarantees.md:{number}: there is another {cells[1].strip()}")
        numbers.add(cells[1])
        for name in re.findall(r"`([^`]+)`", cells[3] + cells[4]):
            if "/" in name:
                if " " not in name and not there(name):
                    wrong.append(f"docs/guarantees.md:{number}: there is no {name}")
            elif re.fullmatch(r"[a-z0-9_]+\*?", name):
                if not fnmatch.filter(tests, name) and not there(f"tests/{name}"):
                    wrong.append(f"docs/guarantees.md:{number}: no test is named {name}")
if rows < 50 or len(tests) < 300:
    wrong.append(f"only {rows} guarantees and {len(tests)} tests were found")

for path in glob.glob(os.path.join(root, "docs/**/*.md"), recursive=True):
    with open(path) as document:
        for number, line in enumerate(document, 1):
            for name in re.findall(r"`(tests/[^` ]+)`", line):
                # NAME stands for any name, as does PRESET.
                if not there(re.sub(r"\b[A-Z]+\b", "*", name)):
                    wrong.append(f"{os.path.relpath(path, root)}:{number}: there is no {name}")

sources = [path for top in ("runtime", "layer", "samples", "tests")
           for path in glob.glob(os.path.join(root, top, "**", "*.*"), recursive=True)]
for path in glob.glob(os.path.join(root, "docs/conformance/*.md")):
    with open(path) as document:
        for number, line in enumerate(document, 1):
            for file, inside, guarantee in re.findall(
                    r"`([\w/]+\.(?:c|h|sh))`(?: \(([^)]*)\)| ([A-Z]+-\d+))?", line):
                texts = [open(source).read() for source in sources if source.endswith("/" + file)]
                names = re.findall(r"`([a-z_]\w{3,}?)…?`", inside) + ([guarantee] if guarantee else [])
                for name in names if texts else [file]:
                    if not any(re.search(rf"\b{name}", text) for text in texts):
                        wrong.append(f"{os.path.relpath(path, root)}:{number}: {file} has no {name}")

print("\n".join(wrong))
sys.exit(1 if wrong else 0)
