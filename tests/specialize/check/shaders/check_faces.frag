/* SPDX-License-Identifier: MIT */
// CASE 0 is the plain one; 1 differs from it on one side of triangles, 2 on the other.
#version 450
layout(constant_id = 0) const int CASE = 0;
layout(location = 0) in vec2 uv;
layout(location = 0) out vec4 color;

void main()
{
    color = vec4(uv, CASE == 1 && gl_FrontFacing || CASE == 2 && !gl_FrontFacing ? 0.5 : 0.25, 1.0);
}
