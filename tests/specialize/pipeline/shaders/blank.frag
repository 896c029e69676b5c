/* SPDX-License-Identifier: MIT */
#version 450
/* Reads no push constants. */
layout(location = 0) out vec4 color;

void main()
{
    color = vec4(1.0);
}
