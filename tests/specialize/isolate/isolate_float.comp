/* SPDX-License-Identifier: MIT */
// A float decides when it ends.
#version 450
layout(local_size_x = 64) in;
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
void main()
{
    for (float x = push.bias; x < 2.0; x += 0.5)
        data[gl_GlobalInvocationID.x] += x;
}
