/* SPDX-License-Identifier: MIT */
#version 450

// The blend constant does it: what earlier frames left is dimmed, nothing is added.

layout(location = 0) out vec4 colour;

void main()
{
    colour = vec4(0.0);
}
