/* SPDX-License-Identifier: MIT */
/* Looks through the declarations of a module for push constants and a vertex shader. */
#include "specialize/shader/scan.h"

#include <spirv/unified1/spirv.h>

#define HEADER_WORDS           5
#define OP_UNTYPED_VARIABLE    4418 /* OpUntypedVariableKHR, newer than the oldest headers */
#define LITTLE_ENDIAN_SPV_WORD 0x07230203u

struct bf_scan bf_scan_words(const uint32_t *words, size_t count)
{
    const struct bf_scan unknown = {.pushes = true, .vertex = true};
    struct bf_scan scan = {false, false};
    if (!words || count < HEADER_WORDS || words[0] != LITTLE_ENDIAN_SPV_WORD)
        return unknown;
    for (size_t at = HEADER_WORDS; at < count;) {
        const uint32_t length = words[at] >> 16, opcode = words[at] & 0xffff;
        if (length == 0 || length > count - at)
            return unknown;
        if (opcode == SpvOpFunction)
            return scan;
        if (opcode == SpvOpEntryPoint)
            scan.vertex |= length < 2 || words[at + 1] == SpvExecutionModelVertex;
        if (opcode == SpvOpVariable || opcode == OP_UNTYPED_VARIABLE)
            scan.pushes |= length < 4 || words[at + 3] == SpvStorageClassPushConstant;
        if (scan.pushes && scan.vertex)
            return scan;
        at += length;
    }
    return unknown; /* a module without a function is none */
}
