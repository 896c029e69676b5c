# SPDX-License-Identifier: MIT
"""tools/check_arrows on small trees made for it: what may be, and each kind of violation.

Usage: check_arrows.py PATH-OF-check_arrows C-COMPILER
"""

import json
import os
import shlex
import subprocess
import sys
import tempfile
import unittest

SCRIPT, COMPILER = sys.argv.pop(1), sys.argv.pop(1)

TABLE = '# lowest first\nbase\nqueue\nleft right # siblings\nroof\n'
GOOD = {
    'tools/arrows.txt': TABLE,
    'runtime/include/pub/pub.h': 'int pub(void);\n',
    'runtime/base/map.h': '#include <stdint.h>\n',
    'runtime/base/map.c': '#include "base/map.h"\n#include <pub/pub.h>\nint map(void) { return 1; }\n',
    'runtime/queue/queue.h': '#include "base/map.h"\n',
    'runtime/queue/inner/deep.c': '#include "queue/queue.h"\n'
                                  'int map(void);\nint deep(void) { return map(); }\n',
    'runtime/left/left.c': '#include "queue/queue.h"\n#include "made/elsewhere.h"\nint left(void) { return 1; }\n',
    'runtime/right/right.c': 'int right(void) { return 1; }\n',
    'roof/roof.c': '#include "base/map.h"\n'
                   'int left(void), right(void);\nint roof(void) { return left() + right(); }\n',
}


