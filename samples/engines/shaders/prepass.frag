/* SPDX-License-Identifier: MIT */
#version 450

// rt1: which way the surface faces and how far it is. 0 is nothing.

layout(location = 0) in vec3 normal;
layout(location = 1) in float away;
layout(location = 0) out vec4 surface;

void main()
{
    surface = vec4(normalize(normal), away);
}
