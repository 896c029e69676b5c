/* SPDX-License-Identifier: MIT */
// Curves whose parts are far apart: some are for what no made-up input is, some for what is dead once push.dead is folded.
#version 450
layout(local_size_x = 64) in;
layout(constant_id = 0) const int curve = 0;
layout(push_constant) uniform Push
{
    float exposure;
    int dead;
}
push;
layout(set = 0, binding = 0, std430) readonly buffer Given
{
    float given[];
};
layout(set = 0, binding = 1, std430) buffer Data
{
    float data[];
};

float pick(bool is, float x)
{
    return is ? 3.0 : x;
}

void main()
{
    const uint i = gl_GlobalInvocationID.x;
    // below 1, which is known of no bit field
    const float x = given[i], unit = float(bitfieldExtract(floatBitsToUint(x), 0, 8)) / 256.0;
    float c = x * push.exposure, d = unit * push.exposure;
    float r = 0.0;
    switch (curve) {
    case 0: // bright, and there are such inputs
        r = c > 16.0 ? 16.0 + (c - 16.0) * push.exposure : c;
        break;
    case 1: // brighter than any: by a branch, a choice, and by what stays as it is
        r = d;
        if (d > 64.0)
            r = 64.0 + (d - 64.0) * push.exposure;
        break;
    case 2:
        r = min(d, 64.0);
        break;
    case 3:
        if (d <= 64.0)
            d *= push.exposure;
        r = d;
        break;
    case 4: // some are
        if (isnan(c))
            c = push.exposure;
        r = isinf(c) ? push.exposure * 2.0 : c;
        break;
    case 5: // none is
        r = isnan(d) ? push.exposure : d;
        break;
    case 6:
        r = isinf(d) ? push.exposure : d;
        break;
    case 7: // dark, and dead
        r = push.dead == 1 && d > 64.0 ? d * 3.0 : d;
        if (push.dead == 1)
            r = min(d, 64.0);
        break;
    case 8: // by a function that one call comes through on both sides, the other on one
        r = pick(unit > 0.5, x) * 2.0;
        r += pick(unit > 64.0, d);
        break;
    case 9: // by one that both do
        r = pick(unit > 0.5, x) * 2.0;
        r += pick(unit > 0.25, d);
        break;
    case 10: { // by an integer that becomes a float
        uint n = floatBitsToUint(x) & 3u;
        if (unit > 64.0)
            n = 7u;
        r = float(n) + push.exposure * 2.0;
        break;
    }
    case 11: // by a choice between integers
        r = uintBitsToFloat(min(bitfieldExtract(floatBitsToUint(x), 0, 2), 64u)) + push.exposure * 2.0;
        break;
    case 12:
        r = float(min(floatBitsToUint(x) & 3u, 2u)) + push.exposure * 2.0;
        break;
    }
    data[i] = r;
}
