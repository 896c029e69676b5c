/* SPDX-License-Identifier: MIT */
#version 450
layout(early_fragment_tests) in;
layout(location = 0) in vec3 smooth_;
layout(location = 1) flat in ivec2 flat_;
layout(location = 2, component = 1) noperspective in float linear;
layout(location = 3) centroid in mat2 matrix;
layout(location = 5) sample in float each[2];
layout(location = 7) in Block {
    vec2 a;
    flat uint b;
} block;
layout(location = 9) in vec4 ignored;
layout(location = 0) out vec4 colour;
layout(location = 2) out uvec2 more;
layout(set = 0, binding = 4, input_attachment_index = 3) uniform subpassInput attachment;
layout(push_constant) uniform Push {
    uint x;
} push;
void main()
{
    if (gl_FragCoord.x < linear)
        discard;
    colour = vec4(smooth_, dFdx(smooth_.x)) + subpassLoad(attachment) + matrix[1].x + each[1];
    more = uvec2(flat_) + uvec2(block.a) + block.b + push.x;
}
