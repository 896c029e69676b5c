/* SPDX-License-Identifier: MIT */
// Products and their sums, in forms that compilers contract, and one that they may not.
#version 450
layout(local_size_x = 64) in;
layout(push_constant) uniform Push
{
    float k;
}
push;
layout(set = 0, binding = 0, std430) buffer Words
{
    float words[];
};
layout(set = 0, binding = 2, std430) readonly buffer Given
{
    float given[];
};

float scaled(float a)
{
    return a * push.k;
}

void main()
{
    const uint i = gl_LocalInvocationIndex;
    const float x = given[i], y = given[i + 64];
    const vec2 both = vec2(x, y) * push.k - vec2(y, x);
    precise float apart = x * push.k + y;
    words[4 * i] = scaled(x) + y;
    words[4 * i + 1] = apart;
    words[4 * i + 2] = both.x;
    words[4 * i + 3] = y - x * push.k;
}
