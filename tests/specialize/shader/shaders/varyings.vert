/* SPDX-License-Identifier: MIT */
// A vertex shader that leaves Position to another stage.
#version 450
layout(push_constant) uniform Push {
    float x;
} push;
layout(location = 0) in vec3 where;
layout(location = 2) in ivec2 which;
layout(location = 0) out float y;
layout(location = 1) flat out int z[2];
void main()
{
    y = push.x + where.y;
    z[0] = which.x;
    z[1] = gl_VertexIndex;
}
