/* SPDX-License-Identifier: MIT */
// Draws nothing, but writes to a buffer.
#version 450
layout(constant_id = 0) const int CASE = 0;
layout(location = 0) in vec2 uv;
layout(std430, set = 0, binding = 0) buffer Out { uint words[]; } target;

void main()
{
    uvec2 at = uvec2(gl_FragCoord.xy);
    if (CASE == 1 && at == uvec2(40, 50))
        return;
    if (CASE == 2 && uv.x > 50.0) // only beyond the first three vertices
        return;
    target.words[at.y * 64 + at.x] = floatBitsToUint(uv.x);
}
