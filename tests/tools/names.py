#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""names.py ROOT: docs/names.md has every function and every type of the public headers, and nothing that they
haven't; no name of D3D12's or WDDM's stands there twice, and each of theirs that a header names is there."""
import glob
import os
import re
import sys

root, = sys.argv[1:]
text = "\n".join(open(path).read() for path in
                 sorted(glob.glob(os.path.join(root, "runtime/include/belfry/*.h"))))
code = re.sub(r"/\*.*?\*/", "", text, flags=re.S)
code = re.sub(r"(?m)^\s*#(\\\n|.)*", "", code)
public = set(re.findall(r"\b(bf[A-Z]\w*)\s*\(", code))
public |= set(re.findall(r"\}\s*(Bf\w+);", code)) | set(re.findall(r"typedef [^;{]*?\b(Bf\w+);", code))
public |= set(re.findall(r"\*(PFN_bf\w+)\)", code))
page = open(os.path.join(root, "docs/names.md")).read()
shown = set(re.findall(r"\b(?:PFN_)?[bB]f[A-Z]\w*", page))
wrong = [f"docs/names.md: nothing of {name}" for name in sorted(public - shown)]
wrong += [f"docs/names.md: no header has {name}" for name in sorted(shown - public)]

THEIRS = r"\b(?:ID3D12\w+(?:::\w+)?|(?:D3D12|D3DKMDT|D3DKMT|D3DDDI|DXGK|DXGKCB|DXGKARGCB)_?\w+|Dxgk\w+)\b"
named = [name for row in page.splitlines() if row.startswith("|")
         for name in re.findall(THEIRS, row.split("|")[1])]
wrong += [f"docs/names.md: {name} comes twice" for name in sorted({n for n in named if named.count(n) > 1})]
known = re.findall(THEIRS, page)
# A header may name one value of an enumeration, or the interface alone.
wrong += [f"docs/names.md: a header names {name}" for name in sorted(set(re.findall(THEIRS, text)))
          if not any(name == other or name.startswith(other + "_") or other.startswith(name + "::")
                     for other in known)]
if len(public) < 100 or len(named) < 80:
    wrong.append(f"only {len(public)} names of Belfry's and {len(named)} of others were found")
print("\n".join(wrong))
sys.exit(1 if wrong else 0)
