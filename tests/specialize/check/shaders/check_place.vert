/* SPDX-License-Identifier: MIT */
// What vertex buffers say.
#version 450
#extension GL_EXT_multiview : enable
layout(location = 0) in vec3 position;
layout(location = 1) in vec2 texture_uv;
layout(location = 2) in uint number;
layout(location = 3) in vec4 tint;
layout(location = 0) out vec2 uv;

void main()
{
    uv = texture_uv + tint.xy + vec2(number & 3u);
    gl_Position = vec4(position, 1.0);
}
