/* SPDX-License-Identifier: MIT */
// What a discarded fragment has come to, one case for each (device.c): sides of min are told of by
// whoever comes to them, but for those who are discarded for another reason.
#version 450
#extension GL_EXT_demote_to_helper_invocation : require
layout(push_constant, std430) uniform Push {
    int which, a, b;
} push;
layout(location = 0) out uvec4 color;

float least(float x, float y)
{
    return min(x, y);
}

void main()
{
    const float x = intBitsToFloat(push.a), y = intBitsToFloat(push.b);
    float held = 0.0, r0 = 0.0, r1 = 0.0, r2 = 0.0, r3 = 0.0, r4 = 0.0, r5 = 0.0;
    switch (push.which) {
    case 0:
        r0 = min(x, y);
        break;
    case 1:
        r1 = min(x, y);
        if (gl_FragCoord.x >= 0.0)
            discard;
        break;
    case 2:
        r2 = min(x, y);
        if (gl_FragCoord.x >= 0.0)
            demote;
        break;
    case 3:
        r3 = min(x, y);
        if (r3 >= 0.0)
            discard;
        break;
    case 4:
        held = least(x, y);
        r4 = held > 0.5 ? 1.0 : 2.0;
        if (r4 >= 0.0)
            demote;
        break;
    case 5:
        if (gl_FragCoord.x >= 0.0) {
            if (x < y)
                r5 = min(x, y);
            else
                r5 = 3.0;
        }
        if (x >= 0.0)
            discard;
        break;
    default:
        break;
    }
    color = uvec4(uint(r0 + r1 + r2 + r3 + r4 + r5));
}
