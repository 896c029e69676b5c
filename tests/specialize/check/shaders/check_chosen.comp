/* SPDX-License-Identifier: MIT */
// Tells of itself as the dry-run form of check_choice.comp does. CASE 0: of an index outside; 1: of that and of a loop
// that doesn't end; 2 to 6: of some floats; 7: of other push constants; 8: of images of another size.
#version 450
layout(local_size_x = 64) in;
layout(constant_id = 0) const int CASE = 0;
layout(std140, set = 0, binding = 0) uniform Block { vec4 gain[4]; uint which; } block;
layout(std430, set = 0, binding = 1) buffer Out { float sums[]; } target;
layout(set = 0, binding = 2) uniform sampler2D image;
layout(std430, set = 1, binding = 0) buffer Told { uint flags, invocations, rounds, reserved, points[64]; } told;
layout(push_constant) uniform Push { float factor; uint count; } push;

const uint FUEL = 1u, BOUNDS = 2u;

bool any_between(float least, float most)
{
    bool any = false;
    for (int i = 0; i < 16; i++)
        any = any || (abs(block.gain[i / 4][i % 4]) >= least && abs(block.gain[i / 4][i % 4]) < most);
    return any;
}

uint tells()
{
    switch (CASE) {
    case 0: return block.which >= 4u ? BOUNDS : 0u;
    case 1: return block.which >= 4u ? BOUNDS | FUEL : 0u;
    case 2: return any_between(1e-37, 1e-34) ? FUEL : 0u;
    case 3: return any_between(1e30, 3e38) ? FUEL : 0u;
    case 4: return any_between(1e7, 1e9) || any_between(1e22, 1e26) || any_between(1e-18, 1e-6) ? FUEL : 0u;
    case 5: return any_between(4.7e18, 9e20) ? FUEL : 0u;
    case 6: return any_between(1e-22, 1e-19) ? FUEL : 0u;
    case 7: return push.factor != 0.75 ? FUEL : 0u;
    case 8: return textureSize(image, 0).x <= 1021 ? FUEL : 0u;
    }
    return 0u;
}

void main()
{
    target.sums[gl_GlobalInvocationID.x] = push.factor;
    atomicOr(told.flags, tells());
    atomicAdd(told.invocations, 1u);
}
