/* SPDX-License-Identifier: MIT */
// Which code has to be come to where push.mode is folded as 1, or push.k as 2: that with the min, each case a module of
// its own (needed.c).
#version 450
#extension GL_KHR_memory_scope_semantics : require
layout(local_size_x = 32) in;
layout(push_constant, std430) uniform Push {
    int mode;
    float k;
    float far;
} push;
layout(binding = 0) buffer Out {
    float words[];
} result;
layout(binding = 2) readonly buffer In {
    float numbers[];
} given;
layout(binding = 5) buffer Beside {
    float words[];
} beside;
layout(binding = 7) uniform sampler2D image;
layout(binding = 8) uniform usampler2D whole_image;
layout(binding = 9, r32i) writeonly uniform iimage2D written;
layout(binding = 6) buffer Whole {
    int words[];
} whole;

float x, y;
float kept;

float lesser(float a)
{
    if (x > 9.0)
        return min(a, y);
    return a;
}

int lesser_integer()
{
    if (x > 9.0)
        return int(min(x, y));
    return int(x);
}

float as_float(int n)
{
    return float(n * 3);
}

void keep()
{
    if (x > 9.0)
        kept = min(x, y);
}

void keep_always()
{
    kept = min(x, y);
}

bool on(int which)
{
    return (push.mode & which) != 0;
}

bool is_less(float than)
{
    return x < than;
}

int several(int which)
{
    if (which == 2)
        return 7;
    if (which == 1)
        return 8;
    return 9;
}

int several_around(int which)
{
    int n = 0;
    for (int i = 0; i < which; i++) {
        if (x > float(i))
            return i;
        n += i;
    }
    return n;
}

