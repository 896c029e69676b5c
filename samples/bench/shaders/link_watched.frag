/* SPDX-License-Identifier: MIT */
#version 450

/* With push constants that decide what it does. */
layout(location = 0) out vec4 color;
layout(push_constant) uniform Push
{
    uint mode;
    float scale;
}
push;

void main()
{
    vec2 at = fract(gl_FragCoord.xy / 64);
    color = push.mode == 0 ? vec4(at * push.scale, 0, 1) : vec4(at, push.scale, 1);
}
