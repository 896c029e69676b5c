/* SPDX-License-Identifier: MIT */
// A factor that is folded, and one that no check varies.
#version 450
#extension GL_EXT_device_group : require
layout(local_size_x = 64) in;
layout(push_constant) uniform Push
{
    float scale;
    int dead;
}
push;
layout(set = 0, binding = 0, std430) readonly buffer Given
{
    float given[];
};
layout(set = 0, binding = 1, std430) buffer Data
{
    float data[];
};
void main()
{
    const uint i = gl_GlobalInvocationID.x;
    data[i] = (given[i] + float(gl_DeviceIndex)) * push.scale;
}
