/* SPDX-License-Identifier: MIT */
#version 450
#extension GL_GOOGLE_include_directive : require
#include "../../common/shaders/hash.glsl"
#include "../../common/shaders/develop.glsl"

// Draws the sky where there is no geometry, smooths edges, and applies the tone curve.

layout(set = 0, binding = 0) uniform sampler2D source; // alpha 0: no geometry

layout(push_constant) uniform Push {
    vec2 texel;
    float horizon; // its height in the picture, from 0 at the top
    float aspect;
} push;

layout(location = 0) in vec2 place;
layout(location = 0) out vec4 colour;

vec3 sky(vec2 at)
{
    float high = max((push.horizon - at.y) * 2.2, 0.0);
    vec3 c = mix(vec3(0.62, 0.40, 0.32), vec3(0.30, 0.26, 0.42), smoothstep(0.0, 0.35, high));
    return mix(c, vec3(0.050, 0.075, 0.20), smoothstep(0.15, 1.1, high));
}

vec3 toned(vec2 at)
{
    vec4 c = textureLod(source, at, 0.0);
    vec3 light = c.rgb + sky(at) * (1.0 - c.a);
    float peak = max(light.r, max(light.g, light.b));
    light += 0.05 * peak * peak / (1.0 + 0.4 * peak);
    return 1.0 - exp(-0.95 * light);
}

float bright(vec3 c)
{
    return sqrt(dot(c, vec3(0.3, 0.59, 0.11)));
}

void main()
{
    vec2 t = push.texel;
    vec3 here = toned(place);
    float m = bright(here);
    float nw = bright(toned(place + t * vec2(-0.5, -0.5)));
    float ne = bright(toned(place + t * vec2(0.5, -0.5)));
    float sw = bright(toned(place + t * vec2(-0.5, 0.5)));
    float se = bright(toned(place + t * vec2(0.5, 0.5)));
    float least = min(m, min(min(nw, ne), min(sw, se)));
    float most = max(m, max(max(nw, ne), max(sw, se)));
    if (most - least > max(0.03, most * 0.08)) {
        vec2 along = vec2(sw + se - nw - ne, nw + sw - ne - se);
        float rest = max((nw + ne + sw + se) * 0.03, 0.008);
        along *= 1.0 / (min(abs(along.x), abs(along.y)) + rest);
        along = clamp(along, -8.0, 8.0) * t;
        vec3 close = 0.5 * (toned(place - along / 6.0) + toned(place + along / 6.0));
        vec3 wide = 0.5 * close + 0.25 * (toned(place - along * 0.5) + toned(place + along * 0.5));
        float b = bright(wide);
        here = b < least || b > most ? close : wide;
    }
    vec2 off = (place - 0.5) * vec2(1.0, 1.0 / push.aspect);
    here *= 1.0 - 0.9 * dot(off, off);
    here = mix(here, here * here * (3.0 - 2.0 * here), 0.35);
    colour = vec4(develop(here), 1.0);
}
