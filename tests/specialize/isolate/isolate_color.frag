/* SPDX-License-Identifier: MIT */
#version 450
// A color that depends on a constant, by less than a byte shows.
layout(constant_id = 0) const float factor = 1.0;
layout(push_constant) uniform Push
{
    vec4 tint;
}
push;
layout(location = 0) in vec2 where;
layout(location = 0) out vec4 color;
void main()
{
    color = push.tint * (abs(where.x) * factor);
}
