/* SPDX-License-Identifier: MIT */
// 8 and 16 bits in memory alone: no constants of these types.
#version 450
#extension GL_EXT_shader_8bit_storage : require
#extension GL_EXT_shader_16bit_storage : require
layout(local_size_x = 1) in;
layout(push_constant, std430) uniform Push {
    layout(offset = 0) int8_t a;
    layout(offset = 2) uint16_t c;
    layout(offset = 8) float16_t e;
} push;
layout(binding = 0) buffer Out {
    uint words[];
} result;
void main()
{
    result.words[0] = uint(int(push.a));
    result.words[1] = uint(push.c);
    result.words[2] = floatBitsToUint(float(push.e));
}
