/* SPDX-License-Identifier: MIT */
// CASE 0 is the plain one; the others differ from it somewhere.
#version 450
layout(constant_id = 0) const int CASE = 0;
layout(location = 0) in vec2 uv;
layout(location = 0) out vec4 color;
layout(set = 0, binding = 0) uniform sampler2D image;
layout(set = 0, binding = 1) uniform Block { vec4 factor; } block;
layout(push_constant) uniform Push { vec4 offset; float factor; } push;

void main()
{
    vec4 c = texture(image, uv) + push.offset;
    color = CASE == 1 ? c * push.factor * block.factor : c * block.factor * push.factor;
    if (CASE == 2 && ivec2(gl_FragCoord.xy) == ivec2(17, 23))
        color.y = 0.125 - color.y;
    if (CASE == 3 && c.x > 1.15)
        discard;
    if (CASE == 5 && ivec2(gl_FragCoord.xy) == ivec2(190, 90))
        color.y = 0.125 - color.y;
    if (CASE == 4)
        color.w = intBitsToFloat(floatBitsToInt(color.w) ^ 1);
}
