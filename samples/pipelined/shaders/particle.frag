/* SPDX-License-Identifier: MIT */
#version 450

// Distributes a point's light over the four pixels around it, so that slow motion is smooth.

layout(location = 0) flat in vec3 light;
layout(location = 1) flat in vec2 centre;
layout(location = 0) out vec4 colour;

void main()
{
    vec2 share = max(vec2(0.0), 1.0 - abs(gl_FragCoord.xy - centre));
    colour = vec4(light * (share.x * share.y), 0.0);
}
