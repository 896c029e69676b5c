/* SPDX-License-Identifier: MIT */
// What a vertex stage has that checks don't vary, or do: each case a module of its own (needed.c).
#version 450
#extension GL_ARB_shader_draw_parameters : require
layout(location = 0) flat out int number;

void main()
{
#ifdef CASE_DRAW
    number = gl_DrawIDARB;
#endif
#ifdef CASE_FIRST
    number = gl_BaseVertexARB;
#endif
#ifdef CASE_INSTANCE
    number = gl_InstanceIndex;
#endif
#ifdef CASE_VERTEX
    number = gl_VertexIndex;
#endif
    gl_Position = vec4(0);
}
