/* SPDX-License-Identifier: MIT */
// What a vertex buffer says, and nothing else.
#version 450
layout(location = 0) in vec4 position;

void main()
{
    gl_Position = position;
}
