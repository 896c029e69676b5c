/* SPDX-License-Identifier: MIT */
#version 450
#extension GL_GOOGLE_include_directive : require
#include "../../common/shaders/hash.glsl"

// A post-process with every effect that any scene may want, as engines have them, in one shader.
// Values that rarely change switch the effects on; a scene also pays for those that it doesn't use.
//
// The switches and counts are push constants. All other parameters are in a buffer, whose contents
// are not known when commands are recorded. `precise` keeps compilers from reordering sums when
// they know their lengths, so that specialising the switches changes no bit of the picture.

layout(local_size_x = 8, local_size_y = 8) in;

const uint BLOOM = 1u, FRINGE = 2u, SHARPEN = 4u, RAYS = 8u, VIGNETTE = 16u, GRADE = 32u,
           GRAIN = 64u, DITHER = 128u;
const uint FILM = 0u, OIL = 1u, INK = 2u, PRINT = 3u;
const uint CLIP = 0u, SOFT = 1u, FILMIC = 2u, HARD = 3u, LOGARITHMIC = 4u;

layout(push_constant) uniform Push {
    uint effects; // eight toggles
    uint medium;  // FILM, OIL, INK or PRINT
    uint curve;   // the tone curve: CLIP, SOFT, ...
    uint bloom_levels;
    uint fringe_taps;
    uint sharpen_radius;
    uint ray_steps;
    uint brush_radius;
} push;

layout(set = 0, binding = 0) uniform sampler2D source; // linear light; higher levels: blurred more

layout(std430, set = 0, binding = 1) readonly buffer Look {
    vec4 grade[3];
    vec2 light; // where the rays come from
    float exposure;
    float bloom, bloom_growth;
    float fringe, fringe_step, fringe_gain; // width; 1 / (taps - 1); 1 / the sum of weights
    float sharpen, sharpen_gain;            // strength; 1 / taps
    float rays, ray_decay, ray_step;
    float brush_gain; // 1 / the taps of a quarter
    float vignette;
    float grain;
    uint frame;
} look;

layout(std430, set = 0, binding = 2) writeonly buffer Picture {
    uint picture[];
};

ivec2 size;
vec2 texel;

vec3 at(ivec2 p)
{
    return texelFetch(source, clamp(p, ivec2(0), size - 1), 0).rgb;
}

vec3 near(vec2 p, float level)
{
    return textureLod(source, p, level).rgb;
}

float bright(vec3 c)
{
    precise float b = c.r * 0.2126 + c.g * 0.7152 + c.b * 0.0722;
    return b;
}

// The mean colour of the quarter around a pixel, in direction `to`, in which colours differ least
// (Kuwahara's filter), and in w the variance.
vec4 quarter(ivec2 p, ivec2 to)
{
    precise vec3 sum = vec3(0.0);
    precise float squares = 0.0;
    int radius = int(push.brush_radius);
    for (int y = 0; y <= radius; ++y) {
        for (int x = 0; x <= radius; ++x) {
            vec3 c = min(at(p + to * ivec2(x, y)), vec3(4.0));
            sum += c;
            squares += dot(c, c);
        }
    }
    precise vec3 mean = sum * look.brush_gain;
    precise float spread = squares * look.brush_gain - dot(mean, mean);
    return vec4(mean, spread);
}

vec3 oil(ivec2 p)
{
    vec4 best = quarter(p, ivec2(1, 1));
    vec4 next = quarter(p, ivec2(-1, 1));
    best = next.w < best.w ? next : best;
    next = quarter(p, ivec2(1, -1));
    best = next.w < best.w ? next : best;
    next = quarter(p, ivec2(-1, -1));
    return next.w < best.w ? next.rgb : best.rgb;
}

