/* SPDX-License-Identifier: MIT */
// Integers whose bits become floats, beside others that don't.
#version 450
layout(local_size_x = 1) in;
struct Item { uint color; uint number; vec2 at; };
layout(std140, set = 0, binding = 0) uniform Block {
    uint color; // unpacked
    uint count; // only converted
    uint mixed; // shifted, converted
    uint index; // shifted, an index
    uvec4 taken; // 16
    ivec2 plain; // 32
} block;
layout(std430, set = 0, binding = 1) buffer Raw { uint words[]; } raw;
layout(std430, set = 0, binding = 2) buffer Items { uint count; Item items[]; } items[2];
layout(std430, set = 0, binding = 3) buffer Out { float sums[]; } target;

float red(in uint color)
{
    uint own = color;
    return float((own >> 16) & 255u);
}

uint fetch(int i)
{
    return raw.words[i];
}

void main()
{
    vec4 color = unpackUnorm4x8(block.color) + uintBitsToFloat(block.taken) + vec4(block.plain, block.plain);
    Item item = items[1].items[block.count];
    color.x += red(block.mixed) + float(block.count) + uintBitsToFloat(fetch(block.plain.x));
    color.y += unpackHalf2x16(items[0].items[3].color).x + float(item.number);
    target.sums[block.index >> 2] = dot(color, vec4(1.0));
}
