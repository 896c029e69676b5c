/* SPDX-License-Identifier: MIT */
// Tells of itself as a dry-run form does: of texels that are between those of 8 bits.
#version 450
layout(local_size_x = 64) in;
layout(std430, set = 0, binding = 1) buffer Out { float sums[]; } target;
layout(set = 0, binding = 2) uniform sampler2D image;
layout(std430, set = 1, binding = 0) buffer Told { uint flags, invocations, rounds, reserved, points[64]; } told;

void main()
{
    float texel = texelFetch(image, ivec2(gl_LocalInvocationIndex % 67u, gl_WorkGroupID.x % 67u), 0).r;
    target.sums[gl_GlobalInvocationID.x] = texel;
    if (texel > 0.0 && texel < 1.0 / 512.0)
        atomicOr(told.flags, 1u);
    atomicAdd(told.invocations, 1u);
}
