/* SPDX-License-Identifier: MIT */
// Converts linear light to eight bits: encodes sRGB if the target doesn't, and adds a dither below
// one step.

layout(constant_id = 0) const bool ENCODE = true;

vec3 develop(vec3 light)
{
    light = clamp(light, 0.0, 1.0);
    if (ENCODE)
        light = mix(12.92 * light, 1.055 * pow(light, vec3(1.0 / 2.4)) - 0.055,
                    greaterThan(light, vec3(0.0031308)));
    uint pixel = uint(gl_FragCoord.y) * 8192u + uint(gl_FragCoord.x);
    float grain = unit(pixel) + unit(pixel ^ 0x5bd1e995u) - 1.0;
    return light + grain * (0.75 / 255.0);
}
