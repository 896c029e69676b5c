/* SPDX-License-Identifier: MIT */
#version 450

// Writes rt1: the normal and the distance. 0: no geometry.

layout(location = 0) in vec3 normal;
layout(location = 1) in float away;
layout(location = 0) out vec4 surface;

void main()
{
    surface = vec4(normalize(normal), away);
}
