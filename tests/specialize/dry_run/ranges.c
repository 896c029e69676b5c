/* SPDX-License-Identifier: MIT */
/* Which sides of the last choice of shaders/ranges.comp can be taken, in each case. [FN-7] */
#include "needed_of.h"

#include <spirv/unified1/GLSL.std.450.h>
#include <spirv/unified1/spirv.h>

enum { BELOW = 1, ABOVE = 2, STAYS = 4, FIRST = 1, SECOND = 2 };

static const struct {
    const char *name;
    uint32_t sides;
} cases[] = {
    {"ANY", BELOW | ABOVE | STAYS},
    {"SCALED", ABOVE | STAYS},
    {"HALVED", STAYS},
    {"BELOW", BELOW},
    {"DITHERED", STAYS},
    {"NAN", ABOVE | STAYS},
    {"LOOP", BELOW | ABOVE | STAYS},
    {"DEAD_BLOCK", 0},
    {"NAN_BLOCK", BELOW | ABOVE | STAYS},
    {"DEAD_CASE", 0},
    {"TAKEN_CASE", BELOW | ABOVE | STAYS},
    {"DIVIDED", STAYS},
    {"DIVIDED_CLOSE", ABOVE | STAYS},
    {"RELAXED", BELOW | ABOVE | STAYS},
    {"CHOSEN", SECOND},
    {"STEP", FIRST},
    {"SMOOTH", STAYS},
    {"SIGN", SECOND},
    {"UNSIGNED", FIRST},
    {"SIGNED", FIRST | SECOND},
    {"PHI", ABOVE | STAYS},
    {"SQUARE", ABOVE | STAYS},
    {"MATRIX", BELOW | ABOVE | STAYS},
    {"DOT", ABOVE | STAYS},
    {"DENORMAL", BELOW | STAYS},
    {"LENGTH", ABOVE | STAYS},
    {"SINE", STAYS},
    {"POWER", BELOW | STAYS},
    {"LONG", FIRST | SECOND},
    {"LONG_SIGNED", FIRST | SECOND},
    {"BYTE", FIRST},
    {"SHORT", SECOND},
    {"NORMALIZED", BELOW | ABOVE | STAYS},
    {"NORMALIZED_UNIT", STAYS},
    {"VECTOR", FIRST},
};

static uint32_t last_choice(const struct needed_of *n)
{
    uint32_t last = 0;
    for (uint32_t p = 0; p < n->run.point_count; p++) {
        const uint32_t at = n->run.points[p].at, opcode = n->words[at] & 0xffff;
        if ((opcode == SpvOpExtInst || opcode == SpvOpSelect) && at > last)
            last = at;
    }
    return last;
}

TEST(sides_that_can_be_taken)
{
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char name[64];
        struct needed_of n;
        uint32_t sides = 0;
        snprintf(name, sizeof(name), "ranges_%s.comp", cases[i].name);
        needed_open(&n, name);
        const uint32_t last = last_choice(&n);
        for (uint32_t p = 0; p < n.run.point_count; p++) {
            assert_false(n.needed[p] && n.beyond[p]);
            if (n.run.points[p].at == last && !n.beyond[p])
                sides |= 1u << n.run.points[p].side;
        }
        if (sides != cases[i].sides)
            fail_msg("%s: sides %x", name, sides);
        needed_close(&n);
    }
}

int main(int argc, char **argv)
{
    return test_run_group(argc > 1 ? argv[1] : NULL, NULL, NULL);
}
