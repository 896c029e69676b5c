/* SPDX-License-Identifier: MIT */
// What only fragment shaders have: each case a module of its own (analysed.c).
#version 450
#extension GL_EXT_demote_to_helper_invocation : require
#extension GL_KHR_shader_subgroup_arithmetic : require
layout(location = 0) flat in int n;
layout(location = 1) in vec2 place;
layout(push_constant) uniform Push {
    int sampled;
} push;
layout(location = 0) out vec4 color;
layout(binding = 0) uniform sampler2D seen;
layout(binding = 2) buffer Out {
    uint word;
} result;
layout(input_attachment_index = 0, binding = 3) uniform subpassInput before;

layout(input_attachment_index = 1, binding = 4) uniform usubpassInput whole;

void main()
{
    float f = 0.0;
#ifdef CASE_FLAT
    for (int k = 0; k < n; k++)
        f += place.x;
#endif
#ifdef CASE_FETCH
    f = texelFetch(seen, ivec2(gl_SampleMaskIn[0], n), 0).x;
#endif
#ifdef CASE_FLOAT_FETCH
    f = texelFetch(seen, ivec2(place * 4.0), 0).x;
#endif
#ifdef CASE_IMPLICIT
    for (int k = 0; float(k) < texture(seen, place).x; k++)
        f += place.x;
#endif
#ifdef CASE_DERIVATIVE
    for (int k = 0; k < floatBitsToInt(dFdx(place.x)); k++)
        f += place.x;
#endif
#ifdef CASE_DISCARD
    for (int k = 0; k < n; k++)
        f += place.x;
    if (f > 3.0)
        discard;
#endif
#ifdef CASE_DISCARD_BEFORE
    if (place.x * 2.0 > 3.0)
        discard;
    for (int k = 0; k < n; k++)
        f += place.x;
#endif
#ifdef CASE_DEMOTE
    if (n == 3)
        demote;
    for (int k = 0; k < n; k++)
        f += place.x;
#endif
#ifdef CASE_DEMOTE_STORES
    if (n == 3)
        demote;
    result.word = 3u;
#endif
#ifdef CASE_SUBPASS
    f = subpassLoad(before).x;
#endif
#ifdef CASE_SUBPASS_STEERS
    for (uint k = 0; k < subpassLoad(whole).x; k++)
        f += place.x;
#endif
#ifdef CASE_SUBPASS_INDEX
    f = texelFetch(seen, ivec2(subpassLoad(whole).xy), 0).x;
#endif
#ifdef CASE_SUBPASS_PARTS
    if (floatBitsToInt(subpassLoad(before).x) > 3)
        f = subgroupAdd(f);
#endif
#ifdef CASE_AT_SAMPLE
    f = interpolateAtSample(place, push.sampled).x;
#endif
#ifdef CASE_AT_SAMPLE_KNOWN
    f = interpolateAtSample(place, 0).x;
#endif
    color = vec4(f);
}
