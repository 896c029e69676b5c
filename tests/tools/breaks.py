#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""breaks.py TOOL: 'tools/breaks check' finds what is wrong in a small tree, each time one thing, and nothing where
nothing is."""
import os
import subprocess
import sys
import tempfile

BREAK = """What it is. Broken, it isn't.

breaks: AB-1, page
test: debug fence values a_case* BELFRY_ICD_SHAPE=q1
message: FAILED  . a_case
test: release queue waits a_wait* hangs
file: base/a.c
--- old
    f( x );
--- new
--- end
"""
TREE = {
    "runtime/base/a.c": "int a;\n    f(x);\n    g(x);\n",
    "runtime/base/a.h": "    f(x);\n",
    "tests/breaks/one.break": BREAK,
    "tests/breaks/lacking.txt": "# A comment.\nCD-1\npage: a row without\nother\n",
    "docs/guarantees.md": "| number | in words | break |\n|---|---|---|\n| AB-1 to AB-3 | one | `one` |\n"
                          "| CD-1 | two | |\n| EF-1 | three | none: words alone |\n",
    "docs/conformance/page.md": "| the document says | break |\n|---|---|\n| a row | `one` |\n| a row without | |\n",
    "docs/conformance/other.md": "| the document says |\n|---|\n| a row |\n",
}
BROKEN = "tests/breaks/one.break"
# What is wrong, the file, its text, what stands there instead, and what is said.
CASES = [
    ("nothing", BROKEN, "What", "That", None),
    ("another passage", "runtime/base/a.c", "f(x)", "f(y)", "the old text is not in base/a.c"),
    ("the passage twice", "runtime/base/a.c", "int a", "f(x);", "is in base/a.c more than once"),
    ("a header", BROKEN, "base/a.c", "base/a.h", "base/a.h is no .c file"),
    ("a public header in a library", BROKEN, "base/a.c", "include/a.h", "include/a.h is no .c file"),
    ("no guarantee", BROKEN, "breaks: AB-1, page\n", "", "no line names the guarantee"),
    ("a guarantee that isn't there", BROKEN, "AB-1,", "AB-1, AB-4,", "there is no guarantee and no page AB-4"),
    ("another's guarantee", BROKEN, "AB-1,", "AB-3, CD-1,", "docs/guarantees.md:4: the break one names CD-1"),
    ("no test", BROKEN, "test: ", "tests: ", "no line names a test"),
    ("no preset", BROKEN, "debug fence", "fence", "names no preset"),
    ("no message", BROKEN, "message: FAILED  . a_case\n", "", "must 'debug fence values"),
    ("a message too many", BROKEN, "file:", "message: too\nfile:", "must 'release queue waits"),
    ("two messages", BROKEN, "test: release", "message: two\ntest: release", "'two' belongs to no test"),
    ("no new text", BROKEN, "--- new\n", "", "expected the lines '--- old'"),
    ("a break that isn't there", "docs/guarantees.md", "`one`", "`two`", "there is no break two"),
    ("a row that nobody names", "docs/guarantees.md", "two | |", "two | `one` |", "does not name it"),
    ("a row that isn't listed", "tests/breaks/lacking.txt", "CD-1", "", "CD-1 names no break"),
    ("a listed row with a reason", "docs/guarantees.md", "two | |", "two | none: it has none |", "take it out"),
    ("a reason without words", "docs/guarantees.md", "none: words alone", "none:", "EF-1 names no break"),
    ("a page's row that isn't listed", "docs/conformance/page.md", "a row without", "another", "page: another names no break"),
    ("a page without the column", "docs/conformance/page.md", "says | break", "says | kept by", "page names no break"),
]

tool = sys.argv[1]
failed = False
for what, path, old, new, said in CASES:
    with tempfile.TemporaryDirectory() as root:
        for name, text in TREE.items():
            os.makedirs(os.path.dirname(os.path.join(root, name)), exist_ok=True)
            assert name != path or old in text, what
            with open(os.path.join(root, name), "w", encoding="utf-8") as file:
                file.write(text.replace(old, new) if name == path else text)
        run = subprocess.run([tool, "check", root], capture_output=True, text=True, check=False)
        if run.returncode != (said is not None) or (said or "") not in run.stdout or run.stderr:
            failed = True
            print(f"{what}: status {run.returncode}, not '{said}':\n{run.stdout}{run.stderr}")
sys.exit(failed)
