/* SPDX-License-Identifier: MIT */
#version 450
layout(local_size_x_id = 3) in;
layout(constant_id = 7) const int mode = 0;
layout(constant_id = 8) const float factor = 1.0;
layout(push_constant) uniform Push
{
    uint count;
    float bias;
}
push;
layout(set = 0, binding = 2, std430) buffer Data
{
    float data[];
};
layout(set = 1, binding = 0) uniform sampler2D image[2];
void main()
{
    const uvec3 at = gl_GlobalInvocationID, all = gl_NumWorkGroups * gl_WorkGroupSize;
    uint i = at.x + all.x * (at.y + all.y * at.z); // each has an element of its own
    if (mode == 2) // never ends
        for (uint n = push.count | 1u; n != 0u; n += 2u)
            data[i] += 1.0;
    if (mode >= 3) { // ends as it is used, and not with most other push constants
        for (uint n = push.count; n != 64u; n += 64u)
            data[i] += 1.0;
        data[i] = mode == 4 && push.count != 64u ? 2.0 : 1.0;
    } else if (i < push.count)
        data[i] = mode == 1 ? data[i] * factor + push.bias : texelFetch(image[1], ivec2(i, 0), 0).x;
}
