/* SPDX-License-Identifier: MIT */
#version 450

// One triangle that covers the screen.

layout(location = 0) out vec2 place;

void main()
{
    place = vec2(float(gl_VertexIndex << 1 & 2), float(gl_VertexIndex & 2));
    gl_Position = vec4(place * 2.0 - 1.0, 0.0, 1.0);
}
