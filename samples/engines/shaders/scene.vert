/* SPDX-License-Identifier: MIT */
#version 450
#extension GL_GOOGLE_include_directive : require
#include "scene.glsl"

// Used by the pre-pass and the final draw, whose depths must be equal.

layout(set = 0, binding = 0, std430) readonly buffer Geometry {
    Vertex vertices[];
};

layout(location = 0) out vec3 normal;
layout(location = 1) out float away;
layout(location = 2) out vec2 uv;
layout(location = 3) flat out float material;

invariant gl_Position;

const float NEAR = 0.1, FAR = 120.0;

void main()
{
    Vertex v = vertices[gl_VertexIndex];
    vec4 place = vec4(v.place.xyz, 1.0);
    vec3 eye = vec3(dot(push.right, place), dot(push.up, place), dot(push.forward, place));
    gl_Position = vec4(push.lens * eye.xy, (eye.z - NEAR) * (FAR / (FAR - NEAR)), eye.z);
    normal = v.normal.xyz;
    away = eye.z;
    uv = v.uv.xy;
    material = v.place.w;
}
