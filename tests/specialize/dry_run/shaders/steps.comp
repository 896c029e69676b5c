/* SPDX-License-Identifier: MIT */
// Loops and indices, one case for each: they end and stay inside as long as a and b are small.
#version 450
#extension GL_EXT_samplerless_texture_functions : require
layout(local_size_x = 32) in;
layout(push_constant, std430) uniform Push {
    int which, a, b;
} push;
layout(binding = 0) buffer Out {
    uint words[];
} result;
layout(binding = 2) readonly buffer In {
    uint head;
    uint grid[4][8];
    uint numbers[];
} given;
layout(binding = 3, r32ui) uniform uimage2D drawn;
layout(binding = 4) uniform utexture2D seen;
shared uint both[32];
const uint table[6] = uint[](3, 1, 4, 1, 5, 9);

uint found(uint from, int limit)
{
    for (int i = 0; i < limit; i++) {
        uint x = from * 7u + uint(i);
        if (x % 13u == 5u)
            return x;
        if (x % 17u == 3u)
            continue;
        from += x & 3u;
    }
    return from;
}

void main()
{
    const uint me = gl_LocalInvocationIndex;
    int a = push.a;
    uint x = me, kept[8];
    uint y = 0u; // what others may have written: no loop depends on it
    for (int i = 0; i < 8; i++)
        kept[i] = me * 100u + uint(i);
    switch (push.which) {
    case 0: // a loop like most
        for (int i = 0; i < a; i++) {
            if ((x & 7u) == 6u) {
                x += 5u;
                continue;
            }
            x = x * 3u + kept[i & 7];
            if (x == 0xffffffffu)
                break;
        }
        break;
    case 1: // ends at once, or never
        for (;;) {
            x += 2u;
            if (a < 10)
                break;
        }
        break;
    case 2: { // what is defined where it leaves is used behind it
        uint last = 0u;
        for (uint i = 0u;; i++) {
            uint y = x + i * 3u;
            if (y > uint(a)) {
                last = y * y;
                break;
            }
            x ^= y;
        }
        x += last;
        break;
    }
    case 3: // tested at its end
        do {
            x += 2u;
        } while (int(x) < a);
        break;
    case 4: // none of them long
        for (int i = 0; i < a; i++)
            for (int j = 0; j < a; j++)
                x += uint(i ^ j);
        break;
    case 5:
        x = kept[a];
        break;
    case 6:
        both[me] = me * 2u;
        barrier();
        y = both[a];
        break;
    case 7:
        x = given.numbers[a];
        break;
    case 8:
        x = uvec4(7u, 8u, 9u, me)[a];
        break;
    case 9:
        x = uint(mat3(1, 2, 3, 4, 5, 6, 7, 8, 9)[a].y);
        break;
    case 10:
        x = table[a];
        break;
    case 11: // all go round together
        for (int i = 0; i < a; i++) {
            both[me] = me + y;
            barrier();
            y += both[(me + 1u) & 31u];
            barrier();
        }
        break;
    case 12:
        x = found(me, a) + found(me + 1u, a + 1);
        break;
    case 13:
        for (int i = 0; i < a; i++)
            switch ((i + push.b) & 3) {
            case 0:
                x += 3u;
                continue;
            case 1:
                x *= 5u;
                break;
            default:
                x ^= uint(i);
            }
        break;
    case 14: // one for each
        for (uint i = 0u; i < me * uint(a); i++)
            x += i;
        break;
    case 15:
        x = given.grid[a][push.b];
        break;
    case 16:
        y = imageLoad(drawn, ivec2(a, push.b)).x;
        break;
    case 17:
        x = texelFetch(seen, ivec2(a, 1), push.b).x;
        break;
    case 18:
        x = texelFetchOffset(seen, ivec2(a, 1), 0, ivec2(-1, 1)).x;
        break;
    case 20:
        kept[a] = 5u;
        x = kept[0] + kept[1] + kept[7];
        break;
    case 21: // a loop in the way of another, both with more than one end
        for (int i = 0; i < a; i++) {
            uint y = 0u;
            for (int j = 0; j < i; j++) {
                y += uint(j) * x;
                if (y > 5000u)
                    break;
            }
            if (y == 77u)
                break;
            x += y;
        }
        break;
    case 22:
        imageStore(drawn, ivec2(a, int(me)), uvec4(x + 1u));
        break;
    case 23:
        y = imageAtomicAdd(drawn, ivec2(a, push.b), 0u);
        break;
    case 24:
        result.words[64u + uint(a) + me] = 1u;
        break;
    case 26: { // what is used behind it isn't known on all ways round
        uint last = 0u;
        for (uint i = 0u;; i++) {
            if ((x & 3u) == i % 5u) {
                x += 7u;
                continue;
            }
            uint y = (x ^ i) * 3u + i;
            if (y > uint(a)) {
                last = y;
                break;
            }
            x ^= y >> 3;
        }
        x += last * last;
        break;
    }
    // Integers whose operands may leave their values open.
    case 27:
        x = uint(a / push.b);
        break;
    case 28:
        x = uint(a % push.b) + 1u;
        break;
    case 29:
        x = 100u / uint(push.b) + 100u % uint(push.b);
        break;
    case 30: {
        ivec3 thirds = ivec3(9, a, 7) / ivec3(3, push.b, push.b + 1);
        x = uint(thirds.x + thirds.y + thirds.z);
        break;
    }
    case 31:
        x = (1u << a) + (0x80000000u >> a);
        break;
    case 32:
        x = uint((ivec2(-64, 64) >> ivec2(a, push.b)).y);
        break;
    case 33:
        x = bitfieldExtract(0xfedcba98u, a, push.b);
        break;
    case 34:
        x = bitfieldInsert(0u, 0xffffu, a, push.b);
        break;
    case 35: // it steers
        for (int i = 0; i < 40 / a; i++)
            x += uint(i);
        break;
    case 36:
        x = uint(a / -1);
        break;
    case 38: // of floats integers
        x = uint(int(intBitsToFloat(a)) + push.b);
        break;
    case 39:
        x = uint(intBitsToFloat(a)) + uint(push.b);
        break;
    case 40:
        x = uint(clamp(5, a, push.b));
        break;
    case 41:
        x = clamp(uvec2(5u), uvec2(a, 1u), uvec2(push.b, 9u)).x;
        break;
    case 42:
        x = uint(clamp(a, -2, 5) + 2);
        break;
    case 43: // by what is known
        x = uint(a % 3) + 1u;
        break;
    case 37:
        x = uint(textureSize(seen, a).x);
        break;
    case 25: // what each burns by itself doesn't part those that go round together
        for (uint i = 0u; i < 3u * uint(push.b); i++)
            for (uint j = 0u; j < me; j++)
                x += i;
        for (int i = 0; i < a; i++) {
            both[me] = me + y;
            barrier();
            y += both[(me + 1u) & 31u];
            barrier();
        }
        break;
    }
    result.words[me] = x + y;
}