// Lines on paper where the brightness changes, by a wide derivative.
vec3 ink(ivec2 p)
{
    const float WEIGHTS[5] = float[](0.06, 0.25, 0.38, 0.25, 0.06);
    const float SLOPES[5] = float[](-0.28, -0.62, 0.0, 0.62, 0.28);
    precise vec2 slope = vec2(0.0);
    precise float mean = 0.0;
    for (int y = 0; y < 5; ++y) {
        for (int x = 0; x < 5; ++x) {
            precise float b = bright(min(at(p + 2 * ivec2(x - 2, y - 2)), vec3(2.0)));
            slope += b * vec2(SLOPES[x] * WEIGHTS[y], SLOPES[y] * WEIGHTS[x]);
            mean += b * WEIGHTS[x] * WEIGHTS[y];
        }
    }
    precise float line = clamp(1.0 - 2.5 * (abs(slope.x) + abs(slope.y)), 0.0, 1.0);
    float paper = 0.94 + 0.06 * unit(hash(uint(p.y / 2) * 8192u + uint(p.x / 2)));
    float stroke = float((p.x + p.y) & 3) * 0.25;
    float hatched = mean * 3.0 > stroke ? 1.0 : 0.45;
    return vec3(0.95, 0.91, 0.82) * (paper * line * hatched);
}

// One of four inks: dots on a rotated grid, the larger the darker the picture is there.
float dots(vec2 p, vec4 turn, uint channel)
{
    precise vec2 grid = vec2(dot(p, turn.xy), dot(p, turn.zw)) * 0.17;
    precise float covered = 0.0;
    for (int i = 0; i < 9; ++i) {
        vec2 sub = vec2(float(i % 3) - 1.0, float(i / 3) - 1.0) * 0.055;
        precise vec2 cell = floor(grid + sub) + 0.5;
        precise vec2 middle = vec2(dot(cell, turn.xz), dot(cell, turn.yw)) * (5.88 * texel);
        vec3 c = near(middle, 2.0);
        float value = clamp(c[channel], 0.0, 1.0);
        precise vec2 off = grid + sub - cell;
        covered += dot(off, off) * 2.0 > value ? 1.0 : 0.0;
    }
    return covered * (1.0 / 9.0);
}

vec3 print(ivec2 p)
{
    vec2 f = vec2(p);
    float cyan = dots(f, vec4(0.966, 0.259, -0.259, 0.966), 0u);
    float magenta = dots(f, vec4(0.259, 0.966, -0.966, 0.259), 1u);
    float yellow = dots(f, vec4(1.0, 0.0, 0.0, 1.0), 2u);
    return vec3(0.96, 0.94, 0.88) * (1.0 - vec3(cyan, magenta, yellow) * vec3(0.9, 0.85, 0.8));
}

// Light refracted by the lens, red less than blue.
vec3 fringed(vec2 place)
{
    precise vec2 out_of = place - 0.5;
    precise float far = dot(out_of, out_of) * look.fringe;
    precise vec3 sum = vec3(0.0);
    for (uint i = 0u; i < push.fringe_taps; ++i) {
        precise float t = float(i) * look.fringe_step;
        precise vec3 weight = max(vec3(0.0), 1.0 - 2.0 * abs(t - vec3(0.0, 0.5, 1.0)));
        sum += weight * near(place + out_of * (far * (t - 0.5)), 0.0);
    }
    return sum * look.fringe_gain;
}

vec3 sharpened(vec3 c, ivec2 p)
{
    precise vec3 sum = vec3(0.0);
    int radius = int(push.sharpen_radius);
    for (int y = -radius; y <= radius; ++y) {
        for (int x = -radius; x <= radius; ++x)
            sum += min(at(p + ivec2(x, y)), vec3(2.0));
    }
    precise vec3 sharp = c + look.sharpen * (min(c, vec3(2.0)) - sum * look.sharpen_gain);
    return max(sharp, vec3(0.0));
}

// The glow of bright parts, from the blurred levels, interpolated between their texels.
vec3 bloom(vec2 place)
{
    precise vec3 sum = vec3(0.0);
    float gain = look.bloom;
    for (uint i = 0u; i < push.bloom_levels; ++i) {
        precise vec2 side = vec2(max(size >> int(i + 2u), ivec2(1)));
        precise vec2 cell = place * side + 0.5;
        precise vec2 whole = floor(cell);
        precise vec2 part = cell - whole;
        part = part * part * (3.0 - 2.0 * part);
        sum += near((whole + part - 0.5) / side, float(i + 2u)) * gain;
        gain *= look.bloom_growth;
    }
    return sum;
}

