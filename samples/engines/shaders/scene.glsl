/* SPDX-License-Identifier: MIT */
// The scene that the CPU computed; scene.h has the same in C.

struct Vertex {
    vec4 place; // w: the material
    vec4 normal;
    vec4 uv;
};

struct Light {
    vec4 place; // w: its range
    vec4 colour;
};

const uint LIGHTS = 18u;
const uint BLOCKS = 56u;
const uint COLUMNS = 9u;
const float GLOW = 4.0; // the material that glows

layout(push_constant) uniform Push {
    vec4 right; // the camera's axes; w is minus the eye's coordinate along each
    vec4 up;
    vec4 forward;
    vec2 lens; // focal lengths in x and y
    ivec2 size; // of the picture in pixels
} push;
