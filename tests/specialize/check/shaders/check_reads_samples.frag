/* SPDX-License-Identifier: MIT */
// Reads an input attachment of several samples. CASE 0 is the plain one.
#version 450
layout(constant_id = 0) const int CASE = 0;
layout(location = 0) in vec2 uv;
layout(location = 0) out vec4 color;
layout(input_attachment_index = 0, set = 0, binding = 0) uniform subpassInputMS colors;
layout(push_constant) uniform Push { vec4 offset; float factor; } push;

void main()
{
    color = push.offset;
    for (int i = 0; i < 4; i++)
        color += subpassLoad(colors, i) * push.factor;
    if (CASE == 1 && subpassLoad(colors, 3).x > 0.4)
        color.y = 0.0;
    const float there = subpassLoad(colors, 2).y * 4.0;
    if (CASE == 3 && abs(there - round(there)) > 0.05)
        color.y = 0.0;
    if (CASE == 2 && gl_SampleID == 1)
        color.x = intBitsToFloat(floatBitsToInt(color.x) ^ 1);
}
