/* SPDX-License-Identifier: MIT */
// 8 and 16 bits, with arithmetic.
#version 450
#extension GL_EXT_shader_explicit_arithmetic_types : require
#extension GL_EXT_shader_8bit_storage : require
#extension GL_EXT_shader_16bit_storage : require
layout(local_size_x = 1) in;
layout(push_constant, std430) uniform Push {
    layout(offset = 0) int8_t a;
    layout(offset = 1) uint8_t b;
    layout(offset = 2) uint16_t c;
    layout(offset = 4) i16vec2 d;
    layout(offset = 8) float16_t e;
    layout(offset = 12) u8vec4 f;
} push;
layout(binding = 0) buffer Out {
    uint words[];
} result;
void main()
{
    i16vec2 d = push.d + i16vec2(1s);
    u8vec4 f = push.f + u8vec4(uint8_t(1));
    uint n = 0;
    result.words[n++] = uint(int(push.a + int8_t(1)));
    result.words[n++] = uint(push.b + uint8_t(1));
    result.words[n++] = uint(push.c + 1us);
    result.words[n++] = uint(d.x);
    result.words[n++] = uint(d.y);
    result.words[n++] = floatBitsToUint(float(push.e + 1.0hf));
    result.words[n++] = uint(f.x) + uint(f.w);
}
