/* SPDX-License-Identifier: MIT */
#version 450
layout(constant_id = 0) const float depth = 0.5;
layout(location = 0) in vec2 place;
layout(location = 0) out vec2 where;
void main()
{
    where = place;
    gl_Position = vec4(place, depth, 1.0);
}
