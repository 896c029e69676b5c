/* SPDX-License-Identifier: MIT */
// CASE 0 is the plain one. Others differ from it where an image that is stored to, an array, a buffer of texels or an open
// array of a buffer has some size.
#version 450
layout(local_size_x = 8, local_size_y = 8) in;
layout(constant_id = 0) const int CASE = 0;
layout(set = 0, binding = 0, rgba8) uniform writeonly image2D stored;
layout(set = 0, binding = 1, rgba8) uniform writeonly image2DArray layered;
layout(set = 0, binding = 2) uniform samplerBuffer texels;
layout(std430, set = 0, binding = 3) buffer Out { float sums[]; } target;
layout(push_constant) uniform Push { float factor; uint count; } push;

bool is_even(int n)
{
    return (n & (n - 1)) == 0;
}

bool differs()
{
    const ivec2 size = imageSize(stored);
    switch (CASE) {
    case 1: return is_even(size.x) && is_even(size.y);
    case 2: return size.x > 1000;
    case 3: return size.y > 1000;
    case 4: return size.x < 32 || size.y < 32; // where the runs go
    case 5: return imageSize(layered).z == 8;
    case 6: return imageSize(layered).z % 2 == 1;
    case 7: return is_even(textureSize(texels)) && textureSize(texels) > 4096;
    case 8: return textureSize(texels) % 2 == 1;
    case 9: return is_even(target.sums.length()) && target.sums.length() > 16384;
    case 10: return target.sums.length() % 2 == 1;
    case 11: return target.sums.length() < 16384;
    }
    return false;
}

void main()
{
    const ivec2 at = ivec2(gl_GlobalInvocationID.xy);
    const float sum = push.factor + (differs() ? 1.0 : 0.0) + texelFetch(texels, at.x).r;
    imageStore(stored, at, vec4(push.factor));
    imageStore(layered, ivec3(at, 0), vec4(push.factor));
    target.sums[at.y * 64 + at.x] = sum;
}
