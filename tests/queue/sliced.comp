/* SPDX-License-Identifier: MIT */
#version 450

// Each group adds a number of its own to a word of its own; much more where the counts are not those of
// the slice.

layout(local_size_x = 1) in;

layout(set = 0, binding = 0, std430) buffer Words {
    uint words[];
};

layout(push_constant) uniform Push {
    uint base[3], count[3], slice[3];
};

void main()
{
    uvec3 id = gl_WorkGroupID;
    uint i = ((id.z - base[2]) * count[1] + id.y - base[1]) * count[0] + id.x - base[0];
    bool counts = gl_NumWorkGroups == uvec3(slice[0], slice[1], slice[2]);
    words[i] += (counts ? 1u : 1000000u) + id.x + 100u * id.y + 10000u * id.z;
}
