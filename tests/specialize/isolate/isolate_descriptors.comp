/* SPDX-License-Identifier: MIT */
#version 450
// Writes what some of its descriptors hold; which of them, the mode says.
layout(local_size_x = 64) in;
layout(constant_id = 0) const int mode = 0;
layout(push_constant) uniform Push
{
    uint count;
}
push;
layout(set = 0, binding = 2, std430) buffer Data
{
    uint data[];
};
layout(set = 1, binding = 0) uniform sampler2D both[2];
layout(set = 1, binding = 3) uniform texture2D image;
layout(set = 1, binding = 4) uniform usamplerBuffer texels;
layout(set = 1, binding = 5, std140) uniform Block
{
    uvec4 block[4];
};
layout(set = 2, binding = 1) uniform sampler alone;
void main()
{
    const uvec3 at = gl_GlobalInvocationID, all = gl_NumWorkGroups * gl_WorkGroupSize;
    uint i = at.x + all.x * (at.y + all.y * at.z); // each has an element of its own
    if (i >= push.count)
        return;
    const vec2 where = vec2(i % 8u, i / 8u % 8u) / 8.0;
    uint sum = data[i];
    if (mode != 1)
        sum += floatBitsToUint(textureLod(both[0], where, 0.0).x);
    if (mode != 2)
        sum += floatBitsToUint(textureLod(both[1], where, 0.0).y);
    if (mode != 3)
        sum += floatBitsToUint(textureLod(sampler2D(image, alone), where, 0.0).z);
    if (mode != 4)
        sum += texelFetch(texels, int(i % 16u)).x;
    if (mode != 5)
        sum += block[i % 4u].y;
    data[i] = sum;
}
