/* SPDX-License-Identifier: MIT */
#version 450

// The twelve edges of the cube, each a thin strip of six vertices that faces the camera.

layout(push_constant) uniform Push {
    vec4 right;
    vec4 up;
    vec4 forward;
    vec2 lens;
    vec2 size;
} push;

layout(location = 0) out vec2 across; // from -1 to 1, and the closeness

vec3 seen(vec3 p)
{
    return vec3(dot(push.right, vec4(p, 1.0)), dot(push.up, vec4(p, 1.0)),
                dot(push.forward, vec4(p, 1.0)));
}

void main()
{
    const int corner[6] = int[](0, 1, 2, 2, 1, 3);
    int edge = gl_VertexIndex / 6, axis = edge >> 2, c = corner[gl_VertexIndex % 6];
    vec3 from;
    from[axis] = -1.0;
    from[(axis + 1) % 3] = (edge & 1) != 0 ? 1.0 : -1.0;
    from[(axis + 2) % 3] = (edge & 2) != 0 ? 1.0 : -1.0;
    vec3 to = from;
    to[axis] = 1.0;

    vec3 a = seen(from), b = seen(to);
    vec2 a2 = push.lens * a.xy / a.z, b2 = push.lens * b.xy / b.z;
    vec2 along = normalize((b2 - a2) * push.size);
    vec2 aside = vec2(-along.y, along.x) * 2.0 * 1.5 / push.size; // in pixels
    float side = (c & 1) != 0 ? 1.0 : -1.0;
    vec3 p = c < 2 ? a : b;
    across = vec2(side, 4.5 / p.z);
    gl_Position = vec4((c < 2 ? a2 : b2) + side * aside, 0.5, 1.0);
}
