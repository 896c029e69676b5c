# SPDX-License-Identifier: MIT
"""tools/registry on a small registry made for it: what it draws, keeps, makes of it and refuses.

Usage: registry.py PATH-OF-registry C-COMPILER
"""

import csv
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

SCRIPT, COMPILER = sys.argv.pop(1), sys.argv.pop(1)

HEAD = """<registry><types>
  <type category="define">#define <name>VK_HEADER_VERSION</name> {patch}</type>
  <type category="define">#define <name>VK_HEADER_VERSION_COMPLETE</name> VK_MAKE_API_VERSION(0, 1, 4, VK_HEADER_VERSION)</type>
  <type category="define" api="vulkansc">#define <name>VK_HEADER_VERSION</name> 7</type>
  <type category="handle">VK_DEFINE_HANDLE(<name>VkDevice</name>)</type>
  <type category="handle">VK_DEFINE_HANDLE(<name>VkQueue</name>)</type>
  <type category="basetype">typedef <type>uint32_t</type> <name>VkBool32</name>;</type>
  <type category="enum" name="VkStructureType"/>
  <type category="struct" name="VkInner"><member><type>uint32_t</type> <name>srcQueueFamilyIndex</name></member></type>
  <type category="struct" name="VkOuter">
    <member values="VK_STRUCTURE_TYPE_OUTER"><type>VkStructureType</type> <name>sType</name></member>
    <member>const <type>void</type>* <name>pNext</name></member>
    <member>const <type>VkInner</type>* <name>pInner</name></member></type>
  <type category="struct" name="VkSized" structextends="VkDeviceCreateInfo">
    <member values="VK_STRUCTURE_TYPE_SIZED"><type>VkStructureType</type> <name>sType</name></member>
    <member><type>void</type>* <name>pNext</name></member>
    <member><type>VkBool32</type> <name>on</name></member>
    <member><type>char</type> <name>text</name>[<enum>VK_LENGTH</enum>]<comment>[99] characters</comment></member></type>
  <type category="struct" name="VkUnsized" structextends="VkDeviceCreateInfo">
    <member values="VK_STRUCTURE_TYPE_UNSIZED"><type>VkStructureType</type> <name>sType</name></member>
    <member><type>SomebodysType</type> <name>what</name></member></type>
  {types}
</types>
<enums name="API Constants"><enum name="VK_LENGTH" value="5"/></enums>
<enums name="VkStructureType" type="enum"/>
<commands>
  <command><proto><type>void</type> <name>vkPlain</name></proto>
    <param><type>VkDevice</type> <name>device</name></param></command>
  <command><proto><type>void</type> <name>vkGiveQueue</name></proto>
    <param><type>VkQueue</type> <name>queue</name></param></command>
  <command><proto><type>void</type> <name>vkMove</name></proto>
    <param><type>VkDevice</type> <name>device</name></param>
    <param>const <type>VkOuter</type>* <name>pInfo</name></param></command>
  {commands}
</commands>
<feature api="vulkan" name="VK_VERSION_1_0" number="1.0"><require>
  <command name="vkPlain"/><command name="vkGiveQueue"/><command name="vkMove"/></require></feature>
<feature api="vulkan,vulkansc" name="VK_BASE_VERSION_1_1" number="1.1"><require>{core}</require></feature>
<extensions>
  <extension name="VK_KHR_sized" number="3" supported="vulkan"><require>
    <enum extends="VkStructureType" name="VK_STRUCTURE_TYPE_SIZED" offset="4"/>
    <enum extends="VkStructureType" name="VK_STRUCTURE_TYPE_UNSIZED" offset="5"/></require></extension>
  {extensions}
</extensions></registry>"""

COMMANDS = "command,names,handle,parameters,carries,loader,submits,families,trace,access,specialize,calls\n"
FILLED = ("# registry 1.0.0\n" + COMMANDS +
          "vkGiveQueue,vkGiveQueue:VK_VERSION_1_0,VkQueue,,queue,,x,,,,,\n"
          "vkMove,vkMove:VK_VERSION_1_0,VkDevice,p,family,,,x,,x,,\n")


