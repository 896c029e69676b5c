/* SPDX-License-Identifier: MIT */
// Has three corners, and no more.
#version 450
layout(location = 0) out vec2 uv;

void main()
{
    const vec2 corners[3] = vec2[](vec2(-1, -1), vec2(3, -1), vec2(-1, 3));
    uv = gl_VertexIndex > 2 || gl_InstanceIndex > 0 ? vec2(100) : corners[gl_VertexIndex];
    gl_Position = vec4(corners[gl_VertexIndex % 3], 0.5, 1.0);
}
