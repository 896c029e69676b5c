/* SPDX-License-Identifier: MIT */
#version 450
#extension GL_EXT_samplerless_texture_functions : require

// Reads every sample of an image, as the words that its texels consist of.

layout(local_size_x = 128) in;

layout(set = 0, binding = 0) uniform utexture2DMSArray image;

layout(set = 0, binding = 1, std430) writeonly buffer Words {
    uint words[];
};

layout(push_constant) uniform Constants {
    uint width, height, samples, count; // count: of samples in all
    uint parts;                         // words of a texel
};

void main()
{
    uint i = gl_GlobalInvocationID.x;
    if (i >= count)
        return;
    uint pixel = i / samples;
    ivec3 at = ivec3(pixel % width, pixel / width % height, pixel / (width * height));
    uvec4 texel = texelFetch(image, at, int(i % samples));
    for (uint k = 0; k < parts; k++)
        words[i * parts + k] = texel[k];
}
