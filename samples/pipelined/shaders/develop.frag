/* SPDX-License-Identifier: MIT */
#version 450
#extension GL_GOOGLE_include_directive : require
#include "../../common/shaders/hash.glsl"

// Converts light to a picture: background, bloom, tone curve, vignette, sRGB, and a dither below
// one step of the eight bits.

layout(constant_id = 0) const bool ENCODE = true; // false: the target encodes

layout(set = 0, binding = 0) uniform sampler2D source;
layout(set = 0, binding = 1) uniform sampler2D bloom;
layout(push_constant) uniform Push {
    vec2 texel;
    float scale;    // exposure
    float aspect;
} push;

layout(location = 0) in vec2 place;
layout(location = 0) out vec4 colour;

void main()
{
    vec3 light = texelFetch(source, ivec2(gl_FragCoord.xy), 0).rgb;
    light += 0.13 * textureLod(bloom, place, 0.0).rgb;
    light *= push.scale;

    vec2 off = (place - 0.5) * vec2(push.aspect, 1.0);
    float far = dot(off, off);
    light += vec3(0.0042, 0.0050, 0.0125) * exp(-2.2 * far);
    light *= 1.0 / (1.0 + 0.35 * far + 0.5 * far * far); // light fall-off towards the corners

    // Bright light loses its colour towards white, as on film, and nothing clips.
    float peak = max(light.r, max(light.g, light.b));
    light += 0.06 * peak * peak / (1.0 + 0.25 * peak);
    light = 1.0 - exp(-1.25 * light);
    light = mix(light, light * light * (3.0 - 2.0 * light), 0.8);
    if (ENCODE)
        light = mix(12.92 * light, 1.055 * pow(light, vec3(1.0 / 2.4)) - 0.055,
                    greaterThan(light, vec3(0.0031308)));

    uint pixel = uint(gl_FragCoord.y) * 8192u + uint(gl_FragCoord.x);
    float grain = unit(pixel) + unit(pixel ^ 0x5bd1e995u) - 1.0;
    colour = vec4(light + grain * (0.75 / 255.0), 1.0);
}
