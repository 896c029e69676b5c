/* SPDX-License-Identifier: MIT */
// What an integer chooses one of four floats by. CASE 0 is the plain one, 1 to 4 differ from it where the chosen one is
// tiny, huge, or near the root of the greatest or of the least. From 16 on they tell of themselves as dry-run forms do: 16 of
// an index outside, 17 of that and of a loop that doesn't end, 18 to 22 of some other floats, 23 of other push constants,
// 24 of images of another size.
#version 450
layout(local_size_x = 64) in;
layout(constant_id = 0) const int CASE = 0;
layout(std140, set = 0, binding = 0) uniform Block { vec4 gain[4]; uint which; } block;
layout(std430, set = 0, binding = 1) buffer Out { float sums[]; } target;
layout(set = 0, binding = 2) uniform sampler2D image;
layout(std430, set = 1, binding = 0) buffer Told { uint flags, invocations, rounds, reserved, points[64]; } told;
layout(push_constant) uniform Push { float factor; uint count; } push;

const uint FUEL = 1u, BOUNDS = 2u;

bool is_between(float number, float least, float most)
{
    return abs(number) >= least && abs(number) < most;
}

bool any_between(float least, float most)
{
    bool any = false;
    for (int i = 0; i < 16; i++)
        any = any || is_between(block.gain[i / 4][i % 4], least, most);
    return any;
}

uint tells()
{
    switch (CASE) {
    case 16: return block.which >= 4u ? BOUNDS : 0u;
    case 17: return block.which >= 4u ? BOUNDS | FUEL : 0u;
    case 18: return any_between(1e-37, 1e-34) ? FUEL : 0u;
    case 19: return any_between(1e30, 3e38) ? FUEL : 0u;
    case 20: return any_between(1e7, 1e9) || any_between(1e22, 1e26) || any_between(1e-18, 1e-6) ? FUEL : 0u;
    case 21: return any_between(4.7e18, 9e20) ? FUEL : 0u;
    case 22: return any_between(1e-22, 1e-19) ? FUEL : 0u;
    case 23: return push.factor != 0.75 ? FUEL : 0u;
    case 24: return textureSize(image, 0).x <= 1021 ? FUEL : 0u;
    }
    return 0u;
}

bool differs(float gain)
{
    switch (CASE) {
    case 1: return is_between(gain, 1e-37, 1e-34);
    case 2: return is_between(gain, 1e30, 3e38);
    case 3: return is_between(gain, 4.7e18, 9e20);
    case 4: return is_between(gain, 1e-22, 1e-19);
    }
    return false;
}

void main()
{
    const float gain = block.gain[min(block.which, 3u)].x;
    target.sums[gl_GlobalInvocationID.x] = push.factor + (differs(gain) ? 1.0 : 0.0);
    if (CASE < 16)
        return;
    atomicOr(told.flags, tells());
    atomicAdd(told.invocations, 1u);
}
