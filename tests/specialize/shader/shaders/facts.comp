/* SPDX-License-Identifier: MIT */
// For the facts: bindings of every kind, a workgroup by specialization constants.
#version 450
#extension GL_KHR_shader_subgroup_arithmetic : require
layout(local_size_x_id = 7, local_size_y = 3, local_size_z_id = 8) in;
layout(constant_id = 9) const uint length_of = 5;
struct Element {
    vec4 a;
    uint b;
};
layout(set = 0, binding = 0) readonly buffer In {
    uint count;
    mat3 m;
    Element elements[];
} source;
layout(set = 0, binding = 1) writeonly buffer Out {
    uint words[16];
} result;
layout(set = 0, binding = 2) buffer Counter {
    uint value;
} counter;
layout(set = 0, binding = 3) uniform Block {
    vec4 values[4];
    float last;
} block;
layout(set = 1, binding = 0) uniform sampler2DArray images[3];
layout(set = 1, binding = 1, rgba8) writeonly uniform image2D written;
layout(set = 1, binding = 2, r32ui) readonly uniform uimage2DMS multi;
layout(set = 1, binding = 3, r32i) uniform iimageBuffer texels;
layout(set = 1, binding = 4) uniform texture3D separate;
layout(set = 1, binding = 5) uniform sampler filtering;
layout(set = 1, binding = 6) uniform usamplerBuffer fetched;
layout(set = 1, binding = 7) uniform sampler2DShadow unused;
layout(set = 1, binding = 8) uniform samplerCubeShadow shadow;
layout(set = 2, binding = 0) buffer Many {
    uint x;
} many[length_of];
shared uint pool[32];
void twist(inout uint x)
{
    x = x * 3u;
}
void main()
{
    uint n = source.count + uint(source.elements[1].a.x) + gl_NumWorkGroups.x;
    pool[gl_LocalInvocationIndex & 31u] = n;
    barrier();
    n += subgroupAdd(pool[0]);
    twist(n);
    result.words[0] = n;
    atomicAdd(counter.value, uint(block.last));
    vec4 c = textureLod(images[1], vec3(0), 0) +
             textureLod(sampler3D(separate, filtering), vec3(0), 0);
    c.x += textureGather(shadow, vec3(1), 0.5).x;
    imageStore(written, ivec2(0), c);
    n = imageLoad(multi, ivec2(0), 0).x + texelFetch(fetched, 1).x;
    imageAtomicAdd(texels, 0, int(n));
    many[2].x = n;
}
