/* SPDX-License-Identifier: MIT */
// Sums of four floats. CASE 0 is the plain one; the others differ from it in some way, on some
// input.
#version 450
layout(local_size_x = 64) in;
layout(constant_id = 0) const int CASE = 0;
layout(std430, set = 0, binding = 0) readonly buffer In { vec4 values[]; } source;
layout(std430, set = 0, binding = 1) buffer Out { float sums[]; } target;
layout(push_constant) uniform Push { float factor; uint count; } push;

void main()
{
    uint i = gl_GlobalInvocationID.x + gl_GlobalInvocationID.y * 1000 +
             gl_GlobalInvocationID.z * 3000;
    vec4 v = source.values[i];
    float sum = CASE == 1 ? (v.x + v.y) + (v.z + v.w) : ((v.x + v.y) + v.z) + v.w;
    if (CASE == 2 && isnan(v.x))
        sum = 1.0;
    if (CASE == 3 && i == 17)
        sum = uintBitsToFloat(floatBitsToUint(sum) ^ 1u);
    if (CASE == 4 && abs(sum) < 1e30)
        sum *= 1.0 + 1.0 / 1048576.0;
    if (CASE == 5 && floatBitsToUint(v.y) == 0x80000000u) // only for a negative zero
        sum = 2.0;
    if (CASE == 6 && isinf(v.z))
        sum = 3.0;
    if (CASE == 7 && floatBitsToUint(v.w) == 1u) // only for the least denormal
        sum = 4.0;
    if (CASE == 8 && push.factor != 0.75) // only for other push constants
        sum = 5.0;
    if (CASE == 9)
        return;
    if (CASE == 10 && i == 5000) // beyond the first workgroups
        sum += 1.0;
    if (CASE == 11 && push.factor != 0.0) // only for others than none
        sum += 1.0;
    if (CASE == 12 && abs(v.x) > 1e28 && abs(v.x) < 1e38) // only for what may overflow
        sum = 6.0;
    uint magnitude = floatBitsToUint(v.x) & 0x7fffffffu; // a device may take denormals for zero
    if (CASE == 13 && magnitude > 1u && magnitude < 0x00800000u) // only for denormals
        sum = 7.0;
    if (CASE == 14 && all(lessThan(v.xyz, vec3(-0.1))) && all(greaterThan(v.xyz, vec3(-4.0))))
        sum = 8.0;
    uint rounds = floatBitsToUint(v.x); // only for what a loop may go round often
    if (CASE == 15 && rounds > 500u && rounds < 1024u)
        sum = 9.0;
    if (CASE == 16 && abs(push.factor) > 1e15) // only for huge ones
        sum = 10.0;
    if (CASE == 17 && abs(push.factor) < 1e-15) // only for tiny ones
        sum = 11.0;
    float product = sum * (CASE == 8 ? 0.75 : push.factor);
    if (CASE == 18 && (isnan(push.factor) || isinf(push.factor))) // only for no number
        product = 12.0;
    /* Which NaN it is depends on what a compiler makes of the constants. */
    target.sums[i] = isnan(product) ? uintBitsToFloat(0x7fc00000u) : product;
}
