/* SPDX-License-Identifier: MIT */
// How a fragment's invocation may end, one case for each.
#version 450
#extension GL_EXT_demote_to_helper_invocation : require
layout(push_constant, std430) uniform Push {
    int which, a, b;
} push;
layout(location = 0) out uvec4 color;

uint cut(uint x)
{
    if (x == 3u)
        discard;
    return x * 7u;
}

void main()
{
    uint x = uint(gl_FragCoord.x) + 4u * uint(gl_FragCoord.y);
    color = uvec4(0u);
    switch (push.which) {
    case 0:
        if ((x & 1u) == 1u)
            discard;
        break;
    case 1:
        if ((x & 1u) == 1u)
            demote;
        break;
    case 2:
        x = cut(x & 3u);
        break;
    case 3:
        color = uvec4(x);
        return;
    }
    for (int i = 0; i < push.a; i++)
        x = x * 3u + 1u;
    color = uvec4(x);
}
