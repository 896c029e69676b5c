#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""compile_breaks.py TOOL COMPILER: 'tools/compile_breaks' finds, in a small tree, the broken source that doesn't compile."""
import os
import subprocess
import sys
import tempfile

tool, compiler = sys.argv[1:]

NINJA = f"""rule cc
  command = {compiler} -Dlib_EXPORTS -Iinclude $more -Werror=unused-variable -MD -MT $out -MF $out.d -o $out -c $in
"""
BUILD = "build lib.dir/breaks/{0}/base/a.c.o: cc breaks/{0}/base/a.c\n  more = {1}\n"
BREAK = "What it is. Broken, it isn't.\n\nfile: base/a.c\n--- old\n    {};\n--- new\n    {}\n--- end\n"
SOURCE = "int f(void)\n{\n    int a = 1;\n    a++;\n    return a;\n}\n"
GOOD = BREAK.format("a++", "a--;")
# What the breaks are, whether 'ninja' has objects of them, their flags, and what is said.
CASES = [
    ("all compile", {"one": GOOD, "two": GOOD}, True, "", "2 of 2 broken sources compile"),
    ("one doesn't", {"one": GOOD, "two": BREAK.format("a++", "a--")}, True, "", "two: base/a.c does not compile"),
    ("one warns", {"one": GOOD, "two": BREAK.format("a++", "int b;")}, True, "", "unused variable"),
    ("one would warn", {"one": GOOD, "two": BREAK.format("a++", "int b;")}, True, "-w", "2 of 2 broken sources compile"),
    ("no such text", {"one": BREAK.format("b++", "b--;")}, True, "", "one: the old text is not in base/a.c"),
    ("no object", {"one": GOOD}, False, "", "no break has an object"),
    ("one of several doesn't", {"one": GOOD, "two": BREAK.format("return a", "return b;"),
                                "three": BREAK.format("int a = 1", "int a = 2;")}, True, "", "two: base/a.c does not compile"),
    ("each does, not together", {"one": BREAK.format("a++", ""), "two": BREAK.format("return a", "return 0;")}, True, "",
     "2 of 2 broken sources compile"),
    ("many", {f"b{i}": GOOD for i in range(10)}, True, "", "10 of 10 broken sources compile"),
]

failed = False
for what, breaks, built, more, said in CASES:
    with tempfile.TemporaryDirectory() as root:
        for folder in ("runtime/base", "tests/breaks", "build"):
            os.makedirs(os.path.join(root, folder))
        files = {"runtime/base/a.c": SOURCE, "build/build.ninja": NINJA}
        for name, text in breaks.items():
            files[f"tests/breaks/{name}.break"] = text
            files["build/build.ninja"] += BUILD.format(name, more) if built else ""
        for path, text in files.items():
            with open(os.path.join(root, path), "w", encoding="utf-8") as file:
                file.write(text)
        done = subprocess.run([tool, os.path.join(root, "build"), os.path.join(root, "tests/breaks")],
                              stdout=subprocess.PIPE, text=True, check=False)
        if said not in done.stdout or (done.returncode == 0) != ("sources compile" in said):
            print(f"FAILED {what}: status {done.returncode}, expected '{said}':\n{done.stdout}")
            failed = True
sys.exit(failed)
