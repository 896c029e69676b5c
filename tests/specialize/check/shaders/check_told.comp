/* SPDX-License-Identifier: MIT */
// Tells of itself as a dry-run form does. CASE 0: nothing; 1: with other push constants; 2: always; 3
// doesn't tell at all; 4: as one workgroup. 5 has come to one of three points, by its push constant, and to another
// where it would not have ended; 6 to one that only far other push constants lead to.
#version 450
layout(local_size_x = 64) in;
layout(constant_id = 0) const int CASE = 0;
layout(std430, set = 0, binding = 1) buffer Out { float sums[]; } target;
layout(std430, set = 1, binding = 0) buffer Told { uint flags, invocations, rounds, reserved, points[64]; } told;
layout(push_constant) uniform Push { float factor; uint count; } push;

void main()
{
    target.sums[gl_GlobalInvocationID.x] = push.factor;
    if (CASE == 2 || (CASE == 4 && gl_NumWorkGroups == uvec3(1)) || (CASE == 1 && push.factor != 0.75))
        atomicOr(told.flags, 1u);
    if (CASE == 5) {
        atomicOr(told.points[1], push.factor == 0.75 ? 1u : push.factor < 0.75 ? 2u : 4u);
        if (push.factor < 0.0) {
            atomicOr(told.flags, 1u);
            atomicOr(told.points[1], 8u);
        }
    }
    if (CASE == 6)
        atomicOr(told.points[1], push.factor > 0.0 && push.factor < 0.25 ? 2u : 4u);
    if (CASE != 3)
        atomicAdd(told.invocations, 1u);
}
