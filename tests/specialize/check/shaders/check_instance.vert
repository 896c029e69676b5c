/* SPDX-License-Identifier: MIT */
// Covers everything, and says which instance it is.
#version 450
layout(location = 0) flat out int instance;

void main()
{
    vec2 uv = vec2((gl_VertexIndex << 1) & 2, gl_VertexIndex & 2);
    instance = gl_InstanceIndex;
    gl_Position = vec4(uv * 2.0 - 1.0, 0.5, 1.0);
}
