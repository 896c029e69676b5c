/* SPDX-License-Identifier: MIT */
// CASE 0 is the plain one. Others differ from it where an inline block holds some number: 1 no quarter, 2 one that is not
// between 0 and 1, 3 a large integer; or where a sample is such: 4 and 5; or where samples of one image differ: 6.
#version 450
layout(local_size_x = 16, local_size_y = 16) in;
layout(constant_id = 0) const int CASE = 0;
layout(std140, set = 0, binding = 0) uniform Block { float number; uint count; } block;
layout(std430, set = 0, binding = 1) buffer Out { float sums[]; } target;
layout(set = 0, binding = 2) uniform sampler2DMS image;

bool differs()
{
    const float there = texelFetch(image, ivec2(gl_LocalInvocationID.xy) * 4, 1).r;
    switch (CASE) {
    case 1: return fract(block.number * 4.0) != 0.0;
    case 2: return !(block.number >= 0.0 && block.number <= 1.0);
    case 3: return block.count > 8u;
    case 4: return there > 1.5;
    case 5: return there < -1.5;
    case 6: return there != texelFetch(image, ivec2(0), 0).r;
    }
    return false;
}

void main()
{
    target.sums[gl_LocalInvocationIndex] = block.number + (differs() ? 1.0 : 0.0);
}
