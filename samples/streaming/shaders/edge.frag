/* SPDX-License-Identifier: MIT */
#version 450

layout(location = 0) in vec2 across;
layout(location = 0) out vec4 colour;

void main()
{
    float thin = max(0.0, 1.0 - abs(across.x) * 1.5);
    colour = vec4(vec3(0.030, 0.036, 0.050) * thin * across.y * across.y, 0.0);
}
