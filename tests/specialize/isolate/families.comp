/* SPDX-License-Identifier: MIT */
// Three families of shaders (families.c): loops that may never end, accesses that may go past the
// end, and code that few inputs come to. The constants choose a shader out of each: with these
// frozen, what isn't chosen is gone.
#version 450
#extension GL_EXT_samplerless_texture_functions : require
layout(local_size_x = 64) in;
layout(constant_id = 0) const int family = 0;
layout(constant_id = 1) const int shape = 0;
layout(constant_id = 2) const int guard = 0;
layout(constant_id = 3) const int a_from = 0; // where the values come from
layout(constant_id = 4) const int b_from = 0;
layout(constant_id = 5) const int c_from = 0;
layout(constant_id = 6) const int first_is = 0; // what is done with them
layout(constant_id = 7) const int second_is = 0;
layout(constant_id = 8) const int third_is = 0;
layout(constant_id = 9) const int comparison = 0;
layout(constant_id = 10) const uint bound = 8;
layout(constant_id = 11) const float level = 1.0; // thresholds
layout(constant_id = 12) const float ceiling = 1.0;
layout(constant_id = 13) const int second_shape = 0;
layout(constant_id = 14) const int third_shape = 0;

layout(push_constant) uniform Push
{
    uint count;
    int offset;
    float factor, limit;
}
push;
struct Given {
    float x, y;
    uint number;
    int link;
};
layout(set = 0, binding = 0, std430) buffer Data
{
    uint data[];
};
layout(set = 0, binding = 2, std430) readonly buffer All
{
    Given given[];
};
layout(set = 0, binding = 3, r32ui) readonly uniform uimage2D image;
layout(set = 0, binding = 4) uniform utexture2D texels;
layout(set = 0, binding = 5, std430) readonly buffer One
{
    uint number;
}
ones[2];

shared float together[64];

#define FLOAT_VALUE(name, from)                                                                    \
    float name(uint me)                                                                            \
    {                                                                                              \
        switch (from) {                                                                            \
        case 0:                                                                                    \
            return push.factor;                                                                    \
        case 1:                                                                                    \
            return push.limit;                                                                     \
        case 2:                                                                                    \
            return given[me].x;                                                                    \
        case 3:                                                                                    \
            return given[me].y;                                                                    \
        case 4:                                                                                    \
            return float(me) / 64.0;                                                               \
        case 5:                                                                                    \
            return float(given[me].number);                                                        \
        case 6:                                                                                    \
            return given[me].x * push.factor;                                                      \
        }                                                                                          \
        return level;                                                                              \
    }
FLOAT_VALUE(a_float, a_from)
FLOAT_VALUE(b_float, b_from)
FLOAT_VALUE(c_float, c_from)

#define UINT_VALUE(name, from)                                                                     \
    uint name(uint me)                                                                             \
    {                                                                                              \
        switch (from) {                                                                            \
        case 0:                                                                                    \
            return push.count;                                                                     \
        case 1:                                                                                    \
            return uint(push.offset);                                                              \
        case 2:                                                                                    \
            return given[me].number;                                                               \
        case 3:                                                                                    \
            return uint(given[me].link);                                                           \
        case 4:                                                                                    \
            return me;                                                                             \
        case 5:                                                                                    \
            return me + push.count;                                                                \
        case 6:                                                                                    \
            return given[me].number * push.count;                                                  \
        }                                                                                          \
        return bound;                                                                              \
    }
UINT_VALUE(a_uint, a_from)
UINT_VALUE(b_uint, b_from)
UINT_VALUE(c_uint, c_from)

#define FLOAT_STEP(name, is)                                                                       \
    float name(float a, float b)                                                                   \
    {                                                                                              \
        switch (is) {                                                                              \
        case 0:                                                                                    \
            return a + b;                                                                          \
        case 1:                                                                                    \
            return a - b;                                                                          \
        case 2:                                                                                    \
            return a * b;                                                                          \
        case 3:                                                                                    \
            return min(a, b);                                                                      \
        case 4:                                                                                    \
            return max(a, b);                                                                      \
        case 5:                                                                                    \
            return a * b + level;                                                                  \
        case 6:                                                                                    \
            return a > b ? a : b * 2.0;                                                            \
        case 7:                                                                                    \
            return clamp(a, 0.0, ceiling) + b;                                                     \
        case 8:                                                                                    \
            return abs(a) + sign(b);                                                               \
        case 9:                                                                                    \
            return floor(a) * b;                                                                   \
        case 10:                                                                                   \
            return a * b * level;                                                                  \
        case 11:                                                                                   \
            return (a + b) * (a - b);                                                              \
        case 12:                                                                                   \
            return isnan(a) ? b : a;                                                               \
        case 13:                                                                                   \
            return isinf(a) ? b : a * b;                                                           \
        case 14:                                                                                   \
            return mix(a, b, level);                                                               \
        case 15:                                                                                   \
            return a + b * ceiling + a * ceiling;                                                  \
        }                                                                                          \
        return a / b;                                                                              \
    }