class Tables(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.root = self.folder.name
        os.makedirs(os.path.join(self.root, "tools"))
        os.makedirs(os.path.join(self.root, "layer/registry"))
        shutil.copy(SCRIPT, os.path.join(self.root, "tools/registry"))
        self.put("layer/registry/commands.csv", FILLED)

    def tearDown(self):
        self.folder.cleanup()

    def put(self, path, text):
        with open(os.path.join(self.root, path), "w", encoding="utf-8") as file:
            file.write(text)

    def get(self, path):
        with open(os.path.join(self.root, path), encoding="utf-8") as file:
            return file.read()

    def run_tool(self, *arguments):
        return subprocess.run([sys.executable, os.path.join(self.root, "tools/registry"), *arguments],
                              capture_output=True, text=True, env=os.environ | {"CC": COMPILER})

    def refresh(self, patch=300, types="", commands="", core="", extensions=""):
        self.put("vk.xml", HEAD.format(patch=patch, types=types, commands=commands, core=core,
                                       extensions=extensions))
        return self.run_tool("refresh", os.path.join(self.root, "vk.xml"))

    def table(self, name):
        lines = self.get(f"layer/registry/{name}.csv").splitlines()
        return lines[0], {row[lines[1].split(",")[0]]: row for row in csv.DictReader(lines[1:])}

    def test_draws(self):
        result = self.refresh()
        self.assertEqual(result.returncode, 0, result.stderr)
        version, commands = self.table("commands")
        self.assertEqual(version, "# registry 1.4.300")
        self.assertEqual(sorted(commands), ["vkGiveQueue", "vkMove", "vkPlain"])
        self.assertEqual(commands["vkPlain"]["handle"], "VkDevice")
        self.assertEqual(commands["vkPlain"]["carries"], "")
        self.assertEqual(commands["vkGiveQueue"]["carries"], "queue")
        self.assertEqual(commands["vkMove"]["carries"], "family")  # behind two pointers
        self.assertEqual(commands["vkMove"]["parameters"], "p")
        self.assertEqual(commands["vkMove"]["access"], "x")  # what was written by hand stays
        _, structs = self.table("structs")
        self.assertEqual(list(structs), ["1000002004"])  # the other can't be sized
        self.assertEqual(structs["1000002004"]["size"], "32")  # 4 + 4 + 8 + 4 + 5, to a multiple of 8
        self.assertIn("OWN(vkMove)", self.get("layer/generated/commands.inc"))
        self.assertNotIn("vkPlain", self.get("layer/generated/commands.inc"))

    def test_a_second_time_changes_nothing(self):
        self.refresh()
        files = ["layer/registry/commands.csv", "layer/registry/extensions.csv",
                 "layer/registry/structs.csv", "layer/generated/commands.inc"]
        before = [self.get(path) for path in files]
        self.refresh()
        self.assertEqual([self.get(path) for path in files], before)

    def test_older(self):
        """Debian's own registry must not take away what a newer one brought."""
        self.refresh(patch=300)
        before = self.get("layer/registry/structs.csv")
        result = self.refresh(patch=299)
        self.assertNotEqual(result.returncode, 0)
        self.assertIn("1.4.299", result.stderr)
        self.assertEqual(self.get("layer/registry/structs.csv"), before)
        self.assertEqual(self.refresh(patch=301).returncode, 0)

    def test_promotion(self):
        """The core takes a command over: its row, found by its old name, gets the core's."""
        self.put("layer/registry/commands.csv",
                 FILLED + "vkPushEXT,vkPushEXT:VK_EXT_push,VkDevice,,,,,,,,x,\n")
        result = self.refresh(
            commands='<command><proto><name>vkPush</name></proto><param><type>VkDevice</type> <name>d</name>'
                     '</param></command><command name="vkPushEXT" alias="vkPush"/>',
            core='<command name="vkPush"/>',
            extensions='<extension name="VK_EXT_push" number="9" supported="vulkan"><require>'
                       '<command name="vkPushEXT"/></require></extension>')
        self.assertEqual(result.returncode, 0, result.stderr)
        _, commands = self.table("commands")
        self.assertNotIn("vkPushEXT", commands)
        self.assertEqual(commands["vkPush"]["specialize"], "x")
        self.assertEqual(commands["vkPush"]["names"], "vkPush:VK_VERSION_1_1 vkPushEXT:VK_EXT_push")
        made = self.get("layer/generated/commands.inc")
        self.assertIn('{"vkPushEXT", .level = LAYER_LEVEL_DEVICE, .specialize = SPECIALIZE(vkPush)}', made)
        self.assertIn("JOIN(vkPush, vkPushEXT)", self.get("runtime/gpu/generated/aliases.inc"))
        self.assertIn('{"vkPush", VK_MAKE_API_VERSION(0, 1, 1, 0), "vkPushEXT"}',
                      self.get("runtime/gpu/generated/promoted.inc"))

    def test_what_left_the_registry_is_kept(self):
        self.put("layer/registry/commands.csv",
                 FILLED + "vkGone,vkGone:VK_EXT_gone,VkDevice,,,,,,,,x,\n")
        self.refresh()
        self.assertEqual(self.table("commands")[1]["vkGone"]["specialize"], "x")

    def test_a_new_command_that_takes_a_queue(self):
        """A newer registry's command takes a VkQueue, inside a struct: nobody has said what becomes
        of it, so there is no table."""
        new = {
            "types": '<type category="struct" name="VkHint"><member><type>VkQueue</type> <name>queue</name>'
                     '</member></type>',
            "commands": '<command><proto><name>vkHint</name></proto><param><type>VkDevice</type> <name>d</name>'
                        '</param><param>const <type>VkHint</type>* <name>hint</name></param></command>',
            "extensions": '<extension name="VK_EXT_hint" number="9" supported="vulkan"><require>'
                          '<type name="VkHint"/><command name="vkHint"/></require></extension>',
        }
        result = self.refresh(**new)
        self.assertNotEqual(result.returncode, 0)
        self.assertIn("VK_EXT_hint", result.stderr)
        # It is hidden, command and extension, once that is written down.
        self.assertEqual(self.table("extensions")[1]["VK_EXT_hint"]["queues"], "VkHint vkHint")
        text = self.get("layer/registry/extensions.csv")
        self.put("layer/registry/extensions.csv",
                 text.replace("VK_EXT_hint,VkHint vkHint,,,,", "VK_EXT_hint,VkHint vkHint,,,always,why"))
        result = self.refresh(**new)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn('{"vkHint", .level = LAYER_LEVEL_DEVICE, .hidden = true}',
                      self.get("layer/generated/commands.inc"))
        self.assertIn('{"VK_EXT_hint", LAYER_HIDDEN, 0}', self.get("layer/generated/extensions.inc"))

    def test_a_new_core_command_that_takes_a_family(self):
        result = self.refresh(
            commands='<command><proto><name>vkFamily</name></proto><param><type>VkDevice</type> <name>d</name>'
                     '</param><param><type>uint32_t</type> <name>queueFamilyIndex</name></param></command>',
            core='<command name="vkFamily"/>')
        self.assertNotEqual(result.returncode, 0)
        self.assertIn("vkFamily carries family", result.stderr)

    def headers(self, size):
        os.makedirs(os.path.join(self.root, "include/vulkan"), exist_ok=True)
        self.put("include/vulkan/vulkan_core.h",
                 "enum { VK_STRUCTURE_TYPE_SIZED = 1000002004 };\n"
                 "typedef struct VkSized {\n    int sType;\n    void *pNext;\n    unsigned on;\n"
                 f"    char text[{size}];\n}} VkSized;\n")
        return os.path.join(self.root, "include")

    def test_check(self):
        self.refresh()
        self.assertEqual(self.run_tool("check", self.headers(5)).returncode, 0)
        self.assertNotEqual(self.run_tool("check", self.headers(50)).returncode, 0)
        path = "layer/generated/commands.inc"
        self.put(path, self.get(path).replace("vkMove", "vkMoved"))
        result = self.run_tool("check", self.headers(5))
        self.assertNotEqual(result.returncode, 0)
        self.assertIn(path, result.stderr)


unittest.main()
