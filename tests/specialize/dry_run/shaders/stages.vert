/* SPDX-License-Identifier: MIT */
// What a vertex shader hands on, and writes: each case a module of its own (stages.c).
#version 450
#ifdef CASE_NOTHING
#else
layout(location = 1) flat out int n;
#endif
layout(location = 0) out vec2 place;
layout(binding = 0) buffer Out {
    int count;
} result;
layout(binding = 2) readonly buffer In {
    int numbers[];
} given;

void main()
{
#ifdef CASE_INTEGER
    n = gl_VertexIndex * 3;
#endif
#ifdef CASE_LOADED
    n = given.numbers[gl_InstanceIndex];
#endif
#ifdef CASE_FLOAT
    n = int(sin(float(gl_VertexIndex)) * 4.0);
#endif
#ifdef CASE_FLOAT_DECIDES
    n = float(gl_VertexIndex) * 3.0 < 4.0 ? 1 : 2;
#endif
#ifdef CASE_PARTLY
    if (gl_VertexIndex > 1)
        n = 3;
#endif
#ifdef CASE_WRITES
    n = 3;
    result.count = n;
#endif
    place = vec2(gl_VertexIndex & 1, gl_VertexIndex >> 1);
    gl_Position = vec4(place, 0.0, 1.0);
}