FLOAT_STEP(first_float, first_is)
FLOAT_STEP(second_float, second_is)
FLOAT_STEP(third_float, third_is)

#define UINT_STEP(name, is)                                                                        \
    uint name(uint a, uint b)                                                                      \
    {                                                                                              \
        switch (is) {                                                                              \
        case 0:                                                                                    \
            return a + b;                                                                          \
        case 1:                                                                                    \
            return a - b;                                                                          \
        case 2:                                                                                    \
            return a * b;                                                                          \
        case 3:                                                                                    \
            return a ^ b;                                                                          \
        case 4:                                                                                    \
            return a >> (b & 31u);                                                                 \
        case 5:                                                                                    \
            return a << (b & 7u);                                                                  \
        case 6:                                                                                    \
            return min(a, b);                                                                      \
        case 7:                                                                                    \
            return a % max(b, 1u);                                                                 \
        case 8:                                                                                    \
            return a / max(b, 1u);                                                                 \
        case 9:                                                                                    \
            return a + b + 1u;                                                                     \
        case 10:                                                                                   \
            return a & b;                                                                          \
        }                                                                                          \
        return a + 1u;                                                                             \
    }
UINT_STEP(first_uint, first_is)
UINT_STEP(second_uint, second_is)

bool compares(uint a, uint b)
{
    switch (comparison) {
    case 0:
        return a < b;
    case 1:
        return a != b;
    case 2:
        return int(a) <= int(b);
    case 3:
        return a > b;
    case 4:
        return (a & b) != 0u;
    }
    return int(a) < int(b);
}

// ------------------------------------------------------------------------------------------- Loops

// Without one a loop ends only by itself.
bool goes_on(uint rounds)
{
    switch (guard) {
    case 0:
        return rounds < bound;
    case 1:
        return rounds < (push.count & 31u);
    case 2:
        return rounds < given[0].number;
    }
    return true;
}

float loops(uint me, inout uint rounds)
{
    const float x = c_float(me);
    float sum = third_float(x, b_float(me));
    switch (shape) {
    case 0: // a ray march
        for (float t = a_float(me); t < ceiling && goes_on(rounds); t += push.factor) {
            sum = first_float(sum, x);
            rounds++;
            if (sum > push.limit)
                break;
        }
        break;
    case 1: // one with a jitter of its own, and so many steps
        for (uint i = 0u; i < a_uint(me) && goes_on(rounds); i++) {
            sum = first_float(sum, given[(me + i) & 63u].x);
            rounds++;
            if (sum > level)
                sum = second_float(sum, push.factor);
        }
        break;
    case 2: // counts, and may step over its end
        for (uint n = a_uint(me); compares(n, b_uint(me)) && goes_on(rounds);
             n = second_uint(n, c_uint(me))) {
            sum = first_float(sum, x);
            rounds++;
        }
        break;
    case 3: // a list, which may be a ring, or lead outside
        for (uint at = a_uint(me) & 63u; given[at].link > push.offset && goes_on(rounds);
             at = uint(given[at].link)) {
            sum = first_float(sum, given[at].x);
            rounds++;
        }
        break;
    case 4: // looks for something that may not be there
        for (uint at = 0u; given[at].number != a_uint(me) && goes_on(rounds); at++) {
            sum = first_float(sum, given[at].y);
            rounds++;
        }
        break;
    case 5: // skips, and may do so for ever
        for (uint n = 0u; n < (a_uint(me) & 63u) && goes_on(rounds);) {
            rounds++;
            if ((given[n].number & 1u) == (uint(push.offset) & 1u)) {
                sum = second_float(sum, push.limit);
                continue;
            }
            sum = first_float(sum, x);
            n += 1u + (b_uint(me) & 3u);
        }
        break;
    case 6:
        uint bits = a_uint(me);
        do {
            bits >>= b_uint(me) & 3u;
            sum = first_float(sum, x);
            rounds++;
        } while (bits != 0u && goes_on(rounds));
        break;
    case 7: // nested, with ways out of each
        for (uint i = 0u; compares(i, a_uint(me)) && goes_on(rounds); i++) {
            for (uint k = i; k != (b_uint(me) & 15u); k = (k + 1u) & 15u) {
                rounds++;
                if (given[k].link == push.offset)
                    break;
                if ((k & 1u) != 0u)
                    continue;
                sum = first_float(sum, given[k].x);
            }
            if (rounds > 200u)
                break;
        }
        break;
    default: // in step with floats that are given
        for (uint at = me; given[at & 63u].x < push.limit && goes_on(rounds); at += 1u + push.count) {
            sum = first_float(sum, given[at & 63u].y);
            rounds++;
        }
    }
    return sum;
}

// ---------------------------------------------------------------------------------------- Accesses

uint guarded(uint index, uint length)
{
    switch (guard) {
    case 0:
        return min(index, length - 1u);
    case 1:
        return index % length;
    case 2:
        return index < length ? index : 0u;
    case 3:
        return index & push.count;
    }
    return index;
}

