/* SPDX-License-Identifier: MIT */
#version 450

// Halves the source. Four bilinear taps a texel apart average a 4x4 neighbourhood.

layout(set = 0, binding = 0) uniform sampler2D source;
layout(push_constant) uniform Push {
    vec2 texel; // of the source
    float scale;
} push;

layout(location = 0) in vec2 place;
layout(location = 0) out vec4 colour;

void main()
{
    vec3 sum = textureLod(source, place + push.texel * vec2(-1.0, -1.0), 0.0).rgb;
    sum += textureLod(source, place + push.texel * vec2(1.0, -1.0), 0.0).rgb;
    sum += textureLod(source, place + push.texel * vec2(-1.0, 1.0), 0.0).rgb;
    sum += textureLod(source, place + push.texel * vec2(1.0, 1.0), 0.0).rgb;
    colour = vec4(sum * 0.25 * push.scale, 1.0);
}
