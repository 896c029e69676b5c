/* SPDX-License-Identifier: MIT */
#version 450
layout(push_constant) uniform Block { uint mode; } p;
void main()
{
    gl_FragDepth = p.mode == 0u ? 0.25 : 0.5;
}
