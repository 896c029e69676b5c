/* SPDX-License-Identifier: MIT */
// What an integer chooses one of four floats by. CASE 0 is the plain one, 1 to 4 differ from it where the chosen one is
// tiny, huge, or near the root of the greatest or of the least.
#version 450
layout(local_size_x = 64) in;
layout(constant_id = 0) const int CASE = 0;
layout(std140, set = 0, binding = 0) uniform Block { vec4 gain[4]; uint which; } block;
layout(std430, set = 0, binding = 1) buffer Out { float sums[]; } target;
layout(push_constant) uniform Push { float factor; uint count; } push;

bool is_between(float number, float least, float most)
{
    return abs(number) >= least && abs(number) < most;
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
}
