/* SPDX-License-Identifier: MIT */
#version 450

// Zeros and infinities that are folded, computed with what isn't constant: whether a device keeps what comes of that
// (runtime/specialize/keeping.c). All that is finite here is exact.

layout(local_size_x = 16) in;
layout(push_constant, std430) uniform Push {
    float zero, minus_zero, infinity, one;
} push;
layout(binding = 0, std430) writeonly buffer Out {
    float words[];
} result;

uint at = gl_LocalInvocationIndex * 16u;

void put(float value)
{
    result.words[at] = value;
    at++;
}

void main()
{
    const uint bits[8] = uint[](0x7f800000u, 0xff800000u, 0x7fc00000u, 0x80000000u, 0u, 0x3f800000u,
                                0xbf800000u, 0x40000000u);
    const float x = uintBitsToFloat(bits[gl_LocalInvocationIndex & 7u]),
                y = uintBitsToFloat(bits[(gl_LocalInvocationIndex * 3u + 1u) >> 1u & 7u]);
    put(x * push.zero);
    put(push.zero * x);
    put(x * push.minus_zero);
    put(x * push.infinity);
    put(x * (push.one - push.one));
    put(x + push.zero);
    put(push.minus_zero + x);
    put(x - push.zero);
    put(push.zero - x);
    put(x + push.infinity);
    put(x - push.infinity);
    put(push.infinity - x);
    put(dot(vec2(x, y), vec2(push.zero, push.one)));
    const vec2 scaled = vec2(x, y) * push.zero;
    put(scaled.x + scaled.y);
    const vec2 turned = mat2(push.one, push.zero, push.zero, push.one) * vec2(x, y);
    put(turned.x);
    put(turned.y);
}
