/* SPDX-License-Identifier: MIT */
// Covers everything, at depths that take some computing.
#version 450
layout(location = 0) out vec2 place;
invariant gl_Position;

void main()
{
    place = vec2((gl_VertexIndex << 1) & 2, gl_VertexIndex & 2);
    const float angle = float(gl_VertexIndex) * 2.1 + 0.3;
    gl_Position = vec4(place * 2.0 - 1.0, 0.4 + 0.3 * sin(angle) / (1.0 + place.x), 1.0) * 1.5;
}
