/* SPDX-License-Identifier: MIT */
#version 450
// Factors that may be gathered once one of them is a constant: near the left edge all products are exact, and it is the
// same; beyond, it may be another by a bit.
layout(location = 0) out float color;
layout(push_constant) uniform Push { float factor; uint other; } push;

void main()
{
    color = gl_FragCoord.x * 32749.0 * push.factor + float(push.other);
}
