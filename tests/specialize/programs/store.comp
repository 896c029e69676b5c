#version 450
// Writes an image, by push constants that steer it.
layout(local_size_x = 8, local_size_y = 8) in;
layout(set = 0, binding = 0, r32ui) uniform writeonly uimage2D made;
layout(push_constant) uniform Push {
    uint mode;
    uint rounds;
    uint factor;
} push;

void main()
{
    uint x = gl_GlobalInvocationID.x + 31u * gl_GlobalInvocationID.y;
    for (uint r = 0u; r < push.rounds; r++)
        x = push.mode == 0u ? x * push.factor + r : x ^ x << (push.factor & 15u);
    imageStore(made, ivec2(gl_GlobalInvocationID.xy), uvec4(x));
}
