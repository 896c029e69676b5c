/* SPDX-License-Identifier: MIT */
// What a compiler could gather with constants that folding has made, k and mode: each case a module
// of its own (fold.c).
#version 450
layout(local_size_x = 32) in;
layout(push_constant, std430) uniform Push {
    float k;
    int mode;
    float unfolded;
} push;
layout(binding = 0) buffer Words {
    float words[];
} words;

float twice(float a)
{
    return a * 2.0;
}

float either(float a)
{
    if (push.mode == 1)
        return 1.0;
    return a;
}

void main()
{
    const uint i = gl_LocalInvocationIndex;
    const float x = words.words[i];
    float r = x;
#ifdef CASE_REUSED
    float a = push.k;
    a *= x;
    r = a > 0.5 ? 1.0 : 2.0;
#endif
#ifdef CASE_CHOSEN
    const float g = push.mode == 1 ? push.k : x;
    r = x * g;
#endif
#ifdef CASE_DECIDED
    float g = 1.5;
    if (push.mode == 1)
        g = x;
    r = x * g;
#endif
#ifdef CASE_UNDECIDED
    float g = 1.5;
    if (x > 0.5)
        g = 2.5;
    r = x * g * 3.1;
#endif
#ifdef CASE_TABLE
    const float table[3] = float[](1.5, 2.5, 3.5);
    r = x * table[push.mode];
#endif
#ifdef CASE_LOOP
    float g = 1.5;
    for (int n = 0; n < push.mode; n++)
        g = g + x;
    r = g;
#endif
#ifdef CASE_BREAK
    float g = 1.5;
    for (int n = 0; n < 9; n++) {
        if (n == push.mode)
            break;
        g = g + x;
    }
    r = g;
#endif
#ifdef CASE_AROUND
    float g = 1.5;
    if (push.mode == 1) {
        for (int n = 0; n < words.words.length(); n++)
            r = r + g;
    }
#endif
#ifdef CASE_RETURNED
    r = x * either(x);
#endif
#ifdef CASE_COMPARED
    r = x + 0.3 < push.k ? 1.0 : 2.0;
#endif
#ifdef CASE_MOVED
    r = (x + 0.3) + words.words[i + 1] < push.k ? 1.0 : 2.0;
#endif
#ifdef CASE_LIMITED
    float y = twice(x);
    y = y > 1.5 ? y : x - 0.5;
    r = min(-y, push.k);
#endif
#ifdef CASE_UNCOMPARED
    r = x + 0.3 < push.unfolded ? push.k : x * 3.1;
#endif
#ifdef CASE_CANCELLED
    r = x + push.k;
    if (x > 0.5)
        r = r - push.k;
#endif
#ifdef CASE_FACTORED
    r = x * push.k - words.words[i + 1] * push.k;
#endif
#ifdef CASE_BOUND
    r = max(x, x + push.k) < push.k ? 1.0 : 2.0;
#endif
#ifdef CASE_DOUBLED
    r = (x + push.k) + push.k;
    r = r * (-push.k - x - push.k);
    r = r + push.k < -push.k ? r : x;
#endif
#ifdef CASE_NEGATED
    r = (-push.k + x) + push.k;
#endif
#ifdef CASE_UNSIGNED
    r = abs(x - push.k) - push.k;
#endif
#ifdef CASE_PRECISE
    precise float sum = x + push.k;
    precise float product = x * push.k;
    r = (sum - push.k) * (product + words.words[i + 1] * push.k);
    precise float last = r + push.k;
    r = last < push.k ? 1.0 : 2.0;
#endif
#ifdef CASE_SIDES
    r = x * push.k < words.words[i + 1] * push.k ? 1.0 : 2.0;
#endif
#ifdef CASE_APART
    r = (x + push.k) - push.unfolded;
    r = r > push.k ? x * push.k + words.words[i + 1] * push.unfolded : x;
    r = r * (1.0 - push.k) + x * push.k;
#endif
    words.words[i] = r;
    words.words[i + 32] = push.mode == 7 ? push.k : 0.5;
}
