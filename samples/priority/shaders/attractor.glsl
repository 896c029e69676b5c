/* SPDX-License-Identifier: MIT */
// Clifford's attractor: where a point goes next. The constants are the picture's seed.

layout(push_constant) uniform Push {
    vec4 constants;
    uvec2 size; // of the field
    uint steps;
    uint number;
} push;

vec2 next(vec2 p)
{
    return vec2(sin(push.constants.x * p.y) + push.constants.z * cos(push.constants.x * p.x),
                sin(push.constants.y * p.x) + push.constants.w * cos(push.constants.y * p.y));
}

// From 0 to 1 in the field.
vec2 place_of(vec2 p)
{
    vec2 reach = 1.0 + abs(push.constants.zw);
    return 0.5 + 0.475 * p / reach;
}
