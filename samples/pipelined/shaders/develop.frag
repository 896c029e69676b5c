#version 450
#extension GL_GOOGLE_include_directive : require
#include "hash.glsl"

// From light to picture: background, bloom, tone curve, vignette, sRGB, and a grain finer than
// the eight bits that are left.

layout(constant_id = 0) const bool ENCODE = true; // false where the target does it

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
    light += 0.10 * textureLod(bloom, place, 0.0).rgb;
    light *= push.scale;

    vec2 off = (place - 0.5) * vec2(push.aspect, 1.0);
    float far = dot(off, off);
    light += vec3(0.0025, 0.0035, 0.0075) * exp(-1.6 * far);
    light *= 1.0 / (1.0 + 0.9 * far * far + 0.25 * far);

    // A filmic curve on each channel; bright light loses its colour on the way to white.
    float peak = max(light.r, max(light.g, light.b));
    light += 0.04 * peak * peak / (1.0 + 0.04 * peak);
    light = clamp(light * (2.51 * light + 0.03) / (light * (2.43 * light + 0.59) + 0.14), 0.0,
                  1.0);
    if (ENCODE)
        light = mix(12.92 * light, 1.055 * pow(light, vec3(1.0 / 2.4)) - 0.055,
                    greaterThan(light, vec3(0.0031308)));

    uint pixel = uint(gl_FragCoord.y) * 8192u + uint(gl_FragCoord.x);
    float grain = unit(pixel) + unit(pixel ^ 0x5bd1e995u) - 1.0;
    colour = vec4(light + grain * (0.75 / 255.0), 1.0);
}
