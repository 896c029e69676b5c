/* SPDX-License-Identifier: MIT */
// What reaches what exact mode excludes. Each member's fate is written in reach.c.
#version 450

layout(push_constant, std430) uniform Push {
    float direct;       // 0
    float called;       // 4
    float divisor;      // 8
    float modulus;      // 12
    float highest;      // 16
    int quotient;       // 20
    int table;          // 24
    int unrolled;       // 28
    int repeated;       // 32
    int branch;         // 36
    int chosen;         // 40
    float coordinate;   // 44
    float explicit_lod; // 48
    float stored;       // 52
    float derivative;   // 56
    float written;      // 60
    float fraction;     // 64
    float factor;       // 68
    int selected;       // 72
    int switched;       // 76
    float packed_;      // 80
    float mixed;        // 84
    int returned;       // 88
    int left;           // 92
    float compared;     // 96
    float both;         // 100
    int untouched;      // 104
    float negated;      // 108
} push;

layout(set = 0, binding = 0) uniform sampler2D image;
layout(set = 0, binding = 1) buffer Store {
    float values[];
} store;

layout(location = 0) in vec4 colour;
layout(location = 0) out vec4 target;

const float steps[4] = float[](0.1, 0.2, 0.7, 1.3);

void deeper(in float x, out float y)
{
    y = sin(x + 1.0);
}

float library(float x)
{
    float y;
    deeper(x * 2.0, y);
    return y;
}

float early()
{
    if (push.returned == 3)
        return 0.3;
    return 0.7;
}

void main()
{
    vec4 sum = colour;
    sum.x += exp(push.direct * colour.x);
    sum.y += library(push.called);
    sum.z += colour.y / push.divisor;
    sum.w += mod(colour.z, push.modulus);
    sum = max(sum, vec4(push.highest));
    sum.x += float(int(colour.w) / push.quotient);
    sum.y += sqrt(steps[push.table]);
    for (int i = 0; i < push.unrolled; i++)
        sum.z += exp(-float(i)); // a product would become fma
    for (int i = 0; i < push.repeated; i++)
        sum += textureLod(image, colour.xy * float(i), 0.0);
    if (push.branch == 2)
        sum = sum.yzwx;
    else
        sum = sum * colour;
    sum.x += pow(colour.x, 2.2);
    float exponent = 1.5;
    if (push.chosen == 1)
        exponent = 2.5;
    sum.y += pow(colour.y, exponent);
    sum += texture(image, colour.xy + push.coordinate);
    sum += textureLod(image, colour.xy + push.explicit_lod, 1.0);
    store.values[0] = push.stored;
    sum.z += sqrt(store.values[0]);
    sum.w += dFdx(colour.x * push.derivative);
    store.values[1] = push.written; // in the same memory, as far as anybody knows
    sum.x += fract(push.fraction);
    sum *= push.factor;
    sum.y += log(push.selected == 4 ? 1.25 : 7.5);
    switch (push.switched) {
    case 1:
        sum += 0.5;
        break;
    case 2:
        sum *= colour;
        break;
    default:
        sum = -sum;
    }
    sum.z += uintBitsToFloat(packHalf2x16(vec2(push.packed_, colour.x)));
    sum.w += mix(colour.x, colour.y, push.mixed);
    sum.x += cos(early());
    float weight = 0.0;
    for (int i = 0; i < 8; i++) {
        if (i == push.left)
            break;
        weight += 0.25;
    }
    sum.y *= inversesqrt(weight);
    if (colour.x > push.compared)
        sum.z += 1.0;
    sum.x += push.both;
    sum.y += tan(push.both);
    sum.w -= -push.negated;
    target = sum + float(push.untouched);
}
