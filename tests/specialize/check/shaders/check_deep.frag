/* SPDX-License-Identifier: MIT */
// CASE 0 is the plain one; 1 differs from it where it isn't as far as is usual, 2 where its depth is no quarter.
#version 450
layout(constant_id = 0) const int CASE = 0;
layout(location = 0) out vec4 color;

void main()
{
    const float quarters = gl_FragCoord.z * 4.0;
    color = vec4(CASE == 1 && abs(gl_FragCoord.w - 1.0) > 0.01 || CASE == 2 && abs(quarters - round(quarters)) > 0.05
                     ? 0.5
                     : 0.25);
}
