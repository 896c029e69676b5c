/* SPDX-License-Identifier: MIT */
// Which sides of the last choice of each case, a module of its own, can be taken where push.mode is folded as 1
// (ranges.c).
#version 450
#extension GL_EXT_shader_explicit_arithmetic_types : require
layout(local_size_x = 32) in;
layout(push_constant, std430) uniform Push {
    int mode;
    float k;
    float far;
} push;
layout(binding = 0) buffer Out {
    float words[];
} result;
layout(binding = 2) readonly buffer In {
    float numbers[];
} given;

void main()
{
    const uint i = gl_LocalInvocationIndex;
    const float x = given.numbers[i] * float(push.mode), y = given.numbers[i + 32];
    const float unit = clamp(x, 0.0, 1.0);
    float r = x;
#ifdef CASE_ANY
    r = clamp(x, 0.0, 1.0);
#endif
#ifdef CASE_SCALED
    r = clamp(unit * 255.0 + 0.5, 0.0, 255.0);
#endif
#ifdef CASE_HALVED
    r = clamp(unit * 0.5 + 0.25, 0.0, 1.0);
#endif
#ifdef CASE_BELOW
    r = clamp(unit - 3.0, -1.0, 1.0);
#endif
#ifdef CASE_DITHERED
    const uint v = (i & 1u) << 5 | (i & 2u) << 3 | (i & 4u) << 1 | (i & 8u) >> 1;
    r = clamp(unit * 255.0 + 0.5 + (float(v) / 64.0 - 0.4921875), 0.0, 300.0);
#endif
#ifdef CASE_NAN
    // which the lesser of it and 5 may lose
    r = clamp(min(unit, 5.0), 0.0, 2.0);
#endif
#ifdef CASE_LOOP
    float sum = 0.0;
    for (uint n = 0u; n < i; n++)
        sum += unit;
    r = clamp(sum, 0.0, 100.0);
#endif
#ifdef CASE_DEAD_BLOCK
    if (unit > 2.0)
        r = clamp(y * x, 0.0, 1.0);
#endif
#ifdef CASE_NAN_BLOCK
    if (!(unit <= 2.0))
        r = clamp(y * x, 0.0, 1.0);
#endif
#ifdef CASE_DEAD_CASE
    switch (int(i & 3u) + 1) {
    case 5:
        r = clamp(y * x, 0.0, 1.0);
        break;
    case 1:
        r = y;
        break;
    }
#endif
#ifdef CASE_TAKEN_CASE
    switch (int(min(max(y, 0.0), 3.0) + 1.0)) {
    case 3:
        r = clamp(y * x, 0.0, 1.0);
        break;
    case 1:
        r = y;
        break;
    }
#endif
#ifdef CASE_DIVIDED
    // a host may divide otherwise than a device, but not by so much
    r = clamp(unit * 0.25 + push.k / 4.0, 0.0, 1.0);
#endif
#ifdef CASE_DIVIDED_CLOSE
    r = clamp(unit * 0.5 + push.k / 4.0, 0.0, 1.0);
#endif
#ifdef CASE_RELAXED
    mediump float m = unit;
    m = m * 0.5;
    highp float h = m;
    r = clamp(h + 0.25, 0.0, 1.0);
#endif
#ifdef CASE_CHOSEN
    r = mix(y, x, unit > 2.0);
#endif
#ifdef CASE_STEP
    r = step(2.0, unit);
#endif
#ifdef CASE_SMOOTH
    r = smoothstep(-1.0, 2.0, unit);
#endif
#ifdef CASE_SIGN
    r = sign(unit + 0.5);
#endif
#ifdef CASE_UNSIGNED
    r = float(min(i & 7u, 9u));
#endif
#ifdef CASE_SIGNED
    r = float(min(int(x), 9));
#endif
#ifdef CASE_PHI
    float p = unit;
    if (y > 1.0)
        p = 3.0;
    r = clamp(p, 0.0, 2.0);
#endif
#ifdef CASE_SQUARE
    r = clamp(x * x, 0.0, 1.0);
#endif
#ifdef CASE_MATRIX
    mat2 m = mat2(unit, -3.0, 3.0, unit);
    m = m * m;
    r = clamp(m[0][0], 0.0, 20.0);
#endif
#ifdef CASE_DOT
    const vec2 v = vec2(unit, -3.0);
    r = clamp(dot(v, v), 0.0, 20.0);
#endif
#ifdef CASE_DENORMAL
    r = clamp(clamp(x, 1e-41, 1.0), 1e-42, 2.0);
#endif
#ifdef CASE_LENGTH
    r = clamp(length(vec2(x, y)), -1.0, 1.0);
#endif
#ifdef CASE_SINE
    r = clamp(sin(unit), -2.0, 2.0);
#endif
#ifdef CASE_POWER
    r = clamp(pow(max(unit, 0.0), 2.2) * 2.0 - 0.5, -0.25, 1.75);
#endif
#ifdef CASE_LONG
    // above 2^32, too
    const uint64_t long_bits = uint64_t(floatBitsToUint(y)) * uint64_t(push.mode + 70000);
    r = min(float(long_bits), 1e13);
#endif
#ifdef CASE_LONG_SIGNED
    const int64_t long_bits = int64_t(floatBitsToInt(y)) * int64_t(push.mode + 70000);
    r = max(float(long_bits), -1e13);
#endif
#ifdef CASE_BYTE
    const uint8_t byte = uint8_t(floatBitsToUint(y));
    r = min(float(byte) * float(push.mode), 256.5);
#endif
#ifdef CASE_SHORT
    const int16_t part = int16_t(floatBitsToInt(y));
    r = max(float(part) * float(push.mode), -32769.5);
#endif
#ifdef CASE_NORMALIZED
    r = clamp(normalize(vec2(x, y)).x, -2.0, 2.0);
#endif
#ifdef CASE_NORMALIZED_UNIT
    r = clamp(normalize(vec2(unit, 1.0) + 1.0).x, -2.0, 2.0);
#endif
#ifdef CASE_VECTOR
    const vec3 c = clamp(vec3(x, y, unit), 0.0, 1.0);
    r = min(c.x * 0.5, 0.75);
#endif
    result.words[i] = r;
}
