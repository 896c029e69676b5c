/* SPDX-License-Identifier: MIT */
// What a fragment shader makes of what it is handed: each case a module of its own (stages.c).
#version 450
#ifdef CASE_COUNTED_WRITES
#define CASE_COUNTED
#define CASE_WRITES
#endif
layout(location = 0) in vec2 place;
#ifdef CASE_COUNTED
layout(location = 1) flat in int n;
#endif
layout(location = 0) out vec4 color;
layout(binding = 0) buffer Out {
    int count;
} result;
layout(binding = 2) buffer Given {
    int numbers[];
} given;

void main()
{
    int rounds = 0;
#ifdef CASE_COUNTED
    rounds = n;
#endif
#ifdef CASE_BITS
    rounds = floatBitsToInt(place.x);
#endif
#ifdef CASE_SIDE
    rounds = gl_FrontFacing ? 3 : 4;
#endif
#ifdef CASE_PRIMITIVE
    rounds = gl_PrimitiveID;
#endif
#ifdef CASE_READS
    rounds = result.count;
#endif
#ifdef CASE_WRITES
    given.numbers[0] = 3;
#endif
    float f = 0.0;
    for (int k = 0; k < rounds; k++)
        f += place.x;
    color = vec4(f);
}
