/* SPDX-License-Identifier: MIT */
// Does with what it reads whatever may go wrong where bounds are checked, one thing at a time.
#version 450
layout(local_size_x = 64) in;
layout(constant_id = 0) const int CASE = 0;
layout(set = 0, binding = 0) uniform sampler2D textured;
layout(set = 0, binding = 1) uniform usampler2DArray numbers;
layout(set = 0, binding = 2) uniform samplerCube sky;
layout(set = 0, binding = 3) uniform sampler3D volume;
layout(set = 0, binding = 4) uniform samplerBuffer texels;
layout(set = 0, binding = 5, rgba32f) uniform imageBuffer made_texels;
layout(set = 0, binding = 6, rgba8) uniform image2D made;
layout(set = 0, binding = 7, r32ui) uniform uimage3D made_numbers;
layout(std140, set = 0, binding = 8) uniform Block { vec4 table[4]; } block;
layout(std430, set = 0, binding = 9) buffer In { vec4 floats; ivec4 words; } source[1];
layout(std430, set = 0, binding = 10) readonly buffer Words { ivec4 words[]; } ints;
layout(std430, set = 0, binding = 11) readonly buffer Floats { vec4 values[]; } reals;
layout(std430, set = 0, binding = 12) buffer Out { vec4 values[]; } target;

void main()
{
    uint i = gl_GlobalInvocationID.x;
    ivec4 n = ints.words[i];
    vec4 f = reals.values[i];
    vec4 r = vec4(0);
    switch (CASE) {
    case 0: r = vec4(n.x / n.y, n.x % n.y, uint(n.z) / uint(n.w), uint(n.z) % uint(n.w)); break;
    case 1: r = vec4(n.x << n.y, n.x >> n.y, uint(n.z) >> n.w, bitfieldExtract(n.x, 3, 5)); break;
    case 2: r = vec4(ivec4(f)) + vec4(uvec4(f)); break;
    case 3: r = textureLod(textured, f.xy, 0.0); break;
    case 4: r = textureLod(textured, f.xy, f.z); break;
    case 5: r = textureLod(sky, f.xyz, f.w); break;
    case 6: r = textureLod(volume, f.xyz, f.w); break;
    case 7: r = vec4(texelFetch(numbers, n.xyz, 0)); break;
    case 8: r = vec4(texelFetch(numbers, n.xyz, n.w)); break;
    case 9: r = texelFetch(texels, n.x); break;
    case 10: imageStore(made_texels, n.x, f); break;
    case 11: imageStore(made, n.xy, f); r = imageLoad(made, n.zw); break;
    case 12: r.x = imageAtomicAdd(made_numbers, n.xyz, 1u) != 77u ? 1.0 : 0.0; break;
    case 13: r = block.table[n.x]; break;
    case 14: r = reals.values[n.x]; break;
    case 15: target.values[n.x] = f; break;
    case 16: r = textureGrad(textured, f.xy, f.zw, f.wz); break;
    case 17: r = textureGather(textured, f.xy); break;
    case 18: r = vec4(ldexp(f.x, n.x), frexp(f.y, n.y), packHalf2x16(f.zw), pow(f.x, f.y)); break;
    case 19: r = vec4(findMSB(n.x), findLSB(n.y), bitCount(n.z), bitfieldReverse(n.w)); break;
    case 20: r = textureOffset(textured, f.xy, ivec2(3, -4)); break;
    case 21: r = vec4(textureSize(textured, n.x), textureSize(numbers, n.y).xy); break;
    case 22: r = vec4(bitfieldInsert(n.x, n.y, n.z, n.w), bitfieldExtract(n.x, n.y, n.z),
                      sin(f.x), exp(f.y)); break;
    case 23: r = f; r[n.x & 3] = 1.0; break;
    }
    target.values[i] = r;
}