void main()
{
    const uint i = gl_LocalInvocationIndex;
    x = given.numbers[i];
    y = given.numbers[i + 32];
    float r = x;
#ifdef CASE_DATA
    if (x > 9.0)
        r = min(x * push.k, y);
#endif
#ifdef CASE_GATHERED
    // both may be multiplied at once
    if (x > 9.0)
        r = min(x, y) * 3.0;
    r *= push.k;
#endif
#ifdef CASE_BESIDE
    if (x > 9.0)
        beside.words[i] = min(x, y);
    r = push.k + y;
#endif
#ifdef CASE_CALLED
    r = lesser(x * push.k);
#endif
#ifdef CASE_KEPT
    kept = 0.0;
    keep();
    r = push.k - kept;
#endif
#ifdef CASE_CALLED_AROUND
    // nothing in the block but the call
    kept = 0.0;
    if (x > 9.0)
        keep_always();
    r = push.k - kept;
#endif
#ifdef CASE_INTEGER_CHOICE
    // of what was made of floats
    whole.words[i] = min(int(x * push.k), 7);
#endif
#ifdef CASE_INTEGER_CHOICE_BESIDE
    whole.words[i] = min(int(x), push.mode);
    r = y * push.k;
#endif
#ifdef CASE_ARRAY
    float several[4] = {x, y, x, y};
    if (x > 9.0)
        several[i & 3u] = min(x, y);
    r = several[2] * push.k;
#endif
#ifdef CASE_COMPARED
    // how they compare may change
    if (min(x, y) * 3.0 > push.k)
        r = 1.0;
#endif
#ifdef CASE_DECIDED
    // by what depends, over what no floats have made
    if (x * push.k > 9.0)
        whole.words[i] = min(int(i), 7);
#endif
#ifdef CASE_LOOP
    for (int n = 0; n < push.mode; n++)
        if (x > 9.0)
            r += min(x, y);
#endif
#ifdef CASE_PACKED
    const int n = int(r * push.k);
    if (x > 9.0)
        whole.words[i] = n + int(min(x, y));
#endif
#ifdef CASE_BITS
    if (x > 9.0)
        r = min(x, y) * 3.0;
    r = uintBitsToFloat(floatBitsToUint(r)) * push.k;
#endif
#ifdef CASE_CONVERTED
    // integers that floats are made of
    int n = int(y);
    if (n > 9)
        n = int(min(x, y));
    r = float(n * 3) * push.k;
#endif
#ifdef CASE_CONVERTED_BITS
    uint bits = floatBitsToUint(y) & 7u;
    if (x > 9.0)
        bits = uint(min(x, y)) | 8u;
    r = uintBitsToFloat(bits << 20) * push.k;
#endif
#ifdef CASE_CONVERTED_CALL
    r = float(lesser_integer()) * push.k;
#endif
#ifdef CASE_CONVERTED_PASSED
    r = as_float(x > 9.0 ? int(min(x, y)) : int(y)) * push.k;
#endif
#ifdef CASE_INTEGERS_OF_FLOATS
    // of which none depends
    int n = int(x) * 3 + int(y);
    if (n > 9)
        n += int(min(x, y));
    whole.words[i] = n * push.mode;
    r = y;
#endif
#ifdef CASE_DECIDED_BY_INTEGERS
    int n = int(x) * push.mode + int(y);
    if (n > 9)
        n += int(min(x, y));
    whole.words[i] = n;
    r = y;
#endif
#ifdef CASE_INTEGERS
    if (given.numbers[i] > 9.0)
        whole.words[i] = int(min(x, y));
    whole.words[i + 32] = push.mode * 3;
#endif
#ifdef CASE_DECIDED_CONVERTED
    if (x * push.k > 9.0)
        whole.words[i] = int(min(x, y));
#endif
#ifdef CASE_ATOMIC_STORED
    const int bits = int(floatBitsToUint(x * push.k));
    if (x > 9.0) {
        beside.words[i] = min(x, y);
        atomicStore(whole.words[i], bits, gl_ScopeDevice, gl_StorageSemanticsBuffer, gl_SemanticsRelaxed);
    }
#endif
#ifdef CASE_ATOMIC_EXCHANGED
    const int bits = int(floatBitsToUint(x * push.k));
    if (x > 9.0) {
        beside.words[i] = min(x, y);
        atomicExchange(whole.words[i], bits);
    }
#endif
#ifdef CASE_DECIDED_ATOMIC
    const int n = int(min(x, y));
    if (push.mode == 1)
        atomicStore(whole.words[i], n, gl_ScopeDevice, gl_StorageSemanticsBuffer, gl_SemanticsRelaxed);
#endif
#ifdef CASE_DECIDED_ADDED
    const int n = int(min(x, y));
    if (push.mode == 1)
        atomicAdd(whole.words[i], n);
#endif
#ifdef CASE_DECIDED_WRITTEN
    const int n = int(min(x, y));
    if (push.mode == 1)
        imageStore(written, ivec2(0), ivec4(n));
#endif
#ifdef CASE_DECIDED_PACKED
    // integers of floats, where a folded one decides
    if (push.mode == 1) {
        if (x > 9.0)
            whole.words[i] = int(packHalf2x16(vec2(min(x, y), y)));
    }
#endif
#ifdef CASE_DECIDED_LATER
    const int n = int(packHalf2x16(vec2(min(x, y), y)));
    if (push.mode == 1)
        whole.words[i] = n + 3;
#endif
#ifdef CASE_DECIDED_SELECTED
    const bool is = min(x, y) > 3.0;
    if (push.mode == 1)
        whole.words[i] = is ? 1 : 0;
#endif
#ifdef CASE_DECIDED_PHI
    int n = 7;
    if (min(x, y) > 3.0)
        n = 9;
    if (push.mode == 1)
        whole.words[i] = n;
#endif
#ifdef CASE_DECIDED_BRANCH
    const bool is = min(x, y) > 3.0;
    if (push.mode == 1) {
        if (is)
            whole.words[i] = 7;
    }
#endif
#ifdef CASE_DECIDED_COMPARED
    if (push.mode == 1) {
        if (x * 3.0 > y)
            whole.words[i] = min(int(i), 7);
    }
#endif
#ifdef CASE_DECIDED_AFTER
    int n = 3;
    if (push.mode == 1)
        n = int(x * 3.0 + y);
    if (x > 9.0)
        whole.words[i] = min(int(i), 7) + n;
#endif
#ifdef CASE_DECIDED_CALL
    const int n = lesser_integer();
    if (push.mode == 1)
        whole.words[i] = n;
#endif
#ifdef CASE_DECIDED_RETURNED
    whole.words[i] = on(1) ? lesser_integer() : 3;
#endif
#ifdef CASE_DECIDED_MOVED
    // a float that nothing was computed of
    beside.words[i] = min(x, y);
    int n = int(x);
    if (push.mode == 1)
        n += int(y);
    whole.words[i] = n + int(floatBitsToUint(y));
    r = y;
#endif
#ifdef CASE_DECIDED_BESIDE
    // but no integer that none has made
    beside.words[i] = min(x, y);
    if (push.mode == 1)
        whole.words[i] = int(i) + whole.words[i + 32];
    r = y;
#endif
#ifdef CASE_DEAD
    if (push.mode == 2)
        r = min(x, y);
#endif
#ifdef CASE_ALIVE
    if (push.mode == 1)
        r = min(x, y);
#endif
#ifdef CASE_ALIVE_NAN
    // 0 times x, which isn't always 0
    if (x * float(push.mode - 1) != 0.0)
        r = min(x, y);
#endif
#ifdef CASE_DEAD_CALL
    if (push.mode == 2)
        r = lesser(x);
    r *= push.k;
#endif
#ifdef CASE_DEAD_UNFOLDED
    // a value that isn't folded here, since it is a divisor, is the same all the same
    if (push.k > 3.0)
        r = min(x, y) / push.k;
    r += float(push.mode);
#endif
#ifdef CASE_ALIVE_ROUNDED
    // dead by the host's sine, which isn't the device's
    if (sin(push.k) < 0.9)
        r = min(x, y);
    r += float(push.mode);
#endif
#ifdef CASE_ALIVE_CONTRACTED
    // dead where products are rounded
    if (push.k * push.k - 4.0 != 0.0)
        r = min(x, y);
    r += float(push.mode);
#endif
#ifdef CASE_DEAD_LISTED
    if (push.mode == 2 && sin(y) < 2.0)
        r = min(x, y);
#endif
#ifdef CASE_DEAD_ASKED
    // a function asks
    if (on(2))
        r = min(x, y);
    r *= push.k;
#endif
#ifdef CASE_ALIVE_ASKED
    // and here there is but one way
    if (on(1))
        r = min(x, y);
    r *= push.k;
#endif
#ifdef CASE_ALIVE_BOTH
    // here there are two, behind a call
    if (is_less(9.0))
        r = min(x, y);
    r *= push.k;
#endif
#ifdef CASE_DEAD_SEVERAL
    // by a function that returns from several places
    if (several(push.mode) != 8)
        r = min(x, y);
    r *= push.k;
#endif
#ifdef CASE_ALIVE_SEVERAL
    // and out of a loop
    if (several_around(push.mode) != 8)
        r = min(x, y);
    r *= push.k;
#endif
#ifdef CASE_CHOSEN
    // by what is constant
    r = min(push.k, 3.0) * x;
#endif
#ifdef CASE_SAMPLED_BESIDE
    // what goes into an integer index isn't touched
    r = given.numbers[uint(min(x, y))] * push.k;
#endif
#ifdef CASE_NOTHING_FOLDED
    if (x > 9.0)
        r = min(x, y) * push.far;
#endif
#ifdef CASE_PLACED
    // where it is, times what is folded
    beside.words[i] = min(x, y);
    r = float(gl_GlobalInvocationID.x) * push.k;
#endif
#ifdef CASE_PLACED_LATER
    uint at = gl_WorkGroupID.x + 3u;
    beside.words[i] = min(x, y);
    r = (x + float(at)) * push.k;
#endif
#ifdef CASE_PLACED_BESIDE
    beside.words[gl_GlobalInvocationID.x] = min(x, y);
    r = x * push.k;
#endif
#ifdef CASE_PLACED_INDEX
    // elsewhere it may take what it takes nowhere here
    const float own[3] = {1.0, 2.5, 3.25};
    beside.words[i] = min(x, y);
    r = own[gl_WorkGroupID.x % 3u] * push.k;
#endif
#ifdef CASE_UNIFORM
    // what all read alike, and isn't folded
    beside.words[i] = min(x, y);
    r = (push.far + 1.0) * push.k;
#endif
#ifdef CASE_UNIFORM_BESIDE
    beside.words[i] = min(x, y) + push.far;
    r = x * push.k;
#endif
#ifdef CASE_UNIFORM_ELEMENT
    beside.words[i] = min(x, y);
    r = (x + given.numbers[3]) * push.k;
#endif
#ifdef CASE_UNIFORM_INTEGER
    beside.words[i] = min(x, y);
    r = (x + float(whole.words[push.mode])) * push.k;
#endif
#ifdef CASE_SIZED
    beside.words[i] = min(x, y);
    r = float(textureSize(image, 0).x) * push.k;
#endif
#ifdef CASE_TEXELS
    beside.words[i] = min(x, y);
    r = texelFetch(image, ivec2(int(i), 0), 0).r * push.k;
#endif
#ifdef CASE_TEXELS_WHOLE
    beside.words[i] = min(x, y);
    r = float(texelFetch(whole_image, ivec2(0, int(i)), 0).r) * push.k;
#endif
#ifdef CASE_TEXELS_UNIFORM
    // the same for all
    beside.words[i] = min(x, y);
    r = (x + texelFetch(image, ivec2(push.mode, 0), 0).r) * push.k;
#endif
#ifdef CASE_TEXELS_SAMPLED
    beside.words[i] = min(x, y);
    r = (x + textureLod(image, vec2(0.5), 0.0).r) * push.k;
#endif
#ifdef CASE_SIZED_ARRAY
    beside.words[i] = min(x, y);
    r = float(given.numbers.length()) * push.k;
#endif
#ifdef CASE_TEXELS_BESIDE
    beside.words[i] = min(x, texelFetch(image, ivec2(0), 0).r);
    r = x * push.k;
#endif
#ifdef CASE_SPECIAL_ADDED
    // -0 and 0 are 0
    beside.words[i] = min(x, y);
    r = x + float(push.mode - 1);
#endif
#ifdef CASE_SPECIAL_EVALUATED
    // a device evaluates it
    beside.words[i] = min(x, y);
    r = x * (clamp(float(push.mode), 0.0, 2.0) - 1.0);
#endif
#ifdef CASE_SPECIAL_FINITE
    beside.words[i] = min(x, y);
    r = float((i & 7u) + 1u) * float(push.mode - 1);
#endif
#ifdef CASE_SPECIAL_CHOSEN
    // constant by what it is chosen by
    beside.words[i] = min(x, y);
    float by = y;
    if (push.mode == 1)
        by = 0.0;
    r = x * by;
#endif
#ifdef CASE_SPECIAL_UNFOLDED
    // what reaches a division isn't folded
    beside.words[i] = min(x, y);
    r = x * float(push.mode) * (push.k / 2.0 - 1.0);
#endif
#ifdef CASE_SPECIAL_MIXED
    // nor what is mixed by, 0 times one of both
    beside.words[i] = min(x, y);
    r = mix(x, y, float(push.mode));
#endif
#ifdef CASE_SPECIAL_OWN
    // the shader's own zeros are in the general pipeline, too
    beside.words[i] = min(x, y);
    precise float own = (x + float(push.mode)) * 0.0 + x * 0.0;
    r = own;
#endif
#ifdef CASE_SPECIAL_COMPONENT
    beside.words[i] = min(x, y);
    const vec3 v = vec3(x, float(push.mode - 1), y) * y;
    r = v.x + v.y;
#endif
    result.words[i] = r;
}
