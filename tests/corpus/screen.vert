/* SPDX-License-Identifier: MIT */
#version 450
// A triangle that covers the picture. Its upper left corner is (0, 0).
layout(location = 0) out vec2 corpus_at;
void main()
{
    corpus_at = vec2(gl_VertexIndex << 1 & 2, gl_VertexIndex & 2);
    gl_Position = vec4(corpus_at * 2.0 - 1.0, 0.0, 1.0);
}
