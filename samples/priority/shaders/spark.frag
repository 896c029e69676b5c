/* SPDX-License-Identifier: MIT */
#version 450

// A spark that dies away, and a ring that grows out of it.

layout(location = 0) in vec2 inside;
layout(location = 1) in float age;
layout(location = 0) out vec4 colour;

void main()
{
    float r = length(inside);
    float fade = (1.0 - age) * max(1.0 - r, 0.0);
    float ring = exp(-pow((r - age * 0.85) * 14.0, 2.0)) * fade * 0.9;
    float spark = exp(-r * r * 90.0) * (1.0 - age);
    colour = vec4(vec3(1.0, 0.86, 0.55) * spark + vec3(0.55, 0.8, 1.0) * ring, 0.0);
}
