/* SPDX-License-Identifier: MIT */
#version 450
layout(push_constant) uniform Push {
    float x;
} push;
void main()
{
    gl_FragDepth = push.x;
}
