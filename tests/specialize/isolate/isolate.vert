/* SPDX-License-Identifier: MIT */
#version 450
layout(location = 0) in vec2 place;
layout(location = 0) out vec2 where;
void main()
{
    where = place;
    gl_Position = vec4(place, 0.5, 1.0);
}
