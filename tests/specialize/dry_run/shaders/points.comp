/* SPDX-License-Identifier: MIT */
// Blocks, and choices between floats: one case for each, told apart by their instructions.
#version 450
layout(local_size_x = 32) in;
layout(push_constant, std430) uniform Push {
    int which, a, b;
} push;
layout(binding = 0) buffer Out {
    uint words[];
} result;

float sum(float x, float y)
{
    float all = 0.0;
    for (int i = 0; i < int(x); i++) {
        if (y < 0.0)
            return all;
        all += y;
    }
    return all;
}

void main()
{
    const float x = intBitsToFloat(push.a), y = intBitsToFloat(push.b);
    float r = 0.0;
    switch (push.which) {
    case 0:
        if (x < y)
            r = 1.0;
        else
            r = 2.0;
        break;
    case 1:
        r = min(x, y);
        break;
    case 2: {
        const vec2 both = max(vec2(x, y), vec2(0.0));
        r = both.x + 2.0 * both.y;
        break;
    }
    case 3:
        r = clamp(x, -1.0, 1.0);
        break;
    case 4:
        r = sign(x);
        break;
    case 5:
        r = step(y, x);
        break;
    case 6:
        r = mod(x, y);
        break;
    case 7:
        r = dot(mix(vec2(2.0), vec2(3.0), lessThan(vec2(x, y), vec2(0.0))), vec2(1.0));
        break;
    case 8:
        r = smoothstep(0.0, 1.0, x);
        break;
    case 9:
        r = sum(x, y);
        break;
    case 12:
        r = float(min(int(x), int(y)));
        break;
    case 13:
        r = float(max(uint(int(x)), uint(int(y))));
        break;
    case 14:
        r = float(clamp(int(x), -1, 1));
        break;
    case 15:
        r = float(mix(ivec2(push.a, 3), ivec2(4, push.b), lessThan(vec2(x, y), vec2(0.0))).y);
        break;
    case 16:
        r = faceforward(vec2(1.0, 2.0), vec2(x, 0.0), vec2(y, 1.0)).y;
        break;
    case 17:
        r = refract(vec2(x, y), vec2(0.0, 1.0), 2.0).x;
        break;
    case 11:
        r = x;
        if (x < y) // whoever doesn't is seen by no block
            r = 7.0;
        break;
    }
    result.words[gl_LocalInvocationIndex] = floatBitsToUint(r);
}
