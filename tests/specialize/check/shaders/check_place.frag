/* SPDX-License-Identifier: MIT */
// CASE 0 is the plain one; 1 differs from it in the 300th column and behind, 2 in such rows.
#version 450
layout(constant_id = 0) const int CASE = 0;
layout(location = 0) out vec4 color;

void main()
{
    color = vec4(CASE == 1 && gl_FragCoord.x > 300.0 || CASE == 2 && gl_FragCoord.y > 300.0 ? 0.5 : 0.25);
}
