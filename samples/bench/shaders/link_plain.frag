/* SPDX-License-Identifier: MIT */
#version 450

/* Without push constants: there is nothing to watch. */
layout(location = 0) out vec4 color;

void main()
{
    color = vec4(fract(gl_FragCoord.xy / 64), 0, 1);
}
