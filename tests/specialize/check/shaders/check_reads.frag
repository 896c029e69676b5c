/* SPDX-License-Identifier: MIT */
// Reads what an earlier subpass has left: two colors, and a depth. CASE 0 is the plain one.
#version 450
layout(constant_id = 0) const int CASE = 0;
layout(location = 0) in vec2 uv;
layout(location = 0) out vec4 color;
layout(input_attachment_index = 1, set = 0, binding = 0) uniform subpassInput colors[2];
layout(input_attachment_index = 0, set = 0, binding = 1) uniform subpassInput depth;
layout(push_constant) uniform Push { vec4 offset; float factor; } push;

void main()
{
    vec4 a = subpassLoad(colors[0]), b = subpassLoad(colors[1]);
    float z = subpassLoad(depth).x;
    color = a * push.factor + b + push.offset;
    color.w = z;
    if (CASE == 1)
        color = b * push.factor + a + push.offset;
    if (CASE == 2 && ivec2(gl_FragCoord.xy) == ivec2(17, 23))
        color.y = 0.125 - color.y;
    if (CASE == 3 && z == 0.25)
        color.x = 0.0;
    if (CASE == 4 && a.x > 0.5)
        color.x = intBitsToFloat(floatBitsToInt(color.x) ^ 1);
    if (CASE == 6 && abs(z * 4.0 - round(z * 4.0)) > 0.05)
        color.x = 0.0;
    if (CASE == 5 && a.z != 0.0 && a.z != b.z) // not if these were the depth
        color.x = 0.0;
}
