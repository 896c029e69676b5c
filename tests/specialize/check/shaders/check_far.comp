/* SPDX-License-Identifier: MIT */
// Stores to images as far as its invocations reach. CASE 0 is the plain one.
#version 450
layout(constant_id = 0) const int CASE = 0;
layout(local_size_x = 8, local_size_y = 8) in;
layout(set = 0, binding = 0, rgba32f) writeonly uniform image2D plane;
layout(set = 0, binding = 1, r32f) writeonly uniform image2DArray layers;
layout(set = 0, binding = 2, r32f) writeonly uniform image3D volume;
layout(set = 0, binding = 3) uniform sampler2D source;
layout(push_constant) uniform Push { float factor; } push;

void main()
{
    ivec3 at = ivec3(gl_GlobalInvocationID);
    vec4 color = vec4(vec2(at.xy) * push.factor, 0.5, 1.0);
    float layer = 1.0 + float(at.z), depth = 2.0 + float(at.z);
    if (CASE == 1 && at.xy == ivec2(100, 70))
        color.x = -1.0;
    if (CASE == 2 && at == ivec3(100, 70, 6))
        layer = -1.0;
    if (CASE == 3 && at == ivec3(100, 70, 6))
        depth = -1.0;
    if (CASE == 4 && at.xy == ivec2(3, 5) && texelFetch(source, ivec2(100, 70), 0) != vec4(0.0))
        color.x = -1.0;
    if (CASE == 5 && at.xy == ivec2(500, 200))
        color.x = -1.0;
    ivec2 read = textureSize(source, 0), written = imageSize(plane); // powers of two hide what rounds
    if (CASE == 6 && all(notEqual(read & (read - 1), ivec2(0))))
        color.x = -1.0;
    if (CASE == 7 && all(notEqual(written & (written - 1), ivec2(0))))
        color.x = -1.0;
    imageStore(plane, at.xy, color);
    imageStore(layers, at, vec4(layer));
    imageStore(volume, at, vec4(depth));
}
