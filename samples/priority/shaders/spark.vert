/* SPDX-License-Identifier: MIT */
#version 450

// A square around each answer, turned with the field.

struct Spark {
    vec2 place;
    float age, size; // of its ring from 0 to 1; of the square in heights of the picture
};
layout(set = 0, binding = 2, std430) readonly buffer Sparks {
    Spark sparks[];
};

layout(push_constant) uniform Push {
    uvec2 size;
    uvec2 panel_size;
    vec2 panel_at;
    float dot, turn, zoom, lift, exposure;
} push;

layout(location = 0) out vec2 inside;
layout(location = 1) out float age;

void main()
{
    Spark spark = sparks[gl_InstanceIndex];
    inside = vec2(gl_VertexIndex & 1, gl_VertexIndex >> 1) * 2.0 - 1.0;
    age = spark.age;
    float c = cos(push.turn), s = sin(push.turn);
    vec2 aspect = vec2(float(push.size.x) / float(push.size.y), 1.0);
    vec2 off = mat2(c, -s, s, c) * ((spark.place - 0.5) / push.zoom * aspect) / aspect;
    gl_Position = vec4((off - vec2(0.0, push.lift)) * 2.0 + inside * spark.size * 2.0 / aspect, 0.0, 1.0);
}
