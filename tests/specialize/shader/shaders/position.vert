/* SPDX-License-Identifier: MIT */
#version 450
layout(push_constant) uniform Push {
    float x;
} push;
layout(location = 0) out float y;
void main()
{
    y = push.x;
    gl_Position = vec4(0.0, 0.0, 0.0, 1.0);
}
