/* SPDX-License-Identifier: MIT */
#version 450
layout(push_constant) uniform Push { uint rounds, mode, factor; } push;
layout(location = 0) in vec2 place;
layout(location = 0) out vec4 color;

void main()
{
    uvec2 at = uvec2(gl_FragCoord.xy);
    uint v = at.x * 31u + at.y;
    for (uint r = 0u; r < push.rounds; r++)
        v = push.mode == 0u ? v * push.factor + r : v ^ v << push.factor;
    color = vec4(v & 255u, v >> 8 & 255u, v >> 16 & 255u, 255u) * (1.0 / 255.0) *
            vec4(vec3(place.x < 0.25 ? 0.0 : 1.0), 1.0);
}
