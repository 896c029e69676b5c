/* SPDX-License-Identifier: MIT */
// Everything else that compute shaders read and write.
#version 450
layout(local_size_x = 8, local_size_y = 8) in;
layout(constant_id = 0) const int CASE = 0;
layout(set = 0, binding = 0) uniform sampler2D textured;
layout(set = 0, binding = 1) uniform usampler2DArray numbers;
layout(set = 0, binding = 2) uniform samplerCube sky;
layout(set = 0, binding = 3) uniform texture3D volume;
layout(set = 0, binding = 4) uniform sampler plain;
layout(set = 0, binding = 5) uniform sampler2DShadow shadow;
layout(set = 0, binding = 6) uniform samplerBuffer texels;
layout(set = 0, binding = 7, rgba32f) uniform imageBuffer made_texels;
layout(set = 0, binding = 8, rgba8) uniform image2D made;
layout(set = 0, binding = 9, r32ui) uniform uimage3D made_numbers;

void main()
{
    ivec2 at = ivec2(gl_GlobalInvocationID.xy) + 32 * int(gl_GlobalInvocationID.z);
    vec2 uv = (vec2(at) + 0.5) / 40.0;
    vec4 color = textureLod(textured, uv, CASE == 1 ? 1.0 : 0.0);
    color += textureLod(sky, vec3(uv * 2.0 - 1.0, 0.5), 0.0);
    color += textureLod(sampler3D(volume, plain), vec3(uv, 0.25), 0.0);
    color += textureLod(shadow, vec3(uv, 0.5), 0.0);
    color += texelFetch(texels, CASE == 2 ? at.x + 1 : at.x);
    uvec4 number = texelFetch(numbers, ivec3(at, CASE == 3 ? 2 : 1), 0);
    imageStore(made_texels, at.y * 64 + at.x, color * 0.25);
    imageStore(made, at, imageLoad(made, at) * 0.5 + (CASE == 4 ? 0.125 : 0.0));
    imageStore(made_numbers, ivec3(at, CASE == 5 && at == ivec2(5, 6) ? 3 : 2), number);
}
