/* SPDX-License-Identifier: MIT */
#version 450
#extension GL_GOOGLE_include_directive : require
#include "../../common/shaders/hash.glsl"
#include "../../common/shaders/develop.glsl"

// Shows the logarithm of the counts, since these differ by powers of ten.

layout(set = 0, binding = 0) uniform sampler2D source;

layout(location = 0) in vec2 place;
layout(location = 0) out vec4 colour;

void main()
{
    vec3 light = texelFetch(source, ivec2(gl_FragCoord.xy), 0).rgb;
    float peak = max(light.r, max(light.g, light.b));
    float shown = 1.0 - exp(-0.42 * log(1.0 + 2.2 * peak)); // less than 1
    light *= shown / max(peak, 1e-6);
    // Bright light loses its colour towards white.
    light = mix(light, vec3(shown), pow(shown, 8.0) * 0.9);

    vec2 off = place - 0.5;
    light += vec3(0.0035, 0.0045, 0.0085) * (1.0 - 1.6 * dot(off, off));
    colour = vec4(develop(light), 1.0);
}