class Arrows(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.root = os.path.realpath(self.folder.name)
        self.write(GOOD)

    def tearDown(self):
        self.folder.cleanup()

    def write(self, files):
        for path, text in files.items():
            path = os.path.join(self.root, path)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, 'w', encoding='utf-8') as out:
                out.write(text)

    def build(self, skip=()):
        """Compiles each .c as cmake would, and says so in compile_commands.json."""
        build, commands = os.path.join(self.root, 'build'), []
        os.makedirs(os.path.join(build, 'made'), exist_ok=True)
        open(os.path.join(build, 'made', 'elsewhere.h'), 'w', encoding='utf-8').close()
        for where, _, names in os.walk(self.root):
            for name in names:
                if not name.endswith('.c'):
                    continue
                source = os.path.join(where, name)
                output = os.path.relpath(source, self.root) + '.o'
                command = [COMPILER, '-c', source, '-o', output, f'-I{self.root}/runtime', '-I.',
                           f'-I{self.root}/runtime/include']
                commands.append({'directory': build, 'file': source, 'command': shlex.join(command)})
                if output in skip:
                    continue
                os.makedirs(os.path.dirname(os.path.join(build, output)), exist_ok=True)
                subprocess.run(command, check=True, cwd=build)
        with open(os.path.join(build, 'compile_commands.json'), 'w', encoding='utf-8') as out:
            json.dump(commands, out)

    def check(self, *options, status):
        done = subprocess.run([SCRIPT, '--root', self.root, *options], capture_output=True, text=True)
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return (done.stderr if status == 2 else done.stdout).splitlines()

    def check_build(self, *options, status):
        return self.check('--build', os.path.join(self.root, 'build'), *options, status=status)

    def test_good(self):
        self.build()
        self.assertEqual(self.check_build(status=0), [])

    def test_include_upwards(self):
        self.write({'runtime/base/map.h': '\n  #  include "queue/queue.h"\n'})
        found = self.check(status=1)
        self.assertIn('runtime/base/map.h:2: base may not include queue: "queue/queue.h"', found)

    def test_include_upwards_by_a_relative_name(self):
        self.write({'runtime/base/map.c': '#include "../queue/queue.h"\n'})
        self.assertEqual(self.check(status=1),
                         ['runtime/base/map.c:1: base may not include queue: "../queue/queue.h"'])

    def test_include_of_the_layer(self):
        self.write({'roof/roof.h': '', 'runtime/queue/queue.h': '#include "roof/roof.h"\n'})
        self.assertEqual(self.check(status=1),
                         ['runtime/queue/queue.h:1: queue may not include roof: "roof/roof.h"'])

    def test_include_of_a_sibling(self):
        self.write({'runtime/right/right.h': '', 'runtime/left/left.c': '#include "right/right.h"\n'})
        self.assertEqual(self.check(status=1),
                         ['runtime/left/left.c:1: left may not include right: "right/right.h"'])

    def test_folders_include_each_other(self):
        self.write({'runtime/base/other.h': '#include "queue/queue.h"\n'})
        self.assertEqual(self.check(status=1),
                         ['runtime/base/other.h:1: base may not include queue: "queue/queue.h"'])

    def test_headers_in_a_circle(self):
        self.write({'runtime/base/a.h': '#include "base/b.h"\n', 'runtime/base/b.h': '\n#include "base/c.h"\n',
                    'runtime/base/c.h': '#include "a.h"\n'})
        self.assertEqual(self.check(status=1),
                         ['runtime/base/a.h:1: headers in a circle: runtime/base/a.h -> runtime/base/b.h'
                          ' -> runtime/base/c.h -> runtime/base/a.h'])

    def test_folder_not_listed(self):
        self.write({'runtime/stray/stray.c': ''})
        self.assertEqual(self.check(status=1), ['runtime/stray: not listed in tools/arrows.txt'])

    def test_symbol_from_above(self):
        self.write({'runtime/base/up.c': 'int deep(void);\nint up(void) { return deep(); }\n'})
        self.build()
        self.check(status=0)
        self.assertEqual(self.check_build(status=1), ['build/runtime/base/up.c.o: base may not use queue:'
                                                      ' deep of runtime/queue/inner/deep.c'])

    def test_weak_symbol_from_above(self):
        self.write({'runtime/base/up.c': '__attribute__((weak)) int deep(void);\n'
                                         'int up(void) { return deep ? deep() : 0; }\n'})
        self.build()
        self.assertEqual(len(self.check_build(status=1)), 1)

    def test_symbol_of_a_sibling(self):
        self.write({'runtime/left/more.c': 'int right(void);\nint more(void) { return right(); }\n'})
        self.build()
        self.assertEqual(self.check_build(status=1), ['build/runtime/left/more.c.o: left may not use right:'
                                                      ' right of runtime/right/right.c'])

    def test_symbol_that_is_also_defined_below(self):
        self.write({'runtime/base/up.c': 'int right(void);\nint up(void) { return right(); }\n',
                    'runtime/base/right.c': 'int right(void) { return 2; }\n'})
        self.build()
        self.assertEqual(self.check_build(status=0), [])

    def test_object_not_built(self):
        self.build(skip=['runtime/base/map.c.o'])
        self.assertIn('not built', self.check_build(status=2)[0])

    def test_nothing_configured(self):
        self.assertIn('compile_commands.json', self.check_build(status=2)[0])

    def test_folder_listed_twice(self):
        self.write({'tools/arrows.txt': TABLE + 'base\n'})
        self.assertIn('base is listed twice', self.check(status=2)[0])

    def test_environment(self):
        self.write({'tools/arrows.txt': TABLE + 'environment: left roof\n',
                    'runtime/left/left.c': '#include <stdlib.h>\nconst char *left(void) { return getenv("A"); }\n',
                    'runtime/base/map.c': '/* as getenv,\n * but not */\nchar q = \'"\'; // getenv\n'
                                          'int map(void) { return "getenv"[0]; }\n'})
        self.build()
        self.assertEqual(self.check_build(status=0), [])

    def test_environment_read_elsewhere(self):
        self.write({'tools/arrows.txt': TABLE + 'environment: left\n',
                    'runtime/queue/queue.h': '/*\n * "\n */\nextern char **environ;\n',
                    'runtime/base/map.c': '#include <stdlib.h>\nchar *map(void) { return secure_getenv("A"); }\n'})
        self.assertEqual(self.check(status=1),
                         ['runtime/base/map.c:2: base may not read the environment: secure_getenv',
                          'runtime/queue/queue.h:4: queue may not read the environment: environ'])

    def test_environment_read_by_another_name(self):
        self.write({'tools/arrows.txt': TABLE + 'environment: left\n',
                    'runtime/base/map.c': '#define READ(part) get##part\n'
                                          'char *READ(env)(const char *);\n'
                                          'char *map(void) { return READ(env)("A"); }\n'})
        self.build()
        self.check(status=0)
        self.assertEqual(self.check_build(status=1),
                         ['build/runtime/base/map.c.o: base may not read the environment: getenv'])

    def test_environment_of_a_folder_not_listed(self):
        self.write({'tools/arrows.txt': TABLE + 'environment: left attic\n'})
        self.assertIn('attic', self.check(status=2)[0])

    def test_list(self):
        self.write({'runtime/base/map.h': '#include "queue/queue.h"\n',
                    'runtime/base/up.c': '#include "queue/queue.h"\n',
                    'runtime/left/left.c': '#include "../right/right.h"\n', 'runtime/right/right.h': ''})
        self.assertEqual([line.split() for line in self.check('--list', status=1)],
                         [['3', 'base', '->', 'queue'], ['1', 'left', '->', 'right'], ['4', 'in', 'all']])


if __name__ == '__main__':
    unittest.main()
