/* SPDX-License-Identifier: MIT */
#version 450
#extension GL_GOOGLE_include_directive : require
#include "../../common/shaders/hash.glsl"

// Simulates one frame: reads the particles of the frame before from one version of the data, and
// writes them to another. Particles are dye that leaves a curve and drifts with a flow.

layout(local_size_x = 64) in;

struct Particle {
    vec4 place; // xyz, and the age from 0 to 1
    vec4 drift; // velocity, and the point of the curve where it was born, from 0 to 1
};

// Every version of the data lies in this one buffer, one after the other.
layout(set = 0, binding = 0, std430) buffer Versions {
    Particle particles[];
};

layout(push_constant) uniform Push {
    uint count;
    uint from;  // versions, as multiples of count
    uint to;
    uint frame; // the frame to compute, modulo PERIOD
    uint seed;
    uint warm;  // there is nothing to read yet: computes what has happened before
} push;

const float STEP = 1.0 / 60.0;
const uint LIFE = 600u;    // frames
const uint PERIOD = 7200u; // frames after which everything repeats; frame is less than this
const float TAU = 6.28318530718;
const float RATE = TAU / (STEP * float(PERIOD)); // every rate is a multiple of this

vec3 phase(uint n)
{
    uint h = hash(push.seed * 0x9e3779b9u + n);
    return TAU * vec3(unit(h), unit(h + 1u), unit(h + 2u));
}

// An Arnold-Beltrami-Childress flow: three sine waves, free of divergence, and chaotic.
vec3 abc(vec3 p, vec3 a)
{
    return a * sin(p.zxy) + a.yzx * cos(p.yzx);
}

vec3 flow(vec3 p, float t)
{
    const mat3 turn = mat3(0.80, 0.36, -0.48, -0.60, 0.48, 0.64, 0.0, -0.80, 0.60);
    float r = RATE * t;
    vec3 v = 0.26 * abc(2.1 * p + phase(0u) + 2.0 * r, vec3(1.0, 0.82, 0.64));
    vec3 q = turn * p;
    v += 0.13 * (abc(3.7 * q + phase(3u) - 3.0 * r, vec3(0.8, 1.0, 0.7)) * turn);
    q = turn * q;
    v += 0.035 * ((abc(7.3 * q + phase(6u) + 5.0 * r, vec3(0.7, 0.9, 1.0)) * turn) * turn);
    // A rotation about the axis, and a soft wall.
    v += 0.40 * vec3(-p.z, 0.0, p.x) / (0.35 + dot(p.xz, p.xz));
    v -= 0.5 * p * max(0.0, length(p * vec3(0.7, 1.2, 0.7)) - 1.0);
    return v;
}

vec3 birthplace(float u, float t)
{
    float a = TAU * u;
    vec3 trefoil = vec3(sin(a) + 2.0 * sin(2.0 * a), -sin(3.0 * a), cos(a) - 2.0 * cos(2.0 * a));
    float c = cos(3.0 * RATE * t), s = sin(3.0 * RATE * t);
    trefoil.xz = mat2(c, s, -s, c) * trefoil.xz;
    return 0.46 * trefoil;
}

void main()
{
    uint id = gl_GlobalInvocationID.x;
    if (id >= push.count)
        return;

    // Births are distributed evenly over the lifetime and, by the golden ratio, over the curve;
    // also between two frames, so that a frame's particles don't form a line.
    float birth = float(id) * (float(LIFE) / float(push.count));
    uint offset = min(uint(birth), LIFE - 1u);
    float late = birth - float(offset);
    uint lived = (push.frame + LIFE - offset) % LIFE;
    float u = float(id * 2654435769u >> 8) * (1.0 / 16777216.0);

    uint steps = push.warm != 0u ? lived : min(lived, 1u);
    float t = STEP * (float(push.frame) - float(steps));
    vec3 p, v;
    if (push.warm != 0u || lived == 0u) {
        float left = STEP * (1.0 - late);
        p = birthplace(u, t - left);
        v = flow(p, t - left);
        p += left * v;
    } else {
        p = particles[push.from + id].place.xyz;
    }
    for (uint i = 0u; i < steps; ++i) {
        v = flow(p, t);
        v = flow(p + 0.5 * STEP * v, t + 0.5 * STEP);
        p += STEP * v;
        t += STEP;
    }
    particles[push.to + id].place = vec4(p, (float(lived) + 1.0 - late) / float(LIFE));
    particles[push.to + id].drift = vec4(v, u);
}
