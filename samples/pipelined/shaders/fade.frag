/* SPDX-License-Identifier: MIT */
#version 450

// Dims the light of earlier frames by the blend constant; the colour is ignored.

layout(location = 0) out vec4 colour;

void main()
{
    colour = vec4(0.0);
}
