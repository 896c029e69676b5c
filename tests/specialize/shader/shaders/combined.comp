/* SPDX-License-Identifier: MIT */
// What is computed with a push constant that is folded, k, and what isn't (fold.c).
#version 450
layout(local_size_x = 32) in;
layout(push_constant, std430) uniform Push {
    float k, unfolded;
} push;
layout(binding = 0) buffer Words {
    float words[];
} words;

float by(float a, float b)
{
    return a * b; // with k for b, wherever it is called
}

float further(float a)
{
    return a + 1.0; // with k, or with what varies
}

void main()
{
    const uint i = gl_LocalInvocationIndex;
    const float x = words.words[i];
    float r = x * push.k; // with k
    r = r + 1.0;
    r = r - push.k; // with k
    const float held = push.k * 2.0; // with k
    r = r + held; // with what is made of it
    r = r * push.unfolded;
    r = r + by(x, push.k);
    r = r + further(push.k);
    r = r + further(x);
    words.words[i] = r;
}
