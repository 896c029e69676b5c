/* SPDX-License-Identifier: MIT */
// CASE 0 is the plain one; the others differ from it in one sample of one pixel.
#version 450
layout(constant_id = 0) const int CASE = 0;
layout(location = 0) in vec2 uv;
layout(location = 0) out uvec4 color;
layout(set = 0, binding = 0) uniform sampler2D image;
layout(set = 0, binding = 1) uniform Block { vec4 factor; } block;
layout(push_constant) uniform Push { vec4 offset; float factor; } push;

void main()
{
    uvec2 at = uvec2(gl_FragCoord.xy);
    color = uvec4(at, uint(push.factor * 4.0), at.x ^ at.y);
    if (CASE == 1 && at == uvec2(17, 23) && gl_SampleID == 3)
        color.x ^= 1u;
}
