/* SPDX-License-Identifier: MIT */
#version 450
#extension GL_GOOGLE_include_directive : require
#include "../../common/shaders/hash.glsl"

// One point of light per particle and moment. A particle is drawn at several moments of the frame,
// each seen from another point of the lens, which gives motion blur and depth of field.

struct Particle {
    vec4 place;
    vec4 drift;
};

layout(set = 0, binding = 0, std430) readonly buffer Versions {
    Particle particles[];
};

layout(push_constant) uniform Push {
    vec4 right;   // the camera's axes; w is minus the eye's coordinate along each
    vec4 up;
    vec4 forward;
    vec4 lens;    // focal lengths in x and y, distance in focus, aperture
    vec2 size;    // of the picture in pixels
    uint first;   // the first particle of the version to draw
    uint salt;    // different in each frame
    float energy; // of one point
    float shutter; // the exposure time in seconds
    uint moments;
} push;

layout(location = 0) flat out vec3 light;
layout(location = 1) flat out vec2 centre;

// The colour: gold at birth, by way of rose and violet to blue; on other parts of the curve from
// white by way of teal.
vec3 palette(float age, float u)
{
    vec3 warm = mix(vec3(1.00, 0.50, 0.12), vec3(0.95, 0.13, 0.26), smoothstep(0.0, 0.30, age));
    warm = mix(warm, vec3(0.38, 0.10, 0.85), smoothstep(0.22, 0.60, age));
    warm = mix(warm, vec3(0.06, 0.22, 0.95), smoothstep(0.55, 1.0, age));
    vec3 cool = mix(vec3(1.00, 0.72, 0.45), vec3(0.10, 0.62, 0.70), smoothstep(0.0, 0.35, age));
    cool = mix(cool, vec3(0.05, 0.22, 0.90), smoothstep(0.30, 0.75, age));
    cool = mix(cool, vec3(0.55, 0.08, 0.55), smoothstep(0.70, 1.0, age));
    float blend = 0.5 + 0.5 * cos(6.28318530718 * (u - 0.1));
    return mix(warm, cool, blend * blend * 0.9);
}

void main()
{
    Particle particle = particles[push.first + uint(gl_VertexIndex)];
    uint salt = hash(uint(gl_VertexIndex) * push.moments + uint(gl_InstanceIndex)) ^ push.salt;
    float r0 = unit(salt), r1 = unit(salt + 0x68bc21ebu), r2 = unit(salt + 0x02e5be93u);

    vec3 p = particle.place.xyz - particle.drift.xyz * push.shutter * r0;
    vec3 eye = vec3(dot(push.right.xyz, p) + push.right.w, dot(push.up.xyz, p) + push.up.w,
                    dot(push.forward.xyz, p) + push.forward.w);

    // Seen from that point of the lens: rays through the lens meet again in the plane in focus.
    float turn = 6.28318530718 * r2;
    vec2 lens = push.lens.w * sqrt(r1) * vec2(cos(turn), sin(turn));
    vec2 at = eye.xy + lens * (eye.z / push.lens.z - 1.0);
    vec2 ndc = push.lens.xy * at / max(eye.z, 0.05);

    float age = particle.place.w;
    float life = smoothstep(0.0, 0.04, age) * smoothstep(1.0, 0.55, age);
    light = push.energy * life * palette(age, particle.drift.w) / max(eye.z * eye.z, 0.05);
    gl_Position = eye.z > 0.05 ? vec4(ndc, 0.5, 1.0) : vec4(2.0, 2.0, 0.5, 1.0);
    gl_PointSize = 2.0;
    centre = (ndc * 0.5 + 0.5) * push.size;
}
