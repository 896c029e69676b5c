/* SPDX-License-Identifier: MIT */
// Blocks of every kind of word; without a loop.
#version 450
#extension GL_EXT_shader_explicit_arithmetic_types : require
#extension GL_EXT_shader_16bit_storage : require
#extension GL_EXT_shader_8bit_storage : require
layout(local_size_x = 1) in;
layout(constant_id = 0) const int SIZE = 2;
struct Item { vec2 a; uint b; };
layout(std140, set = 0, binding = 0) uniform Block {
    mat3 turn;             // 0, 16, 32
    layout(row_major) mat2x3 flip; // 48, 64, 80
    ivec2 pair;            // 96
    float list[SIZE];      // 112, 128
    Item items[2];         // 144, 160
} block;
layout(std430, set = 1, binding = 3) buffer Open {
    uint count;
    double wide;           // 8
    int64_t whole;         // 16
    f16vec2 halves;        // 24
    u16vec2 shorts;        // 28
    u8vec4 bytes;          // 32
    Item items[];          // 40, 16 each
} open;
layout(std430, set = 1, binding = 4) buffer Small { float16_t halves[]; } small[2];
layout(set = 1, binding = 5) uniform sampler2D image;

void main()
{
    float x = block.turn[0].x + block.flip[0].x + float(block.pair.x) + block.list[1] +
              block.items[1].a.x;
    small[0].halves[0] = float16_t(x) + open.halves.x;
    open.items[open.count].a.x = x + float(open.wide) + texture(image, vec2(x)).x;
    open.items[0].b = uint(open.shorts.x) + uint(open.bytes.x) + uint(open.whole);
}
