# SPDX-License-Identifier: MIT
"""tools/settings on a copy of what it writes: a new setting turns up everywhere, and what was changed by
hand is found.

Usage: settings.py PATH-OF-settings
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

SCRIPT = sys.argv.pop(1)
SOURCE = os.path.join(os.path.dirname(SCRIPT), "..")
TABLE = "runtime/settings/settings.json"
MADE = ["runtime/settings/generated/keys.inc", "runtime/settings/generated/rows.inc",
        "json/VkLayer_belfry.json.in", "README.md"]


class Settings(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        for path in ["tools/settings", TABLE, *MADE]:
            os.makedirs(os.path.dirname(self.place(path)), exist_ok=True)
            shutil.copy(os.path.join(SOURCE, path), self.place(path))

    def tearDown(self):
        self.folder.cleanup()

    def place(self, path):
        return os.path.join(self.folder.name, path)

    def get(self, path):
        with open(self.place(path), encoding="utf-8") as file:
            return file.read()

    def put(self, path, text):
        with open(self.place(path), "w", encoding="utf-8") as file:
            file.write(text)

    def run_tool(self, word):
        return subprocess.run([sys.executable, self.place("tools/settings"), word],
                              capture_output=True, text=True)

    def test_as_checked_in(self):
        self.assertEqual(self.run_tool("check").returncode, 0)

    def test_changed_by_hand(self):
        for path in MADE:
            text = self.get(path)
            self.put(path, text.replace("queues_per_family", "queues_in_family")
                               .replace("QUEUES_PER_FAMILY", "QUEUES_IN_FAMILY"))
            result = self.run_tool("check")
            self.assertNotEqual(result.returncode, 0)
            self.assertIn(path, result.stderr)
            self.put(path, text)

    def test_a_new_setting(self):
        settings = json.loads(self.get(TABLE))
        settings.append({"key": "colour", "label": "Colour", "description": "Which \"one\".",
                         "type": "ENUM", "default": "red", "enum": "BF_COLOUR",
                         "flags": [{"key": "red", "label": "Red", "description": "Red."},
                                   {"key": "blue", "label": "Blue", "description": "Blue."}],
                         "summary": "what it looks like"})
        self.put(TABLE, json.dumps(settings))
        self.assertNotEqual(self.run_tool("check").returncode, 0)
        self.assertEqual(self.run_tool("generate").returncode, 0)
        self.assertEqual(self.run_tool("check").returncode, 0)
        keys, rows, manifest, readme = [self.get(path) for path in MADE]
        self.assertTrue(keys.endswith("\nBF_KEY_COLOUR,\n"))
        self.assertIn('.names = {[BF_COLOUR_RED] = "red", [BF_COLOUR_BLUE] = "blue"}', rows)
        self.assertIn('"VK_BELFRY_MULTI_ENGINE_COLOUR"', manifest)
        layer = json.loads(manifest.replace("@BELFRY_VARIANT@", ""))["layer"]
        self.assertEqual(layer["features"]["settings"][-1]["key"], "colour")
        self.assertIn("\n| `colour` | `red`, `blue` | `red` | what it looks like |\n\n", readme)
        self.assertIn("\n## Limits\n", readme)


unittest.main()
