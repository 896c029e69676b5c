/* SPDX-License-Identifier: MIT */
// Writes what it reads. CASE 0 is the plain one.
#version 450
layout(constant_id = 0) const int CASE = 0;
layout(location = 0) in vec2 uv;
layout(location = 0) out vec4 color;
layout(input_attachment_index = 0, set = 0, binding = 0) uniform subpassInput before;
layout(push_constant) uniform Push { vec4 offset; float factor; } push;

void main()
{
    vec4 was = subpassLoad(before);
    color = vec4(7.0, was.yzw * push.factor + push.offset.yzw);
    if (CASE == 1 && was.x > 0.5)
        color.y = 0.0;
    if (CASE == 2 && was.x == 7.0) // not if no fragment lies on another
        color.y = 0.0;
}
