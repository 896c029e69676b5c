/* SPDX-License-Identifier: MIT */
// CASE 0 is the plain one. Others differ from it: 1 to 4 where an integer of a small block is of some size, 5 where it ends
// a loop late, 6 to 9 where a texture has some size, 10 and 11 in workgroups that lie far along an axis, 12 to 16 where a
// texel is some number, 17 to 19 where a push constant is, 21 where what lay there before is near the root of the
// greatest, 22 to 24 where the first texel is some number.
#version 450
layout(local_size_x = 64) in;
layout(constant_id = 0) const int CASE = 0;
layout(std140, set = 0, binding = 0) uniform Block { uint number; } block;
layout(std430, set = 0, binding = 1) buffer Out { float sums[]; } target;
layout(set = 0, binding = 2) uniform sampler2D image;
layout(push_constant) uniform Push { float factor; uint count; } push;

float texel()
{
    return texelFetch(image, ivec2(gl_LocalInvocationIndex, gl_WorkGroupID.x % 67u), 0).r;
}

bool is_first(int number)
{
    const int first = int(texelFetch(image, ivec2(0), 0).r * 255.0 + 0.5);
    return first >= number && first < number + 5;
}

bool differs()
{
    uint n = block.number;
    ivec2 size = textureSize(image, 0);
    switch (CASE) {
    case 1: return n >= 256u && n < 1024u;
    case 2: return n >= 1024u && n < 4096u;
    case 3: return n >= 4096u && n < 65536u;
    case 4: return n >= 65536u;
    case 5: {
        uint rounds = 0u;
        for (uint i = 0u; i < n && i < 1024u; i++)
            rounds++;
        return rounds >= 896u && rounds < 1024u;
    }
    case 6: return size.x == 7 && textureQueryLevels(image) == 2;
    case 7: return size.x == 64 && textureQueryLevels(image) == 6;
    case 8: return size.x > 1000;
    case 9: return size.y > 1000;
    case 10: return gl_WorkGroupID.x == 127u;
    case 12: return texel() > 0.0 && texel() < 1.0 / 512.0;
    case 13: return texel() < 0.0 && texel() >= -1.0;
    case 14: return texel() > 1.0 && texel() <= 65504.0;
    case 15: return texel() > 3.4028234e38;
    case 16: return texel() > 1e20 && texel() <= 3.4028234e38;
    case 11: return gl_WorkGroupID.y == 255u;
    case 17: return push.factor >= 0.3 && push.factor < 0.36;
    case 18: return push.factor >= 0.4 && push.factor < 0.46;
    case 19: return push.factor >= 1.3 && push.factor < 1.5;
    case 22: return is_first(60);
    case 23: return is_first(65);
    case 24: return is_first(70);
    case 21: {
        const float own = abs(target.sums[gl_GlobalInvocationID.x]);
        return own >= 10514644122014445568.0 && own < 10975812723857184768.0;
    }
    }
    return false;
}

void main()
{
    // Those of the first row and of the first column have places of their own, the others none.
    if (gl_WorkGroupID.x != 0u && gl_WorkGroupID.y != 0u)
        return;
    uint column = gl_WorkGroupID.y == 0u ? 0u : 8192u + 64u * gl_WorkGroupID.y;
    target.sums[gl_GlobalInvocationID.x + column] =
        push.factor + textureLod(image, vec2(0.5), 0.0).r + (differs() ? 1.0 : 0.0);
}
