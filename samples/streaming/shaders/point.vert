/* SPDX-License-Identifier: MIT */
#version 450
#extension GL_GOOGLE_include_directive : require
#include "../../common/shaders/hash.glsl"

// One point of light per byte: the byte and the two that follow are its coordinates in a cube.
// Text, code, tables and noise form different shapes there.

layout(set = 0, binding = 0, std430) readonly buffer Ring {
    uint words[];
};

layout(push_constant) uniform Push {
    vec4 right; // the camera's axes; w is minus the eye's coordinate along each
    vec4 up;
    vec4 forward;
    vec2 lens; // focal lengths in x and y
    vec2 size; // of the picture in pixels
    uint first;   // the chunk's first byte in the ring
    uint offset;  // the chunk's offset in the file
    float energy; // of one point
    float step;   // from one byte to the next, as a share of all colours
} push;

layout(location = 0) flat out vec3 light;
layout(location = 1) flat out vec2 centre;

float coordinate(uint at)
{
    return float(words[at >> 2] >> 8u * (at & 3u) & 255u);
}

// The colour, from the file's beginning to its end.
vec3 palette(float t)
{
    vec3 colour = mix(vec3(0.10, 0.28, 1.00), vec3(0.05, 0.85, 0.72), smoothstep(0.00, 0.30, t));
    colour = mix(colour, vec3(1.00, 0.72, 0.16), smoothstep(0.28, 0.58, t));
    colour = mix(colour, vec3(1.00, 0.20, 0.30), smoothstep(0.55, 0.82, t));
    return mix(colour, vec3(0.75, 0.25, 1.00), smoothstep(0.80, 1.00, t));
}

void main()
{
    uint at = push.first + uint(gl_VertexIndex);
    uint in_file = push.offset + uint(gl_VertexIndex); // independent of the chunks
    uint salt = hash(in_file);

    // A byte is 1/256 of an edge: the point is anywhere within it, so that the cloud forms no
    // lattice.
    vec3 p = vec3(coordinate(at), coordinate(at + 1u), coordinate(at + 2u));
    p += vec3(unit(salt), unit(salt + 0x68bc21ebu), unit(salt + 0x02e5be93u));
    p = p * (2.0 / 256.0) - 1.0;

    vec3 eye = vec3(dot(push.right, vec4(p, 1.0)), dot(push.up, vec4(p, 1.0)),
                    dot(push.forward, vec4(p, 1.0)));
    vec2 ndc = push.lens * eye.xy / eye.z;
    float near = 4.5 / eye.z; // 1 at the centre of the cube
    light = palette(push.step * float(in_file)) * push.energy *
            pow(near, 3.0);
    gl_Position = vec4(ndc, 0.5, 1.0);
    gl_PointSize = 2.0;
    centre = (ndc * 0.5 + 0.5) * push.size;
}
