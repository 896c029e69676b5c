/* SPDX-License-Identifier: MIT */
#version 450

// A tile of four by four pixels of a Julia set: all that one dispatch does.

layout(local_size_x = 4, local_size_y = 4) in;

layout(set = 0, binding = 0, std430) writeonly buffer Field {
    uint pixels[]; // the value in the lower 16 bits, the frame in the upper ones
};
layout(set = 0, binding = 1, std430) readonly buffer Order {
    uint tiles[]; // of each thread, in the order in which they are filled in
};
struct Frame {
    uint number;
    uint first;     // of the thread's tiles
    uint backwards; // the order
    uint unused;
    vec2 c;
    vec2 unused2;
};
layout(set = 0, binding = 2, std430) readonly buffer Frames {
    Frame frames[2];
};

layout(push_constant) uniform Push {
    uint thread;
    uint slot; // of the thread's dispatches in a frame
    uint frame;
    uint tiles; // per thread
    uint width, height;
} push;

void main()
{
    Frame frame = frames[push.frame];
    uint at = frame.first + push.slot;
    if (frame.backwards != 0u)
        at = push.tiles - 1u - at;
    uint tile = tiles[push.thread * push.tiles + at];
    uint across = push.width / 4u;
    uvec2 pixel = uvec2(tile % across, tile / across) * 4u + gl_LocalInvocationID.xy;

    vec2 z = (vec2(pixel) + 0.5 - 0.5 * vec2(push.width, push.height)) * (2.15 / float(push.height));
    float trap = 1e9;
    float n = 0.0;
    for (; n < 160.0 && dot(z, z) < 256.0; n += 1.0) {
        z = vec2(z.x * z.x - z.y * z.y, 2.0 * z.x * z.y) + frame.c;
        trap = min(trap, abs(z.x * z.y));
    }
    float smooth_n = n < 160.0 ? n + 1.0 - log2(0.5 * log2(dot(z, z)) / 4.0) : 160.0;
    float value = n < 160.0 ? sqrt(max(smooth_n, 0.0) / 160.0)
                            : 1.0 - 0.45 * exp(-6.0 * sqrt(trap));
    pixels[pixel.y * push.width + pixel.x] = uint(clamp(value, 0.0, 1.0) * 65535.0) |
                                             frame.number << 16;
}
