/* SPDX-License-Identifier: MIT */
#version 450
layout(constant_id = 0) const int mode = 0;
layout(push_constant) uniform Push
{
    vec4 tint;
}
push;
layout(location = 0) in vec2 where;
layout(location = 0) out vec4 color;
void main()
{
    color = mode == 1 ? push.tint * where.x : push.tint;
}
