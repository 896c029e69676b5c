/* SPDX-License-Identifier: MIT */
#version 450
layout(constant_id = 3) const uint bias = 5u;
layout(push_constant) uniform Block { uint mode, rounds, factor; } p;
layout(location = 0) in vec2 place;
layout(location = 0) out uvec4 color;
void main()
{
    uvec2 i = uvec2(gl_FragCoord.xy);
    uint v = i.x * 31u + i.y + bias;
    for (uint r = 0u; r < p.rounds; r++)
        v = p.mode == 0u ? v * p.factor + r : v ^ v << p.factor;
    color = uvec4(v, p.mode, i);
}
