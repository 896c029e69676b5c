/* SPDX-License-Identifier: MIT */
// Inputs that checks don't vary, or do, where push.mode is folded as 1, or push.k as 2: each case a module of its own
// (needed.c).
#version 450
#extension GL_EXT_multiview : require
#extension GL_EXT_device_group : require
#extension GL_EXT_fragment_shading_rate : require
#extension GL_ARB_shader_texture_image_samples : require
layout(push_constant) uniform Push {
    int mode;
    float k;
    float far;
} push;
layout(binding = 2) readonly buffer In {
    float numbers[];
} given;
layout(binding = 7) uniform sampler2DMS several;
layout(location = 0) in vec2 place;
#if defined(CASE_FLAT) || defined(CASE_FLAT_BESIDE)
layout(location = 2) flat in float own;
#endif
layout(location = 0) out float color;
layout(location = 1) out float other;

float scaled(int n)
{
    return (float(n) + 0.1) * push.k;
}

void main()
{
#if defined(CASE_FLAT_BESIDE) || defined(CASE_SMOOTH_BESIDE) || defined(CASE_WHERE)
    float r = push.k, beside = place.y;
#else
    float r = place.x + push.k, beside = place.y;
#endif
#ifdef CASE_LAYER
    r = (float(gl_Layer) + 0.1) * push.k;
#endif
#ifdef CASE_LAYER_CALL
    r = scaled(gl_Layer);
#endif
#ifdef CASE_LAYER_BESIDE
    beside = float(gl_Layer);
#endif
#ifdef CASE_LAYER_DECIDES
    // one side is never come to
    if (gl_Layer == 1)
        r = place.y * push.k;
#endif
#ifdef CASE_LAYER_BUFFER
    // there is something else in each
    r = given.numbers[gl_Layer] * push.k;
#endif
#ifdef CASE_LAYER_OWN
    const float own[3] = {1.0, 2.5, 3.25};
    r = own[gl_Layer % 3] * push.k;
#endif
#ifdef CASE_VIEWPORT
    r = float(gl_ViewportIndex) * push.k;
#endif
#ifdef CASE_PRIMITIVE
    r = float(gl_PrimitiveID) * push.k;
#endif
#ifdef CASE_PRIMITIVE_HASHED
    r = place.x + push.k + uintBitsToFloat(uint(gl_PrimitiveID) * 747796405u);
#endif
#ifdef CASE_DEVICE
    r = float(gl_DeviceIndex) * push.k;
#endif
#ifdef CASE_RATE
    r = float(gl_ShadingRateEXT) * push.k;
#endif
#ifdef CASE_VIEW
    r = float(gl_ViewIndex) * push.k;
#endif
#ifdef CASE_FLAT
    r = (own + 0.1) * push.k;
#endif
#ifdef CASE_FLAT_BESIDE
    beside = own;
#endif
#ifdef CASE_SMOOTH
    r = (place.y + 0.1) * push.k;
#endif
#ifdef CASE_SMOOTH_BESIDE
    beside = place.y + 0.1;
#endif
#ifdef CASE_WHERE
    r = (gl_FragCoord.x + 0.1) * push.k;
#endif
#ifdef CASE_FACING
    r = gl_FrontFacing ? push.k : place.x;
#endif
#ifdef CASE_SAMPLES
    r = float(textureSamples(several)) * push.k;
#endif
#ifdef CASE_SAMPLES_BESIDE
    beside = float(textureSamples(several));
#endif
    color = r;
    other = beside;
}
