#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""members.py ROOT: every member of a struct and every value of an enumeration of the public headers, and every
setting, is something that a test names; or the header says of it that it is 'never told', 'not looked at', or 'only
told back'.

A comment beside a member is about that member; one on lines of its own about those that follow, up to the next one.
Comments of tests name nothing. Members of several structs with one name count as one: what a test does with it no
script can tell."""
import glob
import json
import os
import re
import sys

root, = sys.argv[1:]
EXCUSE = re.compile(r"never\s+told|not\s+looked\s+at|only\s+told\s+back", re.I)
COMMENT = re.compile(r"/\*.*?\*/", re.S)


def read(path):
    with open(path, encoding="utf-8", errors="replace") as file:
        return file.read()


def members(body, name):
    """Each member's declaration, and whether a comment excuses it."""
    found, above, end = [], "", 0
    for part in re.finditer(r"(?P<comment>/\*.*?\*/)|(?P<code>\S[^/]*?)(?:[;,](?=\s)|(?=/)|$)", body, re.S):
        own_line = not body[end:part.start()].strip(" ") or "\n" in body[end:part.start()]
        if part["comment"]:
            if own_line and ("\n" in body[end:part.start()] or not found):
                above = part["comment"]
            elif found:
                found[-1][1] = part["comment"]
        elif name.search(part["code"]):
            found.append([name.search(part["code"])[1], "", above])
        end = part.end()
    return [(word, bool(EXCUSE.search(beside + above))) for word, beside, above in found]


wanted = {}
STRUCT = re.compile(r"(?:\(VKAPI_PTR )?\(?\*?(\w+)\)?(?:\[\w+\]|\([^()]*\))?$", re.S)
for path in sorted(glob.glob(os.path.join(root, "runtime/include/belfry/*.h"))):
    for kind, type_name, body in re.findall(r"typedef (struct|enum) (\w+) \{(.*?)\n\} \2;", read(path), re.S):
        for word, excused in members(body, re.compile(r"^(BF_\w+)") if kind == "enum" else STRUCT):
            if not excused:
                wanted[word] = f"{os.path.basename(path)}: {type_name}: {word}"

text = "\n".join(COMMENT.sub(" ", read(os.path.join(folder, file)))
                 for folder, _, files in os.walk(os.path.join(root, "tests")) for file in files
                 if "corpus" not in folder and file.endswith((".c", ".h", ".cpp", ".py", ".sh", ".txt")))
words = set(re.findall(r"\w+", text))
words |= {"BF_STRUCTURE_TYPE_" + name for name in re.findall(r"BF_TYPE\((\w+)\)", text)}
wrong = [f"{where} is named by no test, and not said to be without effect" for word, where in sorted(wanted.items())
         if word not in words]

settings = re.findall(r'^    "key": "(\w+)"', read(os.path.join(root, "runtime/settings/settings.json")), re.M)
both = text + text.lower()
wrong += [f"settings.json: {key} is named by no test" for key in settings if not re.search(rf"(\b|_engine_){key}\b", both)]
if len(wanted) < 250 or len(settings) < 30:
    wrong.append(f"only {len(wanted)} members and {len(settings)} settings were found")
print("\n".join(wrong))
sys.exit(1 if wrong else 0)
