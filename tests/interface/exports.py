# SPDX-License-Identifier: MIT
"""What libbelfry.so exports: the functions of the public headers, bf_layer_interface, and nothing else; under
its soname's version. What the layer imports of it: that one function, weakly. And what the headers' structs
begin with.

Usage: exports.py HEADERS-FOLDER EXPORT-MAP libbelfry.so libVkLayer_belfry.so
"""

import glob
import os
import re
import subprocess
import sys
import unittest

HEADERS, MAP, LIBRARY, LAYER = sys.argv[1:5]
del sys.argv[1:5]
INTERFACE = 'bf_layer_interface'


def without_comments(path):
    with open(path, encoding='utf-8') as file:
        return re.sub(r'/\*.*?\*/', '', file.read(), flags=re.S)


def declared():
    """The names of the functions that the headers mark with BF_API."""
    names = set()
    for path in glob.glob(os.path.join(HEADERS, '**', '*.h'), recursive=True):
        text = re.sub(r'(?m)^\s*#(\\\n|.)*', '', without_comments(path))
        names.update(re.findall(r'\bBF_API\b[^;{(]*?\b(\w+)\s*\(', text))
    return names


def dynamic(path):
    """(name, version or '', nm's letter) of each symbol that the object shares with others."""
    out = subprocess.run(['nm', '--dynamic', '--with-symbol-versions', path], check=True,
                         capture_output=True, text=True).stdout
    for line in out.splitlines():
        *_, kind, name = line.split()
        name, _, version = name.partition('@')
        yield name, version.lstrip('@'), kind


def soname(path):
    out = subprocess.run(['readelf', '--dynamic', '--wide', path], check=True, capture_output=True,
                         text=True).stdout
    return re.search(r'\(SONAME\).*\[(.*)\]', out)[1]


class Exports(unittest.TestCase):
    maxDiff = None

    def test_map_says_what_headers_say(self):
        shown = re.search(r'global:(.*)local:', without_comments(MAP), re.S)[1]
        self.assertEqual(sorted(name.strip() for name in shown.split(';') if name.strip()),
                         sorted(declared() | {INTERFACE}))

    def test_library_exports_that_under_the_version_of_its_soname(self):
        version = soname(LIBRARY).replace('libbelfry.so.', 'BELFRY_')
        shown = {(name, there) for name, there, kind in dynamic(LIBRARY) if kind in 'TDBRVWi'}
        self.assertEqual(sorted(shown), sorted((name, version) for name in declared() | {INTERFACE}))

    def test_soname_changes_with_each_minor_version(self):
        text = without_comments(os.path.join(HEADERS, 'belfry', 'belfry.h'))
        major, minor = (re.search(rf'#define BF_VERSION_{part}\s+(\d+)', text)[1]
                        for part in ('MAJOR', 'MINOR'))
        self.assertEqual(soname(LIBRARY),
                         'libbelfry.so.' + (f'0.{minor}' if major == '0' else major))

    def test_layer_imports_one_function_weakly(self):
        exported = {name for name, _, _ in dynamic(LIBRARY)}
        wanted = [(name, kind) for name, _, kind in dynamic(LAYER)
                  if kind in 'Uwv' and (name.startswith('bf') or name in exported & {INTERFACE})]
        self.assertEqual(wanted, [(INTERFACE, 'w')])


# Structs without sType and pNext, as belfry.h says of BfStructureType.
EXACT = {'BfFenceLogPosition', 'BfFenceLogHeader', 'BfFenceLogEntry', 'BfFenceLogBuffer',
         'BfUserModeSubmissionCaps', 'BfCreateDoorbell', 'BfConnectDoorbell', 'BfDestroyDoorbell',
         'BfNotifyWorkSubmission'}
ELEMENTS = {'BfAttachQueue', 'BfSetting', 'BfResourceUse', 'BfFenceLogRecord', 'BfRingEntry',
            'BfDispatchSlice'}
# A ring's own memory, and what only inline functions read.
EXACT |= {'BfRingControl', 'BfRingWriter'}


class Structs(unittest.TestCase):
    def test_each_begins_with_what_it_is(self):
        seen, types = {}, set()
        for path in glob.glob(os.path.join(HEADERS, '**', '*.h'), recursive=True):
            text = without_comments(path)
            for name, members in re.findall(r'typedef struct (Bf\w+) \{(.*?)\n\} \1;', text, re.S):
                seen[name] = ' '.join(members.split())
            types.update(re.findall(r'\b(BF_STRUCTURE_TYPE_\w+) =', text))
        self.assertLessEqual(EXACT | ELEMENTS, set(seen))
        base = {'BfBaseInStructure', 'BfBaseOutStructure'}
        for name, members in seen.items():
            with self.subTest(name):
                begins = re.match(r'BfStructureType sType; (const )?(void|struct \w+) \*pNext;', members)
                self.assertEqual(not begins, name in EXACT | ELEMENTS)
        # One type for each of the others.
        self.assertEqual(types - {'BF_STRUCTURE_TYPE_MAX_ENUM'},
                         {'BF_STRUCTURE_TYPE' + re.sub('(?=[A-Z])', '_', name[2:]).upper()
                          for name in set(seen) - EXACT - ELEMENTS - base})


if __name__ == '__main__':
    unittest.main()
