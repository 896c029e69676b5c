/* SPDX-License-Identifier: MIT */
#version 450

// The picture, with the curve over it.

layout(constant_id = 0) const bool ENCODE = true; // the target takes encoded values

layout(push_constant) uniform Push {
    uvec2 size;
    uvec2 panel_at;
    uvec2 panel_size; // 0: no panel
} push;

layout(std430, set = 0, binding = 0) readonly buffer Picture {
    uint picture[];
};
layout(std430, set = 0, binding = 1) readonly buffer Panel {
    uint panel[]; // colours multiplied by alpha
};

layout(location = 0) in vec2 place;
layout(location = 0) out vec4 colour;

void main()
{
    uvec2 p = min(uvec2(gl_FragCoord.xy), push.size - 1u);
    vec4 c = unpackUnorm4x8(picture[p.y * push.size.x + p.x]);
    uvec2 in_panel = p - push.panel_at; // wraps to a large number left of the panel and above it
    if (all(lessThan(in_panel, push.panel_size))) {
        vec4 over = unpackUnorm4x8(panel[in_panel.y * push.panel_size.x + in_panel.x]);
        c.rgb = c.rgb * (1.0 - over.a) + over.rgb;
    }
    if (!ENCODE)
        c.rgb = mix(c.rgb / 12.92, pow((c.rgb + 0.055) / 1.055, vec3(2.4)),
                    greaterThan(c.rgb, vec3(0.04045)));
    colour = vec4(c.rgb, 1.0);
}
