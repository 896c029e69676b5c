/* SPDX-License-Identifier: MIT */
/* Which words are watched. */
#include "helper.h"

static void watched(const struct bf_watch *watch, const uint16_t *offsets, uint32_t count)
{
    assert_int_equal(watch->count, count);
    for (uint32_t i = 0; i < count; i++)
        assert_int_equal(watch->offset[i], offsets[i]);
}

/* Control first: loop, switch, branch and selection; then strides; then floats. */
TEST(control_comes_first)
{
    struct bf_shader *shader = shader_of("loops.comp", NULL);
    struct bf_watch watch;
    bf_watch_choose(&watch, (const struct bf_shader *const[]){shader}, 1);
    /* count, mode, stride, flags, limit; of what is merely reckoned with the first that lie there:
     * seeds.y and table[0]; but table[2] is shifted. */
    watched(&watch, (const uint16_t[]){0, 4, 8, 12, 20, 32, 40, 48}, 8);
    const struct bf_fold_member *count = member_at(shader, 0), *mode = member_at(shader, 4),
                                *stride = member_at(shader, 8), *flags = member_at(shader, 12),
                                *seeds = member_at(shader, 20), *limit = member_at(shader, 48);
    assert_true(count->weight > mode->weight && mode->weight > flags->weight &&
                flags->weight > stride->weight && stride->weight > limit->weight &&
                limit->weight > seeds->weight);
    bf_shader_release(shader);
}

/* Of what lies in several words all or none, whatever is left over. */
TEST(wide_members_are_whole)
{
    struct bf_shader *shader = shader_of("types.comp", NULL), *frag = shader_of("reach.frag", NULL);
    const struct bf_shader *const both[] = {shader, frag};
    struct bf_watch watch;
    for (uint32_t n = 1; n <= 2; n++) {
        bf_watch_choose(&watch, both, n);
        assert_true(watch.count <= BF_WATCH_WORDS);
        assert_true(watch.count >= 6);
        uint32_t useful = 0;
        for (uint32_t i = 0; i < watch.count; i++) {
            assert_int_equal(watch.offset[i] % 4, 0);
            assert_true(!i || watch.offset[i] > watch.offset[i - 1]);
        }
        /* Each word belongs to a member that is there whole. */
        for (uint32_t s = 0; s < n; s++) {
            uint32_t count;
            const struct bf_fold_member *members = bf_shader_members(both[s], &count);
            for (uint32_t i = 0; i < count; i++) {
                uint32_t words = 0, there = 0;
                for (uint32_t c = 0; c < members[i].components; c++) {
                    for (uint32_t w = 0; w < watch.count; w++)
                        if (watch.offset[w] == members[i].offset + c * members[i].stride)
                            words |= 1u << w, there++;
                }
                if (there == members[i].components)
                    useful |= words;
            }
        }
        assert_int_equal(useful, (1u << watch.count) - 1);
    }
    bf_shader_release(shader);
    bf_shader_release(frag);
}

/* What can't be folded isn't watched. */
TEST(what_is_inexact_is_left_alone)
{
    struct bf_shader *shader = shader_of("reach.frag", NULL);
    struct bf_watch watch;
    bf_watch_choose(&watch, (const struct bf_shader *const[]){shader}, 1);
    for (uint32_t i = 0; i < watch.count; i++)
        assert_true(member_at(shader, watch.offset[i])->exact);
    bf_shader_release(shader);
}

TEST(nothing_to_watch)
{
    struct bf_shader *shader = shader_of("none.comp", NULL);
    struct bf_watch watch = {.count = 3};
    bf_watch_choose(&watch, (const struct bf_shader *const[]){shader}, 1);
    assert_int_equal(watch.count, 0);
    bf_watch_choose(&watch, NULL, 0);
    assert_int_equal(watch.count, 0);
    bf_shader_release(shader);
}
