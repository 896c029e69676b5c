/* SPDX-License-Identifier: MIT */
#version 450
#extension GL_GOOGLE_include_directive : require
#include "../../common/shaders/hash.glsl"
#include "../../common/shaders/develop.glsl"

// Shows how often walkers came by: brighter the oftener, in a colour that tells where they came from.
// The curves lie over it.

layout(set = 0, binding = 0, std430) readonly buffer Field {
    uvec2 field[];
};
layout(set = 0, binding = 1, std430) readonly buffer Panel {
    uint panel[]; // premultiplied
};

layout(push_constant) uniform Push {
    uvec2 size;
    uvec2 panel_size; // 0: there is none
    vec2 panel_at;    // its upper left corner, in pixels of the picture
    float dot;        // a pixel of it, in pixels of the picture
    float turn;       // the angle and the hue, in radians
    float zoom;
    float lift; // how far the middle is above that of the picture, which is 1 high
    float exposure; // 1 over the mean number of marks
} push;

layout(location = 0) in vec2 place;
layout(location = 0) out vec4 colour;

vec2 marks(uvec2 at)
{
    return vec2(field[at.y * push.size.x + at.x]);
}

void main()
{
    vec2 off = place - vec2(0.5, 0.5 - push.lift);
    float c = cos(push.turn), s = sin(push.turn);
    vec2 aspect = vec2(float(push.size.x) / float(push.size.y), 1.0);
    vec2 turned = mat2(c, s, -s, c) * (off * aspect) / aspect * push.zoom + 0.5;
    vec2 at = clamp(turned * vec2(push.size) - 0.5, vec2(0.0), vec2(push.size) - 1.001);
    uvec2 low = uvec2(at);
    vec2 part = fract(at);
    vec2 m = mix(mix(marks(low), marks(low + uvec2(1, 0)), part.x),
                 mix(marks(low + uvec2(0, 1)), marks(low + uvec2(1, 1)), part.x), part.y);

    float density = log2(1.0 + m.x * push.exposure * 6.0) * 0.145;
    float from = m.x > 0.0 ? m.y / (m.x * 255.0) : 0.0;
    vec3 hue = 0.5 + 0.5 * cos(6.2831853 * (from * 0.85 + vec3(0.62, 0.42, 0.18)) + push.turn * 2.0);
    vec3 light = hue * hue * density * density * 1.9 + vec3(0.95, 0.9, 1.0) * pow(density, 5.0) * 0.7;
    light += vec3(0.003, 0.005, 0.012) * (1.2 - dot(off, off));
    light = 1.0 - exp(-1.7 * light);

    vec2 dot_at = floor((gl_FragCoord.xy - push.panel_at) / push.dot);
    if (all(greaterThanEqual(dot_at, vec2(0.0))) && all(lessThan(dot_at, vec2(push.panel_size)))) {
        vec4 ink = unpackUnorm4x8(panel[uint(dot_at.y) * push.panel_size.x + uint(dot_at.x)]);
        light = light * (1.0 - ink.a) + ink.rgb * ink.rgb;
    }
    colour = vec4(develop(light), 1.0);
}
