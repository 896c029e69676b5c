/* SPDX-License-Identifier: MIT */
#version 450
// Two colors, of which the second's alpha alone depends on a constant.
layout(constant_id = 0) const float factor = 1.0;
layout(push_constant) uniform Push
{
    vec4 tint;
}
push;
layout(location = 0) in vec2 where;
layout(location = 0) out vec4 color;
layout(location = 1) out vec4 beside;
void main()
{
    color = push.tint;
    beside = vec4(push.tint.xyz, push.tint.w * (abs(where.x) * factor));
}