float table(uint index)
{
    const float curve[8] = float[](0.0, 0.25, 0.5, 1.0, 2.0, 4.0, 16.0, -1.0);
    return curve[index];
}

float accesses(uint me, uint index)
{
    const float x = c_float(me);
    switch (shape) {
    case 0:
        return first_float(given[guarded(index, 64u)].x, x);
    case 1: // a column of its own
        data[me + 64u * guarded(index, 4u)] = floatBitsToUint(first_float(x, push.factor));
        return x;
    case 2: {
        float own[8] = float[](x, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, push.limit);
        own[guarded(index, 8u)] = first_float(x, push.factor);
        return own[guarded(second_uint(index, b_uint(me)), 8u)];
    }
    case 3:
        return first_float(table(guarded(index, 8u)), x);
    case 4:
        together[me] = first_float(x, push.factor);
        barrier();
        return together[guarded(index, 64u)];
    case 5:
        return first_float(float(imageLoad(image, ivec2(guarded(index, 4u), me & 3u)).x), x);
    case 6:
        return first_float(float(texelFetch(texels, ivec2(me & 3u, guarded(index, 4u)), 0).x), x);
    case 7: // the same for all
        return first_float(float(ones[guarded(push.count, 2u)].number), x);
    case 8: {
        vec4 v = vec4(x, push.factor, 1.0, 2.0);
        v[guarded(index, 4u)] = push.limit;
        return first_float(v.x, v[guarded(index + 1u, 4u)]);
    }
    case 9: {
        mat3 m = mat3(x, push.factor, 0.0, 1.0, push.limit, 2.0, x, 3.0, 4.0);
        return first_float(m[guarded(index, 3u)][guarded(b_uint(me), 3u)], x);
    }
    }
    return first_float(given[guarded(index, 64u)].y, given[guarded(uint(push.offset), 64u)].x);
}

// ------------------------------------------------------------------------------ What few come to

#define CURVE(name, way, does, other)                                                              \
    float name(float v, uint me)                                                                   \
    {                                                                                              \
        const float by = b_float(me);                                                              \
        switch (way) {                                                                             \
        case 0:                                                                                    \
            if (v > level)                                                                         \
                return level + does(v - level, by);                                                \
            return v;                                                                              \
        case 1:                                                                                    \
            return v > ceiling ? does(v, by) : other(v, by);                                       \
        case 2:                                                                                    \
            return clamp(v, -level, ceiling);                                                      \
        case 3:                                                                                    \
            return does(min(v, ceiling), by);                                                      \
        case 4:                                                                                    \
            if (isnan(v) || isinf(v))                                                              \
                return push.limit;                                                                 \
            return does(v, by);                                                                    \
        case 5:                                                                                    \
            switch (push.count) {                                                                  \
            case 0u:                                                                               \
                return does(v, by);                                                                \
            case 1u:                                                                               \
                return other(v, by);                                                               \
            case 2u:                                                                               \
                return does(other(v, by), push.limit);                                             \
            }                                                                                      \
            return v;                                                                              \
        case 6:                                                                                    \
            return does(v, table(given[me].number & 7u));                                          \
        case 7:                                                                                    \
            return smoothstep(0.0, ceiling, v) * push.factor;                                      \
        case 8:                                                                                    \
            return does(step(level, v), by);                                                       \
        case 9:                                                                                    \
            if (push.limit > level)                                                                \
                return does(v, push.limit);                                                        \
            return other(v, by);                                                                   \
        case 10:                                                                                   \
            if (given[me].link == push.offset)                                                     \
                return does(v, push.factor);                                                       \
            return v;                                                                              \
        case 11:                                                                                   \
            return 1.0 - exp2(-v * push.factor);                                                   \
        case 12:                                                                                   \
            if (v < push.limit && given[me].number == bound)                                       \
                return other(does(v, push.factor), by);                                            \
            return does(v, by);                                                                    \
        case 13:                                                                                   \
            return dot(max(vec3(v, by, level), vec3(push.limit)), vec3(1.0, 0.5, push.factor));    \
        }                                                                                          \
        return does(v, push.factor);                                                               \
    }
CURVE(first_curve, shape, first_float, second_float)
CURVE(second_curve, second_shape, second_float, third_float)
CURVE(third_curve, third_shape, third_float, first_float)

void main()
{
    const uint me = gl_GlobalInvocationID.x;
    uint number = 0u;
    float result = 0.0;
    if (family == 1) {
        result = loops(me, number);
    } else if (family == 2) {
        number = first_uint(a_uint(me), b_uint(me));
        result = accesses(me, number);
    } else if (family == 3) {
        result = third_curve(second_curve(first_curve(a_float(me), me), me), me);
    }
    if (family == 2 && shape == 1)
        return;
    data[me * 4u] = floatBitsToUint(result);
    data[me * 4u + 1u] = number;
}
