/* SPDX-License-Identifier: MIT */
#version 450
#extension GL_EXT_samplerless_texture_functions : require
// Factors that may be gathered once one of them is a constant: with texels of 8 bits all products are exact, and it is the
// same; with others it may be another by a bit.
layout(local_size_x = 64) in;
layout(set = 0, binding = 0) buffer Words { float words[]; };
layout(set = 0, binding = 1) uniform utexture2D image;
layout(push_constant) uniform Push { float factor; uint other; } push;

void main()
{
    uint i = gl_LocalInvocationIndex;
    words[i] = float(texelFetch(image, ivec2(int(i), 0), 0).r) * 32749.0 * push.factor + float(push.other);
}