vec3 rays(vec2 place)
{
    precise vec3 sum = vec3(0.0);
    precise vec2 step = (look.light - place) * look.ray_step;
    float gain = look.rays;
    for (uint i = 0u; i < push.ray_steps; ++i) {
        place += step;
        sum += max(near(place, 1.0) - 1.0, vec3(0.0)) * gain;
        gain *= look.ray_decay;
    }
    return sum;
}

vec3 filmic_part(vec3 c)
{
    return (c * (0.15 * c + 0.05) + 0.004) / (c * (0.15 * c + 0.50) + 0.06) - 0.0667;
}

vec3 shown(vec3 c)
{
    precise vec3 s = c;
    switch (push.curve) {
    case SOFT:
        s = c / (1.0 + c);
        break;
    case FILMIC:
        s = (c * (2.51 * c + 0.03)) / (c * (2.43 * c + 0.59) + 0.14);
        break;
    case HARD:
        s = filmic_part(2.0 * c) * 1.379;
        break;
    case LOGARITHMIC: {
        precise vec3 l = clamp(log2(max(c, vec3(1e-5))) * 0.0606 + 0.7561, 0.0, 1.0);
        s = ((15.5 * l - 40.14) * l + 31.96) * l * l * l * l - 6.868 * l * l * l + 0.4298 * l * l +
            0.1191 * l - 0.00232;
        s = pow(max(s, vec3(0.0)), vec3(2.2));
        break;
    }
    }
    return clamp(s, 0.0, 1.0);
}

vec3 graded(vec3 c)
{
    precise vec4 from = vec4(c, 1.0);
    precise vec3 to = vec3(dot(from, look.grade[0]), dot(from, look.grade[1]),
                           dot(from, look.grade[2]));
    return clamp(to, 0.0, 1.0);
}

vec3 encoded(vec3 c)
{
    precise vec3 low = 12.92 * c;
    precise vec3 high = 1.055 * pow(max(c, vec3(1e-6)), vec3(1.0 / 2.4)) - 0.055;
    return mix(low, high, greaterThan(c, vec3(0.0031308)));
}

float bayer(uvec2 p)
{
    uvec2 q = uvec2(p.x ^ p.y, p.y);
    uint v = (q.x & 1u) << 5 | (q.y & 1u) << 4 | (q.x & 2u) << 2 | (q.y & 2u) << 1 |
             (q.x & 4u) >> 1 | (q.y & 4u) >> 2;
    return float(v) * (1.0 / 64.0) - 0.4921875;
}

bool on(uint effect)
{
    return (push.effects & effect) != 0u;
}

void main()
{
    uvec2 id = gl_GlobalInvocationID.xy;
    ivec2 p = ivec2(id);

    size = textureSize(source, 0);
    texel = 1.0 / vec2(size);
    if (any(greaterThanEqual(p, size)))
        return;
    vec2 place = (vec2(p) + 0.5) * texel;
    vec3 c = at(p);

    switch (push.medium) {
    case OIL:
        c = oil(p);
        break;
    case INK:
        c = ink(p);
        break;
    case PRINT:
        c = print(p);
        break;
    }
    if (on(FRINGE))
        c = fringed(place);
    if (on(SHARPEN))
        c = sharpened(c, p);
    if (on(BLOOM))
        c += bloom(place);
    if (on(RAYS))
        c += rays(place);
    if (on(VIGNETTE)) {
        precise vec2 off = place - 0.5;
        precise float dim = 1.0 - look.vignette * dot(off, off);
        c *= dim * dim;
    }
    c = shown(c * look.exposure);
    if (on(GRADE))
        c = graded(c);
    c = encoded(c);
    uint pixel = id.y * 8192u + id.x;
    if (on(GRAIN)) {
        uint h = hash(pixel ^ hash(look.frame));
        precise float grain = (unit(h) + unit(h ^ 0x5bd1e995u) - 1.0) * look.grain;
        precise float room = 1.0 - bright(c);
        c += grain * room;
    }
    precise vec3 level = clamp(c, 0.0, 1.0) * 255.0 + 0.5;
    if (on(DITHER))
        level += bayer(id);
    uvec3 bytes = uvec3(clamp(level, 0.0, 255.0));
    picture[id.y * uint(size.x) + id.x] = bytes.r | bytes.g << 8 | bytes.b << 16 | 0xff000000u;
}
