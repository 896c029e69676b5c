/* SPDX-License-Identifier: MIT */
// What steers a loop or an index, and who comes to a barrier: each case a module of its own (analysed.c).
#version 450
#extension GL_KHR_shader_subgroup_arithmetic : require
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_buffer_reference_uvec2 : require
#extension GL_EXT_nonuniform_qualifier : require
#extension GL_EXT_shader_atomic_float : require
layout(local_size_x = 32) in;
layout(push_constant, std430) uniform Push {
    int n;
    float f;
#ifdef CASE_ADDRESSES
    uvec2 address;
#endif
} push;
layout(binding = 0) buffer Out {
    uint words[];
} result;
#ifdef CASE_ALIASED
layout(binding = 0) readonly buffer Again {
    uint words[];
} again;
#endif
#ifdef CASE_BINDING
layout(binding = 1) buffer Other {
    uint word;
} other;
#endif
layout(binding = 2) readonly buffer In {
    int numbers[];
} given;
#ifdef CASE_OPEN
layout(binding = 3) readonly buffer Open {
    uint word;
} open[];
#endif
#ifdef CASE_LENGTH_GIVEN
layout(binding = 4) readonly buffer Open {
    uint word;
} open[];
#endif
#ifdef CASE_ATOMIC_FLOAT
layout(binding = 6) buffer Floats {
    float sum;
} floats;
#endif
#ifdef CASE_PART_KNOWN
layout(binding = 5) readonly buffer Part {
    uint words[4];
} parts[2];
#endif
#ifdef CASE_ADDRESSES
layout(buffer_reference, std430) readonly buffer Far {
    uint word;
};
#endif
shared uint both[32];

void set(out int to)
{
    if (push.n > 7)
        to = 3;
    else
        to = given.numbers[1];
}

bool maybe_set(out int to)
{
    if (push.n <= 7)
        return false;
    to = 3;
    return true;
}

