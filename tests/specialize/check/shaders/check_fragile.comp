/* SPDX-License-Identifier: MIT */
// Chooses an element of shared memory by what it reads: far out of bounds for any value but the
// least.
#version 450
layout(local_size_x = 4) in;
layout(constant_id = 0) const int CASE = 0;
layout(std430, set = 0, binding = 0) readonly buffer In { uint words[]; } source;
layout(std430, set = 0, binding = 1) buffer Out { uint words[]; } target;
layout(push_constant) uniform Push { uint scale; } push;
shared uint counts[2];

void main()
{
    uint i = gl_GlobalInvocationID.x;
    if (gl_LocalInvocationID.x < 2)
        counts[gl_LocalInvocationID.x] = 0;
    barrier();
    atomicAdd(counts[source.words[i] * (push.scale - 1u)], 1u);
    barrier();
    if (gl_LocalInvocationID.x < 2)
        target.words[i] = counts[gl_LocalInvocationID.x ^ uint(CASE)];
}
