/* SPDX-License-Identifier: MIT */
// CASE 0 is the plain one; 1 differs from it in the sixth instance, 2 in instances that few programs have.
#version 450
layout(constant_id = 0) const int CASE = 0;
layout(location = 0) flat in int instance;
layout(location = 0) out vec4 color;

void main()
{
    color = vec4(CASE == 1 && instance == 5 || CASE == 2 && instance > 1000 ? 0.5 : 0.25);
}
