/* SPDX-License-Identifier: MIT */
/* The compiled shaders, put into the program as they are. */
#include "helper.h"

#define ROW(symbol, name, stage)                                                                   \
    __asm__(".pushsection .rodata\n.balign 4\n" #symbol "_words:\n.incbin \"" SHADERS "/" #symbol  \
            ".spv\"\n" #symbol "_end:\n.popsection\n");                                            \
    extern const uint32_t symbol##_words[] __attribute__((visibility("hidden")));                  \
    extern const uint32_t symbol##_end[] __attribute__((visibility("hidden")));
#include "rows.h"
#undef ROW

const struct spirv spirv_all[] = {
#define ROW(symbol, name, stage)                                                                   \
    {name, symbol##_words, symbol##_end, VK_SHADER_STAGE_##stage##_BIT},
#include "rows.h"
};

const size_t spirv_count = sizeof(spirv_all) / sizeof(spirv_all[0]);
