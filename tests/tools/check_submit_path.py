# SPDX-License-Identifier: MIT
"""tools/check_submit_path on a small tree made for it: a list that is right, and each thing that it finds.

Usage: check_submit_path.py PATH-OF-check_submit_path C-COMPILER
"""

import os
import shutil
import subprocess
import sys
import tempfile
import unittest

SCRIPT, COMPILER = sys.argv.pop(1), sys.argv.pop(1)

CLEAR = 'void *p = to; long n = 8; __asm__ volatile("rep stosq" : "+D"(p), "+c"(n) : "a"(0) : "memory");'
LIST = '# file, function\nqueue/queue.c  submit\nqueue/queue.c  inner\n'
SOURCE = '''static inline __attribute__((always_inline)) int inner(int a)
{
    return a + 1;
}
__attribute__((hot)) int
submit(int a)
{
    return inner(a);
}
void slow(void *to);
void slow(void *to)
{
    %s
}
''' % CLEAR


class SubmitPath(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.root = self.folder.name

    def tearDown(self):
        self.folder.cleanup()

    def check(self, source=SOURCE, text=LIST, options=()):
        """Returns the status, and what was said."""
        build = os.path.join(self.root, 'build/runtime/CMakeFiles/belfry_queue.dir/queue')
        for folder in ('tools', 'runtime/queue', build):
            os.makedirs(os.path.join(self.root, folder), exist_ok=True)
        path = os.path.join(self.root, 'runtime/queue/queue.c')
        for name, content in ((os.path.join(self.root, 'tools/submit_path.txt'), text), (path, source)):
            with open(name, 'w', encoding='utf-8') as out:
                out.write(content)
        if source:
            subprocess.run([COMPILER, '-O2', '-c', path, '-o', os.path.join(build, 'queue.c.o')], check=True)
        done = subprocess.run([sys.executable, SCRIPT, '--root', self.root, '--build',
                               os.path.join(self.root, 'build'), *options], capture_output=True, text=True)
        return done.returncode, done.stdout

    def test_right(self):
        self.assertEqual(self.check(), (0, ''))

    def test_listed(self):
        status, said = self.check(text=LIST + 'queue/queue.c slow\n')
        self.assertEqual(status, 1)
        self.assertRegex(said, r'^runtime/queue/queue.c: slow has a string instruction: rep stos .*\n$')

    def test_inlined(self):
        status, said = self.check(SOURCE.replace('return a + 1;', 'long words[8], *to = words; %s '
                                                 'return (int)words[a];' % CLEAR))
        self.assertEqual(status, 1)
        self.assertRegex(said, r'^runtime/queue/queue.c: submit has a string instruction: rep stos .*\n$')

    def test_unlisted(self):
        self.assertEqual(self.check(text='queue/queue.c inner\n'),
                         (1, 'runtime/queue/queue.c: submit is marked hot and not in tools/submit_path.txt\n'))

    def test_gone(self):
        self.assertEqual(self.check(text=LIST + 'queue/queue.c submits\n'),
                         (1, 'tools/submit_path.txt: runtime/queue/queue.c has no function submits\n'))

    def test_no_object(self):
        self.assertEqual(self.check()[0], 0)
        shutil.rmtree(os.path.join(self.root, 'build'))
        self.assertEqual(subprocess.run([sys.executable, SCRIPT, '--root', self.root, '--build', self.root],
                                        capture_output=True).returncode, 2)

    def test_no_objdump(self):
        self.assertEqual(self.check(options=('--objdump', 'there-is-none'))[0], 77)


if __name__ == '__main__':
    machine = subprocess.run([COMPILER, '-dumpmachine'], capture_output=True, text=True).stdout
    if not machine.startswith('x86_64') or not shutil.which('objdump'):
        print('skipped: no x86-64, or no objdump')
        sys.exit(77)
    unittest.main()