void main()
{
    const uint i = gl_LocalInvocationIndex;
    uint x = i, y = 0u;
    int n = push.n;
    uint kept[8] = uint[](1, 2, 3, 4, 5, 6, 7, 8);
#ifdef CASE_NOTHING
    x += y;
#endif
#ifdef CASE_INPUT
    for (int k = 0; k < n + int(i); k++)
        x += kept[k & 7];
#endif
#ifdef CASE_READ_ONLY
    for (int k = 0; k < given.numbers[i & 3]; k++)
        x += 3u;
#endif
#ifdef CASE_FLOAT_MOVED
    for (int k = 0; k < floatBitsToInt(push.f); k++)
        x += 3u;
#endif
#ifdef CASE_FLOAT_BESIDE
    float f = 1.0;
    for (int k = 0; k < n; k++)
        f = f * 1.5 + push.f;
    x = uint(f);
#endif
#ifdef CASE_FLOAT_EXIT
    for (float f = push.f; f < 10.0; f *= 1.1)
        x++;
#endif
#ifdef CASE_FLOAT_BREAK
    float f = push.f;
    for (int k = 0; k < n; k++) {
        f *= 1.5;
        if (f > 100.0)
            break;
    }
    x = uint(f);
#endif
#ifdef CASE_FLOAT_AROUND
    if (push.f * 2.0 > 1.0)
        for (int k = 0; k < n; k++)
            x += kept[k & 7];
#endif
#ifdef CASE_FLOAT_INDEX
    x = kept[int(push.f * 3.0)];
#endif
#ifdef CASE_FLOAT_CONVERTED
    // as sizes are handed over
    for (int k = 0; k < int(push.f); k++)
        x += kept[uint(push.f) & 7u];
#endif
#ifdef CASE_FLOAT_CONVERTED_PARTS
    const ivec2 size = ivec2(vec2(push.f, 3.0));
    for (int k = 0; k < size.x * size.y; k++)
        x += 3u;
#endif
#ifdef CASE_FLOAT_CONVERTED_VARYING
    // which would be told of where it steers nothing, too
    for (int k = 0; k < int(intBitsToFloat(given.numbers[i])); k++)
        x += 3u;
#endif
#ifdef CASE_FLOAT_BEFORE
    if (push.f * 2.0 > 1.0)
        y = 1u;
    for (int k = 0; k < n; k++)
        x += 3u;
#endif
#ifdef CASE_FLOAT_RETURN
    if (push.f * 2.0 > 1.0)
        return;
    for (int k = 0; k < n; k++)
        x += 3u;
#endif
#ifdef CASE_WRITTEN
    for (uint k = 0u; k < result.words[5]; k++)
        x += 3u;
#endif
#ifdef CASE_ALIASED
    for (uint k = 0u; k < again.words[5]; k++)
        x += 3u;
#endif
#ifdef CASE_ATOMIC
    while (atomicAdd(result.words[5], 1u) < 5u)
        x += 3u;
#endif
#ifdef CASE_ATOMIC_FLOAT
    atomicAdd(floats.sum, 1.0);
    for (int k = floatBitsToInt(floats.sum); k < 5; k++)
        x += 3u;
#endif
#ifdef CASE_SHARED_LOOP
    both[i] = i;
    barrier();
    for (uint k = 0u; k < both[5]; k++)
        x += 3u;
#endif
#ifdef CASE_SHARED_INDEX
    both[i] = i;
    barrier();
    x = kept[both[i ^ 1u]];
#endif
#ifdef CASE_UNASSIGNED
    int m;
    if (n > 7)
        m = 3;
    for (int k = 0; k < m; k++)
        x += 3u;
#endif
#ifdef CASE_UNASSIGNED_CALL
    int m;
    if (maybe_set(m))
        y = 1u;
    for (int k = 0; k < m; k++)
        x += 3u;
#endif
#ifdef CASE_ASSIGNED
    int m;
    if (n > 7)
        m = 3;
    else
        m = 2;
    for (int k = 0; k < m; k++)
        x += 3u;
#endif
#ifdef CASE_ASSIGNED_CALL
    int m;
    set(m);
    for (int k = 0; k < m; k++)
        x += 3u;
#endif
#ifdef CASE_SUBGROUP
    y = subgroupAdd(x);
    for (uint k = 0u; k < y; k++)
        x += 3u;
#endif
#ifdef CASE_SUBGROUP_SIZE
    for (uint k = 0u; k < gl_SubgroupSize; k++)
        x += 3u;
#endif
#ifdef CASE_SUBGROUP_BESIDE
    x = subgroupAdd(x);
#endif
#ifdef CASE_SUBGROUP_PART
    if (i < 5u)
        x = subgroupAdd(x);
#endif
#ifdef CASE_SUBGROUP_LOOP
    for (uint k = 0u; k < i; k++)
        x = subgroupAdd(x);
#endif
#ifdef CASE_BARRIER_PART
    if (int(i) < n)
        barrier();
#endif
#ifdef CASE_BARRIER_LOOP
    for (uint k = 0u; k < i; k++)
        barrier();
#endif
#ifdef CASE_BARRIER_BREAK
    for (int k = 0; k < n; k++) {
        both[i] = x;
        barrier();
        if (both[i ^ 1u] == 7u)
            break;
    }
#endif
#ifdef CASE_BARRIER_RETURN
    if (int(i) < n)
        return;
    barrier();
#endif
#ifdef CASE_BARRIER_ALL
    for (int k = 0; k < n + int(gl_WorkGroupID.x) + given.numbers[n]; k++) {
        both[i] = x;
        barrier();
        x += both[i ^ 1u];
        barrier();
    }
#endif
#ifdef CASE_BARRIER_BEHIND
    for (uint k = 0u; k < i; k++)
        x += 3u;
    barrier();
#endif
#ifdef CASE_ADDRESSES
    x = Far(push.address).word;
#endif
#ifdef CASE_BINDING
    x = other.word;
#endif
#ifdef CASE_OPEN
    x = open[nonuniformEXT(i)].word;
#endif
#ifdef CASE_PART_KNOWN
    x = parts[1].words[push.n];
#endif
#ifdef CASE_LENGTH_GIVEN
    x = open[nonuniformEXT(i)].word;
#endif
    result.words[i] = x + y;
}
