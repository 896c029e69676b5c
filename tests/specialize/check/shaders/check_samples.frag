/* SPDX-License-Identifier: MIT */
// CASE 0 is the plain one; the others differ from it in one sample of one pixel, or of some.
#version 450
layout(constant_id = 0) const int CASE = 0;
layout(location = 0) in vec2 uv;
layout(location = 0) out vec4 color;
layout(set = 0, binding = 0) uniform sampler2D image;
layout(set = 0, binding = 1) uniform Block { vec4 factor; } block;
layout(push_constant) uniform Push { vec4 offset; float factor; } push;

void main()
{
    vec4 c = texture(image, uv) + push.offset;
    color = vec4(c.xy * block.factor.xy, push.factor, 1.0);
    bool here = ivec2(gl_FragCoord.xy) == ivec2(17, 23);
    if (CASE == 1 && here && gl_SampleID == 2)
        color.z = 0.0;
    if (CASE == 2 && here && gl_SampleID == 3)
        discard;
    if (CASE == 3 && here && gl_SampleID == 0)
        color.z = intBitsToFloat(floatBitsToInt(color.z) ^ 1);
    if (CASE == 4 && gl_SampleID == 1)
        color.w = 0.0;
}
