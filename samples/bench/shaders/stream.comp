#version 450

// Moves memory and does nothing else to speak of: there is nothing to gain by knowing the mask.

layout(local_size_x = 64) in;

layout(push_constant) uniform Push {
    uint mask;
    uint half_count; // numbers in either half of the buffer
} push;

layout(std430, set = 0, binding = 0) buffer Numbers {
    uvec4 numbers[];
};

void main()
{
    uint i = gl_GlobalInvocationID.x;
    numbers[push.half_count + i] = numbers[i] ^ push.mask;
}
