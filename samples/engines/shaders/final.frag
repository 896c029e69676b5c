/* SPDX-License-Identifier: MIT */
#version 450
#extension GL_GOOGLE_include_directive : require
#include "scene.glsl"

// Light from buf1, colour from the four textures.

layout(set = 0, binding = 1, std430) readonly buffer Lights {
    Light lights[LIGHTS];
};
layout(set = 0, binding = 2, std430) readonly buffer Lit {
    uvec2 lit[];
};
layout(set = 0, binding = 3) uniform sampler2D tex1;
layout(set = 0, binding = 4) uniform sampler2D tex2;
layout(set = 0, binding = 5) uniform sampler2D tex3;
layout(set = 0, binding = 6) uniform sampler2D tex4;

layout(location = 0) in vec3 normal;
layout(location = 1) in float away;
layout(location = 2) in vec2 uv;
layout(location = 3) flat in float material;
layout(location = 0) out vec4 colour;

void main()
{
    ivec2 pixel = ivec2(gl_FragCoord.xy);
    uvec2 packed = lit[pixel.y * push.size.x + pixel.x];
    vec2 rg = unpackHalf2x16(packed.x), bs = unpackHalf2x16(packed.y);
    vec3 light = vec3(rg, bs.x);

    vec3 c;
    if (material == GLOW) {
        c = lights[uint(uv.x + 0.5)].colour.rgb * 3.0 + 0.6;
    } else if (material == 0.0) {
        c = texture(tex1, uv).rgb * light + 0.30 * bs.y;
    } else if (material == 1.0) {
        c = texture(tex2, uv).rgb * light + 0.12 * bs.y;
    } else if (material == 2.0) {
        vec3 metal = texture(tex3, uv).rgb;
        c = metal * (0.75 * light + 1.6 * bs.y);
    } else {
        c = texture(tex4, uv).rgb * light + 0.35 * bs.y;
    }
    // Haze.
    float haze = 1.0 - exp(-0.0016 * away * away);
    colour = vec4(mix(c, vec3(0.62, 0.40, 0.32), haze), 1.0);
}
