/* SPDX-License-Identifier: MIT */
#version 450

// Shaders that end, stay inside and come to all of their code on a program's own values, and on made-up
// ones do not: nothing can be rebuilt of them, and whoever finds out has to bear it.

layout(local_size_x = 64) in;
layout(constant_id = 0) const uint kind = 0; // what goes wrong
layout(constant_id = 1) const uint number = 0; // each is a shader of its own

layout(push_constant) uniform Push {
    uint first, offset;
    float factor;
} push;

// Where the program's lists end; nobody makes that up.
const uint END = 0x3b9aca07u;

struct Node {
    uint next; // END: this is the last one
    float value;
};
layout(std430, set = 0, binding = 0) readonly buffer Nodes {
    Node nodes[];
};
layout(std430, set = 0, binding = 1) buffer Sums {
    float sums[];
};

void main()
{
    const uint me = gl_GlobalInvocationID.x;
    float sum = float(number);
    if (kind == 0u) { // a list that has no end
        for (uint at = push.first; at != END; at = nodes[at & 63u].next)
            sum += nodes[at & 63u].value;
    } else if (kind == 1u) { // an index past the end
        sum += sums[(nodes[63].next - END) * push.offset];
    } else { // what no input comes to
        float x = nodes[me & 63u].value * push.factor;
        sum += nodes[me & 63u].next == END ? x : exp2(x);
    }
    sums[64u + me] = sum * push.factor;
}
